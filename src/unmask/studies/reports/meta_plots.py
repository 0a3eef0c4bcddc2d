"""Scores by the rate of planted bias (the paper's Figure 4, for any measure) as SVG text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from unmask.report.drawing import INK, Point, around, chart, svg
from unmask.results.numbers import number

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("#4477aa", "#ee6677", "#228833", "#aa7700", "#66aadd", "#aa3377")
"""One a score, told apart with any colour vision."""
WIDTH, HEIGHT, MARGINS = 320, 230, {"left": 58, "right": 12, "top": 10, "bottom": 44}


def lines(cells: pd.DataFrame) -> str:
    """The scores of one measure in one language: a point a model, a line through the means."""
    names = list(dict.fromkeys(cells["score"]))
    points = _points(cells)
    means = _points(cells.groupby(["score", "rate"], sort=False)[["value"]].mean().reset_index())
    across = alt.X(
        "rate:Q", title="rate of planted bias", axis=alt.Axis(tickCount=6, format="~g"), scale=alt.Scale(domain=(0, 1))
    )
    up = alt.Y(
        "value:Q",
        title="score",
        axis=alt.Axis(tickCount=6, format="~g"),
        scale=alt.Scale(domain=around(point["value"] for point in points), nice=False),
    )
    colour = alt.Color("score:N", legend=None, scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])))
    layers = [
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.5).encode(y=up),
        chart(means).mark_line(strokeWidth=2, opacity=0.8).encode(x=across, y=up, color=colour),
        chart(points).mark_point(filled=True, size=28, opacity=0.9).encode(x=across, y=up, color=colour),
    ]
    return svg(layers, WIDTH, HEIGHT, MARGINS)


def _points(cells: pd.DataFrame) -> list[Point]:
    return [
        {
            "rate": float(rate),
            "value": float(value),
            "score": str(score),
            "tip": f"{score}: {number(float(value), 3)} at a rate of {rate:g}",
        }
        for rate, value, score in zip(
            cells["rate"].to_numpy(), cells["value"].to_numpy(), cells["score"].to_numpy(), strict=True
        )
    ]
