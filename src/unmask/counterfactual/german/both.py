"""Both genders named at once: both are turned, or one of the two is left over, or both stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.counterfactual.german.agreement import Terms, Words
from unmask.counterfactual.german.doubles import WHY as BOTH
from unmask.counterfactual.german.doubles import NounPair, PronounPair, exchanged, kept
from unmask.counterfactual.german.nouns import has_counterpart, term_of
from unmask.counterfactual.german.referents import Pronoun
from unmask.counterfactual.german.subjects import Parsed

if TYPE_CHECKING:
    from unmask.counterfactual.german.document import Document


def noun_pair(
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
                document.leave(number, head, tokens[head], names[head], BOTH)


def pronoun_pair(
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
        document.leave(number, None, sentence.tokens[away], sentence.lower[away], BOTH)


def _stem(possessive: str) -> str:
    return "sein" if possessive.startswith("sein") else "ihr"
