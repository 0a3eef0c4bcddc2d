"""Parts of speech, by HanTa.

HanTa (Wartena 2019) is a hidden Markov model. Its models come with its package, and are loaded when they are first
needed; the English one has the tags of the British National Corpus (NN1, VVZ, NP0 …), the German one those of STTS,
with the form of a verb in brackets.
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


def tag_words(words: Sequence[str], language: str = "en") -> list[str]:
    """The part of speech of each word of a sentence."""
    short = [word[:LONGEST_WORD] for word in words]
    if language == "en":
        short = [word.replace("’", "'") for word in short]
    with _LOCK:
        return list(_load_tagger(language).tag_sent(short, taglevel=0)) if short else []


def rate_tags(word: str) -> dict[str, float]:
    """The tags that an English word can have by itself, the likeliest first, with the log probability of both."""
    with _LOCK:
        return {tag: float(score) for tag, score in _load_tagger("en").tag_word(word[:LONGEST_WORD])}


@lru_cache(CACHE_SIZE)
def find_lemma(word: str, tag: str) -> str:
    """The dictionary form of a German word with this part of speech; much slower to find than the tag."""
    with _LOCK:
        return str(_load_tagger("de").analyze(word[:LONGEST_WORD], pos=tag, taglevel=1)[0])


@cache
def _load_tagger(language: str) -> Any:
    from HanTa import HanoverTagger

    tagger = HanoverTagger.HanoverTagger({"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz"}[language])
    tagger.analyze_forward = lru_cache(CACHE_SIZE)(tagger.analyze_forward)  # the same words come again and again
    return tagger
