"""Words and sentences for the geometry of a model's vectors.

- `en/templates_words.csv`: eleven sentences that say next to nothing, six with a singular and five with a plural, as in
  the code of Bhang et al., Lipstick on a Pig Again (Apache-2.0); the idea is May et al.'s (2019).
- `en/nouns.txt`: frequent English nouns that mean no gender, most frequent first. The order is that of GloVe's
  vocabulary (Pennington, Socher and Manning 2014: Wikipedia 2014 and Gigaword 5); the choice is ours
  (`tools/nouns/make.py`). Professions that stereotypes tie to a gender are in it: they are the point.
- `en/professions_bolukbasi.csv`: the 320 professions of Bolukbasi et al. (2016), Man is to Computer Programmer as Woman
  is to Homemaker? (MIT licence), with the mean of their raters' scores from -1 (female) to 1 (male): what the word
  means by definition, and what stereotypes make of it.
- `en/plurals.csv`: plurals that no rule gives, and nouns that have one form. Our own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from unmask.lexicon.table import rows_of


@dataclass(frozen=True)
class WordTemplate:
    """A sentence with the place `{word}` and, where its article is indefinite, `{a}`."""

    template: str
    number: str
    """singular or plural."""


@dataclass(frozen=True)
class ScoredProfession:
    """A profession, and how male (1) or female (-1) it was rated."""

    word: str
    """Joined by underscores where it is a phrase."""
    definitional: float
    stereotypical: float


@cache
def word_templates() -> tuple[WordTemplate, ...]:
    """The sentences that a word is put into."""
    rows = rows_of(None, "en", "templates_words", ("template", "number"))
    return tuple(WordTemplate(row["template"], row["number"]) for row in rows)


@cache
def nouns() -> tuple[str, ...]:
    """Frequent nouns without a gender of their own, most frequent first."""
    return tuple((resources.files(__package__) / "en" / "nouns.txt").read_text(encoding="utf-8").split())


@cache
def professions() -> tuple[ScoredProfession, ...]:
    """The professions of Bolukbasi et al."""
    rows = rows_of(None, "en", "professions_bolukbasi", ("profession", "definitional", "stereotypical"))
    return tuple(
        ScoredProfession(row["profession"], float(row["definitional"]), float(row["stereotypical"])) for row in rows
    )


@cache
def irregular_plurals() -> dict[str, str]:
    """The plural of nouns that no rule gives; a noun with one form is its own."""
    return {row["singular"]: row["plural"] for row in rows_of(None, "en", "plurals", ("singular", "plural"))}
