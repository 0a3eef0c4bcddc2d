"""Directions, and the bias of words along them: how far each lies on one side or the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.statistics.erasure import normalise_rows

CONTRASTS = 99


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
    direction = normalise_rows((np.asarray(first, np.float64) - np.asarray(second, np.float64))[None])[0]
    return Contrast(direction, matrix @ direction, np.empty(0, dtype=np.intp))
