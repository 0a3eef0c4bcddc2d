"""Clauses that share the subject of the clause before: `Er kam nach Hause und küsste seine Frau.`"""

from __future__ import annotations

from typing import Literal

from unmask.counterfactual.german.clauses import BREAKS, JOINERS, Clause, is_plural
from unmask.counterfactual.german.phrases import Phrase
from unmask.counterfactual.german.subjects import Parsed, clear_subject, rivals

QUOTES = frozenset('„“”"»«')
SPEECH = frozenset(
    "sagen meinen erklären fragen rufen antworten erzählen berichten flüstern schreien behaupten erwidern entgegnen"
    " glauben finden denken hoffen schreiben warnen betonen murmeln lauten wissen".split()
)
# Verbs that have no object in the accusative, or none that is a person: what stands with them is the subject.
ALONE = frozenset(
    "leben arbeiten sterben wohnen kommen gehen stehen liegen sitzen schlafen lachen weinen singen tanzen laufen"
    " springen fallen reisen folgen fehlen helfen schweigen lächeln warten spielen wachsen bleiben verschwinden"
    " erscheinen ankommen hereinkommen eintreten altern erkranken verunglücken kochen lesen schreiben sprechen reden"
    " schwimmen wandern klatschen jubeln nicken gelingen gefallen gehören dienen antworten danken".split()
)


def shares_subject(parsed: Parsed, clause: Clause) -> Literal["yes", "no", "doubt"]:
    """Whether a clause with its verb in front leaves out its subject, which is that of the clause before."""
    sentence = parsed.sentence
    opening = []
    for place in clause.places:
        if sentence.lower[place] not in BREAKS and sentence.lower[place] not in JOINERS:
            break
        opening.append(sentence.lower[place])
    if clause.verb is None or clause.subordinate or clause.places[len(opening) :][:1] != [clause.verb]:
        return "no"
    joiner = opening[-1] if opening else ""
    if not clause.start:
        return "doubt" if joiner == "und" and "?" not in sentence.lower else "no"
    before = _before(parsed, clause)
    if before is None:
        return "no"
    if joiner in ("und", "oder", "sondern", "aber", "sowie"):
        told = QUOTES & set(opening) and sentence.lemma(clause.verb) in SPEECH
        differs = is_plural(sentence.lower[clause.verb]) != is_plural(sentence.lower[before.verb or 0])
        return "doubt" if told or (differs and not before.subordinate) else "yes"
    if joiner == "doch":
        return "doubt"
    if joiner != "," or QUOTES & set(opening) or before.subordinate or before.places[:1] == [before.verb]:
        return "no"  # `Als er kam, lachte seine Frau.` and `„Ja“, sagte seine Frau.`
    # `Er ging heim, küsste seine Frau und schlief ein`: the last of several is joined by a word.
    goes_on = any(
        parsed.clause_of[place] is not clause
        and sentence.lower[place] in ("und", "oder")
        and parsed.clause_of[place].verb == place + 1
        for place in range(clause.verb + 1, len(sentence))
    )
    speaks = sentence.lemma(clause.verb) in SPEECH
    if goes_on:
        return "doubt" if speaks else "yes"
    return "no" if speaks else "doubt"


def _before(parsed: Parsed, clause: Clause) -> Clause | None:
    """The clause in front of one, if there is one with a verb: a main clause rather than one that hangs on it."""
    earlier = [parsed.clause_of[place] for place in range(clause.start - 1, -1, -1)]
    found = [one for one in earlier if one.verb is not None and one is not clause]
    opening = [parsed.sentence.lower[place] for place in clause.places[:2]]
    if "und" in opening and "," in opening:
        found = [one for one in found if not one.subordinate] or found
    return found[0] if found else None


def object_or_subject(parsed: Parsed, phrase: Phrase) -> Literal["nom", "acc", "doubt", ""]:
    """The case of a phrase in a clause that shares its subject; empty where the clause does not."""
    clause = parsed.clause_of[phrase.head]
    shares = shares_subject(parsed, clause)
    if shares != "no":
        if parsed.main_verb(phrase.head) in ALONE:
            return "nom"
        return "acc" if shares == "yes" else "doubt"
    return _verb_at_the_end(parsed, clause, phrase)


def commands(parsed: Parsed, phrase: Phrase) -> bool:
    """Whether the clause tells somebody to do something, and so has no subject: `Küss deine Frau!`"""
    sentence, clause = parsed.sentence, parsed.clause_of[phrase.head]
    if clause.verb is not None or phrase.determiner is None:
        return False
    first = [place for place in clause.places if sentence.lower[place] not in BREAKS]
    return bool(first) and first[0] < phrase.start and sentence.part(first[0]).endswith("(IMP)")


def without_verb(parsed: Parsed, phrase: Phrase, end: int) -> bool:
    """Whether a phrase is the subject of a clause that leaves out its verb: `… und seine Frau den Roman`."""
    sentence = parsed.sentence
    if sentence.word(phrase.start - 1) not in ("und", "aber"):
        return False
    after = next((other for other in parsed.phrases if other.start == end + 1), None)
    if after is None or after.determiner is None or {slot.case for slot in after.slots} != {"acc"}:
        return False
    return sentence.word(after.head + 1) in (*BREAKS, ".", "!", "?", "")


def _verb_at_the_end(parsed: Parsed, clause: Clause, phrase: Phrase) -> Literal["nom", "acc", "doubt", ""]:
    """`weil er müde war und seine Frau liebte` and `der Mann, der sang und seine Frau liebte`."""
    sentence = parsed.sentence
    if clause.verb is None or clause.subordinate or sentence.word(clause.start) not in ("und", "oder"):
        return ""
    before = parsed.clause_of[clause.start - 1] if clause.start else None
    last = sentence.word(clause.verb + 1) in (*BREAKS, ".", "!", "?", "")
    if before is None or not before.subordinate or not last or clause.verb < phrase.head:
        return ""
    if parsed.main_verb(phrase.head) in ALONE:
        return "nom"
    who = next((place for place in before.places if sentence.part(place).startswith("PREL")), None)
    if who is None:
        return "doubt"
    others = [place for place, _ in rivals(parsed, before, Phrase(who, who)) if place != who]
    return "doubt" if others or clear_subject(parsed, before) else "acc"
