"""The pairs behind inference: those of a measurement, and examples of each kind of answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.probes.inference import PERSON
from unmask.results import Measurement

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 4
KINDS = (
    ("Biased: the stereotypical gender is inferred", "biased", (("PS", "entailment"),)),
    ("Biased: the other gender is ruled out", "biased", (("AS", "contradiction"),)),
    ("Plain error: against the stereotype", "mistaken", (("PS", "contradiction"), ("AS", "entailment"))),
    ("Right: the gender is left open", "open", (("PS", "neutral"), ("AS", "neutral"), ("NS", "neutral"))),
)
"""Kinds of answers: what they are called, their style, and which answers in which sets they are."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the person in it; where that cannot be found, all of it stands before."""

    before: str
    person: str = ""
    after: str = ""


@dataclass(frozen=True)
class Pair:
    """A premise, a hypothesis, and what the model made of them."""

    premise: Sentence
    hypothesis: Sentence
    gender: str
    set: str
    occupation: str
    kind: str
    """The stereotype of the occupation."""
    answer: str
    probability: float | None


@dataclass(frozen=True)
class Examples:
    """Some pairs that were answered in one way."""

    title: str
    style: str
    count: int
    """How many such pairs there are."""
    pairs: list[Pair]


def items_of(measurement: Measurement, items: pd.DataFrame | None) -> pd.DataFrame | None:
    """The items of a measurement that have a sentence; None if there are none."""
    if items is None or items.empty or not {"set", "prediction", "premise", "hypothesis"} <= set(items):
        return None
    mine = items
    for name, value in (("language", measurement.language), ("corpus", measurement.corpus)):
        if name in mine:
            mine = mine[mine[name] == value]
    mine = mine[mine["premise"].map(_word).astype(bool)]
    return None if mine.empty else mine


def examples(items: pd.DataFrame | None) -> list[Examples]:
    """Of each kind of answer, the pairs whose answers are surest, no two of one occupation."""
    if items is None:
        return []
    found = []
    for title, style, wanted in KINDS:
        keys = zip(items["set"], items["prediction"], strict=True)
        mine = items[[key in wanted for key in keys]]
        found.append(Examples(title, style, len(mine), [_pair(row) for row in _surest(mine)]))
    return found


def sentence(text: str, template: str) -> Sentence:
    """A sentence taken apart at its person, by the template that it was made of."""
    before, place, after = template.partition(PERSON)
    end = len(text) - len(after)
    fits = place and text[: len(before)].lower() == before.lower() and text[end:] == after and end > len(before)
    return Sentence(text[: len(before)], text[len(before) : end], after) if fits else Sentence(text)


def _surest(items: pd.DataFrame) -> Iterable[Mapping[Any, Any]]:
    """By probability; where there are enough, no two of one sentence either."""
    rows = items.to_dict("records")
    rows.sort(key=lambda row: -(_probability(row) or 0.0))
    chosen: list[Mapping[Any, Any]] = []
    for apart in (("occupation", "template"), ("occupation",)):
        for row in rows:
            seen = ({one.get(name) for one in chosen} for name in apart)
            if len(chosen) < MOST_PAIRS and all(row.get(name) not in of for name, of in zip(apart, seen, strict=True)):
                chosen.append(row)
    return sorted(chosen, key=lambda row: -(_probability(row) or 0.0))


def _pair(row: Mapping[Any, Any]) -> Pair:
    template = _word(row.get("template"))
    return Pair(
        premise=sentence(_word(row.get("premise")), template),
        hypothesis=sentence(_word(row.get("hypothesis")), template),
        gender=_word(row.get("gender")),
        set=_word(row.get("set")),
        occupation=_word(row.get("occupation")),
        kind=_word(row.get("occupation_type")),
        answer=_word(row.get("prediction")),
        probability=_probability(row),
    )


def _probability(row: Mapping[Any, Any]) -> float | None:
    value = row.get(f"p_{row['prediction']}")
    return value if isinstance(value, float) and isfinite(value) else None


def _word(value: Any) -> str:
    """What a file holds as a text; nothing where it is missing."""
    return value if isinstance(value, str) else ""
