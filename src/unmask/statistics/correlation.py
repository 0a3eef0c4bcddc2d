"""Correlations, how well a score ranks known values, and how certain a ranking is.

**Correlation.** NaN where it is not defined, which `jackknife` turns into no answer.

    r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²)        z = artanh r

The mean of equal numbers need not equal them: that of seven times 0.8 does not. So a side counts as constant if its
values differ by no more than such rounding, and then it has no r.

**Test and interval over independent points** (`pearson_estimate`):

    t = r · √(df / (1 − r²)), df = n − 2 − k        z = artanh r ± 1.96 / √(n − 3 − k), and back by tanh

k counts what was removed from both sides beforehand: with the means of G groups, k = G − 1 (Fisher 1924). If the points
share something else, the interval is too narrow; use `jackknife` over what they share.

**Ranking of known values** (`evaluate_ranking`):

    ranked = Σ [sign(yᵢ − yⱼ) = sign(xᵢ − xⱼ)] / pairs, over all pairs with xᵢ ≠ xⱼ; a tie in y counts a half
    resolution = residual standard deviation of y on x / |slope|

The resolution is in the unit of x: how far the truth may be from the value read off a score, as one standard deviation.
Pearson's r has Fisher's interval, Spearman's ρ that of Bonett and Wright (2000): z ± 1.96 · √((1 + ρ²/2)/(n − 3)). A
perfect correlation has neither interval nor t, but an exact p of 2 Π mᵢ!/n!, the share of orders that are as good, with
mᵢ points in each tie.

Points of one seed share its words and its noise. So with several seeds both intervals are jackknifed instead, leaving
out one seed at a time, on Fisher's scale with t of seeds − 1 degrees of freedom; if all remaining values are equal,
there is no interval. In simulations with 3 seeds of 11 points such an interval of Pearson's r covers in 88 to 95 % of
cases, Fisher's over all points in 50 to 99 %, less the more seeds differ. With several seeds, and for ranks always, p
is the share of shuffles of x within each seed that correlate with y as strongly.

**Rank ranges** (`rank_ranges`): each estimate is drawn many times from a normal distribution as wide as its 95 %
interval, independently of the others. Every draw ranks them by their distance from zero, the farthest first. A rank
range holds the middle 95 % of an estimate's ranks. Estimates made with the same words have more similar errors than
that, so the ranges are, if anything, too wide.

**Reliability** (`cronbach_alpha`): how well the columns of a table agree on the order of its rows.

L. J. Cronbach (1951). Coefficient alpha and the internal structure of tests. Psychometrika 16, 297–334.
R. A. Fisher (1924). The distribution of the partial correlation coefficient. Metron 3, 329–332.
D. G. Bonett and T. A. Wright (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
correlations. Psychometrika 65, 23–28.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, lgamma, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.statistics.jackknife import FISHER, POWER, TAIL, IntervalEstimate, combine_factors, fisher_z
from unmask.statistics.proportions import NORMAL

ROUNDING = 1e-12
"""Numbers that differ by no more than this, as a share of themselves, are equal."""


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r; NaN with fewer than three points or a constant side."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.size < 3 or _is_constant(a) or _is_constant(b):
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float(np.clip((a * b).sum() / scale, -1, 1)) if scale > 0 else float("nan")


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's ρ: Pearson's r of the ranks, ties sharing their mean rank; NaN where Pearson's r is."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if _is_constant(a) or _is_constant(b):
        return float("nan")
    return pearson(stats.rankdata(a), stats.rankdata(b))


def _is_constant(values: NDArray[np.float64]) -> bool:
    return bool(np.isclose(values, values[:1], rtol=ROUNDING, atol=0).all())


def pearson_estimate(x: ArrayLike, y: ArrayLike, *, controls: int = 0) -> IntervalEstimate:
    """Pearson's r with Fisher's interval and the t test; the standard error is that of Fisher's z.

    Fewer than three points, a constant side or NaN give no estimate; too few points for an interval give r alone.
    """
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    r = pearson(a, b)
    df = a.size - 2 - controls
    if not np.isfinite(r):
        return IntervalEstimate(None)
    z = fisher_z(r)
    if df < 1 or not np.isfinite(z):
        return IntervalEstimate(r)
    ratio = r * float(np.sqrt(df / (1 - r * r)))
    p = float(2 * stats.t.sf(abs(ratio), df))
    if df < 2:
        return IntervalEstimate(r, None, df, None, ratio, p)
    error = 1 / float(np.sqrt(df - 1))
    reach = float(stats.norm.isf(TAIL)) * error
    bounds = float(np.tanh(z - reach)), float(np.tanh(z + reach))
    detectable = float(np.tanh(reach + float(stats.norm.ppf(POWER)) * error))
    return IntervalEstimate(r, error, df, bounds, ratio, p, detectable, "fisher")


def center_within_groups(values: ArrayLike, groups: ArrayLike) -> NDArray[np.float64]:
    """Each value minus the mean of its group; exactly zero where nothing but rounding is left."""
    v = np.asarray(values, dtype=float)
    _, codes = np.unique(np.asarray(groups), return_inverse=True)
    centred = v - (np.bincount(codes, weights=v) / np.bincount(codes))[codes]
    return np.where(np.abs(centred) > ROUNDING * np.abs(v).max(initial=0.0), centred, 0.0)


def cronbach_alpha(table: ArrayLike) -> float | None:
    """How well the columns of a table agree on the order of its rows (Cronbach 1951).

        α = k/(k − 1) · (1 − Σ variances of the k columns / variance of the rows' sums)

    Rows with NaN are left out. None with fewer than two columns or rows, or where all rows have the same sum.
    """
    values = np.asarray(table, dtype=float)
    values = values[~np.isnan(values).any(axis=1)]
    rows, columns = values.shape
    if min(rows, columns) < 2 or _is_constant(values.sum(axis=1)):
        return None
    parts, whole = values.var(axis=0, ddof=1).sum(), values.sum(axis=1).var(ddof=1)
    return float(columns / (columns - 1) * (1 - parts / whole))


FEWEST_POINTS = 3
SHUFFLES = 9_999


@dataclass(frozen=True)
class RankingQuality:
    """How a score follows known values; None where it is not defined."""

    n: int
    pearson: IntervalEstimate
    spearman: IntervalEstimate
    ranked: float | None
    """The share of pairs of models that the score puts in the right order."""
    slope: float | None
    resolution: float | None


def evaluate_ranking(known: ArrayLike, scores: ArrayLike, seeds: ArrayLike | None = None) -> RankingQuality:
    """Compare scores with known values of the same models; `seeds` tells which models share a seed."""
    x, y = np.asarray(known, dtype=float), np.asarray(scores, dtype=float)
    seed = np.zeros(x.size, dtype=int) if seeds is None else np.unique(np.asarray(seeds), return_inverse=True)[1]
    finite = np.isfinite(x) & np.isfinite(y)
    x, y, seed = x[finite], y[finite], seed[finite]
    if np.unique(seed).size > 1:
        r, rho = _correlate_over_seeds(x, y, seed, pearson), _correlate_over_seeds(x, y, seed, spearman)
    else:
        r, rho = pearson_estimate(x, y), _estimate_spearman(x, y, seed)
    slope, resolution = _fit_line(x, y)
    first, second = np.triu_indices(x.size, 1)
    differ = x[first] != x[second]
    signs = np.sign(x[first] - x[second])[differ] * np.sign(y[first] - y[second])[differ]
    ranked = float(((signs + 1) / 2).mean()) if differ.any() else None
    return RankingQuality(int(x.size), _add_exact_p(r, x), _add_exact_p(rho, x), ranked, slope, resolution)


def _correlate_over_seeds(
    x: np.ndarray, y: np.ndarray, seeds: np.ndarray, correlation: Callable[[np.ndarray, np.ndarray], float]
) -> IntervalEstimate:
    value = correlation(x, y)
    if not np.isfinite(value):
        return IntervalEstimate(None)
    without = [correlation(x[seeds != seed], y[seeds != seed]) for seed in np.unique(seeds)]
    if correlation is spearman:
        x, y = stats.rankdata(x), stats.rankdata(y)
    estimate = combine_factors(value, [without], scale=FISHER)
    interval = estimate.interval if estimate.standard_error else None  # equal values have no known spread
    return IntervalEstimate(value, interval=interval, p_value=_shuffle_p(x, y, seeds))


def _shuffle_p(x: np.ndarray, y: np.ndarray, seeds: np.ndarray) -> float:
    """Two-sided p-value: how often x shuffled within each seed correlates with y as strongly."""
    x = center_within_groups(x, seeds)
    keys = seeds + np.random.default_rng(0).random((SHUFFLES, x.size))
    drawn = x[seeds.argsort(kind="stable")][keys.argsort(axis=1).argsort(axis=1)]
    reached = np.abs(drawn @ y) >= abs(x @ y) - ROUNDING * np.abs(x) @ np.abs(y)
    return float((1 + np.count_nonzero(reached)) / (SHUFFLES + 1))


def _add_exact_p(estimate: IntervalEstimate, x: np.ndarray) -> IntervalEstimate:
    """A perfect correlation with its exact p."""
    if estimate.value is None or estimate.p_value is not None or x.size < FEWEST_POINTS:
        return estimate
    _, ties = np.unique(x, return_counts=True)
    orders = lgamma(x.size + 1) - sum(lgamma(count + 1) for count in ties)
    return replace(estimate, p_value=min(1.0, exp(log(2) - orders)))


def _estimate_spearman(x: np.ndarray, y: np.ndarray, seeds: np.ndarray) -> IntervalEstimate:
    """Spearman's ρ of one seed; its t is inaccurate with few points, so p is that of shuffles."""
    x, y = stats.rankdata(x), stats.rankdata(y)
    rho = pearson_estimate(x, y)
    if rho.value is None or rho.interval is None:
        return rho
    reach = NORMAL * sqrt((1 + rho.value**2 / 2) / (x.size - 3))
    z = fisher_z(rho.value)
    return IntervalEstimate(
        rho.value, interval=(float(np.tanh(z - reach)), float(np.tanh(z + reach))), p_value=_shuffle_p(x, y, seeds)
    )


def _fit_line(x: np.ndarray, y: np.ndarray) -> tuple[float | None, float | None]:
    if x.size < FEWEST_POINTS or np.ptp(x) == 0:
        return None, None
    line = stats.linregress(x, y)
    slope = float(line.slope)
    residuals = y - (line.intercept + slope * x)
    spread = float(np.sqrt((residuals**2).sum() / (x.size - 2)))
    if spread <= ROUNDING * np.abs(y).max():
        spread = 0.0
    return slope, spread / abs(slope) if abs(slope) > ROUNDING else None


RANK_DRAWS = 10_000
RANK_SEED = 0
INTERVAL_WIDTH = 2 * NORMAL
"""Of a 95 % interval, in standard deviations."""


def rank_ranges(estimates: Sequence[float], intervals: Sequence[tuple[float, float]]) -> list[tuple[int, int]]:
    """The first and last rank that each estimate may have, 1 being the farthest from zero; ties share the middle."""
    if not estimates:
        return []
    spread = np.array([(high - low) / INTERVAL_WIDTH for low, high in intervals])
    drawn = np.random.default_rng(RANK_SEED).normal(
        np.asarray(estimates, dtype=float), spread, (RANK_DRAWS, len(estimates))
    )
    ranks = stats.rankdata(-np.abs(drawn), axis=1)
    low, high = np.quantile(ranks, (0.025, 0.975), axis=0)
    return [(int(np.floor(first)), int(np.ceil(last))) for first, last in zip(low, high, strict=True)]
