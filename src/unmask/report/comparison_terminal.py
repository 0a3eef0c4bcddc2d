"""The parts of a comparison that the terminal shows beside associations: geometry, and whether measures agree."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.measures.geometry.details import GeometryChange, WordTestChange
from unmask.report.comparison_geometry import SHARES, line
from unmask.report.figures import HARD, change_line
from unmask.report.tables import table
from unmask.results import Agreement
from unmask.results.comparison import Comparison
from unmask.results.numbers import number

SHORT = {
    "clustering": "clusters, %",
    "probe": "probe, %",
    "classification": "classifier, %",
    "neighbours": "neighbours, r",
}


def geometry_changes(comparison: Comparison) -> Table:
    """The tests with the words of before, and what plain removal leaves of others; then the professions and WEAT."""
    geometry = comparison.read_details(GeometryChange)
    rows = table("words of before", "before → after", "change [95 %]", "p", "plain leaves")
    rows.columns[0].min_width = 13
    for one in geometry.tests:
        found = line(one.name, comparison.changes.get(one.name), one)
        rows.add_row(
            SHORT.get(one.name, one.name),
            _bare(f"{found.before} → {found.after}"),
            _bare(f"{found.change} {found.interval}".rstrip()),
            found.p,
            _plain(one),
        )
    for name, change in comparison.changes.items():
        if change.labels["contrast"] in ("stereotype", "association"):
            found = change_line(name, change)
            by = f"{found.change} {found.interval}".rstrip()
            rows.add_row(escape(name), f"{found.before} → {found.after}", by, found.p, "")
    return rows


def _bare(text: str) -> str:
    """Numbers without their unit, which the name has: a terminal is narrow."""
    return text.replace(f"{HARD}%", "").replace(f"{HARD}points", "")


def _plain(one: WordTestChange) -> str:
    if one.others is None:
        return "–"
    scale, digits = (100, 0) if one.name in SHARES else (1, 2)
    low, high = (number(scale * end, digits) for end in (one.others.low, one.others.high))
    return f"{low} to {high}"


def show_agreement(agreement: Agreement, console: Console) -> None:
    """The matrix of Pearson's r, its figures numbered."""
    console.print(Text("\nDo the measures agree?", style="bold"))
    console.print(Text(agreement.headline))
    names = [one.name for one in agreement.figures if one.name not in agreement.left_out]
    if len(names) > 1:
        rows = table("Pearson's r", *(str(at) for at in range(1, len(names))))
        rows.columns[0].min_width = 14
        for down, name in enumerate(names):
            found = (agreement.correlation(name, other) for other in names[: min(down, len(names) - 1)])
            cells = [number(one.pearson) if one else "–" for one in found]
            rows.add_row(f"{down + 1} {escape(name)}", *cells)
        console.print(rows)
    for name, why in agreement.left_out.items():
        console.print(Text(f"{name} is not compared: {why}."))
