"""Which of two is preferred, pair by pair: the share of pairs with a positive difference, and whether it is one half.

- share = (positive + ½ · zero) / n, with Wilson's interval (`proportion`).
- the sign test (Arbuthnott 1710; Dixon and Mood 1946), zeros left out: without a preference the number of positive
  differences is a draw from Binomial(positive + negative, ½). p is exact and two-sided.

W. J. Dixon and A. M. Mood (1946). The statistical sign test. Journal of the American Statistical Association 41.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from unmask.statistics.proportion import wilson


@dataclass(frozen=True)
class Preference:
    """How often a difference is positive."""

    n: int
    positive: int
    zero: int
    share: float | None
    interval: tuple[float, float] | None
    """95 %."""
    p_value: float | None


def preference(differences: ArrayLike) -> Preference:
    """The share of positive differences; nothing of no pairs, and p = 1 where all differences are zero."""
    values = np.asarray(differences, dtype=float)
    if np.isnan(values).any():
        raise ValueError("differences contain NaN")
    n, positive, zero = values.size, int((values > 0).sum()), int((values == 0).sum())
    if not n:
        return Preference(0, 0, 0, None, None, None)
    share = (positive + zero / 2) / n
    p = float(stats.binomtest(positive, n - zero).pvalue) if n > zero else 1.0
    return Preference(n, positive, zero, share, wilson(share, n), p)
