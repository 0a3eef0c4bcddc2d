"""Singular, plural and article of an English noun, and whether a word is one; offline, for any word in lower case.

Forms that no rule gives are in the lexicon (`en/plurals.csv`); the rest is rules. Which rule an ending obeys (*menus*
is a plural, *virus* is not; *movies* is of *movie*, *cities* of *city*) is left to the tagger, HanTa (Wartena 2019),
which knows the words of the British National Corpus: of the forms that a word may come from, the noun that it knows
best.

A phrase is joined by underscores, hyphens or spaces, and its last word is inflected, or the one before a preposition
(*brothers-in-law*).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from unmask.lexicon.word_lists import irregular_plurals
from unmask.lexicon.words import indefinite_article
from unmask.rewriting.english.context import readings

KNOWN = -20.0
"""What the tagger gives a word that it knows is above; what it gives one that it guesses at is below."""
SHARE = 3.0
"""How far below its likeliest reading a word is still taken for a noun: e^-3 is one use in twenty."""
REMEMBERED = 100_000
NOUNS = ("NN0", "NN1", "NN2")
_PHRASE = re.compile(
    r"(?:(?P<of>[^-_ ]+)(?P<after>[-_ ](?:in|of|at|to|for)[-_ ].+)|(?P<before>.*[-_ ])?(?P<last>[^-_ ]+))"
)
_SINGULAR_END = re.compile(r"(ss|us|is|ics)$")
_HISSES = re.compile(r"(s|x|z|ch|sh)$")
_MAN, _MEN = re.compile(r"(?<=\w)man$"), re.compile(r"(?<=\w)men$")
COMPOUNDING = frozenset(
    "child children foot feet tooth teeth mouse mice person people wife wives knife knives thief thieves wolf wolves"
    " leaf leaves shelf shelves half halves loaf loaves calf calves scarf scarves fish".split()
)
"""Irregular nouns that other nouns end in; not *louse* (*blouse*) or *goose* (*mongoose*)."""


def singular(word: str) -> str:
    """The singular of a noun; a word that is no plural is returned as it is."""
    return _of_head(word, _singular)


def plural(word: str) -> str:
    """The plural of a noun; a word that is one already is returned as it is."""
    return _of_head(word, _plural)


def article(word: str) -> str:
    """`a` or `an`, by the sound that the word begins with."""
    return indefinite_article(word.replace("_", " "))


def published_article(word: str) -> str:
    """`a` or `an` as the code of Bhang et al. has it: by the letter, and `an` before *honor*."""
    return "an" if word.startswith(("a", "e", "i", "o", "u", "honor")) else "a"


def is_noun(word: str) -> bool:
    """Whether a word is a common noun in at least one use of twenty, as far as the tagger knows; of a phrase, its head.

    What it does not know, it judges by the ending.
    """
    match = _PHRASE.fullmatch(word)
    found = readings(match["of"] or match["last"]) if match else {}
    best = max(found.values(), default=0.0)
    return any(found.get(tag, best - SHARE - 1) > best - SHARE for tag in NOUNS)


def _of_head(word: str, inflect: Callable[[str], str]) -> str:
    tables = irregular_plurals()
    match = _PHRASE.fullmatch(word)
    if match is None or word in tables or word in _singulars():
        return inflect(word)
    if match["of"]:
        return inflect(match["of"]) + match["after"]
    return (match["before"] or "") + inflect(match["last"])


@lru_cache(REMEMBERED)
def _singular(word: str) -> str:
    if word in irregular_plurals():
        return word
    if word in _singulars():
        return _singulars()[word]
    compound = _compound(word, _singulars())
    if compound:
        return compound
    if _MEN.search(word) and _nounness(word[:-3] + "man") >= _nounness(word):
        return word[:-3] + "man"
    if not word.endswith("s") or not _is_plural(word):
        return word
    return max(_origins(word), key=_nounness)


@lru_cache(REMEMBERED)
def _plural(word: str) -> str:
    if word in irregular_plurals():
        return irregular_plurals()[word]
    if _singular(word) != word or word in _singulars():
        return word
    compound = _compound(word, irregular_plurals())
    if compound:
        return compound
    if _MAN.search(word):
        return word[:-3] + "men"
    if word.endswith("sis"):
        return word[:-2] + "es"
    if _HISSES.search(word):
        return word + "es"
    if re.search(r"([^aeiou]|qu)y$", word):
        return word[:-1] + "ies"
    return word + "s"


def _is_plural(word: str) -> bool:
    """Whether a word that ends in -s is a plural, as the tagger knows it; if it does not, by the ending."""
    found = {tag: score for tag, score in readings(word).items() if tag in NOUNS and score > KNOWN}
    if found:
        return max(found, key=lambda tag: found[tag]) == "NN2"
    return not _SINGULAR_END.search(word) or _nounness(word[:-1]) > KNOWN


def _origins(word: str) -> list[str]:
    """What a word in -s may be the plural of, the commonest rule first."""
    found = [word[:-1]]
    if word.endswith("es") and _HISSES.search(word[:-2]):
        found.insert(0, word[:-2])
    if word.endswith("oes"):
        found.insert(0, word[:-2])
    if word.endswith("ies"):
        found.insert(0, word[:-3] + "y")
    if word.endswith("ses"):
        found.append(word[:-2] + "is")
    return found


@lru_cache(REMEMBERED)
def _nounness(word: str) -> float:
    """How well the tagger knows a word as a singular noun; all that it does not know is alike."""
    found = readings(word)
    return max(KNOWN, *(found.get(tag, KNOWN) for tag in ("NN1", "NN0")))


def _compound(word: str, forms: dict[str, str]) -> str:
    """The other form of a compound whose last part is irregular (*grandchild*); empty for any other word."""
    for cut in range(2, len(word) - 2):
        end = word[cut:]
        if end in COMPOUNDING and end in forms:
            return word[:cut] + forms[end]
    return ""


@lru_cache(1)
def _singulars() -> dict[str, str]:
    return {plural: singular for singular, plural in irregular_plurals().items()}
