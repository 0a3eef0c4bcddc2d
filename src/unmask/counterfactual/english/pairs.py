"""Both genders named at once: *he or she*, *his/her*, *men and women* become one word when all go one way."""

from __future__ import annotations

import re

from unmask.counterfactual.english.context import Place
from unmask.lexicon.gender import GenderWords

_LINK = re.compile(r"\s*(/|\s(?:and|or|&)\s)\s*(\w+)(?!\w)", re.IGNORECASE)
_AND = r"\s*(?:/|\s(?:and|or|&)\s)\s*"
_ARTICLE = r"(?:(?:the|an?)\s+)?"
_PRONOUNS = (
    frozenset(("he", "she")),
    frozenset(("him", "her")),
    frozenset(("his", "her")),
    frozenset(("his", "hers")),
    frozenset(("himself", "herself")),
)


def both_named(place: Place, words: GenderWords, target: str, to: str) -> Place | None:
    """The stretch that names both, if this word begins one and the whole becomes one word."""
    if to == "swap":
        return None
    match = _LINK.match(place.text, place.end, place.end + 40)
    if not match:
        return None
    first = words.words.get(place.word.lower())
    second = words.words.get(match[2].lower())
    if first is None or second is None or first.gender == second.gender:
        return None
    joined = match[1].strip().lower() in ("and", "&")
    if first.role == "pronoun":
        together = not joined and frozenset((first.word, second.word)) in _PRONOUNS
    else:
        together = second.becomes(to) == target and (first.plural or not joined)
    return Place(place.text, place.start, match.end()) if together else None


def beside_anyone(place: Place, words: GenderWords, target: str, to: str) -> Place | None:
    """The stretch in which a one-way word stands beside the word it becomes: *actors and actresses*.

    *The host and the hostess* are two people: `swap` leaves them too, but they do not become one word.
    """
    if target.lower() in words.words or target.lower().rstrip(".") in words.before_names:
        return None
    article = _ARTICLE if to == "swap" else ""
    left, right = place.text[max(0, place.start - 40) : place.start], place.text[place.end : place.end + 40]
    before = re.search(rf"(?<!\w){re.escape(target)}{_AND}{article}\Z", left, re.IGNORECASE)
    after = re.match(rf"{_AND}{article}{re.escape(target)}(?!\w)", right, re.IGNORECASE)
    if before is None and after is None:
        return None
    start = place.start - len(before[0]) if before else place.start
    return Place(place.text, start, place.end + (len(after[0]) if after else 0))
