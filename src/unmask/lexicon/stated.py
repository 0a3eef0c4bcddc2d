"""Sentences that state a gender, with a place for the pronoun that must agree: `en/stated.csv`. They are our own."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.lexicon.table import rows_of


@dataclass(frozen=True)
class Agreement:
    """A template with the places `{person}` and `{pronoun}`, and the pronoun of each gender."""

    template: str
    pronouns: dict[str, str]


def agreements(language: str = "en") -> list[Agreement]:
    """The templates of a language."""
    rows = rows_of(None, language, "stated", ("template", "female", "male"))
    return [Agreement(row["template"], {gender: row[gender] for gender in ("female", "male")}) for row in rows]
