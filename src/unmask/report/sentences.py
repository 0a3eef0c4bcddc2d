"""The sentences behind the numbers: which to show, and what to mark in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.results import Measurement

if TYPE_CHECKING:
    import pandas as pd

MOST_SENTENCES = 8
MOST_OF_A_PERSON = 2


@dataclass(frozen=True)
class Sentence:
    """An item: its sentence in parts (text and what it is), and its scores."""

    parts: list[tuple[str, str]]
    gender: str
    association: float | None
    log_p_target: float | None
    log_p_prior: float | None


def largest(measurement: Measurement, items: pd.DataFrame | None, *, highest: bool) -> list[Sentence]:
    """The highest or lowest associations: one a profession and gender, few of the same person word."""
    if items is None or items.empty:
        return []
    mine = items[items["association"] > 0] if highest else items[items["association"] < 0]
    for column, value in (("language", measurement.language), ("corpus", measurement.corpus)):
        if column in mine:
            mine = mine[mine[column] == value]
    seen: Counter[tuple[str, ...]] = Counter()
    found: list[Sentence] = []
    for row in mine.sort_values("association", ascending=not highest, kind="stable").to_dict("records"):
        attribute, person = (row["profession"], row["gender"]), (row["person"],)
        if seen[attribute] < 1 and seen[person] < MOST_OF_A_PERSON:
            seen.update((attribute, person))
            found.append(_sentence(row))
        if len(found) == MOST_SENTENCES:
            break
    return found


def _sentence(row: Mapping[Any, Any]) -> Sentence:
    target, form = str(row.get("target", row["person"])), str(row.get("form", row["profession"]))
    text = row.get("sentence")
    if isinstance(text, str) and text:
        parts = _marked(text, target, form)
    else:  # recorded scores may come without their sentences
        parts = [(target, "person"), (" … ", ""), (form, "profession")]
    scores = [float(row.get(name, "nan")) for name in ("association", "log_p_target", "log_p_prior")]
    return Sentence(parts, str(row["gender"]), *(score if isfinite(score) else None for score in scores))


def _marked(text: str, target: str, form: str) -> list[tuple[str, str]]:
    """The sentence cut where the person word and the profession stand, each as a whole word and once."""
    parts = [(text, "")]
    for kind, word in (("profession", form), ("person", target)):
        for at, (part, known) in enumerate(parts):
            found = None if known else re.search(rf"(?<!\w){re.escape(word)}(?!\w)", part)
            if word and found:
                cut = [(part[: found.start()], ""), (found.group(), kind), (part[found.end() :], "")]
                parts[at : at + 1] = [piece for piece in cut if piece[0]]
                break
    return parts
