"""Rows as vectors: their lengths, and what is left of them when a direction is taken out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def unit(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays."""
    rows = np.asarray(matrix, np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def without(rows: NDArray[np.floating], direction: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows without their part along a direction of length 1, brought back to length 1."""
    along = np.asarray(direction, rows.dtype)
    return unit(rows - np.outer(rows @ along, along)).astype(rows.dtype)


def products_without(
    products: NDArray[np.floating], left: NDArray[np.floating], right: NDArray[np.floating]
) -> NDArray[np.float64]:
    """The cosines of `without`, from those of the rows as they were and their parts along the direction.

    Of rows x and y of length 1 with parts a and b: (x·y − ab) / (√(1 − a²) √(1 − b²)).
    """
    scales = [1 / np.sqrt(np.maximum(1 - np.square(part, dtype=np.float64), 1e-12)) for part in (left, right)]
    found: NDArray[np.float64] = (products - np.outer(left, right)) * scales[0][:, None] * scales[1][None, :]
    return found
