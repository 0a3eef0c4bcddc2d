"""Plots whose marks show what they are when a pointer rests on them, as SVG text to be set into a page.

Each mark has a `<title>`, which browsers show without a script. All text is escaped, and long names are cut, so that no
name in a user's file can change a plot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from unmask.report.drawing import FONT, Domain

LONGEST_NAME, LONGEST_LABEL = 60, 24
CHARACTER, LINE = 6.7, 14.0
"""About the room that a character takes, in pixels, and a line of text."""
TICK_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Mark:
    """A point of a plot, in pixels from its upper left corner, its name, and what it shows to a pointer."""

    x: float
    y: float
    name: str = ""
    hover: str = ""


def scaled(value: float, domain: Domain, length: float) -> float:
    """Where a value stands on an axis of so many pixels."""
    return (value - domain[0]) / (domain[1] - domain[0]) * length


def ticks(domain: Domain, about: int) -> list[float]:
    """Round numbers within a domain, about so many."""
    wide = (domain[1] - domain[0]) / about
    power = 10.0 ** floor(log10(wide))
    step = next(power * one for one in TICK_STEPS if power * one >= wide * 0.999)
    return [step * at for at in range(ceil(domain[0] / step - 1e-9), floor(domain[1] / step + 1e-9) + 1)]


def dots(marks: Iterable[Mark], *, radius: float, style: str) -> str:
    """Points that look alike; `style` are attributes of SVG."""
    drawn = "".join(
        f'<circle cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="{radius:g}"{_shown(mark.hover, "circle")}' for mark in marks
    )
    return f"<g {style}>{drawn}</g>" if drawn else ""


def diamond(mark: Mark, *, size: float, style: str) -> str:
    """A point that stands out."""
    corners = f"M{mark.x:.1f} {mark.y - size:.1f}l{size:g} {size:g}l{-size:g} {size:g}l{-size:g} {-size:g}z"
    return f'<path d="{corners}" {style}{_shown(mark.hover, "path")}'


def line(start: tuple[float, float], end: tuple[float, float], *, opacity: float = 0.12, dashed: bool = False) -> str:
    """A straight line in the colour of the text."""
    (x1, y1), (x2, y2), dashes = start, end, ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"'
        f' stroke-opacity="{opacity:g}"{dashes}/>'
    )


def words(x: float, y: float, text: str, *, anchor: str = "start", opacity: float = 1.0, turned: bool = False) -> str:
    """Text in the colour of the text around the plot, its middle at a height; a halo sets it off from points."""
    turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    place = f'x="{x:.1f}" y="{y:.1f}" dy=".35em" text-anchor="{anchor}" fill-opacity="{opacity:g}"{turn}'
    return f'<text class="halo" {place}>{_cut(text, LONGEST_LABEL if opacity == 1.0 else LONGEST_NAME)}</text>'


def labels(
    marks: Sequence[Mark], worth: Iterable[Mark], *, width: float, most: int, clear_of_marks: bool = True
) -> list[str]:
    """Names beside their points, those that are worth it first, and only where no other name is.

    With `clear_of_marks` they cover no point either.
    """
    taken = [(one.x - 4, one.x + 4, one.y - 4, one.y + 4) for one in marks] if clear_of_marks else []
    found: dict[str, str] = {}
    for mark in worth:
        if len(found) == most:
            break
        long = CHARACTER * min(len(mark.name), LONGEST_LABEL) + 2
        sides = [("start", mark.x + 5, mark.x + 5 + long), ("end", mark.x - 5 - long, mark.x - 5)]
        for anchor, start, end in sides if mark.x < 0.6 * width else reversed(sides):
            top, bottom = mark.y - LINE / 2, mark.y + LINE / 2
            free = all(end < t[0] or t[1] < start or bottom < t[2] or t[3] < top for t in taken)
            if free and start >= 0 and end <= width and mark.name not in found:
                found[mark.name] = words(start if anchor == "start" else end, mark.y, mark.name, anchor=anchor)
                taken.append((start, end, top, bottom))
    return list(found.values())


def drawing(parts: Iterable[str], width: int, height: int, margins: dict[str, int]) -> str:
    """The parts as the text of an SVG."""
    wide, tall = width + margins["left"] + margins["right"], height + margins["top"] + margins["bottom"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}"'
        f' font-family="{FONT}" font-size="12" fill="currentColor"><g transform="translate({margins["left"]}'
        f' {margins["top"]})">{"".join(parts)}</g></svg>'
    )


def _shown(hover: str, tag: str) -> str:
    """The rest of a mark, with what a pointer shows."""
    return f"><title>{_cut(hover, LONGEST_NAME)}</title></{tag}>" if hover else "/>"


def _cut(text: str, longest: int) -> str:
    return escape(text if len(text) <= longest else text[: longest - 1].rstrip() + "…")
