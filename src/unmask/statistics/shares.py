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

from unmask.statistics.crossed import Estimate, combined

Sums = NDArray[np.float64]


def jackknife(numbers: ArrayLike, factors: Sequence[ArrayLike], statistic: Callable[[Sums], float]) -> Estimate:
    """Estimate `statistic(sums)` with uncertainty from each of the samples: what each item has of each factor.

    `numbers` has a row an item and a column a sum. A factor with a single level is taken as fixed. A
    statistic that is NaN once a level is left out (the last of its kind) has a value, but neither interval nor test.
    """
    rows = np.asarray(numbers, dtype=float)
    if not rows.size:
        return Estimate(None)
    total = rows.sum(axis=0)
    value = float(statistic(total))
    if not np.isfinite(value):
        return Estimate(None)
    parts = [_sums(rows, np.asarray(factor)) for factor in factors]
    return combined(value, [[float(statistic(total - part)) for part in some] for some in parts if len(some) > 1])


def _sums(rows: NDArray[np.float64], factor: NDArray[np.generic]) -> NDArray[np.float64]:
    """The sums of each level of a factor."""
    levels, at = np.unique(factor, return_inverse=True)
    found = np.zeros((levels.size, rows.shape[1]))
    np.add.at(found, at, rows)
    return found


def ratio(part: float, whole: float) -> float:
    """A share; NaN of nothing."""
    return part / whole if whole > 0 else float("nan")
