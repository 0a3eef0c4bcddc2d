"""The plots of inference as SVG text: answers as stacked bars; occupations by how often and to whom they resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Protocol

import altair as alt

from unmask.report.drawing import FEMALE, INK, MALE, ROW, Point, chart, column, rows_of, svg
from unmask.report.pages import percent, signed

COLOURS = {"entailment": "#0f7c5c", "neutral": "#9aa3af", "contradiction": "#b8336a"}
"""Of the answers; not the colours of the genders."""
INSIDE = {"entailment": "#ffffff", "neutral": "#14171c", "contradiction": "#ffffff"}
"""The colour of text on each."""
OPEN = "#8a94a3"
KINDS = alt.Scale(domain=["female", "male", "neutral"], range=[FEMALE, MALE, OPEN])
NARROW = 0.085
"""Below this share, no number fits into a part of a bar."""
STACK_WIDTH, STACK_MARGINS, STACK_ROW = 300, {"left": 168, "right": 14, "top": 8, "bottom": 26}, 34
ROWS_WIDTH, ROWS_MARGINS = 284, {"left": 140, "right": 14, "top": 34, "bottom": 28}
RESOLVED_START, RESOLVED_END, LEAN_START = 34, 104, 124
"""Where the bars of the one begin and end, and where the axis of the other begins."""
CLOUD_WIDTH, CLOUD_HEIGHT = 400, 300
CLOUD_MARGINS = {"left": 50, "right": 14, "top": 26, "bottom": 44}


class Occupation(Protocol):
    """What is drawn of an occupation."""

    @property
    def occupation(self) -> str:
        """Its name."""

    @property
    def kind(self) -> str:
        """The stereotype: female, male or neutral."""

    @property
    def resolved(self) -> float:
        """The share of answers other than neutral."""

    @property
    def lean(self) -> float | None:
        """From −1, always taken for a woman, to 1, always taken for a man."""


def stacks(parts: Sequence[Mapping[str, float]], names: Sequence[str]) -> str:
    """A bar for each part with its shares of answers side by side; empty if there is nothing to draw."""
    pieces = [
        piece | {"tip": f"{names[piece['at']]}: {percent(piece['high'] - piece['low'])} {piece['label']}"}
        for piece in pieces_of(parts)
    ]
    if not pieces:
        return ""
    place, left = rows_of(), STACK_MARGINS["left"]
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%", grid=False)
    across, through = (
        alt.X(f"{field}:Q", title=None, scale=alt.Scale(domain=(0, 1), nice=False), axis=axis)
        for field in ("low", "mid")
    )
    colour = alt.Color("label:N", legend=None, scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())))
    layers = [chart(pieces).mark_bar(stroke="none").encode(x=across, x2="high:Q", y=place, color=colour)]
    for label, ink in INSIDE.items():
        words = chart(piece for piece in pieces if piece["label"] == label)
        text = words.mark_text(color=ink, fontSize=11, fontWeight="bold", baseline="middle")
        layers.append(text.encode(x=through, y=place, text="text:N"))
    heads = chart({"at": at, "name": name} for at, name in enumerate(names))
    layers.append(column(heads, "name", -8, place, left=left, opacity=1))
    return svg(layers, STACK_WIDTH, STACK_ROW * len(parts), STACK_MARGINS)


def pieces_of(parts: Sequence[Mapping[str, float]]) -> list[Point]:
    """Where each share of each bar begins and ends, and what is written on it."""
    pieces: list[Point] = []
    for at, shares in enumerate(parts):
        start = 0.0
        for label in COLOURS:
            share = shares.get(label, 0.0)
            text = percent(share, 0) if share >= NARROW else ""
            end = start + share
            pieces.append({"at": at, "label": label, "low": start, "high": end, "mid": start + share / 2, "text": text})
            start = end
    return pieces


def rows(occupations: Sequence[Occupation]) -> str:
    """How often each is resolved (bars), and to whom it leans (points); empty if there is nothing to draw."""
    points: list[Point] = [
        {
            "at": at,
            "kind": one.kind,
            "name": one.occupation,
            "resolved": one.resolved,
            "none": 0,
            "share": percent(one.resolved, 0),
            "lean": one.lean,
            "from": 0,
            "tip": _tip(one),
        }
        for at, one in enumerate(occupations)
    ]
    if not points:
        return ""
    place, left, height = rows_of(), ROWS_MARGINS["left"], ROW * len(points)
    colour = alt.Color("kind:N", legend=None, scale=KINDS)
    share = alt.Scale(domain=(0, 1), range=[RESOLVED_START, RESOLVED_END], nice=False)
    lean = alt.Scale(domain=(-1, 1), range=[LEAN_START, ROWS_WIDTH], nice=False)
    bar_start = alt.X("none:Q", scale=share, axis=None)
    dot, dot_start = (alt.X(f"{field}:Q", scale=lean, axis=None) for field in ("lean", "from"))
    shown = chart(points)
    left_plot = alt.layer(
        shown.mark_bar(opacity=0.85).encode(x=bar_start, x2="resolved:Q", y=place, color=colour),
        column(shown, "name", -14, place, left=left, opacity=1),
        column(shown, "share", RESOLVED_START - 6, place, left=left),
    )
    right_plot = alt.layer(
        chart({"from": end} for end in (-1, 1)).mark_rule(color=INK, opacity=0.15).encode(x=dot_start),
        chart([{"from": 0}]).mark_rule(color=INK, opacity=0.6).encode(x=dot_start),
        shown.mark_rule(strokeWidth=2, opacity=0.7).encode(x=dot_start, x2="lean:Q", y=place, color=colour),
        shown.mark_circle(size=56, opacity=1).encode(x=dot, y=place, color=colour),
    )
    heads: list[Any] = [
        _head("resolved", (RESOLVED_START + RESOLVED_END) / 2, -8),
        _head("lean", (LEAN_START + ROWS_WIDTH) / 2, -8),
        _head("woman", LEAN_START, -8, "left"),
        _head("man", ROWS_WIDTH, -8, "right"),
        _head("−1", LEAN_START, height + 14, "left"),
        _head("0", (LEAN_START + ROWS_WIDTH) / 2, height + 14),
        _head("1", ROWS_WIDTH, height + 14, "right"),
    ]
    both = alt.layer(left_plot, right_plot, *heads).resolve_scale(x="independent")
    return svg([both], ROWS_WIDTH, height, ROWS_MARGINS)


def cloud(occupations: Sequence[Occupation]) -> str:
    """Each occupation a point: to whom it leans, and how often it is resolved; empty if there is none."""
    points: list[Point] = [
        {"kind": one.kind, "lean": one.lean, "resolved": one.resolved, "tip": _tip(one)}
        for one in occupations
        if one.lean is not None
    ]
    if not points:
        return ""
    leans, shares = ([point[name] for point in points] for name in ("lean", "resolved"))
    end = 1.05 * max(map(abs, leans)) or 1.0  # as far to the left as to the right
    air = 0.08 * (max(shares) - min(shares)) or 0.1
    low, high = max(0.0, min(shares) - air), min(1.0 + air / 2, max(shares) + air)
    across = alt.X("lean:Q", scale=alt.Scale(domain=(-end, end), nice=False), axis=alt.Axis(tickCount=6))
    up = alt.Y(
        "resolved:Q",
        title="resolved to a gender",
        scale=alt.Scale(domain=(low, high), nice=False),
        axis=alt.Axis(tickCount=5, format=".0%"),
    )
    layers: list[Any] = [chart([{"lean": 0}]).mark_rule(color=INK, opacity=0.6).encode(x=across)]
    colour = alt.Color("kind:N", legend=None, scale=KINDS)
    for kind in ("neutral", "male", "female"):  # the fewest last, on top
        mine = [point for point in points if point["kind"] == kind]
        if mine:
            middle = {"kind": kind, "lean": fmean(point["lean"] for point in mine)}
            line = chart([middle]).mark_rule(strokeDash=[5, 3], strokeWidth=2).encode(x=across, color=colour)
            mark = chart(mine).mark_circle(size=54, opacity=0.8).encode(x=across, y=up, color=colour)
            layers += [line, mark]
    layers += [_head("taken for women", 0, -8, "left"), _head("taken for men", CLOUD_WIDTH, -8, "right")]
    return svg(layers, CLOUD_WIDTH, CLOUD_HEIGHT, CLOUD_MARGINS)


def _tip(one: Occupation) -> str:
    return f"{one.occupation}: resolved {percent(one.resolved, 0)}, lean {signed(one.lean)}"


def _head(text: str, across: float, down: float, align: str = "center") -> Any:
    words = chart([{"text": text}]).mark_text(align=align, baseline="middle", color=INK, fontSize=11, opacity=0.75)
    return words.encode(x=alt.value(across), y=alt.value(down), text="text:N")
