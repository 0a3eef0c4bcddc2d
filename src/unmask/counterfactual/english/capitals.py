"""What a capital says of a gendered word: part of a name or title (*Burger King*, *Iron Man*), or the deity."""

from __future__ import annotations

import re

from unmask.counterfactual.english.context import ARTICLES, DETERMINERS, Place, is_title_case
from unmask.lexicon.gender import Term

_HONOURS = frozenset(
    "majesty majesties highness excellency honor honour lordship ladyship holiness grace eminence worship".split()
)
_BEFORE_TITLES = frozenset(
    "mr mrs ms dr prof president former vice deputy madam sir majesty then acting brother sister crown".split()
)
_BEFORE_KIN = frozenset("dear my your our his her their and or great step happy hi hello hey thanks with".split())
_INSTITUTION = re.compile(
    r"(?:['’]s?)?\s+(?:[A-Z]\w+(?:['’]s?)?\s+){0,2}(?:University|College|School|Academy|County|Street|St|Avenue|Road|Lane|"
    r"Hospital|Church|Cathedral|Chapel|Island|Islands|River|Park|Square|Bridge|Hall|Cross|Theatre|Theater|Stadium|Station|"
    r"Airport|Cup|Prize|Award|Awards|Medal|Tower|Hotel|Inn|Bay|Mountain|Peak|Creek|Beach|Ltd|Inc|Company|Records|Bible|"
    r"Counsel|Speech|Consort|Mother|Regent)\b"
)


def deity(place: Place, term: Term) -> str:
    """*He* with a capital in mid-sentence."""
    if term.gender != "male" or not place.title_case or place.starts_sentence:
        return ""
    previous, _, gap = place.before
    if gap.strip(" ,") or not previous.islower() or place.after[2].lower() in _HONOURS:
        return ""
    return "a capital in mid-sentence: the deity"


def part_of_a_name(place: Place, term: Term) -> str:
    """Capitals in mid-sentence: *Burger King* and *Iron Man* are names, *Queen Anne* and *the King* are people."""
    previous, _, gap = place.before
    follows = place.name_follows
    beside = is_title_case(previous) and gap in (" ", "-", "\xa0", " & ") and not _opens(place)
    reason = "part of a name or title"
    if term.role == "title":
        institution = _INSTITUTION.match(place.text, place.end)
        if institution or (beside and previous.lower() not in _BEFORE_TITLES) or (follows and term.plural):
            return "" if place.headline else reason
        if (
            follows
            or previous.lower() in DETERMINERS
            or (term.plural and place.starts_sentence)
            or place.after[2] in ("of", "and", "or")
        ):
            return ""
        return "" if len(place.word) > 6 and place.word.lower().endswith(("man", "woman")) else "may be a name"
    if term.role == "address":
        return ""
    if term.role == "kin":
        further = place.previous
        if term.plural and (follows or beside):  # the Brothers Grimm, Irene Papas
            return "" if place.headline else reason
        if beside and not follows and further is not None and not further.starts_sentence:  # Twisted Sister
            return "" if place.headline or previous.lower() in _BEFORE_KIN else reason
        if previous in ("The", "the", "a", "an", "A", "An") and not place.starts_sentence and not follows:
            return "" if place.after[0] or place.headline else reason
        return ""
    if place.starts_sentence:
        linked = follows and place.after[1] in (" ", "-", " & ") and place.after[2][1:].islower()
        return reason if linked and not place.headline else ""
    if term.word[0].isupper():  # Englishman
        return ""
    previous_word = place.previous
    opened = previous_word is not None and previous_word.word in ("The", "A", "An") and previous_word.starts_sentence
    alone = opened and not follows and " " not in place.word
    return "" if alone or place.headline else reason


def _opens(place: Place) -> bool:
    previous = place.previous
    return previous is not None and previous.starts_sentence and previous.word.lower() in ARTICLES
