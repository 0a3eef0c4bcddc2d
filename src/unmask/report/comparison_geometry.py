"""Geometry before and after, as the template wants it: the tests, and maps and scatters side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unmask.measures.geometry.details import GeometryChange, WordTestChange
from unmask.report.figures import HARD, Line
from unmask.report.geometry_map import word_map
from unmask.report.geometry_professions import professions_plot
from unmask.report.pages import p, percent, signed
from unmask.results.comparison import Change, Comparison
from unmask.results.numbers import interval, number
from unmask.results.record import Interval

if TYPE_CHECKING:
    import pandas as pd

NAMES = {
    "clustering": ("Clustering", "words in the cluster of their side"),
    "probe": ("Linear probe", "words on the right side of a straight cut"),
    "classification": ("Classification", "words that a support-vector machine tells apart"),
    "neighbours": ("Neighbours", "r of professions' bias with the words around them"),
}
SHARES = ("clustering", "probe", "classification")
SCORED = "words of both models"
MEANINGS = {
    "improved": "Words that were biased are harder to tell apart, by more than chance explains. How much is left, and"
    " whether plain removal of a direction would leave as much, stands below.",
    "worse": "Words that were biased are easier to tell apart, by more than chance explains.",
    "overshot": "Professions have come to lie among words of the other gender.",
}


def view(comparison: Comparison, items: pd.DataFrame | None) -> dict[str, Any]:
    """What is special to geometry in the view of a comparison."""
    geometry = comparison.read_details(GeometryChange)
    tests = [_row(one, comparison.changes.get(one.name)) for one in geometry.tests]
    every = [*geometry.professions_before, *geometry.professions_after]
    sides = (("before", geometry.professions_before), ("after", geometry.professions_after))
    scatters = [(name, professions_plot(some, beside=every)) for name, some in sides if some]
    meaning = {"meaning": MEANINGS[comparison.verdict]} if comparison.verdict in MEANINGS else {}
    return meaning | {
        "tests": tests,
        "scored": SCORED,
        "maps": _maps(comparison, items),
        "scatters": [one for one in scatters if one[1]],
    }


def line(name: str, change: Change | None, one: WordTestChange) -> Line:
    """A test before and after, with the words of before."""
    shares = name in SHARES
    show = percent if shares else number
    if change is None:
        return Line(name, show(one.before), show(one.after), "–")
    scale, digits, points = (100, 1, f"{HARD}points") if shares else (1, 2, "")
    moved = "–" if change.change is None else signed(scale * change.change, digits) + points
    return Line(
        name,
        show(change.before),
        show(change.after),
        moved,
        _between(change.before_interval, scale, digits),
        _between(change.after_interval, scale, digits),
        _between(change.interval, scale, digits),
        p(change.p_adjusted),
        change.verdict or "",
    )


def plain(one: WordTestChange) -> tuple[str, str]:
    """What plain removal of unrelated directions leaves: the mean, and where 95 % lie."""
    if one.others is None:
        return "–", ""
    shares = one.name in SHARES
    scale, digits = (100, 1) if shares else (1, 2)
    mean = percent(one.others.mean) if shares else number(one.others.mean)
    return mean, _between((one.others.low, one.others.high), scale, digits)


def _row(one: WordTestChange, change: Change | None) -> dict[str, Any]:
    name, what = NAMES.get(one.name, (one.name, ""))
    others, between = plain(one)
    own = percent(one.own) if one.name in SHARES else number(one.own)
    return {
        "name": name,
        "what": what,
        "n": one.n,
        "line": line(one.name, change, one),
        "others": others,
        "others_between": between,
        "own": own,
    }


def _between(bounds: Interval | None, scale: float, digits: int) -> str:
    return "" if bounds is None else interval((scale * bounds[0], scale * bounds[1]), digits)


def _maps(comparison: Comparison, items: pd.DataFrame | None) -> list[tuple[str, str]]:
    """The words that were most biased before, as they lie before and after."""
    if items is None or not {"compared", "model", "side", "x", "y"} <= set(items):
        return []
    mine = items[(items["compared"] == comparison.after) & (items["corpus"] == comparison.corpus)]
    found = []
    for name, model in (("before", comparison.before), ("after", comparison.after)):
        svg = word_map(mine[mine["model"] == model])
        if svg:
            found.append((name, svg))
    return found
