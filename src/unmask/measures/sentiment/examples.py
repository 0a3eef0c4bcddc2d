"""The texts whose ratings moved most, with the words that differ between their versions.

The female and the male version are stored as edits of the same text. Edits that overlap are one difference, which shows
what each version has there. A long text is shortened around its differences; a difference is never cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.measures.comparison import select_items
from unmask.report.blocks import Example, Run
from unmask.results import Measurement
from unmask.results.formatting import number, signed

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXTS = 5
MOST_CHARACTERS = 400
CONTEXTS = (160, 120, 80, 50)
"""Characters shown on either side of a difference: the first that makes the text short enough."""
SMALLEST_GAP = 12
"""Fewer characters than this are shown rather than left out."""
NOTHING = "∅"
"""Shown where a version has no word."""

Edit = tuple[int, int, str]
Span = tuple[int, int]


@dataclass(frozen=True)
class Difference:
    """Where a version differs from the text: characters of the text, and what each version has there."""

    start: int
    end: int
    female: str
    male: str

    def runs(self) -> list[Run]:
        """Both versions side by side, or once what both have."""
        if self.female == self.male:
            return [(self.female, "")]
        return [(self.female or NOTHING, "female"), ("/", ""), (self.male or NOTHING, "male")]

    def extra_characters(self) -> int:
        """How many characters longer both versions are than the text."""
        return len(self.female) + 1 + len(self.male) - (self.end - self.start)


def select_changed(measurement: Measurement, items: pd.DataFrame | None) -> pd.DataFrame | None:
    """The items of a measurement whose versions differ; None if there are none."""
    items = select_items(measurement, items, terms=measurement.variant)
    if items is None or "bias" not in items:
        return None
    if "changed" in items and items["changed"].notna().any():
        items = items[items["changed"].fillna(False).astype(bool)]
    items = items[items["bias"].map(isfinite)]
    return None if items.empty else items


def extreme_texts(items: pd.DataFrame, *, male: bool, digits: int) -> list[Example]:
    """The texts rated highest in their male version compared with the female one, or the other way round."""
    subset = items[items["bias"] > 0] if male else items[items["bias"] < 0]
    ordered = subset.sort_values("bias", ascending=not male, kind="stable").head(MOST_TEXTS)
    return [_make_example(row, digits) for row in ordered.to_dict("records")]


def _make_example(row: Mapping[Any, Any], digits: int) -> Example:
    text = _read_text(row.get("text"))
    edits = [parse_edits(row.get(f"{gender}_changes"), len(text)) for gender in ("female", "male")]
    runs, hidden = highlight_differences(text, find_differences(text, *edits))
    female, male = (_read_text(row.get(f"choice_{gender}")) for gender in ("female", "male"))
    ratings = {gender: row.get(f"p_{gender}") for gender in ("female", "male")}
    notes = [
        f"{gender} {number(rating if isinstance(rating, float) and isfinite(rating) else None, digits)}"
        for gender, rating in ratings.items()
    ]
    if female != male and female and male:
        notes.append(f"label flips: {female} (female) → {male} (male)")
    if label := _read_text(row.get("label")):
        notes.append(f"label: {label}")
    if hidden:
        notes.append(f"{hidden} more changes not shown")
    if identifier := _read_text(row.get("id")):
        notes.append(f"text {identifier}")
    return Example([runs] if runs else [], note=" · ".join(notes), values=[signed(float(row["bias"]), digits)])


def _read_text(value: Any) -> str:
    """A value of an items file as text; empty where it is missing."""
    missing = value is None or value != value or type(value).__name__ == "NAType"
    return "" if missing else str(value)


def parse_edits(written: Any, length: int) -> list[Edit]:
    """The edits of a version as an items file holds them; none if they are not valid for a text of this length."""
    try:
        edits = [(int(start), int(end), str(after)) for start, end, after in json.loads(written)]
    except (TypeError, ValueError, OverflowError, RecursionError):
        return []
    edits.sort()
    inside = all(0 <= start <= end <= length for start, end, _ in edits)
    apart = all(edit[1] <= following[0] for edit, following in pairwise(edits))
    return edits if inside and apart else []


def find_differences(text: str, female: Sequence[Edit], male: Sequence[Edit]) -> list[Difference]:
    """Where two versions differ from their text, in order and without overlap."""
    merged: list[Span] = []
    for start, end in sorted({(start, end) for start, end, _ in (*female, *male)}):
        if merged and (start < merged[-1][1] or start == merged[-1][0]):
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return [Difference(*span, _apply_edits(text, span, female), _apply_edits(text, span, male)) for span in merged]


def highlight_differences(text: str, differences: Sequence[Difference]) -> tuple[list[Run], int]:
    """The text with its differences, shortened if it is long, and how many differences were left out."""
    text = re.sub(r"<br\s*/?>", lambda tag: " " * len(tag[0]), text)  # line breaks of web pages
    visible = [difference for difference in differences if difference.female != difference.male]
    windows, shown = [(0, len(text))], len(visible)
    if _count_characters(windows, visible) > MOST_CHARACTERS:
        windows, shown = _shorten(text, visible)
    runs: list[Run] = []
    for index, (start, end) in enumerate(windows):
        if start > 0:
            runs.append((" … " if index else "… ", ""))
        for difference in differences:
            if start <= difference.start and difference.end <= end:
                runs += [(_collapse_spaces(text[start : difference.start]), ""), *difference.runs()]
                start = difference.end
        runs.append((_collapse_spaces(text[start:end]), ""))
    if windows[-1][1] < len(text):
        runs.append((" …", ""))
    return [run for run in runs if run[0]], len(visible) - shown


def _apply_edits(text: str, span: Span, edits: Sequence[Edit]) -> str:
    """What a version has at a span of the text."""
    parts, position = [], span[0]
    for start, end, after in edits:
        if span[0] <= start and end <= span[1] and (start < span[1] or start == span[0]):
            parts += [text[position:start], after]
            position = end
    return "".join((*parts, text[position : span[1]]))


def _shorten(text: str, differences: Sequence[Difference]) -> tuple[list[Span], int]:
    """The parts of the text around its differences, and how many differences they hold."""
    if not differences:
        return [(0, _find_word_end(text, 0, MOST_CHARACTERS))], 0
    for context in CONTEXTS:
        windows = _windows(text, differences, len(differences), context)
        if _count_characters(windows, differences) <= MOST_CHARACTERS:
            return windows, len(differences)
    count = 1
    while _count_characters(_windows(text, differences, count + 1, CONTEXTS[-1]), differences) <= MOST_CHARACTERS:
        count += 1
    return _windows(text, differences, count, CONTEXTS[-1]), count


def _windows(text: str, differences: Sequence[Difference], count: int, context: int) -> list[Span]:
    """The parts of a text around its first differences, ending at words; parts that meet are merged."""
    last = differences[count].start if count < len(differences) else len(text)
    windows: list[Span] = []
    for difference in differences[:count]:
        start = _find_word_start(text, max(0, difference.start - context), difference.start)
        end = _find_word_end(text, difference.end, min(last, difference.end + context))
        if windows and start <= windows[-1][1] + SMALLEST_GAP:
            start = windows.pop()[0]
        windows.append((start, end))
    return windows


def _find_word_start(text: str, start: int, end: int) -> int:
    space = re.search(r"\s", text[start:end]) if start else None
    return start + space.end() if space else start


def _find_word_end(text: str, start: int, end: int) -> int:
    space = re.search(r"\s\S*$", text[start:end]) if end < len(text) else None
    return start + space.start() if space else end


def _count_characters(windows: Sequence[Span], differences: Sequence[Difference]) -> int:
    """How many characters these parts of a text have with both versions of their differences."""
    extra = sum(
        difference.extra_characters()
        for difference in differences
        for start, end in windows
        if start <= difference.start and difference.end <= end
    )
    return sum(end - start for start, end in windows) + extra


def _collapse_spaces(text: str) -> str:
    return re.sub(r"\s+", " ", text)
