"""A noun phrase in the other gender: its determiner, adjectives and noun, and the relative pronoun after it."""

from __future__ import annotations

from unmask.rewriting.german.case import phrase_end
from unmask.rewriting.german.nouns import ARTICLE, MERGE, MERGED, THIS, NounReading, Slot, inflect_adjective
from unmask.rewriting.german.phrases import PREPOSITIONS, Phrase, determiner_of, is_invariable
from unmask.rewriting.german.sentences import BREAKS, JOINERS, NewWord, Sentence, is_plural
from unmask.rewriting.german.subjects import find_rivals, has_clear_subject

Words = dict[int, str]
"""New words by index; a merged preposition and article stand at the index of the preposition."""
RELATIVE_FORMS = ARTICLE | {Slot("m", "gen"): "dessen", Slot("f", "gen"): "deren", Slot("n", "gen"): "dessen"}
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
"""The case of a relative pronoun by the gender of its noun; `die` and `welche` may be accusatives too."""


def turn_phrase(sentence: Sentence, phrase: Phrase, reading: NounReading, slot: Slot) -> Words:
    """The words of a phrase that change when its person changes gender, read in a slot."""
    noun = reading.noun
    side = "female" if reading.side == "male" else "male"
    new = Slot("p" if slot.gender == "p" else noun.gender(side), slot.case)
    words: Words = {}
    if determiner := determiner_of(sentence, phrase):
        assert phrase.determiner is not None
        words.update(_turn_determiner(sentence, phrase, determiner.forms[new]))
    for index in phrase.adjectives:
        text = sentence.tokens[index].text
        text = text.lower() if text.isupper() else text
        if not is_invariable(sentence, index):
            words[index] = inflect_adjective(text, phrase.kind, new)
    words[phrase.head] = _turn_noun(sentence, phrase, reading, side, new)
    return {index: word for index, word in words.items() if word.lower() != sentence.lower[index]}


def _turn_determiner(sentence: Sentence, phrase: Phrase, form: str) -> Words:
    assert phrase.determiner is not None
    index = phrase.determiner
    if sentence.lower[index] in MERGED:
        preposition = MERGED[sentence.lower[index]][0]
        merged = next((word for word in ("im", "am", "ins", "ans") if MERGED[word] == (preposition, form)), None)
        return {index: MERGE.get((preposition, form)) or merged or f"{preposition} {form}"}
    preposition = sentence.word(index - 1)
    # `zu der Frau` stays apart; `bei der Frau` is `beim Mann` unless a clause follows that needs the article.
    can_merge = preposition in ("bei", "von") and form == "dem" and sentence.lower[index] == "der"
    comma = can_merge and sentence.word(phrase_end(sentence, phrase) + 1) == ","
    if can_merge and not (comma and find_relative_pronoun(sentence, phrase) is not None):
        return {index - 1: MERGE[preposition, form], index: ""}
    return {index: form}


def _turn_noun(sentence: Sentence, phrase: Phrase, reading: NounReading, side: str, slot: Slot) -> str:
    noun, text = reading.noun, sentence.tokens[phrase.head].text
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


def find_relative_pronoun(sentence: Sentence, phrase: Phrase) -> int | None:
    """Where the relative pronoun stands that agrees with the phrase, directly behind it and a comma."""
    index = phrase_end(sentence, phrase) + 1
    behind = [other for other in sentence.phrases if other.head >= index]
    while index < len(sentence) and sentence.word(index) != ",":
        if sentence.word(index) in BREAKS or sentence.word(index) in JOINERS:
            return None
        index += 1
    behind = [other for other in behind if other.head < index]
    index += 1
    if sentence.word(index) in PREPOSITIONS:
        index += 1
    if any(
        word.startswith(("derjenig", "diejenig", "demjenig", "denjenig")) for word in sentence.lower[: phrase.start]
    ):
        return None  # the clause is about that one
    slot = sentence.decided.get(phrase.head)
    gender = slot.gender if slot else next(iter(phrase.slots)).gender if phrase.slots else "m"
    word = sentence.word(index)
    if word not in RELATIVE.get(gender, {}):
        return None
    # The pronoun belongs to the nearest noun that it can agree with.
    agreeing = {gender, "p"} if word in ("die", "deren", "welche") else {gender}
    if any(agreeing & {slot.gender for slot in other.slots} for other in behind if other.slots or not other.person):
        return None
    if any(other.determiner == index for other in sentence.phrases) and not sentence.part(index).startswith("PREL"):
        return None
    if any(other.determiner == index and other.person for other in sentence.phrases):
        last = next(other for other in sentence.phrases if other.determiner == index)
        # `mein Bruder, der Maurer, …` is an apposition, whatever the tagger says.
        if sentence.word(phrase_end(sentence, last) + 1) in (",", ".", ""):
            return None
    clause = sentence.clause_of[index]
    tagged = sentence.part(index).startswith("PREL")
    return index if tagged or (clause.verb is not None and clause.verb > index) else None


def turn_relative(sentence: Sentence, phrase: Phrase, slot: Slot, gender: str) -> Words | None:
    """The relative pronoun in the new gender; None where its case cannot be told."""
    index = None if slot.gender == "p" else find_relative_pronoun(sentence, phrase)
    if index is None:
        return {}
    word = sentence.lower[index]
    ambiguous = slot.gender == "f" and word in ("die", "welche")
    case = _relative_case(sentence, index) if ambiguous else RELATIVE[slot.gender][word]
    if case is None:
        return None
    new = Slot(gender, case)
    return {index: "welch" + THIS[new] if word.startswith("welch") else RELATIVE_FORMS[new]}


def turn_genitives(sentence: Sentence) -> dict[int, NewWord]:
    """`dessen` and `deren` behind a noun that was turned, as in `mein Nachbar und dessen Frau`."""
    genitives = {}
    for index, word in enumerate(sentence.lower):
        if word not in ("dessen", "deren") or index in sentence.words:
            continue
        last = sentence.phrase_before(index)
        slot = sentence.decided.get(last.head) if last else None
        if last is None or slot is None or not sentence.new_text(last.head):
            continue
        between = sentence.lower[phrase_end(sentence, last) + 1 : index]
        if between and between[-1] in PREPOSITIONS:
            between = between[:-1]
        neuter = sentence.new_text(last.head).lower().endswith(("mädchen", "fräulein"))
        if between not in (["und"], ["sowie"], ["oder"], [","], [",", "und"]) or slot.gender not in "mf" or neuter:
            continue
        if (slot.gender == "m") == (word == "dessen"):
            new = "deren" if word == "dessen" else "dessen"
            genitives[index] = NewWord(new, sentence.words[last.head].term, "article")
    return genitives


def _relative_case(sentence: Sentence, index: int) -> str | None:
    clause = sentence.clause_of[index]
    if PREPOSITIONS.get(sentence.word(index - 1)):
        return "acc"
    if clause.verb is None or clause.verb < index:
        return None
    if sentence.has_copula(index):
        return "nom"
    if has_clear_subject(sentence, clause) or is_plural(sentence.lower[clause.verb]):
        return "acc"
    others = find_rivals(sentence, clause, Phrase(index, index))
    return None if any(is_person for other, is_person in others if other != index) else "nom"
