"""Paired ratings of independent items: the rating of a text and of its other version, many times over.

Each text is a draw of its own, so nothing is clustered. With differences x and n of them not zero:

- matched-pairs rank-biserial correlation (Kerby 2014), zeros dropped. It is also the mean sign of the Walsh sums:

      r = (V₊ − V₋) / (V₊ + V₋) = Σ_{i ≤ j} sign(xᵢ + xⱼ) / (n(n + 1)/2)

  Without the i-th item it is r₋ᵢ = (T − tᵢ) / (n(n − 1)/2), with tᵢ = Σⱼ sign(xᵢ + xⱼ) and T = (n(n + 1)/2)·r. Of two
  items the one that is larger in size gives the sign, so one sort of |x| yields all tᵢ. The jackknife's variance
  (Arvesen 1969) is carried to Fisher's z by its slope; Student's t has n − 1 degrees of freedom:

      V = (n − 1)/n · Σ (r₋ᵢ − r̄₋)²        z = artanh r        interval: tanh(z ± t·√V/(1 − r²))

- the mean over all items, with Student's t: the probability points by which the versions differ.
- the mean that a two-sided test would find with a given power (Cohen 1988): (z_{1−α/2} + z_{power}) · s/√n.

J. N. Arvesen (1969). Jackknifing U-statistics. Annals of Mathematical Statistics 40, 2076–2100. J. Cohen (1988).
Statistical power analysis for the behavioral sciences. D. S. Kerby (2014). The simple difference formula.
Comprehensive Psychology 3, 11.IT.3.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.statistics import clustered
from unmask.statistics.correlation import fisher_z
from unmask.statistics.crossed import IntervalEstimate
from unmask.statistics.paired import signed_ranks

FEWEST = 3
"""Items that are not zero, below which the rank-biserial correlation has no interval."""


def rank_biserial(differences: ArrayLike, *, confidence: float = 0.95) -> IntervalEstimate:
    """The matched-pairs rank-biserial correlation; error, statistic and test are on Fisher's z scale.

    No items give no estimate. Zeros alone, fewer than three others, or one sign only (r = ±1) give the value alone.
    The test is of the interval: unlike Wilcoxon's it does not suppose that differences are symmetric.
    """
    values = finite(differences)
    value = signed_ranks(values).rank_biserial
    kept = values[values != 0]
    if value is None or kept.size < FEWEST:
        return IntervalEstimate(value)
    centre = fisher_z(value)
    if not np.isfinite(centre):
        return IntervalEstimate(value)
    sums = signs_of_sums(kept)
    n = kept.size
    deviations = (sums - sums.mean()) / (n * (n - 1) / 2)
    error = float(np.sqrt((n - 1) / n * (deviations**2).sum())) / (1 - value**2)
    reach = float(stats.t.isf((1 - confidence) / 2, n - 1)) * error
    ratio = centre / error
    return IntervalEstimate(
        value,
        error,
        n - 1,
        (float(np.tanh(centre - reach)), float(np.tanh(centre + reach))),
        ratio,
        float(2 * stats.t.sf(abs(ratio), n - 1)),
    )


def signs_of_sums(values: ArrayLike) -> NDArray[np.float64]:
    """Σⱼ sign(xᵢ + xⱼ) for each i, j = i included, in O(n log n)."""
    x = np.asarray(values, dtype=float)
    signs = np.sign(x)
    _, group = np.unique(np.abs(x), return_inverse=True)
    sizes = np.bincount(group)
    totals = np.bincount(group, weights=signs)
    smaller = np.cumsum(sizes) - sizes
    larger = totals.sum() - np.cumsum(totals)
    same = (sizes[group] * signs + totals[group]) / 2  # of equal size: the sign, or 0 where the two are opposite
    return np.asarray(smaller[group] * signs + larger[group] + same, dtype=float)


def mean_bias(differences: ArrayLike, *, confidence: float = 0.95) -> IntervalEstimate:
    """The mean over all items, zeros included, with Student's t interval and test against zero."""
    values = finite(differences)
    return clustered.mean(values, np.arange(values.size), confidence=confidence)


def detectable(differences: ArrayLike, *, level: float = 0.05, power: float = 0.8) -> float | None:
    """The least mean that a two-sided test at `level` would find with probability `power`, given this spread.

    None with fewer than six items, with which signed ranks reach no p below .05, or where all are the same: without
    spread there is nothing to go by.
    """
    if not 0 < level < 1 or not 0 < power < 1:
        raise ValueError(f"level {level} and power {power} must lie between 0 and 1")
    values = finite(differences)
    if values.size < FEWEST or np.ptp(values) == 0:
        return None
    error = float(values.std(ddof=1)) / float(np.sqrt(values.size))
    return float(stats.norm.isf(level / 2) + stats.norm.ppf(power)) * error


def finite(differences: ArrayLike) -> NDArray[np.float64]:
    """The differences as an array; NaN and infinity raise ValueError."""
    values = np.asarray(differences, dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("differences contain NaN or infinity")
    return values
