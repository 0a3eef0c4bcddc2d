"""One of many: `einer der Lehrer` is `eine der Lehrerinnen`."""

from __future__ import annotations

from unmask.counterfactual.german.endings import Slot
from unmask.counterfactual.german.phrases import PREPOSITIONS, Phrase
from unmask.counterfactual.german.subjects import Parsed, clear_subject

STEMS = ("ein", "kein", "jed")
MALE = {"er": "nom", "en": "acc", "em": "dat", "es": "gen"}
FEMALE_ENDS = {"nom": "e", "acc": "e", "dat": "er", "gen": "er"}
MALE_ENDS = {case: ending for ending, case in MALE.items()}


def partitive(parsed: Parsed, phrase: Phrase, slot: Slot, side: str) -> tuple[bool, dict[int, str]]:
    """The new word for `einer` before a plural that changes gender; False where its case cannot be told."""
    sentence = parsed.sentence
    if slot.gender != "p" or phrase.determiner is None:
        return True, {}
    place = phrase.start - 1
    if phrase.preposition:
        if phrase.preposition != "von":
            return True, {}
        place -= 1
    elif slot.case != "gen":
        return True, {}
    word = sentence.word(place)
    stem = next((stem for stem in STEMS if word.startswith(stem) and word[len(stem) :] in {"e", *MALE}), None)
    if stem is None:
        return True, {}
    ending = word[len(stem) :]
    if side == "male":
        return (True, {place: stem + FEMALE_ENDS[MALE[ending]]}) if ending in MALE else (True, {})
    if ending == "er":
        return True, {place: stem + "em"}
    if ending != "e":
        return True, {}
    case = _case(parsed, place, phrase)
    return (False, {}) if case is None else (True, {place: stem + MALE_ENDS[case]})


def _case(parsed: Parsed, place: int, phrase: Phrase) -> str | None:
    clause = parsed.clause_of[place]
    if PREPOSITIONS.get(parsed.sentence.word(place - 1)):
        return "acc"
    if clause.verb is None or parsed.copula(place) or parsed.sentence.word(place - 1) == "als":
        return "nom"
    if clause.start >= place - 1:
        return "nom"
    return "acc" if clear_subject(parsed, clause, phrase) else None
