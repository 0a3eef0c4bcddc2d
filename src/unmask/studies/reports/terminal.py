"""A study's findings → answers and tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.markup import escape
from rich.table import Table as Shown
from rich.text import Text

from unmask.studies.engine import Findings
from unmask.studies.table import Table

BETWEEN = 3
"""Columns between two columns of a table."""


def show(findings: Findings, console: Console) -> None:
    """Print the headline, the answers to the paper's questions, and every table."""
    console.print(Text(findings.headline))
    for question, answer in findings.answered:
        console.print(Text(f"\n{question}", style="bold"))
        console.print(Text(answer))
    for table in findings.printed:
        console.print(Text(f"\n{table.title}", style="bold"))
        for columns in _parts(table, console.width):  # a figure that is broken over two lines cannot be read
            console.print(_shown(table, columns), crop=False, overflow="ignore")
        if table.note:
            console.print(Text(table.note, style="dim"))


def _parts(table: Table, width: int) -> list[list[int]]:
    """The columns of a table in parts that fit the terminal, each with the headings."""
    wide = [max(map(cell_len, (name, *(row[at] for row in table.rows)))) for at, name in enumerate(table.columns)]
    headings = list(range(table.headings))
    parts = [list(headings)]
    for at in range(table.headings, len(table.columns)):
        needed = sum(wide[one] + BETWEEN for one in (*parts[-1], at)) - BETWEEN + 2
        if needed > width and len(parts[-1]) > len(headings):
            parts.append(list(headings))
        parts[-1].append(at)
    return parts


def _shown(table: Table, columns: Sequence[int]) -> Shown:
    shown = Shown(box=SIMPLE_HEAD, pad_edge=False)
    for at in columns:
        side: JustifyMethod = "left" if at < table.headings else "right"
        shown.add_column(escape(table.columns[at]), justify=side, no_wrap=True)
    for name, rows in table.groups():
        for at, row in enumerate(rows):
            cells = (name if at == 0 else "", *row[1:])
            shown.add_row(*(escape(cells[column]) for column in columns))
    return shown
