"""A short text with its changes marked, for a reader."""

from __future__ import annotations

from typing import Literal

from unmask.counterfactual.change import Rewritten

Mark = Literal["", "before", "after", "left"]


def marked(text: str, done: Rewritten) -> list[tuple[str, Mark]]:
    """The text in parts: as it was, what was taken out, what came in, and the gendered words that were left."""
    places: list[tuple[int, int, list[tuple[str, Mark]]]] = [
        (change.start, change.end, [(change.before, "before"), (change.after, "after")]) for change in done.changes
    ]
    places += [(left.start, left.start + len(left.word), [(left.word, "left")]) for left in done.left]
    parts: list[tuple[str, Mark]] = []
    place = 0
    for start, end, marks in sorted(places, key=lambda one: one[:2]):
        if start < place:
            continue
        parts += [(text[place:start], ""), *marks]
        place = end
    return [part for part in [*parts, (text[place:], "")] if part[0]]


def notes(done: Rewritten) -> list[str]:
    """Each change and each word that was left, a line each."""
    changed = [
        (change.start, f"{change.before} → {change.after or '(nothing)'}" + _kind(change.kind))
        for change in done.changes
    ]
    left = [(one.start, f"{one.word} left: {one.why}") for one in done.left]
    return [line for _, line in sorted(changed + left)]


def _kind(kind: str) -> str:
    return "" if kind == "word" else f" ({kind})"
