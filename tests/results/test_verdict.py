"""The one rule for clear tests, sizes and verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from unmask.results import Change, Estimate
from unmask.results.verdict import (
    clear_side,
    describe_test,
    is_clear,
    is_noise,
    is_reliable,
    judge,
    judge_test,
    side,
    size_label,
)

SIZES = ((0.1, "small"), (float("inf"), "large"))


def change(before: float | None, after: float | None, **fields: Any) -> Change:
    """A reliable change, with intervals of ±0.1 around both values."""
    sides = []
    for name, value in (("before", before), ("after", after)):
        interval = None if value is None else (value - 0.1, value + 0.1)
        overrides = {key: fields.pop(f"{name}_{key}") for key in ("interval", "p_value") if f"{name}_{key}" in fields}
        sides.append(Estimate(**({"n": 9, "value": value, "interval": interval} | overrides)))
    moved = None if before is None or after is None else after - before
    change = Estimate(**({"n": 9, "value": moved, "p_adjusted": 0.01} | fields))
    return Change(labels={}, question="?", before=sides[0], after=sides[1], change=change)


@pytest.mark.parametrize(
    ("before", "after", "fields", "verdict"),
    [
        (0.5, 0.2, {}, "improved"),
        (-0.5, -0.2, {}, "improved"),
        (0.2, 0.5, {}, "worse"),
        (0.05, -0.5, {}, "worse"),  # not clear before, so either direction is worse
        (0.5, -0.2, {}, "overshot"),
        (0.5, -0.05, {}, "improved"),  # not clear on the other side
        (0.5, 0.2, {"p_adjusted": 0.05}, "no reliable change"),
        (0.5, 0.2, {"p_adjusted": None}, "no reliable change"),
        (None, 0.2, {}, "no reliable change"),
        (0.5, None, {}, "no reliable change"),
    ],
)
def test_a_change_is_judged(before: float | None, after: float | None, fields: dict[str, Any], verdict: str) -> None:
    assert judge(change(before, after, **fields)) == verdict


def test_a_negligible_reversal_is_an_improvement() -> None:
    reversed_a_little = change(0.5, -0.2)
    assert judge(reversed_a_little.model_copy(update={"margin": 0.2})) == "overshot"
    assert judge(reversed_a_little.model_copy(update={"margin": 0.21})) == "improved"


def test_a_change_within_the_noise_is_not_reliable() -> None:
    assert judge(change(0.5, 0.2), noise_floor=0.3) == "no reliable change"
    assert is_reliable(change(0.5, 0.2), noise_floor=0.29)


def test_without_intervals_the_p_value_says_what_is_clear() -> None:
    published = {"before_interval": None, "after_interval": None, "before_p_value": 0.01}
    assert judge(change(0.5, -0.2, **published, after_p_value=0.01)) == "overshot"
    assert judge(change(0.5, -0.2, **published, after_p_value=0.05)) == "improved"
    assert clear_side(change(0.5, -0.2, **published).after) == 0


@pytest.mark.parametrize(
    ("p_adjusted", "estimate", "noise_floor", "expected"),
    [
        (0.049, 0.5, None, True),
        (0.05, 0.5, None, False),
        (None, 0.5, None, False),
        (0.01, 0.5, 0.5, False),
        (0.01, 0.5, 0.49, True),
        (0.01, None, 0.5, False),
    ],
)
def test_a_test_is_clear(p_adjusted: float | None, estimate: float | None, noise_floor: float, expected: bool) -> None:
    test = Estimate(
        question="?",
        n=3,
        value=estimate,
        interval=None,
        statistic=None,
        statistic_name="",
        p_value=0.01,
        p_adjusted=p_adjusted,
    )
    assert is_clear(test, noise_floor) == expected
    assert not is_clear(None)


@pytest.mark.parametrize(
    ("value", "interval", "p", "detectable", "outcome"),
    [
        (0.5, (0.3, 0.7), 0.001, 0.3, "clear"),
        (0.5, (0.3, 0.7), None, 0.3, "not tested"),
        (None, None, 0.001, None, "not tested"),
        (0.001, (0.0005, 0.0015), 0.001, 0.001, "noise"),
        (0.02, (0.01, 0.03), 0.001, 0.02, "negligible"),  # whether or not it is chance
        (0.02, (-0.06, 0.09), 0.6, 0.1, "negligible"),
        (0.09, (0.01, 0.17), 0.03, 0.1, "negligible"),  # not chance, but small
        (0.2, (-0.1, 0.5), 0.2, 0.4, "unclear"),
        (0.2, (-1.0, 1.4), 0.7, 1.6, "too few"),
        (0.2, None, 0.7, None, "too few"),
        (0.5, None, 0.01, None, "clear"),
        (0.5, (-0.1, 1.1), 0.01, 0.8, "unclear"),  # test and interval of different methods must agree
        (0.5, (0.1, 0.9), 0.06, 0.5, "unclear"),
    ],
)
def test_outcomes(
    value: float | None, interval: tuple[float, float] | None, p: float | None, detectable: float, outcome: str
) -> None:
    test = Estimate(n=9, value=value, interval=interval, p_adjusted=p, detectable=detectable)
    rule: dict[str, float] = {"noise_floor": 0.001, "margin": 0.1, "largest": 1.0}
    assert judge_test(test, **rule) == outcome
    badge = describe_test(test, "bias", size="strong", sample="texts", **rule)
    words = {"clear": "strong bias", "too few": "too few texts to tell", "noise": "within the noise"}
    assert badge == words.get(outcome, badge)
    assert judge_test(None) == "not tested"


def test_distances_are_from_the_neutral_value() -> None:
    half = Estimate(n=9, value=0.52, interval=(0.48, 0.56), neutral=0.5, p_adjusted=0.3, detectable=0.06)
    assert judge_test(half, margin=0.07) == "negligible"
    assert judge_test(half, margin=0.05) == "unclear"


def test_a_change_must_be_more_than_negligible() -> None:
    moved = change(0.5, 0.45, interval=(-0.09, -0.01))
    assert judge(moved) == "improved"
    assert judge(moved.model_copy(update={"margin": 0.06})) == "negligible change"
    unclear = change(0.5, 0.45, interval=(-0.04, 0.03), p_adjusted=0.4)
    assert judge(unclear.model_copy(update={"margin": 0.05})) == "negligible change"


def test_sides_sizes_and_noise() -> None:
    assert [side(interval) for interval in ((0.1, 1.0), (-1.0, -0.1), (-1.0, 1.0), (0.0, 1.0), None)] == [
        1,
        -1,
        0,
        0,
        0,
    ]
    assert [size_label(value, SIZES) for value in (0.0, -0.09, 0.1, -3.0)] == ["small", "small", "large", "large"]
    assert [is_noise(value, 0.1) for value in (None, 0.0, 0.1, -0.1, 0.2)] == [False, True, True, True, False]
    assert not is_noise(0.0, None)
