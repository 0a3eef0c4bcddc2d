"""Where the words of a list stand in a text, whole and whatever their case, and which tokens a word is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

Span = tuple[int, int]
_WORD = re.compile(r"\w+")


class WholeWords:
    """A list of words and phrases to look for; `man` is found in *Man's* and in *man-made*, not in *manual*.

    Of several that begin at one place the longest is found, and none begins within another.
    """

    def __init__(self, words: Iterable[str]) -> None:
        """Take the words in lower case; each begins with a letter or digit."""
        self._by_start: dict[str, list[str]] = defaultdict(list)
        for word in sorted(words, key=len, reverse=True):
            start = _WORD.match(word)
            assert start is not None, word
            self._by_start[start.group()].append(word)

    def spans(self, text: str) -> list[Span]:
        """First character and one past the last of every occurrence."""
        found: list[Span] = []
        for match in _WORD.finditer(text):
            start = match.start()
            if found and start < found[-1][1]:
                continue
            for word in self._by_start.get(match.group().lower(), ()):
                end = start + len(word)
                if text[start:end].lower() == word and not (end < len(text) and _WORD.match(text, end)):
                    found.append((start, end))
                    break
        return found


def pieces_of(
    text: str, span: Span, offsets: Sequence[Span], tokens: Sequence[str], ordinary: Sequence[bool]
) -> list[int]:
    """The places of a word's tokens; none where one of them is unknown, or joins the word with a neighbour.

    A piece may carry the space before its word, or be that space alone (SentencePiece); both belong to the word.
    """
    start, end = span
    touched = [at for at, (left, right) in enumerate(offsets) if left < end and right > start]
    if not touched or not all(ordinary[at] for at in touched):
        return []
    first, last = touched[0], touched[-1]
    if text[offsets[first][0] : start].strip() or text[end : offsets[last][1]].strip():
        return []
    while first and ordinary[first - 1] and not tokens[first - 1].strip("▁Ġ "):
        first -= 1
    return list(range(first, last + 1))
