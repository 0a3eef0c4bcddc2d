"""Words for persons that stand for none: `Mutter Erde`, `Vater Staat`, and the young of animals."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from unmask.counterfactual.german.phrases import Phrase
from unmask.counterfactual.german.sentences import Sentence
from unmask.lexicon.table import rows_of

YOUNG = "may be young animals"
PLURALS = ("", "n", "en", "e", "s", "nen", "er")


@cache
def _phrases() -> dict[str, list[tuple[list[str], str]]]:
    """By the first word, in lower case: all words of an expression, and the reason to leave it."""
    found: dict[str, list[tuple[list[str], str]]] = {}
    for row in rows_of(None, "de", "phrases", ("phrase", "why")):
        words = row["phrase"].lower().split()
        found.setdefault(words[0], []).append((words, row["why"]))
    return found


@cache
def _animals() -> frozenset[str]:
    rows = rows_of(None, "de", "animals", ("animal",))
    return frozenset(row["animal"].lower() + ending for row in rows for ending in PLURALS)


def expressions(sentence: Sentence) -> dict[int, str]:
    """The places of the words of an expression, and the reason to leave them."""
    found = {}
    for place, first in enumerate(sentence.lower):
        for words, why in _phrases().get(first, ()):
            if sentence.lower[place : place + len(words)] == words:
                found.update(dict.fromkeys(range(place, place + len(words)), why))
    return found


def young_animals(sentence: Sentence, phrase: Phrase, before: Iterable[str]) -> bool:
    """Whether `ihre Jungen` follows a word for an animal, in its sentence or among the words before that."""
    if sentence.lower[phrase.head] not in ("junge", "jungen"):
        return False
    owner = sentence.word(phrase.determiner) if phrase.determiner is not None else ""
    if not owner.startswith(("ihr", "sein")) and phrase.number is None:
        return False
    if all(slot.gender != "p" for slot in phrase.slots):
        return False
    return any(word in _animals() for word in (*before, *sentence.lower[: phrase.start]))
