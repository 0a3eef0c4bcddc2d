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
_AND = r"(?:\s+(?:and|&|or)\s+|/)"
_AND_OTHER = re.compile(rf"\.?{_AND}(Mrs|Ms|Mr)\b", re.IGNORECASE)
_OTHER_AND = re.compile(rf"\b(Mrs|Ms|Mr)\.?{_AND}\Z", re.IGNORECASE)
_LORD_AND = re.compile(rf"\blords?{_AND}\Z", re.IGNORECASE)
_AND_LORD = re.compile(rf"{_AND}lords?\b", re.IGNORECASE)


def find(place: Place, term: Term, words: GenderWords, to: str) -> tuple[Term, Place] | str | None:
    """The title at a place and how far it reaches, or why the word is none and must be left; None if it is a word."""
    word = place.word.lower()
    title = words.before_names.get(word)
    before_a_name = place.name_follows and (place.title_case or place.word.isupper())
    if word in ("madam", "madame") and before_a_name:
        if place.after[2].lower() in _OFFICES and to != "neutral":
            return Term(word, "female", "Mr.", place.word, "", role="title"), place
        return "a title with no counterpart"
    if word in ("lady", "ladies"):
        lord = _as_lord(place, term)
        if lord is not None:
            return lord, place
    if title is None:
        return None
    if word in ("mr", "mrs", "ms"):
        return _abbreviated(place, title, to)
    if before_a_name and not (word == "lady" and place.word.isupper()):  # THE LADY LEFT: no name
        return title, place
    return None if word in words.words else "stands before no name"


def _as_lord(place: Place, term: Term) -> Term | None:
    """*My lady* and *lords and ladies*, which go with *lord* and not with *gentleman*."""
    near = place.text[max(0, place.start - 12) : place.start], place.text[place.end : place.end + 12]
    addressed = place.before[0].lower() == "my" and not term.plural and place.after[1][:1] in (",", ".", "!", "?", '"')
    if addressed or _LORD_AND.search(near[0]) or _AND_LORD.match(near[1]):
        return replace(term, male="lords" if term.plural else "lord", neutral="nobles" if term.plural else "noble")
    return None


def _abbreviated(place: Place, term: Term, to: str) -> tuple[Term, Place] | str:
    """*Mr* and its kind, which are what they are unless letters of another meaning."""
    if place.word == "ms" or (place.word in ("MS", "MR", "mr") and not place.name_follows):
        return "stands before no name"
    if term.gender == "male" and place.name_follows and place.after[2].lower() in _OFFICES and to != "neutral":
        end = place.end + (place.text[place.end : place.end + 1] == ".")
        return replace(term, female="Madam"), Place(place.text, place.start, end)
    beside = _AND_OTHER.match(place.text, place.end)
    before = _OTHER_AND.search(place.text[max(0, place.start - 12) : place.start])
    other = beside[1] if beside else before[1] if before else ""
    if term.gender == "male" and other.lower() == "mrs":
        return replace(term, female="Mrs"), place
    return term, place
