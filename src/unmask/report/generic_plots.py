"""The plot of a measure of which only the schema is known: values with their intervals, one below the other."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from unmask.report.drawing import INK, POINT, Point, around, chart, column, rows_of, svg
from unmask.results import Estimate
from unmask.results.numbers import interval, number

MOST_ROWS = 40
WIDTH, ROW, MARGINS = 340, 28, {"left": 210, "right": 62, "top": 10, "bottom": 42}


def forest(tests: Mapping[str, Estimate], groups: Mapping[str, Estimate], unit: str) -> str:
    """Draw the tests (filled) and groups (hollow) that have this unit; empty where none has a value."""
    points: list[Point] = []
    for estimates, tested in ((tests, True), (groups, False)):
        for name, estimate in estimates.items():
            value = estimate.value
            if estimate.unit != unit or value is None or len(points) == MOST_ROWS:
                continue
            low, high = estimate.interval or (value, value)
            point: Point = {"at": len(points), "name": name, "value": value, "low": low, "high": high}
            tip = f"{name}: {number(value)} {interval(estimate.interval) or '(no interval)'}, n = {estimate.n:,}"
            points.append(point | {"text": number(value), "tested": tested, "tip": tip})
    if not points:
        return ""
    place, left = rows_of(), MARGINS["left"]
    scale = alt.Scale(domain=around(end for point in points for end in (point["low"], point["high"])), nice=False)
    across, from_low = (
        alt.X(f"{field}:Q", title=unit or None, axis=alt.Axis(tickCount=5), scale=scale) for field in ("value", "low")
    )
    shown = chart(points)
    layers = [
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        shown.mark_rule(color=POINT, strokeWidth=2, opacity=0.7).encode(x=from_low, x2="high:Q", y=place),
        column(shown, "name", -8, place, left=left, opacity=1),
        column(shown, "text", WIDTH + 58, place, left=left, opacity=1),
    ]
    for tested in (True, False):
        own = chart(point for point in points if point["tested"] == tested)
        mark = own.mark_point(color=POINT, filled=tested, size=64, opacity=1, strokeWidth=1.8)
        layers.append(mark.encode(x=across, y=place))
    return svg(layers, WIDTH, ROW * len(points), MARGINS)
