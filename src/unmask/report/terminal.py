"""An audit in the terminal: key figures, and the tables and sentences that blocks mark for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from unmask.report.blocks import Block, KeyFigure, Section, Table, Text
from unmask.report.sections import MeasureSection
from unmask.results import AuditResult

FIRST_COLUMN, LONGEST_WORD = 13, 24
"""The narrowest that the first column of a table may become, and the longest word for which it is wider."""


def show_audit(result: AuditResult, sections: Sequence[MeasureSection], console: Console) -> None:
    """Print the headline, key figures, tables and caveats of every measurement."""
    for section in sections:
        title = f"\n{result.model.name}: {section.title} ({section.measurement.protocol})"
        console.print(RichText(title, style="bold"))
        if section.warning:
            console.print(RichText(f"Do not read this as bias. {section.warning}", style="yellow"))
        console.print(RichText(section.headline))
        show_blocks(section.blocks, console)
        if section.measurement.plugin:
            console.print(RichText(section.note))
        show_caveats([caveat.text for caveat in section.measurement.caveats], console)


def audit_text(result: AuditResult, sections: Sequence[MeasureSection], width: int = 100) -> str:
    """What `show_audit` prints, as plain text."""
    page = StringIO()
    show_audit(result, sections, Console(file=page, width=width, color_system=None))
    return page.getvalue()


def show_blocks(blocks: Sequence[Block], console: Console) -> None:
    """Print key figures, and the tables and sentences that are marked for the terminal."""
    flat = list(_flatten(blocks))
    if any(isinstance(block, KeyFigure) for block in flat):
        console.print()
    for block in flat:
        if isinstance(block, KeyFigure):
            console.print(RichText.assemble(f"{block.title}: ", (block.value, "bold")))
            certainty = "; ".join(filter(None, (block.verdict, block.certainty)))
            console.print(Padding(RichText(certainty), (0, 0, 0, 2)))
        elif isinstance(block, Text) and block.terminal:
            for line in block.lines:
                console.print(_bullet(line) if block.style == "list" else RichText(line))
        elif isinstance(block, Table) and block.terminal and not block.folded:
            if block.title:
                console.print(RichText(f"\n{block.title}", style="italic"))
            console.print(_fit_table(block, console.width))
            if block.note:
                console.print(RichText(block.note))


def show_caveats(texts: Sequence[str], console: Console) -> None:
    """Print the first sentence of each caveat."""
    if texts:
        console.print(RichText("Before you rely on this:", style="dim"))
    for text in dict.fromkeys(texts):
        console.print(_bullet(first_sentence(text)), style="dim")


def make_table(*titles: str) -> RichTable:
    """A table whose first column alone wraps where the terminal is narrow: numbers are never cut."""
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for index, title in enumerate(titles):
        table.add_column(escape(title), justify="right" if index else "left", no_wrap=bool(index), overflow="fold")
    return table


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    end = re.search(r"[.!?](?=\s+[“\"(]?[A-Z])", text)
    return text[: end.end()] if end else text


def _bullet(text: str) -> RichTable:
    """A line of a list, indented where it wraps."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_row("-", RichText(text))
    return grid


def _flatten(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks in order, those of sections among them. Folded sections are left out."""
    for block in blocks:
        if isinstance(block, Section):
            if not block.folded:
                yield from _flatten(block.blocks)
        else:
            yield block


def _fit_table(block: Table, width: int) -> RichTable:
    """The table with all columns; if it does not fit, with fewer columns; if need be, without intervals."""
    narrow = [index for index, column in enumerate(block.columns) if column.narrow or not index]
    spare = max((len(row[0].text) for row in block.rows), default=0) - _first_width(block)
    for shown, bounds in ((list(range(len(block.columns))), True), (narrow, True), (narrow, False)):
        table = _rich_table(block, shown, bounds=bounds)
        if Console(width=10 * width).measure(table).maximum - max(0, spare) <= width:
            break
    return table


def _first_width(block: Table) -> int:
    """The width at which the first column keeps its words whole."""
    words = [word for row in block.rows for word in row[0].text.split()]
    return max(FIRST_COLUMN, min(LONGEST_WORD, max(map(len, words), default=0)))


def _rich_table(block: Table, shown: Sequence[int], *, bounds: bool) -> RichTable:
    columns = [block.columns[index] for index in shown]
    titles = [f"{column.group}: {column.title}" if column.group else column.title for column in columns]
    table = make_table(*titles)
    table.columns[0].min_width = _first_width(block)
    for index, column in enumerate(columns):
        if index and not column.numeric:
            table.columns[index].justify, table.columns[index].no_wrap = "left", False
    for row in block.rows[: block.terminal_rows]:
        cells = [row[index] for index in shown]
        table.add_row(*(escape(f"{cell.text} {cell.bounds if bounds else ''}".rstrip()) for cell in cells))
    return table
