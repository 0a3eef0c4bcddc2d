"""Gender among other contrasts, as SVG text: each test a row, each contrast a point.

Any direction gives high values, since words were chosen by it. So what gender gives is drawn among what contrasts give
that have nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.measures.geometry.details import WordTest
from unmask.report.drawing import POINT, Domain
from unmask.report.geometry_marks import Mark, diamond, dots, drawing, line, scaled, ticks, words
from unmask.report.pages import percent
from unmask.results.numbers import number

NAMES = {
    "clustering": "two clusters",
    "probe": "linear probe",
    "classification": "classifier",
    "neighbours": "neighbours, r",
}
"""What the tests are called on a page."""
OTHER = "#8a94a3"
WIDTH, ROW, MARGINS = 300, 36, {"left": 88, "right": 52, "top": 24, "bottom": 24}
AXIS = 26
"""The room for the numbers of an axis."""
JITTER = (0, 6, -6, 3, -3, 8, -8)
"""Points are spread over their row, so that fewer hide each other."""
MOST_VALUES = 199
CORRELATIONS = (-1.0, 1.0)


def shares_scale(tests: Sequence[WordTest]) -> Domain:
    """One scale for the shares of all tests: from one half, or what is less, to 1."""
    return min([0.5, *(value for test in tests if test.name != "neighbours" for value in _values(test))]) - 0.01, 1.0


def strips(tests: Sequence[WordTest], scale: Domain) -> str:
    """A faint point for each other contrast, a bar for their mean, a diamond for gender; empty without values.

    Shares have one axis; the correlation of neighbours has its own, from −1 to 1, below.
    """
    shown = [test for test in tests if test.value is not None]
    parts = [words(WIDTH + 8, -12, "gender", opacity=0.8)] if shown else []
    top = 0.0
    for correlation, domain in ((False, scale), (True, CORRELATIONS)):
        rows = [test for test in shown if (test.name == "neighbours") == correlation]
        if rows:
            end = top + ROW * len(rows)
            parts += _axis(domain, top, end, correlation=correlation)
            for at, test in enumerate(rows):
                parts += _row(test, domain, top + ROW * (at + 0.5))
            top = end + AXIS
    return drawing(parts, WIDTH, round(top - AXIS), MARGINS) if shown else ""


def _axis(domain: Domain, top: float, end: float, *, correlation: bool) -> Iterator[str]:
    for tick in ticks(domain, 4):
        across = scaled(tick, domain, WIDTH)
        yield line((across, top), (across, end), opacity=0.5 if correlation and tick == 0 else 0.12)
        yield words(
            across, end + 11, number(tick, 1) if correlation else percent(tick, 0), anchor="middle", opacity=0.8
        )


def _row(test: WordTest, domain: Domain, middle: float) -> Iterator[str]:
    assert test.value is not None
    value = number(test.value) if test.name == "neighbours" else percent(test.value)
    yield words(-10, middle, NAMES.get(test.name, test.name), anchor="end")
    if test.reference:
        places = [scaled(one, domain, WIDTH) for one in test.reference.values[:MOST_VALUES]]
        marks = [Mark(across, middle + JITTER[at % len(JITTER)]) for at, across in enumerate(places)]
        yield dots(marks, radius=2.6, style=f'fill="{OTHER}" fill-opacity=".55"')
        mean = scaled(test.reference.mean, domain, WIDTH)
        yield line((mean, middle - 12), (mean, middle + 12), opacity=0.9)
    place = Mark(scaled(test.value, domain, WIDTH), middle, hover=f"gender: {value}")
    yield diamond(place, size=6, style=f'fill="{POINT}" stroke="currentColor"')
    yield words(WIDTH + 8, middle, value)


def _values(test: WordTest) -> list[float]:
    return [value for value in (test.value, *(test.reference.values if test.reference else ())) if value is not None]
