"""Two shares over the same examples: how many are right before and after.

Only examples on which the two disagree tell anything: b that were right before alone, c that are right after alone.

- McNemar's (1947) exact test: if nothing changed, c is a draw from Binomial(b + c, ½).
- Agresti and Min's (2005) interval: half an example is added to each of the four cells, then Wald's interval is taken.

      n' = n + 2    d = (c − b)/n'    d ± z · √(b + c + 1 − (c − b)²/n') / n'

  Unlike Wald's it keeps its coverage when few examples disagree, and has a width when none does.

An example may be half right, such as a tie. Then b and c count those that got less and more right, which makes the test
the exact sign test; in the interval c − b becomes the sum of all changes, and b + c the sum of their squares.

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
    """Examples that were right before alone, or more so."""
    gained: int
    """Examples that are right after alone, or more so."""
    interval: tuple[float, float]
    p_value: float


def matched_shares(before: ArrayLike, after: ArrayLike, *, confidence: float = 0.95) -> MatchedShares | None:
    """Compare what was right before with what is right after, example by example; None without examples.

    Right is true or 1, wrong false or 0, and a tie may count a half.
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"{first.size} answers before and {second.size} after; they must be of the same examples")
    n = first.size
    if not n:
        return None
    changes = second - first
    lost, gained, total = int((changes < 0).sum()), int((changes > 0).sum()), float(changes.sum())
    centre = total / (n + 2)
    z = float(stats.norm.isf((1 - confidence) / 2))
    reach = z * float(np.sqrt((changes**2).sum() + 1 - total**2 / (n + 2))) / (n + 2)
    p = float(stats.binomtest(gained, lost + gained).pvalue) if lost + gained else 1.0
    return MatchedShares(
        n,
        float(first.mean()),
        float(second.mean()),
        total / n,
        lost,
        gained,
        (max(-1.0, centre - reach), min(1.0, centre + reach)),
        p,
    )
