"""A noun phrase in the other gender: its determiner, adjectives and noun, and the relative pronoun after it."""

from __future__ import annotations

from unmask.rewriting.german.case import phrase_end
from unmask.rewriting.german.nouns import MERGE, MERGED, THIS, Reading, Slot, inflect_adjective
from unmask.rewriting.german.phrases import PREPOSITIONS, Phrase, determiner_of, is_invariable
from unmask.rewriting.german.sentences import BREAKS, JOINERS, is_plural
from unmask.rewriting.german.subjects import Parsed, find_rivals, has_clear_subject
from unmask.rewriting.result import Kind

Words = dict[int, str]
"""New words by the place of the token; a merged preposition and article stand at the place of the preposition."""
NewWords = dict[int, tuple[str, str, Kind]]
"""New words by their places, each with the term and the kind of change that it is counted as."""
RELATIVE = {
    "m": {
        "der": "nom",
        "den": "acc",
        "dem": "dat",
        "dessen": "gen",
        "welcher": "nom",
        "welchen": "acc",
        "welchem": "dat",
    },
    "f": {"die": "nom", "der": "dat", "deren": "gen", "welche": "nom", "welcher": "dat"},
}
RELATIVE_FORMS = {
    "m": {"nom": "der", "acc": "den", "dat": "dem", "gen": "dessen"},
    "f": {"nom": "die", "acc": "die", "dat": "der", "gen": "deren"},
    "n": {"nom": "das", "acc": "das", "dat": "dem", "gen": "dessen"},
}


def turn_phrase(parsed: Parsed, phrase: Phrase, reading: Reading, slot: Slot) -> Words:
    """The words of a phrase that change when its person changes gender, read in a slot."""
    sentence, noun = parsed.sentence, reading.noun
    side = "female" if reading.side == "male" else "male"
    new = Slot("p" if slot.gender == "p" else noun.gender(side), slot.case)
    words: Words = {}
    if determiner := determiner_of(sentence, phrase):
        assert phrase.determiner is not None
        words.update(_turn_determiner(parsed, phrase, determiner.form(new)))
    for place in phrase.adjectives:
        text = sentence.tokens[place].text
        text = text.lower() if text.isupper() else text
        if not is_invariable(sentence, place):
            words[place] = inflect_adjective(text, phrase.kind, new)
    words[phrase.head] = _turn_noun(parsed, phrase, reading, side, new)
    return {place: word for place, word in words.items() if word.lower() != sentence.lower[place]}


def _turn_determiner(parsed: Parsed, phrase: Phrase, form: str) -> Words:
    assert phrase.determiner is not None
    sentence, place = parsed.sentence, phrase.determiner
    if sentence.lower[place] in MERGED:
        preposition = MERGED[sentence.lower[place]][0]
        merged = next((word for word in ("im", "am", "ins", "ans") if MERGED[word] == (preposition, form)), None)
        return {place: MERGE.get((preposition, form)) or merged or f"{preposition} {form}"}
    preposition = sentence.word(place - 1)
    # `zu der Frau` stays apart; `bei der Frau` is `beim Mann` unless a clause follows that needs the article.
    can_merge = preposition in ("bei", "von") and form == "dem" and sentence.lower[place] == "der"
    comma = can_merge and sentence.word(phrase_end(parsed, phrase) + 1) == ","
    if can_merge and not (comma and find_relative_pronoun(parsed, phrase) is not None):
        return {place - 1: MERGE[preposition, form], place: ""}
    return {place: form}


def _turn_noun(parsed: Parsed, phrase: Phrase, reading: Reading, side: str, slot: Slot) -> str:
    noun, text = reading.noun, parsed.sentence.tokens[phrase.head].text
    kind = phrase.kind
    if phrase.is_bare and side == "male" and slot.gender != "p" and slot.case != "gen" and noun.male != "Herr":
        slot = Slot(slot.gender, "nom")
    forms = noun.forms(side, slot, kind)
    if not forms:
        return ""
    olds = noun.forms(reading.side, reading.slot, kind)
    old = next((form for form in olds if text.lower().endswith(form.lower())), text)
    prefix = text[: len(text) - len(old)]
    return prefix + (forms[0].lower() if prefix and not prefix.endswith("-") else forms[0])


def find_relative_pronoun(parsed: Parsed, phrase: Phrase) -> int | None:
    """Where the relative pronoun stands that agrees with the phrase, directly behind it and a comma."""
    sentence = parsed.sentence
    place = phrase_end(parsed, phrase) + 1
    behind = [other for other in parsed.phrases if other.head >= place]
    while place < len(sentence) and sentence.word(place) != ",":
        if sentence.word(place) in BREAKS or sentence.word(place) in JOINERS:
            return None
        place += 1
    behind = [other for other in behind if other.head < place]
    place += 1
    if sentence.word(place) in PREPOSITIONS:
        place += 1
    if any(
        word.startswith(("derjenig", "diejenig", "demjenig", "denjenig")) for word in sentence.lower[: phrase.start]
    ):
        return None  # the clause is about that one
    slot = parsed.decided.get(phrase.head)
    gender = slot.gender if slot else next(iter(phrase.slots)).gender if phrase.slots else "m"
    word = sentence.word(place)
    if word not in RELATIVE.get(gender, {}):
        return None
    # The pronoun belongs to the nearest noun that it can agree with.
    agreeing = {gender, "p"} if word in ("die", "deren", "welche") else {gender}
    if any(agreeing & {slot.gender for slot in other.slots} for other in behind if other.slots or not other.person):
        return None
    if any(other.determiner == place for other in parsed.phrases) and not sentence.part(place).startswith("PREL"):
        return None
    if any(other.determiner == place and other.person for other in parsed.phrases):
        last = next(other for other in parsed.phrases if other.determiner == place)
        # `mein Bruder, der Maurer, …` is an apposition, whatever the tagger says.
        if sentence.word(phrase_end(parsed, last) + 1) in (",", ".", ""):
            return None
    clause = parsed.clause_of[place]
    tagged = sentence.part(place).startswith("PREL")
    return place if tagged or (clause.verb is not None and clause.verb > place) else None


def turn_relative(parsed: Parsed, phrase: Phrase, slot: Slot, gender: str) -> tuple[bool, Words]:
    """The relative pronoun in the new gender; False where its case cannot be told."""
    place = None if slot.gender == "p" else find_relative_pronoun(parsed, phrase)
    if place is None:
        return True, {}
    sentence = parsed.sentence
    word = sentence.lower[place]
    case = RELATIVE[slot.gender][word]
    if slot.gender == "f" and word in ("die", "welche"):
        case = _relative_case(parsed, place) or ""
        if not case:
            return False, {}
    form = RELATIVE_FORMS[gender][case]
    return True, {place: "welch" + THIS[Slot(gender, case)] if word.startswith("welch") else form}


def turn_genitives(parsed: Parsed, words: Words) -> dict[int, tuple[str, int]]:
    """`dessen` and `deren` behind a noun that was turned, as in `mein Nachbar und dessen Frau`, and its place."""
    genitives = {}
    for place, word in enumerate(parsed.sentence.lower):
        if word not in ("dessen", "deren") or place in words:
            continue
        last = next((phrase for phrase in reversed(parsed.phrases) if phrase.head < place), None)
        slot = parsed.decided.get(last.head) if last else None
        if last is None or slot is None or not words.get(last.head):
            continue
        between = parsed.sentence.lower[phrase_end(parsed, last) + 1 : place]
        if between and between[-1] in PREPOSITIONS:
            between = between[:-1]
        neuter = words[last.head].lower().endswith(("mädchen", "fräulein"))
        if between not in (["und"], ["sowie"], ["oder"], [","], [",", "und"]) or slot.gender not in "mf" or neuter:
            continue
        if (slot.gender == "m") == (word == "dessen"):
            genitives[place] = ("deren" if word == "dessen" else "dessen", last.head)
    return genitives


def _relative_case(parsed: Parsed, place: int) -> str | None:
    sentence, clause = parsed.sentence, parsed.clause_of[place]
    if PREPOSITIONS.get(sentence.word(place - 1)):
        return "acc"
    if clause.verb is None or clause.verb < place:
        return None
    if parsed.has_copula(place):
        return "nom"
    if has_clear_subject(parsed, clause):
        return "acc"
    if is_plural(sentence.lower[clause.verb]):
        return "acc"
    others = find_rivals(parsed, clause, Phrase(place, place))
    return None if any(is_person for other, is_person in others if other != place) else "nom"
