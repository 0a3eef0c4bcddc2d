"""Scores that are drawn at random, with a known effect, to count how often a measure's tests are right and wrong.

A score is the sum of random effects: one normal draw for each word, each template, or each combination of them. A test
that treats only some of these as samples rejects too often where the others vary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Spreads = Mapping[tuple[str, ...], float | Array]
"""Standard deviations of random effects by the columns whose combinations of values each have an effect; one for all
combinations, or that of each item."""


@dataclass(frozen=True)
class Simulation:
    """A way to draw the scores of a measure's items."""

    name: str
    """What varies at random, in a few words: `words and templates vary`."""
    draw: Callable[[np.random.Generator, float], pd.DataFrame]
    """Returns scored items, as `Measure.score` does. Its second argument is the true value of the primary test."""
    effects: tuple[float, ...] = ()
    """True values of the primary test for which its power is counted; without an effect it is always counted."""
    alternatives: Callable[[pd.DataFrame], Mapping[str, float | None]] | None = None
    """Returns p-values of tests that the measure does not use, by name, for comparison."""


class RandomEffects:
    """Normal random effects of the columns of a table."""

    def __init__(self, items: pd.DataFrame, spreads: Spreads, *, noise: float = 0.0) -> None:
        """Take the items, the spreads of the effects, and the standard deviation of what differs from item to item."""
        self._parts = [
            (items.groupby(list(columns), sort=False).ngroup().to_numpy(), spread)
            for columns, spread in spreads.items()
        ]
        self._count, self._noise = len(items), noise

    def draw(self, generator: np.random.Generator) -> Array:
        """Draw the sum of all effects for each item."""
        total: Array = generator.normal(scale=self._noise, size=self._count)
        for codes, spread in self._parts:
            total += spread * generator.normal(size=codes.max(initial=-1) + 1)[codes]
        return total
