"""Parts of speech for German sentences, from HanTa (Wartena 2019), loaded when first needed."""

from __future__ import annotations

import importlib
from functools import cache, lru_cache
from typing import Any

REMEMBERED = 100_000
LONGEST_WORD = 60
"""The most letters of a word that are looked at: the work grows with the square of its length."""


@cache
def _model() -> Any:
    model = importlib.import_module("HanTa.HanoverTagger").HanoverTagger("morphmodel_ger.pgz")
    # Half of the time goes into taking apart words that have been taken apart before.
    model.analyze_forward = lru_cache(REMEMBERED)(model.analyze_forward)
    return model


def tag(words: list[str]) -> list[str]:
    """The part of speech (STTS, with the verb form in brackets) of each word of a sentence."""
    return list(_model().tag_sent([word[:LONGEST_WORD] for word in words], taglevel=0)) if words else []


@lru_cache(REMEMBERED)
def lemma(word: str, part: str) -> str:
    """The form of a word that stands in a dictionary, by its part of speech: much slower to find than that."""
    return str(_model().analyze(word[:LONGEST_WORD], pos=part, taglevel=1)[0])
