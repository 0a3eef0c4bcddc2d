"""The gender terms of film reviews made male, made female or taken out, as Jentzsch & Turan (2022) did it.

*Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a Realistic Downstream
Classification Task.* A term is the string `' w '`, space to space, and the terms are replaced one after the other in
the order of their list. What follows from that is part of the method:

- a term at the very beginning or end of a review is never found;
- of two like terms side by side only the first is: they share the space between them;
- terms with a hyphen are never found, because `clean` leaves none, and *best man* never becomes *bridesmaid*, because
  *man* comes first;
- *her* becomes *his* for the pronouns, *him* for the family terms, whatever it is in its sentence.

Terms were taken out in the order of a Python set, which differs from run to run; ours is the order of the alphabet.
The difference is seen where taking out one term brings two others together: with the alphabet backwards, 18 of 10,000
reviews come out otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unmask.errors import UnmaskError, check_choice
from unmask.rewriting.published import lists
from unmask.rewriting.result import Replacement, Rewritten

FILES = {"pronouns": "prons", "family": "weat", "all": "terms"}
"""What we call the term sets, and how their files are called: the paper's pro, weat and all."""
DIRECTIONS = ("male", "female", "remove")
ONLY_REMOVED = ("climacteric", "menopause", "uterus", "womb")
"""Terms without a counterpart: never replaced, but taken out with all the others."""

_BREAK = "<br /><br />"
_SIGNS = str.maketrans({**dict.fromkeys('.;:!?,"()[]', ""), **dict.fromkeys("-/'", " ")})
_LOST = "0"


def clean(text: str) -> str:
    """A review as the study's table has it (its column *Review clean*).

    Lower case; `. ; : ! ? , " ( ) [ ]` deleted; the double line break of the reviews, hyphen, slash and apostrophe
    made a space; every other character kept, white space too, also at the ends. The released column was not to be had:
    this is what gives the numbers of term-free reviews exactly, and neither deleting ``* _ ` ~ ´`` nor trimming spaces
    does. The numbers do not tell what became of rarer signs (`]`, `&`, `%`), of a single `<br />`, or of runs of
    spaces. They do tell that a review which begins with `=` lost its text: a spreadsheet takes it for a formula. We
    put the value of such a cell, 0.
    """
    cleaned = text.lower().replace(_BREAK, " ").translate(_SIGNS)
    return _LOST if cleaned.startswith("=") else cleaned


class Masking:
    """One of the paper's nine ways to mask a review; a `Rewriter` of texts that are clean already."""

    def __init__(self, folder: Path, terms: str, to: str) -> None:
        stem = FILES[check_choice(terms, FILES, "term set")]
        check_choice(to, DIRECTIONS, "direction")
        to_female, to_male = (lists.read_mapping(folder, f"{stem}_{way}.json") for way in ("m2f", "f2m"))
        self.terms = frozenset({*to_female, *to_male, *(ONLY_REMOVED if terms == "all" else ())})
        """Every term of the set, male or female."""
        if to == "remove":
            self._rules: dict[str, str | None] = dict.fromkeys(sorted(self.terms))
        else:
            self._rules = {**(to_female if to == "female" else to_male)}
        # A replacement that is replaced in its turn would be ambiguous; the released lists have none.
        parts = {part for term in self._rules for part in term.split(" ")}
        for term, after in self._rules.items():
            if after is not None and not parts.isdisjoint(after.split(" ")):
                raise UnmaskError(
                    f"{folder / stem}: {term!r} becomes {after!r}, which is a term itself; remove one of them"
                )

    def count(self, text: str) -> int:
        """How many terms of the set a clean text has, as the paper counts: a review with none is *term-free*."""
        return sum(text.count(f" {term} ") for term in _find_present(self.terms, text.split(" ")))

    def rewrite(self, text: str) -> Rewritten:
        """Replace the terms in a clean text one after the other, or take them out.

        A change that takes a word out spans the space after it; *best man* makes two.
        """
        words = text.split(" ")
        starts = [0]
        for word in words[:-1]:
            starts.append(starts[-1] + len(word) + 1)
        changes = []
        for term in _find_present(self._rules, words):
            after, parts = self._rules[term], term.split(" ")
            for index in _find_places(words, parts):
                if after is None:
                    changes += [
                        Replacement(start, start + len(part) + 1, f"{part} ", "", term, "word")
                        for start, part in zip(starts[index : index + len(parts)], parts, strict=True)
                    ]
                    del words[index : index + len(parts)], starts[index : index + len(parts)]
                else:
                    start = starts[index]
                    changes.append(Replacement(start, start + len(term), term, after, term, "word"))
                    # One word in the list, even if it has a space: no term is looked for inside a replacement.
                    words[index : index + len(parts)] = [after]
                    del starts[index + 1 : index + len(parts)]
        return Rewritten(" ".join(words), tuple(sorted(changes, key=lambda change: change.start)))


def _find_present(terms: Iterable[str], words: list[str]) -> list[str]:
    """The terms that can be in a text at all, in their order: a handful out of hundreds."""
    known = set(words)
    return [term for term in terms if term in known or (" " in term and known.issuperset(term.split(" ")))]


def _find_places(words: list[str], parts: list[str]) -> list[int]:
    """Where `str.replace` would find a term between spaces, last first, so that a change leaves the others in place."""
    indices: list[int] = []
    index = 1
    while True:
        try:
            index = words.index(parts[0], index, len(words) - len(parts))
        except ValueError:
            return indices[::-1]
        if words[index : index + len(parts)] == parts:
            indices.append(index)
            index += len(parts)  # the space after a term is used up: the next word cannot be one
        index += 1


class Reviews:
    """The same for reviews as they were written: cleaned first, as the study did."""

    def __init__(self, folder: Path, terms: str, to: str) -> None:
        self._masking = Masking(folder, terms, to)

    def rewrite(self, text: str) -> Rewritten:
        """Clean a review and mask it; offsets of changes are those in the clean text."""
        return self._masking.rewrite(clean(text))
