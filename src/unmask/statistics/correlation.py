"""Correlations; NaN where they are not defined, which `crossed.jackknife` turns into no answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Pearson's r; NaN with fewer than three points or a constant side."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.size < 3:
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float(np.clip((a * b).sum() / scale, -1, 1)) if scale > 0 else float("nan")


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's ρ: Pearson's r of the ranks, ties sharing their mean rank."""
    return pearson(stats.rankdata(np.asarray(x, dtype=float)), stats.rankdata(np.asarray(y, dtype=float)))


def fisher_z(r: float) -> float:
    """Fisher's z of a correlation; NaN at ±1, where it has none and so few points allow no interval."""
    return float(np.arctanh(r)) if abs(r) < 1 - 1e-12 else float("nan")
