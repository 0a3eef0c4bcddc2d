"""The findings of the study of inference → one self-contained HTML page, Markdown, CSV tables and SVG figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from unmask import __version__
from unmask.measures.inference.details import Distribution, Inference
from unmask.measures.inference.pairs import LABELS
from unmask.measures.inference.report import ANSWER_COLOURS, draw_answers, name_part
from unmask.measures.sections import study_limits
from unmask.report.html import fill
from unmask.results.formatting import LANGUAGES
from unmask.studies.nli.tables import Findings, Row, doubt
from unmask.studies.reports.files import limits_lines, missing_lines, settings_lines, write_study

TITLE = "Gender inferred from occupations, by model"
CAPTION = (
    "Every bar is all answers of a set: green entailment, grey neutral, red contradiction. Neutral is right in the"
    " first three sets, entailment in the control."
)


@dataclass(frozen=True)
class Panel:
    """The figure of one model; drawn when it is asked for."""

    row: Row

    @property
    def name(self) -> str:
        """The model and its language."""
        return f"{self.row.base.name}, {LANGUAGES[self.row.base.language]}"

    @property
    def _sets(self) -> list[Distribution]:
        return self.row.measurement.read_details(Inference).sets

    @cached_property
    def svg(self) -> str:
        """The drawing."""
        return draw_answers(self._sets)

    @property
    def words(self) -> str:
        """For who does not see it."""
        said = [
            f"{name_part(part)[0]}: " + ", ".join(f"{part.shares.get(label, 0):.0%} {label}" for label in LABELS)
            for part in self._sets
        ]
        return f"Answers of {self.name}. {'; '.join(said)}"

    @property
    def file(self) -> str:
        """Its name as a file."""
        return f"answers-{self.row.base.language}-{re.sub(r'[^A-Za-z0-9.+-]+', '_', self.row.base.name)}.svg"


def panels(findings: Findings) -> list[Panel]:
    """A figure for each model."""
    return [Panel(row) for row in findings.rows]


def render(findings: Findings, drawn: list[Panel] | None = None) -> str:
    """The study as the text of an HTML page; `drawn` are its panels, if they are there already."""
    return fill(
        "inference_study.html.j2",
        title=TITLE,
        findings=findings,
        panels=panels(findings) if drawn is None else drawn,
        doubts=[(row.base.name, why) for row in findings.rows if (why := doubt(row.measurement))],
        caption=CAPTION,
        colours={label: colour for label, (colour, _) in ANSWER_COLOURS.items()},
        limits=_limits(findings),
        version=__version__,
    )


def markdown(findings: Findings, *, figures: str = "figures") -> str:
    """The study as Markdown; `figures` is the folder of the SVG files, seen from the text."""
    first, *others = findings.tables
    lines = [f"# {TITLE}", "", findings.headline, ""]
    for question, answer in findings.answered:
        lines += [f"{question}:", "", *(f"- {line}" for line in answer.splitlines()), ""]
    lines += [first.to_markdown(2), "## Answers", ""]
    lines += [f"![{panel.words}]({figures}/{panel.file})" for panel in panels(findings)]
    lines += ["", CAPTION, "", *(table.to_markdown(2) for table in others)]
    lines += limits_lines(_limits(findings))
    lines += settings_lines(findings.settings) + missing_lines(findings.missing, findings.failures)
    return "\n".join(lines).rstrip() + "\n"


def _limits(findings: Findings) -> list[str]:
    return study_limits(["inference"], (row.base.language for row in findings.rows))


def write(findings: Findings, folder: Path) -> Path:
    """Write `report.html`, `study.md`, `tables/` and `figures/` into a folder; return the page."""
    drawn = panels(findings)
    tables = {table.name: table.to_csv() for table in findings.tables}
    return write_study(folder, render(findings, drawn), markdown(findings), tables, drawn)
