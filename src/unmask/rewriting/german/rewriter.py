"""German text in another gender, as far as its grammar can be carried through.

A `Document` holds what is understood of the sentences of a text, and what is changed in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.lexicon.table import read_rows
from unmask.rewriting.german.case import narrow_slots, shares_article, turn_partitive
from unmask.rewriting.german.double_forms import find_noun_pairs, find_pronoun_pairs, turn_noun_pair, turn_pronoun_pair
from unmask.rewriting.german.nouns import (
    CASES,
    Noun,
    NounReading,
    Nouns,
    Slot,
    has_counterpart,
    noun_from_row,
    package_nouns,
    term_of,
)
from unmask.rewriting.german.phrase_agreement import Words, turn_genitives, turn_phrase, turn_relative
from unmask.rewriting.german.phrases import MISS, SURNAMES, TITLE, TITLES, Phrase, are_young_animals, find_expressions
from unmask.rewriting.german.pronouns import (
    ALL_PRONOUNS,
    BACK,
    Mention,
    Use,
    Verdict,
    find_mention_ahead,
    find_mentions,
    is_subject_elided,
    judge_referent,
    mention_pronoun,
    pronoun_use,
)
from unmask.rewriting.german.sentences import NewWord, Sentence, is_plural, split_sentences
from unmask.rewriting.german.subjects import is_after_as
from unmask.rewriting.options import TERM_SETS, RewriteOptions
from unmask.rewriting.result import Left, Replacement, Rewritten, Token, apply_changes, carry_case

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
        return self.terms is None or (noun.male, noun.female) in self.terms

    def wants(self, readings: Iterable[NounReading]) -> bool:
        """Whether one of the readings is of a noun and a gender that are rewritten."""
        return any(self.includes(reading.noun) and self.turns(reading.side) for reading in readings)


def build_choices(settings: RewriteOptions) -> Choices:
    """Understand the settings; what German cannot do is refused."""
    if settings.to not in MODES:
        raise UnmaskError(
            f"mode {settings.to!r} is not available for language 'de': German has no singular they;"
            f" choose from: {', '.join(MODES)}"
        )
    if settings.names:
        raise UnmaskError(
            "names cannot be exchanged for language 'de': they are matched from English-language data; leave names out"
        )
    nouns, with_pronouns = list(package_nouns()), True
    if settings.terms in TERM_SETS:
        selected = [noun for noun in nouns if noun.group == settings.terms]
    else:
        rows = read_rows(Path(settings.terms), "de", "gender", ("male", "female"))
        selected = [noun_from_row(row) for row in rows if row["male"].lower() not in ALL_PRONOUNS]
        with_pronouns = len(selected) < len(rows)
        nouns = selected + nouns
    titles = (TITLE, MISS) if selected else ()
    terms = None if settings.terms == "all" else frozenset((noun.male, noun.female) for noun in (*selected, *titles))
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


class Document:
    """The sentences of a text, what has been understood of them so far, and the changes."""

    def __init__(self, choices: Choices, text: str) -> None:
        self.choices = choices
        self.text = text
        self.sentences = split_sentences(text, choices.nouns)
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
        for sentence in self.sentences:
            if any(
                word in ALL_PRONOUNS or word in TITLES or word.startswith(ADJECTIVES) for word in sentence.lower
            ) or any(self.choices.nouns.readings(token.text) for token in sentence.tokens):
                self._rewrite_sentence(sentence)
        if not self.changes and not self.left:
            return Rewritten(self.text)
        self.changes.sort(key=lambda change: change.start)
        self.left.sort(key=lambda left: left.start)
        return Rewritten(apply_changes(self.text, self.changes), tuple(self.changes), tuple(self.left))

    def _rewrite_sentence(self, sentence: Sentence) -> None:
        choices = self.choices
        sentence.fixed = find_expressions(sentence)
        before = self.sentences[sentence.number - 1].lower if sentence.number else []
        for phrase in sentence.phrases:
            if phrase.person and are_young_animals(sentence, phrase, before):
                sentence.fixed[phrase.head] = YOUNG
        noun_pairs = {} if choices.removes else {pair.first.head: pair for pair in find_noun_pairs(sentence)}
        second_nouns = {pair.second.head for pair in noun_pairs.values()}
        for phrase in sentence.phrases:
            if phrase.blocked:
                token = sentence.tokens[phrase.head]
                readings = choices.nouns.readings(token.text)
                if choices.wants(readings):
                    self.leave_word(
                        sentence, phrase.head, term_of(readings), "its article stands too far off", noun=True
                    )
            if phrase.head in noun_pairs:
                turn_noun_pair(self, sentence, noun_pairs[phrase.head])
            elif phrase.person and phrase.head not in second_nouns:
                sentence.words.update(self.rewrite_noun(sentence, phrase))
        pronoun_pairs = {pair.first: pair for pair in find_pronoun_pairs(sentence)}
        second_pronouns = {pair.second for pair in pronoun_pairs.values()}
        for index, word in enumerate(sentence.lower):
            if index in pronoun_pairs:
                turn_pronoun_pair(self, sentence, pronoun_pairs[index])
            elif word in ALL_PRONOUNS and index not in second_pronouns:
                self._rewrite_pronoun(sentence, index)
            elif word.startswith(ADJECTIVES) and (index == 0 or sentence.tokens[index].text[0].islower()):
                self._rewrite_adjective(sentence, index, word)  # in capitals, Männliches Knabenkraut, it is a plant
        if not choices.removes:
            sentence.words.update(turn_genitives(sentence))
        self._record_changes(sentence)

    def _rewrite_adjective(self, sentence: Sentence, index: int, word: str) -> None:
        """`männlich` and `weiblich`, which mean what the nouns only imply."""
        old = word[:8]
        side = "male" if old == ADJECTIVES[0] else "female"
        if word[8:] in ENDINGS and self.choices.adjectives and self.choices.turns(side):
            new = ADJECTIVES[side == "male"] + (sentence.new_text(index) or word)[8:]
            sentence.words[index] = NewWord("" if self.choices.removes else new, old)

    def rewrite_noun(self, sentence: Sentence, phrase: Phrase) -> dict[int, NewWord]:
        """The new words of a phrase with a person's noun; undecided, the noun is left with the reason."""
        choices = self.choices
        readings = [
            reading for reading in phrase.readings if phrase.kind in reading.adjectives and has_counterpart(reading)
        ]
        wanted = choices.wants(readings)
        term = term_of(readings) if readings else sentence.lower[phrase.head]
        reason = sentence.fixed.get(phrase.head, "")
        new: dict[int, NewWord] = {}
        if not reason and choices.removes:
            slots = {reading.slot for reading in readings if reading.slot in phrase.slots}
            if len(slots) == 1:
                sentence.decided[phrase.head] = slots.pop()
            if wanted:
                new = {phrase.head: NewWord("", term)}
        elif not reason:
            reason, new = self._turn_noun(sentence, phrase, readings, wanted=wanted)
        if reason and wanted:
            self.leave_word(sentence, phrase.head, term, reason, noun=True)
        return new

    def _turn_noun(
        self, sentence: Sentence, phrase: Phrase, readings: list[NounReading], *, wanted: bool
    ) -> tuple[str, dict[int, NewWord]]:
        """The reason why a noun cannot be turned, or its phrase in the other gender."""
        results: dict[Slot, list[tuple[NounReading, Words]]] = {}
        for reading in readings:
            if reading.slot in phrase.slots:
                turned = turn_phrase(sentence, phrase, reading, reading.slot)
                results.setdefault(reading.slot, []).append((reading, turned))
        if not results:
            return "article, adjectives and noun do not agree", {}

        def agree(slots: set[Slot]) -> bool:
            return len({tuple(sorted(new.items())) for slot in slots for _, new in results[slot]}) == 1

        slots = narrow_slots(sentence, phrase, set(results), agree)
        if not agree(slots):
            return "its case or number cannot be told", {}
        slot = min(slots, key=lambda slot: (CASES.index(slot.case), slot.gender))
        reading, words = results[slot][0]
        if wanted and _is_surname(sentence, phrase, slot, reading):
            return "may be a surname", {}
        if wanted and slot.gender != "p" and shares_article(sentence, phrase):
            return "shares its article with a word that stays", {}
        sentence.decided[phrase.head] = slot
        if not words or not self.choices.wants([reading]):
            return "", {}
        gender = reading.noun.gender("female" if reading.side == "male" else "male")
        relative = turn_relative(sentence, phrase, slot, gender)
        partitive = turn_partitive(sentence, phrase, slot, reading.side)
        if not words.get(phrase.head, "-"):
            return "has no known form for this case and number", {}
        if relative is None or partitive is None:
            return "the case of a pronoun that agrees with it cannot be told", {}
        term = term_of([reading])
        return "", {
            index: NewWord(word, term, "word" if index == phrase.head else "article")
            for index, word in {**words, **relative, **partitive}.items()
        }

    def _rewrite_pronoun(self, sentence: Sentence, index: int) -> None:
        choices = self.choices
        word = sentence.lower[index]
        use = pronoun_use(sentence, index)
        if use is None:
            return
        side = "male" if word in ("er", "ihn", "ihm") or word.startswith("sein") else "female"
        wanted = choices.pronouns and choices.turns(side)
        if isinstance(use, str):
            if wanted and use != "is you":
                self.leave_word(sentence, index, word, use)
            if use == "may be they or you":
                mention_pronoun(sentence, index, "p", human=False, subject=True)
            elif word == "sie":
                mention_pronoun(sentence, index, "f", human=False, subject=True)
            return
        verdict, noun_was_left = self._judge_pronoun(sentence, index, use)
        is_person = verdict in ("person", "neuter") or (verdict == "none" and not use.needs_evidence)
        if not use.possessive and (is_person or verdict != "none"):
            mention_pronoun(sentence, index, use.gender, human=is_person, subject=use.subject, left=noun_was_left)
        if not wanted:
            return
        if not is_person:
            self.leave_word(sentence, index, word, REASONS[verdict])
        elif noun_was_left:
            self.leave_word(sentence, index, word, "speaks of a noun that was left")
        elif choices.removes:
            sentence.words[index] = NewWord("", word)
        elif verdict != "neuter":  # after `Mädchen` as after `Junge`, it is `sein`
            new, turned = use.new, sentence.new_text(index)
            if turned and use.possessive:  # its noun has been turned, and it agrees with it
                new = "ihr" + turned[4:] if word.startswith("sein") else "sein" + turned[3:]
            sentence.words[index] = NewWord(new, word)

    def _judge_pronoun(self, sentence: Sentence, index: int, use: Use) -> tuple[Verdict, bool]:
        """What a pronoun speaks of, and whether that is a noun that was left."""
        word = sentence.lower[index]
        clause = sentence.clause_of[index]
        scopes = []
        for number in range(sentence.number, max(-1, sentence.number - BACK - 1), -1):
            earlier = self.sentences[number]
            scopes.append(find_mentions(earlier, earlier.spoken, earlier.left_nouns))
        scopes[0] = [mention for mention in scopes[0] if mention.index < index]
        taken = not use.possessive and is_subject_elided(sentence, index)
        taken |= not use.possessive and any(
            spoken.rank == 2 and spoken.human and spoken.genders == {use.gender} and spoken.clause is clause
            for spoken in sentence.spoken.values()
        )
        subject, possessive = ("er", "sein") if use.gender == "f" else ("sie", "ihr")
        other = use.possessive and any(
            before == subject or before.startswith(possessive) for before in sentence.lower[:index]
        )
        verdict, noun_was_left = judge_referent(
            use, scopes, clause, people=self._speaks_of_people, taken=taken, other=other
        )
        if use.possessive and word.startswith("ihr") and _has_several_owners(sentence, index, scopes[0]):
            verdict = "plural"
        if verdict == "none" and use.possessive:
            verdict = find_mention_ahead(use.wanted, sentence, find_mentions(sentence, {}, set()), use.but or index)
        if verdict == "none" and use.needs_evidence and word == "sie":
            # A later `sie` that is she says that this one is: `Er sah sie an, und sie lächelte.`
            later = [spot for spot in range(index + 1, len(sentence)) if sentence.lower[spot] == "sie"]
            uses = (pronoun_use(sentence, spot) for spot in later)
            if any(isinstance(each, Use) and each.subject for each in uses):
                verdict = "person"
        return verdict, noun_was_left

    def leave_word(self, sentence: Sentence, index: int, term: str, why: str, *, noun: bool = False) -> None:
        """Note that a word stays, and why."""
        token = sentence.tokens[index]
        self.left.append(Left(token.start, token.text, term, why))
        if noun:
            sentence.left_nouns.add(index)

    def _record_changes(self, sentence: Sentence) -> None:
        tokens, words, joined = sentence.tokens, sentence.words, sentence.joined
        inside = {index for start, end in joined.items() for index in range(start + 1, end + 1)}
        for index, word in sorted(words.items()):
            if index in inside:
                continue
            token = tokens[index]
            end = tokens[joined.get(index, index)].end
            if self.choices.removes:
                self.changes.append(self._make_removal(token, word))
            elif word.text:
                if index not in joined and index + 1 in words and not words[index + 1].text:
                    end = tokens[index + 1].end
                before, after = self.text[token.start : end], carry_case(token.text, word.text)
                if before != after:
                    self.changes.append(Replacement(token.start, end, before, after, word.term, word.kind))

    def _make_removal(self, token: Token, word: NewWord) -> Replacement:
        """The word and one of the spaces around it."""
        start, end = token.start, token.end
        taken = self.changes[-1].end if self.changes else 0
        if self.text[end : end + 1] == " " and (start == 0 or self.text[start - 1].isspace()):
            end += 1
        elif start > taken and self.text[start - 1] == " ":
            start -= 1
        return Replacement(start, end, self.text[start:end], "", word.term, word.kind)


def _has_several_owners(sentence: Sentence, index: int, mentions: list[Mention]) -> bool:
    """Whether several are the subject: `Mutter und Schwester besuchten ihre Cousine`."""
    clause = sentence.clause_of[index]
    if sentence.word(index - 1) == "und" and clause.verb is not None and clause.verb > index:
        return False  # `mein Freund und seine Schwester reisen`
    return is_plural(sentence.verb(index)) and any(mention.rank and mention.clause is clause for mention in mentions)


def _is_surname(sentence: Sentence, phrase: Phrase, slot: Slot, reading: NounReading) -> bool:
    """Whether a noun without an article may be somebody's surname: `Koch wurde geehrt`, `von Fischer`."""
    text = sentence.tokens[phrase.head].text
    if text != reading.noun.male or text not in SURNAMES or phrase.determiner is not None or phrase.adjectives:
        return False
    if phrase.number is not None or is_after_as(sentence, phrase) or sentence.part(phrase.head + 1) == "NE":
        return False
    verb = sentence.clause_of[phrase.head].verb
    if slot.gender == "p":
        return bool(phrase.preposition)
    return verb is None or (verb > phrase.head and not sentence.clause_of[phrase.head].subordinate)


PIECE = 100_000
"""About how many characters of a text are held as tokens at a time."""
_BREAK = re.compile(r"\n|(?<=[.!?])\s|(?<=\s)")


class GermanRewriter:
    """Rewrites German text; a phrase whose agreement is unclear is left and reported."""

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
