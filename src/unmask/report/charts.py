"""The charts of all reports: data in, SVG text out. They know no measure and no study.

`forest`, `bars`, `stacks` and `strips` have rows; `histogram`, `scatter` and `lines` have two axes. All of them return
an empty string where there is nothing to draw.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, inf, log1p, log10, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unmask.report.drawing import (
    GREY,
    INK,
    POINT,
    AxisScale,
    ChartRow,
    Domain,
    Drawing,
    Mark,
    Panel,
    Shape,
    TextColumns,
    draw_rows,
    fit_domain,
    mark_interval,
)
from unmask.results.formatting import MINUS, number, percent
from unmask.results.schema import Interval

MOST_ROWS = 40
JITTER = (0.0, 0.17, -0.17, 0.08, -0.08, 0.22, -0.22)
"""Points of a strip are spread over their row, so that fewer hide each other."""
MOST_STRIP_POINTS = 199
FEWEST_BINS, MOST_BINS = 4, 24
"""On each side of zero."""
NARROW = 0.085
"""A part of a stacked bar below this share has no room for its number."""
LABEL_ROOM = 0.24
"""Between two numbers of a stretched axis, as a share of its half."""


# Charts with rows


@dataclass(frozen=True)
class ForestRow:
    """An estimate of a forest plot."""

    name: str
    value: float
    interval: Interval | None
    texts: Sequence[str]
    """Columns on the right: the value as text, and others."""
    tip: str
    filled: bool = True
    colour: str = POINT
    left: str = ""


def forest(
    rows: Sequence[ForestRow],
    *,
    title: str = "",
    neutral: float = 0.0,
    domain: Domain | None = None,
    as_percent: bool = False,
    columns: TextColumns | None = None,
    width: float = 280,
    row_height: float = 28,
) -> str:
    """Draw points with intervals and a line at the neutral value."""
    rows = rows[:MOST_ROWS]
    domain = domain or fit_domain(end for row in rows for end in row.interval or (row.value, row.value))
    drawn = []
    for row in rows:
        point = Mark("circle", row.value, colour=row.colour, tip=row.tip, filled=row.filled, radius=4.5)
        drawn.append(ChartRow(row.name, mark_interval(point, row.interval), row.left, row.texts))
    panel = Panel(domain, width, title=title, neutral=neutral, as_percent=as_percent)
    return draw_rows(drawn, [panel], columns or TextColumns(right=[58]), row_height=row_height)


@dataclass(frozen=True)
class BarRow:
    """Values of a row of bars."""

    name: str
    values: Sequence[Sequence[float | None]]
    """For each panel, the value of each series."""
    right: str
    left: str = ""


def bars(
    rows: Sequence[BarRow],
    series: Mapping[str, str],
    domain: Domain,
    columns: TextColumns,
    *,
    panels: Sequence[str] = ("",),
    unit: str = "",
    width: float = 130,
) -> str:
    """Draw grouped bars that begin at zero.

    Args:
        rows: The rows, from the top.
        series: The colour of each series.
        domain: The scale of all panels.
        columns: Headings and widths of texts.
        panels: The headings of the panels, for instance before and after.
        unit: The unit of the values, for tips.
        width: The width of a panel.
    """
    height = 0.74 / len(series)
    drawn = []
    for row in rows:
        marks = []
        for panel, values in enumerate(row.values):
            for index, (name, value) in enumerate(zip(series, values, strict=True)):
                if value is not None:
                    words = ", ".join(filter(None, (row.name, name, panels[panel])))
                    tip = f"{words}: {'+' if value > 0 else ''}{number(value)} {unit}".rstrip()
                    lane = 0.13 + height * (index + 0.5)
                    marks.append(
                        Mark("bar", value, colour=series[name], tip=tip, lane=lane, height=height, panel=panel)
                    )
        drawn.append(ChartRow(row.name, marks, row.left, [row.right]))
    ticks = 3 if len(panels) > 1 else 4
    return draw_rows(drawn, [Panel(domain, width, head, ticks=ticks) for head in panels], columns)


def stacks(rows: Sequence[tuple[str, Mapping[str, float]]], colours: Mapping[str, tuple[str, str]]) -> str:
    """Draw shares side by side in one bar per row; `colours` has those of each part and of the text on it."""
    drawn = []
    for name, shares in rows:
        start, marks = 0.0, []
        for label, (colour, ink) in colours.items():
            share = shares.get(label, 0.0)
            if share:
                text = percent(share, 0) if share >= NARROW else ""
                tip = f"{name}: {percent(share, 1)} {label}"
                marks.append(Mark("bar", start + share, start, colour, tip, text, ink))
            start += share
        drawn.append(ChartRow(name, marks))
    panel = Panel((0, 1), 300, as_percent=True, ticks=[0, 0.25, 0.5, 0.75, 1], neutral=None)
    return draw_rows(drawn, [panel], row_height=34)


@dataclass(frozen=True)
class Strip:
    """A value among values that it is compared with."""

    name: str
    value: float
    others: Sequence[float] = ()
    mean: float | None = None
    """Of the others."""


def strips(rows: Sequence[Strip], domain: Domain, *, head: str, as_percent: bool = False) -> str:
    """Draw a faint point for each of the others, a tick for their mean, and a diamond for the value."""
    drawn = []
    for row in rows:
        text = percent(row.value, 1) if as_percent else number(row.value)
        marks = [
            Mark("circle", other, colour=GREY, radius=2.6, opacity=0.55, lane=0.5 + JITTER[index % len(JITTER)])
            for index, other in enumerate(row.others[:MOST_STRIP_POINTS])
        ]
        if row.mean is not None:
            marks.append(Mark("tick", row.mean, colour=INK, height=0.66))
        marks.append(Mark("diamond", row.value, tip=f"{head}: {text}", radius=5))
        drawn.append(ChartRow(row.name, marks, right=[text]))
    neutral = None if as_percent else 0.0
    panel = Panel(domain, 300, as_percent=as_percent, ticks=4, neutral=neutral)
    return draw_rows(drawn, [panel], TextColumns([52], [head]), row_height=36)


# Charts with two axes


def histogram(
    values: ArrayLike,
    *,
    limit: float,
    mean: float | None,
    colours: tuple[str, str],
    sides: tuple[str, str],
    title: str,
    noun: str,
    unit: str = "",
    stretch: float | None = None,
) -> str:
    """Draw how many values lie how far on both sides of zero.

    Args:
        values: The values; zeros are not drawn.
        limit: Where the axis ends on both sides.
        mean: Marked by a dashed line.
        colours: Of negative and positive values.
        sides: What negative and positive values mean.
        title: The name of the axis.
        noun: What is counted.
        unit: The unit of the values, for tips.
        stretch: Stretches the axis near zero: x is drawn at ± ln(1 + |x| / stretch).
    """
    numbers = np.asarray(values, dtype=float)
    if not numbers.any():
        return ""
    drawing = Drawing(400, 190, (50, 14, 36, 44))
    across = AxisScale((-limit, limit), (0, drawing.width), "linear" if stretch is None else float(stretch))
    bins = count_bins(numbers, limit, stretch)
    most = max(count for *_, count in bins)
    up = AxisScale((0, 1.04 * max(most, 1)), (drawing.height, 0))
    drawing.add_axis(up, "left", title=noun, ticks=[tick for tick in up.choose_ticks(4) if tick == round(tick)])
    ticks = 7 if stretch is None else stretched_ticks(stretch, limit)
    drawing.add_axis(across, title=title, ticks=ticks, grid=False)
    for low, high, count in bins:
        side = int(high > 0)
        tip = f"{count:,} {noun}: {low:.2g} to {high:.2g} {unit}".rstrip().replace("-", MINUS)
        drawing.add_bar(across(low), across(high), up(count), drawing.height - up(count), colours[side], tip)
    drawing.add_line((across(0), 0), (across(0), drawing.height))
    if mean is not None and abs(mean) < limit:
        drawing.add_line((across(mean), 0), (across(mean), drawing.height), opacity=1, width=1.5, dashes="4 3")
        drawing.add_text(across(mean), -8, "mean", align="middle")
    drawing.add_text(0, -24, sides[0], opacity=0.75)
    drawing.add_text(drawing.width, -24, sides[1], align="end", opacity=0.75)
    return drawing.render()


def count_bins(values: ArrayLike, limit: float, stretch: float | None = None) -> list[tuple[float, float, int]]:
    """Return the ends and counts of bins up to ±`limit`. They mirror each other, and zero is between two of them."""
    numbers = np.asarray(values, dtype=float)
    bins = min(MOST_BINS, max(FEWEST_BINS, ceil(sqrt(numbers.size) / (2 if stretch is None else 1))))
    even = np.linspace(0, 1, bins + 1)
    edges = limit * even if stretch is None else stretch * np.expm1(even * log1p(limit / stretch))
    edges[-1] = limit
    counted = []
    for sign in (-1, 1):
        counts, _ = np.histogram(sign * numbers[numbers * sign > 0], edges)
        for (near, far), count in zip(pairwise(edges.tolist()), counts, strict=True):
            counted.append((min(sign * near, sign * far), max(sign * near, sign * far), int(count)))
    return sorted(counted)


def stretched_ticks(stretch: float, limit: float) -> list[float]:
    """Return round numbers on both sides of zero, far enough apart on a stretched axis."""
    ticks: list[float] = []
    before = inf
    for power in range(floor(log10(limit)), floor(log10(stretch)) - 2, -1):
        for factor in (5, 2, 1):
            tick = float(f"{factor}e{power}")
            position = log1p(tick / stretch) / log1p(limit / stretch)  # from 0 to 1
            if tick <= limit and LABEL_ROOM <= position <= before - LABEL_ROOM:
                ticks.append(tick)
                before = position
    return [*(-tick for tick in ticks), 0, *reversed(ticks)]


@dataclass(frozen=True)
class Dot:
    """A point of a scatter plot."""

    x: float
    y: float
    name: str = ""
    tip: str = ""
    colour: str = POINT
    opacity: float = 0.85
    outlined: bool = False
    interval: Interval | None = None
    """Of `y`."""


@dataclass(frozen=True)
class Axis:
    """An axis of a chart."""

    domain: Domain
    title: str = ""
    as_percent: bool = False
    ticks: int | Sequence[float] = 5
    lines: Sequence[float] = ()
    """Values marked by a dashed line."""
    ends: tuple[str, str] = ("", "")
    """What the ends of a horizontal axis mean, written above the plot."""
    is_log: bool = False


def scatter(
    dots: Sequence[Dot],
    across: Axis,
    up: Axis,
    *,
    size: tuple[float, float] = (440, 330),
    radius: float = 3.6,
    order: Iterable[int] = (),
    labels: int = 0,
    means: Sequence[tuple[float, str]] = (),
    clear_of_points: bool = True,
    right: float = 14,
) -> str:
    """Draw points, with names next to some of them.

    Args:
        dots: The points, the lowest first.
        across, up: The axes. Without ticks, an axis is not drawn.
        size: Width and height in pixels.
        radius: Of the points.
        order: Indices of the points, the most important names first.
        labels: The largest number of names.
        means: Horizontal positions, each with the colour of its dashed line.
        clear_of_points: Whether names must not cover points.
        right: The width of the right margin, into which names may reach.
    """
    if not dots:
        return ""
    margins = (62 if up.ticks else 10, right, 24 if any(across.ends) else 10, 44 if across.ticks else 10)
    drawing = Drawing(*size, margins)
    x_scale, y_scale = AxisScale(across.domain, (0, size[0])), AxisScale(up.domain, (size[1], 0))
    _draw_axes(drawing, x_scale, y_scale, across, up)
    points = [(x_scale(dot.x), y_scale(dot.y)) for dot in dots]
    for dot, (x, _) in zip(dots, points, strict=True):
        if dot.interval is not None:
            drawing.add_line((x, y_scale(dot.interval[0])), (x, y_scale(dot.interval[1])), opacity=0.28)
    for mean, colour in means:
        x = x_scale(mean)
        drawing.add_line((x, 0), (x, size[1]), colour=colour, opacity=1, width=2, dashes="5 3")
    for dot, (x, y) in zip(dots, points, strict=True):
        tip = dot.tip or dot.name
        drawing.add_point(x, y, dot.colour, radius=radius, outlined=dot.outlined, opacity=dot.opacity, tip=tip)
    names = [dot.name for dot in dots]
    drawing.add_labels(points, names, order, most=labels, right=right - 14, clear_of_points=clear_of_points)
    return drawing.render()


@dataclass(frozen=True)
class Series:
    """A line of a chart, its points, or both."""

    points: Sequence[tuple[float, float, str]]
    """Across, up, and the tip."""
    colour: str
    line: Literal["solid", "dashed", ""] = "solid"
    shape: Shape | Literal[""] = "circle"
    filled: bool = True
    radius: float = 3


def lines(series: Sequence[Series], across: Axis, up: Axis, *, size: tuple[float, float] = (330, 210)) -> str:
    """Draw lines through points."""
    if not any(part.points for part in series):
        return ""
    drawing = Drawing(*size, (58, 14, 10, 44))
    x_scale = AxisScale(across.domain, (0, size[0]), "log" if across.is_log else "linear")
    y_scale = AxisScale(up.domain, (size[1], 0))
    _draw_axes(drawing, x_scale, y_scale, across, up)
    for part in series:
        points = [(x_scale(x), y_scale(y), tip) for x, y, tip in part.points]
        if part.line:
            dashes, width = ("3 3", 1.2) if part.line == "dashed" else ("", 1.8)
            for before, after in pairwise(points):
                drawing.add_line(before[:2], after[:2], colour=part.colour, opacity=0.8, width=width, dashes=dashes)
        if part.shape:
            for x, y, tip in points:
                drawing.add_point(x, y, part.colour, shape=part.shape, radius=part.radius, filled=part.filled, tip=tip)
    return drawing.render()


def _draw_axes(drawing: Drawing, x_scale: AxisScale, y_scale: AxisScale, across: Axis, up: Axis) -> None:
    if across.ticks:
        drawing.add_axis(x_scale, title=across.title, ticks=across.ticks, as_percent=across.as_percent)
    if up.ticks:
        drawing.add_axis(y_scale, "left", title=up.title, ticks=up.ticks, as_percent=up.as_percent)
    for value in across.lines:
        drawing.add_line((x_scale(value), 0), (x_scale(value), drawing.height), opacity=0.5, dashes="4 3")
    for value in up.lines:
        drawing.add_line((0, y_scale(value)), (drawing.width, y_scale(value)), opacity=0.5, dashes="4 3")
    if any(across.ends):
        drawing.add_text(0, -12, across.ends[0], opacity=0.8)
        drawing.add_text(drawing.width, -12, across.ends[1], align="end", opacity=0.8)
