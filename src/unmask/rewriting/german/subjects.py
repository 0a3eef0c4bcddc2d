"""The subject of a clause: evidence for nominative or accusative, and clauses that share the subject of another.

`Er kam nach Hause und küsste seine Frau.`: the second clause has the subject of the first.
"""

from __future__ import annotations

from typing import Literal

from unmask.lexicon.table import read_word_sets
from unmask.rewriting.german.nouns import Slot
from unmask.rewriting.german.phrases import TIMES, Phrase
from unmask.rewriting.german.sentences import BREAKS, JOINERS, Clause, Sentence, is_plural

_WORDS = read_word_sets("de")

HUMANS = _WORDS["humans"]
NOMINATIVES = frozenset({"ich", "du", "er", "wir", "man", "wer", "jemand", "niemand", "jeder", "keiner", "einer"})


def has_clear_subject(sentence: Sentence, clause: Clause, but: Phrase | None = None, before: int | None = None) -> bool:
    """Whether the clause has a word that can only be its subject, apart from a given phrase (and before a place)."""
    for index in clause.indices:
        word = sentence.lower[index]
        if sentence.word(index - 1) in ("als", "wie") and index - 1 != clause.start:
            continue
        if word in ("eine", "keine", "jede") and index == clause.start and sentence.word(index + 1) in ("der", "von"):
            return True  # `eine der Zeuginnen`
        if word in NOMINATIVES and sentence.part(index).startswith(("PPER", "PIS", "PWS")):
            return True
        if word == "ihr" and sentence.part(index) == "PPER" and sentence.verb(index).endswith("t"):
            neighbours = (sentence.word(index - 1), sentence.word(index + 1))
            if sentence.verb(index) in neighbours and sentence.verb(index) in (
                "habt",
                "seid",
                "könnt",
                "wollt",
                "müsst",
            ):
                return True
    return any(
        phrase is not but
        and is_surely_nominative(sentence, phrase)
        and not (but and _are_joined(sentence, phrase, but))
        for phrase in sentence.phrases
        if sentence.clause_of[phrase.head] is clause and (before is None or phrase.head < before)
    )


def is_surely_nominative(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether a phrase is in the nominative by its own form: `der Hund`, `ein alter Mann`."""
    if is_plural(sentence.verb(phrase.head)) and all(slot.gender != "p" for slot in phrase.slots):
        return False
    if sentence.word(phrase.start - 1) in ("nicht", "statt", "anstatt"):
        return False
    if phrase.head in sentence.decided:
        return sentence.decided[phrase.head].case == "nom" and not is_after_as(sentence, phrase)
    if not phrase.may_be_subject or phrase.after_noun or is_after_as(sentence, phrase):
        return False
    if phrase.determiner is None:
        return False
    word = sentence.lower[phrase.determiner]
    if word.startswith(("der", "dieser", "jener", "jeder", "welcher")):
        masculine = any(slot == Slot("m", "nom") for slot in phrase.slots)
        return masculine and (phrase.person or sentence.clause_of[phrase.head].start >= phrase.start - 1)
    return {slot.case for slot in phrase.slots} == {"nom"}


def is_after_as(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether a phrase stands in a comparison or a role, `als Lehrer`, and not in a clause that begins with als."""
    clause = sentence.clause_of[phrase.head]
    if clause.subordinate and clause.start >= phrase.start - 2:
        return False
    index = phrase.start - 1
    while phrase.determiner is None and sentence.part(index) in ("ADV", "ADJ(D)"):
        index -= 1
    word = sentence.word(index)
    if word in ("und", "oder", "sowie", ",") and phrase.determiner is None:
        last = sentence.phrase_before(index)
        return last is not None and last.head == index - 1 and is_after_as(sentence, last)
    return word in ("als", "wie")


def find_rivals(sentence: Sentence, clause: Clause, but: Phrase) -> list[tuple[int, bool]]:
    """The indices of what else may be the subject of a clause, and whether it is a person, a name or a pronoun."""
    plural = clause.verb is not None and is_plural(sentence.lower[clause.verb])
    candidates = []
    for phrase in sentence.phrases:
        if phrase is but or sentence.clause_of[phrase.head] is not clause or not phrase.may_be_subject:
            continue
        if phrase.after_noun or sentence.lower[phrase.head] in TIMES or is_after_as(sentence, phrase):
            continue
        if phrase.head in sentence.decided and sentence.decided[phrase.head].case != "nom":
            continue
        if sentence.part(phrase.start - 1) == "NE" and phrase.name:
            continue
        if not plural and all(slot.gender == "p" for slot in phrase.slots if slot.case == "nom"):
            continue
        if _are_joined(sentence, phrase, but):
            continue
        is_human = phrase.person or phrase.name or sentence.lower[phrase.head] in HUMANS
        candidates.append((phrase.start, is_human))
    for index in clause.indices:
        if sentence.part(index).startswith("PREL") and not plural:
            last = sentence.phrase_before(index)
            if last is not None and last.slots and all(slot.gender == "p" for slot in last.slots):
                continue  # `die Spuren, die sie fand`
        if sentence.lower[index] in ("sie", "es", "das", "dies", "was", "die") and sentence.part(index).startswith(
            ("PPER", "PDS", "PIS", "PREL", "PWS")
        ):
            candidates.append((index, sentence.lower[index] in ("sie", "es")))
    return sorted(candidates)


def _are_joined(sentence: Sentence, phrase: Phrase, other: Phrase) -> bool:
    first, second = (phrase, other) if phrase.head < other.head else (other, phrase)
    between = sentence.lower[first.head + 1 : second.start]
    links = ("und", "oder", "sowie", "noch", "bzw", "beziehungsweise", "/")
    if between[-2:] == ["bzw", "."]:
        between = between[:-1]
    return bool(between) and between[-1] in links and len(between) <= 3


QUOTES = frozenset('„“”"»«')
SPEECH = _WORDS["speech"]
ALONE = _WORDS["alone"]


def shares_subject(sentence: Sentence, clause: Clause) -> Literal["yes", "no", "doubt"]:
    """Whether a clause with its verb in front leaves out its subject, which is that of the clause before."""
    opening = []
    for index in clause.indices:
        if sentence.lower[index] not in BREAKS | JOINERS:
            break
        opening.append(sentence.lower[index])
    if clause.verb is None or clause.subordinate or clause.indices[len(opening) :][:1] != [clause.verb]:
        return "no"
    joiner = opening[-1] if opening else ""
    if not clause.start:
        return "doubt" if joiner == "und" and "?" not in sentence.lower else "no"
    before = _find_clause_before(sentence, clause)
    if before is None:
        return "no"
    if joiner in ("und", "oder", "sondern", "aber", "sowie"):
        reports_speech = QUOTES & set(opening) and sentence.lemma(clause.verb) in SPEECH
        differs = is_plural(sentence.lower[clause.verb]) != is_plural(sentence.lower[before.verb or 0])
        return "doubt" if reports_speech or (differs and not before.subordinate) else "yes"
    if joiner == "doch":
        return "doubt"
    if joiner != "," or QUOTES & set(opening) or before.subordinate or before.indices[:1] == [before.verb]:
        return "no"  # `Als er kam, lachte seine Frau.` and `„Ja“, sagte seine Frau.`
    # `Er ging heim, küsste seine Frau und schlief ein`: the last of several is joined by a word.
    goes_on = any(
        sentence.clause_of[index] is not clause
        and sentence.lower[index] in ("und", "oder")
        and sentence.clause_of[index].verb == index + 1
        for index in range(clause.verb + 1, len(sentence))
    )
    speaks = sentence.lemma(clause.verb) in SPEECH
    if goes_on:
        return "doubt" if speaks else "yes"
    return "no" if speaks else "doubt"


def _find_clause_before(sentence: Sentence, clause: Clause) -> Clause | None:
    """The clause before, if there is one with a verb: a main clause rather than a subordinate one."""
    earlier = [sentence.clause_of[index] for index in range(clause.start - 1, -1, -1)]
    candidates = [candidate for candidate in earlier if candidate.verb is not None and candidate is not clause]
    opening = [sentence.lower[index] for index in clause.indices[:2]]
    if "und" in opening and "," in opening:
        candidates = [candidate for candidate in candidates if not candidate.subordinate] or candidates
    return candidates[0] if candidates else None


def object_or_subject(sentence: Sentence, phrase: Phrase) -> Literal["nom", "acc", "doubt", ""]:
    """The case of a phrase in a clause that shares its subject; empty where the clause does not."""
    clause = sentence.clause_of[phrase.head]
    shares = shares_subject(sentence, clause)
    if shares != "no":
        if sentence.main_verb(phrase.head) in ALONE:
            return "nom"
        return "acc" if shares == "yes" else "doubt"
    return _verb_at_the_end(sentence, clause, phrase)


def is_command(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether the clause tells somebody to do something, and so has no subject: `Küss deine Frau!`"""
    clause = sentence.clause_of[phrase.head]
    if clause.verb is not None or phrase.determiner is None:
        return False
    first = [index for index in clause.indices if sentence.lower[index] not in BREAKS]
    return bool(first) and first[0] < phrase.start and sentence.part(first[0]).endswith("(IMP)")


def leaves_out_verb(sentence: Sentence, phrase: Phrase, end: int) -> bool:
    """Whether a phrase is the subject of a clause that leaves out its verb: `… und seine Frau den Roman`."""
    if sentence.word(phrase.start - 1) not in ("und", "aber"):
        return False
    after = next((other for other in sentence.phrases if other.start == end + 1), None)
    if after is None or after.determiner is None or {slot.case for slot in after.slots} != {"acc"}:
        return False
    return sentence.word(after.head + 1) in (*BREAKS, ".", "!", "?", "")


def _verb_at_the_end(sentence: Sentence, clause: Clause, phrase: Phrase) -> Literal["nom", "acc", "doubt", ""]:
    """`weil er müde war und seine Frau liebte` and `der Mann, der sang und seine Frau liebte`."""
    if clause.verb is None or clause.subordinate or sentence.word(clause.start) not in ("und", "oder"):
        return ""
    before = sentence.clause_of[clause.start - 1] if clause.start else None
    last = sentence.word(clause.verb + 1) in (*BREAKS, ".", "!", "?", "")
    if before is None or not before.subordinate or not last or clause.verb < phrase.head:
        return ""
    if sentence.main_verb(phrase.head) in ALONE:
        return "nom"
    who = next((index for index in before.indices if sentence.part(index).startswith("PREL")), None)
    if who is None:
        return "doubt"
    others = [index for index, _ in find_rivals(sentence, before, Phrase(who, who)) if index != who]
    return "doubt" if others or has_clear_subject(sentence, before) else "acc"
