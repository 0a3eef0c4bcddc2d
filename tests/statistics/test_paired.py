"""Paired ratings: known answers worked by hand, scipy's, and the tables of Jentzsch and Turan (2022).

S. Jentzsch and C. Turan (2022). Gender bias in BERT: measuring and analysing biases through sentiment rating in a
realistic downstream classification task. The files in `gold` hold the figures of its Tables 3 and 4 (bias of 63
classifiers over 25,000 reviews) and 5 and 6 (their 49 trainings' accuracy), with the counts named for what they are.
"""

from __future__ import annotations

import csv
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from paths import GOLD
from unmask.statistics.jackknife import IntervalEstimate
from unmask.statistics.jentzsch_turan import PublishedTest, published_correlations, published_test, stars
from unmask.statistics.paired import (
    detectable_mean,
    estimate_preference,
    mean_bias,
    rank_biserial,
    signed_ranks,
    sum_signs,
)

REVIEWS = 25_000
few_sizes = st.integers(-6, 6).map(float)  # so that many are equal, or zero


@cache
def _gold(name: str) -> list[dict[str, str]]:
    with (GOLD / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _classifiers() -> list[dict[str, str]]:
    return _gold("jentzsch_turan_2022")


def test_rank_biserial_by_hand() -> None:
    # V₊ = 13, V₋ = 2; tᵢ = 3, 1, 5, 5, 5, squares about their mean 12.8; √(4/5 · 12.8/10²) = .32; 1 − r² = 104/225
    found = rank_biserial([1, -2, 3, 4, 5])
    assert found.value == pytest.approx(11 / 15)
    assert found.standard_error == pytest.approx(0.32 * 225 / 104)
    z, reach = math.log(26 / 4) / 2, 2.7764451051977987 * 9 / 13  # qt(.975, 4)
    assert found.interval == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)))
    assert found.statistic == pytest.approx(z * 13 / 9)
    assert rank_biserial([0, 1, -2, 0, 3, 4, 5, 0]) == found


@given(st.lists(few_sizes, min_size=3, max_size=25))
def test_rank_biserial_is_the_jackknife_of_signed_ranks(values: list[float]) -> None:
    kept = np.array([value for value in values if value])
    found = rank_biserial(values)
    assert found.value == signed_ranks(values).rank_biserial
    if len(kept) < 3 or len(set(np.sign(kept))) == 1:
        assert found == IntervalEstimate(found.value)
        return
    assert sum_signs(kept).tolist() == np.sign(kept[:, None] + kept).sum(axis=1).tolist()
    left = np.array([signed_ranks(np.delete(kept, i)).rank_biserial for i in range(len(kept))], dtype=float)
    error = math.sqrt((len(kept) - 1) * left.var())
    assert found.value is not None
    assert found.standard_error == pytest.approx(error / (1 - found.value**2))


def test_rank_biserial_agrees_with_a_bootstrap() -> None:
    draw = np.random.default_rng(2)
    values = draw.exponential(size=300) - 0.5
    found = rank_biserial(values)
    drawn = [signed_ranks(draw.choice(values, 300)).rank_biserial for _ in range(600)]
    assert found.interval == pytest.approx(tuple(np.quantile(np.array(drawn, dtype=float), (0.025, 0.975))), abs=0.02)


def test_rank_biserial_of_degenerate_input() -> None:
    assert rank_biserial([]) == IntervalEstimate(None)
    assert rank_biserial([0, 0, 0]) == IntervalEstimate(0.0)
    assert rank_biserial([1, -2]) == IntervalEstimate(-1 / 3)
    assert rank_biserial([1, 2, 3, 4]) == IntervalEstimate(1.0)
    assert rank_biserial([-1, -2, -3, 0]) == IntervalEstimate(-1.0)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="NaN or infinity"):
            rank_biserial([1, bad])


def test_mean_bias_is_the_t_test() -> None:
    values = [0.003, 0.0, -0.001, 0.008, 0.0, 0.004]
    found, known = mean_bias(values), stats.ttest_1samp(values, 0)
    assert found.value == pytest.approx(0.014 / 6)
    assert found.interval == pytest.approx(tuple(known.confidence_interval()))
    assert found.p_value == pytest.approx(known.pvalue)
    assert mean_bias([]) == IntervalEstimate(None)
    assert mean_bias([0.5]) == IntervalEstimate(0.5)
    assert mean_bias([0, 0]).interval == (0, 0)
    with pytest.raises(ValueError, match="NaN or infinity"):
        mean_bias([math.nan])


def test_detectable_by_hand() -> None:
    # s² = 2.5, n = 5: s/√n = √.5; qnorm(.975) = 1.959964, qnorm(.8) = .841621, qnorm(.995) = 2.575829
    assert detectable_mean([1, 2, 3, 4, 5]) == pytest.approx((1.959964 + 0.841621) * math.sqrt(0.5), rel=1e-6)
    assert detectable_mean([1, 2, 3, 4, 5], level=0.01, power=0.5) == pytest.approx(2.575829 * math.sqrt(0.5), rel=1e-6)


def test_what_is_detectable_is_found_as_often_as_said() -> None:
    draw = np.random.default_rng(8).normal(size=(2000, 100))
    least = detectable_mean(np.tile([-1.0, 1.0], 50) * math.sqrt(0.99))  # s = 1
    assert least is not None
    p = np.asarray(stats.ttest_1samp(draw + least, 0, axis=1).pvalue)
    assert (p < 0.05).mean() == pytest.approx(0.8, abs=0.03)


def test_detectable_of_degenerate_input() -> None:
    assert detectable_mean([]) is None
    assert detectable_mean([0.2]) is None
    assert detectable_mean([0.1, 0.1, 0.1]) is None
    with pytest.raises(ValueError, match="NaN or infinity"):
        detectable_mean([1, math.nan])
    with pytest.raises(ValueError, match="power 80"):
        detectable_mean([1, 2], power=80)


def test_heavy_tails_do_not_break_the_five_per_cent() -> None:
    """A symmetric null, Student's t with two degrees of freedom, its variance infinite."""
    draw = np.random.default_rng(6)
    rejected = np.zeros(3)
    for _ in range(400):
        ratings = draw.standard_t(2, size=(2, 200))
        differences = ratings[0] - ratings[1]
        tests = (published_test(*ratings), mean_bias(differences), rank_biserial(differences))
        rejected += [(test.p_value or 0) < 0.05 for test in tests]
    assert all(0.02 <= share <= 0.09 for share in rejected / 400), rejected / 400


def test_published_test_by_hand() -> None:
    # sizes 1 … 60, the smallest 20 negative: W = 210, mean 915, variance 60·61·121/24 = 18452.5
    differences = np.arange(1, 61) * np.where(np.arange(60) < 20, -1, 1) / 64
    male = np.concatenate([differences, np.zeros(40)]) + 0.5
    found = published_test(male, np.full(100, 0.5))
    assert (found.n, found.below, found.above, found.zero) == (100, 20, 40, 40)
    assert found.statistic == 210
    p = math.erfc(705 / math.sqrt(18452.5) / math.sqrt(2))
    assert found.p_value == pytest.approx(p)
    assert found.p_adjusted == pytest.approx(64 * p)
    assert found.stars == "***"
    assert found.abs_nonzero == pytest.approx(30.5 / 64)
    assert found.tot_nonzero == pytest.approx((1830 - 420) / 60 / 64)
    assert (found.abs_all, found.tot_all) == pytest.approx((18.3 / 64, 14.1 / 64))
    squares = 60 * 61 * 121 / 6
    assert found.deviation == pytest.approx(math.sqrt((squares - 100 * 14.1**2) / 99) / 64)


def test_published_test_of_degenerate_input() -> None:
    same = published_test([0.1, 0.9, 0.5], [0.1, 0.9, 0.5])
    assert same == PublishedTest(3, None, None, 0.0, 0.0, 0.0, 0, 0, 3, None, 1.0, 1.0, "")
    empty = published_test([], [])
    assert empty == PublishedTest(0, None, None, None, None, None, 0, 0, 0, None, None, None, "")
    one = published_test([0.5], [0.25])
    assert (one.above, one.tot_nonzero, one.p_value, one.p_adjusted, one.deviation) == (1, 0.25, 1.0, 1.0, None)
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


def _misfit(row: dict[str, str], column: str, kind: str) -> float:
    """How far the mean over all is from the non-zero mean × the share that `column` leaves."""
    return abs(float(row[f"{kind}_nonzero"]) * (1 - int(row[column]) / REVIEWS) - float(row[f"{kind}_all"]))


@pytest.mark.parametrize("kind", ["abs", "tot"])
def test_published_means_agree_with_the_published_zeros(kind: str) -> None:
    """Both means are rounded to four decimals; a true mean that is out by more would show."""
    assert all(_misfit(row, "zero", kind) <= 1e-4 for row in _classifiers())


def test_the_published_header_names_the_wrong_column_zero() -> None:
    """Tables 3 and 4 head the second count N = 0; read so, the means of 57 of 63 rows contradict each other."""
    assert sum(max(_misfit(row, "above", kind) for kind in ("abs", "tot")) > 1e-4 for row in _classifiers()) == 57


def test_published_counts() -> None:
    rows = _classifiers()
    assert len(rows) == 63
    assert {int(row["below"]) + int(row["above"]) + int(row["zero"]) for row in rows} == {REVIEWS}
    found = [float(row["tot_nonzero"]) for row in rows if row["stars"] == "***"]
    assert (len(found), sum(bias < 0 for bias in found), sum(bias > 0 for bias in found)) == (57, 16, 41)


def test_published_correlations_from_the_published_rows() -> None:
    """Table 2, from figures of four and three decimals; R and mix are trained anew, the three originals are one."""
    accuracy = {(row["model"], row["condition"]): row for row in _gold("jentzsch_turan_2022_accuracy")}
    rows = _classifiers()
    trained = [accuracy[row["model"], row["condition"].replace(f"original-{row['terms']}", "original")] for row in rows]
    found = published_correlations(
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
    assert {pair: cell.r for pair, cell in found.items()} == {
        pair: pytest.approx(r, abs=0.004) for pair, (r, _) in published.items()
    }
    assert {pair: cell.stars for pair, cell in found.items()} == {pair: mark for pair, (_, mark) in published.items()}
    assert found["abs", "accuracy"].p_value == 0.00007  # five decimals
    assert found["abs", "accuracy"].p_adjusted == pytest.approx(0.00147)
    assert found["tot", "f1"].p_adjusted == 1


def test_published_correlations_of_degenerate_input() -> None:
    assert published_correlations({}) == {}
    flat = published_correlations({"a": [1, 1, 1], "b": [1, 2, 3]})["a", "b"]
    assert (flat.r, flat.p_value, flat.p_adjusted, flat.stars) == (None, None, None, "")
    assert published_correlations({"a": [1, 2], "b": [1, 2]})["a", "b"] == flat
    with pytest.raises(ValueError, match="a 2, b 1"):
        published_correlations({"a": [1, 2], "b": [1]})


def test_known_answers_of_a_preference() -> None:
    estimate = estimate_preference([1, 2, 3, 4, 5, 6, 7, -1, -2, 0])
    assert (estimate.value, estimate.statistic) == (0.75, 7)
    assert estimate.p_value == pytest.approx(2 * (1 + 9 + 36) / 512)  # 7 or more of 9, both tails
    assert estimate.interval == pytest.approx((0.4422, 0.9190), abs=1e-4)  # Wilson's, by hand


def test_a_preference_of_nothing_and_of_ties() -> None:
    nothing = estimate_preference([])
    assert (nothing.value, nothing.interval, nothing.p_value) == (None, None, None)
    ties = estimate_preference([0.0, 0.0])
    assert (ties.value, ties.p_value) == (0.5, 1.0)
    single = estimate_preference([3.0])
    assert (single.value, single.p_value) == (1.0, 1.0)
    with pytest.raises(ValueError, match="NaN"):
        estimate_preference([float("nan")])
