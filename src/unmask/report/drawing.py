"""What every plot of a report shares: colours, scales, columns of text, and the way to SVG.

Text and axes take the colour of the text around them (`currentColor`), so that one drawing serves light and
dark pages. The layout is fixed, not fitted to the text: no name in a user's file can change a plot's size.

A row of data may have a `tip`: what its marks show to a pointer. It ends up as the mark's `<title>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

import altair as alt

FEMALE, MALE, POINT = "#d95f02", "#7570b3", "#1b9e77"
"""Told apart with any colour vision, and seen on white as on black."""
GENDERS = alt.Scale(domain=["female", "male"], range=[FEMALE, MALE])
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
INK = "currentColor"
MOST_BARS = 40
"""So many professions are drawn in a panel."""
ROW = 24

TIPPED = re.compile(r'<(\w+) aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"([^>]*)/>')
ROLES = re.compile(r' (role="graphics-\w+"|aria-roledescription="[^"]*")(?=[^<]*>)')

Domain = tuple[float, float]
Point = dict[str, Any]


def chart(rows: Iterable[Point]) -> Any:
    """A chart of these rows, without a mark yet."""
    return alt.Chart(alt.Data(values=list(rows)))


def rows_of(field: str = "at") -> Any:
    """The vertical scale of a panel with a row for each profession."""
    return alt.Y(f"{field}:O", axis=None, scale=alt.Scale(paddingInner=0.25, paddingOuter=0.12))


def column(words: Any, field: str, end: int, place: Any, *, left: int, opacity: float = 0.75) -> Any:
    """Text flush with `end`, cut off before it would leave the plot, whose left margin is `left`."""
    room = left + end - 4
    text = words.mark_text(align="right", baseline="middle", color=INK, fontSize=11, opacity=opacity, limit=room)
    return text.encode(x=alt.value(end), y=place, text=f"{field}:N")


def around(values: Iterable[float | None]) -> Domain:
    """A scale with zero in it, and some air."""
    there = [0.0, *(value for value in values if value is not None)]
    air = 0.05 * (max(there) - min(there)) or 1.0
    return min(there) - air, max(there) + air


def svg(layers: Sequence[Any], width: int, height: int, margins: dict[str, int]) -> str:
    """The layers as the text of an SVG: tips are titles, and nothing is read out mark by mark by a screen reader."""
    colours = dict.fromkeys(("labelColor", "titleColor", "tickColor", "gridColor"), INK)
    sizes = {
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridOpacity": 0.12,
        "tickOpacity": 0.4,
    }
    drawn = alt.layer(*map(_tipped, layers)).properties(width=width, height=height, padding=margins, autosize="none")
    # The page describes each plot in words; attributes of every mark would only be read out one by one.
    drawn = drawn.configure(font=FONT, aria=False, background="transparent").configure_view(stroke=None)
    page = StringIO()
    drawn.configure_axis(domain=False, **colours, **sizes).save(page, format="svg")
    return ROLES.sub("", TIPPED.sub(r"<\1\3><title>\2</title></\1>", page.getvalue()))


def _tipped(layer: Any, data: Any = None) -> Any:
    """The layer with the tips of its rows, if they have any, as descriptions of its marks."""
    own = data if layer.data is alt.Undefined else layer.data  # altair moves what layers share to what holds them
    if isinstance(layer, alt.LayerChart):
        layer.layer = [_tipped(one, own) for one in layer.layer]
        return layer
    mark = {"type": layer.mark} if isinstance(layer.mark, str) else layer.mark.to_dict()
    if mark["type"] in ("text", "line") or own is None or not any("tip" in row for row in own.values):
        return layer
    layer.mark = mark | {"aria": True}
    return layer.encode(description="tip:N")
