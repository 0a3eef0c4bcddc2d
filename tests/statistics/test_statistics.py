"""Known answers: worked by hand, R's or scipy's output, published tables; and degenerate input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unmask.statistics.corrections import holm
from unmask.statistics.correlation import pearson, spearman
from unmask.statistics.jackknife import FISHER, IntervalEstimate, fisher_z, jackknife
from unmask.statistics.paired import sign_flip, signed_ranks, z_from_v
from unmask.statistics.proportions import classification_quality

numbers = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3))


@pytest.mark.parametrize(
    ("v", "z", "r"),
    [  # Bartl et al. 2020, Tables 4 and 5: V and r of 900 pairs
        (359188, 20.06, -0.473),
        (96428, -13.63, -0.321),
        (395974, 24.77, -0.584),
        (315058, 14.40, -0.339),
        (304635, 13.06, -0.308),
        (297605, 12.16, -0.287),
    ],
)
def test_published_v_gives_published_r(v: float, z: float, r: float) -> None:
    found = z_from_v(v, 900)
    assert found is not None
    assert found == pytest.approx(z, abs=0.01)
    assert -abs(found) / math.sqrt(1800) == pytest.approx(r, abs=0.0005)


def test_signed_ranks_by_hand() -> None:
    # |d| = 1 2 3 4 5: ranks 1..5; positive 1, 3, 4, 5 → V = 1+3+4+5 = 13; mean 7.5; variance 5·6·11/24 = 13.75
    found = signed_ranks([1, -2, 3, 4, 5])
    assert (found.v, found.w, found.n) == (13, 2, 5)
    assert found.z == pytest.approx((13 - 7.5 - 0.5) / math.sqrt(13.75))
    assert found.r == pytest.approx(5 / math.sqrt(13.75) / math.sqrt(10))
    assert found.rank_biserial == pytest.approx((13 - 2) / 15)


@given(st.lists(numbers, min_size=6, max_size=40))
def test_signed_ranks_agree_with_scipy(values: list[float]) -> None:
    kept = [value for value in values if value]
    if not kept:
        return
    ours = signed_ranks(values)
    theirs = stats.wilcoxon(values, correction=True, method="approx", zero_method="wilcox")
    assert ours.w == theirs.statistic
    assert ours.v == stats.wilcoxon(values, alternative="greater", method="approx").statistic
    if ours.z is not None and ours.v != len(kept) * (len(kept) + 1) / 4:
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-6)


@given(st.lists(numbers, min_size=1, max_size=30))
def test_signed_ranks_turn_with_the_sign(values: list[float]) -> None:
    one, other = signed_ranks(values), signed_ranks([-value for value in values])
    assert one.p_value == pytest.approx(other.p_value)
    assert one.rank_biserial == pytest.approx(-(other.rank_biserial or 0))


def test_signed_ranks_of_degenerate_input() -> None:
    assert signed_ranks([]).p_value is None
    zeros = signed_ranks([0, 0, 0])
    assert (zeros.p_value, zeros.rank_biserial, zeros.z) == (1.0, 0.0, None)
    assert signed_ranks([2.0]).p_value is not None
    with pytest.raises(ValueError, match="NaN"):
        signed_ranks([1, float("nan")])


def test_sign_flip_by_hand() -> None:
    assert sign_flip([1, 2, 3], seed=0) == 2 / 8  # only +++ and −−− reach the mean
    assert sign_flip([1, 1, -1], seed=0) == 1.0  # |1/3| is the least that three ones can give
    assert sign_flip([0, 0], seed=0) == 1.0
    assert sign_flip([], seed=0) is None
    assert sign_flip([1, float("nan")], seed=0) is None


def test_sign_flip_of_many_clusters_is_drawn_and_repeatable() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 40)
    p = sign_flip(values, seed=5)
    assert p == sign_flip(values, seed=5)
    assert p is not None
    assert p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.03)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.9]) == [1.0, None, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_lies_between_p_and_bonferroni(values: list[float]) -> None:
    for p, adjusted in zip(values, holm(values), strict=True):
        assert adjusted is not None
        assert p <= adjusted <= min(1.0, p * len(values)) + 1e-12


def test_correlations_agree_with_scipy() -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=30).round(1)
    y = (x + draw.normal(size=30)).round(1)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert math.isnan(pearson([1, 1, 1], [1, 2, 3]))
    assert math.isnan(pearson([1, 2], [1, 2]))
    assert pearson([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert fisher_z(0.5) == pytest.approx(0.5493061443340549)
    assert math.isnan(fisher_z(1.0))


@pytest.mark.parametrize("correlate", [pearson, spearman])
@pytest.mark.parametrize("size", [3, 6, 7, 1000])
def test_what_is_constant_but_for_rounding_correlates_with_nothing(
    correlate: Callable[[Any, Any], float], size: int
) -> None:
    """The mean of seven times 0.8 is not 0.8, and 0.1 + 0.2 is not 0.3."""
    other = np.arange(size, dtype=float)
    for constant in (np.full(size, 0.8), np.where(other > 1, 0.1 + 0.2, 0.3), np.zeros(size)):
        assert math.isnan(correlate(constant, other))
        assert math.isnan(correlate(other, constant))
        assert math.isnan(correlate(constant, constant))
    nearly = 0.3 + 1e-9 * other
    assert correlate(nearly, other) == pytest.approx(1)
    assert correlate(-1e-30 * other, other) == pytest.approx(-1)


def test_infinite_numbers_have_ranks() -> None:
    assert spearman([-np.inf, 1, 2, np.inf], [1, 2, 3, 4]) == pytest.approx(1)
    assert math.isnan(spearman([np.inf, np.inf, np.inf], [1, 2, 3]))
    assert math.isnan(spearman([np.nan, 1, 2], [1, 2, 3]))


@pytest.mark.parametrize("professions", [4, 5, 8])
def test_a_perfect_order_of_few_points_has_no_interval(professions: int) -> None:
    """Fisher's z has no value at 1: no interval, rather than [1, 1] and p = 0, or [−1, 1]."""
    shares = np.arange(professions, dtype=float)
    values = np.tile(shares[:, None], (1, 9))
    found = jackknife(values.shape, lambda r, c: spearman(values[np.ix_(r, c)].mean(axis=1), shares[r]), scale=FISHER)
    assert found == IntervalEstimate(1.0)


def _mean_of(values: np.ndarray) -> IntervalEstimate:
    return jackknife(values.shape, lambda r, c: float(values[np.ix_(r, c)].mean()))


def test_a_single_column_gives_the_t_test() -> None:
    values = np.array([0.3, -0.1, 0.8, 0.4, 0.2])
    found = _mean_of(values[:, None])
    known = stats.ttest_1samp(values, 0)
    assert found.statistic == pytest.approx(known.statistic)
    assert found.p_value == pytest.approx(known.pvalue)
    assert found.df == pytest.approx(4)
    assert found.interval == pytest.approx(tuple(known.confidence_interval()))


def test_crossed_mean_by_hand_is_min_f() -> None:
    # row means 1 2 6, column means 2 4; V_rows = s²/3 = 7/3, V_columns = 2/2 = 1; mean 3
    values = np.array([[0.0, 2.0], [1.0, 3.0], [5.0, 7.0]])
    found = _mean_of(values)
    rows, columns = 7 / 3, 1.0
    assert found.value == pytest.approx(3)
    assert found.standard_error == pytest.approx(math.sqrt(rows + columns))
    assert found.df == pytest.approx((rows + columns) ** 2 / (rows**2 / 2 + columns**2 / 1))
    f1, f2 = 9 / columns, 9 / rows  # by pairs, by professions
    assert found.statistic is not None
    assert found.statistic**2 == pytest.approx(f1 * f2 / (f1 + f2))  # Clark 1973: min F′


def test_crossed_degenerate_input() -> None:
    assert _mean_of(np.empty((0, 3))) == IntervalEstimate(None)
    assert _mean_of(np.array([[np.nan, 1.0]])) == IntervalEstimate(None)
    assert _mean_of(np.array([[2.0]])) == IntervalEstimate(2.0)
    zeros = _mean_of(np.zeros((3, 3)))
    assert (zeros.p_value, zeros.interval) == (1.0, (0.0, 0.0))
    constant = _mean_of(np.full((3, 3), 0.1))
    assert (constant.p_value, constant.statistic) == (0.0, None)
    assert constant.interval == pytest.approx((0.1, 0.1))


def test_an_undefined_leave_one_out_gives_no_interval() -> None:
    assert jackknife((2, 1), lambda r, _: float("nan") if len(r) < 2 else 1.0).interval is None


@pytest.mark.parametrize(
    ("pairs", "professions", "cells", "low", "high"),
    [(1, 0, 1, 0.02, 0.08), (0, 1, 1, 0.02, 0.08), (1, 1, 1, 0.03, 0.09), (0, 0, 1, 0.0, 0.04)],
)
def test_under_the_null_five_per_cent_are_rejected(
    pairs: float, professions: float, cells: float, low: float, high: float
) -> None:
    """20 professions × 9 pairs with random effects of each kind: the rate is 5 %, or less where there is only noise."""
    draw = np.random.default_rng(12)
    rejected = 0
    for _ in range(600):
        values = (
            pairs * draw.normal(size=(1, 9))
            + professions * draw.normal(size=(20, 1))
            + cells * draw.normal(size=(20, 9))
        )
        p = _mean_of(values).p_value
        assert p is not None
        rejected += p < 0.05
    assert low <= rejected / 600 <= high


def test_intervals_cover_the_truth() -> None:
    draw = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        values = 0.7 + draw.normal(size=(1, 9)) + draw.normal(size=(20, 1)) + draw.normal(size=(20, 9))
        interval = _mean_of(values).interval
        assert interval is not None
        covered += interval[0] <= 0.7 <= interval[1]
    assert 0.91 <= covered / 400 <= 0.99


def test_quality_by_hand() -> None:
    """Of 4 negative and 6 positive texts, 3 and 4 are right; a label that nobody has and nobody says is 0."""
    found = classification_quality([[3, 1, 0], [2, 4, 0], [0, 0, 0]], ["negative", "positive", "none"])
    assert found["accuracy"] == pytest.approx(0.7)
    assert found["labels"]["positive"] == {
        "precision": 0.8,
        "recall": pytest.approx(4 / 6),
        "f1": pytest.approx(8 / 11),
        "count": 6,
    }
    assert found["labels"]["none"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 0}
    assert found["macro_f1"] == pytest.approx((6 / 9 + 8 / 11 + 0) / 3)
    assert found["accuracy_interval"][0] < 0.7 < found["accuracy_interval"][1]
    assert found["examples"] == 10
