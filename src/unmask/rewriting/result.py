"""The result of a rewriting: the new text, every change in it, and the gendered words that were left as they are.

Upper and lower case are carried from a word to the one that takes its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol


def carry_case(before: str, after: str) -> str:
    """Write `after` as `before` was written: lower, Title or UPPER; a word that needs its capital keeps it."""
    if before.isupper() and len(before) > 1:
        return after.upper()
    parts = before.replace("-", " ").split()
    if all(part[:1].isupper() for part in parts):
        return title_case(after) if len(parts) > 1 else after[:1].upper() + after[1:]
    if before[:1].isupper():
        return after[:1].upper() + after[1:]
    return after


def title_case(words: str) -> str:
    """Every word with a capital."""
    return "".join(
        letter.upper() if index == 0 or words[index - 1] in " -" else letter for index, letter in enumerate(words)
    )


def case_variants(word: str) -> tuple[str, ...]:
    """The ways a word is written: lower, Title and UPPER."""
    return tuple(dict.fromkeys((word.lower(), word[:1].upper() + word[1:].lower(), word.upper())))


class Token(NamedTuple):
    """A word or a sign, and where it stands in its document."""

    start: int
    end: int
    text: str


Kind = Literal["word", "name", "article", "verb"]


@dataclass(frozen=True, slots=True)
class Replacement:
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
    changes: tuple[Replacement, ...] = ()
    left: tuple[Left, ...] = ()


class Rewriter(Protocol):
    """Whatever turns a text into its counterfactual."""

    def rewrite(self, text: str) -> Rewritten:
        """Rewrite one document."""
        ...


def apply_changes(text: str, changes: Iterable[Replacement]) -> str:
    """Put changes, in order and without overlap, into the text they were found in; nothing else is touched."""
    parts: list[str] = []
    end = 0
    for change in changes:
        parts += (text[end : change.start], change.after)
        end = change.end
    return "".join((*parts, text[end:]))
