"""What is allowed, as a range; and where a value and its interval lie to it.

    the interval        judge = "interval"     "surely"        "estimate"
    wholly within       kept, surely           kept, surely    as the estimate
    wholly beyond       broken, surely         broken, surely  as the estimate
    across the limit    kept, not surely       cannot tell     as the estimate
    there is none       cannot tell            cannot tell     as the estimate

The limit itself is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isclose

from unmask.results.numbers import MINUS
from unmask.results.record import Interval
from unmask.workflows.gating.judgements import Sure, Verdict
from unmask.workflows.gating.policy import Judge, Rule


@dataclass(frozen=True)
class Allowed:
    """From low to high, both included."""

    low: float
    high: float
    words: str

    def above_low(self, value: float) -> bool:
        """Whether it is not too low; rounding breaks no rule."""
        return value >= self.low or isclose(value, self.low, abs_tol=1e-12)

    def below_high(self, value: float) -> bool:
        """Whether it is not too high."""
        return value <= self.high or isclose(value, self.high, abs_tol=1e-12)

    def holds(self, value: float) -> bool:
        """Whether a value is allowed."""
        return self.above_low(value) and self.below_high(value)


def allowed(rule: Rule, neutral: float = 0.0) -> Allowed:
    """The range that a rule allows; `neutral` is what the figure is where there is no bias."""
    if rule.worse_by_at_most is not None:
        return Allowed(-inf, rule.worse_by_at_most, f"worse by at most {_plain(rule.worse_by_at_most)}")
    if rule.magnitude_at_most is not None:
        far = rule.magnitude_at_most
        words = f"{_plain(neutral)} ± {_plain(far)}" if neutral else f"±{_plain(far)}"
        return Allowed(neutral - far, neutral + far, words)
    low, high = rule.at_least, rule.at_most
    if low is not None and high is not None:
        return Allowed(low, high, f"{_plain(low)} to {_plain(high)}")
    if high is not None:
        return Allowed(-inf, high, f"at most {_plain(high)}")
    assert low is not None
    return Allowed(low, inf, f"at least {_plain(low)}")


def judged_by(
    value: float | None, interval: Interval | None, within: Allowed, judge: Judge
) -> tuple[Verdict, Sure, str]:
    """The verdict, how sure it is, and that in words."""
    if value is None:
        return "cannot tell", "unknown", "there is no such number: too little was measured"
    by_estimate: Verdict = "kept" if within.holds(value) else "broken"
    if interval is None:
        if judge == "estimate":
            return by_estimate, "unknown", "by the estimate alone, it has no interval"
        return "cannot tell", "unknown", 'it has no interval; judge = "estimate" does without'
    verdict, why = _by_interval(interval, within)
    if judge == "estimate":
        return by_estimate, "not surely" if verdict is None else "surely", f"by the estimate; {why}"
    if verdict is not None:
        return verdict, "surely", f"surely, {why}"
    if judge == "surely":
        return "cannot tell", "not surely", f"{why}; measure more items"
    beyond = "" if by_estimate == "kept" else ", and the estimate is beyond"
    return "kept", "not surely", f"not surely, {why}{beyond}"


def _by_interval(interval: Interval, within: Allowed) -> tuple[Verdict | None, str]:
    low, high = interval
    if within.holds(low) and within.holds(high):
        return "kept", "the whole interval is within"
    if not within.above_low(high) or not within.below_high(low):
        return "broken", "the whole interval is beyond"
    return None, "the interval crosses the limit"


def _plain(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)
