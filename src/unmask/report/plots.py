"""The plots of a report as SVG text, to be set into a page: bars by profession, and the workforce scatter.

Text and axes take the colour of the surrounding text (`currentColor`), so that one drawing serves a light and a dark page.
The layout is fixed and not fitted to the text: what a user's file calls a profession cannot change the size of a plot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

import altair as alt

from unmask.results import ProfessionValue
from unmask.results.numbers import number

FEMALE, MALE = "#d95f02", "#7570b3"
"""Orange and violet: told apart with any colour vision, and on white as on black."""
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
MOST_BARS = 40
MOST_LABELS = 18
LONGEST_NAME = 32
ROW = 24
BAR_WIDTH, BAR_MARGINS = 116, {"left": 196, "right": 42, "top": 20, "bottom": 24}
SCATTER_WIDTH, SCATTER_HEIGHT = 740, 400
SCATTER_MARGINS = {"left": 48, "right": 128, "top": 10, "bottom": 46}

Domain = tuple[float, float]


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
    values = [
        {"at": at, "gender": gender, "value": value}
        for at, one in enumerate(chosen)
        for gender, value in (("female", one.female), ("male", one.male))
        if value is not None
    ]
    texts = [
        {
            "at": at,
            "name": one.profession,
            "share": share(one.workforce_share),
            "gap": _signed(one.difference),
        }
        for at, one in enumerate(chosen)
    ]
    place = alt.Y("at:O", axis=None, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12))
    bar = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X(
                "value:Q", title=None, scale=alt.Scale(domain=scale, nice=False), axis=alt.Axis(tickCount=4)
            ),
            y=place,
            yOffset=alt.YOffset("gender:N", sort=["female", "male"]),
            color=alt.Color(
                "gender:N", legend=None, scale=alt.Scale(domain=["female", "male"], range=[FEMALE, MALE])
            ),
        )
    )
    zero = (
        alt.Chart(alt.Data(values=[{"value": 0}]))
        .mark_rule(color="currentColor", opacity=0.7)
        .encode(x="value:Q")
    )
    words = alt.Chart(alt.Data(values=texts))
    heads = alt.Chart(alt.Data(values=[{"share": "women", "gap": "f − m"}]))
    columns = {"gap": BAR_WIDTH + 38}
    if any(one.workforce_share is not None for one in chosen):
        columns["share"] = -8
    name_at = min(columns.get("share", 30) - 38, -8)
    layers = [bar, zero, _column(words, "name", name_at, 1, y=place)]
    for field, x in columns.items():
        layers += [_column(words, field, x, 0.75, y=place), _column(heads, field, x, 0.75, y=alt.value(-11))]
    return _svg(alt.layer(*layers), BAR_WIDTH, ROW * len(chosen), BAR_MARGINS)


def scatter(professions: Iterable[ProfessionValue]) -> str:
    """Share of women against female − male association; empty if no profession has both."""
    points = [
        {"share": one.workforce_share, "value": one.difference, "name": shorten(one.profession)}
        | dict(zip(("low", "high"), one.difference_interval or (one.difference, one.difference), strict=True))
        for one in professions
        if one.workforce_share is not None and one.difference is not None
    ]
    if not points:
        return ""
    scale = _around(point[bound] for point in points for bound in ("low", "high"))
    ticks = alt.Axis(tickCount=10, labelFlush=False)
    across = alt.X(
        "share:Q", scale=alt.Scale(domain=[0, 100]), title="Women in the workforce (%)", axis=ticks
    )
    up = alt.Y("value:Q", scale=alt.Scale(domain=scale, nice=False), title="Female − male association (nats)")
    chart = alt.Chart(alt.Data(values=points))
    zero = alt.Chart(alt.Data(values=[{"value": 0}])).mark_rule(
        color="currentColor", opacity=0.7, strokeDash=[4, 3]
    )
    spread = alt.Y(
        "low:Q", scale=alt.Scale(domain=scale, nice=False), title="Female − male association (nats)"
    )
    layers = [
        zero.encode(y=up),
        chart.mark_rule(color="currentColor", opacity=0.28).encode(x=across, y=spread, y2="high:Q"),
        chart.mark_circle(size=46, color="#1b9e77", opacity=0.95).encode(x=across, y=up),
    ]
    labels = _labels(points, scale)
    for side, shift in (("left", 7), ("right", -7)):
        mine = alt.Chart(alt.Data(values=[label for label in labels if label["align"] == side]))
        text = mine.mark_text(align=side, baseline="middle", dx=shift, color="currentColor", fontSize=11)
        layers.append(text.encode(x=across, y=up, text="name:N"))
    return _svg(alt.layer(*layers), SCATTER_WIDTH, SCATTER_HEIGHT, SCATTER_MARGINS)


def shorten(name: str) -> str:
    """A name that fits beside a point."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"


def _column(chart: Any, field: str, x: int, opacity: float, **where: Any) -> Any:
    """Text that ends at `x`, cut off before it would leave the plot."""
    room = BAR_MARGINS["left"] + x - 4
    text = chart.mark_text(
        align="right", baseline="middle", color="currentColor", fontSize=11, opacity=opacity, limit=room
    )
    return text.encode(x=alt.value(x), text=f"{field}:N", **where)


def _signed(value: float | None) -> str:
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def _around(values: Iterable[float | None]) -> Domain:
    """A scale with zero in it, and some air."""
    there = [0.0, *(value for value in values if value is not None)]
    air = 0.05 * (max(there) - min(there)) or 1.0
    return min(there) - air, max(there) + air


def _worth_a_label(points: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """In turn the highest, the lowest, and the professions whose rank by association is farthest from that by share."""
    by_value = sorted(points, key=lambda point: -point["value"])
    ranks = [sorted(points, key=lambda point, key=key: point[key]) for key in ("value", "share")]
    by_gap = sorted(points, key=lambda point: -abs(ranks[0].index(point) - ranks[1].index(point)))
    for candidates in zip(by_value, reversed(by_value), by_gap, strict=True):
        yield from candidates


def _labels(points: Sequence[dict[str, Any]], scale: Domain) -> list[dict[str, Any]]:
    """Names beside their points, only where they cover neither a point nor another name."""

    def place(point: dict[str, Any]) -> tuple[float, float]:
        x = point["share"] / 100 * SCATTER_WIDTH
        return x, (scale[1] - point["value"]) / (scale[1] - scale[0]) * SCATTER_HEIGHT

    taken = [(x - 4, x + 4, y - 4, y + 4) for x, y in map(place, points)]
    labels: list[dict[str, Any]] = []
    for point in _worth_a_label(points):
        x, y = place(point)
        length = 6.0 * len(point["name"]) + 2
        sides = [("left", x + 5, x + 5 + length), ("right", x - 5 - length, x - 5)]
        if len(labels) == MOST_LABELS:
            break
        for align, start, end in sides if point["share"] < 60 else reversed(sides):
            box = (start, end, y - 7, y + 7)
            free = all(box[1] < t[0] or t[1] < box[0] or box[3] < t[2] or t[3] < box[2] for t in taken)
            if (
                free
                and start >= 0
                and end <= SCATTER_WIDTH + SCATTER_MARGINS["right"]
                and not any(point["name"] == one["name"] for one in labels)
            ):
                labels.append({**point, "align": align})
                taken.append(box)
                break
    return labels


def _svg(chart: Any, width: int, height: int, margins: dict[str, int]) -> str:
    axis = {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.12,
        "tickOpacity": 0.4,
        "domain": False,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    }
    whole = chart.properties(width=width, height=height, padding=margins, autosize="none")
    whole = (
        whole.configure(font=FONT, aria=False, background="transparent")
        .configure_axis(**axis)
        .configure_view(stroke=None)
    )
    page = StringIO()
    whole.save(page, format="svg")
    return page.getvalue()
