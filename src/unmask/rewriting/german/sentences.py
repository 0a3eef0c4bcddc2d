"""A German document as sentences of tokens and clauses; a sentence is tagged only when its tags are needed.

A clause is a finite verb and what belongs to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from unmask.lexicon.table import read_word_sets
from unmask.lexicon.tagging import find_lemma, tag_words
from unmask.rewriting.german.nouns import Nouns, Slot
from unmask.rewriting.german.phrases import Phrase, find_phrases
from unmask.rewriting.result import Kind, Token

if TYPE_CHECKING:
    from unmask.rewriting.german.pronouns import Mention

_WORDS = read_word_sets("de")

LONGEST = 250
"""The most tokens that are looked at as one sentence."""
TOKEN = re.compile(r"\d+(?:[.,]\d+)*(?:-?[^\W\d_]+)*|[^\W\d_]+(?:-[^\W\d_]+)*|\S")
# A full stop ends a sentence where white space and a capital or an opening mark follow it.
END = re.compile(r"(?:(?<![\W\d_])|(?<=\d{4})|(?<=[)\]%“\"]))[.!?…]+[\"“”»«’')\]]*(?=\s+[„\"»«“(\[–]*[A-ZÄÖÜ\d])|\n+")
ABBREVIATION = re.compile(
    r"(?:^|[\s(„\"])(?:[A-Za-zÄÖÜäöü]|Dr|Prof|Hr|Fr|Nr|St|bzw|ca|vgl|geb|gest|Jh|Jhd|Mio|Mrd|Abs|Art|Bd|Hrsg|sog|evtl|usw|etc|Ing|Dipl"
    r"|Mag|Str|Tel|Sr|Jr|Kap|Aufl|Abb|inkl|Univ|Inc|Co|No|al|Chr|lat|engl|dt|frz)\.$"
)


class NewWord(NamedTuple):
    """What takes the place of a token, nothing if it is empty; the term and the kind of change it is counted as."""

    text: str
    term: str
    kind: Kind = "word"


class Sentence:
    """A sentence: its tokens, its grammar on demand, and what the rewriting has understood and changed in it."""

    def __init__(self, number: int, tokens: list[Token], nouns: Nouns) -> None:
        self.number = number
        self.tokens = tokens
        self.lower = [token.text.lower() for token in tokens]
        self.nouns = nouns
        self.decided: dict[int, Slot] = {}
        """The slot of each noun, by index."""
        self.fixed: dict[int, str] = {}
        """The nouns that stand for no person, by index, with the reason."""
        self.spoken: dict[int, Mention] = {}
        """The pronouns that were understood, by index."""
        self.left_nouns: set[int] = set()
        self.words: dict[int, NewWord] = {}
        """The new words, by index."""
        self.joined: dict[int, int] = {}
        """The index of the last of several words that become one, by that of the first."""

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _parts(self) -> list[str]:
        words = [token.text for token in self.tokens]
        letters = [word for word in words if word[0].isalpha()]
        if len(letters) > 1 and all(word.isupper() for word in letters):  # nouns are known even in capitals
            words = [word.capitalize() if self.nouns.knows(word.lower()) else word.lower() for word in words]
        return tag_words(words, "de")

    @cached_property
    def phrases(self) -> list[Phrase]:
        """The noun phrases, in order."""
        return find_phrases(self, self.nouns)

    @cached_property
    def clause_of(self) -> list[Clause]:
        """For every token the clause that it belongs to."""
        return find_clauses(self)

    def lemma(self, index: int) -> str:
        """The lemma of a token."""
        return find_lemma(self.tokens[index].text, self._parts[index])

    def part(self, index: int) -> str:
        """The part of speech of a token; empty outside the sentence."""
        return self._parts[index] if 0 <= index < len(self.tokens) else ""

    def word(self, index: int) -> str:
        """A token in lower case; empty outside the sentence."""
        return self.lower[index] if 0 <= index < len(self.tokens) else ""

    def new_text(self, index: int) -> str:
        """The word that takes the place of a token; empty where there is none."""
        return self.words[index].text if index in self.words else ""

    def phrase_before(self, index: int) -> Phrase | None:
        """The last noun phrase whose noun stands before a token."""
        return next((phrase for phrase in reversed(self.phrases) if phrase.head < index), None)

    def verb(self, index: int) -> str:
        """The finite verb of the clause of a token, in lower case."""
        verb = self.clause_of[index].verb
        return "" if verb is None else self.lower[verb]

    def main_verb(self, index: int) -> str:
        """The lemma of the verb that says what happens: not the auxiliary, where there is another."""
        clause = self.clause_of[index]
        if clause.verb is None:
            return ""
        if not self.part(clause.verb).startswith("VV"):
            for other in reversed(clause.indices):
                if self.part(other).startswith(("VV(INF)", "VV(PP)", "VV(IZU)")):
                    return self.lemma(other)
        return self.lemma(clause.verb)

    def has_copula(self, index: int) -> bool:
        """Whether the clause of a token can have no accusative: `ist`, `wurde`, `bleibt`, and the passive."""
        clause = self.clause_of[index]
        if clause.verb is None:
            return False
        lemma = self.lemma(clause.verb)
        parts = [self.part(other) for other in clause.indices]
        if lemma == "werden" and any(part in ("VV(INF)", "VV(IZU)") for part in parts):
            return False
        if lemma in COPULAS:
            return True
        verbs = {self.lower[other] for other, part in zip(clause.indices, parts, strict=True) if part[:1] == "V"}
        passive = not verbs.isdisjoint(("werden", "sein", "geworden"))
        return passive and self.part(clause.verb).startswith(("VM", "VA"))


def split_sentences(text: str, nouns: Nouns) -> list[Sentence]:
    """The sentences of a document."""
    sentences: list[Sentence] = []
    start = 0
    ends = [end.end() for end in END.finditer(text) if not _ends_abbreviation(text, end)]
    for stop in [*ends, len(text)]:
        tokens = [Token(match.start(), match.end(), match.group()) for match in TOKEN.finditer(text, start, stop)]
        start = stop
        # What has no end is cut, so that the work grows with the length of a text and not with its square.
        while tokens:
            cut = len(tokens)
            if cut > LONGEST:
                marks = [index for index in range(LONGEST // 2, LONGEST) if tokens[index].text in tuple(".;!?:,")]
                cut = marks[-1] + 1 if marks else LONGEST
            sentences.append(Sentence(len(sentences), tokens[:cut], nouns))
            tokens = tokens[cut:]
    return sentences


def _ends_abbreviation(text: str, end: re.Match[str]) -> bool:
    before = text[max(0, end.end() - 16) : end.end()].rstrip("\"“”»«’')]")
    return end.group()[0] == "." and ABBREVIATION.search(before) is not None


BREAKS = frozenset(',;:()–—„“”"»«[]…')
JOINERS = frozenset({"und", "oder", "aber", "denn", "sondern", "doch", "sowie"})
OPENERS = ("KOUS", "KOUI", "PREL", "PWS", "PWAT", "PWAV")
SUBORDINATORS = _WORDS["subordinators"]
SINGULAR_N = ("schien", "ann", "bin", "lehn", "schrien")
COPULAS = frozenset({"sein", "werden", "bleiben", "heißen"})


@dataclass
class Clause:
    """A finite verb (or none) and the indices of its words."""

    verb: int | None
    subordinate: bool
    indices: list[int] = field(default_factory=list)

    @property
    def start(self) -> int:
        """The index of its first word."""
        return self.indices[0]


def is_plural(word: str) -> bool:
    """Whether a finite verb, in lower case, is a plural form (wir, sie, Sie)."""
    if word in ("sind", "tun", "seien"):
        return True
    return word.endswith(("en", "ern", "eln")) and not word.endswith(SINGULAR_N)


def find_clauses(sentence: Sentence) -> list[Clause]:
    """For every token the clause that it belongs to."""
    finite = [sentence.part(index).endswith("(FIN)") for index in range(len(sentence))]
    segments = _split_segments(sentence, finite)
    owners: list[Clause | None] = []
    for segment in segments:
        verbs = [index for index in segment if finite[index]]
        subordinate = _opens_subordinate_clause(sentence, segment)
        if subordinate and not verbs:
            verbs = _find_infinitive(sentence, segment)
        if verbs:
            owners.append(Clause(verbs[-1] if subordinate else verbs[0], subordinate))
        else:
            owners.append(None)
    for number, segment in enumerate(segments):
        if owners[number] is None:
            owners[number] = _find_owner(sentence, segments, owners, number, segment)
    of_token: list[Clause] = [Clause(None, False)] * len(sentence)
    for segment, owner in zip(segments, owners, strict=True):
        assert owner is not None
        owner.indices.extend(segment)
        for index in segment:
            of_token[index] = owner
    return of_token


def _find_infinitive(sentence: Sentence, segment: list[int]) -> list[int]:
    """The verb at the end of a clause, where it looks like an infinitive: `dass sie es nicht wagen`."""
    words = [index for index in segment if sentence.lower[index] not in BREAKS and sentence.lower[index].isalpha()]
    if words and sentence.part(words[-1]).endswith("(INF)") and sentence.word(words[-1] - 1) != "zu":
        return [words[-1]]
    return []


def _find_owner(
    sentence: Sentence, segments: list[list[int]], owners: list[Clause | None], number: int, segment: list[int]
) -> Clause:
    opened = _opens_subordinate_clause(sentence, segment)
    for other in range(number + 1, len(segments)):
        owner = owners[other]
        if owner is None or owner.verb is None:
            continue
        if opened:
            return owner
        words = [index for index in segments[other] if sentence.lower[index] not in BREAKS]
        if owner.subordinate:
            continue
        if words and words[0] == owner.verb:
            return owner
        break
    for other in range(number - 1, -1, -1):
        owner = owners[other]
        if owner is None or owner.verb is None:
            continue
        # A subordinate clause ends with its verb.
        if not (owner.subordinate and segments[other][-1] <= owner.verb + 1):
            return owner
    for other in range(number + 1, len(segments)):
        owner = owners[other]
        if owner is not None and owner.verb is not None and not owner.subordinate:
            return owner
    return Clause(None, opened)


def _opens_subordinate_clause(sentence: Sentence, segment: list[int]) -> bool:
    words = [index for index in segment if sentence.lower[index] not in BREAKS | JOINERS]
    for index in words[:2]:
        word = sentence.lower[index]
        if sentence.part(index).startswith(OPENERS) or (
            word in SUBORDINATORS and sentence.part(index).startswith(("KO", "PW"))
        ):
            # A question begins with its question word and has the verb next to it.
            asks = sentence.part(index).startswith("PW") and sentence.part(index + 1).endswith("(FIN)")
            return not (asks and segment[0] == 0)
        if word in SUBORDINATORS and sentence.part(words[-1]).endswith("(FIN)"):
            return True  # `als` and `während` may look like prepositions; the verb at the end says otherwise
        if not sentence.part(index).startswith("AP"):
            return False
    return False


def _split_segments(sentence: Sentence, finite: list[bool]) -> list[list[int]]:
    pieces: list[list[int]] = [[]]
    for index, word in enumerate(sentence.lower):
        if word in BREAKS and pieces[-1]:
            pieces.append([])
        pieces[-1].append(index)
    segments: list[list[int]] = []
    for piece in pieces:
        current: list[int] = []
        for position, index in enumerate(piece):
            if (
                sentence.lower[index] in JOINERS
                and any(finite[other] for other in current)
                and any(finite[other] for other in piece[position:])
            ):
                segments.append(current)
                current = []
            current.append(index)
        segments.append(current)
    return [segment for segment in segments if segment]
