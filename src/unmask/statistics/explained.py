"""What share of the variance of a table do its rows explain?

With values y of rows i (models) and columns j (conditions), and d = y − the mean of the column:

    columns = Σ (column mean − mean)² / Σ (y − mean)²
    rows = Σᵢ nᵢ · (mean of d in row i)² / Σ (y − mean)²        rest = 1 − rows − columns

A share is above zero by chance alone, so it is compared with what it is when the rows are shuffled within each block of
columns: columns that were measured on the same thing (one trained model) are a block and stay together, since they are
alike whatever the row. If rows make no difference, every such shuffle was as likely as what was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
DRAWS = 9_999


@dataclass(frozen=True)
class Shares:
    """Shares of the variance, what the rows' share is by chance, and how likely so large a share is by chance."""

    rows: float
    columns: float
    rest: float
    chance: float
    p_value: float


def shares(table: ArrayLike, blocks: Sequence[str], *, seed: int, draws: int = DRAWS) -> Shares | None:
    """Split the variance; NaN marks a missing value.

    There is no answer (None) with fewer than two rows or columns that hold a value, with a single value in each row,
    or where all values are equal.
    """
    y = np.asarray(table, dtype=float)
    there = ~np.isnan(y)
    y, names = y[there.any(axis=1)][:, there.any(axis=0)], np.asarray(blocks)[there.any(axis=0)]
    there = ~np.isnan(y)
    if min(y.shape) < 2 or there.sum(axis=1).max() < 2:
        return None
    means = np.where(there, y, 0).sum(axis=0) / there.sum(axis=0)
    grand = float(y[there].mean())
    total = float(((y[there] - grand) ** 2).sum())
    if total <= 1e-24 * max(1.0, grand**2):
        return None
    centred = np.where(there, y - means, 0)
    seen = _between(centred.sum(axis=1), there.sum(axis=1)) / total
    random = np.random.default_rng(seed)
    sums, counts = np.zeros((draws, len(y))), np.zeros((draws, len(y)))
    for name in dict.fromkeys(names.tolist()):
        mine = names == name
        order = random.permuted(np.tile(np.arange(len(y)), (draws, 1)), axis=1)
        sums += centred[:, mine].sum(axis=1)[order]
        counts += there[:, mine].sum(axis=1)[order]
    drawn = _between(sums, counts) / total
    reached = int((drawn >= seen * (1 - 1e-9)).sum())
    columns = float((there.sum(axis=0) * (means - grand) ** 2).sum()) / total
    return Shares(
        float(seen), columns, max(0.0, 1 - float(seen) - columns), float(drawn.mean()), (reached + 1) / (draws + 1)
    )


def _between(sums: Array, counts: NDArray[np.float64] | NDArray[np.intp]) -> Array:
    """The sum of squares of the rows' means, each as often as it has values."""
    squares: Array = np.divide(sums**2, counts, out=np.zeros(np.shape(sums)), where=counts > 0).sum(axis=-1)
    return squares
