"""Lists of English words: nouns, rated professions, irregular plurals, stereotypes, and pairs that define gender.

- `en/templates_words.csv`: eleven sentences that say next to nothing, six with a singular and five with a plural, as in
  the code of Bhang et al., Lipstick on a Pig Again (Apache-2.0); the idea is May et al.'s (2019).
- `en/nouns.txt`: frequent English nouns without gender in their meaning, most frequent first. The order is that of
  GloVe's vocabulary (Pennington, Socher and Manning 2014: Wikipedia 2014 and Gigaword 5); the choice is ours
  (`tools/nouns/make.py`). Professions that stereotypes tie to a gender are included: they are the point.
- `en/professions_bolukbasi.csv`: the 320 professions of Bolukbasi et al. (2016), Man is to Computer Programmer as Woman
  is to Homemaker? (MIT licence), with the mean of their raters' scores from -1 (female) to 1 (male): what the word
  means by definition, and what stereotypes make of it.
- `en/plurals.csv`: plurals that no rule gives, and nouns that have one form. Our own.
- `en/stereotypes.csv`: words that stereotypes tie to a gender though they mean none. The list is that of Kaneko and
  Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings (MIT licence), 168 words as they published it:
  professions (*nurse*, *plumber*), traits (*emotional*, *strong*), things (*lotion*, *football*). `read_word_list`
  reads a user's own list.
- `DEFINITIONAL_PAIRS`: the pairs of words that define gender in Bolukbasi et al. (2016); Liang et al. (2020) use them
  too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.table import check_unique, read_records, read_rows, read_text


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
    return read_records(WordTemplate, "en", "templates_words")


@cache
def nouns() -> tuple[str, ...]:
    """Frequent nouns without a gender of their own, most frequent first."""
    return tuple((resources.files(__package__) / "en" / "nouns.txt").read_text(encoding="utf-8").split())


@cache
def rated_professions() -> tuple[ScoredProfession, ...]:
    """The professions of Bolukbasi et al."""
    return read_records(ScoredProfession, "en", "professions_bolukbasi")


@cache
def irregular_plurals() -> dict[str, str]:
    """The plural of nouns that no rule gives; a noun with one form is its own."""
    return {row["singular"]: row["plural"] for row in read_rows(None, "en", "plurals", ("singular", "plural"))}


def stereotype_words(language: str = "en") -> list[str]:
    """The stereotype words of a language, in lower case."""
    if language != "en":
        raise UnmaskError(f"there is no list of stereotype words for {language!r}; give a file of your own")
    return [row["word"] for row in read_rows(None, language, "stereotypes", ("word",))]


def read_word_list(path: Path) -> list[str]:
    """The words of a text file, one a line, in lower case; a word may be a phrase."""
    lines = read_text(path, "a text file with a word a line").splitlines()
    words = [" ".join(line.lower().split()) for line in lines if line.strip()]
    odd = [word for word in words if not word[0].isalnum()]
    if odd:
        raise UnmaskError(f"{path}: {odd[0]!r} does not begin with a letter; give a word a line")
    if not words:
        raise UnmaskError(f"{path} has no words; give one a line")
    check_unique(words, path, "word")
    return words


DEFINITIONAL_PAIRS = (
    ("woman", "man"),
    ("girl", "boy"),
    ("she", "he"),
    ("mother", "father"),
    ("daughter", "son"),
    ("gal", "guy"),
    ("female", "male"),
    ("her", "his"),
    ("herself", "himself"),
    ("Mary", "John"),
)
"""Female first."""
GENDER_PAIRS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": DEFINITIONAL_PAIRS,
    "ja": (
        *(("女性", "男性"), ("女", "男"), ("彼女", "彼"), ("女の子", "男の子"), ("少女", "少年")),
        *(("母", "父"), ("娘", "息子"), ("姉", "兄"), ("妹", "弟"), ("妻", "夫")),
    ),
    "zh": (
        *(("女人", "男人"), ("女性", "男性"), ("女", "男"), ("她", "他"), ("女孩", "男孩")),
        *(("母亲", "父亲"), ("女儿", "儿子"), ("姐姐", "哥哥"), ("妹妹", "弟弟"), ("妻子", "丈夫")),
    ),
}
"""Pairs that differ in gender alone, female first, by language."""


def gender_pairs(language: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a language."""
    return GENDER_PAIRS[check_choice(language, GENDER_PAIRS, "language of gender pairs")]
