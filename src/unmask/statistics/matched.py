"""Two shares over the same examples: how many are right before and after.

Only examples on which the two disagree tell anything: b that were right before alone, c that are right after alone.

- McNemar's (1947) exact test: if nothing changed, c is a draw from Binomial(b + c, ½).
- Agresti and Min's (2005) interval: half an example is added to each of the four cells, then Wald's interval is taken.

      n' = n + 2    d = (c − b)/n'    d ± z · √(b + c + 1 − (c − b)²/n') / n'

  Unlike Wald's it keeps its coverage when few examples disagree, and has a width when none does.

Q. McNemar (1947). Psychometrika 12, 153–157. A. Agresti and Y. Min (2005). Statistics in Medicine 24, 729–740.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class MatchedShares:
    """Two shares over the same examples, and their difference."""

    n: int
    before: float
    after: float
    change: float
    """After minus before."""
    lost: int
    """Examples that were right before alone."""
    gained: int
    """Examples that are right after alone."""
    interval: tuple[float, float]
    p_value: float


def matched_shares(before: ArrayLike, after: ArrayLike, *, confidence: float = 0.95) -> MatchedShares | None:
    """Compare what was right before with what is right after, example by example; None without examples."""
    first, second = np.asarray(before, dtype=bool), np.asarray(after, dtype=bool)
    if first.shape != second.shape:
        raise ValueError(f"{first.size} answers before and {second.size} after; they must be of the same examples")
    n = first.size
    if not n:
        return None
    lost, gained = int((first & ~second).sum()), int((~first & second).sum())
    centre = (gained - lost) / (n + 2)
    z = float(stats.norm.isf((1 - confidence) / 2))
    reach = z * float(np.sqrt(lost + gained + 1 - (gained - lost) ** 2 / (n + 2))) / (n + 2)
    p = float(stats.binomtest(gained, lost + gained).pvalue) if lost + gained else 1.0
    return MatchedShares(
        n,
        float(first.mean()),
        float(second.mean()),
        (gained - lost) / n,
        lost,
        gained,
        (max(-1.0, centre - reach), min(1.0, centre + reach)),
        p,
    )
