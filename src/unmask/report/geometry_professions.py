"""Professions as SVG text: their bias against the share of male words around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from unmask.report.drawing import FEMALE, MALE, Domain, around
from unmask.report.geometry_marks import Mark, dots, drawing, labels, line, scaled, ticks, words
from unmask.report.pages import percent, signed
from unmask.results.numbers import number

WIDTH, HEIGHT, MARGINS = 440, 330, {"left": 62, "right": 14, "top": 24, "bottom": 44}
MOST_LABELS = 14
RADIUS = 3.6
OPEN = "#8a94a3"
COLOURS = {"female": FEMALE, "male": MALE, "unknown": OPEN}


class Profession(Protocol):
    """What is drawn of a profession."""

    @property
    def profession(self) -> str:
        """Its name."""

    @property
    def bias(self) -> float:
        """Its position along the gender direction."""

    @property
    def male(self) -> float:
        """The share of male words among the nearest."""

    @property
    def male_removed(self) -> float | None:
        """The same with the gender direction removed."""

    @property
    def stereotype(self) -> float | None:
        """From −1, people associate it with women, to 1, with men."""


def stereotype_of(one: Profession) -> str:
    """The gender that people think of: female, male, or unknown."""
    if not one.stereotype:
        return "unknown"
    return "male" if one.stereotype > 0 else "female"


def scales(professions: Iterable[Profession]) -> tuple[Domain, Domain]:
    """The scales of bias and of shares on which all of these have a place, with and without the direction."""
    every = list(professions)
    shares = [share for one in every for share in (one.male, one.male_removed) if share is not None] or [0.0, 1.0]
    air = 0.05 * (max(shares) - min(shares)) or 0.1
    return around(one.bias for one in every), (max(-0.02, min(shares) - air), min(1.02, max(shares) + air))


def professions_plot(
    professions: Sequence[Profession], *, removed: bool = False, beside: Iterable[Profession] = ()
) -> str:
    """The bias of each profession (across) and the share of male words among those nearest to it (up).

    `removed`: the share once the gender direction is taken out. `beside`: what other plots show that are to be compared
    with this one, and so have its scales. The colour is the stereotype as people see it; a pointer shows the
    profession. Empty if there is nothing to draw.
    """
    wide, tall = scales([*professions, *beside])
    shown = [(one, share) for one in professions if (share := one.male_removed if removed else one.male) is not None]
    if not shown:
        return ""
    marks: dict[str, list[Mark]] = {kind: [] for kind in reversed(COLOURS)}  # what is unknown lies below
    for one, share in shown:
        place = scaled(one.bias, wide, WIDTH), HEIGHT - scaled(share, tall, HEIGHT)
        hover = f"{one.profession}: bias {signed(one.bias, 3)}, {percent(share, 0)} male"
        marks[stereotype_of(one)].append(Mark(*place, one.profession, hover))
    every = [mark for some in marks.values() for mark in some]
    points = [
        dots(some, radius=RADIUS, style=f'fill="{COLOURS[kind]}" fill-opacity=".8"') for kind, some in marks.items()
    ]
    names = labels(every, _worth_a_label(every), width=WIDTH, most=MOST_LABELS)
    return drawing([*_axes(wide, tall), *points, *names], WIDTH, HEIGHT, MARGINS)


def _axes(wide: Domain, tall: Domain) -> Iterator[str]:
    for share in ticks(tall, 5):
        height, half = HEIGHT - scaled(share, tall, HEIGHT), abs(share - 0.5) < 1e-9
        yield line((0, height), (WIDTH, height), opacity=0.5 if half else 0.12, dashed=half)
        yield words(-7, height, percent(share, 0), anchor="end", opacity=0.8)
    for tick in ticks(wide, 5):
        across = scaled(tick, wide, WIDTH)
        yield line((across, 0), (across, HEIGHT), opacity=0.5 if tick == 0 else 0.12, dashed=tick == 0)
        yield words(across, HEIGHT + 12, number(tick, 2), anchor="middle", opacity=0.8)
    yield words(0, -12, "female", opacity=0.8)
    yield words(WIDTH, -12, "male", anchor="end", opacity=0.8)
    yield words(WIDTH / 2, HEIGHT + 32, "bias of the profession", anchor="middle", opacity=0.8)
    yield words(-54, HEIGHT / 2, "male words among the nearest", anchor="middle", opacity=0.8, turned=True)


def _worth_a_label(marks: Sequence[Mark]) -> list[Mark]:
    """Those farthest out from the middle of all, measured by the size of the plot."""
    x, y = (sum(values) / len(marks) for values in ([one.x for one in marks], [one.y for one in marks]))
    return sorted(marks, key=lambda one: -(((one.x - x) / WIDTH) ** 2 + ((one.y - y) / HEIGHT) ** 2))
