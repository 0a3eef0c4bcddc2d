"""Singular and plural of English nouns, and whether a word is a noun.

Irregular forms are in `en/plurals.csv`; the rest follows rules. Which rule applies to an ending (*menus* is a plural,
*virus* is not; *movies* belongs to *movie*, *cities* to *city*) is decided by the tagger, which knows the words of the
British National Corpus: among the possible origins of a form, the noun that it knows best.

The parts of a phrase are joined by underscores, hyphens or spaces. Its last word is inflected, or the one before a
preposition (*brothers-in-law*). All words are in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from unmask.lexicon.tagging import CACHE_SIZE, rate_tags
from unmask.lexicon.word_lists import irregular_plurals

KNOWN = -20.0
"""The tagger rates words that it knows above this, and words that it guesses below."""
NOUN_MARGIN = 3.0
"""How far below its likeliest tag a word still counts as a noun: e^-3 is one use in twenty."""
NOUN_TAGS = ("NN0", "NN1", "NN2")
COMPOUNDING = frozenset(
    "child children foot feet tooth teeth mouse mice person people wife wives knife knives thief thieves wolf wolves"
    " leaf leaves shelf shelves half halves loaf loaves calf calves scarf scarves fish".split()
)
"""Irregular nouns that other nouns end in; not *louse* (*blouse*) or *goose* (*mongoose*)."""
_PHRASE = re.compile(
    r"(?:(?P<head>[^-_ ]+)(?P<after>[-_ ](?:in|of|at|to|for)[-_ ].+)|(?P<before>.*[-_ ])?(?P<last>[^-_ ]+))"
)
_SINGULAR_END = re.compile(r"(ss|us|is|ics)$")
_SIBILANT_END = re.compile(r"(s|x|z|ch|sh)$")
_MAN, _MEN = re.compile(r"(?<=\w)man$"), re.compile(r"(?<=\w)men$")


def singular(word: str) -> str:
    """The singular of a noun; a word that is not a plural is returned unchanged."""
    return _inflect_head(word, _singular)


def plural(word: str) -> str:
    """The plural of a noun; a plural is returned unchanged."""
    return _inflect_head(word, _plural)


def is_noun(word: str) -> bool:
    """Whether a word is a common noun in at least one use of twenty; of a phrase, its head.

    The tagger judges words that it does not know by their ending.
    """
    match = _PHRASE.fullmatch(word)
    tags = rate_tags(match["head"] or match["last"]) if match else {}
    best = max(tags.values(), default=0.0)
    return any(tags.get(tag, best - NOUN_MARGIN - 1) > best - NOUN_MARGIN for tag in NOUN_TAGS)


def _inflect_head(word: str, inflect: Callable[[str], str]) -> str:
    match = _PHRASE.fullmatch(word)
    if match is None or word in irregular_plurals() or word in _irregular_singulars():
        return inflect(word)
    if match["head"]:
        return inflect(match["head"]) + match["after"]
    return (match["before"] or "") + inflect(match["last"])


@lru_cache(CACHE_SIZE)
def _singular(word: str) -> str:
    if word in irregular_plurals():
        return word
    if word in _irregular_singulars():
        return _irregular_singulars()[word]
    if compound := _inflect_compound(word, _irregular_singulars()):
        return compound
    if _MEN.search(word) and _rate_noun(word[:-3] + "man") >= _rate_noun(word):
        return word[:-3] + "man"
    if not word.endswith("s") or not _is_plural(word):
        return word
    origins = [word[:-1]]  # the commonest rule first, because `max` returns the first of equals
    if word.endswith("es") and _SIBILANT_END.search(word[:-2]):
        origins.insert(0, word[:-2])
    if word.endswith("oes"):
        origins.insert(0, word[:-2])
    if word.endswith("ies"):
        origins.insert(0, word[:-3] + "y")
    if word.endswith("ses"):
        origins.append(word[:-2] + "is")
    return max(origins, key=_rate_noun)


@lru_cache(CACHE_SIZE)
def _plural(word: str) -> str:
    if word in irregular_plurals():
        return irregular_plurals()[word]
    if _singular(word) != word or word in _irregular_singulars():
        return word
    if compound := _inflect_compound(word, irregular_plurals()):
        return compound
    if _MAN.search(word):
        return word[:-3] + "men"
    if word.endswith("sis"):
        return word[:-2] + "es"
    if _SIBILANT_END.search(word):
        return word + "es"
    if re.search(r"([^aeiou]|qu)y$", word):
        return word[:-1] + "ies"
    return word + "s"


def _is_plural(word: str) -> bool:
    """Whether a word that ends in -s is a plural: by the tagger, or by the ending if the tagger does not know it."""
    tags = {tag: score for tag, score in rate_tags(word).items() if tag in NOUN_TAGS and score > KNOWN}
    if tags:
        return max(tags, key=lambda tag: tags[tag]) == "NN2"
    return not _SINGULAR_END.search(word) or _rate_noun(word[:-1]) > KNOWN


@lru_cache(CACHE_SIZE)
def _rate_noun(word: str) -> float:
    """The tagger's rating of a word as a singular noun; the same for all words that it does not know."""
    tags = rate_tags(word)
    return max(KNOWN, *(tags.get(tag, KNOWN) for tag in ("NN1", "NN0")))


def _inflect_compound(word: str, forms: dict[str, str]) -> str:
    """The other form of a compound whose last part is irregular (*grandchild*); empty for any other word."""
    for cut in range(2, len(word) - 2):
        end = word[cut:]
        if end in COMPOUNDING and end in forms:
            return word[:cut] + forms[end]
    return ""


@lru_cache(1)
def _irregular_singulars() -> dict[str, str]:
    return {plural: singular for singular, plural in irregular_plurals().items()}
