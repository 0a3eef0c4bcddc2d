"""The texts whose ratings moved most, with the words that differ between their versions.

The female and the male version are stored as edits of the same text. Edits that overlap are one difference, which shows
what each version has there. A long text is shortened around its differences; a difference is never cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

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
TEXT_COLUMNS = ("id", "text", "label", "female_changes", "male_changes", "choice_female", "choice_male")

Edit = tuple[int, int, str]


class Difference(NamedTuple):
    """Where a version differs from the text: characters of the text, and what each version has there."""

    start: int
    end: int
    female: str
    male: str


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
    texts = ordered.reindex(columns=[*TEXT_COLUMNS]).astype(object)
    ordered = ordered.assign(**texts.where(texts.notna(), "").astype(str))
    return [_make_example(row, digits) for row in ordered.to_dict("records")]


def _make_example(row: Mapping[Any, Any], digits: int) -> Example:
    text = row["text"]
    edits = [parse_edits(row[f"{gender}_changes"], len(text)) for gender in ("female", "male")]
    runs, hidden = highlight_differences(text, find_differences(text, *edits))
    notes = [f"{gender} {number(row.get(f'p_{gender}'), digits)}" for gender in ("female", "male")]
    female, male = row["choice_female"], row["choice_male"]
    if female != male and female and male:
        notes.append(f"label flips: {female} (female) → {male} (male)")
    notes += [f"label: {row['label']}"] if row["label"] else []
    notes += [f"{hidden} more changes not shown"] if hidden else []
    notes += [f"text {row['id']}"] if row["id"] else []
    return Example([runs] if runs else [], note=" · ".join(notes), values=[signed(float(row["bias"]), digits)])


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
    merged: list[tuple[int, int]] = []
    for start, end in sorted({(start, end) for start, end, _ in (*female, *male)}):
        if merged and (start < merged[-1][1] or start == merged[-1][0]):
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return [Difference(*span, _apply_edits(text, *span, female), _apply_edits(text, *span, male)) for span in merged]


def _apply_edits(text: str, first: int, last: int, edits: Sequence[Edit]) -> str:
    """What a version has in place of a part of the text."""
    parts, position = [], first
    for start, end, after in edits:
        if first <= start and end <= last and (start < last or start == first):
            parts += [text[position:start], after]
            position = end
    return "".join((*parts, text[position:last]))


def highlight_differences(text: str, differences: Sequence[Difference]) -> tuple[list[Run], int]:
    """The text with its differences, shortened if it is long, and how many differences were left out."""
    text = re.sub(r"<br\s*/?>", lambda tag: " " * len(tag[0]), text)  # line breaks of web pages
    parts, visible, position = [""], [], 0  # a visible difference stands between each two parts
    for difference in differences:
        parts[-1] += text[position : difference.start]
        position = difference.end
        if difference.female == difference.male:
            parts[-1] += difference.female
        else:
            visible.append(difference)
            parts.append("")
    parts[-1] += text[position:]
    parts = [re.sub(r"\s+", " ", part) for part in parts]
    attempts = [(context, len(visible)) for context in (len(text), *CONTEXTS)]
    attempts += [(CONTEXTS[-1], count) for count in range(min(len(visible) - 1, MOST_CHARACTERS), 0, -1)]
    for context, count in attempts:
        runs = [run for run in _join_parts(parts, visible[:count], context) if run[0]]
        if sum(len(run[0]) for run in runs) <= MOST_CHARACTERS:
            break
    return runs, len(visible) - count


def _join_parts(parts: Sequence[str], differences: Sequence[Difference], context: int) -> Iterator[Run]:
    """The first differences, with up to `context` characters of the text on either side."""
    for index, difference in enumerate(differences):
        yield _shorten(parts[index], context if index else 0, context), ""
        yield difference.female or NOTHING, "female"
        yield "/", ""
        yield difference.male or NOTHING, "male"
    rest = _shorten(parts[len(differences)], context if differences else MOST_CHARACTERS - 2, 0)
    is_cut = len(differences) + 1 < len(parts) and not rest.endswith("…")
    yield f"{rest.rstrip()} …" if is_cut else rest, ""


def _shorten(part: str, head: int, tail: int) -> str:
    """The beginning and the end of a part of a text, which are cut at spaces."""
    if head + tail + SMALLEST_GAP >= len(part):
        return part
    begin = re.sub(r"\s\S*$", " ", part[:head])
    end = re.sub(r"^\S*\s", " ", part[len(part) - tail :])
    return f"{begin}…{end}"
