"""The mean of values that come in clusters: the words of a sentence share its difficulty, so they count as one draw.

With values v, weights w, and clusters g = 1 … G:

    mean = Σ w·v / Σ w        u_g = Σ w·(v − mean) over the values of g
    V = G/(G − 1) · Σ u_g² / (Σ w)²        df = G − 1

This is the cluster-robust variance of an intercept (Liang and Zeger 1986; with G/(G − 1), what regression programs call
CR1). With clusters of one value and equal weights it is the one-sample t test.

K.-Y. Liang and S. L. Zeger (1986). Longitudinal data analysis using generalized linear models. Biometrika 73, 13–22.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from unmask.statistics.crossed import IntervalEstimate


def mean(
    values: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None, confidence: float = 0.95
) -> IntervalEstimate:
    """The weighted mean, with an interval and a test against zero for another sample of clusters.

    No values, or NaN among them, give no estimate; a single cluster gives the value alone.
    """
    v = np.asarray(values, dtype=float)
    w = np.ones_like(v) if weights is None else np.asarray(weights, dtype=float)
    total = float(w.sum())
    if not v.size or not np.isfinite(v).all() or total <= 0:
        return IntervalEstimate(None)
    value = float((w * v).sum() / total)
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(cluster, weights=w * (v - value))
    count = sums.size
    if count < 2:
        return IntervalEstimate(value)
    error = float(np.sqrt(count / (count - 1) * (sums**2).sum())) / total
    if error <= 1e-12 * abs(value):  # no variation beyond rounding
        return IntervalEstimate(value, 0.0, None, (value, value), None, 1.0 if value == 0 else 0.0)
    reach = float(stats.t.isf((1 - confidence) / 2, count - 1)) * error
    ratio = value / error
    return IntervalEstimate(
        value,
        error,
        count - 1,
        (value - reach, value + reach),
        ratio,
        float(2 * stats.t.sf(abs(ratio), count - 1)),
    )
