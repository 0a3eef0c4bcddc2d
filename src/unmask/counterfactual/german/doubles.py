"""Both genders named in one breath: `er oder sie`, `Bürgerinnen und Bürger`, `der Arzt bzw. die Ärztin`."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.counterfactual.german.agreement import relative_place
from unmask.counterfactual.german.case import end_of
from unmask.counterfactual.german.clauses import is_plural
from unmask.counterfactual.german.endings import MERGED
from unmask.counterfactual.german.nouns import Reading
from unmask.counterfactual.german.phrases import Phrase
from unmask.counterfactual.german.pronouns import ALL, HER, HIS, SIDES
from unmask.counterfactual.german.subjects import Parsed

WHY = "both genders are named"
LINKS = frozenset({"und", "oder", "sowie", "bzw", "/", "beziehungsweise"})
ONE_OF_TWO = frozenset({"oder", "bzw", "/", "beziehungsweise"})
COUNTERPARTS = {
    *(("er", "sie"), ("ihn", "sie"), ("ihm", "ihr")),
    *zip(HIS, HER, strict=True),
    *SIDES.items(),
}


@dataclass(frozen=True)
class PronounPair:
    """Two pronouns of one case, by their places, and whether they are one person's."""

    first: int
    second: int
    one: bool
    """Whether one person is meant, `er oder sie`, and not two, `er und sie`."""
    female_first: bool


@dataclass(frozen=True)
class NounPair:
    """Two phrases with the two words of one pair."""

    first: Phrase
    second: Phrase
    readings: tuple[Reading, Reading]
    link: str


def _link(parsed: Parsed, place: int) -> tuple[str, int]:
    """The word at a place if it links two words, and the place behind it."""
    word = parsed.sentence.word(place)
    if word not in LINKS:
        return "", place
    dotted = word == "bzw" and parsed.sentence.word(place + 1) == "."
    return word, place + 1 + dotted


def pronoun_pairs(parsed: Parsed) -> list[PronounPair]:
    """The pairs of pronouns in a sentence."""
    found = []
    sentence = parsed.sentence
    for place, word in enumerate(sentence.lower):
        if word not in ALL:
            continue
        link, second = _link(parsed, place + 1)
        other = sentence.word(second)
        if not link or not other or _other_clause(parsed, place, second, link):
            continue
        if (word, other) in COUNTERPARTS or (other, word) in COUNTERPARTS:
            several = "/" in (sentence.word(place - 1), sentence.word(second + 1))  # `er/sie/es`
            female_first = (other, word) in COUNTERPARTS
            found.append(PronounPair(place, second, link in ONE_OF_TWO and not several, female_first))
    return found


def _other_clause(parsed: Parsed, first: int, second: int, link: str) -> bool:
    """Whether the second pronoun belongs to another clause: `Er sah ihn und sie lachte.`"""
    if parsed.clause_of[first] is parsed.clause_of[second] or link == "/":
        return False
    # In `muss er oder sie zahlen` the infinitive looks like the verb of a clause.
    return link not in ONE_OF_TWO or parsed.clause_of[second].verb != second + 1 or not _like_infinitive(parsed, second)


def _like_infinitive(parsed: Parsed, place: int) -> bool:
    return is_plural(parsed.sentence.word(place + 1)) and not is_plural(parsed.verb(place - 2))


def noun_pairs(parsed: Parsed) -> list[NounPair]:
    """The pairs of nouns in a sentence."""
    found: list[NounPair] = []
    for first, second in zip(parsed.phrases, parsed.phrases[1:], strict=False):
        if not first.person or not second.person or end_of(parsed, first) != first.head:
            continue
        link, behind = _link(parsed, first.head + 1)
        if not link or behind != second.start or (found and found[-1].second is first):
            continue
        if parsed.clause_of[first.head] is not parsed.clause_of[second.head]:
            continue
        if readings := _counterparts(parsed, first, second):
            found.append(NounPair(first, second, readings, link))
    return found


def _counterparts(parsed: Parsed, first: Phrase, second: Phrase) -> tuple[Reading, Reading] | None:
    for one in first.readings:
        for other in second.readings:
            if one.noun is not other.noun or one.side == other.side or one.slot.case != other.slot.case:
                continue
            if (one.slot.gender == "p") != (other.slot.gender == "p"):
                continue
            fits = one.slot in first.slots and (other.slot in second.slots or _bare(second))
            if fits and _prefix(parsed, first, one) == _prefix(parsed, second, other):
                return one, other
    return None


def _prefix(parsed: Parsed, phrase: Phrase, reading: Reading) -> str:
    """What a compound has in front of the word of the list."""
    text = parsed.sentence.lower[phrase.head]
    forms = {
        form.lower() for kind in reading.adjectives for form in reading.noun.forms(reading.side, reading.slot, kind)
    }
    fitting = [form for form in forms if text.endswith(form)]
    return text[: len(text) - len(max(fitting, key=len))] if fitting else text


def _bare(phrase: Phrase) -> bool:
    return phrase.determiner is None and not phrase.adjectives


def exchanged(pair: NounPair) -> bool:
    """Whether the two nouns can just change places: no article or adjective shows the gender of either."""
    return _bare(pair.second) and (_bare(pair.first) or pair.readings[0].slot.gender == "p")


def kept(parsed: Parsed, pair: NounPair, to: str) -> tuple[int, int, int, int] | None:
    """Where the pair is and which of its words stay when only one gender is left; None where more would change.

    The places of the first and last word that are taken out, and of the first and last word that stay in their stead.
    """
    first, second = pair.first, pair.second
    stays = first if pair.readings[0].side == to else second
    if stays is first and relative_place(parsed, second) is not None:
        return None
    if parsed.sentence.word(first.start - 1) in ("einer", "eine", "keiner", "keine", "jeder", "jede"):
        return None  # `einer der Bürgerinnen und Bürger`
    if exchanged(pair):
        several = pair.readings[0].slot.gender == "p"
        return (first.head, second.head, stays.head, stays.head) if several or pair.link in ONE_OF_TWO else None
    words = [
        parsed.sentence.word(phrase.determiner) if phrase.determiner is not None else "" for phrase in (first, second)
    ]
    every = all(word.startswith("jed") for word in words)
    if not all(words) or (pair.link not in ONE_OF_TWO and not every) or (words[0] in MERGED) != (words[1] in MERGED):
        return None
    if any(word in ALL for word in words):
        return None
    return first.start, second.head, stays.start, stays.head
