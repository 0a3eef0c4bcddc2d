"""A correlation with its test and interval, over points that are independent of each other.

    t = r · √(df / (1 − r²)), df = n − 2 − k        z = artanh r ± 1.96 / √(n − 3 − k), and back by tanh

k counts what was taken out of both sides beforehand: with the means of G groups, k = G − 1 (Fisher 1924). Where the
points share something else, the interval is too narrow; `crossed.jackknife` over what they share is the remedy.

R. A. Fisher (1924). The distribution of the partial correlation coefficient. Metron 3, 329–332.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.statistics.correlation import ROUNDING, fisher_z, pearson
from unmask.statistics.crossed import IntervalEstimate


def pearson_estimate(x: ArrayLike, y: ArrayLike, *, controls: int = 0, confidence: float = 0.95) -> IntervalEstimate:
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
    reach = float(stats.norm.isf((1 - confidence) / 2)) * error
    return IntervalEstimate(r, error, df, (float(np.tanh(z - reach)), float(np.tanh(z + reach))), ratio, p)


def within(values: ArrayLike, groups: ArrayLike) -> NDArray[np.float64]:
    """Each value minus the mean of its group; exactly zero where nothing but rounding is left."""
    v = np.asarray(values, dtype=float)
    _, place = np.unique(np.asarray(groups), return_inverse=True)
    centred = v - (np.bincount(place, weights=v) / np.bincount(place))[place]
    return np.where(np.abs(centred) > ROUNDING * np.abs(v).max(initial=0.0), centred, 0.0)
