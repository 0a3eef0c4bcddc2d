"""How sure a ranking is: between which ranks each of several estimates may lie.

Each estimate is drawn many times from a normal distribution that is as wide as its 95 % interval says, independently of
the others; every draw ranks all of them by their distance from zero, the farthest first. A rank range holds the middle
95 % of an estimate's ranks. Estimates that were made with the same words are more alike in their errors than that, so
that the ranges are, if anything, too wide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

DRAWS = 10_000
SEED = 0
WIDTH = 2 * 1.959964
"""Of a 95 % interval, in standard deviations."""


def rank_ranges(estimates: Sequence[float], intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """The first and last rank that each estimate may have, 1 being the farthest from zero; ties share the middle."""
    if not estimates:
        return []
    spread = np.array([(high - low) / WIDTH for low, high in intervals])
    drawn = np.random.default_rng(SEED).normal(np.asarray(estimates, dtype=float), spread, (DRAWS, len(estimates)))
    ranks = stats.rankdata(-np.abs(drawn), axis=1)
    low, high = np.quantile(ranks, (0.025, 0.975), axis=0)
    return [(int(np.floor(first)), int(np.ceil(last))) for first, last in zip(low, high, strict=True)]
