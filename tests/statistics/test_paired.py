"""Tests of paired data: answers worked out by hand, and those of R and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unmask.statistics.jackknife import IntervalEstimate
from unmask.statistics.jentzsch_turan import published_test
from unmask.statistics.paired import (
    detectable_mean,
    estimate_preference,
    mean_bias,
    rank_biserial,
    sign_flip,
    signed_ranks,
    sum_signs,
    z_from_v,
)

few_sizes = st.integers(-6, 6).map(float)  # many ties and zeros
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
    result = z_from_v(v, 900)
    assert result is not None
    assert result == pytest.approx(z, abs=0.01)
    assert -abs(result) / math.sqrt(1800) == pytest.approx(r, abs=0.0005)


def test_signed_ranks_by_hand() -> None:
    # |d| = 1 2 3 4 5: ranks 1..5; positive 1, 3, 4, 5 → V = 1+3+4+5 = 13; mean 7.5; variance 5·6·11/24 = 13.75
    ranks = signed_ranks([1, -2, 3, 4, 5])
    assert (ranks.v, ranks.w, ranks.n) == (13, 2, 5)
    assert ranks.z == pytest.approx((13 - 7.5 - 0.5) / math.sqrt(13.75))
    assert ranks.r == pytest.approx(5 / math.sqrt(13.75) / math.sqrt(10))
    assert ranks.rank_biserial == pytest.approx((13 - 2) / 15)


@given(st.lists(numbers, min_size=6, max_size=40))
def test_signed_ranks_agree_with_scipy(values: list[float]) -> None:
    nonzero = [value for value in values if value]
    if not nonzero:
        return
    ours = signed_ranks(values)
    theirs = stats.wilcoxon(values, correction=True, method="approx", zero_method="wilcox")
    assert ours.w == theirs.statistic
    assert ours.v == stats.wilcoxon(values, alternative="greater", method="approx").statistic
    if ours.z is not None and ours.v != len(nonzero) * (len(nonzero) + 1) / 4:
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-6)


@given(st.lists(numbers, min_size=1, max_size=30))
def test_signed_ranks_turn_with_the_sign(values: list[float]) -> None:
    ranks, negated = signed_ranks(values), signed_ranks([-value for value in values])
    assert ranks.p_value == pytest.approx(negated.p_value)
    assert ranks.rank_biserial == pytest.approx(-(negated.rank_biserial or 0))


def test_signed_ranks_of_degenerate_input() -> None:
    assert signed_ranks([]).p_value is None
    zeros = signed_ranks([0, 0, 0])
    assert (zeros.p_value, zeros.rank_biserial, zeros.z) == (1.0, 0.0, None)
    assert signed_ranks([2.0]).p_value is not None
    with pytest.raises(ValueError, match="NaN"):
        signed_ranks([1, float("nan")])


def test_sign_flip_by_hand() -> None:
    assert sign_flip([1, 2, 3], seed=0) == 2 / 8  # only +++ and −−− reach the mean
    assert sign_flip([1, 1, -1], seed=0) == 1.0  # |1/3| is the smallest mean of three ±1
    assert sign_flip([0, 0], seed=0) == 1.0
    assert sign_flip([], seed=0) is None
    assert sign_flip([1, float("nan")], seed=0) is None


def test_sign_flip_of_many_clusters_is_drawn_and_repeatable() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 40)
    p = sign_flip(values, seed=5)
    assert p == sign_flip(values, seed=5)
    assert p is not None
    assert p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=0.03)


def test_rank_biserial_by_hand() -> None:
    # V₊ = 13, V₋ = 2; tᵢ = 3, 1, 5, 5, 5, squares about their mean 12.8; √(4/5 · 12.8/10²) = .32; 1 − r² = 104/225
    estimate = rank_biserial([1, -2, 3, 4, 5])
    assert estimate.value == pytest.approx(11 / 15)
    assert estimate.standard_error == pytest.approx(0.32 * 225 / 104)
    z, reach = math.log(26 / 4) / 2, 2.7764451051977987 * 9 / 13  # qt(.975, 4)
    assert estimate.interval == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)))
    assert estimate.statistic == pytest.approx(z * 13 / 9)
    assert rank_biserial([0, 1, -2, 0, 3, 4, 5, 0]) == estimate


@given(st.lists(few_sizes, min_size=3, max_size=25))
def test_rank_biserial_is_the_jackknife_of_signed_ranks(values: list[float]) -> None:
    nonzero = np.array([value for value in values if value])
    estimate = rank_biserial(values)
    assert estimate.value == signed_ranks(values).rank_biserial
    if len(nonzero) < 3 or len(set(np.sign(nonzero))) == 1:
        assert estimate == IntervalEstimate(estimate.value)
        return
    assert sum_signs(nonzero).tolist() == np.sign(nonzero[:, None] + nonzero).sum(axis=1).tolist()
    leave_one_out = np.array(
        [signed_ranks(np.delete(nonzero, i)).rank_biserial for i in range(len(nonzero))], dtype=float
    )
    error = math.sqrt((len(nonzero) - 1) * leave_one_out.var())
    assert estimate.value is not None
    assert estimate.standard_error == pytest.approx(error / (1 - estimate.value**2))


def test_rank_biserial_agrees_with_a_bootstrap() -> None:
    draw = np.random.default_rng(2)
    values = draw.exponential(size=300) - 0.5
    estimate = rank_biserial(values)
    resampled = [signed_ranks(draw.choice(values, 300)).rank_biserial for _ in range(600)]
    assert estimate.interval == pytest.approx(
        tuple(np.quantile(np.array(resampled, dtype=float), (0.025, 0.975))), abs=0.02
    )


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
    estimate, expected = mean_bias(values), stats.ttest_1samp(values, 0)
    assert estimate.value == pytest.approx(0.014 / 6)
    assert estimate.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert estimate.p_value == pytest.approx(expected.pvalue)
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
    """A symmetric null distribution: Student's t with two degrees of freedom, whose variance is infinite."""
    draw = np.random.default_rng(6)
    rejected = np.zeros(3)
    for _ in range(400):
        ratings = draw.standard_t(2, size=(2, 200))
        differences = ratings[0] - ratings[1]
        tests = (published_test(*ratings), mean_bias(differences), rank_biserial(differences))
        rejected += [(test.p_value or 0) < 0.05 for test in tests]
    assert all(0.02 <= share <= 0.09 for share in rejected / 400), rejected / 400


def test_known_answers_of_a_preference() -> None:
    estimate = estimate_preference([1, 2, 3, 4, 5, 6, 7, -1, -2, 0])
    assert (estimate.value, estimate.statistic) == (0.75, 7)
    assert estimate.p_value == pytest.approx(2 * (1 + 9 + 36) / 512)  # 7 or more of 9, both tails
    exact = stats.binomtest(7, 9).proportion_ci(0.95, method="exact")
    assert estimate.interval == pytest.approx((0.5 + 0.9 * (exact.low - 0.5), 0.5 + 0.9 * (exact.high - 0.5)))
    assert estimate.detectable == pytest.approx((1.959964 + 0.841621) * 0.5 * 3 / 10)


def test_a_preference_of_nothing_and_of_ties() -> None:
    nothing = estimate_preference([])
    assert (nothing.value, nothing.interval, nothing.p_value) == (None, None, None)
    ties = estimate_preference([0.0, 0.0])
    assert (ties.value, ties.p_value) == (0.5, 1.0)
    single = estimate_preference([3.0])
    assert (single.value, single.p_value) == (1.0, 1.0)
    for count, is_ever_found in ((5, False), (6, True)):  # 2 · 0.5⁵ > .05 > 2 · 0.5⁶
        one_sided = estimate_preference([1.0] * count + [0.0] * 3)
        assert ((one_sided.p_value or 0.0) < 0.05) == (one_sided.detectable is not None) == is_ever_found
    with pytest.raises(ValueError, match="NaN"):
        estimate_preference([float("nan")])
