"""CrowS-Pairs → a compact table in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from unmask.report.crows_pairs import range_of, verdict
from unmask.report.pages import count, p, percent
from unmask.report.tables import table
from unmask.results import Measurement


def show(measurement: Measurement, console: Console) -> None:
    """Print the shares, and whether the one of all pairs is clear."""
    sound, test = measurement.protocol == "sound", measurement.tests.get("stereotype")
    rows = table("stereotype likelier in", "pairs", "share", *(["95 % interval", "p (Holm)"] if sound else []))
    rows.columns[0].min_width = 16
    for name, group in measurement.groups.items():
        sure = p(test.p_adjusted) if test and name == "all pairs" else "–"
        more = [range_of(group) or "–", sure] if sound else []
        rows.add_row(escape(name), count(group.n), percent(group.value, 1 if sound else 2), *more)
    console.print(rows)
    if test:
        console.print(Text(f"Verdict: {verdict(test)}. 50 % is no preference."))
    if measurement.noise_floor is not None:
        console.print(Text(f"Noise of the computation {measurement.noise_floor:.2g} nats."))
