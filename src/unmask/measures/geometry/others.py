"""Other contrasts, to compare gender with.

The words that lie farthest out along a direction form two clusters, have neighbours of their own kind and can be told
apart *whatever the direction*: they were chosen for it. So a number means something only beside what contrasts give
that have nothing to do with gender. Such a contrast is between two groups of one to eight words of the same vocabulary,

- two neighbourhoods: a word with its nearest neighbours, and another with its own, or
- pairs: words drawn at random, and for each a word that is about as near to it.

Directions differ in how much they separate by themselves: one along which words scatter widely separates more. So of a
pool that is ten times as large those are taken that are most like gender in two ways: how alike their ends are (the
cosine of the groups' means), and how widely all words scatter along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.measures.geometry.contrast import CONTRASTS, Contrast
from unmask.statistics.erasure import normalise_rows

POOL = 10
SIZES = (1, 2, 4, 8)
"""How many words a group has."""
LIKENESS_UNIT, SPREAD_UNIT = 0.1, 0.2
"""A likeness that is off by the first counts as much as a spread that is off by a factor of e to the second."""
AT_ONCE = 256


class _Groups(NamedTuple):
    """Two groups of words, by their places."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]


def others(
    matrix: NDArray[np.floating], *, likeness: float, spread: float, seed: int, count: int = CONTRASTS
) -> list[Contrast]:
    """The contrasts of a pool that are most like one whose ends and whose scatter are these."""
    pool = _pool(matrix, POOL * count, np.random.default_rng(seed))
    likes, spreads = np.empty(len(pool)), np.empty(len(pool))
    for start in range(0, len(pool), AT_ONCE):
        some = pool[start : start + AT_ONCE]
        ends = [np.stack([matrix[group].mean(axis=0) for group in side]) for side in zip(*some, strict=True)]
        likes[start : start + len(some)] = (normalise_rows(ends[0]) * normalise_rows(ends[1])).sum(axis=1)
        directions = normalise_rows(ends[0] - ends[1]).astype(matrix.dtype)
        spreads[start : start + len(some)] = (matrix @ directions.T).std(axis=0)
    off = ((likes - likeness) / LIKENESS_UNIT) ** 2 + (np.log(np.maximum(spreads, 1e-12) / spread) / SPREAD_UNIT) ** 2
    return [_contrast(matrix, pool[at]) for at in np.argsort(off, kind="stable")[:count]]


def _contrast(matrix: NDArray[np.floating], groups: _Groups) -> Contrast:
    first, second = (matrix[group].mean(axis=0, dtype=np.float64) for group in groups)
    direction = normalise_rows((first - second)[None])[0]
    bias = (matrix @ direction.astype(matrix.dtype)).astype(np.float64)
    return Contrast(direction, bias, np.concatenate(groups))


def _pool(matrix: NDArray[np.floating], count: int, rng: np.random.Generator) -> list[_Groups]:
    """Contrasts of both kinds, half of each, from words that are next to each other to words that are far apart."""
    found: list[_Groups] = []
    words = matrix.shape[0]
    while len(found) < count:
        size = int(rng.choice(SIZES))
        rank = int(np.exp(rng.uniform(0, np.log(words - 1))))
        if rng.random() < 0.5:
            anchor = rng.integers(words, size=1)
            other = _ranked(matrix, anchor, rank)
            groups = _Groups(*(_nearest(matrix, int(one[0]), size) for one in (anchor, other)))
        else:
            anchors = rng.choice(words, size=size, replace=False)
            groups = _Groups(anchors, _ranked(matrix, anchors, rank))
        if np.unique(np.concatenate(groups)).size == 2 * size:
            found.append(groups)
    return found


def _ranked(matrix: NDArray[np.floating], anchors: Sequence[int] | NDArray[np.intp], rank: int) -> NDArray[np.intp]:
    """For each word, the one that so many others are nearer to it than."""
    near = matrix[anchors] @ matrix.T
    near[np.arange(len(anchors)), anchors] = np.inf
    return np.argpartition(-near, rank, axis=1)[:, rank]


def _nearest(matrix: NDArray[np.floating], anchor: int, count: int) -> NDArray[np.intp]:
    """A word and those nearest to it, `count` in all."""
    near = matrix @ matrix[anchor]
    near[anchor] = np.inf
    return np.argpartition(-near, count)[:count]
