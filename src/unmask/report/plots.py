"""The plots of a report as SVG text, to be set into a page: bars by profession, and the workforce scatter.

Text and axes take the colour of the text around them (`currentColor`), so that one drawing serves light and
dark pages. The layout is fixed, not fitted to the text: no name in a user's file can change a plot's size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice
from typing import Any

import altair as alt

from unmask.results import ProfessionValue
from unmask.results.numbers import number

FEMALE, MALE, POINT = "#d95f02", "#7570b3", "#1b9e77"
"""Told apart with any colour vision, and seen on white as on black."""
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
INK = "currentColor"
MOST_BARS = 40
MOST_LABELS = 18
LONGEST_LABEL = 32
ROW = 24
BAR_WIDTH, BAR_MARGINS = 116, {"left": 196, "right": 42, "top": 20, "bottom": 24}
SCATTER_WIDTH, SCATTER_HEIGHT = 740, 400
SCATTER_MARGINS = {"left": 48, "right": 128, "top": 10, "bottom": 46}

Domain = tuple[float, float]
Point = dict[str, Any]


def share(percent: float | None) -> str:
    """A share of the workforce, as it stands beside a profession."""
    return "–" if percent is None else f"{number(percent, 1 if percent < 10 else 0)} %"


def domain(professions: Iterable[ProfessionValue]) -> Domain:
    """One scale for the bars of all groups, so that their panels can be compared."""
    return _around(value for one in professions for value in (one.female, one.male))


def shown_as_bars(professions: Iterable[ProfessionValue]) -> list[ProfessionValue]:
    """Sorted by difference; of a long list, both ends."""
    able = [one for one in professions if one.female is not None or one.male is not None]
    able.sort(key=lambda one: (one.difference is None, -(one.difference or 0.0)))
    return able if len(able) <= MOST_BARS else able[: MOST_BARS // 2] + able[-MOST_BARS // 2 :]


def bars(professions: Iterable[ProfessionValue], scale: Domain) -> str:
    """Female and male associations of the professions of a group; empty if there is nothing to draw."""
    chosen = shown_as_bars(professions)
    if not chosen:
        return ""
    values, texts = [], []
    for at, one in enumerate(chosen):
        values += [
            {"at": at, "gender": "female", "value": one.female},
            {"at": at, "gender": "male", "value": one.male},
        ]
        gap = ("+" if (one.difference or 0) > 0 else "") + number(one.difference)
        texts.append({"at": at, "name": one.profession, "share": share(one.workforce_share), "gap": gap})
    place = alt.Y("at:O", axis=None, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12))
    across = alt.X(
        "value:Q", title=None, scale=alt.Scale(domain=scale, nice=False), axis=alt.Axis(tickCount=4, labelOverlap=True)
    )
    colours = alt.Scale(domain=["female", "male"], range=[FEMALE, MALE])
    columns = {"gap": BAR_WIDTH + 38}
    if any(one.workforce_share is not None for one in chosen):
        columns["share"] = -8
    words, heads = _chart(texts), _chart([{"share": "women", "gap": "f − m"}])
    layers = [
        _chart([value for value in values if value["value"] is not None])
        .mark_bar()
        .encode(
            x=across,
            y=place,
            yOffset=alt.YOffset("gender:N", sort=["female", "male"]),
            color=alt.Color("gender:N", legend=None, scale=colours),
        ),
        _chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7).encode(x="value:Q"),
        _column(words, "name", -46 if "share" in columns else -8, 1, place),
    ]
    for field, end in columns.items():
        layers += [_column(words, field, end, 0.75, place), _column(heads, field, end, 0.75, alt.value(-11))]
    return _svg(layers, BAR_WIDTH, ROW * len(chosen), BAR_MARGINS)


def scatter(professions: Iterable[ProfessionValue]) -> str:
    """Share of women against female − male association; empty if no profession has both."""
    points: list[Point] = []
    for one in professions:
        if one.workforce_share is not None and one.difference is not None:
            low, high = one.difference_interval or (one.difference, one.difference)
            point = {"share": one.workforce_share, "value": one.difference, "low": low, "high": high}
            points.append(point | {"name": _shorten(one.profession)})
    if not points:
        return ""
    shares = [point["share"] for point in points]
    wide, tall = (
        (min(0, *shares), max(100, *shares)),
        _around(point[end] for point in points for end in ("low", "high")),
    )
    ticks = alt.Axis(tickCount=10, labelFlush=False)
    across = alt.X("share:Q", scale=alt.Scale(domain=wide), title="Women in the workforce (%)", axis=ticks)
    up, from_low = (
        alt.Y(f"{name}:Q", scale=alt.Scale(domain=tall, nice=False), title="Female − male association (nats)")
        for name in ("value", "low")
    )
    layers = [
        _chart([{"value": 0}]).mark_rule(color=INK, opacity=0.7, strokeDash=[4, 3]).encode(y=up),
        _chart(points).mark_rule(color=INK, opacity=0.28).encode(x=across, y=from_low, y2="high:Q"),
        _chart(points).mark_circle(size=46, color=POINT, opacity=0.95).encode(x=across, y=up),
    ]
    labels = _labels(points, wide, tall)
    for align, shift in (("left", 7), ("right", -7)):
        text = _chart([label for label in labels if label["align"] == align])
        text = text.mark_text(align=align, baseline="middle", dx=shift, color=INK, fontSize=11)
        layers.append(text.encode(x=across, y=up, text="name:N"))
    return _svg(layers, SCATTER_WIDTH, SCATTER_HEIGHT, SCATTER_MARGINS)


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1].rstrip() + "…"


def _chart(rows: Sequence[Point]) -> Any:
    return alt.Chart(alt.Data(values=list(rows)))


def _column(chart: Any, field: str, end: int, opacity: float, place: Any) -> Any:
    """Text flush with `end`, cut off before it would leave the plot."""
    room = BAR_MARGINS["left"] + end - 4
    text = chart.mark_text(align="right", baseline="middle", color=INK, fontSize=11, opacity=opacity, limit=room)
    return text.encode(x=alt.value(end), y=place, text=f"{field}:N")


def _around(values: Iterable[float | None]) -> Domain:
    """A scale with zero in it, and some air."""
    there = [0.0, *(value for value in values if value is not None)]
    air = 0.05 * (max(there) - min(there)) or 1.0
    return min(there) - air, max(there) + air


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


def _svg(layers: Sequence[Any], width: int, height: int, margins: dict[str, int]) -> str:
    colours = dict.fromkeys(("labelColor", "titleColor", "tickColor", "gridColor"), INK)
    sizes = {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridOpacity": 0.12,
        "tickOpacity": 0.4,
    }
    chart = alt.layer(*layers).properties(width=width, height=height, padding=margins, autosize="none")
    # The page describes each plot in words; attributes of every mark would only be read out one by one.
    chart = chart.configure(font=FONT, aria=False, background="transparent").configure_view(stroke=None)
    page = StringIO()
    chart.configure_axis(domain=False, **colours, **sizes).save(page, format="svg")
    return page.getvalue()
