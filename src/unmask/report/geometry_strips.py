"""Gender among unrelated contrasts, as SVG text: each test a row, each contrast a point.

Any direction gives high values, because the words were chosen by it. The value of gender is therefore drawn among those
of contrasts that have nothing to do with gender.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unmask.report.drawing import POINT, Domain
from unmask.report.geometry_marks import Mark, diamond, dots, drawing, line, scaled, ticks, words
from unmask.report.pages import percent
from unmask.results.numbers import number

OTHER = "#8a94a3"
WIDTH, ROW, MARGINS = 300, 36, {"left": 96, "right": 52, "top": 24, "bottom": 24}
AXIS = 26
"""The height of the numbers of an axis."""
JITTER = (0, 6, -6, 3, -3, 8, -8)
"""Points are spread over their row, so that fewer hide each other."""
MOST_VALUES = 199
CORRELATIONS = (-1.0, 1.0)


@dataclass(frozen=True)
class Strip:
    """A test: the value of gender, and the values of unrelated contrasts."""

    name: str
    value: float
    others: Sequence[float] = ()
    mean: float | None = None
    """Of the unrelated contrasts."""
    correlation: bool = False
    """Whether the values are correlations; they are shares otherwise."""


def shares_scale(rows: Sequence[Strip]) -> Domain:
    """One scale for all shares: from one half, or the smallest of them, to 1."""
    shares = [value for row in rows if not row.correlation for value in (row.value, *row.others)]
    return min([0.5, *shares]) - 0.01, 1.0


def strips(rows: Sequence[Strip], scale: Domain) -> str:
    """A faint point for each unrelated contrast, a bar for their mean, a diamond for gender; empty without rows.

    Shares have one axis; correlations have their own, from −1 to 1, below.
    """
    if not rows:
        return ""
    parts, top = [words(WIDTH + 8, -12, "gender", opacity=0.8)], 0.0
    for correlation, domain in ((False, scale), (True, CORRELATIONS)):
        panel = [row for row in rows if row.correlation == correlation]
        if panel:
            end = top + ROW * len(panel)
            parts += _axis(domain, top, end, correlation=correlation)
            for index, row in enumerate(panel):
                parts += _row(row, domain, top + ROW * (index + 0.5))
            top = end + AXIS
    return drawing(parts, WIDTH, round(top - AXIS), MARGINS)


def _axis(domain: Domain, top: float, end: float, *, correlation: bool) -> Iterator[str]:
    for tick in ticks(domain, 4):
        across = scaled(tick, domain, WIDTH)
        yield line((across, top), (across, end), opacity=0.5 if correlation and tick == 0 else 0.12)
        yield words(
            across, end + 11, number(tick, 1) if correlation else percent(tick, 0), anchor="middle", opacity=0.8
        )


def _row(row: Strip, domain: Domain, middle: float) -> Iterator[str]:
    value = number(row.value) if row.correlation else percent(row.value)
    yield words(-10, middle, row.name, anchor="end")
    places = [scaled(other, domain, WIDTH) for other in row.others[:MOST_VALUES]]
    marks = [Mark(across, middle + JITTER[index % len(JITTER)]) for index, across in enumerate(places)]
    yield dots(marks, radius=2.6, style=f'fill="{OTHER}" fill-opacity=".55"')
    if row.mean is not None:
        mean = scaled(row.mean, domain, WIDTH)
        yield line((mean, middle - 12), (mean, middle + 12), opacity=0.9)
    place = Mark(scaled(row.value, domain, WIDTH), middle, hover=f"gender: {value}")
    yield diamond(place, size=6, style=f'fill="{POINT}" stroke="currentColor"')
    yield words(WIDTH + 8, middle, value)
