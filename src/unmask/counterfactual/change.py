"""What a rewriting did: the new text, every change in it, and the gendered words that were left as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

Kind = Literal["word", "name", "article", "verb"]


@dataclass(frozen=True, slots=True)
class Change:
    """One place of a text that was rewritten; offsets are those of the original."""

    start: int
    end: int
    before: str
    after: str
    term: str
    """What is counted: the word of the lexicon, or the name, in lower case."""
    kind: Kind


@dataclass(frozen=True, slots=True)
class Left:
    """A gendered word that was seen and left, and why."""

    start: int
    word: str
    term: str
    why: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A text in another gender, with what was changed and what was not."""

    text: str
    changes: tuple[Change, ...] = ()
    left: tuple[Left, ...] = ()


class Rewriter(Protocol):
    """Whatever turns a text into its counterfactual."""

    def rewrite(self, text: str) -> Rewritten:
        """Rewrite one document."""
        ...


def apply(text: str, changes: Iterable[Change]) -> str:
    """Put changes, in order and without overlap, into the text they were found in; nothing else is touched."""
    parts: list[str] = []
    place = 0
    for change in changes:
        parts += (text[place : change.start], change.after)
        place = change.end
    return "".join((*parts, text[place:]))
