"""Directions, and the bias of words along them: gender's, and those of other contrasts to compare it with.

The words that lie farthest out along a direction form two clusters, have neighbours of their own kind and can be told
apart *whatever the direction*: they were chosen for it. So a number means something only beside what contrasts that
have nothing to do with gender give. Such a contrast is between two groups of words of the same vocabulary: a word with
its nearest neighbours, and another with its own, the two groups about as like each other as the male words are like
the female ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.statistics.vectors import unit

CONTRASTS = 99
CANDIDATES = 20
"""So many words at random, and as many from near to far, are looked at for a group that is as alike as it should be."""


@dataclass(frozen=True)
class Contrast:
    """A direction of length 1, and how far each word lies along it: above 0, on the first side."""

    direction: NDArray[np.float64]
    bias: NDArray[np.float64]
    apart: NDArray[np.intp]
    """The places of the words that it was made of, which are asked nothing."""

    def extremes(self, count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The places of the words that lie farthest out on the first side, and on the other."""
        return extremes(self.bias, count, self.apart)


def extremes(
    bias: NDArray[np.float64], count: int, apart: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The places of the `count` largest and smallest values, the outermost first; of equal ones, the first counts."""
    order = np.argsort(-bias, kind="stable")
    if apart is not None and apart.size:
        order = order[~np.isin(order, apart)]
    return order[:count], order[::-1][:count]


def between(first: NDArray[np.floating], second: NDArray[np.floating], matrix: NDArray[np.floating]) -> Contrast:
    """The contrast between two vectors, for words that are neither."""
    direction = unit((np.asarray(first, np.float64) - np.asarray(second, np.float64))[None])[0]
    return Contrast(direction, matrix @ direction, np.empty(0, dtype=np.intp))


def others(
    matrix: NDArray[np.floating], *, group: int, likeness: float, seed: int, count: int = CONTRASTS
) -> Iterator[Contrast]:
    """Contrasts of groups of words that are about as like each other as `likeness` (a cosine of their means)."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield _other(matrix, group, likeness, rng)


def _other(matrix: NDArray[np.floating], group: int, likeness: float, rng: np.random.Generator) -> Contrast:
    anchor = int(rng.integers(matrix.shape[0]))
    first = _nearest(matrix @ matrix[anchor], anchor, group)
    centre = unit(matrix[first].mean(axis=0)[None])[0].astype(matrix.dtype)
    order = np.argsort(-(matrix @ centre), kind="stable")
    order = order[~np.isin(order, first)]
    ranks = np.unique(np.geomspace(1, order.size, CANDIDATES).astype(np.intp)) - 1
    candidates = order[np.unique(np.concatenate([ranks, rng.integers(order.size, size=CANDIDATES)]))]
    near = matrix @ matrix[candidates].T
    near[first] = -np.inf
    groups = [_nearest(near[:, at], int(place), group) for at, place in enumerate(candidates)]
    means = unit(np.stack([matrix[members].mean(axis=0) for members in groups]))
    second = groups[int(np.argmin(np.abs(means @ centre - likeness)))]
    direction = unit((matrix[first].mean(axis=0) - matrix[second].mean(axis=0))[None])[0]
    return Contrast(direction, matrix @ direction, np.concatenate([first, second]))


def _nearest(likeness: NDArray[np.floating], anchor: int, count: int) -> NDArray[np.intp]:
    """A word and those nearest to it, `count` in all."""
    likeness = likeness.copy()
    likeness[anchor] = np.inf
    return np.argpartition(-likeness, count)[:count]
