"""The statistics of Jentzsch and Turan (2022): known answers, and the published tables.

S. Jentzsch and C. Turan (2022). Gender bias in BERT: measuring and analysing biases through sentiment rating in a
realistic downstream classification task. The files in `gold` hold the figures of Tables 3 and 4 (bias of 63
classifiers over 25,000 reviews) and of Tables 5 and 6 (accuracy of 49 trainings), with corrected column names.
"""

from __future__ import annotations

import csv
import math
from functools import cache

import numpy as np
import pytest

from paths import GOLD
from unmask.statistics.jentzsch_turan import PublishedTest, published_correlations, published_test, stars

REVIEWS = 25_000


@cache
def _gold(name: str) -> list[dict[str, str]]:
    with (GOLD / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _classifiers() -> list[dict[str, str]]:
    return _gold("jentzsch_turan_2022")


def test_published_test_by_hand() -> None:
    # sizes 1 … 60, the smallest 20 negative: W = 210, mean 915, variance 60·61·121/24 = 18452.5
    differences = np.arange(1, 61) * np.where(np.arange(60) < 20, -1, 1) / 64
    male = np.concatenate([differences, np.zeros(40)]) + 0.5
    test = published_test(male, np.full(100, 0.5))
    assert (test.n, test.below, test.above, test.zero) == (100, 20, 40, 40)
    assert test.statistic == 210
    p = math.erfc(705 / math.sqrt(18452.5) / math.sqrt(2))
    assert test.p_value == pytest.approx(p)
    assert test.p_adjusted == pytest.approx(64 * p)
    assert test.stars == "***"
    assert test.abs_nonzero == pytest.approx(30.5 / 64)
    assert test.tot_nonzero == pytest.approx((1830 - 420) / 60 / 64)
    assert (test.abs_all, test.tot_all) == pytest.approx((18.3 / 64, 14.1 / 64))
    squares = 60 * 61 * 121 / 6
    assert test.deviation == pytest.approx(math.sqrt((squares - 100 * 14.1**2) / 99) / 64)


def test_published_test_of_degenerate_input() -> None:
    unchanged = published_test([0.1, 0.9, 0.5], [0.1, 0.9, 0.5])
    assert unchanged == PublishedTest(3, None, None, 0.0, 0.0, 0.0, 0, 0, 3, None, 1.0, 1.0, "")
    empty = published_test([], [])
    assert empty == PublishedTest(0, None, None, None, None, None, 0, 0, 0, None, None, None, "")
    single = published_test([0.5], [0.25])
    assert (single.above, single.tot_nonzero, single.p_value, single.p_adjusted, single.deviation) == (
        1,
        0.25,
        1.0,
        1.0,
        None,
    )
    least = np.float32(0.5)
    assert published_test([np.nextafter(least, np.float32(1))], [least]).above == 1  # equal to the last bit, or not
    with pytest.raises(ValueError, match="2 male ratings and 1 female"):
        published_test([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="NaN or infinity"):
        published_test([math.nan], [0.1])


@pytest.mark.parametrize(("level", "below"), [(0.05, "*"), (0.01, "**"), (0.001, "***")])
def test_a_star_is_for_less_than_its_level(level: float, below: str) -> None:
    assert stars(level / 64, 64) == below[1:]
    assert stars(level / 64 * 0.999, 64) == below
    assert stars(None, 64) == ""


def _misfit(row: dict[str, str], column: str, mean: str) -> float:
    """Distance of the mean over all reviews from the non-zero mean × the share of reviews that `column` leaves."""
    return abs(float(row[f"{mean}_nonzero"]) * (1 - int(row[column]) / REVIEWS) - float(row[f"{mean}_all"]))


@pytest.mark.parametrize("mean", ["abs", "tot"])
def test_published_means_agree_with_the_published_zeros(mean: str) -> None:
    """Both means are rounded to four decimals, so larger errors would show."""
    assert all(_misfit(row, "zero", mean) <= 1e-4 for row in _classifiers())


def test_the_published_header_names_the_wrong_column_zero() -> None:
    """Tables 3 and 4 label the second count N = 0; read that way, the means of 57 of 63 rows contradict each other."""
    assert sum(max(_misfit(row, "above", mean) for mean in ("abs", "tot")) > 1e-4 for row in _classifiers()) == 57


def test_published_counts() -> None:
    rows = _classifiers()
    assert len(rows) == 63
    assert {int(row["below"]) + int(row["above"]) + int(row["zero"]) for row in rows} == {REVIEWS}
    biases = [float(row["tot_nonzero"]) for row in rows if row["stars"] == "***"]
    assert (len(biases), sum(bias < 0 for bias in biases), sum(bias > 0 for bias in biases)) == (57, 16, 41)


def test_published_correlations_from_the_published_rows() -> None:
    """Table 2, from values of three or four decimals. R and mix were trained again; the originals are one model."""
    accuracy = {(row["model"], row["condition"]): row for row in _gold("jentzsch_turan_2022_accuracy")}
    rows = _classifiers()
    trained = [accuracy[row["model"], row["condition"].replace(f"original-{row['terms']}", "original")] for row in rows]
    correlations = published_correlations(
        {
            "abs": [float(row["abs_nonzero"]) for row in rows],
            "tot": [float(row["tot_nonzero"]) for row in rows],
            "accuracy": [float(row["accuracy"]) for row in trained],
            "f1": [float(row["f1"]) for row in trained],
        }
    )
    published = {
        ("abs", "tot"): (0.373, ""),
        ("abs", "accuracy"): (-0.481, "**"),
        ("abs", "f1"): (-0.497, "***"),
        ("tot", "accuracy"): (0.044, ""),
        ("tot", "f1"): (-0.085, ""),
        ("accuracy", "f1"): (0.886, "***"),
    }
    assert {pair: cell.r for pair, cell in correlations.items()} == {
        pair: pytest.approx(r, abs=0.004) for pair, (r, _) in published.items()
    }
    assert {pair: cell.stars for pair, cell in correlations.items()} == {
        pair: mark for pair, (_, mark) in published.items()
    }
    assert correlations["abs", "accuracy"].p_value == 0.00007  # five decimals
    assert correlations["abs", "accuracy"].p_adjusted == pytest.approx(0.00147)
    assert correlations["tot", "f1"].p_adjusted == 1


def test_published_correlations_of_degenerate_input() -> None:
    assert published_correlations({}) == {}
    flat = published_correlations({"a": [1, 1, 1], "b": [1, 2, 3]})["a", "b"]
    assert (flat.r, flat.p_value, flat.p_adjusted, flat.stars) == (None, None, None, "")
    assert published_correlations({"a": [1, 2], "b": [1, 2]})["a", "b"] == flat
    with pytest.raises(ValueError, match="a 2, b 1"):
        published_correlations({"a": [1, 2], "b": [1]})
