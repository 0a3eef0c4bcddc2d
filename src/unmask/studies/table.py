"""A table to print: its text, what stands under it, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import isnan
from typing import TYPE_CHECKING

from unmask.results import formatting
from unmask.results.formatting import number
from unmask.spreadsheets import to_csv

if TYPE_CHECKING:
    import pandas as pd

GAP = "–"
"""What stands where a cell was not measured."""


@dataclass(frozen=True)
class Table:
    """Rows of text under headings; `numbers` is what they were written from, unrounded, for a CSV file."""

    name: str
    """For a file: `table-1`."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str
    numbers: pd.DataFrame = field(repr=False, compare=False)
    headings: int = 1
    """So many columns say what a row is of; the others hold figures."""

    def groups(self) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
        """The rows that share their first heading, which are printed together."""
        for name, rows in groupby(self.rows, key=lambda row: row[0]):
            yield name, list(rows)

    def to_markdown(self, level: int = 3) -> str:
        """Title, table and note as Markdown; a heading that repeats is written once."""
        lines = [f"{'#' * level} {self.title}", ""]
        lines.append(_line(self.columns))
        lines.append(_line("---" if at < self.headings else "--:" for at in range(len(self.columns))))
        for name, rows in self.groups():
            lines += [_line(map(_plain, (name if at == 0 else "", *row[1:]))) for at, row in enumerate(rows)]
        return "\n".join([*lines, "", _plain(self.note), ""])

    def to_csv(self) -> str:
        """The numbers as CSV, unrounded; a gap is an empty field."""
        return to_csv(self.numbers)


def figure(value: float | None, digits: int = 4) -> str:
    """A number of a table, or a gap."""
    return GAP if value is None or isnan(value) else number(float(value), digits)


def count(value: float | None) -> str:
    """A count with thousands marked, or a gap."""
    return GAP if value is None or isnan(value) else f"{value:,.0f}"


def percent(value: float | None) -> str:
    """A share, or a gap."""
    return GAP if value is None or isnan(value) else formatting.percent(value)


def _line(fields: Iterable[str]) -> str:
    return "| " + " | ".join(fields) + " |"


def _plain(text: str) -> str:
    """Text that Markdown takes as it is."""
    return " ".join(text.replace("*", "\\*").replace("|", "\\|").split())
