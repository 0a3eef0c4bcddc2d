"""Words as points: the vectors of a vocabulary, and the gender direction among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, quote
from unmask.measures.geometry.contrast import Contrast, between
from unmask.statistics.erasure import normalise_rows

FEWEST_WORDS = 240
"""So that the tests have 20 words of each side to cluster, and 40 to separate."""


@dataclass(frozen=True)
class Space:
    """Words, their vectors of length 1, and how each lies between men and women."""

    words: list[str]
    matrix: NDArray[np.float32]
    gender: Contrast
    """The first side is that of men."""
    likeness: float
    """The cosine between the male and the female end of the direction."""
    vectors: str
    """What the vectors are, in words."""
    direction: str
    left_out: dict[str, int] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def places(self, words: Sequence[str]) -> NDArray[np.intp]:
        """Where words stand, of those that are there."""
        known = {word: at for at, word in enumerate(self.words)}
        return np.array([known[word] for word in dict.fromkeys(words) if word in known], dtype=np.intp)


def make(
    words: Sequence[str],
    matrix: NDArray[np.floating],
    male: NDArray[np.floating],
    female: NDArray[np.floating],
    *,
    vectors: str,
    direction: str,
    unit_ends: bool = False,
    left_out: dict[str, int] | None = None,
    missing: Sequence[str] = (),
) -> Space:
    """A space from vectors of any length and the two ends of the gender direction.

    The bias of a word is the cosine of its vector with the direction: of the difference of the ends, or with
    `unit_ends` of the ends brought to length 1. Then it is w·m − w·f of the papers, up to the length of m − f.
    """
    refuse_unusable(words, matrix)
    rows = normalise_rows(matrix).astype(np.float32)
    ends = normalise_rows(np.stack([male, female]))
    contrast = between(ends[0], ends[1], rows) if unit_ends else between(male, female, rows)
    if not np.abs(contrast.direction).any():
        raise UnmaskError(f"the male and the female end of {direction} are the same vector; there is no direction")
    return Space(
        list(words),
        rows,
        contrast,
        float(ends[0] @ ends[1]),
        vectors,
        direction,
        dict(left_out or {}),
        list(missing),
    )


def refuse_unusable(words: Sequence[str], matrix: NDArray[np.floating]) -> None:
    """Refuse what cannot be measured: too few words, vectors that are zero or not finite, words given twice."""
    if len(words) < FEWEST_WORDS:
        raise UnmaskError(
            f"geometry needs {FEWEST_WORDS} words with vectors, and there are {len(words)}; give more words"
        )
    if matrix.ndim != 2 or matrix.shape[0] != len(words):
        raise UnmaskError(f"{len(words)} words and vectors of shape {matrix.shape} do not belong together")
    if len(set(words)) < len(words):
        seen: set[str] = set()
        twice = [word for word in words if word in seen or seen.add(word)]  # type: ignore[func-returns-value]
        raise UnmaskError(f"{quote(twice)} were given twice; leave out one of each")
    lengths = np.linalg.norm(matrix, axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths == 0))
    if bad.size:
        names = quote([words[at] for at in bad[:5]])
        raise UnmaskError(f"{bad.size} words have a vector that is zero or not finite ({names}); leave them out")
