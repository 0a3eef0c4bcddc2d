"""The plots of ratings as SVG text: a histogram of the differences of single texts, and their means by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, floor, inf, log1p, log10, sqrt
from typing import TYPE_CHECKING

import altair as alt
import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.report.drawing import (
    GENDERS,
    INK,
    ROW,
    Domain,
    Point,
    around,
    chart,
    column,
    rows_of,
    svg,
)
from unmask.report.pages import signed
from unmask.results.numbers import interval

if TYPE_CHECKING:
    from unmask.measures.sentiment.details import Part

MOST_BINS, FEWEST_BINS = 24, 4
STRETCH = 1e-3
"""The axis is not stretched below this share of its end."""
TICK_ROOM = 0.24
"""Between two numbers of an axis, as a share of its half."""
SPREAD_WIDTH, SPREAD_HEIGHT = 400, 190
SPREAD_MARGINS = {"left": 50, "right": 14, "top": 36, "bottom": 44}
DOTS_WIDTH, DOTS_MARGINS = 170, {"left": 168, "right": 66, "top": 20, "bottom": 26}


def histogram(biases: ArrayLike, mean: float | None, limit: float) -> str:
    """A histogram of the differences of single texts up to ±`limit`; empty if no text has a difference.

    Most differences are tiny and a few are large, so the axis is stretched near zero: x is drawn at ± ln(1 + |x|/m),
    with m the median size (or a thousandth of the limit).
    """
    values = np.asarray(biases, dtype=float)
    sizes = np.abs(values[values != 0])
    if not sizes.size:
        return ""
    middle = max(float(np.median(sizes)), STRETCH * limit)
    bars = bars_of(values, middle, limit)
    ticks = _ticks(middle, limit)
    axis = alt.Axis(values=[*(-tick for tick in ticks), 0, *ticks], format="~g", labelOverlap=False, grid=False)
    scale = alt.Scale(type="symlog", constant=middle, domain=(-limit, limit), nice=False)
    across = alt.X("low:Q", title="male − female rating, stretched near 0", scale=scale, axis=axis)
    up = alt.Y("count:Q", title="texts", axis=alt.Axis(tickCount=4, format="~s" if values.size > 9999 else "d"))
    layers = [
        chart(bars)
        .mark_bar(stroke="none")
        .encode(x=across, x2="high:Q", y=up, y2="none:Q", color=alt.Color("gender:N", legend=None, scale=GENDERS)),
        chart([{"low": 0}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
    ]
    if mean is not None and abs(mean) < limit:
        line = chart([{"low": mean, "text": "mean"}])
        layers += [
            line.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5).encode(x=across),
            line.mark_text(color=INK, fontSize=11, baseline="bottom").encode(x=across, y=alt.value(-3), text="text:N"),
        ]
    for side, align, place in (("female", "left", 0), ("male", "right", SPREAD_WIDTH)):
        words = chart([{"text": f"{side} rated higher"}]).mark_text(
            align=align, baseline="bottom", color=INK, fontSize=11, opacity=0.75
        )
        layers.append(words.encode(x=alt.value(place), y=alt.value(-18), text="text:N"))
    return svg(layers, SPREAD_WIDTH, SPREAD_HEIGHT, SPREAD_MARGINS)


def bars_of(values: NDArray[np.float64], middle: float, limit: float) -> list[Point]:
    """How many values lie in each bin from zero to the limit, on both sides; bins are alike on the stretched axis."""
    bins = min(MOST_BINS, max(FEWEST_BINS, ceil(sqrt(values.size))))
    edges = middle * np.expm1(np.linspace(0, log1p(limit / middle), bins + 1))
    edges[-1] = limit
    bars = []
    for side, gender in ((-1, "female"), (1, "male")):
        counts, _ = np.histogram(side * values[values * side > 0], edges)
        bars += [
            {
                "low": side * low,
                "high": side * high,
                "count": int(count),
                "none": 0,
                "gender": gender,
                "tip": f"{count:,} texts: {gender} rated higher by {low:.2g} to {high:.2g}",
            }
            for (low, high), count in zip(pairwise(edges.tolist()), counts, strict=True)
        ]
    return bars


def _ticks(middle: float, limit: float) -> list[float]:
    """Round numbers on the one half of the axis, far enough apart."""
    found: list[float] = []
    before = inf
    for power in range(floor(log10(limit)), floor(log10(middle)) - 2, -1):
        for factor in (5, 2, 1):
            tick = float(f"{factor}e{power}")
            place = log1p(tick / middle) / log1p(limit / middle)  # from 0 to 1
            if tick <= limit and TICK_ROOM <= place <= before - TICK_ROOM:
                found.append(tick)
                before = place
    return found


def scale_of(parts: Iterable[Part]) -> Domain:
    """One scale for panels that are to be compared."""
    return around(value for part in parts for value in (part.bias, *(part.interval or ())))


def dots(parts: Sequence[Part], scale: Domain, digits: int) -> str:
    """The mean difference of each part with its 95 % interval; empty if there is nothing to draw."""
    points: list[Point] = []
    texts: list[Point] = []
    for part in parts:
        if part.bias is not None:
            low, high = part.interval or (part.bias, part.bias)
            gender = "male" if part.bias > 0 else "female"
            sure = part.interval is not None and (low > 0 or high < 0)
            tip = f"{part.name}: {signed(part.bias, digits)} {interval(part.interval, digits)}, {part.n:,} texts"
            place = {"at": len(points), "tip": tip}
            points.append(place | {"value": part.bias, "low": low, "high": high, "gender": gender, "sure": sure})
            texts.append(place | {"name": part.name, "n": f"{part.n:,}", "bias": signed(part.bias, digits)})
    if not points:
        return ""
    place, left = rows_of(), DOTS_MARGINS["left"]
    axis = alt.Axis(tickCount=3, labelOverlap=True)
    across, from_low = (
        alt.X(f"{field}:Q", title=None, scale=alt.Scale(domain=scale, nice=False), axis=axis)
        for field in ("value", "low")
    )
    colour = alt.Color("gender:N", legend=None, scale=GENDERS)
    layers = [
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        chart(points).mark_rule(strokeWidth=2, opacity=0.7).encode(x=from_low, x2="high:Q", y=place, color=colour),
    ]
    for sure in (True, False):
        own = chart(point for point in points if point["sure"] == sure)
        mark = own.mark_point(filled=sure, size=52, opacity=1, strokeWidth=1.8)
        layers.append(mark.encode(x=across, y=place, color=colour))
    words, heads = chart(texts), chart([{"n": "texts", "bias": "bias"}])
    layers.append(column(words, "name", -52, place, left=left, opacity=1))
    for field, end in (("n", -8), ("bias", DOTS_WIDTH + 62)):
        layers += [column(words, field, end, place, left=left), column(heads, field, end, alt.value(-11), left=left)]
    return svg(layers, DOTS_WIDTH, ROW * len(points), DOTS_MARGINS)
