"""The histogram of CrowS-Pairs as SVG text: how the differences of pairs are spread."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, sqrt

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from unmask.report.drawing import INK, POINT, chart, svg
from unmask.results.numbers import MINUS

LESS = "#8a94a3"
SHOWN = 0.98
"""The share of the pairs that the histogram has on its axis; the others lie far out."""
MOST_BINS, FEWEST_BINS = 20, 4
SPREAD_WIDTH, SPREAD_HEIGHT = 400, 190
SPREAD_MARGINS = {"left": 44, "right": 14, "top": 36, "bottom": 44}


def axis_limit(differences: ArrayLike) -> float:
    """Where the axis of the histogram ends, on both sides of zero. Some difference must not be zero."""
    values = np.asarray(differences, dtype=float)
    return float(np.quantile(np.abs(values[values != 0]), SHOWN, method="higher"))


def spread(differences: ArrayLike, mean: float | None) -> str:
    """A histogram of the differences of pairs, zero at an edge of its bins; empty if no pair has one."""
    values = np.asarray(differences, dtype=float)
    if not values.any():
        return ""
    limit = axis_limit(values)
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
    for text, align, place in (
        ("other one more likely", "left", 0),
        ("stereotypical more likely", "right", SPREAD_WIDTH),
    ):
        words = chart([{"text": text}]).mark_text(align=align, baseline="bottom", color=INK, fontSize=11, opacity=0.75)
        layers.append(words.encode(x=alt.value(place), y=alt.value(-18), text="text:N"))
    return svg(layers, SPREAD_WIDTH, SPREAD_HEIGHT, SPREAD_MARGINS)
