"""A ranking of several audits as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from unmask.report.ranking import NOTHING, not_ranked, rankings
from unmask.report.tables import table
from unmask.results import AuditResult


def show(audits: Sequence[AuditResult], console: Console) -> None:
    """Print a table for each measure, and what could not be ranked."""
    found = rankings(audits)
    if not found:
        console.print(Text(NOTHING))
    for ranking in found:
        console.print(Text(f"\n{ranking.title}", style="bold"))
        console.print(Text(ranking.sentence))
        rows = table("model", "rank", "figure", "95 % interval")
        for place in ranking.places:
            rows.add_row(escape(place.model), place.rank, place.value, place.bounds)
        console.print(rows)
        console.print(Text(f"Figure: {ranking.unit}.", style="dim"))
    for line in not_ranked(audits):
        console.print(Text(f"Not ranked: {line}."))
