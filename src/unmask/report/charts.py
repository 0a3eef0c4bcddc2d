"""The plot functions of all reports: data in, SVG text out. Nothing here knows a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from unmask.report.drawing import INK, POINT, Domain, Point, around, chart, column, rows_of, svg
from unmask.results.record import Interval

FOREST_ROW = 28
MOST_ROWS = 40
LONGEST_NAME = 210
"""Names take at most so many pixels."""
CHARACTER = 6.2
"""Pixels that a character takes, about."""


@dataclass(frozen=True)
class ForestRow:
    """An estimate of a forest plot."""

    name: str
    value: float
    interval: Interval | None
    text: str
    """The value as it is written beside the plot."""
    tip: str
    """What a pointer shows."""
    filled: bool = True


def forest(
    rows: Sequence[ForestRow],
    *,
    axis_title: str = "",
    neutral: float = 0.0,
    domain: Domain | None = None,
    number_format: str = "",
    width: int = 280,
) -> str:
    """Points with intervals, one below the other, and a line at the neutral value; empty without rows."""
    if not rows:
        return ""
    points: list[Point] = []
    for index, row in enumerate(rows[:MOST_ROWS]):
        low, high = row.interval or (row.value, row.value)
        values = {"at": index, "value": row.value, "low": low, "high": high, "filled": row.filled}
        points.append(values | {"name": row.name, "text": row.text, "tip": row.tip})
    left = min(LONGEST_NAME, 24 + round(CHARACTER * max(len(row.name) for row in rows)))
    margins = {"left": left, "right": 62, "top": 12, "bottom": 42 if axis_title else 26}
    scale = domain or around(point[end] for point in points for end in ("low", "high"))
    axis = alt.Axis(tickCount=5, format=number_format) if number_format else alt.Axis(tickCount=5)
    across, from_low = (
        alt.X(f"{field}:Q", title=axis_title or None, axis=axis, scale=alt.Scale(domain=scale, nice=False))
        for field in ("value", "low")
    )
    place, shown = rows_of(), chart(points)
    layers = [
        chart([{"value": neutral}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        shown.mark_rule(color=POINT, strokeWidth=2, opacity=0.7).encode(x=from_low, x2="high:Q", y=place),
        column(shown, "name", -8, place, left=left, opacity=1),
        column(shown, "text", width + 58, place, left=left, opacity=1),
    ]
    for filled in (True, False):
        subset = chart(point for point in points if point["filled"] == filled)
        mark = subset.mark_point(color=POINT, filled=filled, size=64, opacity=1, strokeWidth=1.8)
        layers.append(mark.encode(x=across, y=place))
    return svg(layers, width, FOREST_ROW * len(points), margins)
