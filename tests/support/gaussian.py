"""Random vectors of length 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.statistics.erasure import normalise_rows

Matrix = NDArray[np.float64]


def gaussian(words: int = 600, size: int = 20, seed: int = 0) -> Matrix:
    """Vectors in random directions, one per row."""
    return normalise_rows(np.random.default_rng(seed).normal(size=(words, size)))
