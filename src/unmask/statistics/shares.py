"""Shares of answers, and whatever is made of them, for items that come in crossed samples (words and sentences).

Each item adds a row of numbers; a statistic is a function of their sums, such as a share (a sum of answers over a sum
of items) or a difference of shares. Leaving out a word or a sentence takes its rows away from the sums, so that a
jackknife over each sample costs no more than adding up. A table with gaps, where a word stands in some sentences only,
is no difficulty. How the variances are put together says `crossed`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.statistics.crossed import IntervalEstimate, combined

Sums = NDArray[np.float64]
Codes = NDArray[np.intp]


def jackknife(numbers: ArrayLike, factors: Sequence[Codes], statistic: Callable[[Sums], float]) -> IntervalEstimate:
    """IntervalEstimate `statistic(sums)` with uncertainty from each of the samples.

    `numbers` has a row an item and a column a sum; a factor says which of its levels each item has (`codes`). A factor
    with a single level is taken as fixed. A statistic that is NaN once a level is left out (the last of its kind) has a
    value, but neither interval nor test.
    """
    rows = np.asarray(numbers, dtype=float)
    if not rows.size:
        return IntervalEstimate(None)
    total = rows.sum(axis=0)
    value = float(statistic(total))
    if not np.isfinite(value):
        return IntervalEstimate(None)
    parts = [_sums(rows, factor) for factor in factors]
    return combined(value, [[float(statistic(total - part)) for part in some] for some in parts if len(some) > 1])


def codes(levels: ArrayLike, within: ArrayLike | None = None) -> Codes:
    """The levels of a factor as numbers; −1 for items that are not `within` it.

    Words of several kinds are a factor each: every kind is a sample of its own size.
    """
    given = np.asarray(levels)
    inside = np.ones(given.shape, dtype=bool) if within is None else np.asarray(within, dtype=bool)
    found = np.full(given.shape, -1, dtype=np.intp)
    found[inside] = np.unique(given[inside], return_inverse=True)[1]
    return found


def _sums(rows: NDArray[np.float64], factor: Codes) -> NDArray[np.float64]:
    """The sums of each level of a factor."""
    found = np.zeros((int(factor.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(found, factor[factor >= 0], rows[factor >= 0])
    return found


def ratio(part: float, whole: float) -> float:
    """A share; NaN of nothing."""
    return part / whole if whole > 0 else float("nan")
