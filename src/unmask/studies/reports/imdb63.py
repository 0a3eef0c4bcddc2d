"""A study's findings → one self-contained HTML page, the same as Markdown, tables as CSV and figures as SVG."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import __version__
from unmask.measures.sections import study_limits
from unmask.report.drawing import Domain
from unmask.report.html import fill
from unmask.results.formatting import number
from unmask.spreadsheets import to_csv
from unmask.studies.imdb63.findings import Findings, evidence_of
from unmask.studies.reports import imdb63_plots as study_plots
from unmask.studies.reports.files import limits_lines, missing_lines, settings_lines, write_study

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Gender bias of sentiment classifiers: models, training reviews and term sets"
CAPTION = (
    "Blue: trained on the reviews as they are; red: with the terms removed (R); green: with male and female versions"
    " (mix). Up: the mean by which male versions are rated higher; down: by which female versions are. The dot is the"
    " total bias, the line runs from it to its mirror image; one scale for all models."
)

LIMITS = study_limits(["sentiment"], ["en"])


@dataclass(frozen=True)
class Panel:
    """The figure of one model; drawn when it is asked for."""

    figure: int
    model: str
    cells: pd.DataFrame
    scale: Domain

    @cached_property
    def svg(self) -> str:
        """The drawing."""
        return study_plots.bars(self.cells, self.scale)

    @property
    def words(self) -> str:
        """For who does not see it."""
        said = [f"{kind}-{terms} {number(total, 4)}" for kind, terms, _, total in study_plots.points(self.cells)]
        return (
            f"Bars of {self.model}: biases towards male and female versions by term set and training; total biases:"
            f" {', '.join(said)}"
        )

    @property
    def file(self) -> str:
        """Its name as a file."""
        return f"figure-{self.figure}-{re.sub(r'[^A-Za-z0-9.+-]+', '_', self.model)}.svg"


def panels(findings: Findings) -> list[Panel]:
    """Figure 3 is the first model, Figure 4 all others, on one scale; a model without figures has no panel."""
    scale = study_plots.domain(findings.cells)
    by_model = [(model, findings.cells[findings.cells["model"] == model]) for model in findings.models]
    return [
        Panel(4 if at else 3, model, mine, scale)
        for at, (model, mine) in enumerate(by_model)
        if study_plots.points(mine)
    ]


def render(findings: Findings, drawn: list[Panel] | None = None) -> str:
    """The study as the text of an HTML page; `drawn` are its panels, if they are there already."""
    return fill(
        "study.html.j2",
        title=TITLE,
        findings=findings,
        panels=panels(findings) if drawn is None else drawn,
        caption=CAPTION,
        colours=study_plots.COLOURS,
        limits=LIMITS,
        version=__version__,
    )


def markdown(findings: Findings, *, figures: str = "figures") -> str:
    """The study as Markdown; `figures` is the folder of the SVG files, seen from the text."""
    lines = [f"# {TITLE}", "", findings.headline, ""]
    for one in findings.answers:
        lines += [f"## {one.question}", "", f"**{one.answer}** (The paper: {one.paper})", ""]
        lines += [f"- {evidence.words}" for evidence in one.evidence]
        lines += ["", one.caveat, ""]
    lines += ["## Tables and figures", "", findings.first.to_markdown()]
    for figure in (3, 4):
        mine = [panel for panel in panels(findings) if panel.figure == figure]
        if mine:
            lines += [f"### Figure {figure}. Biases towards either gender", ""]
            lines += [f"![{panel.words}]({figures}/{panel.file})" for panel in mine]
            lines += ["", CAPTION, ""]
    lines += [table.to_markdown() for table in findings.tables]
    lines += limits_lines(LIMITS)
    lines += settings_lines(findings.settings) + missing_lines(findings.missing, findings.failures)
    return "\n".join(lines).rstrip() + "\n"


def write(findings: Findings, folder: Path) -> Path:
    """Write `report.html`, `study.md`, `tables/` and `figures/` into a folder; return the page."""
    drawn = panels(findings)
    tables = {"answers": to_csv(evidence_of(findings.answers))}
    tables |= {table.name: table.to_csv() for table in (findings.first, *findings.tables)}
    return write_study(folder, render(findings, drawn), markdown(findings), tables, drawn)
