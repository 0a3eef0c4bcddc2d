"""The case and number of a noun phrase, where its own form leaves it open, and `einer der Lehrer`, one of many."""

from __future__ import annotations

import re
from collections.abc import Callable

from unmask.lexicon.table import read_word_sets
from unmask.rewriting.german.nouns import Slot
from unmask.rewriting.german.phrases import GREETINGS, PREPOSITIONS, Phrase
from unmask.rewriting.german.sentences import Sentence, is_plural
from unmask.rewriting.german.subjects import (
    find_rivals,
    has_clear_subject,
    is_after_as,
    is_command,
    leaves_out_verb,
    object_or_subject,
)

_WORDS = read_word_sets("de")

DATIVE_VERBS = _WORDS["dative_verbs"]
JOINERS = frozenset({"und", "oder", "sowie", "bzw", "noch", ",", "/"})
PRONOUN_CASES = {"er": "nom", "ihn": "acc", "ihm": "dat", "ich": "nom", "mich": "acc", "mir": "dat", "sie": "nom"}
NUMERAL = re.compile("[IVX]+")
OF = frozenset({"von", "zu", "van", "de", "di", "del", "vom"})
Opinion = set[Slot] | None


def narrow_slots(
    sentence: Sentence, phrase: Phrase, slots: set[Slot], settled: Callable[[set[Slot]], bool]
) -> set[Slot]:
    """Drop the slots that the sentence speaks against, until what is left is settled or nothing more can be said."""
    for opinion in (_by_neighbour, _by_number, _by_genitive, _by_subject):
        if settled(slots):
            break
        slots = opinion(sentence, phrase, slots) or slots
    return slots


def phrase_end(sentence: Sentence, phrase: Phrase) -> int:
    """The last index of a phrase with the name behind its noun: `der Lehrer Hans Meier`."""
    index = phrase.head
    while index + 1 < len(sentence):
        word = sentence.tokens[index + 1].text
        if sentence.part(index + 1) == "NE" and word != "bzw":
            index += 1
        elif index + 2 < len(sentence) and (
            (NUMERAL.fullmatch(word) and sentence.tokens[index + 2].text == ".")
            or (word in OF and sentence.tokens[index + 2].text[0].isupper())
        ):
            index += 2
        elif word == "(" and ")" in sentence.lower[index + 2 : index + 20]:
            index = sentence.lower.index(")", index + 2)
        else:
            break
    return index


def _by_neighbour(sentence: Sentence, phrase: Phrase, slots: set[Slot]) -> Opinion:
    """A phrase in a list or an apposition is in the case of the one before it."""
    before = phrase.start - 1
    contrast = sentence.word(before) in ("nicht", "sondern") and sentence.word(before - 1) == ","
    before -= sentence.word(before) == "." and sentence.word(before - 1) == "bzw"
    before -= contrast  # `die Ärztin, nicht der Pfleger, …`
    if before < 1 or phrase.preposition or sentence.word(before) not in JOINERS:
        return None
    comma = sentence.word(before) == ","
    last = _phrase_before(sentence, before)
    opened = last is not None and set(sentence.lower[last.head + 1 : before]) == {"("}
    if last is not None and (phrase_end(sentence, last) == before - 1 or opened):
        if (
            last.after_noun
            and not phrase.after_noun
            and phrase.determiner is not None
            and last.head not in sentence.decided
        ):
            return None
        slot = sentence.decided.get(last.head)
        cases = {slot.case} if slot else {other.case for other in last.slots}
        bare = phrase.determiner is None
        list_goes_on = sentence.word(phrase_end(sentence, phrase) + 1) in ("und", "oder", "sowie")
        if comma and not (bare or list_goes_on or _ends_clause(sentence, phrase)):
            return None
        # The word before a phrase may open another clause: `… und die Frau lachte`.
        if not comma and not bare and sentence.clause_of[phrase.start - 2] is not sentence.clause_of[phrase.head]:
            return None
        fitting = {other for other in slots if other.case in cases}
        if bare and not phrase.adjectives and slot is not None:
            is_plural_slot = slot.gender == "p"
            fitting = {other for other in fitting if (other.gender == "p") == is_plural_slot} or fitting
        return fitting
    pronoun = PRONOUN_CASES.get(sentence.word(before - 1))
    if comma and pronoun and _ends_clause(sentence, phrase):
        return {other for other in slots if other.case == pronoun}
    return None


def _phrase_before(sentence: Sentence, index: int) -> Phrase | None:
    """The phrase before an index; the noun that a name belongs to rather than the name."""
    earlier = [other for other in sentence.phrases if other.head < index]
    for other in reversed(earlier):
        if other.person and phrase_end(sentence, other) == index - 1:
            return other
    return earlier[-1] if earlier else None


def shares_article(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether a bare noun is the second of two behind one article, and the first is no person of the list."""
    before = phrase.start - 1
    if phrase.determiner is not None or sentence.word(before) not in ("und", "sowie", "oder", ","):
        return False
    last = sentence.phrase_before(before)
    if last is None or last.head != before - 1 or last.name or last.head in sentence.decided:
        return False
    return last.determiner is not None or bool(last.adjectives) or shares_article(sentence, last)


def _ends_clause(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether no verb comes before the next comma: what follows the noun still belongs to it."""
    index = phrase_end(sentence, phrase) + 1
    while sentence.word(index) not in (",", ".", "", "!", "?", ";", ")", "("):
        if sentence.part(index).startswith("V"):
            return False
        index += 1
    return True


def _by_number(sentence: Sentence, phrase: Phrase, slots: set[Slot]) -> Opinion:
    """Singular or plural, where noun and article are alike in both: `der Lehrer`, `Lehrer`, `den Studenten`."""
    plural = {slot for slot in slots if slot.gender == "p"}
    single = slots - plural
    if not plural or not single:
        return None
    if phrase.determiner is None and not phrase.adjectives:
        titled = any(other.start == phrase.head + 1 and other.person for other in sentence.phrases)
        named = sentence.word(phrase.start - 1) == "," and sentence.part(phrase.start - 2) == "NE"
        if sentence.part(phrase.head + 1) == "NE" or titled or named:
            return single
        verb = sentence.verb(phrase.head)
        if is_after_as(sentence, phrase) or (sentence.has_copula(phrase.head) and not phrase.preposition and verb):
            if not verb:
                return None
            return plural if is_plural(verb) else {slot for slot in single if slot.case == "nom"} or single
        if (
            verb
            and not is_plural(verb)
            and phrase.start == sentence.clause_of[phrase.head].start
            and not phrase.preposition
        ):
            return set()
        return plural if phrase.preposition or verb else None
    word = sentence.lower[phrase.determiner] if phrase.determiner is not None else ""
    nominative = {slot for slot in single if slot.case == "nom"}
    if nominative and {slot.case for slot in plural} == {"gen"}:
        if sentence.word(phrase.start - 1) == "%":
            return plural
        if not phrase.after_noun:
            return nominative
        rivals = [
            other
            for other in sentence.phrases
            if other is not phrase
            and sentence.clause_of[other.head] is sentence.clause_of[phrase.head]
            and other.may_be_subject
            and other.head < phrase.head
        ]
        return plural if rivals or has_clear_subject(sentence, sentence.clause_of[phrase.head], phrase) else None
    if word.endswith("en") and {slot.case for slot in single} == {"acc"}:
        if PREPOSITIONS.get(phrase.preposition):
            return None
        return None if sentence.main_verb(phrase.head) in DATIVE_VERBS else single
    return None


def _by_genitive(sentence: Sentence, phrase: Phrase, slots: set[Slot]) -> Opinion:
    """`der Lehrerin`: a genitive after a noun or its prepositions, else a dative."""
    cases = {slot.case for slot in slots}
    if not {"dat", "gen"} <= cases:
        return None
    if "gen" in PREPOSITIONS.get(phrase.preposition, ()):
        return {slot for slot in slots if slot.case == "gen"}
    if sentence.word(phrase.start - 1) in ("der", "die", "das", "dem", "den", "des"):
        return {slot for slot in slots if slot.case == "gen"}  # `mit dem seiner Frau`
    if phrase.after_noun:
        last = sentence.phrase_before(phrase.head)
        verb = sentence.main_verb(phrase.head)
        if last and verb in DATIVE_VERBS and (last.name or (last.person and not last.preposition)):
            return None
        return {slot for slot in slots if slot.case == "gen"}
    if phrase.determiner is None and not phrase.adjectives:
        return None
    return {slot for slot in slots if slot.case != "gen"}


def _by_subject(sentence: Sentence, phrase: Phrase, slots: set[Slot]) -> Opinion:
    """`die Lehrerin`: subject or object, by the verb and by what else can be the subject."""
    nominative = {slot for slot in slots if slot.case == "nom"}
    accusative = {slot for slot in slots if slot.case == "acc"}
    if not nominative or not accusative or phrase.preposition:
        return None
    clause = sentence.clause_of[phrase.head]
    if is_after_as(sentence, phrase):
        return nominative if sentence.has_copula(phrase.head) or phrase.determiner is None else None
    greeting = any(sentence.lower[index].startswith(GREETINGS) for index in phrase.adjectives)
    if sentence.word(phrase.start - 1) in ("darunter", "nämlich", "etwa", "insbesondere"):
        return None
    if is_command(sentence, phrase) and not has_clear_subject(sentence, clause, phrase):
        return accusative
    if clause.verb is None and phrase.start == 1 and phrase.determiner is not None and sentence.lower[-1] == "!":
        return None  # `Küss deine Frau!`, where a capital makes the verb look like a noun
    if leaves_out_verb(sentence, phrase, phrase_end(sentence, phrase)):
        return nominative
    if clause.verb is None or sentence.has_copula(phrase.head) or (greeting and phrase.determiner is None):
        return nominative
    if has_clear_subject(sentence, clause, phrase):
        return accusative
    if case := object_or_subject(sentence, phrase):
        return nominative if case == "nom" else accusative if case == "acc" else None
    after = sentence.word(phrase_end(sentence, phrase) + 1)
    joined = sentence.word(phrase.start - 1) in JOINERS or after in ("und", "sowie")
    if is_plural(sentence.lower[clause.verb]) and not joined and all(slot.gender != "p" for slot in slots):
        return accusative
    # The subject comes first, where the one in front is a person; a thing in front says nothing.
    earlier = [is_person for index, is_person in find_rivals(sentence, clause, phrase) if index < phrase.start]
    if not earlier:
        return nominative
    return accusative if all(earlier) else None


MALE = {"er": "nom", "en": "acc", "em": "dat", "es": "gen"}
MALE_ENDS = {case: ending for ending, case in MALE.items()}
FEMALE_ENDS = {"nom": "e", "acc": "e", "dat": "er", "gen": "er"}
PARTITIVE = re.compile(f"(ein|kein|jed)({'|'.join(MALE)}|e)")


def turn_partitive(sentence: Sentence, phrase: Phrase, slot: Slot, side: str) -> dict[int, str] | None:
    """The new word for `einer` before a plural that changes gender; None where its case cannot be told."""
    if slot.gender != "p" or phrase.determiner is None or (not phrase.preposition and slot.case != "gen"):
        return {}
    if phrase.preposition not in ("", "von"):
        return {}
    index = phrase.start - 1 - (phrase.preposition == "von")
    match = PARTITIVE.fullmatch(sentence.word(index))
    if match is None:
        return {}
    stem, ending = match.groups()
    if side == "male":
        return {index: stem + FEMALE_ENDS[MALE[ending]]} if ending in MALE else {}
    if ending != "e":
        return {index: stem + "em"} if ending == "er" else {}
    clause = sentence.clause_of[index]
    if PREPOSITIONS.get(sentence.word(index - 1)):
        return {index: stem + MALE_ENDS["acc"]}
    nominative = clause.verb is None or sentence.has_copula(index) or sentence.word(index - 1) == "als"
    if nominative or clause.start >= index - 1:
        return {index: stem + MALE_ENDS["nom"]}
    return {index: stem + MALE_ENDS["acc"]} if has_clear_subject(sentence, clause, phrase) else None
