"""The smallest change of vectors after which a concept cannot be read from them by any linear function (LEACE).

Belrose et al. (2023), *LEACE: Perfect linear concept erasure in closed form*. With Σ the covariance of the vectors, W
its inverse square root, and P the orthogonal projection on the columns of W·cov(x, z),

    r(x) = x - W⁺ P W (x - mean)

makes cov(r(x), z) = 0, so that no linear predictor of z does better than a constant, and moves the vectors less (in
mean square) than any other affine map that does so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

TINY = 1e-10
"""Directions with less than this share of the largest variance count as having none."""


@dataclass(frozen=True)
class AffineMap:
    """`x → matrix @ x + shift`."""

    matrix: NDArray[np.float64]
    shift: NDArray[np.float64]

    def __call__(self, rows: ArrayLike) -> NDArray[np.float64]:
        """The map of every row."""
        return np.asarray(rows, np.float64) @ self.matrix.T + self.shift


def projection(directions: ArrayLike) -> AffineMap:
    """Take away what lies in the space that the rows span."""
    rows = np.atleast_2d(np.asarray(directions, np.float64))
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    basis = basis[sizes > TINY * max(sizes.max(initial=0.0), TINY)]
    return AffineMap(np.eye(rows.shape[1]) - basis.T @ basis, np.zeros(rows.shape[1]))


def leace(rows: ArrayLike, concept: ArrayLike) -> AffineMap:
    """The smallest affine map after which the concept (a column, or several) is uncorrelated with the vectors."""
    x = np.asarray(rows, np.float64)
    z = np.asarray(concept, np.float64).reshape(len(x), -1)
    mean = x.mean(axis=0)
    centred, labels = x - mean, z - z.mean(axis=0)
    values, basis = np.linalg.eigh(centred.T @ centred / len(x))
    kept = values > TINY * max(values.max(initial=0.0), TINY)
    values, basis = values[kept], basis[:, kept]
    whiten, unwhiten = (basis / np.sqrt(values)) @ basis.T, (basis * np.sqrt(values)) @ basis.T
    spanned, sizes, _ = np.linalg.svd(whiten @ (centred.T @ labels / len(x)), full_matrices=False)
    spanned = spanned[:, sizes > TINY]
    erased = unwhiten @ spanned @ spanned.T @ whiten
    return AffineMap(np.eye(x.shape[1]) - erased, erased @ mean)
