"""Noun phrases: preposition, determiner, adjectives and noun, and in which genders, numbers and cases they agree."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from unmask.counterfactual.german.endings import (
    CASES,
    DETERMINERS,
    MERGED,
    SLOTS,
    Determiner,
    Slot,
    adjective_slots,
)
from unmask.counterfactual.german.nouns import Nouns, Reading
from unmask.counterfactual.german.persons import YEAR, readings_here
from unmask.counterfactual.german.sentences import Sentence

DATIVE, ACCUSATIVE, GENITIVE = frozenset({"dat"}), frozenset({"acc"}), frozenset({"gen"})
PREPOSITIONS = {
    **dict.fromkeys("mit bei von zu nach aus seit gegenüber außer samt nebst mitsamt".split(), DATIVE),
    **dict.fromkeys("für durch gegen ohne um wider per pro".split(), ACCUSATIVE),
    **dict.fromkeys("in an auf über unter vor hinter neben zwischen".split(), DATIVE | ACCUSATIVE),
    **dict.fromkeys("wegen während trotz statt anstatt dank laut anstelle seitens hinsichtlich".split(), GENITIVE),
    **dict.fromkeys(
        "innerhalb außerhalb mittels zugunsten aufgrund anlässlich namens einschließlich".split(), GENITIVE
    ),
}
# Nouns that say when, not who: never taken for a subject.
TIMES = frozenset(
    "jahr jahre jahren tag tage tagen woche wochen monat monate monaten abend morgen nacht mittag stunde stunden mal"
    " male sommer winter herbst frühling minute minuten januar februar märz april mai juni juli august september"
    " oktober november dezember montag dienstag mittwoch donnerstag freitag samstag sonntag ende anfang".split()
)
FEMININE_ENDS = re.compile(r"(?:ung|heit|keit|schaft|tion|sion|tät|enz|anz|ik|ie|ei|ur)$")
PLURAL_ENDS = re.compile(r"(?:ungen|heiten|keiten|schaften|ionen|täten|enzen|innen)$")
QUOTES = frozenset('„“”"»«‚‘')
INSIDE = ("ADV", "ADJ(D)", "CARD", "PTKNEG", "PTKA", "PIAT", "PIS")


@dataclass
class Phrase:
    """A noun with what agrees with it, by the places of the tokens in their sentence."""

    start: int
    head: int
    determiner: int | None = None
    adjectives: tuple[int, ...] = ()
    preposition: str = ""
    kind: str = "strong"
    """The adjective endings that the determiner asks for."""
    slots: set[Slot] = field(default_factory=set)
    readings: list[Reading] = field(default_factory=list)
    name: bool = False
    after_noun: bool = False
    """Whether it follows another noun directly, as a genitive does."""
    number: int | None = None
    """The place of a cardinal number or a word such as `viele` before the noun."""

    blocked: bool = False
    """Whether it is a person's noun whose article stands too far off: `die von ihm gewählte Präsidentin`."""

    @property
    def person(self) -> bool:
        """Whether the noun is in the list of persons."""
        return bool(self.readings)

    @property
    def may_be_subject(self) -> bool:
        """Whether it can be in the nominative."""
        return not self.preposition and any(slot.case == "nom" for slot in self.slots)


def phrases(sentence: Sentence, nouns: Nouns) -> list[Phrase]:
    """All noun phrases of a sentence, in order."""
    found: list[Phrase] = []
    for place in range(len(sentence)):
        text = sentence.tokens[place].text
        if not text[0].isupper() or not text[0].isalpha():
            continue
        if _cut(sentence, place):
            continue
        readings = readings_here(sentence, place, nouns)
        if not readings and text.endswith("er") and place and _resident(sentence, place, nouns):
            continue
        part = sentence.part(place)
        if readings or part in ("NN", "NNA", "NE", "FM") or (part.startswith("NN")):
            found.append(_phrase(sentence, place, readings, found[-1] if found else None))
    return found


def _cut(sentence: Sentence, place: int) -> bool:
    """Whether a word is the first half of two compounds: `Wirtschafts- und Finanzminister`."""
    after = sentence.tokens[place + 1] if place + 1 < len(sentence) else None
    return after is not None and after.text == "-" and after.start == sentence.tokens[place].end


def _resident(sentence: Sentence, place: int, nouns: Nouns) -> bool:
    """Whether a word in -er is an adjective without ending, made from a town: `vom Tessiner Architekten`."""
    if place + 1 >= len(sentence) or not sentence.tokens[place + 1].text[0].isupper():
        return False
    before = sentence.word(place - 1)
    after = before in DETERMINERS or before in MERGED or before in PREPOSITIONS or sentence.part(place - 1) == "ADJ(A)"
    return after and bool(readings_here(sentence, place + 1, nouns))


def _phrase(sentence: Sentence, head: int, readings: list[Reading], last: Phrase | None) -> Phrase:
    floor = last.head if last else -1
    adjectives: list[int] = []
    place = head - 1
    number = None
    start = head
    while place > floor:
        word, part = sentence.lower[place], sentence.part(place)
        if word in ("und", "oder", "sowie") and place > floor + 2 and _cut(sentence, place - 2):
            place -= 3
            continue
        if word in (",", "und", "oder", "aber") and adjectives and sentence.part(place - 1) == "ADJ(A)":
            place -= 1
            continue  # `ein alter, kranker und müder Mann`
        if word == "am" and sentence.word(place + 1).endswith("sten") and place + 1 < head:
            place -= 1
            continue  # `der am häufigsten gefoulte Spieler`
        if word in DETERMINERS and not part.startswith(("V", "PRF")):
            break
        if word in PREPOSITIONS or word in MERGED or word in ("als", "wie", "anderem", "allem"):
            break
        if part == "ADJ(A)" or (part in ("PIAT", "PIS", "VV(PP)") and _looks_like_adjective(sentence, place)):
            adjectives.insert(0, place)
            start = place
            if part == "PIAT":
                number = place
        elif (part in INSIDE and word.isalpha()) or (word.endswith("er") and part.startswith("N")):
            number = place if part == "CARD" else number
        elif part == "CARD" and not YEAR.fullmatch(word):
            number = place
        else:
            break
        place -= 1
    phrase = Phrase(start, head, adjectives=tuple(adjectives), readings=readings, number=number)
    word = sentence.word(place)
    if place > floor and word in DETERMINERS and not _relative(sentence, place, head):
        phrase.determiner, phrase.start = place, place
        phrase.kind = DETERMINERS[word][0][0].adjectives
        place -= 1
    elif place > floor and word in MERGED:
        phrase.determiner, phrase.start, phrase.kind = place, place, "weak"
        phrase.preposition = MERGED[word][0]
    if not phrase.preposition and place > floor and sentence.word(place) in PREPOSITIONS:
        phrase.preposition = sentence.word(place)
    elif phrase.determiner is None and readings and adjectives and _attribute_before(sentence, place):
        readings = phrase.readings = []
        phrase.blocked = True
    phrase.name = not readings and (sentence.part(head) in ("NE", "FM"))
    phrase.after_noun = bool(last) and last is not None and last.head == phrase.start - 1 and not phrase.preposition
    phrase.slots = _slots(sentence, phrase)
    return phrase


def _attribute_before(sentence: Sentence, place: int) -> bool:
    """Whether the words before adjectives without an article belong to a longer attribute of the noun."""
    before = sentence.word(place - 1)
    if sentence.part(place) == "NE" and sentence.word(place).endswith(("s", "x", "z")) and before not in PREPOSITIONS:
        return False  # `Leopolds ältere Schwester`
    if sentence.word(place) in ("er", "sie", "ich", "du", "wir", "es"):
        return False  # `wurde er neuer Trainer`
    return sentence.part(place).startswith(("NN", "NE", "PPER", "PRF"))


def _looks_like_adjective(sentence: Sentence, place: int) -> bool:
    text = sentence.tokens[place].text
    return text[0].islower() and len(text) > 3 and text.endswith(("e", "er", "es", "en", "em"))


def _relative(sentence: Sentence, place: int, head: int) -> bool:
    """Whether what looks like an article is a relative pronoun: `der Mann, der Lehrer ist`."""
    if sentence.word(place) not in ("der", "die", "das", "den", "dem"):
        return False
    if sentence.word(place - 1) != ",":
        return False
    verb = sentence.part(head + 1).endswith("(FIN)")
    return verb and sentence.word(head + 2) in (",", ".", ";", "!", "?", "und", "")


def _slots(sentence: Sentence, phrase: Phrase) -> set[Slot]:
    """What the phrase may agree with, by its determiner, its adjectives, its preposition and its noun."""
    word = sentence.word(phrase.determiner) if phrase.determiner is not None else ""
    if word in MERGED:
        article = MERGED[word][1]
        slots = {slot for _, slot in DETERMINERS[article] if slot.case in ("dat", "acc") and slot.gender != "p"}
    elif word:
        slots = {slot for _, slot in DETERMINERS[word]}
    else:
        slots = set(SLOTS)
    for place in phrase.adjectives:
        if text := _inflected(sentence, place):
            slots &= adjective_slots(text, phrase.kind)
    if cases := PREPOSITIONS.get(phrase.preposition):
        # Everyday German puts the dative after the prepositions of the genitive too.
        allowed = cases | DATIVE if cases == GENITIVE else cases
        slots = {slot for slot in slots if slot.case in allowed}
    if phrase.number is not None and sentence.word(phrase.number) not in ("ein", "eine", "1"):
        slots = {slot for slot in slots if slot.gender == "p"} or slots
    if phrase.readings:
        if phrase.determiner is None and not phrase.adjectives:
            slots = {slot for slot in slots if slot.case != "gen"}  # a genitive shows in its article
            if not _nominative_form(sentence, phrase):
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
    return _thing_slots(sentence, phrase, slots)


def _nominative_form(sentence: Sentence, phrase: Phrase) -> bool:
    """Whether a noun is in a form that it has in the nominative too; Herrn is, as a title."""
    single = [reading for reading in phrase.readings if reading.slot.gender != "p"]
    plural = [reading for reading in phrase.readings if reading.slot.gender == "p"]
    titled = sentence.lower[phrase.head] == "herrn"
    return titled or not plural or not single or any(reading.slot.case == "nom" for reading in single)


def _inflected(sentence: Sentence, place: int) -> str:
    text = sentence.lower[place]
    return "" if invariable(sentence, place) else text


def invariable(sentence: Sentence, place: int) -> bool:
    """Whether an adjective has no ending: `Berliner`."""
    word = sentence.lower[place]
    return word.endswith("er") and sentence.tokens[place].text[0].isupper() and sentence.lemma(place).lower() == word


def _thing_slots(sentence: Sentence, phrase: Phrase, slots: set[Slot]) -> set[Slot]:
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


__all__ = ["CASES", "PREPOSITIONS", "TIMES", "Phrase", "determiner_of", "phrases"]
