"""Example pairs for the report: for each kind of answer, the pairs with the most probable answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.measures.inference.pairs import PERSON
from unmask.report.blocks import Example, Examples, Run, Style
from unmask.results.formatting import count, number

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 4
GENDER_STYLES: dict[str, Style] = {"female": "female", "male": "male"}
ANSWERS: tuple[tuple[str, Style, tuple[tuple[str, str], ...]], ...] = (
    ("Biased: infers the stereotypical gender", "biased", (("PS", "entailment"),)),
    ("Biased: rules out the other gender", "biased", (("AS", "contradiction"),)),
    ("Plain error: against the stereotype", "mistaken", (("PS", "contradiction"), ("AS", "entailment"))),
    ("Correct: leaves the gender open", "open", (("PS", "neutral"), ("AS", "neutral"), ("NS", "neutral"))),
)
"""Kinds of answers: their title, their style, and the sets and answers that belong to them."""


def collect_examples(items: pd.DataFrame, language: str) -> Iterator[Examples]:
    """Examples of each kind of answer, each with the number of such pairs in its title."""
    answers = list(zip(items["set"], items["prediction"], strict=True))
    for title, style, kinds in ANSWERS:
        rows = items[[answer in kinds for answer in answers]].to_dict("records")
        pairs = "1 pair" if len(rows) == 1 else f"{count(len(rows))} pairs"
        examples = [_make_example(row) for row in _select_surest(rows)]
        yield Examples(f"{title} ({pairs})", examples, language=language, swatch=style)


def _select_surest(rows: Sequence[Mapping[Any, Any]]) -> list[Mapping[Any, Any]]:
    """The rows with the most probable answers: one per occupation and, if there are enough, one per sentence."""
    ordered = sorted(rows, key=_read_probability, reverse=True)
    selected: list[Mapping[Any, Any]] = []
    for columns in (("occupation", "template"), ("occupation",)):
        for row in ordered:
            is_new = all(row.get(column) != previous.get(column) for column in columns for previous in selected)
            if is_new and len(selected) < MOST_PAIRS:
                selected.append(row)
    return sorted(selected, key=_read_probability, reverse=True)


def highlight_person(sentence: str, template: str, style: Style) -> list[Run]:
    """A sentence with its person highlighted, found by the template it was made from."""
    before, person, after = template.partition(PERSON)
    end = len(sentence) - len(after)
    fits = sentence[: len(before)].lower() == before.lower() and sentence[end:] == after and end > len(before)
    if not person or not fits:
        return [(sentence, "")]
    runs: list[Run] = [(sentence[: len(before)], ""), (sentence[len(before) : end], style), (after, "")]
    return [run for run in runs if run[0]]


def _make_example(row: Mapping[Any, Any]) -> Example:
    template, kind, gender = (_read_text(row.get(column)) for column in ("template", "occupation_type", "gender"))
    premise = highlight_person(_read_text(row["premise"]), template, "attribute")
    hypothesis = highlight_person(_read_text(row["hypothesis"]), template, GENDER_STYLES.get(gender, "strong"))
    answer, probability = _read_text(row["prediction"]), _read_probability(row)
    answer += f", p = {number(probability)}" if probability else ""
    stereotype = "no stereotype" if kind == "neutral" else f"{kind} stereotype"
    note = f"{answer} · {_read_text(row['set'])} · {_read_text(row.get('occupation'))}: {stereotype}"
    return Example([premise, [("→ ", ""), *hypothesis]], note)


def _read_probability(row: Mapping[Any, Any]) -> float:
    """The probability of the answer; zero if only the answer was recorded."""
    value = row.get(f"p_{row['prediction']}")
    return value if isinstance(value, float) and isfinite(value) else 0.0


def _read_text(value: Any) -> str:
    """The text in a cell; empty if it is missing."""
    return value if isinstance(value, str) else ""
