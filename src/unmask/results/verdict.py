"""Whether a number shows an effect, how its size is named, and whether a change is an improvement: one rule for all.

A **test** has one of these outcomes; the first line that fits holds (`judge_test`). The *margin* is the largest effect
that a measure calls negligible, and *large* the smallest that it calls large.

    there is no value, or no adjusted p-value                                 not tested
    the value is no further from neutral than the noise of the computation    noise
    the whole interval is within the margin                                   negligible
    p < .05 after correction, and the interval excludes the neutral value:
        the value is within the margin                                        negligible
        otherwise                                                             clear
    a large effect would be found with a probability below 80 %               too few
    otherwise                                                                 unclear

The interval of a corrected test is as wide as its correction demands (`measures.base.set_adjusted_p`), so it excludes
the neutral value where p < .05. Where both come from different methods, both must agree. `Estimate.detectable` is the
effect that a test finds with a probability of 80 %. A negligible outcome excludes a larger effect only if the whole
interval is within the margin (`is_equivalent`).

A **change** of a figure in which zero is no bias is judged as follows. `b` is the figure before, `a` after. A figure is
clear on its side of zero where its 95 % interval excludes zero (where there is no interval, as in `published`: where
its own p < .05) and it exceeds the noise. The first line that fits holds:

    one of the models cannot do what the measure relies on                    inconclusive
    the outcome of the change is negligible                                   negligible change
    the outcome of the change is not clear                                    no reliable change
    b is clear, a is clear on the other side and beyond the margin            overshot
    |a| < |b|                                                                 improved
    otherwise                                                                 worse

That one of two figures is clear and the other is not is no change by itself. A bias that appears where none was clear
is worse, whichever way it points. What a change cost stands beside its verdict (`Comparison.full_verdict`).

A **limit** of a policy is kept or broken by the interval of a value. The limit itself is allowed.

    the interval         judge = "interval"     "surely"        "estimate"
    within the limit     kept, surely           kept, surely    as the estimate
    beyond the limit     broken, surely         broken, surely  as the estimate
    across the limit     kept, not surely       cannot tell     as the estimate
    there is none        cannot tell            cannot tell     as the estimate
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isclose
from typing import Literal

from unmask.results.comparison import Change, Verdict
from unmask.results.schema import Estimate, Interval

Outcome = Literal["clear", "negligible", "unclear", "too few", "noise", "not tested"]
"""Of a test."""
GateVerdict = Literal["kept", "broken", "inconclusive", "cannot tell"]
Sure = Literal["surely", "not surely", "unknown"]
Judge = Literal["interval", "surely", "estimate"]
"""By what a value is judged against limits."""
ALPHA = 0.05
"""The level of every test, and one minus the confidence of every interval."""
NOT_INTERPRETABLE = "not interpretable"
"""The verdict on a number that does not show bias, whatever it is."""
Sizes = Sequence[tuple[float, str]]
"""Upper limits of the size of an estimate, ascending, and what estimates below each are called."""


def is_significant(p_value: float | None) -> bool:
    """Whether there is a p-value, and it is below the level."""
    return p_value is not None and p_value < ALPHA


def is_noise(value: float | None, noise_floor: float | None) -> bool:
    """Whether a value is no further from zero than the noise of the computation; unknown noise is none."""
    return value is not None and bool(noise_floor) and abs(value) <= (noise_floor or 0.0)


def judge_test(
    test: Estimate | None, *, noise_floor: float | None = None, margin: float = 0.0, largest: float = inf
) -> Outcome:
    """The outcome of a test; see the module's rule.

    Args:
        test: The test, with its adjusted p-value.
        noise_floor: Noise of the computation, in the unit of the estimate.
        margin: The largest distance from the neutral value that is negligible.
        largest: The smallest distance that is large.
    """
    if test is None or test.value is None or test.p_adjusted is None:
        return "not tested"
    value = test.value - test.neutral
    if is_noise(value, noise_floor):
        return "noise"
    bounds = None if test.interval is None else [end - test.neutral for end in test.interval]
    if margin and is_equivalent(test, margin):
        return "negligible"
    if is_significant(test.p_adjusted) and (bounds is None or not bounds[0] <= 0 <= bounds[1]):
        return "negligible" if abs(value) < margin else "clear"
    return "unclear" if largest == inf or (test.detectable or inf) <= largest else "too few"


def is_equivalent(test: Estimate, margin: float) -> bool:
    """Whether the whole interval of a test is within the margin, so that a larger effect is excluded."""
    if test.interval is None:
        return False
    return all(abs(end - test.neutral) <= margin for end in test.interval)


def is_clear(test: Estimate | None, noise_floor: float | None = None, *, margin: float = 0.0) -> bool:
    """Whether a test found an effect beyond the margin, the noise of the computation, and chance."""
    return judge_test(test, noise_floor=noise_floor, margin=margin) == "clear"


def size_label(value: float, sizes: Sizes) -> str:
    """The word for the size of an estimate."""
    return next(label for limit, label in sizes if abs(value) < limit)


def describe_test(
    test: Estimate | None,
    noun: str,
    *,
    size: str = "clear",
    noise_floor: float | None = None,
    margin: float = 0.0,
    largest: float = inf,
    sample: str = "items",
) -> str:
    """The outcome of a test in a few words, such as `moderate bias`, `no clear bias` or `too few texts to tell`.

    Args:
        test: The test, with its adjusted p-value.
        noun: What the test looks for: a difference, a bias, a relation.
        size: The word for the size of the estimate, where it is clear.
        noise_floor: Noise of the computation, in the unit of the estimate.
        margin: The largest effect that is negligible.
        largest: The smallest effect that is large.
        sample: What there are too few of, where a large effect would have gone undetected.
    """
    words: dict[Outcome, str] = {
        "clear": f"{size} {noun}",
        "negligible": f"negligible {noun}",
        "unclear": f"no clear {noun}",
        "too few": f"too few {sample} to tell",
        "noise": "within the noise",
        "not tested": "not tested",
    }
    return words[judge_test(test, noise_floor=noise_floor, margin=margin, largest=largest)]


def side(interval: Interval | None) -> int:
    """On which side of zero an interval lies: 1, −1, or 0 if it includes zero or there is none."""
    if interval is None or interval[0] <= 0 <= interval[1]:
        return 0
    return 1 if interval[0] > 0 else -1


def clear_side(estimate: Estimate | None, noise_floor: float | None = None) -> int:
    """On which side of zero an estimate clearly is: 1, −1, or 0 for neither."""
    if estimate is None or estimate.value is None or abs(estimate.value) <= (noise_floor or 0.0):
        return 0
    if estimate.interval is None:
        return (1 if estimate.value > 0 else -1) if is_significant(estimate.p_value) else 0
    return side(estimate.interval)


def is_reliable(change: Change, noise_floor: float | None = None) -> bool:
    """Whether a change is beyond its margin, the noise of the computation, and chance."""
    return is_clear(change.change, noise_floor, margin=change.margin)


def judge(change: Change, *, noise_floor: float | None = None) -> Verdict:
    """The verdict on a change of a figure in which zero is no bias; see the module's rule."""
    (before, after), margin = change.values, change.margin
    outcome = judge_test(change.change, noise_floor=noise_floor, margin=margin)
    if before is None or after is None or outcome != "clear":
        return "negligible change" if outcome == "negligible" else "no reliable change"
    opposite = clear_side(change.before, noise_floor) * clear_side(change.after, noise_floor) < 0
    if opposite and abs(after) >= margin:
        return "overshot"
    return "improved" if abs(after) < abs(before) else "worse"


# Limits of a policy


@dataclass(frozen=True)
class AllowedRange:
    """The values that a rule allows, both ends included."""

    low: float
    high: float
    words: str = ""

    def position(self, value: float) -> int:
        """−1 below the range, 0 in it, 1 above it; rounding breaks no rule."""
        if value < self.low and not isclose(value, self.low, abs_tol=1e-12):
            return -1
        return int(value > self.high and not isclose(value, self.high, abs_tol=1e-12))


def judge_value(
    value: float | None, interval: Interval | None, limits: AllowedRange, by: Judge
) -> tuple[GateVerdict, Sure, str]:
    """The verdict, how sure it is, and the same in words."""
    if value is None:
        return "cannot tell", "unknown", "there is no such number: too little was measured"
    by_estimate: GateVerdict = "broken" if limits.position(value) else "kept"
    if interval is None:
        if by == "estimate":
            return by_estimate, "unknown", "by the estimate alone, it has no interval"
        return "cannot tell", "unknown", 'it has no interval; judge = "estimate" does without'
    low, high = map(limits.position, interval)
    verdict: GateVerdict | None = "kept" if low == high == 0 else "broken" if low == high else None
    where = {"kept": "the whole interval is within", "broken": "the whole interval is beyond"}
    why = where[verdict] if verdict else "the interval crosses the limit"
    if by == "estimate":
        return by_estimate, "surely" if verdict else "not surely", f"by the estimate; {why}"
    if verdict:
        return verdict, "surely", f"surely, {why}"
    if by == "surely":
        return "cannot tell", "not surely", f"{why}; measure more items"
    beyond = "" if by_estimate == "kept" else ", and the estimate is beyond"
    return "kept", "not surely", f"not surely, {why}{beyond}"
