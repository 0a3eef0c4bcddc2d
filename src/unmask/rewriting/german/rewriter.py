"""German text in another gender, as far as its grammar can be carried through.

A `Document` holds what is understood of the sentences of a text, and what is changed in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.rewriting.german import double_forms, pronouns
from unmask.rewriting.german.case import narrow_slots, partitive, shares_article
from unmask.rewriting.german.double_forms import find_noun_pairs, find_pronoun_pairs
from unmask.rewriting.german.nouns import (
    Noun,
    Nouns,
    Reading,
    Slot,
    has_counterpart,
    noun_from_row,
    package_nouns,
    read_noun_rows,
    term_of,
)
from unmask.rewriting.german.phrase_agreement import Terms, Words, turn_genitives, turn_phrase, turn_relative
from unmask.rewriting.german.phrases import (
    MISS,
    SURNAMES,
    TITLE,
    TITLES,
    YOUNG,
    Phrase,
    are_young_animals,
    find_expressions,
)
from unmask.rewriting.german.pronouns import (
    BACK,
    Mention,
    Pronoun,
    find_mention_ahead,
    find_mentions,
    judge_referent,
)
from unmask.rewriting.german.sentences import Sentence, Token, is_plural, split_sentences
from unmask.rewriting.german.subjects import Parsed, is_after_as, parse_sentence
from unmask.rewriting.options import TERM_SETS, RewriteOptions
from unmask.rewriting.result import Kind, Left, Replacement, Rewritten, apply_changes, carry_case

MODES = ("swap", "female", "male", "remove")


@dataclass(frozen=True)
class Choices:
    """The mode, the nouns that are understood, and those of them (all, if None) that are rewritten."""

    to: str
    nouns: Nouns
    known: frozenset[str]
    """All forms of the nouns, in lower case."""
    terms: frozenset[tuple[str, str]] | None
    pronouns: bool
    adjectives: bool
    """Whether männlich and weiblich are rewritten."""

    @property
    def removes(self) -> bool:
        """Whether words are taken out rather than turned."""
        return self.to == "remove"

    def turns(self, side: str) -> bool:
        """Whether words of this gender are rewritten."""
        return self.to in ("swap", "remove") or self.to != side

    def asked(self, noun: Noun) -> bool:
        """Whether a noun is in the chosen term set."""
        return (
            self.terms is None or (noun.male, noun.female) in self.terms or (noun in (TITLE, MISS) and bool(self.terms))
        )


def choose(settings: RewriteOptions) -> Choices:
    """Understand the settings; what German cannot do is refused."""
    if settings.to not in MODES:
        raise UnmaskError(
            f"mode {settings.to!r} is not there for language 'de': German has no singular they, and its articles and"
            f" adjectives agree with a gender; choose from: {', '.join(MODES)}"
        )
    if settings.names:
        raise UnmaskError(
            "names cannot be exchanged for language 'de': they are matched from English-language data; leave names out"
        )
    nouns, terms, with_pronouns = list(package_nouns()), None, True
    if settings.terms not in TERM_SETS:
        rows = read_noun_rows(Path(settings.terms))
        words = [row for row in rows if row["male"].strip().lower() in pronouns.ALL_PRONOUNS]
        theirs = [noun_from_row(row) for row in rows if row not in words]
        with_pronouns = bool(words)
        nouns = theirs + nouns
        terms = frozenset((noun.male, noun.female) for noun in theirs)
    elif settings.terms == "pronouns":
        terms = frozenset()
    elif settings.terms == "family":
        terms = frozenset((noun.male, noun.female) for noun in nouns if noun.group == "family")
    known = Nouns(nouns)
    return Choices(settings.to, known, known.known(), terms, with_pronouns, settings.terms in ("all", "family"))


ADJECTIVES = ("männlich", "weiblich")
ENDINGS = frozenset({"", "e", "er", "es", "en", "em"})
REASONS = {
    "thing": "may speak of a thing",
    "plural": "may be they",
    "doubt": "may speak of a person or of a thing",
    "none": "may be her or them",
}


class Document:
    """The sentences of a text, what has been understood of them so far, and the changes."""

    def __init__(self, choices: Choices, text: str) -> None:
        self.choices = choices
        self.text = text
        self.sentences = split_sentences(text, choices.known)
        self.parsed: dict[int, Parsed] = {}
        self.spoken: dict[int, dict[int, Pronoun]] = {}
        self.left_nouns: dict[int, set[int]] = {}
        self._people = self._has_people()
        self.fixed: dict[int, str] = {}
        self.changes: list[Replacement] = []
        self.left: list[Left] = []

    def rewrite(self) -> Rewritten:
        """Rewrite the text."""
        for number, sentence in enumerate(self.sentences):
            if self._needed(sentence):
                self._sentence(number)
        if not self.changes and not self.left:
            return Rewritten(self.text)
        self.changes.sort(key=lambda change: change.start)
        self.left.sort(key=lambda left: left.start)
        return Rewritten(apply_changes(self.text, self.changes), tuple(self.changes), tuple(self.left))

    def _has_people(self) -> bool:
        """Whether the text speaks of a person other than by name: then its names are likely those of persons."""
        return any(
            word in ("er", "ihn") or self.choices.nouns.readings(token.text)
            for sentence in self.sentences
            for word, token in zip(sentence.lower, sentence.tokens, strict=True)
        )

    def _needed(self, sentence: Sentence) -> bool:
        return any(
            word in pronouns.ALL_PRONOUNS or word in TITLES or word.startswith(ADJECTIVES) for word in sentence.lower
        ) or any(self.choices.nouns.readings(token.text) for token in sentence.tokens)

    def _parse(self, number: int) -> Parsed:
        if number not in self.parsed:
            self.parsed[number] = parse_sentence(self.sentences[number], self.choices.nouns)
            self.spoken[number] = {}
            self.left_nouns[number] = set()
        return self.parsed[number]

    def _sentence(self, number: int) -> None:
        parsed = self._parse(number)
        self.fixed = self._expressions(parsed, number)
        words: Words = {}
        terms: Terms = {}
        joined: dict[int, int] = {}
        pairs = {} if self.choices.removes else {pair.first.head: pair for pair in find_noun_pairs(parsed)}
        seconds = {pair.second.head for pair in pairs.values()}
        for phrase in parsed.phrases:
            if phrase.blocked:
                self._blocked(parsed, phrase, number)
            if phrase.head in pairs:
                double_forms.turn_noun_pair(self, parsed, pairs[phrase.head], number, words, terms, joined)
            elif phrase.person and phrase.head not in seconds:
                self.noun(parsed, phrase, number, words, terms)
        doubles = {pair.first: pair for pair in find_pronoun_pairs(parsed)}
        seconds = {pair.second for pair in doubles.values()}
        for place, word in enumerate(parsed.sentence.lower):
            if place in doubles:
                double_forms.turn_pronoun_pair(self, parsed, number, doubles[place], words, terms, joined)
            elif word in pronouns.ALL_PRONOUNS and place not in seconds:
                self._pronoun(parsed, number, place, words, terms)
            elif word.startswith(ADJECTIVES) and (place == 0 or parsed.sentence.tokens[place].text[0].islower()):
                self._adjective(place, word, words, terms)  # in capitals, Männliches Knabenkraut, it is a plant
        if not self.choices.removes:
            for place, (word, head) in turn_genitives(parsed, words).items():
                words[place] = word
                terms[place] = (terms[head][0], "article")
        self._record(parsed.sentence, words, terms, joined)

    def _expressions(self, parsed: Parsed, number: int) -> dict[int, str]:
        """The nouns that stand for no person, by their places, with the reason."""
        found = find_expressions(parsed.sentence)
        before = self.sentences[number - 1].lower if number else []
        for phrase in parsed.phrases:
            if phrase.person and are_young_animals(parsed.sentence, phrase, before):
                found[phrase.head] = YOUNG
        return found

    def _adjective(self, place: int, word: str, words: Words, terms: Terms) -> None:
        """`männlich` and `weiblich`, which mean what the nouns only imply."""
        old = word[:8]
        side = "male" if old == ADJECTIVES[0] else "female"
        if word[8:] not in ENDINGS or not self.choices.adjectives or not self.choices.turns(side):
            return
        new = ADJECTIVES[side == "male"]
        words[place] = "" if self.choices.removes else new + (words.get(place) or word)[8:]
        terms[place] = (old, "word")

    def _blocked(self, parsed: Parsed, phrase: Phrase, number: int) -> None:
        token = parsed.sentence.tokens[phrase.head]
        readings = self.choices.nouns.readings(token.text)
        if any(self.choices.asked(reading.noun) and self.choices.turns(reading.side) for reading in readings):
            self.leave(number, phrase.head, token, term_of(readings), "its article stands too far off")

    def noun(self, parsed: Parsed, phrase: Phrase, number: int, words: Words, terms: Terms) -> None:
        """Decide about a person's noun; undecided, it is left with the reason."""
        token = parsed.sentence.tokens[phrase.head]
        readings = [
            reading for reading in phrase.readings if phrase.kind in reading.adjectives and has_counterpart(reading)
        ]
        results: dict[Slot, list[tuple[Reading, Words]]] = {}
        for reading in readings:
            if reading.slot in phrase.slots:
                results.setdefault(reading.slot, []).append(
                    (reading, turn_phrase(parsed, phrase, reading, reading.slot))
                )
        asked = any(self.choices.asked(reading.noun) and self.choices.turns(reading.side) for reading in readings)
        term = term_of(readings) if readings else token.text.lower()
        if why := self.fixed.get(phrase.head):
            if asked:
                self.leave(number, phrase.head, token, term, why)
            return
        if self.choices.removes:
            for slot in results:
                if len(results) == 1:
                    parsed.decided[phrase.head] = slot
            if asked:
                words[phrase.head] = ""
                terms[phrase.head] = (term, "word")
            return
        if not results:
            if asked:
                self.leave(number, phrase.head, token, term, "article, adjectives and noun do not agree")
            return

        def settled(slots: set[Slot]) -> bool:
            return len({tuple(sorted(new.items())) for slot in slots for _, new in results[slot]}) == 1

        slots = narrow_slots(parsed, phrase, set(results), settled)
        if not settled(slots):
            if asked:
                self.leave(number, phrase.head, token, term, "its case or number cannot be told")
            return
        slot = _likeliest(slots)
        if asked and _surname(parsed, phrase, slot, results[slot][0][0]):
            self.leave(number, phrase.head, token, term, "may be a surname")
            return
        reading, new = results[slot][0]
        if asked and slot.gender != "p" and shares_article(parsed, phrase):
            self.leave(number, phrase.head, token, term, "shares its article with a word that stays")
            return
        parsed.decided[phrase.head] = slot
        if not new or not self.choices.turns(reading.side) or not self.choices.asked(reading.noun):
            return
        gender = reading.noun.gender("female" if reading.side == "male" else "male")
        agrees, more = turn_relative(parsed, phrase, slot, gender)
        fits, part = partitive(parsed, phrase, slot, reading.side)
        if not new.get(phrase.head, "-"):
            self.leave(number, phrase.head, token, term, "has no known form for this case and number")
            return
        if not agrees or not fits:
            self.leave(number, phrase.head, token, term, "the case of a pronoun that agrees with it cannot be told")
            return
        more |= part
        term = (reading.noun.male if reading.side == "male" else reading.noun.female).lower()
        words.update(new)
        words.update(more)
        for place in (*new, *more):
            terms[place] = (term, "word" if place == phrase.head else "article")

    def _pronoun(self, parsed: Parsed, number: int, place: int, words: Words, terms: Terms) -> None:
        token = parsed.sentence.tokens[place]
        word = parsed.sentence.lower[place]
        use = pronouns.pronoun_use(parsed, place)
        if use is None:
            return
        side = "male" if word in ("er", "ihn", "ihm") or word.startswith("sein") else "female"
        asked = self.choices.pronouns and self.choices.turns(side)
        if isinstance(use, str):
            if asked and use != "is you":
                self.leave(number, None, token, word, use)
            if use == "may be they or you":
                self.spoken[number][place] = Pronoun("p", False, True)
            elif word == "sie":
                self.spoken[number][place] = Pronoun("f", False, True)
            return
        scopes = self._scopes(number, place)
        taken = not use.possessive and pronouns.is_subject_elided(parsed, place)
        taken |= not use.possessive and any(
            other.subject and other.human and other.gender == use.gender
            for spot, other in self.spoken[number].items()
            if parsed.clause_of[spot] is parsed.clause_of[place]
        )
        theirs = ("er", "sein") if use.gender == "f" else ("sie", "ihr")
        other = use.possessive and any(
            one.startswith(theirs[1]) or one == theirs[0] for one in parsed.sentence.lower[:place]
        )
        found, left = judge_referent(
            use.wanted,
            scopes,
            parsed.clause_of[place],
            same_clause=use.possessive,
            but=use.but,
            people=self._people,
            taken=taken,
            other=other,
        )
        if use.possessive and word.startswith("ihr") and self._many_own(parsed, place, scopes[0]):
            found = "plural"
        if found == "none" and use.possessive:
            found = find_mention_ahead(use.wanted, parsed, find_mentions(parsed, {}, set()), use.but or place)
        if found == "none" and use.needs_evidence and word == "sie" and self._she_follows(parsed, place):
            found = "person"
        person = found in ("person", "neuter") or (found == "none" and not use.needs_evidence)
        if not use.possessive and (person or found != "none"):
            self.spoken[number][place] = Pronoun(use.gender, person, use.subject, left)
        if not asked:
            return
        if not person:
            self.leave(number, None, token, word, REASONS[found])
        elif left:
            self.leave(number, None, token, word, "speaks of a noun that was left")
        elif self.choices.removes:
            words[place] = ""
            terms[place] = (word, "word")
        elif found != "neuter":  # after `Mädchen` as after `Junge`, it is `sein`
            now = words.get(place, "")
            if now and use.possessive:
                words[place] = "ihr" + now[4:] if word.startswith("sein") else "sein" + now[3:]
            else:
                words[place] = use.new
            terms[place] = (word, "word")

    def _many_own(self, parsed: Parsed, place: int, before: list[Mention]) -> bool:
        """Whether several are the subject: `Mutter und Schwester besuchten ihre Cousine`."""
        clause = parsed.clause_of[place]
        if parsed.sentence.word(place - 1) == "und" and clause.verb is not None and clause.verb > place:
            return False  # `mein Freund und seine Schwester reisen`
        return is_plural(parsed.verb(place)) and any(one.rank and one.clause is clause for one in before)

    def _she_follows(self, parsed: Parsed, place: int) -> bool:
        """Whether a later `sie` of the sentence is she, and so this one is: `Er sah sie an, und sie lächelte.`"""
        later = (spot for spot in range(place + 1, len(parsed.sentence)) if parsed.sentence.lower[spot] == "sie")
        return any(
            isinstance(use := pronouns.pronoun_use(parsed, spot), pronouns.Use) and use.subject for spot in later
        )

    def _scopes(self, number: int, place: int) -> list[list[Mention]]:
        scopes = [
            find_mentions(self._parse(other), self.spoken[other], self.left_nouns[other])
            for other in range(number, max(-1, number - BACK - 1), -1)
            if other == number or self._parse(other)
        ]
        scopes[0] = [mention for mention in scopes[0] if mention.place < place]
        return scopes

    def leave(self, number: int, head: int | None, token: Token, term: str, why: str) -> None:
        """Note that a word stays, and why."""
        self.left.append(Left(token.start, token.text, term, why))
        if head is not None:
            self.left_nouns[number].add(head)

    def _record(self, sentence: Sentence, words: Words, terms: Terms, joined: dict[int, int]) -> None:
        inside = {place for start, end in joined.items() for place in range(start + 1, end + 1)}
        for place, word in sorted(words.items()):
            if place in inside:
                continue
            token = sentence.tokens[place]
            end = sentence.tokens[joined.get(place, place)].end
            if not word:
                if not self.choices.removes:
                    continue
                self.changes.append(self._removal(token, *terms[place]))
                continue
            after = carry_case(token.text, word)
            if place not in joined and words.get(place + 1) == "" and not self.choices.removes:
                end = sentence.tokens[place + 1].end
            before = self.text[token.start : end]
            if before != after:
                term, kind = terms.get(place) or terms[place + 1]
                self.changes.append(Replacement(token.start, end, before, after, term, kind))

    def _removal(self, token: Token, term: str, kind: Kind) -> Replacement:
        """The word and one of the spaces around it."""
        start, end = token.start, token.end
        taken = self.changes[-1].end if self.changes else 0
        if self.text[end : end + 1] == " " and (start == 0 or self.text[start - 1].isspace()):
            end += 1
        elif start > taken and self.text[start - 1] == " ":
            start -= 1
        return Replacement(start, end, self.text[start:end], "", term, kind)


def _surname(parsed: Parsed, phrase: Phrase, slot: Slot, reading: Reading) -> bool:
    """Whether a noun without an article may be somebody's surname: `Koch wurde geehrt`, `von Fischer`."""
    text = parsed.sentence.tokens[phrase.head].text
    if text != reading.noun.male or text not in SURNAMES or phrase.determiner is not None or phrase.adjectives:
        return False
    if phrase.number is not None or is_after_as(parsed, phrase) or parsed.sentence.part(phrase.head + 1) == "NE":
        return False
    verb = parsed.clause_of[phrase.head].verb
    if slot.gender == "p":
        return bool(phrase.preposition)
    return verb is None or (verb > phrase.head and not parsed.clause_of[phrase.head].subordinate)


def _likeliest(slots: set[Slot]) -> Slot:
    order = ("nom", "acc", "dat", "gen")
    return min(slots, key=lambda slot: (order.index(slot.case), slot.gender))


PIECE = 100_000
"""About how many characters of a text are held as tokens at a time."""
_BREAK = re.compile(r"\n|(?<=[.!?])\s|(?<=\s)")


class GermanRewriter:
    """Rewrites German text; what it cannot rewrite with all that agrees is left, and said to be."""

    def __init__(self, settings: RewriteOptions) -> None:
        self._choices = choose(settings)

    def rewrite(self, text: str) -> Rewritten:
        """Rewrite one document."""
        if len(text) <= PIECE:
            return Document(self._choices, text).rewrite()
        changes: list[Replacement] = []
        left: list[Left] = []
        for start, stop in _pieces(text):
            done = Document(self._choices, text[start:stop]).rewrite()
            changes += (replace(one, start=one.start + start, end=one.end + start) for one in done.changes)
            left += (replace(one, start=one.start + start) for one in done.left)
        return Rewritten(apply_changes(text, changes), tuple(changes), tuple(left))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text at the first line end, sentence end or space behind each piece."""
    start = 0
    while start < len(text):
        found = _BREAK.search(text, start + PIECE, start + 2 * PIECE)
        stop = found.end() if found and found.end() > start else min(len(text), start + 2 * PIECE)
        yield start, stop
        start = stop
