"""The findings of the lipstick studies → one self-contained HTML page, Markdown, CSV tables and SVG figures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import pandas as pd

from unmask import __version__
from unmask.measures.geometry.analysis import list_neighbourhoods
from unmask.measures.geometry.plots import draw_professions, draw_word_map
from unmask.measures.sections import study_limits
from unmask.report.html import fill
from unmask.studies.lipstick.cells import BASE
from unmask.studies.lipstick.tables import Findings, Row, label
from unmask.studies.reports.files import limits_lines, missing_lines, settings_lines, write_study

TITLES = {True: "Lipstick on a pig: word vectors", False: "Lipstick on a pig again: words in sentences"}
MAPS = (
    "The words that were most biased in the origin, on a map of each space (t-SNE): orange on the side of women there,"
    " violet on that of men, the fainter the less biased. An outline marks words in the cluster of the other side."
)
SCATTERS = (
    "Each dot is a profession: its bias in the origin, and the share of male words among the 100 words that are nearest"
    " to it now."
)

LIMITS = study_limits(["geometry"], ["en"])


@dataclass(frozen=True)
class Panel:
    """A figure of one model; drawn when it is asked for."""

    row: Row
    what: Literal["map", "professions"]

    @property
    def name(self) -> str:
        """Which vectors, which model."""
        return f"{label(self.row)}, {self.row.subject.name}"

    @property
    def _items(self) -> pd.DataFrame:
        words = "own" if self.row.subject.is_base else BASE
        items = self.row.items
        return items[items["words"] == words].reset_index(drop=True)

    @cached_property
    def svg(self) -> str:
        """The drawing; empty where there is nothing to draw."""
        if self.what == "map":
            return draw_word_map(self._items)
        found = self._items
        if "male_neighbours_removed" not in found:
            found = found.assign(male_neighbours_removed=float("nan"))
        return draw_professions(list_neighbourhoods(found))

    @property
    def words(self) -> str:
        """For who does not see it."""
        if self.what == "map":
            return f"Map of the most biased words: {self.name}"
        return f"Professions by bias and male neighbours: {self.name}"

    @property
    def file(self) -> str:
        """Its name as a file."""
        return f"{self.what}-{re.sub(r'[^A-Za-z0-9.+-]+', '_', self.name)}.svg"


def panels(findings: Findings) -> list[Panel]:
    """The figures: maps first."""
    return [Panel(row, what) for what in ("map", "professions") for row in findings.rows]


def render(findings: Findings, drawn: list[Panel] | None = None) -> str:
    """The study as the text of an HTML page; `drawn` are its panels, if they are there already."""
    drawn = panels(findings) if drawn is None else drawn
    return fill(
        "lipstick.html.j2",
        title=TITLES[findings.static],
        findings=findings,
        maps=[panel for panel in drawn if panel.what == "map"],
        scatters=[panel for panel in drawn if panel.what == "professions"],
        captions=(MAPS, SCATTERS),
        limits=LIMITS,
        version=__version__,
    )


def markdown(findings: Findings, *, figures: str = "figures") -> str:
    """The study as Markdown; `figures` is the folder of the SVG files, seen from the text."""
    lines = [f"# {TITLES[findings.static]}", "", findings.headline, ""]
    lines += [table.to_markdown(2) for table in findings.tables]
    lines += ["## Figures", ""]
    lines += [f"![{panel.words}]({figures}/{panel.file})" for panel in panels(findings)]
    lines += ["", MAPS, "", SCATTERS, ""]
    lines += limits_lines(LIMITS)
    lines += settings_lines(findings.settings) + missing_lines((), findings.failures)
    return "\n".join(lines).rstrip() + "\n"


def write(findings: Findings, folder: Path) -> Path:
    """Write `report.html`, `study.md`, `tables/` and `figures/` into a folder; return the page."""
    drawn = panels(findings)
    tables = {table.name: table.to_csv() for table in findings.tables}
    return write_study(folder, render(findings, drawn), markdown(findings), tables, drawn)
