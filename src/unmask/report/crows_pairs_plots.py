"""The plots of CrowS-Pairs as SVG text: shares with their intervals, and how the differences of pairs are spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, sqrt

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from unmask.report.drawing import INK, POINT, Point, chart, column, rows_of, svg
from unmask.report.pages import percent
from unmask.results import Estimate
from unmask.results.numbers import MINUS

LESS = "#8a94a3"
SHOWN = 0.98
"""The share of the pairs that the histogram has on its axis; the others lie far out."""
MOST_BINS, FEWEST_BINS = 20, 4
SHARE_WIDTH, SHARE_ROW, SHARE_MARGINS = 280, 28, {"left": 150, "right": 56, "top": 22, "bottom": 42}
SPREAD_WIDTH, SPREAD_HEIGHT = 400, 190
SPREAD_MARGINS = {"left": 44, "right": 14, "top": 36, "bottom": 44}


@dataclass(frozen=True)
class Spread:
    """A histogram, and what it does not show."""

    svg: str
    beyond: int
    """Pairs that lie beyond the ends of the axis."""
    limit: float


def shares(groups: Mapping[str, Estimate]) -> str:
    """In which share of each group of pairs the more stereotypical sentence is likelier; empty without shares."""
    points: list[Point] = []
    for name, group in groups.items():
        if group.value is not None and name != "neutral":
            low, high = group.interval or (group.value, group.value)
            point: Point = {"at": len(points), "name": name, "value": group.value, "low": low, "high": high}
            said = " to ".join(percent(end) for end in group.interval) if group.interval else "no interval"
            tip = f"{name}: {percent(group.value)} ({said}), {group.n:,} pairs"
            points.append(point | {"text": percent(group.value), "tested": name == "all pairs", "tip": tip})
    if not points:
        return ""
    place, left = rows_of(), SHARE_MARGINS["left"]
    scale = min(0.3, *(point["low"] for point in points)), max(0.7, *(point["high"] for point in points))
    axis = alt.Axis(tickCount=5, format=".0%")
    across, from_low = (
        alt.X(f"{field}:Q", title="likelier when stereotypical", axis=axis, scale=alt.Scale(domain=scale, nice=False))
        for field in ("value", "low")
    )
    shown = chart(points)
    layers = [
        chart([{"value": 0.5}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        shown.mark_rule(color=POINT, strokeWidth=2, opacity=0.7).encode(x=from_low, x2="high:Q", y=place),
        column(shown, "name", -8, place, left=left, opacity=1),
        column(shown, "text", SHARE_WIDTH + 52, place, left=left, opacity=1),
    ]
    for tested in (True, False):
        own = chart(point for point in points if point["tested"] == tested)
        mark = own.mark_point(color=POINT, filled=tested, size=64, opacity=1, strokeWidth=1.8)
        layers.append(mark.encode(x=across, y=place))
    return svg(layers, SHARE_WIDTH, SHARE_ROW * len(points), SHARE_MARGINS)


def spread(differences: ArrayLike, mean: float | None) -> Spread | None:
    """A histogram of the differences of pairs, zero at an edge of its bins; None if no pair has one."""
    values = np.asarray(differences, dtype=float)
    sizes = np.abs(values[values != 0])
    if not sizes.size:
        return None
    limit = float(np.quantile(sizes, SHOWN, method="higher"))
    bins = min(MOST_BINS, max(FEWEST_BINS, ceil(sqrt(values.size) / 2)))
    edges = np.linspace(-limit, limit, 2 * bins + 1)
    counts, _ = np.histogram(values[values != 0], edges)
    bars = [
        {
            "low": low,
            "high": high,
            "count": int(number),
            "none": 0,
            "side": "more" if high > limit / 1e6 else "less",
            "tip": f"{number:,} pairs: {low:.2g} to {high:.2g} nats".replace("-", MINUS),
        }
        for (low, high), number in zip(pairwise(edges.tolist()), counts, strict=True)
    ]
    scale = alt.Scale(domain=(-limit, limit), nice=False)
    across = alt.X("low:Q", title="difference (nats)", scale=scale, axis=alt.Axis(tickCount=7, grid=False))
    up = alt.Y("count:Q", title="pairs", axis=alt.Axis(tickCount=4, format="d"))
    colour = alt.Color("side:N", legend=None, scale=alt.Scale(domain=["less", "more"], range=[LESS, POINT]))
    layers = [
        chart(bars).mark_bar(stroke="none").encode(x=across, x2="high:Q", y=up, y2="none:Q", color=colour),
        chart([{"low": 0}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
    ]
    if mean is not None and abs(mean) < limit:
        drawn = chart([{"low": mean, "text": "mean"}])
        layers += [
            drawn.mark_rule(color=INK, strokeDash=[4, 3], strokeWidth=1.5).encode(x=across),
            drawn.mark_text(color=INK, fontSize=11, baseline="bottom").encode(x=across, y=alt.value(-3), text="text:N"),
        ]
    for text, align, place in (("other one likelier", "left", 0), ("stereotypical likelier", "right", SPREAD_WIDTH)):
        words = chart([{"text": text}]).mark_text(align=align, baseline="bottom", color=INK, fontSize=11, opacity=0.75)
        layers.append(words.encode(x=alt.value(place), y=alt.value(-18), text="text:N"))
    return Spread(svg(layers, SPREAD_WIDTH, SPREAD_HEIGHT, SPREAD_MARGINS), int((sizes > limit).sum()), limit)
