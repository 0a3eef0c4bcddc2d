"""The plot of a ranking as SVG text: each model's figure with its interval, the most biased first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from unmask.report.drawing import INK, POINT, Point, around, chart, column, rows_of, svg

WIDTH, ROW, MARGINS = 280, 28, {"left": 150, "right": 126, "top": 22, "bottom": 26}


def forest(places: Sequence[Any]) -> str:
    """Points with whiskers around zero; filled where the interval leaves zero out."""
    points: list[Point] = []
    for at, place in enumerate(places):
        value = place.test.value or 0.0
        low, high = place.test.interval or (value, value)
        point: Point = {"at": at, "name": place.model, "value": value, "low": low, "high": high, "sure": place.sure}
        said = {"text": place.value, "rank": place.rank}
        points.append(point | said | {"tip": f"{place.model}: {place.value} {place.bounds}, rank {place.rank}"})
    scale = around(point[end] for point in points for end in ("low", "high"))
    across, from_low = (
        alt.X(f"{field}:Q", title=None, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=scale, nice=False))
        for field in ("value", "low")
    )
    place_of, left, shown = rows_of(), MARGINS["left"], chart(points)
    layers = [
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        shown.mark_rule(color=POINT, strokeWidth=2, opacity=0.8).encode(x=from_low, x2="high:Q", y=place_of),
        column(shown, "name", -10, place_of, left=left, opacity=1),
    ]
    for sure in (True, False):
        own = chart(point for point in points if point["sure"] == sure)
        mark = own.mark_point(color=POINT, filled=sure, size=64, opacity=1, strokeWidth=1.8)
        layers.append(mark.encode(x=across, y=place_of))
    heads = chart([{"text": "figure", "rank": "rank"}])
    for field, end in (("text", WIDTH + 56), ("rank", WIDTH + 122)):
        layers += [
            column(shown, field, end, place_of, left=left, opacity=1),
            column(heads, field, end, alt.value(-11), left=left),
        ]
    return svg(layers, WIDTH, ROW * len(points), MARGINS)
