"""A measurement of which only the schema is known, that of a plug-in → compact tables in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from unmask.report.generic import source
from unmask.report.pages import count, p
from unmask.report.tables import table
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number


def show(measurement: Measurement, console: Console) -> None:
    """Print the tests, the means of groups, and whose measure it is."""
    if measurement.tests:
        rows = table("test", "n", "estimate", "95 % interval", "p (Holm)")
        rows.columns[0].min_width = 16
        for name, test in measurement.tests.items():
            shown = number(test.value), interval(test.interval) or "–", p(test.p_adjusted)
            rows.add_row(_name(name, test), count(test.n), *shown)
        console.print(rows)
    if measurement.groups:
        rows = table("group", "n", "mean", "95 % interval")
        rows.columns[0].min_width = 16
        for name, group in measurement.groups.items():
            rows.add_row(_name(name, group), count(group.n), number(group.value), interval(group.interval) or "–")
        console.print(rows)
    console.print(Text(f"A measure of the package {source(measurement)}."))


def _name(name: str, estimate: Estimate) -> str:
    return escape(f"{name} ({estimate.unit})" if estimate.unit else name)
