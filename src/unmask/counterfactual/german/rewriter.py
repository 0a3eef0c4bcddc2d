"""Turn the gender of the persons in a German text, as far as its grammar can be carried through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from unmask.counterfactual.change import Change, Left, Rewritten, apply
from unmask.counterfactual.german.choices import choose
from unmask.counterfactual.german.document import Document
from unmask.counterfactual.settings import Settings

PIECE = 100_000
"""About how many characters of a text are held as tokens at a time."""
_BREAK = re.compile(r"\n|(?<=[.!?])\s|(?<=\s)")


class GermanRewriter:
    """Rewrites German text; what it cannot rewrite with all that agrees is left, and said to be."""

    def __init__(self, settings: Settings) -> None:
        self._choices = choose(settings)

    def rewrite(self, text: str) -> Rewritten:
        """Rewrite one document."""
        if len(text) <= PIECE:
            return Document(self._choices, text).rewrite()
        changes: list[Change] = []
        left: list[Left] = []
        for start, stop in _pieces(text):
            done = Document(self._choices, text[start:stop]).rewrite()
            changes += (replace(one, start=one.start + start, end=one.end + start) for one in done.changes)
            left += (replace(one, start=one.start + start) for one in done.left)
        return Rewritten(apply(text, changes), tuple(changes), tuple(left))


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Cut a long text at the first line end, sentence end or space behind each piece."""
    start = 0
    while start < len(text):
        found = _BREAK.search(text, start + PIECE, start + 2 * PIECE)
        stop = found.end() if found and found.end() > start else min(len(text), start + 2 * PIECE)
        yield start, stop
        start = stop
