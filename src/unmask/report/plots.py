"""The plots of an audit as SVG text, to be set into a page: bars by profession, and the workforce scatter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import altair as alt

from unmask.report.drawing import (
    GENDERS,
    INK,
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
from unmask.results.numbers import interval, number

if TYPE_CHECKING:
    from unmask.measures.association.details import ProfessionValue

MOST_LABELS = 18
LONGEST_LABEL = 32
BAR_WIDTH, BAR_MARGINS = 116, {"left": 196, "right": 42, "top": 20, "bottom": 24}
SCATTER_WIDTH, SCATTER_HEIGHT = 740, 400
SCATTER_MARGINS = {"left": 48, "right": 128, "top": 10, "bottom": 46}


def share(percent: float | None) -> str:
    """A share of the workforce, as it stands beside a profession."""
    return "–" if percent is None else f"{number(percent, 1 if percent < 10 else 0)} %"


def domain(professions: Iterable[ProfessionValue]) -> Domain:
    """One scale for the bars of all groups, so that their panels can be compared."""
    return around(value for one in professions for value in (one.female, one.male))


def bars(professions: Sequence[ProfessionValue], scale: Domain) -> str:
    """Female and male associations of the professions of a group, in this order; empty if there are none."""
    if not professions:
        return ""
    values, texts = [], []
    for at, one in enumerate(professions):
        values += [
            {"at": at, "gender": gender, "value": value, "tip": f"{one.profession}, {gender}: {signed(value)} nats"}
            for gender, value in (("female", one.female), ("male", one.male))
        ]
        gap = signed(one.difference)
        texts.append({"at": at, "name": one.profession, "share": share(one.workforce_share), "gap": gap})
    place = rows_of()
    across = alt.X(
        "value:Q", title=None, scale=alt.Scale(domain=scale, nice=False), axis=alt.Axis(tickCount=4, labelOverlap=True)
    )
    columns = {"gap": BAR_WIDTH + 38}
    if any(one.workforce_share is not None for one in professions):
        columns["share"] = -8
    left = BAR_MARGINS["left"]
    words, heads = chart(texts), chart([{"share": "women", "gap": "f − m"}])
    layers = [
        chart([value for value in values if value["value"] is not None])
        .mark_bar()
        .encode(
            x=across,
            y=place,
            yOffset=alt.YOffset("gender:N", sort=["female", "male"]),
            color=alt.Color("gender:N", legend=None, scale=GENDERS),
        ),
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7).encode(x="value:Q"),
        column(words, "name", -46 if "share" in columns else -8, place, left=left, opacity=1),
    ]
    for field, end in columns.items():
        layers += [column(words, field, end, place, left=left), column(heads, field, end, alt.value(-11), left=left)]
    return svg(layers, BAR_WIDTH, ROW * len(professions), BAR_MARGINS)


def scatter(professions: Iterable[ProfessionValue]) -> str:
    """Share of women against female − male association; empty if no profession has both."""
    points: list[Point] = []
    for one in professions:
        if one.workforce_share is not None and one.difference is not None:
            low, high = one.difference_interval or (one.difference, one.difference)
            point = {"share": one.workforce_share, "value": one.difference, "low": low, "high": high}
            name, gap = _shorten(one.profession), f"{signed(one.difference)} {interval(one.difference_interval)}"
            points.append(point | {"name": name, "tip": f"{name}: {gap} nats, {share(one.workforce_share)} women"})
    if not points:
        return ""
    shares = [point["share"] for point in points]
    wide, tall = (
        (min(0, *shares), max(100, *shares)),
        around(point[end] for point in points for end in ("low", "high")),
    )
    ticks = alt.Axis(tickCount=10, labelFlush=False)
    across = alt.X("share:Q", scale=alt.Scale(domain=wide), title="Women in the workforce (%)", axis=ticks)
    up, from_low = (
        alt.Y(f"{name}:Q", scale=alt.Scale(domain=tall, nice=False), title="Female − male association (nats)")
        for name in ("value", "low")
    )
    layers = [
        chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7, strokeDash=[4, 3]).encode(y=up),
        chart(points).mark_rule(color=INK, opacity=0.28).encode(x=across, y=from_low, y2="high:Q"),
        chart(points).mark_circle(size=46, color=POINT, opacity=0.95).encode(x=across, y=up),
    ]
    labels = _labels(points, wide, tall)
    for align, shift in (("left", 7), ("right", -7)):
        text = chart([label for label in labels if label["align"] == align])
        text = text.mark_text(align=align, baseline="middle", dx=shift, color=INK, fontSize=11)
        layers.append(text.encode(x=across, y=up, text="name:N"))
    return svg(layers, SCATTER_WIDTH, SCATTER_HEIGHT, SCATTER_MARGINS)


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1].rstrip() + "…"


def _worth_a_label(points: Sequence[Point]) -> Iterator[Point]:
    """In turn the highest, the lowest, and those ranked most differently by association and by share."""
    order = range(len(points))
    by_value = sorted(order, key=lambda at: float(points[at]["value"]))
    by_share = sorted(order, key=lambda at: float(points[at]["share"]))
    value_rank, share_rank = ({at: rank for rank, at in enumerate(by)} for by in (by_value, by_share))
    odd = sorted(by_value, key=lambda at: -abs(value_rank[at] - share_rank[at]))
    for trio in zip(reversed(by_value), by_value, odd, strict=True):
        yield from (points[at] for at in trio)


def _labels(points: Sequence[Point], wide: Domain, tall: Domain) -> list[Point]:
    """Names beside their points, only where they cover neither a point nor another name."""

    def place(point: Point) -> tuple[float, float]:
        x = (point["share"] - wide[0]) / (wide[1] - wide[0]) * SCATTER_WIDTH
        return x, (tall[1] - point["value"]) / (tall[1] - tall[0]) * SCATTER_HEIGHT

    right_edge = SCATTER_WIDTH + SCATTER_MARGINS["right"]
    taken = [(x - 4, x + 4, y - 4, y + 4) for x, y in map(place, points)]
    labels: dict[str, Point] = {}
    for point in islice(_worth_a_label(points), 5 * MOST_LABELS):
        x, y = place(point)
        length = 6.0 * len(point["name"]) + 2
        sides = [("left", x + 5, x + 5 + length), ("right", x - 5 - length, x - 5)]
        for align, start, end in sides if x < 0.6 * SCATTER_WIDTH else reversed(sides):
            free = all(end < t[0] or t[1] < start or y + 7 < t[2] or t[3] < y - 7 for t in taken)
            if free and start >= 0 and end <= right_edge and point["name"] not in labels and len(labels) < MOST_LABELS:
                labels[point["name"]] = {**point, "align": align}
                taken.append((start, end, y - 7, y + 7))
    return list(labels.values())
