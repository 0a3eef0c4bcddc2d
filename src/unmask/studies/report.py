"""The report of a study: its tables, its page, and what the terminal shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.files import write_text
from unmask.report.blocks import Block, Cell, Column, Figure, Section, Table, Text
from unmask.results import numbers
from unmask.spreadsheets import to_csv

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from unmask.studies.study import FinishedSteps, Study

GAP = "–"
"""Stands for a value that was not measured."""


@dataclass(frozen=True)
class StudyTable:
    """A table of a paper: rows of text, and the unrounded numbers behind them for a CSV file."""

    name: str
    """The name of its file: `table-1`."""
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str
    numbers: pd.DataFrame = field(repr=False, compare=False)
    headings: int = 1
    """How many columns name the row. The others hold numbers."""

    def to_block(self, *, folded: bool = False) -> Table:
        """Return the table as a block. A first heading that repeats is written once."""
        columns = [Column(title, numeric=index >= self.headings) for index, title in enumerate(self.columns)]
        names = [row[0] for row in self.rows]
        repeats = [name == previous for previous, name in zip(["", *names], names, strict=False)]
        rows = [
            [Cell("" if repeated else row[0]), *map(Cell, row[1:])]
            for row, repeated in zip(self.rows, repeats, strict=True)
        ]
        return Table(self.title, columns, rows, self.note, folded=folded, terminal=True)


@dataclass(frozen=True)
class StudyReport:
    """What a study found."""

    headline: str
    note: str
    """What was measured, and by which protocol, in a few words."""
    blocks: Sequence[Section]
    """The findings of the page: tables, figures and answers."""
    tables: Sequence[StudyTable]
    """All tables, in the order of the terminal."""
    method: Sequence[Block]
    limits: Sequence[str]
    """What the study does not say, in sentences."""
    settings: Mapping[str, str]
    answers: Mapping[str, str] = field(default_factory=dict)
    """The questions of the paper with their answers."""
    missing: Sequence[str] = ()
    """What was asked for and not measured."""
    records: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """Further numbers, by the name of their CSV file. The file of an empty one is removed."""
    footer: str = ""

    def show(self, console: Console) -> None:
        """Print the headline, the answers to the paper's questions, and all tables."""
        from rich.text import Text as RichText

        from unmask.report.terminal import show_blocks

        console.print(RichText(self.headline))
        for question, answer in self.answers.items():
            console.print(RichText(f"\n{question}", style="bold"))
            console.print(RichText(answer))
        for table in self.tables:
            show_blocks([table.to_block()], console)

    def to_json(self) -> dict[str, Any]:
        """Return the findings and the numbers of all tables as plain values."""
        tables = {table.name: json.loads(table.numbers.to_json(orient="records")) for table in self.tables}
        return {"headline": self.headline, "answers": dict(self.answers), "tables": tables}

    def sections(self, finished: FinishedSteps) -> list[Section]:
        """Return the whole page: the findings, and what the pages of all studies state below them."""
        opening: list[Block] = [Text([self.headline])]
        if absent := [*finished.failures, *self.missing]:
            opening.append(Text([f"Results are missing for {len(absent)} steps or models; see the end."], style="warning"))
        sections = [Section("Findings", opening), *self.blocks]
        sections.append(Section("What this does not say", [Text(self.limits, style="list")]))
        rows = [[Cell(name), Cell(value)] for name, value in self.settings.items()]
        columns = [Column("Setting", numeric=False), Column("Value", numeric=False)]
        sections.append(Section("Settings", [Table("", columns, rows)]))
        if absent:
            lost: list[Block] = []
            if finished.failures:
                lost.append(Text(["These steps failed. The others continued without them."]))
                lost.append(Text(finished.failures, style="list"))
            if self.missing:
                lost.append(Text([f"Not measured: {', '.join(self.missing)}."]))
            sections.append(Section("What is missing", lost))
        return [*sections, Section("Method", self.method)]

    def write(self, study: Study, finished: FinishedSteps, folder: Path) -> Path:
        """Write `report.html`, `study.md`, `tables/`, `figures/` and further CSV files, and return the page."""
        for name, frame in self.records.items():
            write_frame(folder / name, frame)
        for table in self.tables:
            write_text(folder / "tables" / f"{table.name}.csv", to_csv(table.numbers))
        ...


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a table as CSV. An empty one removes the file that an earlier run has left."""
    if len(frame):
        write_text(path, to_csv(frame))
    else:
        path.unlink(missing_ok=True)


def format_number(value: float | None, digits: int = 4) -> str:
    """Return a number of a table, or a gap."""
    return GAP if value is None or isnan(value) else numbers.number(float(value), digits)


def format_count(value: float | None) -> str:
    """Return a count with separators of thousands, or a gap."""
    return GAP if value is None or isnan(value) else f"{value:,.0f}"


def format_percent(value: float | None) -> str:
    """Return a share in percent, or a gap."""
    return GAP if value is None or isnan(value) else numbers.percent(value, 1)
