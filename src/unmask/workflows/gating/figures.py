"""The figure that a rule speaks of, in a measurement; and how much further from no bias it is than in another."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from unmask.results import Measurement
from unmask.results.record import Interval
from unmask.workflows.gating.policy import Rule


@dataclass(frozen=True)
class Figure:
    """A number that was measured."""

    n: int
    value: float | None
    interval: Interval | None
    neutral: float = 0.0
    """What it is where there is no bias."""

    def distance(self) -> tuple[float | None, Interval | None]:
        """How far from no bias on either side, with its interval."""
        if self.value is None:
            return None, None
        value = abs(self.value - self.neutral)
        if self.interval is None:
            return value, None
        low, high = (end - self.neutral for end in self.interval)
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return value, (nearest, max(abs(low), abs(high)))


def figure_of(one: Measurement, rule: Rule) -> Figure | None:
    """What the rule judges, or None where the measurement has no such test or group."""
    if rule.group is not None:
        group = one.groups.get(rule.group)
        return None if group is None else Figure(group.n, group.value, group.interval, group.neutral)
    test = one.tests.get(rule.test or "")
    if test is None:
        return None
    if rule.value == "effect_size":
        return Figure(test.n, test.effect_size, test.effect_size_interval, test.effect_size_neutral)
    return Figure(test.n, test.value, test.interval, test.neutral)


def growth(now: Figure, then: Figure) -> tuple[float | None, Interval | None]:
    """How much further from no bias than then, with its interval.

    The two intervals are taken as independent: each end of the difference is as far from it as the root of the summed
    squares of what the two ends are from theirs (Zou and Donner 2008).
    """
    (value, bounds), (before, bounds_before) = now.distance(), then.distance()
    if value is None or before is None:
        return None, None
    change = value - before
    if bounds is None or bounds_before is None:
        return change, None
    low = change - hypot(value - bounds[0], bounds_before[1] - before)
    return change, (low, change + hypot(bounds[1] - value, before - bounds_before[0]))
