"""Correlations: scipy's answers, and degenerate input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from unmask.statistics.correlation import pearson, spearman
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
