"""Both genders named at once: `er oder sie`, `Bürgerinnen und Bürger`, `der Arzt bzw. die Ärztin`.

Both words are turned, or one of the two is dropped, or both stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.rewriting.german.case import end_of
from unmask.rewriting.german.nouns import MERGED, Reading, has_counterpart, term_of
from unmask.rewriting.german.phrase_agreement import Terms, Words, relative_place
from unmask.rewriting.german.phrases import Phrase
from unmask.rewriting.german.pronouns import ALL_PRONOUNS, HER, HIS, SIDES, Pronoun
from unmask.rewriting.german.sentences import is_plural
from unmask.rewriting.german.subjects import Parsed

if TYPE_CHECKING:
    from unmask.rewriting.german.rewriter import Document


BOTH_NAMED = "both genders are named"
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


def find_pronoun_pairs(parsed: Parsed) -> list[PronounPair]:
    """The pairs of pronouns in a sentence."""
    found = []
    sentence = parsed.sentence
    for place, word in enumerate(sentence.lower):
        if word not in ALL_PRONOUNS:
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


def find_noun_pairs(parsed: Parsed) -> list[NounPair]:
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
    if any(word in ALL_PRONOUNS for word in words):
        return None
    return first.start, second.head, stays.start, stays.head


def turn_noun_pair(
    document: Document, parsed: Parsed, pair: NounPair, number: int, words: Words, terms: Terms, joined: dict[int, int]
) -> None:
    """Both genders of one word: both are turned, or one of the two is left over, or both stay."""
    seen, left = len(document.left), set(document.left_nouns[number])
    tokens, heads = parsed.sentence.tokens, (pair.first.head, pair.second.head)
    new: Words = {}
    news: Terms = {}
    for phrase in (pair.first, pair.second):
        document.noun(parsed, phrase, number, new, news)
    names = {head: term_of([reading]) for head, reading in zip(heads, pair.readings, strict=True)}
    open_ = document.choices.asked(pair.readings[0].noun) and all(has_counterpart(reading) for reading in pair.readings)
    fixed = set(heads) & document.fixed.keys()
    both = all(head in new for head in heads)
    stays = None if document.choices.to == "swap" else kept(parsed, pair, document.choices.to)
    if not open_ or fixed or (document.choices.to == "swap" and both and not exchanged(pair)):
        words.update(new)
        terms.update(news)
        return
    del document.left[seen:]
    document.left_nouns[number] = left
    if document.choices.to == "swap" and exchanged(pair):
        for head, other in (heads, heads[::-1]):
            words[head] = tokens[other].text
            terms[head] = (names[head], "word")
    elif stays:
        start, end, first, last = stays
        words[start] = document.text[tokens[first].start : tokens[last].end]
        joined[start] = end
        turned_away = next(
            head for head, one in zip(heads, pair.readings, strict=True) if one.side != document.choices.to
        )
        terms[start] = (names[turned_away], "word")
    else:
        for head, reading in zip(heads, pair.readings, strict=True):
            if document.choices.turns(reading.side):
                document.leave(number, head, tokens[head], names[head], BOTH_NAMED)


def turn_pronoun_pair(
    document: Document,
    parsed: Parsed,
    number: int,
    pair: PronounPair,
    words: Words,
    terms: Terms,
    joined: dict[int, int],
) -> None:
    """`er oder sie`: both are turned, or one of the two is left over, or both stay."""
    sentence, places = parsed.sentence, (pair.first, pair.second)
    old = (sentence.lower[pair.first], sentence.lower[pair.second])
    sides = ("female", "male") if pair.female_first else ("male", "female")
    for place, word, side in zip(places, old, sides, strict=True):
        if word in ("er", "sie", "ihn", "ihm"):
            document.spoken[number][place] = Pronoun("m" if side == "male" else "f", True, "er" in old)
    if (now := words.get(pair.second)) and not document.choices.removes:
        # The noun behind them has been turned: both agree with it.
        ending = now[len(_stem(old[1])) :]
        old = (_stem(old[0]) + ending, _stem(old[1]) + ending)
        words[pair.first] = old[0]
        terms[pair.first] = terms[pair.second]
    if not document.choices.pronouns:
        return
    if document.choices.to in ("swap", "remove"):
        for place, word in zip(places, reversed(old), strict=True):
            words[place] = "" if document.choices.removes else word
            terms[place] = (sentence.lower[place], "word")
        return
    kept_one = sides.index(document.choices.to)
    away = places[1 - kept_one]
    if pair.one:
        words[pair.first] = old[kept_one]
        joined[pair.first] = pair.second
        terms[pair.first] = (sentence.lower[away], "word")
    else:
        document.leave(number, None, sentence.tokens[away], sentence.lower[away], BOTH_NAMED)


def _stem(possessive: str) -> str:
    return "sein" if possessive.startswith("sein") else "ihr"
