"""German text in another gender, as far as its grammar can be carried through.

A `Document` holds what is understood of the sentences of a text, and what is changed in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.lexicon.table import read_rows
from unmask.rewriting.german.case import narrow_slots, shares_article, turn_partitive
from unmask.rewriting.german.double_forms import find_noun_pairs, find_pronoun_pairs, turn_noun_pair, turn_pronoun_pair
from unmask.rewriting.german.nouns import (
    CASES,
    Noun,
    Nouns,
    Reading,
    Slot,
    has_counterpart,
    noun_from_row,
    package_nouns,
    term_of,
)
from unmask.rewriting.german.phrase_agreement import NewWords, Words, turn_genitives, turn_phrase, turn_relative
from unmask.rewriting.german.phrases import MISS, SURNAMES, TITLE, TITLES, Phrase, are_young_animals, find_expressions
from unmask.rewriting.german.pronouns import (
    ALL_PRONOUNS,
    BACK,
    Mention,
    Pronoun,
    Use,
    Verdict,
    find_mention_ahead,
    find_mentions,
    is_subject_elided,
    judge_referent,
    pronoun_use,
)
from unmask.rewriting.german.sentences import Token, is_plural, split_sentences
from unmask.rewriting.german.subjects import Parsed, is_after_as, parse_sentence
from unmask.rewriting.options import TERM_SETS, RewriteOptions
from unmask.rewriting.result import Kind, Left, Replacement, Rewritten, apply_changes, carry_case

MODES = ("swap", "female", "male", "remove")


@dataclass(frozen=True)
class Choices:
    """The mode, the nouns that are understood, and those of them (all, if None) that are rewritten."""

    to: str
    nouns: Nouns
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

    def includes(self, noun: Noun) -> bool:
        """Whether a noun is in the chosen term set."""
        return (
            self.terms is None or (noun.male, noun.female) in self.terms or (noun in (TITLE, MISS) and bool(self.terms))
        )


def build_choices(settings: RewriteOptions) -> Choices:
    """Understand the settings; what German cannot do is refused."""
    if settings.to not in MODES:
        raise UnmaskError(
            f"mode {settings.to!r} is not there for language 'de': German has no singular they, and its articles and"
            f" adjectives agree with a gender; build_choices from: {', '.join(MODES)}"
        )
    if settings.names:
        raise UnmaskError(
            "names cannot be exchanged for language 'de': they are matched from English-language data; leave names out"
        )
    nouns, terms, with_pronouns = list(package_nouns()), None, True
    if settings.terms not in TERM_SETS:
        rows = read_rows(Path(settings.terms), "de", "gender", ("male", "female"))
        pronoun_rows = [row for row in rows if row["male"].lower() in ALL_PRONOUNS]
        own_nouns = [noun_from_row(row) for row in rows if row not in pronoun_rows]
        with_pronouns = bool(pronoun_rows)
        nouns = own_nouns + nouns
        terms = frozenset((noun.male, noun.female) for noun in own_nouns)
    elif settings.terms == "pronouns":
        terms = frozenset()
    elif settings.terms == "family":
        terms = frozenset((noun.male, noun.female) for noun in nouns if noun.group == "family")
    adjectives = settings.terms in ("all", "family")
    return Choices(settings.to, Nouns(nouns), terms, with_pronouns, adjectives)


YOUNG = "may be young animals"
ADJECTIVES = ("männlich", "weiblich")
ENDINGS = frozenset({"", "e", "er", "es", "en", "em"})
REASONS = {
    "thing": "may speak of a thing",
    "plural": "may be they",
    "doubt": "may speak of a person or of a thing",
    "none": "may be her or them",
}


@dataclass
class SentenceState:
    """A sentence that was parsed, what has been understood of it, and its new words."""

    number: int
    parsed: Parsed
    fixed: dict[int, str] = field(default_factory=dict)
    """The nouns that stand for no person, by their places, with the reason."""
    spoken: dict[int, Pronoun] = field(default_factory=dict)
    """The pronouns that were understood, by their places."""
    left_nouns: set[int] = field(default_factory=set)
    words: Words = field(default_factory=dict)
    terms: dict[int, tuple[str, Kind]] = field(default_factory=dict)
    """What to count a new word as, by its place."""
    joined: dict[int, int] = field(default_factory=dict)
    """The last place of several words that become one, by the first."""

    def write_word(self, place: int, word: str, term: str, kind: Kind = "word") -> None:
        """Note a new word; an empty one is taken out."""
        self.words[place] = word
        self.terms[place] = term, kind


class Document:
    """The sentences of a text, what has been understood of them so far, and the changes."""

    def __init__(self, choices: Choices, text: str) -> None:
        self.choices = choices
        self.text = text
        self.sentences = split_sentences(text, choices.nouns.known_forms)
        self.states: dict[int, SentenceState] = {}
        # Whether the text speaks of a person other than by name: then its names are likely those of persons.
        self._speaks_of_people = any(
            word in ("er", "ihn") or choices.nouns.readings(token.text)
            for sentence in self.sentences
            for word, token in zip(sentence.lower, sentence.tokens, strict=True)
        )
        self.changes: list[Replacement] = []
        self.left: list[Left] = []

    def rewrite(self) -> Rewritten:
        """Rewrite the text."""
        for number, sentence in enumerate(self.sentences):
            if any(
                word in ALL_PRONOUNS or word in TITLES or word.startswith(ADJECTIVES) for word in sentence.lower
            ) or any(self.choices.nouns.readings(token.text) for token in sentence.tokens):
                self._rewrite_sentence(self._parse_sentence(number))
        if not self.changes and not self.left:
            return Rewritten(self.text)
        self.changes.sort(key=lambda change: change.start)
        self.left.sort(key=lambda left: left.start)
        return Rewritten(apply_changes(self.text, self.changes), tuple(self.changes), tuple(self.left))

    def _parse_sentence(self, number: int) -> SentenceState:
        if number not in self.states:
            self.states[number] = SentenceState(number, parse_sentence(self.sentences[number], self.choices.nouns))
        return self.states[number]

    def _rewrite_sentence(self, state: SentenceState) -> None:
        parsed, choices = state.parsed, self.choices
        sentence = parsed.sentence
        state.fixed = find_expressions(sentence)
        before = self.sentences[state.number - 1].lower if state.number else []
        for phrase in parsed.phrases:
            if phrase.person and are_young_animals(sentence, phrase, before):
                state.fixed[phrase.head] = YOUNG
        noun_pairs = {} if choices.removes else {pair.first.head: pair for pair in find_noun_pairs(parsed)}
        second_nouns = {pair.second.head for pair in noun_pairs.values()}
        for phrase in parsed.phrases:
            if phrase.blocked:
                token = sentence.tokens[phrase.head]
                readings = choices.nouns.readings(token.text)
                if any(choices.includes(reading.noun) and choices.turns(reading.side) for reading in readings):
                    self.leave_word(state, phrase.head, term_of(readings), "its article stands too far off", noun=True)
            if phrase.head in noun_pairs:
                turn_noun_pair(self, state, noun_pairs[phrase.head])
            elif phrase.person and phrase.head not in second_nouns:
                for place, (word, term, kind) in self.rewrite_noun(state, phrase).items():
                    state.write_word(place, word, term, kind)
        pronoun_pairs = {pair.first: pair for pair in find_pronoun_pairs(parsed)}
        second_pronouns = {pair.second for pair in pronoun_pairs.values()}
        for place, word in enumerate(sentence.lower):
            if place in pronoun_pairs:
                turn_pronoun_pair(self, state, pronoun_pairs[place])
            elif word in ALL_PRONOUNS and place not in second_pronouns:
                self._rewrite_pronoun(state, place)
            elif word.startswith(ADJECTIVES) and (place == 0 or sentence.tokens[place].text[0].islower()):
                self._rewrite_adjective(state, place, word)  # in capitals, Männliches Knabenkraut, it is a plant
        if not choices.removes:
            for place, (word, head) in turn_genitives(parsed, state.words).items():
                state.write_word(place, word, state.terms[head][0], "article")
        self._record_changes(state)

    def _rewrite_adjective(self, state: SentenceState, place: int, word: str) -> None:
        """`männlich` and `weiblich`, which mean what the nouns only imply."""
        old = word[:8]
        side = "male" if old == ADJECTIVES[0] else "female"
        if word[8:] in ENDINGS and self.choices.adjectives and self.choices.turns(side):
            new = ADJECTIVES[side == "male"] + (state.words.get(place) or word)[8:]
            state.write_word(place, "" if self.choices.removes else new, old)

    def rewrite_noun(self, state: SentenceState, phrase: Phrase) -> NewWords:
        """The new words of a phrase with a person's noun; undecided, the noun is left with the reason."""
        parsed, choices = state.parsed, self.choices
        readings = [
            reading for reading in phrase.readings if phrase.kind in reading.adjectives and has_counterpart(reading)
        ]
        wanted = any(choices.includes(reading.noun) and choices.turns(reading.side) for reading in readings)
        term = term_of(readings) if readings else parsed.sentence.lower[phrase.head]
        reason, new = state.fixed.get(phrase.head, ""), NewWords()
        if not reason and choices.removes:
            slots = {reading.slot for reading in readings if reading.slot in phrase.slots}
            if len(slots) == 1:
                parsed.decided[phrase.head] = slots.pop()
            if wanted:
                new[phrase.head] = "", term, "word"
        elif not reason:
            reason, new = self._turn_noun(parsed, phrase, readings, wanted=wanted)
        if reason and wanted:
            self.leave_word(state, phrase.head, term, reason, noun=True)
        return new

    def _turn_noun(
        self, parsed: Parsed, phrase: Phrase, readings: list[Reading], *, wanted: bool
    ) -> tuple[str, NewWords]:
        """The reason why a noun cannot be turned, or its phrase in the other gender."""
        results: dict[Slot, list[tuple[Reading, Words]]] = {}
        for reading in readings:
            if reading.slot in phrase.slots:
                turned = turn_phrase(parsed, phrase, reading, reading.slot)
                results.setdefault(reading.slot, []).append((reading, turned))
        if not results:
            return "article, adjectives and noun do not agree", {}

        def agree(slots: set[Slot]) -> bool:
            return len({tuple(sorted(new.items())) for slot in slots for _, new in results[slot]}) == 1

        slots = narrow_slots(parsed, phrase, set(results), agree)
        if not agree(slots):
            return "its case or number cannot be told", {}
        slot = min(slots, key=lambda slot: (CASES.index(slot.case), slot.gender))
        reading, words = results[slot][0]
        if wanted and _is_surname(parsed, phrase, slot, reading):
            return "may be a surname", {}
        if wanted and slot.gender != "p" and shares_article(parsed, phrase):
            return "shares its article with a word that stays", {}
        parsed.decided[phrase.head] = slot
        if not words or not self.choices.turns(reading.side) or not self.choices.includes(reading.noun):
            return "", {}
        gender = reading.noun.gender("female" if reading.side == "male" else "male")
        agrees, relative = turn_relative(parsed, phrase, slot, gender)
        fits, partitive = turn_partitive(parsed, phrase, slot, reading.side)
        if not words.get(phrase.head, "-"):
            return "has no known form for this case and number", {}
        if not agrees or not fits:
            return "the case of a pronoun that agrees with it cannot be told", {}
        term = term_of([reading])
        words = {**words, **relative, **partitive}
        return "", {place: (word, term, "word" if place == phrase.head else "article") for place, word in words.items()}

    def _rewrite_pronoun(self, state: SentenceState, place: int) -> None:
        parsed, choices = state.parsed, self.choices
        word = parsed.sentence.lower[place]
        use = pronoun_use(parsed, place)
        if use is None:
            return
        side = "male" if word in ("er", "ihn", "ihm") or word.startswith("sein") else "female"
        wanted = choices.pronouns and choices.turns(side)
        if isinstance(use, str):
            if wanted and use != "is you":
                self.leave_word(state, place, word, use)
            if use == "may be they or you":
                state.spoken[place] = Pronoun("p", False, True)
            elif word == "sie":
                state.spoken[place] = Pronoun("f", False, True)
            return
        verdict, noun_was_left = self._judge_pronoun(state, place, use)
        is_person = verdict in ("person", "neuter") or (verdict == "none" and not use.needs_evidence)
        if not use.possessive and (is_person or verdict != "none"):
            state.spoken[place] = Pronoun(use.gender, is_person, use.subject, noun_was_left)
        if not wanted:
            return
        if not is_person:
            self.leave_word(state, place, word, REASONS[verdict])
        elif noun_was_left:
            self.leave_word(state, place, word, "speaks of a noun that was left")
        elif choices.removes:
            state.write_word(place, "", word)
        elif verdict != "neuter":  # after `Mädchen` as after `Junge`, it is `sein`
            new, turned = use.new, state.words.get(place)
            if turned and use.possessive:  # its noun has been turned, and it agrees with it
                new = "ihr" + turned[4:] if word.startswith("sein") else "sein" + turned[3:]
            state.write_word(place, new, word)

    def _judge_pronoun(self, state: SentenceState, place: int, use: Use) -> tuple[Verdict, bool]:
        """What a pronoun speaks of, and whether that is a noun that was left."""
        parsed, word = state.parsed, state.parsed.sentence.lower[place]
        clause = parsed.clause_of[place]
        scopes = []
        for number in range(state.number, max(-1, state.number - BACK - 1), -1):
            earlier = self._parse_sentence(number)
            scopes.append(find_mentions(earlier.parsed, earlier.spoken, earlier.left_nouns))
        scopes[0] = [mention for mention in scopes[0] if mention.place < place]
        taken = not use.possessive and is_subject_elided(parsed, place)
        taken |= not use.possessive and any(
            spoken.subject and spoken.human and spoken.gender == use.gender
            for spot, spoken in state.spoken.items()
            if parsed.clause_of[spot] is clause
        )
        subject, possessive = ("er", "sein") if use.gender == "f" else ("sie", "ihr")
        other = use.possessive and any(
            before == subject or before.startswith(possessive) for before in parsed.sentence.lower[:place]
        )
        verdict, noun_was_left = judge_referent(
            use.wanted,
            scopes,
            clause,
            same_clause=use.possessive,
            but=use.but,
            people=self._speaks_of_people,
            taken=taken,
            other=other,
        )
        if use.possessive and word.startswith("ihr") and _has_several_owners(parsed, place, scopes[0]):
            verdict = "plural"
        if verdict == "none" and use.possessive:
            verdict = find_mention_ahead(use.wanted, parsed, find_mentions(parsed, {}, set()), use.but or place)
        if verdict == "none" and use.needs_evidence and word == "sie":
            # A later `sie` that is she says that this one is: `Er sah sie an, und sie lächelte.`
            later = [spot for spot in range(place + 1, len(parsed.sentence)) if parsed.sentence.lower[spot] == "sie"]
            uses = (pronoun_use(parsed, spot) for spot in later)
            if any(isinstance(each, Use) and each.subject for each in uses):
                verdict = "person"
        return verdict, noun_was_left

    def leave_word(self, state: SentenceState, place: int, term: str, why: str, *, noun: bool = False) -> None:
        """Note that a word stays, and why."""
        token = state.parsed.sentence.tokens[place]
        self.left.append(Left(token.start, token.text, term, why))
        if noun:
            state.left_nouns.add(place)

    def _record_changes(self, state: SentenceState) -> None:
        tokens, words, terms, joined = state.parsed.sentence.tokens, state.words, state.terms, state.joined
        inside = {place for start, end in joined.items() for place in range(start + 1, end + 1)}
        for place, word in sorted(words.items()):
            if place in inside:
                continue
            token = tokens[place]
            end = tokens[joined.get(place, place)].end
            if not word:
                if self.choices.removes:
                    self.changes.append(self._make_removal(token, *terms[place]))
                continue
            after = carry_case(token.text, word)
            if place not in joined and words.get(place + 1) == "" and not self.choices.removes:
                end = tokens[place + 1].end
            before = self.text[token.start : end]
            if before != after:
                self.changes.append(Replacement(token.start, end, before, after, *terms[place]))

    def _make_removal(self, token: Token, term: str, kind: Kind) -> Replacement:
        """The word and one of the spaces around it."""
        start, end = token.start, token.end
        taken = self.changes[-1].end if self.changes else 0
        if self.text[end : end + 1] == " " and (start == 0 or self.text[start - 1].isspace()):
            end += 1
        elif start > taken and self.text[start - 1] == " ":
            start -= 1
        return Replacement(start, end, self.text[start:end], "", term, kind)


def _has_several_owners(parsed: Parsed, place: int, mentions: list[Mention]) -> bool:
    """Whether several are the subject: `Mutter und Schwester besuchten ihre Cousine`."""
    clause = parsed.clause_of[place]
    if parsed.sentence.word(place - 1) == "und" and clause.verb is not None and clause.verb > place:
        return False  # `mein Freund und seine Schwester reisen`
    return is_plural(parsed.verb(place)) and any(mention.rank and mention.clause is clause for mention in mentions)


def _is_surname(parsed: Parsed, phrase: Phrase, slot: Slot, reading: Reading) -> bool:
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


PIECE = 100_000
"""About how many characters of a text are held as tokens at a time."""
_BREAK = re.compile(r"\n|(?<=[.!?])\s|(?<=\s)")


class GermanRewriter:
    """Rewrites German text; what it cannot rewrite with all that agrees is left, and said to be."""

    def __init__(self, settings: RewriteOptions) -> None:
        self._choices = build_choices(settings)

    def rewrite(self, text: str) -> Rewritten:
        """Rewrite one document."""
        if len(text) <= PIECE:
            return Document(self._choices, text).rewrite()
        changes: list[Replacement] = []
        left: list[Left] = []
        for start, stop in _split_pieces(text):
            done = Document(self._choices, text[start:stop]).rewrite()
            changes += (replace(change, start=change.start + start, end=change.end + start) for change in done.changes)
            left += (replace(word, start=word.start + start) for word in done.left)
        return Rewritten(apply_changes(text, changes), tuple(changes), tuple(left))


def _split_pieces(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text at the first line end, sentence end or space behind each piece."""
    start = 0
    while start < len(text):
        match = _BREAK.search(text, start + PIECE, start + 2 * PIECE)
        stop = match.end() if match and match.end() > start else min(len(text), start + 2 * PIECE)
        yield start, stop
        start = stop
