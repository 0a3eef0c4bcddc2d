"""The crossed jackknife: known answers, degenerate input, calibration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from unmask.statistics.correlation import spearman
from unmask.statistics.jackknife import FISHER, IntervalEstimate, combine_runs, jackknife


@pytest.mark.parametrize("professions", [4, 5, 8])
def test_a_perfect_order_of_few_points_has_no_interval(professions: int) -> None:
    """Fisher's z is infinite at 1: no interval, rather than [1, 1] with p = 0, or [−1, 1]."""
    shares = np.arange(professions, dtype=float)
    values = np.tile(shares[:, None], (1, 9))
    estimate = jackknife(
        values.shape, lambda r, c: spearman(values[np.ix_(r, c)].mean(axis=1), shares[r]), scale=FISHER
    )
    assert estimate == IntervalEstimate(1.0)


def _estimate_mean(values: np.ndarray) -> IntervalEstimate:
    return jackknife(values.shape, lambda *kept: float(values[np.ix_(*kept)].mean()))


def test_a_single_column_gives_the_t_test() -> None:
    values = np.array([0.3, -0.1, 0.8, 0.4, 0.2])
    estimate = _estimate_mean(values[:, None])
    expected = stats.ttest_1samp(values, 0)
    assert estimate.statistic == pytest.approx(expected.statistic)
    assert estimate.p_value == pytest.approx(expected.pvalue)
    assert estimate.df == pytest.approx(4)
    assert estimate.interval == pytest.approx(tuple(expected.confidence_interval()))


def test_samples_of_different_sizes_give_welch_s_t_test() -> None:
    values = np.array([0.3, -0.1, 0.8, 0.4, 0.2, 1.9, 2.6, 0.7])
    samples = np.array(["many"] * 5 + ["few"] * 3)

    def contrast(r: np.ndarray, c: np.ndarray) -> float:
        del c
        return float(values[r][samples[r] == "few"].mean() - values[r][samples[r] == "many"].mean())

    estimate = jackknife((8, 1), contrast, samples=samples)
    expected = stats.ttest_ind(values[5:], values[:5], equal_var=False)
    assert estimate.statistic == pytest.approx(expected.statistic)
    assert estimate.df == pytest.approx(expected.df)
    assert estimate.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert contrast(np.arange(8), np.arange(1)) == estimate.value
    assert jackknife((8, 1), contrast).df == 7  # as one sample


def test_crossed_mean_by_hand_is_min_f() -> None:
    # row means 1 2 6, column means 2 4; V_rows = s²/3 = 7/3, V_columns = 2/2 = 1; mean 3
    values = np.array([[0.0, 2.0], [1.0, 3.0], [5.0, 7.0]])
    estimate = _estimate_mean(values)
    rows, columns = 7 / 3, 1.0
    assert estimate.value == pytest.approx(3)
    assert estimate.standard_error == pytest.approx(math.sqrt(rows + columns))
    assert estimate.df == pytest.approx((rows + columns) ** 2 / (rows**2 / 2 + columns**2 / 1))
    f1, f2 = 9 / columns, 9 / rows  # by pairs, by professions
    assert estimate.statistic is not None
    assert estimate.statistic**2 == pytest.approx(f1 * f2 / (f1 + f2))  # Clark 1973: min F′


def test_three_crossed_factors_by_hand() -> None:
    # a sum of effects, so the mean of what is kept is the sum of their means, and V_f = s²/L of each factor
    rows, columns, templates = np.array([1.0, 2.0, 6.0]), np.array([-1.0, 1.0]), np.array([0.0, 1.0, 2.0, 5.0])
    values = rows[:, None, None] + columns[None, :, None] + templates[None, None, :]
    parts = [(effects.var(ddof=1) / effects.size, effects.size - 1) for effects in (rows, columns, templates)]
    variance = 7 / 3 + 1.0 + (14 / 3) / 4
    assert sum(part for part, _ in parts) == pytest.approx(variance)
    estimate = _estimate_mean(values)
    assert estimate.value == pytest.approx(3 + 0 + 2)
    assert estimate.standard_error == pytest.approx(math.sqrt(variance))
    assert estimate.df == pytest.approx(variance**2 / sum(part**2 / df for part, df in parts))
    fixed = jackknife(values.shape, lambda *kept: float(values[np.ix_(*kept)].mean()), fixed=(2,))
    assert fixed == _estimate_mean(values.mean(axis=2))  # a fixed factor is averaged over
    one = _estimate_mean(values.mean(axis=2)[:, :, None])
    assert one == _estimate_mean(values.mean(axis=2))  # so is a factor with one level


def test_any_statistic_of_three_factors_agrees_with_a_naive_jackknife() -> None:
    draw = np.random.default_rng(3)
    table, samples = draw.normal(size=(7, 4, 3)), np.array([0, 0, 0, 0, 1, 1, 1])
    table[1, 2, 0] = np.nan

    def statistic(*kept: np.ndarray) -> float:
        part = np.nanmean(table[np.ix_(*kept)], axis=(1, 2))
        return float(np.median(part[samples[kept[0]] == 1]) - part[samples[kept[0]] == 0].std())

    variances = []
    for sample in (0, 1):
        left = [
            statistic(np.delete(np.arange(7), i), np.arange(4), np.arange(3)) for i in np.flatnonzero(samples == sample)
        ]
        variances.append((len(left) - 1) * np.var(left))
    pairs = [statistic(np.arange(7), np.array([j for j in range(4) if j != i]), np.arange(3)) for i in range(4)]
    templates = [statistic(np.arange(7), np.arange(4), np.array([j for j in range(3) if j != i])) for i in range(3)]
    variances += [3 * np.var(pairs), 2 * np.var(templates)]
    estimate = jackknife(table.shape, statistic, samples=samples)
    assert estimate.standard_error == pytest.approx(math.sqrt(sum(variances)))
    freedom = sum(variance**2 / df for variance, df in zip(variances, (3, 2, 3, 2), strict=True))
    assert estimate.df == pytest.approx(sum(variances) ** 2 / freedom)


def test_crossed_degenerate_input() -> None:
    assert _estimate_mean(np.empty((0, 3))) == IntervalEstimate(None)
    assert _estimate_mean(np.array([[np.nan, 1.0]])) == IntervalEstimate(None)
    assert _estimate_mean(np.array([[2.0]])) == IntervalEstimate(2.0)
    zeros = _estimate_mean(np.zeros((3, 3)))
    assert (zeros.p_value, zeros.interval) == (1.0, (0.0, 0.0))
    constant = _estimate_mean(np.full((3, 3), 0.1))
    assert (constant.p_value, constant.statistic) == (0.0, None)
    assert constant.interval == pytest.approx((0.1, 0.1))


def test_a_sample_of_one_row_has_no_known_error() -> None:
    table = np.random.default_rng(0).normal(size=(21, 4))
    is_first = np.arange(21) == 0

    def difference(rows: NDArray[np.intp], columns: NDArray[np.intp]) -> float:
        means = table[np.ix_(rows, columns)].mean(axis=1)
        return float(means[is_first[rows]].mean() - means[~is_first[rows]].mean())

    estimate = jackknife(table.shape, difference, samples=is_first)
    assert estimate == IntervalEstimate(difference(np.arange(21), np.arange(4)))


def test_an_undefined_leave_one_out_gives_no_interval() -> None:
    assert jackknife((2, 1), lambda r, _: float("nan") if len(r) < 2 else 1.0).interval is None


@pytest.mark.parametrize(
    ("pairs", "professions", "cells", "low", "high"),
    [(1, 0, 1, 0.02, 0.08), (0, 1, 1, 0.02, 0.08), (1, 1, 1, 0.03, 0.09), (0, 0, 1, 0.0, 0.04)],
)
def test_under_the_null_five_per_cent_are_rejected(
    pairs: float, professions: float, cells: float, low: float, high: float
) -> None:
    """20 professions × 9 pairs with random effects of each kind: 5 % are rejected, or fewer where all is noise."""
    draw = np.random.default_rng(12)
    rejected = 0
    for _ in range(600):
        values = (
            pairs * draw.normal(size=(1, 9))
            + professions * draw.normal(size=(20, 1))
            + cells * draw.normal(size=(20, 9))
        )
        p = _estimate_mean(values).p_value
        assert p is not None
        rejected += p < 0.05
    assert low <= rejected / 600 <= high


def test_intervals_cover_the_truth() -> None:
    draw = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        values = 0.7 + draw.normal(size=(1, 9)) + draw.normal(size=(20, 1)) + draw.normal(size=(20, 9))
        interval = _estimate_mean(values).interval
        assert interval is not None
        covered += interval[0] <= 0.7 <= interval[1]
    assert 0.91 <= covered / 400 <= 0.99


def test_runs_are_combined_with_the_variance_between_them() -> None:
    values, errors, degrees = [0.1, 0.3, 0.5], [0.2, 0.1, 0.1], [10.0, 20.0, 30.0]
    combined = combine_runs(values, errors, degrees)
    items, between = (0.04 + 0.01 + 0.01) / 3, 0.04 / 3
    df = (items + between) ** 2 / (items**2 / 20 + between**2 / 2)
    error = np.sqrt(items + between)
    assert combined.value == pytest.approx(0.3)
    assert combined.standard_error == pytest.approx(error)
    assert combined.df == pytest.approx(df)
    assert combined.interval == pytest.approx(stats.t.interval(0.95, df, 0.3, error))
    assert combine_runs([0.3], [0.1], [5.0]).interval is None
    assert combine_runs([0.0, 0.0], [0.0, 0.0], [5.0, 5.0]).p_value == 1.0


def test_runs_that_differ_by_chance_are_rarely_called_a_change() -> None:
    """Where a single run is called changed in most draws, since its interval covers other items only."""
    rng = np.random.default_rng(5)
    rejected = {"one run": 0, "four runs": 0}
    for _ in range(1000):
        runs = rng.normal(0, 1, 4) + rng.normal(0, 0.2)  # an item effect that all runs share, and one of each run
        combined = combine_runs(runs.tolist(), [0.2] * 4, [30.0] * 4)
        rejected["four runs"] += (combined.p_value or 0) < 0.05
        rejected["one run"] += abs(runs[0]) / 0.2 > stats.t.isf(0.025, 30)
    assert rejected["one run"] > 600
    assert 20 <= rejected["four runs"] <= 75


def test_runs_that_changed_alike_have_the_interval_over_items() -> None:
    combined = combine_runs([-0.05, -0.05], [0.01, 0.01], [math.inf, math.inf])
    assert combined.df is None
    assert combined.interval == pytest.approx(stats.norm.interval(0.95, -0.05, 0.01))
