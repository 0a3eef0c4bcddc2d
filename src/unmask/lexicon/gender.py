"""Gendered words and what becomes of them: `en/gender.csv`, the phrases that are left alone, or a user's own pairs.

A row names a concept: its male, female and neutral word, singular and plural, and a direction. `both` changes either
way; `male` only from the female word to the male one (*actress* becomes *actor*, but *actor* may be anyone); `female`
only from the male word; `neutral` only in neutral rewriting (*mankind*); `none` is gendered and left, and `note` says
why. Where a word stands in several rows, the first one counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from unmask.lexicon.table import WordRow, read_rows

PRONOUNS = {"he", "she", "him", "her", "his", "hers", "himself", "herself"}
DIRECTIONS = ("both", "male", "female", "neutral", "none")


@dataclass(frozen=True, slots=True)
class Term:
    """A gendered word and its counterparts; empty where there is none."""

    word: str
    gender: str
    male: str = ""
    female: str = ""
    neutral: str = ""
    plural: bool = False
    role: str = ""
    """pronoun, kin (may stand as a name: *Mom*), title (may stand before one: *Queen*), address (*sir*), or nothing."""
    why: str = ""
    """Why it has no counterpart."""

    def becomes(self, to: str) -> str:
        """The word in the wanted gender, empty if there is none; itself if it has that gender."""
        if to == "swap":
            return {"male": self.female, "female": self.male}.get(self.gender, self.word)
        return {"male": self.male, "female": self.female, "neutral": self.neutral}[to]


@dataclass(frozen=True)
class GenderWords:
    """The terms of a set."""

    words: dict[str, Term]
    """By the word in lower case; some are phrases."""
    before_names: dict[str, Term]
    """What is meant where the word stands before a name: *Sir Ian*, *Lady Jane*, *Miss Marple*."""
    phrases: dict[str, str]
    """Expressions that hold a gendered word but name no person of that gender, and why; with capitals, only so."""


def gender_words(terms: str | Path, language: str = "en") -> GenderWords:
    """The words of a term set (pronouns, family, all), or of a CSV file with `male` and `female`."""
    own_file = terms if isinstance(terms, Path) else None
    words: dict[str, Term] = {}
    before_names: dict[str, Term] = {}
    required = ("male", "female") if own_file else ()
    for row in read_rows(own_file, language, "gender", required):
        if not own_file and terms != "all" and terms not in row["sets"].split():
            continue
        for term in _build_terms(row, strict=own_file is not None):
            title = term.role == "title" and term.word[0].isupper()
            first = (before_names if title else words).setdefault(term.word.lower(), term)
            pairs = [(each.male.lower(), each.female.lower()) for each in (first, term)]
            if own_file and term.role != "pronoun" and pairs[0] != pairs[1]:  # *her* is *him* and *his*
                raise row.error(f"{term.word!r} stands in two pairs; keep one of them")
    phrases = {row["phrase"]: row["why"] for row in read_rows(None, language, "phrases", ("phrase", "why"))}
    return GenderWords(words, before_names, phrases)


def _build_terms(row: WordRow, *, strict: bool) -> list[Term]:
    direction = row.read_choice("direction", DIRECTIONS, "both")
    terms = []
    for plural, ending in ((False, ""), (True, "_plural")):
        male, female, neutral = (row.get(f"{column}{ending}", "") for column in ("male", "female", "neutral"))
        if strict and male and male.lower() == female.lower():
            raise row.error(f"{male!r} is given as its own counterpart; give the word of the other gender")
        for word in (male, female):
            if word and not word[0].isalnum():
                raise row.error(f"{word!r} does not begin with a letter; give words")
        role = "pronoun" if {male, female} & PRONOUNS else row.get("role", "")
        neutral = "" if direction == "none" else neutral
        base = Term("", "", "", "", neutral, plural, role, row.get("note", ""))
        two_way = direction == "both"
        if male and direction != "male":
            target = female if two_way or direction == "female" else ""
            terms.append(replace(base, word=male, gender="male", male=male, female=target))
        if female and direction != "female":
            target = male if two_way or direction == "male" else ""
            terms.append(replace(base, word=female, gender="female", female=female, male=target))
    return terms
