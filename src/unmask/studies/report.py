"""The report of a study: its tables, its page, and what the terminal shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.files import write_text
from unmask.report.blocks import Block, Cell, Column, Figure, Page, Section, Table, Text
from unmask.report.html import render_page
from unmask.report.markdown import block_lines, escape_markdown, join_lines
from unmask.results.formatting import interval, number
from unmask.spreadsheets import to_csv

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from unmask.studies.study import FinishedSteps, Study

GAP = "–"
"""Stands for a value that was not measured."""
BETWEEN = 3
"""The distance of two columns in a terminal."""
INK = "#1d2128"
"""The colour of text in a drawing without a page."""


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

    def show(self, console: Console) -> None:
        """Print the table. One that is too wide is split into parts, each with the headings."""
        from rich.cells import cell_len
        from rich.text import Text as RichText

        from unmask.report.terminal import make_table

        widths = [
            max(map(cell_len, (title, *(row[index] for row in self.rows)))) + BETWEEN
            for index, title in enumerate(self.columns)
        ]
        headings = list(range(self.headings))
        parts = [list(headings)]
        for index in range(self.headings, len(self.columns)):
            width = sum(widths[column] for column in (*parts[-1], index)) - BETWEEN + 2
            if width > console.width and len(parts[-1]) > len(headings):
                parts.append(list(headings))
            parts[-1].append(index)
        block = self.to_block()
        console.print(RichText(f"\n{self.title}", style="bold"))
        for part in parts:
            table = make_table(*(self.columns[index] for index in part))
            for index, column in enumerate(table.columns):
                column.no_wrap = True
                column.justify = "left" if index < self.headings else "right"
            for row in block.rows:
                table.add_row(*(RichText(row[index].text) for index in part))
            console.print(table, crop=False, overflow="ignore")
        if self.note:
            console.print(RichText(self.note, style="dim"))


def tabulate(
    name: str,
    title: str,
    records: Iterable[Any],
    columns: Mapping[str, Callable[[Any], str]],
    note: str,
    numbers: pd.DataFrame,
    *,
    headings: int = 1,
) -> StudyTable:
    """Return a table with a row for each record; `columns` maps each heading to the text of its cells."""
    rows = [tuple(write_cell(record) for write_cell in columns.values()) for record in records]
    return StudyTable(name, title, tuple(columns), rows, note, numbers, headings)


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

        console.print(RichText(self.headline))
        for question, answer in self.answers.items():
            console.print(RichText(f"\n{question}", style="bold"))
            console.print(RichText(answer))
        for table in self.tables:
            table.show(console)

    def to_json(self) -> dict[str, Any]:
        """Return the findings and the numbers of all tables as plain values."""
        tables = {table.name: json.loads(table.numbers.to_json(orient="records")) for table in self.tables}
        return {"headline": self.headline, "answers": dict(self.answers), "tables": tables}

    def write(self, study: Study, finished: FinishedSteps, folder: Path) -> Path:
        """Write `report.html`, `study.md`, `tables/`, `figures/` and further CSV files, and return the page."""
        for name, frame in self.records.items():
            if len(frame):
                write_text(folder / name, to_csv(frame))
            else:
                (folder / name).unlink(missing_ok=True)
        for table in self.tables:
            write_text(folder / "tables" / f"{table.name}.csv", to_csv(table.numbers))
        drawings: dict[str, Callable[[], str]] = {}
        sections = [
            replace(section, blocks=list(_store_figures(section.blocks, section.title, drawings)))
            for section in self.list_sections(study, finished.failures)
        ]
        for name, draw in drawings.items():
            drawing = draw().replace("currentColor", INK).replace("<svg ", '<svg style="background: #fff" ', 1)
            write_text(folder / name, drawing)
        write_text(folder / "study.md", self.to_markdown(study, sections))
        return write_text(folder / "report.html", self.to_html(study, sections))

    def list_sections(self, study: Study, failures: Sequence[str] = ()) -> list[Section]:
        """Return the sections of the page: the findings, and what the pages of all studies state below them."""
        rows = [[Cell(name), Cell(value)] for name, value in self.settings.items()]
        columns = [Column("Setting", numeric=False), Column("Value", numeric=False)]
        lost: list[Block] = []
        if failures:
            lost += [Text(["These steps failed. The others continued without them."]), Text(failures, style="list")]
        if self.missing:
            lost.append(Text([f"Not measured: {', '.join(self.missing)}."]))
        citation = Text([f"After {study.citation}"], style="note")
        return [
            *([Section("What is missing", lost)] if lost else []),
            *self.blocks,
            Section("What this does not say", [Text(self.limits, style="list")]),
            *([Section("Settings", [Table("", columns, rows)])] if rows else []),
            Section("Method", [*self.method, citation]),
        ]

    def to_html(self, study: Study, sections: Sequence[Section]) -> str:
        """Return the page as HTML."""
        texts = {"eyebrow": f"Study {study.name}", "note": self.note, "lead": self.headline, "footer": self.footer}
        return render_page(Page(study.title, sections, **texts))

    def to_markdown(self, study: Study, sections: Sequence[Section]) -> str:
        """Return the page as Markdown."""
        lines = [
            f"# {escape_markdown(study.title)}",
            "",
            escape_markdown(self.note),
            "",
            escape_markdown(self.headline),
            "",
        ]
        return join_lines([*lines, *block_lines(sections, 2)])


def _store_figures(blocks: Sequence[Block], title: str, drawings: dict[str, Callable[[], str]]) -> Iterator[Block]:
    """Give each figure a file, and add it to `drawings`, so that it is drawn once."""
    for block in blocks:
        if isinstance(block, Section):
            yield replace(block, blocks=list(_store_figures(block.blocks, block.title or title, drawings)))
        elif isinstance(block, Figure):
            name = re.sub(r"[^a-z0-9]+", "-", f"{title} {block.title}".lower()).strip("-")
            draw = cache(block.draw)
            if draw():
                file = (
                    f"figures/{name}.svg"
                    if f"figures/{name}.svg" not in drawings
                    else f"figures/{name}-{len(drawings)}.svg"
                )
                drawings[file] = draw
                yield replace(block, draw=draw, file=file)
        else:
            yield block


def format_number(value: float | None, digits: int = 4) -> str:
    """Return a number of a table, or a gap."""
    return GAP if value is None or isnan(value) else number(float(value), digits)


def format_count(value: float | None) -> str:
    """Return a count with separators of thousands, or a gap."""
    return GAP if value is None or isnan(value) else f"{value:,.0f}"


def format_percent(value: float | None) -> str:
    """Return a share in percent, or a gap."""
    return GAP if value is None or isnan(value) else f"{100 * value:.1f} %"


def format_with_bounds(value: float | None, bounds: tuple[float, float] | None, digits: int = 2) -> str:
    """Return a number with its interval, if it has one: `0.93 [0.75, 1.17]`."""
    return f"{format_number(value, digits)} {interval(bounds)}".rstrip()


def list_bounds(name: str, bounds: tuple[float, float] | None) -> dict[str, float | None]:
    """Return the ends of an interval as columns of a file."""
    low, high = bounds or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
