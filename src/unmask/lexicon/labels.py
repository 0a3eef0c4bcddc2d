"""The meaning of classifier labels, in any order and spelling: labels of inference, and of ratings."""

from __future__ import annotations

import re
from collections.abc import Sequence

INFERENCE = ("entailment", "neutral", "contradiction")
SPELLINGS = {
    "entailment": ("entail", "蕴含", "蕴涵", "含意"),
    "neutral": ("neutr", "中立", "中性"),
    "contradiction": ("contradict", "矛盾"),
}
"""What labels of inference begin with."""
LETTERS = {label[0]: label for label in INFERENCE}
"""Labels of one letter, known where all three are there: alone, `c` may be anything."""
SHORT = {"contra": "contradiction"}
"""Whole labels, which must not be taken for the beginning of others (`contract`)."""
RATINGS = {
    "very negative": -2,
    "negative": -1,
    "neg": -1,
    "bad": -1,
    "neutral": 0,
    "neu": 0,
    "mixed": 0,
    "positive": 1,
    "pos": 1,
    "good": 1,
    "very positive": 2,
}
"""Labels of ratings, from bad to good."""


def match_inference_labels(labels: Sequence[str]) -> list[str | None]:
    """What spellings mean: `ENTAILMENT`, `contradictory`, or `e`, `n`, `c`; None where they mean none of the three."""
    plain = [label.strip().lower() for label in labels]
    if sorted(plain) == sorted(LETTERS):
        return [LETTERS[letter] for letter in plain]
    return [SHORT.get(label) or match_inference_label(label) for label in plain]


def match_inference_label(label: str) -> str | None:
    """The label of inference that a word begins as."""
    plain = label.strip().lower()
    return next((name for name, beginnings in SPELLINGS.items() if plain.startswith(beginnings)), None)


def order_rating_labels(labels: Sequence[str]) -> list[float] | None:
    """The place of each label in an order from bad to good, if the labels have one."""
    plain = [re.sub(r"[\s_-]+", " ", label.lower()).strip() for label in labels]
    if all(label in RATINGS for label in plain) and len({RATINGS[label] for label in plain}) == len(labels):
        ratings = [float(RATINGS[label]) for label in plain]
        return ratings if min(ratings) < max(ratings) and max(ratings) > 0 else None
    numbers = [re.fullmatch(r"(\d+) stars?", label) for label in plain]
    if all(numbers):
        values = [float(match[1]) for match in numbers if match]
        return values if len(set(values)) == len(labels) else None
    return None


def match_labels(labels: Sequence[str], others: Sequence[str]) -> list[str] | None:
    """Which of the others each label is, whatever its place and spelling; None if they are not the same labels."""
    if not labels or len(labels) != len(others):
        return None
    nothing = [None] * len(others)
    ways: tuple[tuple[Sequence[object], Sequence[object]], ...] = (
        ([label.strip().lower() for label in labels], [label.strip().lower() for label in others]),
        (match_inference_labels(labels), match_inference_labels(others)),
        (order_rating_labels(labels) or nothing, order_rating_labels(others) or nothing),
    )
    for meanings, other_meanings in ways:
        by_meaning = dict(zip(other_meanings, others, strict=True))
        if None not in by_meaning and len(set(meanings)) == len(others) and set(meanings) == set(by_meaning):
            return [by_meaning[meaning] for meaning in meanings]
    return None
