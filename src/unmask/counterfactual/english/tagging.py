"""Sentences, tokens and parts of speech of English, for the few places that cannot be decided without them.

The tagger is HanTa (Wartena 2019), a hidden Markov model with its English model (tags of the British National Corpus:
NN1, VVZ, NP0 …) in the package itself. It is loaded when it is first needed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

REACH = 400
"""How far a sentence is looked for, in characters either side."""
REMEMBERED = 100_000
LONGEST = 60
"""Letters of a word that the tagger is shown: its time grows with their square."""
_TAGGING = threading.Lock()
_TOKEN = re.compile(
    r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+(?:-\w+)*|[^\w\s]",
    re.IGNORECASE,
)
_ENDS = re.compile(r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)[.!?…]+[\"'”’)\]]*\s|\n\s*\n|<br\s*/?>")


class Token(NamedTuple):
    """A word or sign, and where it stands."""

    start: int
    end: int
    text: str


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The bounds of the sentence around a place, as far as it reaches."""
    left = max(0, start - REACH)
    for match in _ENDS.finditer(text, left, start):
        left = match.end()
    following = _ENDS.search(text, end, end + REACH)
    return left, following.end() if following else min(len(text), end + REACH)


def tokens(text: str, start: int, end: int) -> list[Token]:
    """The words and signs between two places, clitics apart: *is* and *n't*, *she* and *'s*."""
    return [Token(match.start(), match.end(), match.group()) for match in _TOKEN.finditer(text, start, end)]


def tags(words: Sequence[str]) -> list[str]:
    """The part of speech of each word of a sentence."""
    short = [word[:LONGEST].replace("’", "'") for word in words]
    with _TAGGING:
        return list(_tagger().tag_sent(short, taglevel=0))


def readings(word: str) -> dict[str, float]:
    """What a word can be by itself, likeliest first: its tags, with the logarithm of how probable word and tag are."""
    with _TAGGING:
        return {tag: float(score) for tag, score in _tagger().tag_word(word[:LONGEST])}


@cache
def _tagger() -> Any:
    from HanTa import HanoverTagger

    tagger = HanoverTagger.HanoverTagger("morphmodel_en.pgz")
    tagger.analyze_forward = lru_cache(REMEMBERED)(tagger.analyze_forward)  # words come again and again
    return tagger
