"""The plots of a comparison as SVG text: intervals and bars before and after.

Bars before and after are side by side on one scale: values after are drawn shifted to the right by the width of the
panel before, and the labels of the axis take the shift off again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

import altair as alt

from unmask.report.drawing import (
    GENDERS,
    INK,
    MOST_BARS,
    POINT,
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
from unmask.results.comparison import Change
from unmask.results.numbers import interval

PANELS_WIDTH, PANELS_MARGINS = 140, {"left": 184, "right": 44, "top": 20, "bottom": 24}
AIR = 0.12
"""Between the panels, as a share of one."""
RANGE_WIDTH, RANGE_MARGINS, RANGE_ROW = 340, {"left": 12, "right": 12, "top": 6, "bottom": 40}, 58
RANGE_NAME = 170
GENDERS_OF, SIDES = ("female", "male"), ("before", "after")


@dataclass(frozen=True)
class BarRow:
    """Values of a row of bars for female and for male person words, before and after."""

    name: str
    before: tuple[float | None, float | None]
    after: tuple[float | None, float | None]
    change: float | None
    """Of the female − male difference."""

    @property
    def values(self) -> tuple[float | None, ...]:
        """Female and male before, female and male after."""
        return (*self.before, *self.after)


def domain(rows: Iterable[BarRow]) -> Domain:
    """One scale for the bars of all groups, before and after, so that they can be compared."""
    return around(value for row in rows for value in row.values)


def largest(rows: Iterable[BarRow]) -> list[BarRow]:
    """Rows sorted by the size of the change; of a long list, the largest."""
    drawable = [row for row in rows if any(value is not None for value in row.values)]
    drawable.sort(key=lambda row: (row.change is None, -abs(row.change or 0.0)))
    return drawable[:MOST_BARS]


def bars(rows: Iterable[BarRow], scale: Domain) -> str:
    """Female and male values of a group, before and after; empty if there is nothing to draw."""
    chosen = largest(rows)
    if not chosen:
        return ""
    shift = (scale[1] - scale[0]) * (1 + AIR)
    values, texts = [], []
    for at, row in enumerate(chosen):
        for place, value in enumerate(row.values):
            if value is not None:
                start, gender, when = shift * (place // 2), GENDERS_OF[place % 2], SIDES[place // 2]
                tip = f"{row.name}, {gender}, {when}: {signed(value)} nats"
                values.append({"at": at, "gender": gender, "zero": start, "value": value + start, "tip": tip})
        texts.append({"at": at, "name": row.name, "gap": signed(row.change)})
    marks = _ticks(scale)
    own = f"datum.value > {scale[1]} ? datum.value - {shift} : datum.value"
    step = max(map(abs, marks))
    label = f"format(round(({own}) / {step}) * {step}, '.3~g')"  # free of rounding errors
    axis = alt.Axis(values=[*marks, *(mark + shift for mark in marks)], labelExpr=label, labelOverlap=False)
    across = alt.X("value:Q", title=None, axis=axis, scale=alt.Scale(domain=(scale[0], scale[1] + shift), nice=False))
    left, head = PANELS_MARGINS["left"], alt.value(-11)
    words, heads = chart(texts), chart([{"before": "before", "after": "after", "gap": "change"}])
    half = PANELS_WIDTH / (2 + AIR)
    layers = [
        chart(values)
        .mark_bar()
        .encode(
            x=across,
            x2="zero:Q",
            y=rows_of(),
            yOffset=alt.YOffset("gender:N", sort=["female", "male"]),
            color=alt.Color("gender:N", legend=None, scale=GENDERS),
        ),
        chart([{"value": 0}, {"value": shift}]).mark_rule(color=INK, opacity=0.7).encode(x=across),
        column(words, "name", -6, rows_of(), left=left, opacity=1),
        column(words, "gap", PANELS_WIDTH + 42, rows_of(), left=left),
        column(heads, "gap", PANELS_WIDTH + 42, head, left=left),
    ]
    for name, middle in (("before", half / 2), ("after", PANELS_WIDTH - half / 2)):
        text = heads.mark_text(align="center", baseline="middle", color=INK, fontSize=11, opacity=0.75)
        layers.append(text.encode(x=alt.value(middle), y=head, text=f"{name}:N"))
    return svg(layers, PANELS_WIDTH, ROW * len(chosen), PANELS_MARGINS)


def ranges(changes: Sequence[tuple[str, Change]], unit: str) -> str:
    """Each figure before and after with its 95 % interval, on one scale with zero marked; empty without figures."""
    points: list[Point] = []
    texts: list[Point] = []
    for at, (name, one) in enumerate(changes):
        top = at * RANGE_ROW
        for side, estimate in enumerate((one.before, one.after)):
            if estimate is not None and estimate.value is not None:
                value, bounds = estimate.value, estimate.interval
                low, high = bounds or (value, value)
                tip = f"{name}, {SIDES[side]}: {signed(value)} {interval(bounds)}"
                point: Point = {"y": top + 30 + 15 * side, "side": side, "value": value, "low": low, "high": high}
                points.append(point | {"tip": tip})
        texts.append(
            {"y": top + 12, "name": name, "gap": f"{signed(one.change.value)} {interval(one.change.interval)}"}
        )
    if not points:
        return ""
    scale, height = around(point[end] for point in points for end in ("low", "high")), RANGE_ROW * len(texts)
    axis = alt.Axis(tickCount=6, grid=False)
    across, from_low = (
        alt.X(f"{field}:Q", title=unit, axis=axis, scale=alt.Scale(domain=scale, nice=False))
        for field in ("value", "low")
    )
    down = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=(height, 0), nice=False))
    zeros = chart({"value": 0, "y": text["y"] + 10, "end": text["y"] + 42} for text in texts)  # not through the names
    layers = [zeros.mark_rule(color=INK, opacity=0.7).encode(x=across, y=down, y2="end:Q")]
    for side, colour, filled, shape in ((0, INK, False, "circle"), (1, POINT, True, "diamond")):
        own = chart(point for point in points if point["side"] == side)
        line = own.mark_rule(color=colour, strokeWidth=2, opacity=0.7)
        mark = own.mark_point(color=colour, filled=filled, shape=shape, size=60, opacity=1, strokeWidth=1.6)
        layers += [line.encode(x=from_low, x2="high:Q", y=down), mark.encode(x=across, y=down)]
    words = chart(texts)
    for field, align, place in (("name", "left", 0), ("gap", "right", RANGE_WIDTH)):
        text = words.mark_text(align=align, baseline="middle", color=INK, fontSize=11, limit=RANGE_NAME)
        layers.append(text.encode(x=alt.value(place), y=down, text=f"{field}:N"))
    return svg(layers, RANGE_WIDTH, height, RANGE_MARGINS)


def _ticks(scale: Domain) -> list[float]:
    """Zero, and on either side the largest round number for which there is room."""
    longest = max(-scale[0], scale[1])
    power = 10.0 ** floor(log10(longest))
    step = max(factor * power for factor in (1, 1.5, 2, 3, 4, 5, 6, 8) if factor * power <= longest)
    return [tick for tick in (-step, 0.0, step) if scale[0] <= tick <= scale[1]]
