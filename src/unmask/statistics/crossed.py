"""Uncertainty over two crossed samples: professions (rows) and pairs of person words (columns).

Any statistic of the table is jackknifed twice, leaving out one row at a time and one column at a time, and the two
variances are added; degrees of freedom follow Satterthwaite. For a mean this is Clark's (1973) min F′, the remedy for
the "language-as-fixed-effect fallacy": a finding must hold for other professions and for other person words.

    V_rows = (R − 1)/R · Σ (θ₋ᵢ − θ̄)²     V_columns likewise     V = V_rows + V_columns
    df = V² / (V_rows²/(R − 1) + V_columns²/(C − 1))

A percentile bootstrap over both factors is the usual alternative; with nine person pairs its 5 % test rejects 8 to 10 %
of the time under the null, and a sign flip of professions alone up to 100 % (docs/statistics.md), so neither is used.

H. H. Clark (1973). The language-as-fixed-effect fallacy. Journal of Verbal Learning and Verbal Behavior 12, 335–359.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unmask.statistics.correlation import fisher_z

Indices = NDArray[np.intp]
Statistic = Callable[[Indices, Indices], float]


@dataclass(frozen=True)
class IntervalEstimate:
    """A statistic with its standard error, degrees of freedom, interval, and test against zero.

    Where a value cannot be had (fewer than two rows and two columns, NaN) it is None.
    """

    value: float | None
    standard_error: float | None = None
    df: float | None = None
    interval: tuple[float, float] | None = None
    statistic: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class Scale:
    """The scale on which an interval is symmetric, and the way back."""

    to: Callable[[float], float]
    back: Callable[[float], float]


LINEAR = Scale(float, float)
FISHER = Scale(fisher_z, lambda z: float(np.tanh(z)))
"""For correlations."""


def jackknife(
    shape: Sequence[int], statistic: Statistic, *, scale: Scale = LINEAR, confidence: float = 0.95
) -> IntervalEstimate:
    """IntervalEstimate `statistic(kept rows, kept columns)` of a table with uncertainty from both samples.

    `shape` begins with the numbers of rows and columns. A factor with a single level is taken as fixed.
    """
    rows, columns = shape[:2]
    all_rows, all_columns = np.arange(rows), np.arange(columns)
    value = float(statistic(all_rows, all_columns)) if rows and columns else float("nan")
    if not np.isfinite(value):
        return IntervalEstimate(None)
    without_row = [(np.delete(all_rows, i), all_columns) for i in range(rows)]
    without_column = [(all_rows, np.delete(all_columns, i)) for i in range(columns)]
    return combined(
        value,
        [[statistic(*places) for places in kept] for kept in (without_row, without_column) if len(kept) > 1],
        scale=scale,
        confidence=confidence,
    )


def combined(
    value: float, left_out: Iterable[Sequence[float]], *, scale: Scale = LINEAR, confidence: float = 0.95
) -> IntervalEstimate:
    """The estimate of a statistic from its values with one level of a factor left out, for each of crossed factors."""
    parts = []
    for values in left_out:
        count, left = len(values), np.array([scale.to(one) for one in values])
        parts.append(((count - 1) / count * float(((left - left.mean()) ** 2).sum()), count - 1))
    centre = scale.to(value)
    variance = sum(part for part, _ in parts)
    if not parts or not np.isfinite(variance) or not np.isfinite(centre):
        return IntervalEstimate(value)
    if variance <= (1e-12 * abs(centre)) ** 2:  # no variation beyond rounding
        return IntervalEstimate(value, 0.0, None, (value, value), None, 1.0 if value == 0 else 0.0)
    df = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    error = float(np.sqrt(variance))
    reach = float(stats.t.isf((1 - confidence) / 2, df)) * error
    ratio = centre / error
    return IntervalEstimate(
        value,
        error,
        df,
        (float(scale.back(centre - reach)), float(scale.back(centre + reach))),
        ratio,
        float(2 * stats.t.sf(abs(ratio), df)),
    )
