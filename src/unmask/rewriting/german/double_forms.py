"""Both genders named at once: `er oder sie`, `Bürgerinnen und Bürger`, `der Arzt bzw. die Ärztin`.

Both words are turned, or one of the two is dropped, or both stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.rewriting.german.case import phrase_end
from unmask.rewriting.german.nouns import MERGED, NounReading, has_counterpart, term_of
from unmask.rewriting.german.phrase_agreement import find_relative_pronoun
from unmask.rewriting.german.phrases import Phrase
from unmask.rewriting.german.pronouns import ALL_PRONOUNS, HER, HIS, SIDES, mention_pronoun
from unmask.rewriting.german.sentences import NewWord, Sentence, is_plural

if TYPE_CHECKING:
    from unmask.rewriting.german.rewriter import Document


BOTH_NAMED = "both genders are named"
LINKS = frozenset({"und", "oder", "sowie", "bzw", "/", "beziehungsweise"})
ONE_OF_TWO = frozenset({"oder", "bzw", "/", "beziehungsweise"})
COUNTERPARTS = {("er", "sie"), ("ihn", "sie"), ("ihm", "ihr"), *zip(HIS, HER, strict=True), *SIDES.items()}


@dataclass(frozen=True)
class PronounPair:
    """Two pronouns of one case, by index, and whether they are one person's."""

    first: int
    second: int
    one_person: bool
    """Whether one person is meant, `er oder sie`, and not two, `er und sie`."""
    female_first: bool


@dataclass(frozen=True)
class NounPair:
    """Two phrases with the two words of one pair."""

    first: Phrase
    second: Phrase
    readings: tuple[NounReading, NounReading]
    link: str


def _read_link(sentence: Sentence, index: int) -> tuple[str, int]:
    """The word at an index if it links two words, and the index behind it."""
    word = sentence.word(index)
    if word not in LINKS:
        return "", index
    dotted = word == "bzw" and sentence.word(index + 1) == "."
    return word, index + 1 + dotted


def find_pronoun_pairs(sentence: Sentence) -> list[PronounPair]:
    """The pairs of pronouns in a sentence."""
    pairs = []
    for index, word in enumerate(sentence.lower):
        if word not in ALL_PRONOUNS:
            continue
        link, second = _read_link(sentence, index + 1)
        other = sentence.word(second)
        if not link or not other or _in_another_clause(sentence, index, second, link):
            continue
        if (word, other) in COUNTERPARTS or (other, word) in COUNTERPARTS:
            several = "/" in (sentence.word(index - 1), sentence.word(second + 1))  # `er/sie/es`
            female_first = (other, word) in COUNTERPARTS
            pairs.append(PronounPair(index, second, link in ONE_OF_TWO and not several, female_first))
    return pairs


def _in_another_clause(sentence: Sentence, first: int, second: int, link: str) -> bool:
    """Whether the second pronoun belongs to another clause: `Er sah ihn und sie lachte.`"""
    if sentence.clause_of[first] is sentence.clause_of[second] or link == "/":
        return False
    if link not in ONE_OF_TWO or sentence.clause_of[second].verb != second + 1:
        return True
    # In `muss er oder sie zahlen` the infinitive looks like the verb of a clause.
    return not is_plural(sentence.word(second + 1)) or is_plural(sentence.verb(second - 2))


def find_noun_pairs(sentence: Sentence) -> list[NounPair]:
    """The pairs of nouns in a sentence."""
    pairs: list[NounPair] = []
    for first, second in zip(sentence.phrases, sentence.phrases[1:], strict=False):
        if not first.person or not second.person or phrase_end(sentence, first) != first.head:
            continue
        link, behind = _read_link(sentence, first.head + 1)
        if not link or behind != second.start or (pairs and pairs[-1].second is first):
            continue
        if sentence.clause_of[first.head] is not sentence.clause_of[second.head]:
            continue
        if readings := _find_counterparts(sentence, first, second):
            pairs.append(NounPair(first, second, readings, link))
    return pairs


def _find_counterparts(sentence: Sentence, first: Phrase, second: Phrase) -> tuple[NounReading, NounReading] | None:
    for reading in first.readings:
        for other in second.readings:
            if reading.noun is not other.noun or reading.side == other.side or reading.slot.case != other.slot.case:
                continue
            if (reading.slot.gender == "p") != (other.slot.gender == "p"):
                continue
            fits = reading.slot in first.slots and (other.slot in second.slots or second.is_bare)
            if fits and _compound_prefix(sentence, first, reading) == _compound_prefix(sentence, second, other):
                return reading, other
    return None


def _compound_prefix(sentence: Sentence, phrase: Phrase, reading: NounReading) -> str:
    """What a compound has in front of the word of the list."""
    text = sentence.lower[phrase.head]
    forms = {
        form.lower() for kind in reading.adjectives for form in reading.noun.forms(reading.side, reading.slot, kind)
    }
    fitting = [form for form in forms if text.endswith(form)]
    return text[: len(text) - len(max(fitting, key=len))] if fitting else text


def can_change_places(pair: NounPair) -> bool:
    """Whether the two nouns can just change places: no article or adjective shows the gender of either."""
    return pair.second.is_bare and (pair.first.is_bare or pair.readings[0].slot.gender == "p")


def find_remaining(sentence: Sentence, pair: NounPair, to: str) -> tuple[int, int, int, int] | None:
    """Where the pair is and which of its words stay when only one gender is left; None where more would change.

    The indices of the first and last word that are taken out, and of the first and last word that stay in their stead.
    """
    first, second = pair.first, pair.second
    stays = first if pair.readings[0].side == to else second
    if stays is first and find_relative_pronoun(sentence, second) is not None:
        return None
    if sentence.word(first.start - 1) in ("einer", "eine", "keiner", "keine", "jeder", "jede"):
        return None  # `einer der Bürgerinnen und Bürger`
    one_of_two = pair.link in ONE_OF_TWO
    if can_change_places(pair):
        several = pair.readings[0].slot.gender == "p"
        return (first.head, second.head, stays.head, stays.head) if several or one_of_two else None
    if first.determiner is None or second.determiner is None:
        return None
    words = (sentence.word(first.determiner), sentence.word(second.determiner))
    every = all(word.startswith("jed") for word in words)
    differ = (words[0] in MERGED) != (words[1] in MERGED)
    if differ or not (one_of_two or every) or not ALL_PRONOUNS.isdisjoint(words):
        return None
    return first.start, second.head, stays.start, stays.head


def turn_noun_pair(document: Document, sentence: Sentence, pair: NounPair) -> None:
    """Both genders of one word: both are turned, or one of the two is left over, or both stay."""
    choices, tokens = document.choices, sentence.tokens
    heads = (pair.first.head, pair.second.head)
    terms = {head: term_of([reading]) for head, reading in zip(heads, pair.readings, strict=True)}
    left_before, left_nouns_before = len(document.left), set(sentence.left_nouns)
    new = document.rewrite_noun(sentence, pair.first) | document.rewrite_noun(sentence, pair.second)
    can_turn = choices.includes(pair.readings[0].noun) and all(has_counterpart(reading) for reading in pair.readings)
    swaps = choices.to == "swap"
    remaining = None if swaps else find_remaining(sentence, pair, choices.to)
    both_turned = swaps and all(head in new for head in heads) and not can_change_places(pair)
    if not can_turn or not sentence.fixed.keys().isdisjoint(heads) or both_turned:
        sentence.words.update(new)
        return
    del document.left[left_before:]
    sentence.left_nouns = left_nouns_before
    if swaps and can_change_places(pair):
        for head, other in (heads, heads[::-1]):
            sentence.words[head] = NewWord(tokens[other].text, terms[head])
    elif remaining:
        start, end, first, last = remaining
        text = document.text[tokens[first].start : tokens[last].end]
        removed = heads[0] if pair.readings[0].side != choices.to else heads[1]
        sentence.words[start] = NewWord(text, terms[removed])
        sentence.joined[start] = end
    else:
        for head, reading in zip(heads, pair.readings, strict=True):
            if choices.turns(reading.side):
                document.leave_word(sentence, head, terms[head], BOTH_NAMED, noun=True)


def turn_pronoun_pair(document: Document, sentence: Sentence, pair: PronounPair) -> None:
    """`er oder sie`: both are turned, or one of the two is left over, or both stay."""
    choices, lower = document.choices, sentence.lower
    indices = (pair.first, pair.second)
    old = (lower[pair.first], lower[pair.second])
    sides = ("female", "male") if pair.female_first else ("male", "female")
    for index, word, side in zip(indices, old, sides, strict=True):
        if word in ("er", "sie", "ihn", "ihm"):
            mention_pronoun(sentence, index, "m" if side == "male" else "f", human=True, subject="er" in old)
    if (turned := sentence.new_text(pair.second)) and not choices.removes:
        # The noun behind them has been turned: both agree with it.
        first, second = ("sein" if word.startswith("sein") else "ihr" for word in old)
        old = (first + turned[len(second) :], turned)
        sentence.words[pair.first] = sentence.words[pair.second]._replace(text=old[0])
    if not choices.pronouns:
        return
    if choices.to in ("swap", "remove"):
        for index, word in zip(indices, reversed(old), strict=True):
            sentence.words[index] = NewWord("" if choices.removes else word, lower[index])
        return
    remaining = sides.index(choices.to)
    removed = indices[1 - remaining]
    if pair.one_person:
        sentence.words[pair.first] = NewWord(old[remaining], lower[removed])
        sentence.joined[pair.first] = pair.second
    else:
        document.leave_word(sentence, removed, lower[removed], BOTH_NAMED)
