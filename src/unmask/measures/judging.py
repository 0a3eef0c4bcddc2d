"""One rule for a figure before and after in which zero is no bias, whatever the measure.

    the change is not reliable (p ≥ .05 after correction)       no reliable change
    clear before, and clear on the other side of zero after     overshot
    nearer to zero than before                                  improved
    otherwise                                                   worse

A figure is clear on its side of zero where its 95 % interval leaves zero out. `association.verdict` has the same rule
with what is special to nats.
"""

from __future__ import annotations

from unmask.results import Change, Verdict
from unmask.results.record import Interval

LEVEL = 0.05


def reliable(change: Change) -> bool:
    """Whether a change is beyond chance, after correction."""
    return change.change is not None and change.p_adjusted is not None and change.p_adjusted < LEVEL


def judged(change: Change) -> Verdict:
    """The verdict on a figure in which zero is no bias."""
    if change.before is None or change.after is None or not reliable(change):
        return "no reliable change"
    if side(change.before_interval) * side(change.after_interval) < 0:
        return "overshot"
    return "improved" if abs(change.after) < abs(change.before) else "worse"


def side(interval: Interval | None) -> int:
    """On which side of zero an interval lies: 1, −1, or 0 for both."""
    if interval is None or interval[0] <= 0 <= interval[1]:
        return 0
    return 1 if interval[0] > 0 else -1
