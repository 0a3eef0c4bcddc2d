"""Quick runs reproduce the recorded numbers; `make golden` checks all runs to the last bit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.golden.cases import CASES, prepare, run
from tests.golden.check import is_recorded_environment, load
from tests.golden.values import Value, differences

import commands

SAME_ENVIRONMENT, OTHER_ENVIRONMENT = 1e-9, 1e-3
"""Scores are float32. With other processors and torch releases they differ by up to about 1e-5, and ranks of nearly
tied scores by more."""


def test_quick_runs_give_the_recorded_numbers(tmp_path: Path) -> None:
    prepare(tmp_path)
    has_data = "UNMASK_DATA" in os.environ
    cases = [case for case in CASES if case.is_quick and (has_data or not case.needs_data)]
    tolerance = SAME_ENVIRONMENT if is_recorded_environment() else OTHER_ENVIRONMENT
    differences_by_case = {}
    for case in cases:
        values = run(case, tmp_path, lambda arguments: commands.unmask(*arguments, cwd=tmp_path))
        differences_by_case[case.name] = differences(load(case), values, tolerance)
    assert differences_by_case == {case.name: [] for case in cases}


@pytest.mark.parametrize(
    ("current", "tolerance", "expected"),
    [
        ({"a": 1.0, "b": "improved"}, 0.0, []),
        ({"a": 1.0 + 1e-9, "b": "improved"}, 0.0, ["a: 1.0 was recorded, now 1.000000001"]),
        ({"a": 1.0 + 1e-9, "b": "improved"}, 1e-8, []),
        ({"a": 1.0, "b": "worse"}, 1e-8, ["b: 'improved' was recorded, now 'worse'"]),
        ({"a": None, "b": "improved"}, 1e-8, ["a: 1.0 was recorded, now None"]),
        ({"b": "improved", "c": 2}, 1e-8, ["missing: a", "new: c"]),
    ],
)
def test_differences_are_reported(current: dict[str, Value], tolerance: float, expected: list[str]) -> None:
    assert differences({"a": 1.0, "b": "improved"}, current, tolerance) == expected
