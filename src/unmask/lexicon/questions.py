"""Plain questions of inference whose answers everybody knows: `<language>/inference_questions.csv`, our own.

As many of each answer; the same premise stands with all three, so that no answer can be told from one sentence alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.lexicon.table import rows_of


@dataclass(frozen=True)
class Question:
    """A premise, a hypothesis, and what the one says of the other."""

    premise: str
    hypothesis: str
    label: str


def questions(language: str = "en") -> tuple[Question, ...]:
    """The questions of a language."""
    rows = rows_of(None, language, "inference_questions", ("premise", "hypothesis", "label"))
    return tuple(Question(row["premise"], row["hypothesis"], row["label"]) for row in rows)
