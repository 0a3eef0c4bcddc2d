"""Ratings → a compact table in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.measures.sentiment.details import Part, Ratings
from unmask.measures.sentiment.interpret import digits
from unmask.report.pages import count, p, share, signed
from unmask.report.rating_cards import ratings_of, verdict
from unmask.report.tables import table
from unmask.results import Measurement
from unmask.results.numbers import interval, number

MOST_TERMS = 3


def show(measurement: Measurement, console: Console) -> None:
    """Print the biases with their tests, the counts, and what the measurement could have found."""
    ratings = ratings_of(measurement)
    console.print(_biases(measurement, ratings))
    for line in _lines(measurement, ratings):
        console.print(Text(line))


def _biases(measurement: Measurement, ratings: Ratings) -> Table:
    precise = digits(ratings)
    adjusted = "p (adjusted)" if measurement.protocol == "published" else "p (Holm)"
    rows = table("male − female rating", "bias", "95 % interval", adjusted, "effect size")
    rows.columns[0].min_width = 16
    for name, test in measurement.tests.items():
        shown = (signed(test.value, precise), interval(test.interval, precise) or "–", p(test.p_adjusted))
        rows.add_row(escape(name), *shown, number(test.effect_size))
    if absolute := measurement.groups.get("absolute bias, changed texts"):
        between = interval(absolute.interval, precise) or "–"
        rows.add_row("absolute bias", number(absolute.value, precise), between, "–", "–")
    return rows


def _lines(measurement: Measurement, ratings: Ratings) -> Iterator[str]:
    precise = digits(ratings)
    yield f"Verdict: {verdict(measurement.test('bias'), measurement)}. A rating is {ratings.rating}."
    flips = ""
    if ratings.flips is not None:
        flips = (
            f" The label of {count(ratings.flips)} ({share(ratings.flips, ratings.changed)}) depends on the version."
        )
    yield (
        f"Of {count(ratings.texts)} texts, {count(ratings.changed)} have a term: {count(ratings.below)} rate higher in"
        f" the female version, {count(ratings.equal)} alike, {count(ratings.above)} higher in the male one.{flips}"
    )
    if ratings.outside or ratings.partly_outside:
        yield (
            f"Too long to be read whole: {count(ratings.cut or 0)}; none of the terms read in"
            f" {count(ratings.outside or 0)}, only some in {count(ratings.partly_outside or 0)}."
        )
    if terms := _clearest(ratings.by_term):
        listed = ", ".join(f"{part.name} {signed(part.bias, precise)}" for part in terms)
        yield f"Terms whose texts move most: {listed}."
    known = []
    if measurement.noise_floor is not None:
        known.append(f"noise of the computation {measurement.noise_floor:.2g}")
    if ratings.detectable is not None:
        known.append(f"smallest mean bias found four times out of five {number(ratings.detectable, precise)}")
    if known:
        text = "; ".join(known)
        yield f"{text[0].upper()}{text[1:]}."


def _clearest(parts: list[Part]) -> list[Part]:
    """Of the terms whose interval leaves zero out, those with the largest bias."""
    clear = [part for part in parts if part.interval and (part.interval[0] > 0 or part.interval[1] < 0)]
    return sorted(clear, key=lambda part: -abs(part.bias or 0.0))[:MOST_TERMS]
