"""Vectors as rows: their lengths, and maps that remove a direction, a space, or all linear information about a concept.

A *projection* removes what lies in a space. LEACE (Belrose et al. 2023, *LEACE: Perfect linear concept erasure in
closed form*) is the smallest change after which no linear function of the vectors predicts a concept. With Σ the
covariance of the vectors, W its inverse square root, and P the orthogonal projection on the columns of W·cov(x, z),

    r(x) = x - W⁺ P W (x - mean)

makes cov(r(x), z) = 0, so that no linear predictor of z does better than a constant, and moves the vectors less (in
mean square) than any other affine map that does so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


def normalise_rows(matrix: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays."""
    rows = np.asarray(matrix, np.float64)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def remove_direction(rows: NDArray[np.floating], direction: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows without their part along a direction of length 1, brought back to length 1."""
    along = np.asarray(direction, rows.dtype)
    return normalise_rows(rows - np.outer(rows @ along, along)).astype(rows.dtype)


def cosines_without_direction(
    products: NDArray[np.floating], left: NDArray[np.floating], right: NDArray[np.floating]
) -> NDArray[np.float64]:
    """The cosines after `remove_direction`, from those of the rows as they were and their parts along the direction.

    Of rows x and y of length 1 with parts a and b: (x·y − ab) / (√(1 − a²) √(1 − b²)).
    """
    scales = [1 / np.sqrt(np.maximum(1 - np.square(part, dtype=np.float64), 1e-12)) for part in (left, right)]
    cosines: NDArray[np.float64] = (products - np.outer(left, right)) * scales[0][:, None] * scales[1][None, :]
    return cosines


TINY = 1e-10
"""Directions with less than this share of the largest variance count as having none."""
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Erasure:
    """`x → x - removed @ readᵀ @ (x - centre)`, with `readᵀ @ removed` the identity.

    Whatever goes in, `readᵀ x` comes out as `readᵀ centre`: k numbers, one a column, that say nothing any more.
    """

    removed: Array
    read: Array
    centre: Array

    @property
    def matrix(self) -> Array:
        """The linear part."""
        return np.eye(len(self.centre)) - self.removed @ self.read.T

    @property
    def shift(self) -> Array:
        """The constant part."""
        constant: Array = self.removed @ (self.read.T @ self.centre)
        return constant

    @property
    def rank(self) -> int:
        """How many directions are lost."""
        return int(self.read.shape[1])

    def __call__(self, rows: ArrayLike) -> Array:
        """The map of every row."""
        return np.asarray(rows, np.float64) @ self.matrix.T + self.shift


@dataclass(frozen=True)
class Moments:
    """What LEACE needs to know of vectors and a concept: sums, which add up over batches."""

    count: int
    rows: Array
    concept: Array
    products: Array
    """Of the vectors with themselves."""
    crossed: Array
    """Of the vectors with the concept."""

    @classmethod
    def of(cls, rows: ArrayLike, concept: ArrayLike) -> Moments:
        """Sum up vectors (one a row) and a concept (a column, or several)."""
        x = np.asarray(rows, np.float64)
        z = np.asarray(concept, np.float64).reshape(len(x), -1)
        return cls(len(x), x.sum(axis=0), z.sum(axis=0), x.T @ x, x.T @ z)

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.count + other.count,
            self.rows + other.rows,
            self.concept + other.concept,
            self.products + other.products,
            self.crossed + other.crossed,
        )


def projection(directions: ArrayLike) -> Erasure:
    """Take away what lies in the space that the rows span."""
    rows = np.atleast_2d(np.asarray(directions, np.float64))
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    basis = basis[sizes > TINY * max(sizes.max(initial=0.0), TINY)]
    return Erasure(basis.T, basis.T, np.zeros(rows.shape[1]))


def leace(rows: ArrayLike, concept: ArrayLike) -> Erasure:
    """The smallest affine map after which the concept (a column, or several) is uncorrelated with the vectors."""
    return leace_from_moments(Moments.of(rows, concept))


def leace_from_moments(moments: Moments) -> Erasure:
    """LEACE, from sums."""
    mean = moments.rows / moments.count
    covariance = moments.products / moments.count - np.outer(mean, mean)
    crossed = moments.crossed / moments.count - np.outer(mean, moments.concept / moments.count)
    values, basis = np.linalg.eigh(covariance)
    nonzero = values > TINY * max(values.max(initial=0.0), TINY)
    values, basis = values[nonzero], basis[:, nonzero]
    whiten, unwhiten = (basis / np.sqrt(values)) @ basis.T, (basis * np.sqrt(values)) @ basis.T
    spanned, sizes, _ = np.linalg.svd(whiten @ crossed, full_matrices=False)
    spanned = spanned[:, sizes > TINY]
    return Erasure(unwhiten @ spanned, whiten @ spanned, mean)
