"""Unrelated contrasts, tested at once."""

from __future__ import annotations

from unmask.measures.geometry.contrasts import References, start_contrasts
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.word_tests import NearestWords


def run_contrasts(space: Space, nearest_words: NearestWords | None, *, seed: int, count: int) -> References:
    """Test unrelated contrasts, and wait for their values."""
    with start_contrasts(space, nearest_words, seed=seed, count=count) as collect:
        return collect()
