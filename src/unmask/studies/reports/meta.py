"""What a meta-evaluation found → one self-contained HTML page, Markdown, CSV tables and SVG figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import __version__
from unmask.measures.sections import study_limits
from unmask.report.html import fill
from unmask.results.formatting import LANGUAGES, capital, number
from unmask.studies.meta.tables import TWIN, Findings
from unmask.studies.reports import meta_plots
from unmask.studies.reports.files import limits_lines, missing_lines, settings_lines, write_study

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Do measures of bias track bias that was put in on purpose?"
CAPTION = (
    "Each point is a model trained with a known share of stereotypical pairings, from none (0: all against the"
    " stereotype) to all (1); lines run through the means over seeds. A score whose line does not rise fails;"
    " one that rises has passed the easiest test."
)

PLANTED = (
    "Planted bias is plain, and all models of a measure are made from one: a score that ranks these may miss the faint"
    " bias of others."
)


@dataclass(frozen=True)
class Panel:
    """The figure of one measure in one language; drawn when it is asked for."""

    measure: str
    language: str
    cells: pd.DataFrame

    @property
    def name(self) -> str:
        """What it shows."""
        return f"{capital(self.measure)}, {LANGUAGES.get(self.language, self.language)}"

    @property
    def scores(self) -> list[tuple[str, str]]:
        """The scores in it, each with its colour."""
        return list(zip(dict.fromkeys(self.cells["score"]), meta_plots.COLOURS, strict=False))

    @cached_property
    def svg(self) -> str:
        """The drawing."""
        return meta_plots.draw_scores(self.cells)

    @property
    def words(self) -> str:
        """For who does not see it."""
        means = self.cells.groupby(["score", "rate"], sort=False)["value"].mean()
        said = [
            f"{score} from {number(float(means[score].iloc[0]), 3)} to {number(float(means[score].iloc[-1]), 3)}"
            for score, _ in self.scores
        ]
        return f"Scores by rate of planted bias. {self.name}: {'; '.join(said)}"

    @property
    def file(self) -> str:
        """Its name as a file."""
        return f"figure-4-{self.measure}-{self.language}.svg"


def panels(findings: Findings) -> list[Panel]:
    """A figure for each measure and language; probabilities, which lie on the answers, are in the table alone."""
    cells = findings.cells[~findings.cells["score"].str.endswith(TWIN)]
    groups = cells.groupby(["measure", "language"], sort=False)
    return [Panel(str(measure), str(language), mine) for (measure, language), mine in groups]


def render(findings: Findings, drawn: list[Panel] | None = None) -> str:
    """The study as the text of an HTML page; `drawn` are its panels, if they are there already."""
    return fill(
        "meta.html.j2",
        title=TITLE,
        findings=findings,
        panels=panels(findings) if drawn is None else drawn,
        caption=CAPTION,
        limits=_limits(findings),
        version=__version__,
    )


def markdown(findings: Findings, *, figures: str = "figures") -> str:
    """The study as Markdown; `figures` is the folder of the SVG files, seen from the text."""
    first, *others = findings.printed
    lines = [f"# {TITLE}", "", findings.headline, "", first.to_markdown(2), "## Figure 4. Scores by rate", ""]
    for panel in panels(findings):
        legend = ", ".join(f"{score} ({colour})" for score, colour in panel.scores)
        lines += [f"![{panel.words}]({figures}/{panel.file})", "", f"{panel.name}: {legend}.", ""]
    lines += [CAPTION, "", *(table.to_markdown(2) for table in others)]
    lines += limits_lines(_limits(findings))
    lines += settings_lines(findings.settings) + missing_lines((), findings.failures)
    return "\n".join(lines).rstrip() + "\n"


def _limits(findings: Findings) -> list[str]:
    return study_limits(findings.cells["measure"], findings.cells["language"], PLANTED)


def write(findings: Findings, folder: Path) -> Path:
    """Write `report.html`, `study.md`, `tables/` and `figures/` into a folder; return the page."""
    drawn = panels(findings)
    tables = {table.name: table.to_csv() for table in findings.printed}
    return write_study(folder, render(findings, drawn), markdown(findings), tables, drawn)
