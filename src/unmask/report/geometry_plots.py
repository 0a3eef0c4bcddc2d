"""The plots of geometry as SVG text: ever more clusters, and association tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import altair as alt

from unmask.report.drawing import INK, POINT, Point, around, chart, column, rows_of, svg
from unmask.report.pages import percent
from unmask.results import Estimate
from unmask.results.numbers import interval, number
from unmask.results.verdict import is_significant

SCAN_WIDTH, SCAN_HEIGHT, SCAN_MARGINS = 330, 190, {"left": 46, "right": 12, "top": 10, "bottom": 44}
RANGE_WIDTH, RANGE_ROW, RANGE_MARGINS = 300, 26, {"left": 84, "right": 56, "top": 22, "bottom": 40}
SCAN_COLOURS = {False: INK, True: POINT}


class ClusterCount(Protocol):
    """What is drawn of a number of clusters."""

    @property
    def clusters(self) -> int:
        """How many there are."""

    @property
    def removed(self) -> bool:
        """Whether the gender direction was removed first."""

    @property
    def accuracy(self) -> float:
        """The share of words that they sort correctly."""

    @property
    def chance_high(self) -> float:
        """What 97.5 % of random labels stay below."""


def scan(counts: Sequence[ClusterCount]) -> str:
    """The share of words that clusters sort correctly, by their number, and what 97.5 % of random labels stay below."""
    if not counts:
        return ""
    points: list[Point] = [
        {
            "k": one.clusters,
            "value": one.accuracy,
            "chance": one.chance_high,
            "removed": one.removed,
            "tip": f"{one.clusters} clusters{', gender direction removed' if one.removed else ''}:"
            f" {percent(one.accuracy)} sorted correctly (chance below {percent(one.chance_high)})",
        }
        for one in counts
    ]
    ends = [point[name] for point in points for name in ("value", "chance")]
    across = alt.X(
        "k:Q",
        title="clusters",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=sorted({point["k"] for point in points}), labelOverlap=True, grid=False, format="d"),
    )
    scale = alt.Scale(domain=(min(0.5, *ends) - 0.02, max(ends) + 0.02), nice=False)
    up, beside = (
        alt.Y(f"{field}:Q", title="words sorted correctly", scale=scale, axis=alt.Axis(tickCount=5, format=".0%"))
        for field in ("value", "chance")
    )
    layers = []
    for removed, colour in SCAN_COLOURS.items():
        own = chart(point for point in points if point["removed"] == removed)
        shape = "diamond" if removed else "circle"
        layers += [
            own.mark_line(color=colour, strokeDash=[3, 3], strokeWidth=1.2, opacity=0.7).encode(x=across, y=beside),
            own.mark_line(color=colour, strokeWidth=1.8).encode(x=across, y=up),
            own.mark_point(color=colour, shape=shape, filled=removed, size=50, opacity=1).encode(x=across, y=up),
        ]
    return svg(layers, SCAN_WIDTH, SCAN_HEIGHT, SCAN_MARGINS)


def ranges(tests: Sequence[tuple[str, Estimate]]) -> str:
    """The effect size of each association test with its 95 % interval; filled where p, adjusted, is below 0.05."""
    points: list[Point] = []
    for name, test in tests:
        if test.effect_size is not None:
            low, high = test.effect_size_interval or (test.effect_size, test.effect_size)
            sure = is_significant(test.p_adjusted)
            point: Point = {"at": len(points), "name": name, "value": test.effect_size, "low": low, "high": high}
            tip = f"{name}: d = {number(test.effect_size)} {interval(test.effect_size_interval)}"
            points.append(point | {"text": number(test.effect_size), "sure": sure, "tip": tip})
    if not points:
        return ""
    place, left = rows_of(), RANGE_MARGINS["left"]
    scale = around(point[end] for point in points for end in ("low", "high"))
    axis = alt.Axis(tickCount=6)
    across, from_low = (
        alt.X(f"{field}:Q", title="effect size d", axis=axis, scale=alt.Scale(domain=scale, nice=False))
        for field in ("value", "low")
    )
    shown = chart(points)
    layers = [
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        shown.mark_rule(color=POINT, strokeWidth=2, opacity=0.7).encode(x=from_low, x2="high:Q", y=place),
        column(shown, "name", -8, place, left=left, opacity=1),
        column(shown, "text", RANGE_WIDTH + 46, place, left=left, opacity=1),
        column(chart([{"text": "d"}]), "text", RANGE_WIDTH + 46, alt.value(-11), left=left),
    ]
    for sure in (True, False):
        own = chart(point for point in points if point["sure"] == sure)
        mark = own.mark_point(color=POINT, filled=sure, size=60, opacity=1, strokeWidth=1.8)
        layers.append(mark.encode(x=across, y=place))
    return svg(layers, RANGE_WIDTH, RANGE_ROW * len(points), RANGE_MARGINS)
