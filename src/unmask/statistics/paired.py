"""Tests of paired differences: Wilcoxon's signed ranks as papers report them, and a sign flip of whole clusters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

MOST_EXACT = 14
DRAWS = 10_000


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
    kept = values[values != 0]
    if not kept.size:
        return SignedRanks(
            values.size, 0.0, 0.0, None, None, 1.0 if values.size else None, 0.0 if values.size else None
        )
    ranks = stats.rankdata(np.abs(kept))
    total = float(ranks.sum())
    v = float(ranks[kept > 0].sum())
    _, ties = np.unique(ranks, return_counts=True)
    z = z_of_v(v, kept.size, ties)
    r = None if z is None else z / float(np.sqrt(2 * values.size))
    p = 1.0 if z is None else float(2 * stats.norm.sf(abs(z)))
    return SignedRanks(values.size, v, min(v, total - v), z, r, p, (2 * v - total) / total)


def z_of_v(v: float, n: int, ties: ArrayLike = ()) -> float | None:
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
