"""Geometry → a compact table in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.measures.geometry.details import BiasedWord, Geometry
from unmask.report.geometry import rows_of
from unmask.report.geometry_cards import associations_of, geometry_of
from unmask.report.pages import capital, count, p, signed
from unmask.report.tables import table
from unmask.results import Measurement
from unmask.results.numbers import interval, number

MOST_WORDS = 6


def show(measurement: Measurement, console: Console) -> None:
    """Print the tests beside other contrasts, the associations, and the most biased words."""
    geometry = geometry_of(measurement)
    console.print(_tests(measurement))
    associations = _associations(measurement)
    if associations.row_count:
        console.print(associations)
    for line in _lines(geometry):
        console.print(Text(line))


def _tests(measurement: Measurement) -> Table:
    sound = measurement.protocol == "sound"
    rows = table("test", "n", "gender", *(["other contrasts", "p"] if sound else []))
    rows.columns[0].min_width = 16
    for removed, where in ((False, "as it is"), (True, "direction taken out")):
        found = list(rows_of(measurement, removed))
        if found and sound:
            rows.add_row(Text(where, style="italic"))
        for row in found:
            beside = [f"{row.others} ({row.range})" if row.range else row.others, row.p] if sound else []
            rows.add_row(f"  {row.name}" if sound else row.name, row.n, row.value, *beside)
    return rows


def _associations(measurement: Measurement) -> Table:
    rows = table("association", "estimate", "95 % interval", "p (Holm)")
    rows.columns[0].min_width = 16
    if stereotype := measurement.tests.get("stereotype"):
        value, bounds = f"r {number(stereotype.value)}", interval(stereotype.interval) or "–"
        rows.add_row("stereotype of professions", value, bounds, p(stereotype.p_adjusted))
    for name, test in associations_of(measurement):
        bounds = interval(test.effect_size_interval) or "–"
        rows.add_row(escape(name), f"d {number(test.effect_size)}", bounds, p(test.p_adjusted))
    return rows


def _lines(geometry: Geometry) -> Iterator[str]:
    for side, words in (("male", geometry.most_male), ("female", geometry.most_female)):
        if words:
            yield f"Most {side}: {', '.join(map(_biased, words[:MOST_WORDS]))}."
    known = [f"{count(geometry.words)} words"]
    if geometry.dimensions:
        known.append(f"{count(geometry.dimensions)} dimensions")
    if geometry.left_out:
        known.append(f"{count(sum(geometry.left_out.values()))} not asked about")
    if geometry.missing:
        known.append(f"{count(len(geometry.missing))} without a vector")
    yield f"{capital('; '.join(known))}."


def _biased(one: BiasedWord) -> str:
    return f"{one.word} {signed(one.bias)}"
