"""A grid of situations: estimate, interval, p-value, badge, headline and hypotheses say the same."""

from __future__ import annotations

from itertools import product
from math import log

import pandas as pd
import pytest

from report_blocks import key_figures
from sample_audits import STEREOTYPE, sample_test, sound_measurement
from unmask.measures.association import AssociationMeasure
from unmask.measures.association.analysis import analyse
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.interpretation import LARGE, NEGLIGIBLE, interpret, judge_finding
from unmask.measures.association.report import blocks
from unmask.measures.base import Context
from unmask.results import Measurement
from unmask.statistics.jackknife import student_interval

VALUES = [sign * log(factor) for factor in (1.0005, 1.05, 1.3, 2.0, 8.0) for sign in (1, -1)]
ERRORS = (0.005, 0.05, 0.2, 0.5, 2.0)
DEGREES = (2, 12, 60)
SITUATIONS = list(product(VALUES, ERRORS, DEGREES))


def _measure(value: float, error: float, df: float) -> Measurement:
    statistic = student_interval(value, error, df)
    fields = {"interval": statistic.interval, "detectable": statistic.detectable, "df": df}
    test = sample_test(STEREOTYPE, value, statistic.p_value, **fields)
    return interpret(sound_measurement(tests={"stereotype": test}, groups={}, noise_floor=1e-6))


@pytest.mark.parametrize(("value", "error", "df"), SITUATIONS)
def test_interval_p_badge_and_headline_agree(value: float, error: float, df: float) -> None:
    measurement = _measure(value, error, df)
    test, headline = measurement.tests["stereotype"], measurement.headline[0]
    badge = key_figures(blocks(measurement, None))["Stereotype"].verdict
    assert test.interval is not None
    low, high = test.interval
    excludes_zero, is_within = not low <= 0 <= high, max(abs(low), abs(high)) <= NEGLIGIBLE
    assert (test.p_adjusted is not None and test.p_adjusted < 0.05) == excludes_zero
    assert headline.startswith("No stereotype beyond") == is_within
    assert ("along" in headline or "against" in headline) == (excludes_zero and abs(value) >= NEGLIGIBLE)
    if "along" in headline or "against" in headline:
        assert ("against" in headline) == (value < 0)
        size, direction = badge.split(", ")
        assert size in ("small", "moderate", "strong")
        assert direction == ("along stereotypes" if value > 0 else "against stereotypes")
    elif excludes_zero or is_within:
        assert "negligible" in badge
        assert ("beyond a factor of 1.1:" in headline) == is_within
        is_open = "Only a negligible" in headline and "reaches beyond a factor of 1.1" in headline
        assert is_open == (not is_within)
    else:
        is_too_few = test.detectable is None or test.detectable > LARGE
        assert badge == ("too few words or sentences to tell" if is_too_few else "no clear difference")
        assert headline.startswith("Too few words or sentences to tell" if is_too_few else "No clear stereotype")
        is_said = is_too_few and test.detectable is not None and test.detectable < log(10_000)
        assert ("would have been found with a probability of 80 %" in headline) == is_said
    assert "compatible" not in headline


def test_all_outcomes_occur() -> None:
    outcomes = {
        judge_finding(_measure(*situation).tests["stereotype"], sound_measurement()) for situation in SITUATIONS
    }
    assert outcomes == {"clear", "negligible", "unclear", "too few"}


def test_one_profession_per_group_supports_no_hypothesis(items: pd.DataFrame) -> None:
    few = items[items["profession"].isin(["mason", "secretary", "judge"])].reset_index(drop=True)
    measurement = interpret(AssociationMeasure().adjust_tests(analyse(few, Context())))
    answers = [hypothesis.answer for hypothesis in measurement.read_details(AssociationDetails).hypotheses]
    assert answers == ["cannot tell"] * 3
    assert all(
        test.p_value is None for test in measurement.tests.values() if "workforce" not in test.labels["contrast"]
    )
    assert measurement.headline_text.startswith("Not tested")


def test_a_hypothesis_follows_its_tests(items: pd.DataFrame) -> None:
    """H1 is supported only where both means are clear."""
    for scale, answer in ((1.0, "supported"), (0.0, "not supported")):
        scaled = items.assign(association=items["association"] * scale)
        measurement = interpret(AssociationMeasure().adjust_tests(analyse(scaled, Context())))
        first = measurement.read_details(AssociationDetails).hypotheses[0]
        outcomes = {
            judge_finding(measurement.test("mean", group=gender, gender=gender), measurement)
            for gender in ("female", "male")
        }
        assert first.answer == answer
        assert (outcomes == {"clear"}) == (answer == "supported")
