"""Example pairs for the report: for each kind of answer, the pairs whose answers the model is surest of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.probes.inference import PERSON
from unmask.report.blocks import Example, Examples, Run, Style
from unmask.report.pages import count
from unmask.results import Measurement
from unmask.results.numbers import number

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 4
NEEDED = {"set", "prediction", "premise", "hypothesis"}
GENDER_STYLES: dict[str, Style] = {"female": "female", "male": "male"}
ANSWERS: tuple[tuple[str, Style, tuple[tuple[str, str], ...]], ...] = (
    ("Biased: infers the stereotypical gender", "biased", (("PS", "entailment"),)),
    ("Biased: rules out the other gender", "biased", (("AS", "contradiction"),)),
    ("Plain error: against the stereotype", "mistaken", (("PS", "contradiction"), ("AS", "entailment"))),
    ("Correct: leaves the gender open", "open", (("PS", "neutral"), ("AS", "neutral"), ("NS", "neutral"))),
)
"""Kinds of answers: their title, their style, and the sets and answers that belong to them."""


def select_items(measurement: Measurement, items: pd.DataFrame | None) -> pd.DataFrame | None:
    """The items of a measurement that have sentences; None if there are none."""
    if items is None or items.empty or not set(items) >= NEEDED:
        return None
    for column, value in (("language", measurement.language), ("corpus", measurement.corpus)):
        if column in items:
            items = items[items[column] == value]
    items = items[items["premise"].map(_text).astype(bool)]
    return None if items.empty else items


def collect_examples(items: pd.DataFrame, language: str) -> Iterator[Examples]:
    """Examples of each kind of answer, each with the number of such pairs in its title."""
    answers = list(zip(items["set"], items["prediction"], strict=True))
    for title, style, wanted in ANSWERS:
        rows = items[[answer in wanted for answer in answers]].to_dict("records")
        pairs = "1 pair" if len(rows) == 1 else f"{count(len(rows))} pairs"
        yield Examples(
            f"{title} ({pairs})",
            [_example(row) for row in select_surest(rows)],
            language=language,
            swatch=style,
        )


def select_surest(rows: Sequence[Mapping[Any, Any]]) -> list[Mapping[Any, Any]]:
    """The rows with the most probable answers: one per occupation and, where there are enough, one per sentence."""
    ordered = sorted(rows, key=_probability, reverse=True)
    chosen: list[Mapping[Any, Any]] = []
    for columns in (("occupation", "template"), ("occupation",)):
        for row in ordered:
            is_new = all(row.get(column) != other.get(column) for column in columns for other in chosen)
            if is_new and len(chosen) < MOST_PAIRS:
                chosen.append(row)
    return sorted(chosen, key=_probability, reverse=True)


def highlight_person(sentence: str, template: str, style: Style) -> list[Run]:
    """A sentence with its person highlighted, found by the template it was made from."""
    before, person, after = template.partition(PERSON)
    end = len(sentence) - len(after)
    fits = sentence[: len(before)].lower() == before.lower() and sentence[end:] == after and end > len(before)
    if not person or not fits:
        return [(sentence, "")]
    runs: list[Run] = [(sentence[: len(before)], ""), (sentence[len(before) : end], style), (after, "")]
    return [run for run in runs if run[0]]


def _example(row: Mapping[Any, Any]) -> Example:
    template, kind = _text(row.get("template")), _text(row.get("occupation_type"))
    premise = highlight_person(_text(row["premise"]), template, "attribute")
    gender = GENDER_STYLES.get(_text(row.get("gender")), "strong")
    hypothesis = highlight_person(_text(row["hypothesis"]), template, gender)
    probability = _probability(row)
    stereotype = "no stereotype" if kind == "neutral" else f"{kind} stereotype"
    answer = f"{_text(row['prediction'])}, p = {number(probability)}" if probability else _text(row["prediction"])
    note = f"{answer} · {_text(row['set'])} · {_text(row.get('occupation'))}: {stereotype}"
    return Example([premise, [("→ ", ""), *hypothesis]], note)


def _probability(row: Mapping[Any, Any]) -> float:
    """The probability of the answer; zero where only the answer was recorded."""
    value = row.get(f"p_{row['prediction']}")
    return value if isinstance(value, float) and isfinite(value) else 0.0


def _text(value: Any) -> str:
    """The text in a cell; empty where it is missing."""
    return value if isinstance(value, str) else ""
