"""Drawing as SVG text: scales, marks, text, axes, labels next to points, and marks in rows.

Text and axes take the colour of the text around them (`currentColor`), so one drawing serves light and dark pages. The
layout is fixed and does not depend on the text in a user's files, which is escaped and cut. A mark may have a tip: its
`<title>`, which a browser shows without a script and `page.js` also shows to keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import ceil, copysign, floor, inf, log1p, log10, sqrt
from typing import Any, Literal

from unmask.results.formatting import MINUS, percent
from unmask.results.schema import Interval

FEMALE, MALE, POINT, GREY = "#d95f02", "#7570b3", "#1b9e77", "#8a94a3"
"""Distinguishable with any colour vision, on white and on black."""
GENDER_COLOURS = {"female": FEMALE, "male": MALE}
INK = "currentColor"
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
CHARACTER = 6.0
"""The approximate width of a character in pixels."""
LINE = 14.0
"""The height of a line of text in pixels."""
LONGEST_LABEL, LONGEST_TIP = 26, 80
LONGEST_NAME = 200
"""The most pixels that the names of rows take."""
PANEL_GAP = 36

Domain = tuple[float, float]
Shape = Literal["circle", "diamond"]
Align = Literal["start", "middle", "end"]


def fit_domain(values: Iterable[float | None]) -> Domain:
    """Return a range that contains zero and all values, with a margin."""
    numbers = [0.0, *(value for value in values if value is not None)]
    margin = 0.05 * (max(numbers) - min(numbers)) or 1.0
    return min(numbers) - margin, max(numbers) + margin


def shorten(text: str, longest: int = LONGEST_LABEL) -> str:
    """Cut a long text."""
    return text if len(text) <= longest else text[: max(longest - 1, 1)].rstrip() + "…"


@dataclass(frozen=True)
class AxisScale:
    """Maps values to pixels."""

    domain: Domain
    pixels: Domain
    """Where the domain begins and ends."""
    curve: Literal["linear", "log"] | float = "linear"
    """A number stretches the scale near zero: a value lies at ± ln(1 + |value| / number)."""

    def __call__(self, value: float) -> float:
        """The position of a value in pixels."""
        low, high, bent = map(self._bend_value, (*self.domain, value))
        return self.pixels[0] + (bent - low) / (high - low) * (self.pixels[1] - self.pixels[0])

    def _bend_value(self, value: float) -> float:
        if isinstance(self.curve, float):
            return copysign(log1p(abs(value) / self.curve), value)
        return log10(value) if self.curve == "log" else value

    def choose_ticks(self, count: int) -> list[float]:
        """Return about `count` round numbers within the domain of a linear scale."""
        low, high = self.domain
        wide = (high - low) / count
        power = 10.0 ** floor(log10(wide))
        step = power * next(factor for factor, end in ((1, 2), (2, 10), (5, 50), (10, inf)) if wide / power < sqrt(end))
        digits = max(0, -floor(log10(step) + 1e-9))
        return [round(step * index, digits) for index in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def format_tick(value: float, *, as_percent: bool = False) -> str:
    """A number of an axis, as short as possible."""
    return percent(value, 0) if as_percent else f"{value:g}".replace("-", MINUS)


@dataclass
class Drawing:
    """A plot under construction. Positions are pixels from the upper left corner of the plot without its margins."""

    width: float
    height: float
    margins: tuple[float, float, float, float]
    """Left, right, top and bottom."""
    parts: list[str] = field(default_factory=list)

    def add_bar(self, start: float, end: float, top: float, height: float, colour: str, tip: str = "") -> None:
        """Add a rectangle between two horizontal positions, in any order."""
        size = f'width="{abs(end - start):.1f}" height="{height:.1f}"'
        self._add_mark("rect", f'x="{min(start, end):.1f}" y="{top:.1f}" {size} fill="{colour}"', tip)

    def add_line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        colour: str = INK,
        opacity: float = 0.7,
        width: float = 1,
        dashes: str = "",
        tip: str = "",
    ) -> None:
        """Add a straight line."""
        ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        style = f'stroke="{colour}" stroke-opacity="{opacity:g}" stroke-width="{width:g}"{dashed}'
        self._add_mark("line", f"{ends} {style}", tip)

    def add_point(
        self,
        x: float,
        y: float,
        colour: str,
        *,
        shape: Shape = "circle",
        radius: float = 4,
        filled: bool = True,
        outlined: bool = False,
        opacity: float = 1,
        tip: str = "",
    ) -> None:
        """Add a point. One that is not filled still reacts to a pointer."""
        stroke = f' stroke="{INK if outlined else colour}" stroke-width="1.5"' if outlined or not filled else ""
        style = f'fill="{colour}" fill-opacity="{opacity if filled else 0:g}"{stroke}'
        if shape == "circle":
            self._add_mark("circle", f'cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" {style}', tip)
        else:
            half = 1.25 * radius
            path = f"M{x:.1f} {y - half:.1f}l{half:g} {half:g}l{-half:g} {half:g}l{-half:g} {-half:g}z"
            self._add_mark("path", f'd="{path}" {style}', tip)

    def add_text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        align: Align = "start",
        colour: str = INK,
        opacity: float = 1,
        room: float | None = None,
        turned: bool = False,
        bold: bool = False,
    ) -> None:
        """Add a line of text with its middle at a height, cut off to fit into `room` pixels."""
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
        style = f' fill="{colour}"' if colour != INK else ' class="halo"'
        weight = ' font-weight="bold"' if bold else ""
        words = escape(shorten(text, LONGEST_TIP if room is None else int(room / CHARACTER)))
        position = f'x="{x:.1f}" y="{y:.1f}" dy=".35em" text-anchor="{align}"'
        self.parts.append(f'<text {position} fill-opacity="{opacity:g}"{style}{weight}{turn}>{words}</text>')

    def add_axis(
        self,
        scale: AxisScale,
        side: Literal["bottom", "left"] = "bottom",
        *,
        title: str = "",
        ticks: int | Sequence[float] = 5,
        as_percent: bool = False,
        grid: bool = True,
    ) -> None:
        """Add numbers, a grid and a title.

        Args:
            scale: The scale across (`bottom`) or up (`left`).
            side: Where the numbers are.
            title: The name of the axis.
            ticks: The approximate number of ticks, or their values.
            as_percent: Whether the values are shares.
            grid: Whether there are lines across the plot.
        """
        across = side == "bottom"
        end = self.height if across else self.width
        for tick in scale.choose_ticks(ticks) if isinstance(ticks, int) else ticks:
            position, text = scale(tick), format_tick(tick, as_percent=as_percent)
            if grid:
                self.add_line(*(((position, y) if across else (y, position)) for y in (0.0, end)), opacity=0.12)
            if across:
                self.add_text(position, end + 12, text, align="middle", opacity=0.8)
            else:
                self.add_text(-7, position, text, align="end", opacity=0.8)
        middle = sum(scale.pixels) / 2
        if title and across:
            self.add_text(middle, end + 32, title, align="middle", opacity=0.9)
        elif title:
            self.add_text(10 - self.margins[0], middle, title, align="middle", opacity=0.9, turned=True)

    def add_labels(
        self,
        points: Sequence[tuple[float, float]],
        names: Sequence[str],
        order: Iterable[int],
        *,
        most: int,
        right: float = 0,
        clear_of_points: bool = True,
    ) -> None:
        """Write names next to points, without overlaps.

        Args:
            points: Where the points are.
            names: The name of each point.
            order: Indices of the points whose names are worth writing, the most important first.
            most: The largest number of names.
            right: How far names may reach into the right margin.
            clear_of_points: Whether a name must not cover any point.
        """
        taken = [(x - 4, x + 4, y - 4, y + 4) for x, y in points] if clear_of_points else []
        written: set[str] = set()
        for index in order:
            if len(written) == most:
                break
            x, y = points[index]
            length = CHARACTER * len(shorten(names[index])) + 2
            sides: list[tuple[Align, float, float]] = [("start", x + 5, x + 5 + length), ("end", x - 5 - length, x - 5)]
            for align, start, end in sides if x < 0.6 * self.width else reversed(sides):
                top, bottom = y - LINE / 2, y + LINE / 2
                free = all(end < box[0] or box[1] < start or bottom < box[2] or box[3] < top for box in taken)
                if free and start >= 0 and end <= self.width + right and names[index] not in written:
                    self.add_text(start if align == "start" else end, y, shorten(names[index]), align=align)
                    written.add(names[index])
                    taken.append((start, end, top, bottom))

    def render(self) -> str:
        """The text of the SVG."""
        left, right, top, bottom = self.margins
        wide, tall = round(self.width + left + right), round(self.height + top + bottom)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}"'
            f' font-family="{FONT}" font-size="11" fill="{INK}"><g transform="translate({left:g} {top:g})">'
            f"{''.join(self.parts)}</g></svg>"
        )

    def _add_mark(self, tag: str, attributes: str, tip: str) -> None:
        title = f"><title>{escape(shorten(tip, LONGEST_TIP))}</title></{tag}>" if tip else "/>"
        self.parts.append(f"<{tag} {attributes}{title}")


# Marks in rows


@dataclass(frozen=True)
class Mark:
    """A mark in a row: a bar, a line or an upright tick from `start` to `value`, or a point at `value`."""

    shape: Literal["bar", "line", "tick", "circle", "diamond"]
    value: float
    start: float = 0.0
    colour: str = POINT
    tip: str = ""
    """Shown under the pointer."""
    text: str = ""
    """Written inside a bar."""
    text_colour: str = INK
    filled: bool = True
    radius: float = 4
    opacity: float = 1.0
    lane: float = 0.5
    """The middle of the mark within its row, from 0 (top) to 1 (bottom)."""
    height: float = 0.74
    """The height of a bar or tick, as a share of the row."""
    panel: int = 0


@dataclass(frozen=True)
class ChartRow:
    """A row of a chart: its name, its marks, and columns of text on both sides of the marks."""

    name: str
    marks: Sequence[Mark]
    left: str = ""
    right: Sequence[str] = ()


@dataclass(frozen=True)
class Panel:
    """A horizontal axis. Several panels are drawn side by side."""

    domain: Domain
    width: float = 280
    head: str = ""
    """Written above the panel."""
    title: str = ""
    as_percent: bool = False
    ticks: int | Sequence[float] = 5
    neutral: float | None = 0.0
    """Where a vertical line marks no effect."""


@dataclass(frozen=True)
class TextColumns:
    """The headings of the texts in rows, and the widths of the columns on the right in pixels."""

    right: Sequence[int] = ()
    right_heads: Sequence[str] = ()
    left_head: str = ""
    longest_name: int = 0
    """The characters that the names take at least, so that charts next to each other have the same margins."""


def draw_rows(
    rows: Sequence[ChartRow],
    panels: Sequence[Panel],
    columns: TextColumns = TextColumns(),
    *,
    row_height: float = 24,
    names_above: bool = False,
) -> str:
    """Draw marks in rows, one below the other; with `names_above`, names and texts are above the marks of their row."""
    if not rows:
        return ""
    width, height = sum(panel.width + PANEL_GAP for panel in panels) - PANEL_GAP, row_height * len(rows)
    left_texts = [columns.left_head, *(row.left for row in rows)]
    gap = CHARACTER * max(map(len, left_texts)) + 14 if any(left_texts) else 0
    names = min(LONGEST_NAME, 8 + CHARACTER * max(columns.longest_name, *(len(row.name) for row in rows)))
    heads = (columns.left_head, *columns.right_heads, *(panel.head for panel in panels))
    margins = (
        12 if names_above else round(names + gap + 14),
        12 if names_above else sum(columns.right) + 6,
        22 if any(heads) else 8,
        42 if any(panel.title for panel in panels) else 26 if any(panel.ticks for panel in panels) else 8,
    )
    drawing = Drawing(width, height, margins)
    start = 0.0
    for index, panel in enumerate(panels):
        _draw_panel(drawing, rows, panel, index, start, row_height, names_above=names_above)
        start += panel.width + PANEL_GAP
    for index, row in enumerate(rows):
        if names_above:
            top = row_height * index + 12
            drawing.add_text(0, top, row.name, room=width / 2)
            drawing.add_text(width, top, " ".join(row.right), align="end")
            continue
        middle, end = row_height * (index + 0.5), width
        drawing.add_text(-8 - gap, middle, row.name, align="end", room=names + 6)
        if row.left:
            drawing.add_text(-8, middle, row.left, align="end", opacity=0.8)
        for text, room in zip(row.right, columns.right, strict=True):
            end += room
            drawing.add_text(end, middle, text, align="end", opacity=0.9)
    if columns.left_head:
        drawing.add_text(-8, -11, columns.left_head, align="end", opacity=0.75)
    end = width
    for head, room in zip(columns.right_heads, columns.right, strict=bool(columns.right_heads)):
        end += room
        drawing.add_text(end, -11, head, align="end", opacity=0.75)
    return drawing.render()


def _draw_panel(
    drawing: Drawing,
    rows: Sequence[ChartRow],
    panel: Panel,
    index: int,
    start: float,
    row_height: float,
    *,
    names_above: bool,
) -> None:
    scale = AxisScale(panel.domain, (start, start + panel.width))
    drawing.add_axis(scale, title=panel.title, ticks=panel.ticks, as_percent=panel.as_percent, grid=not names_above)
    if panel.head:
        drawing.add_text(start + panel.width / 2, -11, panel.head, align="middle", opacity=0.75)
    if panel.neutral is not None:
        tops = [row_height * row for row in range(len(rows))]
        parts = [(top + 22, top + row_height - 4) for top in tops]  # not through the names
        for top, bottom in parts if names_above else [(0, drawing.height)]:
            drawing.add_line((scale(panel.neutral), top), (scale(panel.neutral), bottom))
    for row_index, row in enumerate(rows):
        for mark in row.marks:
            if mark.panel == index:
                _draw_mark(drawing, mark, scale, row_height * (row_index + mark.lane), row_height * mark.height)


def _draw_mark(drawing: Drawing, mark: Mark, scale: AxisScale, middle: float, height: float) -> None:
    """Draw a mark whose middle is at a height."""
    start, end = scale(mark.start), scale(mark.value)
    if mark.shape == "bar":
        drawing.add_bar(start, end, middle - height / 2, height, mark.colour, mark.tip)
        if mark.text:
            text_style: dict[str, Any] = {"align": "middle", "colour": mark.text_colour, "bold": True}
            drawing.add_text((start + end) / 2, middle, mark.text, **text_style)
    elif mark.shape == "line":
        line_style: dict[str, Any] = {"opacity": mark.opacity, "width": 2, "tip": mark.tip}
        drawing.add_line((start, middle), (end, middle), colour=mark.colour, **line_style)
    elif mark.shape == "tick":
        drawing.add_line((end, middle - height / 2), (end, middle + height / 2), colour=mark.colour, width=2)
    else:
        point_style: dict[str, Any] = {"shape": mark.shape, "radius": mark.radius, "filled": mark.filled}
        drawing.add_point(end, middle, mark.colour, opacity=mark.opacity, tip=mark.tip, **point_style)


def mark_interval(point: Mark, interval: Interval | None) -> list[Mark]:
    """Return a point with the line of its interval below it."""
    if interval is None:
        return [point]
    return [replace(point, shape="line", start=interval[0], value=interval[1], opacity=0.7), point]
