"""Correlations; NaN where they are not defined, which `crossed.jackknife` turns into no answer.

    r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²)        z = artanh r

The mean of equal numbers need not equal them: that of seven times 0.8 does not. So a side is called constant where its
values differ by no more than such rounding, and then it has no r.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

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


def fisher_z(r: float) -> float:
    """Fisher's z of a correlation; NaN at ±1, where it has none and so few points allow no interval."""
    return float(np.arctanh(r)) if abs(r) < 1 - 1e-12 else float("nan")


def _is_constant(values: NDArray[np.float64]) -> bool:
    return bool(np.isclose(values, values[:1], rtol=ROUNDING, atol=0).all())
