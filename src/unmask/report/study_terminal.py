"""A study's findings → answers and tables in the terminal."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Shown
from rich.text import Text

from unmask.studies.engine import Findings
from unmask.studies.table import Table

WIDEST = 200
"""Columns that the widest table may take; a narrower terminal breaks whole lines."""


def show(findings: Findings, console: Console) -> None:
    """Print the headline, the answers to the paper's questions, and every table."""
    console.print(Text(findings.headline))
    for question, answer in findings.answered:
        console.print(Text(f"\n{question}", style="bold"))
        console.print(Text(answer))
    wide = Console(file=console.file, width=max(console.width, WIDEST), force_terminal=console.is_terminal)
    for table in findings.printed:
        console.print(Text(f"\n{table.title}", style="bold"))
        wide.print(_shown(table))  # a figure that is broken over two lines cannot be read
        if table.note:
            console.print(Text(table.note, style="dim"))


def _shown(table: Table) -> Shown:
    shown = Shown(box=SIMPLE_HEAD, pad_edge=False)
    for at, name in enumerate(table.columns):
        shown.add_column(escape(name), justify="left" if at < table.headings else "right", no_wrap=True)
    for name, rows in table.groups():
        for at, row in enumerate(rows):
            shown.add_row(*(escape(cell) for cell in (name if at == 0 else "", *row[1:])))
    return shown
