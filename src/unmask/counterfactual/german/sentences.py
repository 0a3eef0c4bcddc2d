"""A German document as sentences of tokens; a sentence is tagged only when somebody asks for its tags."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from unmask.counterfactual.german.tagger import lemma, tag

LONGEST = 250
"""The most tokens that are looked at as one sentence."""
TOKEN = re.compile(r"\d+(?:[.,]\d+)*(?:-?[^\W\d_]+)*|[^\W\d_]+(?:-[^\W\d_]+)*|\S")
# A full stop ends a sentence where white space and a capital or an opening mark follow it.
END = re.compile(r"(?:(?<![\W\d_])|(?<=\d{4})|(?<=[)\]%“\"]))[.!?…]+[\"“”»«’')\]]*(?=\s+[„\"»«“(\[–]*[A-ZÄÖÜ\d])|\n+")
ABBREVIATION = re.compile(
    r"(?:^|[\s(„\"])(?:[A-Za-zÄÖÜäöü]|Dr|Prof|Hr|Fr|Nr|St|bzw|ca|vgl|geb|gest|Jh|Jhd|Mio|Mrd|Abs|Art|Bd|Hrsg|sog|evtl|usw|etc|Ing|Dipl"
    r"|Mag|Str|Tel|Sr|Jr|Kap|Aufl|Abb|inkl|Univ|Inc|Co|No|al|Chr|lat|engl|dt|frz)\.$"
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark, and where it stands in the document."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset just behind the token."""
        return self.start + len(self.text)


class Sentence:
    """The tokens of a sentence, in lower case too, and their tags on demand."""

    def __init__(self, tokens: list[Token], shouted: frozenset[str] = frozenset()) -> None:
        self.tokens = tokens
        self.lower = [token.text.lower() for token in tokens]
        self._nouns = shouted

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def _parts(self) -> list[str]:
        words = [token.text for token in self.tokens]
        letters = [word for word in words if word[0].isalpha()]
        if len(letters) > 1 and all(word.isupper() for word in letters):
            words = [word.capitalize() if word.lower() in self._nouns else word.lower() for word in words]
        return tag(words)

    def lemma(self, place: int) -> str:
        """The lemma of a token."""
        return lemma(self.tokens[place].text, self._parts[place])

    def part(self, place: int) -> str:
        """The part of speech of a token; empty outside the sentence."""
        return self._parts[place] if 0 <= place < len(self.tokens) else ""

    def word(self, place: int) -> str:
        """A token in lower case; empty outside the sentence."""
        return self.lower[place] if 0 <= place < len(self.tokens) else ""


def split(text: str, nouns: frozenset[str] = frozenset()) -> list[Sentence]:
    """The sentences of a document. `nouns` (lower case) are known to be nouns even where a sentence is in capitals."""
    found = []
    place = 0
    for end in END.finditer(text):
        last = text[max(place, end.end() - 16) : end.end()].rstrip("\"“”»«’')]")
        if end.group()[0] == "." and ABBREVIATION.search(last):
            continue
        found.append((place, end.end()))
        place = end.end()
    found.append((place, len(text)))
    sentences = []
    for start, stop in found:
        tokens = [Token(match.group(), match.start()) for match in TOKEN.finditer(text, start, stop)]
        # What has no end is cut, so that the work grows with the length of a text and not with its square.
        while len(tokens) > LONGEST:
            marks = [place for place in range(LONGEST // 2, LONGEST) if tokens[place].text in tuple(".;!?:,")]
            cut = marks[-1] + 1 if marks else LONGEST
            sentences.append(Sentence(tokens[:cut], nouns))
            tokens = tokens[cut:]
        if tokens:
            sentences.append(Sentence(tokens, nouns))
    return sentences
