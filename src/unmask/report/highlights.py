"""A text and its two versions in one: shared words as they are, and each place where they differ as a pair.

Both versions are written as changes to the same text. Changes that overlap become one place, which shows what each
version has there. A long text is shortened around its places; no place is ever cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

MOST_CHARACTERS = 400
REACHES = (160, 120, 80, 50)
"""So many characters are shown on either side of a place: the first that leaves the text short enough, or places go."""
GAP = 12
"""So few characters are shown rather than left out."""
NOTHING = "∅"
"""Stands where a version has no word."""

Edit = tuple[int, int, str]
Span = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """Words that both versions share (`text`), or a place where they differ."""

    text: str = ""
    female: str = ""
    male: str = ""


@dataclass(frozen=True)
class Place:
    """Where a version is not as the text: characters of the text, and what each version has there."""

    start: int
    end: int
    female: str
    male: str

    def piece(self) -> Piece:
        """What is shown of it: both versions, or once what both have."""
        return Piece("", self.female, self.male) if self.female != self.male else Piece(self.female)

    def longer(self) -> int:
        """By how many characters showing both versions is longer than the text."""
        return len(self.female) + 1 + len(self.male) - (self.end - self.start)


def edits(written: Any, length: int) -> list[Edit]:
    """The changes of a version as an items file holds them; what is not such a list counts as none."""
    try:
        found = [(int(start), int(end), str(after)) for start, end, after in json.loads(written)]
    except (TypeError, ValueError, OverflowError, RecursionError):
        return []
    found.sort()
    inside = all(0 <= start <= end <= length for start, end, _ in found)
    apart = all(one[1] <= next_one[0] for one, next_one in pairwise(found))
    return found if inside and apart else []


def places(text: str, female: Sequence[Edit], male: Sequence[Edit]) -> list[Place]:
    """Where two versions of a text are not as the text, in order and without overlap."""
    merged: list[Span] = []
    for start, end in sorted({(start, end) for start, end, _ in (*female, *male)}):
        if merged and (start < merged[-1][1] or start == merged[-1][0]):
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return [Place(*span, _version(text, span, female), _version(text, span, male)) for span in merged]


def pieces(text: str, found: Sequence[Place]) -> tuple[list[Piece], int]:
    """The text in pieces, shortened if it is long, and how many differences were left out."""
    text = re.sub(r"<br\s*/?>", lambda tag: " " * len(tag[0]), text)  # the line breaks of web pages
    different = [place for place in found if place.female != place.male]
    windows, kept = [(0, len(text))], len(different)
    if _length(windows, different) > MOST_CHARACTERS:
        windows, kept = _shortened(text, different)
    shown: list[Piece] = []
    for at, (low, high) in enumerate(windows):
        if low > 0:
            shown.append(Piece(" … " if at else "… "))
        for place in found:
            if low <= place.start and place.end <= high:
                shown += [Piece(_plain(text[low : place.start])), place.piece()]
                low = place.end
        shown.append(Piece(_plain(text[low:high])))
    if windows[-1][1] < len(text):
        shown.append(Piece(" …"))
    return [piece for piece in shown if piece != Piece()], len(different) - kept


def _version(text: str, span: Span, version: Sequence[Edit]) -> str:
    """What a version has at a span."""
    parts, at = [], span[0]
    for start, end, after in version:
        if span[0] <= start and end <= span[1] and (start < span[1] or start == span[0]):
            parts += [text[at:start], after]
            at = end
    return "".join((*parts, text[at : span[1]]))


def _shortened(text: str, found: Sequence[Place]) -> tuple[list[Span], int]:
    """The parts of the text around its differences, and how many of these are shown."""
    if not found:
        return [(0, _word_end(text, 0, MOST_CHARACTERS))], 0
    for reach in REACHES:
        windows = _windows(text, found, len(found), reach)
        if _length(windows, found) <= MOST_CHARACTERS:
            return windows, len(found)
    count = 1
    while _length(_windows(text, found, count + 1, REACHES[-1]), found) <= MOST_CHARACTERS:
        count += 1
    return _windows(text, found, count, REACHES[-1]), count


def _windows(text: str, found: Sequence[Place], count: int, reach: int) -> list[Span]:
    """The parts of a text around its first places, ending at words; parts that meet are one."""
    most = found[count].start if count < len(found) else len(text)
    windows: list[Span] = []
    for place in found[:count]:
        low = _word_start(text, max(0, place.start - reach), place.start)
        high = _word_end(text, place.end, min(most, place.end + reach))
        if windows and low <= windows[-1][1] + GAP:
            low = windows.pop()[0]
        windows.append((low, high))
    return windows


def _word_start(text: str, low: int, place: int) -> int:
    space = re.search(r"\s", text[low:place]) if low else None
    return low + space.end() if space else low


def _word_end(text: str, place: int, high: int) -> int:
    space = re.search(r"\s\S*$", text[place:high]) if high < len(text) else None
    return place + space.start() if space else high


def _length(windows: Sequence[Span], found: Sequence[Place]) -> int:
    """How many characters are shown."""
    longer = sum(one.longer() for one in found for low, high in windows if low <= one.start and one.end <= high)
    return sum(high - low for low, high in windows) + longer


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)
