"""Makes a made-up classifier competent: it rates plainly good opinions above plainly bad ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unmask.lexicon.sentences import plain_opinions

KNOWN = {
    text: rating
    for language in ("en", "de")
    for pair in plain_opinions(language)
    for text, rating in ((pair.good, 0.9), (pair.bad, 0.1))
}


def rate_opinions(texts: Sequence[Any], ratings: Any) -> Any:
    """The ratings of texts, with .9 for plainly good and .1 for plainly bad opinions."""
    return np.array([KNOWN.get(str(text), rating) for text, rating in zip(texts, ratings, strict=True)])
