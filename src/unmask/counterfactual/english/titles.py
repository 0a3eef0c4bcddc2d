"""Titles and forms of address: what *Mr.*, *Lady* or *Sir* becomes depends on what follows it."""

from __future__ import annotations

import re
from dataclasses import replace

from unmask.counterfactual.english.context import Place
from unmask.lexicon.gender import GenderWords, Term

_OFFICES = frozenset(
    "president speaker chairman chairwoman chair secretary ambassador mayor justice minister moderator vice prime "
    "attorney chancellor".split()
)
_AND_OTHER = re.compile(r"\.?\s+(?:and|&|or)\s+(Mrs|Ms|Mr)\b", re.IGNORECASE)
_OTHER_AND = re.compile(r"\b(Mrs|Ms|Mr)\.?\s+(?:and|&|or)\s+\Z", re.IGNORECASE)


def find(place: Place, words: GenderWords, to: str) -> tuple[Term, Place] | None:
    """The title at a place and how far it reaches, if one stands there."""
    word = place.word.lower()
    term = words.before_names.get(word)
    if word in ("madam", "madame") and place.name_follows and place.title_case and "mr" in words.before_names:
        if place.after[2].lower() in _OFFICES:
            return Term(word, "female", "Mr.", place.word, "", role="title"), place
        return None
    if term is None:
        return None
    if word in ("mr", "mrs", "ms"):
        return _abbreviated(place, term, to)
    if word == "sir" and not place.title_case and not place.word.isupper():
        return None
    return (term, place) if place.name_follows and (place.title_case or place.word.isupper()) else None


def _abbreviated(place: Place, term: Term, to: str) -> tuple[Term, Place] | None:
    """*Mr* and its kind, which are what they are unless letters of another meaning."""
    if place.word in ("MS", "ms", "MR") and not place.name_follows:
        return None
    if term.gender == "male" and place.name_follows and place.after[2].lower() in _OFFICES and to != "neutral":
        end = place.end + (place.text[place.end : place.end + 1] == ".")
        return replace(term, female="Madam"), Place(place.text, place.start, end)
    beside = _AND_OTHER.match(place.text, place.end)
    before = _OTHER_AND.search(place.text[max(0, place.start - 12) : place.start])
    other = beside[1] if beside else before[1] if before else ""
    if term.gender == "male" and other.lower() == "mrs":
        return replace(term, female="Mrs"), place
    return term, place
