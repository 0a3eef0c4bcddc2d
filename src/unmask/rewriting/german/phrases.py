"""Noun phrases: preposition, determiner, adjectives and noun, and the genders, numbers and cases in which they agree.

Not every noun of the list stands for a person: surnames, adjectives, countries, half of a double form, expressions such
as `Mutter Erde` and `Vater Staat`, and the young of animals do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from unmask.lexicon.table import read_rows, read_word_sets
from unmask.rewriting.german.nouns import (
    DETERMINERS,
    MERGED,
    SLOTS,
    Determiner,
    Noun,
    NounReading,
    Nouns,
    Slot,
    adjective_slots,
    decline_noun,
)

if TYPE_CHECKING:
    from unmask.rewriting.german.sentences import Sentence

_WORDS = read_word_sets("de")

YEAR = re.compile(r"1\d{3}|20\d\d")
TITLE = Noun("Herr", "Frau", ("Herrn",), ("Herren",), ("Frauen",), "weak")
MISS = Noun("Herr", "Fräulein", ("Herrn",), ("Herren",), ("Fräulein",), "weak", direction="male")
TITLES = frozenset({"herr", "herrn", "frau", "fräulein"})
SURNAMES = _WORDS["surnames"]
LANDS = _WORDS["lands"]
GREETINGS = ("geehrte", "liebe", "verehrte", "werte", "gnädige")
OFFICES = tuple(_WORDS["offices"])


def person_readings(sentence: Sentence, index: int, nouns: Nouns) -> list[NounReading]:
    """The readings of a noun, unless it is a surname, an adjective, or half of a form for both genders."""
    token = sentence.tokens[index]
    if token.text.lower() == "fräulein" and _is_title(sentence, index):
        return [reading for reading, _ in decline_noun(MISS) if reading.side == "female" and reading.slot.case != "gen"]
    readings = nouns.readings(token.text)
    if not readings:
        return []
    if sentence.word(index - 1) == "." and sentence.word(index - 2) in ("dr", "prof", "st", "hr", "fr"):
        return []
    after = sentence.tokens[index + 1] if index + 1 < len(sentence) else None
    if after is not None and after.start == token.end and after.text in tuple(":*_/-’'"):
        beyond = sentence.word(index + 2)
        if after.text in "-’'" or beyond.startswith("in") or beyond in ("-", "r", "frau"):
            return []
    before_noun = _is_noun_or_attribute(sentence, index + 1)
    if before_noun and all(reading.noun.declension.startswith("adj") for reading in readings):
        return []
    if _is_title(sentence, index - 1) and not token.text.lower().endswith(OFFICES):
        return []
    if _is_title(sentence, index - 1) and sentence.word(index - 1) == "frau" and readings[0].side == "male":
        return []  # `Frau Professor` is a title for both
    if sentence.part(index - 1) == "NE" and index and readings[0].slot == Slot("m", "nom"):
        return []
    if token.text.lower() in TITLES and _is_title(sentence, index):
        return [reading for reading, form in decline_noun(TITLE) if form.lower() == sentence.lower[index]]
    if "&" in (sentence.word(index - 1), sentence.word(index + 1)):
        return []
    if readings[0].noun.male == "Junge" and before_noun:
        return []
    if sentence.lower[index] == "erbe" and sentence.word(index - 1) not in ("der", "dieser", "jeder"):
        return []  # das Erbe is what is left behind
    if readings[0].noun.male == "Schweizer" and sentence.part(index).startswith("ADJ"):
        return []
    if sentence.lower[index].rpartition("-")[2] in LANDS and not _is_counted(sentence, index):
        return []
    if readings[0].noun.male in ("Junge", "Deutscher") and index == 0 and sentence.part(0).startswith("ADJ"):
        return []
    return readings


def _is_title(sentence: Sentence, index: int) -> bool:
    """Whether Herr or Frau stands here as the title of the name behind it."""
    if index < 0 or sentence.lower[index] not in TITLES or index + 1 >= len(sentence):
        return False
    after = sentence.tokens[index + 1].text
    if after == "und" and sentence.word(index + 2) in TITLES:
        return _is_title(sentence, index + 2)
    before, part = sentence.word(index - 1), sentence.part(index - 1)
    if before in DETERMINERS or before in ("dessen", "deren") or before in MERGED or part.startswith("N"):
        return False
    if part == "ADJ(A)" and not before.startswith(GREETINGS):
        return False
    return after[0].isupper() and after[0].isalpha()


def _is_counted(sentence: Sentence, index: int) -> bool:
    """Whether an article or a number says that the people of a country are meant and not the country."""
    index -= 1
    while sentence.part(index) == "ADJ(A)":
        index -= 1
    return sentence.word(index) in ("die", "den", "der", "viele", "alle", "einige") or (
        sentence.part(index) == "CARD" and not YEAR.fullmatch(sentence.word(index))
    )


def _is_noun_or_attribute(sentence: Sentence, index: int) -> bool:
    is_noun = sentence.part(index).startswith("NN") or sentence.part(index) == "ADJ(A)"
    return is_noun and sentence.tokens[index].text[0].isupper()


DATIVE, ACCUSATIVE, GENITIVE = frozenset({"dat"}), frozenset({"acc"}), frozenset({"gen"})
CASES_AFTER = {"dative": DATIVE, "accusative": ACCUSATIVE, "two_way": DATIVE | ACCUSATIVE, "genitive": GENITIVE}
PREPOSITIONS = {word: cases for name, cases in CASES_AFTER.items() for word in _WORDS[f"{name}_prepositions"]}
TIMES = _WORDS["times"]
FEMININE_ENDS = re.compile(r"(?:ung|heit|keit|schaft|tion|sion|tät|enz|anz|ik|ie|ei|ur)$")
PLURAL_ENDS = re.compile(r"(?:ungen|heiten|keiten|schaften|ionen|täten|enzen|innen)$")
QUOTES = frozenset('„“”"»«‚‘')
INSIDE = ("ADV", "ADJ(D)", "CARD", "PTKNEG", "PTKA", "PIAT", "PIS")


@dataclass
class Phrase:
    """A noun with what agrees with it, by the index of the tokens in their sentence."""

    start: int
    head: int
    determiner: int | None = None
    adjectives: tuple[int, ...] = ()
    preposition: str = ""
    kind: str = "strong"
    """The adjective endings that the determiner asks for."""
    slots: set[Slot] = field(default_factory=set)
    readings: list[NounReading] = field(default_factory=list)
    name: bool = False
    after_noun: bool = False
    """Whether it follows another noun directly, as a genitive does."""
    number: int | None = None
    """The index of a cardinal number or a word such as `viele` before the noun."""

    blocked: bool = False
    """Whether it is a person's noun whose article stands too far off: `die von ihm gewählte Präsidentin`."""

    @property
    def person(self) -> bool:
        """Whether the noun is in the list of persons."""
        return bool(self.readings)

    @property
    def is_bare(self) -> bool:
        """Whether the noun stands without an article or adjective."""
        return self.determiner is None and not self.adjectives

    @property
    def may_be_subject(self) -> bool:
        """Whether it can be in the nominative."""
        return not self.preposition and any(slot.case == "nom" for slot in self.slots)


def find_phrases(sentence: Sentence, nouns: Nouns) -> list[Phrase]:
    """All noun phrases of a sentence, in order."""
    phrases: list[Phrase] = []
    for index in range(len(sentence)):
        text = sentence.tokens[index].text
        if not text[0].isupper() or not text[0].isalpha():
            continue
        if _is_cut_compound(sentence, index):
            continue
        readings = person_readings(sentence, index, nouns)
        if not readings and text.endswith("er") and index and _is_residents_adjective(sentence, index, nouns):
            continue
        part = sentence.part(index)
        if readings or part in ("NE", "FM") or part.startswith("NN"):
            phrases.append(_build_phrase(sentence, index, readings, phrases[-1] if phrases else None))
    return phrases


def _is_cut_compound(sentence: Sentence, index: int) -> bool:
    """Whether a word is the first half of two compounds: `Wirtschafts- und Finanzminister`."""
    after = sentence.tokens[index + 1] if index + 1 < len(sentence) else None
    return after is not None and after.text == "-" and after.start == sentence.tokens[index].end


def _is_residents_adjective(sentence: Sentence, index: int, nouns: Nouns) -> bool:
    """Whether a word in -er is an adjective without ending, made from a town: `vom Tessiner Architekten`."""
    if index + 1 >= len(sentence) or not sentence.tokens[index + 1].text[0].isupper():
        return False
    before = sentence.word(index - 1)
    after = before in DETERMINERS or before in MERGED or before in PREPOSITIONS or sentence.part(index - 1) == "ADJ(A)"
    return after and bool(person_readings(sentence, index + 1, nouns))


def _build_phrase(sentence: Sentence, head: int, readings: list[NounReading], last: Phrase | None) -> Phrase:
    floor = last.head if last else -1
    adjectives: list[int] = []
    index = head - 1
    number = None
    start = head
    while index > floor:
        word, part = sentence.lower[index], sentence.part(index)
        if word in ("und", "oder", "sowie") and index > floor + 2 and _is_cut_compound(sentence, index - 2):
            index -= 3
            continue
        if word in (",", "und", "oder", "aber") and adjectives and sentence.part(index - 1) == "ADJ(A)":
            index -= 1
            continue  # `ein alter, kranker und müder Mann`
        if word == "am" and sentence.word(index + 1).endswith("sten") and index + 1 < head:
            index -= 1
            continue  # `der am häufigsten gefoulte Spieler`
        if word in DETERMINERS and not part.startswith(("V", "PRF")):
            break
        if word in PREPOSITIONS or word in MERGED or word in ("als", "wie", "anderem", "allem"):
            break
        text = sentence.tokens[index].text
        inflected = text[0].islower() and len(text) > 3 and text.endswith(("e", "er", "es", "en", "em"))
        if part == "ADJ(A)" or (part in ("PIAT", "PIS", "VV(PP)") and inflected):
            adjectives.insert(0, index)
            start = index
            if part == "PIAT":
                number = index
        elif (part in INSIDE and word.isalpha()) or (word.endswith("er") and part.startswith("N")):
            number = index if part == "CARD" else number
        elif part == "CARD" and not YEAR.fullmatch(word):
            number = index
        else:
            break
        index -= 1
    phrase = Phrase(start, head, adjectives=tuple(adjectives), readings=readings, number=number)
    word = sentence.word(index)
    if index > floor and word in DETERMINERS and not _is_relative_pronoun(sentence, index, head):
        phrase.determiner, phrase.start = index, index
        phrase.kind = DETERMINERS[word][0][0].adjectives
        index -= 1
    elif index > floor and word in MERGED:
        phrase.determiner, phrase.start, phrase.kind = index, index, "weak"
        phrase.preposition = MERGED[word][0]
    if not phrase.preposition and index > floor and sentence.word(index) in PREPOSITIONS:
        phrase.preposition = sentence.word(index)
    elif phrase.determiner is None and readings and adjectives and _has_longer_attribute(sentence, index):
        readings = phrase.readings = []
        phrase.blocked = True
    phrase.name = not readings and (sentence.part(head) in ("NE", "FM"))
    phrase.after_noun = last is not None and last.head == phrase.start - 1 and not phrase.preposition
    phrase.slots = _find_slots(sentence, phrase)
    return phrase


def _has_longer_attribute(sentence: Sentence, index: int) -> bool:
    """Whether the words before adjectives without an article belong to a longer attribute of the noun."""
    before = sentence.word(index - 1)
    if sentence.part(index) == "NE" and sentence.word(index).endswith(("s", "x", "z")) and before not in PREPOSITIONS:
        return False  # `Leopolds ältere Schwester`
    if sentence.word(index) in ("er", "sie", "ich", "du", "wir", "es"):
        return False  # `wurde er neuer Trainer`
    return sentence.part(index).startswith(("NN", "NE", "PPER", "PRF"))


def _is_relative_pronoun(sentence: Sentence, index: int, head: int) -> bool:
    """Whether what looks like an article is a relative pronoun: `der Mann, der Lehrer ist`."""
    if sentence.word(index) not in ("der", "die", "das", "den", "dem"):
        return False
    if sentence.word(index - 1) != ",":
        return False
    verb = sentence.part(head + 1).endswith("(FIN)")
    return verb and sentence.word(head + 2) in (",", ".", ";", "!", "?", "und", "")


def _find_slots(sentence: Sentence, phrase: Phrase) -> set[Slot]:
    """What the phrase may agree with, by its determiner, its adjectives, its preposition and its noun."""
    word = sentence.word(phrase.determiner) if phrase.determiner is not None else ""
    if word in MERGED:
        article = MERGED[word][1]
        slots = {slot for _, slot in DETERMINERS[article] if slot.case in ("dat", "acc") and slot.gender != "p"}
    elif word:
        slots = {slot for _, slot in DETERMINERS[word]}
    else:
        slots = set(SLOTS)
    for index in phrase.adjectives:
        if not is_invariable(sentence, index):
            slots &= adjective_slots(sentence.lower[index], phrase.kind)
    if cases := PREPOSITIONS.get(phrase.preposition):
        # Everyday German puts the dative after the prepositions of the genitive too.
        allowed = cases | DATIVE if cases == GENITIVE else cases
        slots = {slot for slot in slots if slot.case in allowed}
    if phrase.number is not None and sentence.word(phrase.number) not in ("ein", "eine", "1"):
        slots = {slot for slot in slots if slot.gender == "p"} or slots
    if phrase.readings:
        if phrase.determiner is None and not phrase.adjectives:
            slots = {slot for slot in slots if slot.case != "gen"}  # a genitive shows in its article
            # A form that the noun has in the nominative too may be singular; Herrn is, as a title.
            single = [reading for reading in phrase.readings if reading.slot.gender != "p"]
            only_oblique = single and all(reading.slot.case != "nom" for reading in single)
            if only_oblique and len(single) < len(phrase.readings) and sentence.lower[phrase.head] != "herrn":
                slots = {slot for slot in slots if slot.gender == "p"}  # `als Polizisten` are many
        elif phrase.determiner is None:
            # A genitive without an article (`letzten Endes`) is no person's.
            slots -= {Slot("m", "gen"), Slot("n", "gen")}
            before = phrase.start - 1
            apart = sentence.word(before - 1) in {*DETERMINERS, *MERGED} or sentence.part(before - 1) == "ADJ(A)"
            if sentence.word(before) in QUOTES and apart:
                return set()
        if phrase.preposition and phrase.readings[0].noun.male == "Leiter":
            slots = {slot for slot in slots if slot.gender != "p"}  # `auf die Leiter` is a ladder
        kinds = {reading.slot for reading in phrase.readings if phrase.kind in reading.adjectives}
        return slots & kinds
    return _find_thing_slots(sentence, phrase, slots)


def is_invariable(sentence: Sentence, index: int) -> bool:
    """Whether an adjective has no ending: `Berliner`."""
    word = sentence.lower[index]
    return word.endswith("er") and sentence.tokens[index].text[0].isupper() and sentence.lemma(index).lower() == word


def _find_thing_slots(sentence: Sentence, phrase: Phrase, slots: set[Slot]) -> set[Slot]:
    """Narrow the slots of a noun we do not know, by how it ends."""
    word = sentence.lower[phrase.head]
    if phrase.name:
        return {slot for slot in slots if slot.gender != "p" or phrase.determiner is not None}
    if FEMININE_ENDS.search(word):
        return {slot for slot in slots if slot.gender == "f"} or slots
    if PLURAL_ENDS.search(word):
        return {slot for slot in slots if slot.gender == "p"} or slots
    changed = sentence.lemma(phrase.head).lower() != word
    if not word.endswith(("s", "n")):
        slots = {slot for slot in slots if slot not in (Slot("m", "gen"), Slot("n", "gen"))} or slots
    if not changed and phrase.determiner is not None:
        slots = {slot for slot in slots if slot.gender != "p"} or slots
    article = sentence.lower[phrase.determiner] if phrase.determiner is not None else "die"
    if changed and article in ("die", "diese", "jene", "alle", "keine", "meine", "seine", "ihre"):
        slots = {slot for slot in slots if slot.gender == "p"} or slots
    return slots


def determiner_of(sentence: Sentence, phrase: Phrase) -> Determiner | None:
    """The determiner of a phrase, the article of a merged preposition included."""
    if phrase.determiner is None:
        return None
    word = sentence.lower[phrase.determiner]
    return DETERMINERS[MERGED[word][1] if word in MERGED else word][0][0]


PLURALS = ("", "n", "en", "e", "s", "nen", "er")


@cache
def _expressions_by_first_word() -> dict[str, list[tuple[list[str], str]]]:
    """All words of each expression, in lower case, and the reason to leave it."""
    expressions: dict[str, list[tuple[list[str], str]]] = {}
    for row in read_rows(None, "de", "phrases", ("phrase", "why")):
        words = row["phrase"].lower().split()
        expressions.setdefault(words[0], []).append((words, row["why"]))
    return expressions


@cache
def _animal_forms() -> frozenset[str]:
    rows = read_rows(None, "de", "animals", ("animal",))
    return frozenset(row["animal"].lower() + ending for row in rows for ending in PLURALS)


def find_expressions(sentence: Sentence) -> dict[int, str]:
    """The indices of the words of an expression, and the reason to leave them."""
    reasons = {}
    for index, first in enumerate(sentence.lower):
        for words, why in _expressions_by_first_word().get(first, ()):
            if sentence.lower[index : index + len(words)] == words:
                reasons.update(dict.fromkeys(range(index, index + len(words)), why))
    return reasons


def are_young_animals(sentence: Sentence, phrase: Phrase, before: Iterable[str]) -> bool:
    """Whether `ihre Jungen` follows a word for an animal, in its sentence or among the words before that."""
    if sentence.lower[phrase.head] not in ("junge", "jungen"):
        return False
    owner = sentence.word(phrase.determiner) if phrase.determiner is not None else ""
    if not owner.startswith(("ihr", "sein")) and phrase.number is None:
        return False
    if all(slot.gender != "p" for slot in phrase.slots):
        return False
    return any(word in _animal_forms() for word in (*before, *sentence.lower[: phrase.start]))
