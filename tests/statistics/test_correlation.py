"""Correlations: scipy's answers, and degenerate input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from unmask.statistics.correlation import cronbach_alpha, pearson, spearman
from unmask.statistics.jackknife import fisher_z


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
    values = np.arange(size, dtype=float)
    for constant in (np.full(size, 0.8), np.where(values > 1, 0.1 + 0.2, 0.3), np.zeros(size)):
        assert math.isnan(correlate(constant, values))
        assert math.isnan(correlate(values, constant))
        assert math.isnan(correlate(constant, constant))
    nearly = 0.3 + 1e-9 * values
    assert correlate(nearly, values) == pytest.approx(1)
    assert correlate(-1e-30 * values, values) == pytest.approx(-1)


def test_infinite_numbers_have_ranks() -> None:
    assert spearman([-np.inf, 1, 2, np.inf], [1, 2, 3, 4]) == pytest.approx(1)
    assert math.isnan(spearman([np.inf, np.inf, np.inf], [1, 2, 3]))
    assert math.isnan(spearman([np.nan, 1, 2], [1, 2, 3]))


def test_cronbachs_alpha_by_hand() -> None:
    # variances of the columns 1, 4 and 1; of the rows' sums 4, 8, 11: 37/3; α = 3/2 · (1 − 6/(37/3)) = 57/74
    table = np.array([[1.0, 1.0, 2.0], [2.0, 3.0, 3.0], [3.0, 5.0, 3.0]])
    parts, whole = table.var(axis=0, ddof=1).sum(), table.sum(axis=1).var(ddof=1)
    assert cronbach_alpha(table) == pytest.approx(1.5 * (1 - parts / whole))
    assert cronbach_alpha(np.tile([[1.0], [2.0], [5.0]], 4)) == pytest.approx(1.0)  # all columns agree
    with_gap = np.vstack([table, [np.nan, 1.0, 2.0]])
    assert cronbach_alpha(with_gap) == cronbach_alpha(table)
    for degenerate in (table[:1], table[:, :1], np.ones((4, 3)), np.empty((0, 3)), np.full((3, 3), np.nan)):
        assert cronbach_alpha(degenerate) is None
