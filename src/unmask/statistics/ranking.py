"""How well a score ranks what is known: correlations, the share of pairs in the right order, and what can be read off.

    ranked = Σ [sign(yᵢ − yⱼ) = sign(xᵢ − xⱼ)] / pairs, over all pairs with xᵢ ≠ xⱼ; a tie in y counts a half
    resolution = residual standard deviation of y on x / |slope|

The resolution is in the unit of x: how far the truth may lie from what is read off a score, as one standard deviation.
Pearson's r has Fisher's interval, Spearman's ρ that of Bonett and Wright (2000): z ± 1.96 · √((1 + ρ²/2)/(n − 3)). A
perfect correlation has neither interval nor t, but an exact p of 2/n!, the share of orders that are as good. Points
that share a seed are taken as independent, since the noise of training is drawn anew for each.

D. G. Bonett and T. A. Wright (2000). Sample size requirements for estimating Pearson, Kendall and Spearman
correlations. Psychometrika 65, 23–28.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import factorial, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from unmask.statistics.correlation import ROUNDING, fisher_z
from unmask.statistics.crossed import Estimate
from unmask.statistics.relation import pearson_estimate

FEWEST = 3
NORMAL = 1.959964
"""The 97.5 % point of the normal distribution."""


@dataclass(frozen=True)
class Ranking:
    """How a score follows what is known; what cannot be had is None."""

    n: int
    pearson: Estimate
    spearman: Estimate
    ranked: float | None
    """The share of pairs of models that the score puts in the right order."""
    slope: float | None
    resolution: float | None


def ranking(known: ArrayLike, scores: ArrayLike) -> Ranking:
    """Compare scores with what is known of the same models."""
    x, y = np.asarray(known, dtype=float), np.asarray(scores, dtype=float)
    there = np.isfinite(x) & np.isfinite(y)
    x, y = x[there], y[there]
    pearson = _with_p(pearson_estimate(x, y), x.size)
    ranks = _with_p(pearson_estimate(stats.rankdata(x), stats.rankdata(y)), x.size)
    slope, resolution = _line(x, y)
    return Ranking(int(x.size), pearson, _widened(ranks, x.size), _ranked(x, y), slope, resolution)


def _with_p(estimate: Estimate, n: int) -> Estimate:
    """A perfect correlation with its exact p."""
    if estimate.value is None or estimate.p_value is not None or n < FEWEST:
        return estimate
    return replace(estimate, p_value=min(1.0, 2 / factorial(n)))


def _widened(rho: Estimate, n: int) -> Estimate:
    if rho.value is None or rho.interval is None:
        return rho
    reach = NORMAL * sqrt((1 + rho.value**2 / 2) / (n - 3))
    z = fisher_z(rho.value)
    return replace(rho, interval=(float(np.tanh(z - reach)), float(np.tanh(z + reach))))


def _ranked(x: np.ndarray, y: np.ndarray) -> float | None:
    first, second = np.triu_indices(x.size, 1)
    apart = x[first] != x[second]
    if not apart.any():
        return None
    sides = np.sign(x[first] - x[second])[apart] * np.sign(y[first] - y[second])[apart]
    return float(((sides + 1) / 2).mean())


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float | None, float | None]:
    if x.size < FEWEST or np.ptp(x) == 0:
        return None, None
    found = stats.linregress(x, y)
    slope = float(found.slope)
    left = y - (found.intercept + slope * x)
    spread = float(np.sqrt((left**2).sum() / (x.size - 2)))
    return slope, spread / abs(slope) if abs(slope) > ROUNDING else None
