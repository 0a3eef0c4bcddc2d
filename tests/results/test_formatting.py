"""Formatting of numbers, times and names."""

from __future__ import annotations

import pytest

from unmask.results.formatting import (
    NO_BREAK,
    certainty,
    interval,
    make_unique,
    moment,
    number,
    odds,
    p,
    p_value,
    percent,
    percent_interval,
    setting,
    share,
    short_name,
    signed,
)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(None, 2, "–"), (0.0, 2, "0"), (-1.5, 2, "−1.50"), (0.004, 2, "0.004"), (0.005, 2, "0.01"), (12.345, 0, "12")],
)
def test_numbers_have_a_true_minus_and_never_show_as_zero(value: float | None, digits: int, text: str) -> None:
    assert number(value, digits) == text


def test_signs_shares_and_intervals() -> None:
    assert [signed(value) for value in (0.5, -0.5, 0, None)] == ["+0.50", "−0.50", "0", "–"]
    assert [percent(0.5), percent(0.125, 0), percent(None)] == [f"50.0{NO_BREAK}%", f"12{NO_BREAK}%", "–"]
    assert [share(1, 40), share(1, 4), share(1, 0)] == [f"2.5{NO_BREAK}%", f"25{NO_BREAK}%", f"0.0{NO_BREAK}%"]
    assert interval((-0.1, 0.25)) == "[−0.10, 0.25]"
    assert percent_interval((0.1, 0.25)) == f"10.0 to 25.0{NO_BREAK}%"
    assert interval(None) == percent_interval(None) == ""
    assert [odds(0.0), odds(5.0), odds(8.0), odds(100.0)] == ["1.00", "148", "2,981", "more than 10,000"]


def test_p_values() -> None:
    assert [p_value(value) for value in (0.0123, 1e-9, None)] == ["= 0.012", "< 0.001", "–"]
    assert [p(value) for value in (0.0123, 1e-9, None)] == ["0.012", "< 0.001", "–"]
    assert certainty("[0.1, 0.2]", 0.5) == f"95 % interval [0.1,{NO_BREAK}0.2], p = 0.500"
    assert certainty("") == "no interval"


def test_names_and_times_are_short() -> None:
    assert [short_name(name) for name in ("/a/b/my-bert/", "google/bert", "bert", "./x/../y", "/", "../..")] == [
        "my-bert",
        "google/bert",
        "bert",
        "y",
        "/",
        "../..",
    ]
    assert make_unique(["a", "b", "a"]) == ["a", "b", "a-2"]
    assert moment("2020-02-02T03:02:02+01:00") == "2 February 2020, 02:02 UTC"
    assert moment("yesterday") == "yesterday"
    assert [setting(value) for value in (True, None, ["a", "b"], [], 3)] == ["yes", "–", "a, b", "–", "3"]
