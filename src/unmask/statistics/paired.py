"""Tests of paired data: signed ranks, sign flips of clusters, preferences, shares over the same examples, and ratings.

**Preference** (`estimate_preference`): the share of pairs with a positive difference, and whether it is one half.

- share = (positive + ½ · zero) / n.
- the sign test (Arbuthnott 1710; Dixon and Mood 1946), zeros left out: without a preference the number of positive
  differences is a draw from Binomial(positive + negative, ½). p is exact and two-sided.
- the interval is Clopper and Pearson's (1934) of positive / (positive + negative), drawn towards one half as the share
  is by the zeros. It excludes one half exactly where p < .05.

**Matched shares** (`matched_shares`): how many of the same examples are right before and after. Only examples on which
the two disagree are informative: b that were right only before, c that are right only after.

- McNemar's (1947) exact test: if nothing changed, c is a draw from Binomial(b + c, ½).
- Agresti and Min's (2005) interval: half an example is added to each of the four cells, then Wald's interval is taken.

      n' = n + 2    d = (c − b)/n'    d ± z · √(b + c + 1 − (c − b)²/n') / n'

  Unlike Wald's it keeps its coverage when few examples disagree, and has a width when none does.

An example may be half right, such as a tie. Then b and c count those that got less and more right, which makes the test
the exact sign test; in the interval c − b becomes the sum of all changes, and b + c the sum of their squares.

**Paired ratings** (`rank_biserial`, `mean_bias`, `detectable_mean`) are the rating of a text and of its other version,
many times over. Each text is a draw of its own, so nothing is clustered. With differences x, of which n are not zero:

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
Comprehensive Psychology 3, 11.IT.3.1. W. J. Dixon and A. M. Mood (1946). The statistical sign test. Journal of the
American Statistical Association 41. Q. McNemar (1947). Psychometrika 12, 153–157. A. Agresti and Y. Min (2005).
Statistics in Medicine 24, 729–740. C. J. Clopper and E. S. Pearson (1934). Biometrika 26, 404–413.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.statistics.jackknife import (
    FISHER,
    LEVEL,
    POWER,
    TAIL,
    IntervalEstimate,
    clustered_mean,
    fisher_z,
    student_interval,
)

MOST_EXACT = 14
DRAWS = 10_000
FEWEST_UNTIED = 6
"""With fewer pairs that are not tied, the smallest p of the exact sign test is above .05."""


@dataclass(frozen=True)
class SignedRanks:
    """Wilcoxon's signed-rank test.

    `v` is the sum of the ranks of positive differences (R's V), `w` the smaller of the two sums (scipy's statistic);
    `z` has the sign of the effect; `r` = z/√(2n) after Rosenthal (1991), n counting all pairs, each two observations.
    """

    n: int
    v: float
    w: float
    z: float | None
    r: float | None
    p_value: float | None
    rank_biserial: float | None
    """(V₊ − V₋) / (V₊ + V₋): 1 where all differences are positive, −1 where all are negative (Kerby 2014)."""


def signed_ranks(differences: ArrayLike) -> SignedRanks:
    """Test symmetry about zero: zeros dropped, normal approximation, corrected for ties and continuity."""
    values = np.asarray(differences, dtype=float)
    if np.isnan(values).any():
        raise ValueError("differences contain NaN")
    nonzero = values[values != 0]
    if not nonzero.size:
        return SignedRanks(
            values.size, 0.0, 0.0, None, None, 1.0 if values.size else None, 0.0 if values.size else None
        )
    ranks = stats.rankdata(np.abs(nonzero))
    total = float(ranks.sum())
    v = float(ranks[nonzero > 0].sum())
    _, ties = np.unique(ranks, return_counts=True)
    z = z_from_v(v, nonzero.size, ties)
    r = None if z is None else z / float(np.sqrt(2 * values.size))
    p = 1.0 if z is None else float(2 * stats.norm.sf(abs(z)))
    return SignedRanks(values.size, v, min(v, total - v), z, r, p, (2 * v - total) / total)


def z_from_v(v: float, n: int, ties: ArrayLike = ()) -> float | None:
    """Standardise V over `n` non-zero differences, with continuity correction, as R's wilcox.test does."""
    sizes = np.asarray(ties, dtype=float)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((sizes**3 - sizes).sum()) / 48
    if variance <= 0:
        return None
    distance = v - n * (n + 1) / 4
    return float((distance - np.sign(distance) * 0.5) / np.sqrt(variance))


def sign_flip(clusters: ArrayLike, *, seed: int) -> float | None:
    """Two-sided p of the mean of cluster means when the sign of a whole cluster is a coin toss.

    For pairs of person words it asks: would we see this if swapping he and she made no difference to the model? All
    sign patterns are tried for up to 14 clusters, else 10,000 are drawn.
    """
    means: NDArray[np.float64] = np.asarray(clusters, dtype=float)
    if not means.size or np.isnan(means).any():
        return None
    observed = abs(means.mean())
    if means.size <= MOST_EXACT:
        signs = np.array(list(product((1.0, -1.0), repeat=means.size)))
        extra = 0
    else:
        signs = np.random.default_rng(seed).choice((1.0, -1.0), size=(DRAWS, means.size))
        extra = 1  # the observed pattern itself
    flipped = np.abs(signs @ means) / means.size
    reached = int((flipped >= observed * (1 - 1e-9)).sum())
    return (reached + extra) / (len(signs) + extra)


def estimate_preference(differences: ArrayLike) -> IntervalEstimate:
    """The share of positive differences; the statistic is their number, the detectable effect a distance from one half.

    No pairs have no share. If all differences are zero, p is 1. Of fewer than six other differences, no number of
    positive ones gives p < .05, so no effect is detectable.
    """
    values = np.asarray(differences, dtype=float)
    if np.isnan(values).any():
        raise ValueError("differences contain NaN")
    n, positive, zero = values.size, int((values > 0).sum()), int((values == 0).sum())
    if not n:
        return IntervalEstimate(None)
    share = (positive + zero / 2) / n
    p = float(stats.binomtest(positive, n - zero).pvalue) if n > zero else 1.0
    interval = preference_interval(positive, zero, n)
    detectable = None
    if n - zero >= FEWEST_UNTIED:
        quantiles = float(stats.norm.isf(TAIL)) + float(stats.norm.ppf(POWER))
        detectable = min(0.5, quantiles * 0.5 * float(np.sqrt(n - zero)) / n)
    return IntervalEstimate(share, interval=interval, statistic=float(positive), p_value=p, detectable=detectable)


def preference_interval(positive: int, zero: int, n: int, *, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the share of positive differences among n, of which some are zero."""
    untied = n - zero
    if not untied:
        return 0.0, 1.0
    low = float(stats.beta.ppf(level / 2, positive, untied - positive + 1)) if positive else 0.0
    high = float(stats.beta.isf(level / 2, positive + 1, untied - positive)) if positive < untied else 1.0
    return 0.5 + (low - 0.5) * untied / n, 0.5 + (high - 0.5) * untied / n


@dataclass(frozen=True)
class MatchedShares:
    """Two shares over the same examples, and their difference."""

    n: int
    before: float
    after: float
    change: float
    """After minus before."""
    lost: int
    """Examples that were right before alone, or more so."""
    gained: int
    """Examples that are right after alone, or more so."""
    interval: tuple[float, float]
    p_value: float


def matched_shares(before: ArrayLike, after: ArrayLike) -> MatchedShares | None:
    """Compare what was right before with what is right after, example by example; None without examples.

    Right is true or 1, wrong false or 0, and a tie may count a half.
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"{first.size} answers before and {second.size} after; they must be of the same examples")
    n = first.size
    if not n:
        return None
    changes = second - first
    lost, gained, total = int((changes < 0).sum()), int((changes > 0).sum()), float(changes.sum())
    centre = total / (n + 2)
    reach = float(stats.norm.isf(TAIL)) * float(np.sqrt((changes**2).sum() + 1 - total**2 / (n + 2))) / (n + 2)
    p = float(stats.binomtest(gained, lost + gained).pvalue) if lost + gained else 1.0
    return MatchedShares(
        n,
        float(first.mean()),
        float(second.mean()),
        total / n,
        lost,
        gained,
        (max(-1.0, centre - reach), min(1.0, centre + reach)),
        p,
    )


FEWEST_ITEMS = 3
"""Items that are not zero, below which the rank-biserial correlation has no interval."""


def rank_biserial(differences: ArrayLike) -> IntervalEstimate:
    """The matched-pairs rank-biserial correlation; error, statistic and test are on Fisher's z scale.

    No items give no estimate. Zeros alone, fewer than three others, or one sign only (r = ±1) give the value alone.
    The test is of the interval: unlike Wilcoxon's it does not suppose that differences are symmetric.
    """
    values = as_finite_array(differences)
    value = signed_ranks(values).rank_biserial
    nonzero = values[values != 0]
    if value is None or nonzero.size < FEWEST_ITEMS:
        return IntervalEstimate(value)
    if not np.isfinite(fisher_z(value)):
        return IntervalEstimate(value)
    sums = sum_signs(nonzero)
    n = nonzero.size
    deviations = (sums - sums.mean()) / (n * (n - 1) / 2)
    error = float(np.sqrt((n - 1) / n * (deviations**2).sum())) / (1 - value**2)
    return student_interval(value, error, n - 1, scale=FISHER)


def sum_signs(values: ArrayLike) -> NDArray[np.float64]:
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


def mean_bias(differences: ArrayLike) -> IntervalEstimate:
    """The mean over all items, zeros included, with Student's t interval and test against zero."""
    values = as_finite_array(differences)
    return clustered_mean(values, np.arange(values.size))


def detectable_mean(differences: ArrayLike, *, level: float = 0.05, power: float = 0.8) -> float | None:
    """The least mean that a two-sided test at `level` would find with probability `power`, given this spread.

    None with fewer than six items, with which signed ranks reach no p below .05, or where all are the same: without
    spread there is nothing to go by.
    """
    if not 0 < level < 1 or not 0 < power < 1:
        raise ValueError(f"level {level} and power {power} must lie between 0 and 1")
    values = as_finite_array(differences)
    if values.size < FEWEST_ITEMS or np.ptp(values) == 0:
        return None
    error = float(values.std(ddof=1)) / float(np.sqrt(values.size))
    return float(stats.norm.isf(level / 2) + stats.norm.ppf(power)) * error


def as_finite_array(differences: ArrayLike) -> NDArray[np.float64]:
    """The differences as an array; NaN and infinity raise ValueError."""
    values = np.asarray(differences, dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("differences contain NaN or infinity")
    return values
