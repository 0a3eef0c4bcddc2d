"""Parts of speech of English words, by HanTa.

HanTa (Wartena 2019) is a hidden Markov model. Its English model (tags of the British National Corpus: NN1, VVZ, NP0 …)
comes with its package, and is loaded when it is first needed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

CACHE_SIZE = 100_000
LONGEST_WORD = 60
"""The tagger sees no more letters of a word, because its time grows with their square."""
_LOCK = threading.Lock()


def tag_words(words: Sequence[str]) -> list[str]:
    """The part of speech of each word of a sentence."""
    short = [word[:LONGEST_WORD].replace("’", "'") for word in words]
    with _LOCK:
        return list(_load_tagger().tag_sent(short, taglevel=0))


def rate_tags(word: str) -> dict[str, float]:
    """The tags that a word can have by itself, the likeliest first, with the log probability of word and tag."""
    with _LOCK:
        return {tag: float(score) for tag, score in _load_tagger().tag_word(word[:LONGEST_WORD])}


@cache
def _load_tagger() -> Any:
    from HanTa import HanoverTagger

    tagger = HanoverTagger.HanoverTagger("morphmodel_en.pgz")
    tagger.analyze_forward = lru_cache(CACHE_SIZE)(tagger.analyze_forward)  # the same words come again and again
    return tagger
