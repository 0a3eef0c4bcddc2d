"""Intervals and tests for items that share words, sentences or clusters, and so are not independent.

**Crossed jackknife** (`jackknife`): a table of crossed factors, as professions × pairs of person words × templates. The
statistic is jackknifed once per factor, leaving out one of its levels at a time, and the variances are added. Degrees
of freedom follow Satterthwaite. For a mean over two factors this is Clark's (1973) min F′, the remedy for the
"language-as-fixed-effect fallacy": a finding must hold for other professions, other person words and other templates.

    V_f = (L_f − 1)/L_f · Σ (θ₋ᵢ − θ̄)² over the L_f levels of factor f     V = Σ V_f
    df = V² / Σ V_f²/(L_f − 1)

A percentile bootstrap over both factors is the usual alternative. With nine person pairs its 5 % test rejects 8 to 10 %
of the time under the null, and a sign flip of professions alone up to 100 % (docs/statistics.md), so neither is used.

The levels of the first factor may be several samples of different sizes, such as typically female and typically male
professions. Each of them then has a variance of its own, and V is the sum of all. For a difference of two means this is
Welch's t test.

**Jackknife of sums** (`jackknife_sums`): each item adds a row of numbers, and the statistic is a function of their
sums, such as a share (a sum of answers over a sum of items) or a difference of shares. Leaving out a word or a sentence
subtracts its rows from the sums, so a jackknife over each sample costs no more than adding up. The table may have gaps:
a word need not occur in every sentence.

**Clustered mean** (`clustered_mean`): the words of a sentence share its difficulty, so they count as one draw. With
values v, weights w, and clusters g = 1 … G:

    mean = Σ w·v / Σ w        u_g = Σ w·(v − mean) over the values of g
    V = G/(G − 1) · Σ u_g² / (Σ w)²        df = G − 1

This is the cluster-robust variance of an intercept (Liang and Zeger 1986; with G/(G − 1), what regression programs call
CR1). With clusters of one value and equal weights it is the one-sample t test.

H. H. Clark (1973). The language-as-fixed-effect fallacy. Journal of Verbal Learning and Verbal Behavior 12, 335–359.
K.-Y. Liang and S. L. Zeger (1986). Longitudinal data analysis using generalized linear models. Biometrika 73, 13–22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


def fisher_z(r: float) -> float:
    """Fisher's z of a correlation; NaN at ±1, where it has none and so few points allow no interval."""
    return float(np.arctanh(r)) if abs(r) < 1 - 1e-12 else float("nan")


ScaleName = Literal["linear", "fisher"]
Indices = NDArray[np.intp]
Statistic = Callable[..., float]
"""A function of the levels of each factor that are kept, in the order of the factors."""


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
    detectable: float | None = None
    """The smallest effect that the test finds with a probability of 80 %."""
    scale: ScaleName = "linear"
    """Of the standard error, and the one on which the interval is symmetric."""


@dataclass(frozen=True)
class IntervalScale:
    """The scale on which an interval is symmetric, and the way back."""

    name: ScaleName
    to: Callable[[float], float]
    back: Callable[[float], float]


LINEAR = IntervalScale("linear", float, float)
FISHER = IntervalScale("fisher", fisher_z, lambda z: float(np.tanh(z)))
"""For correlations."""
SCALES = {scale.name: scale for scale in (LINEAR, FISHER)}
LEVEL = 0.05
"""Of tests; one minus the confidence of intervals."""
TAIL = LEVEL / 2
"""The probability on each side of a 95 % interval."""
POWER = 0.8


def student_interval(
    value: float, error: float, df: float, *, scale: IntervalScale = LINEAR, level: float = LEVEL
) -> IntervalEstimate:
    """Student's t interval, test against zero, and detectable effect; the standard error is on the scale."""
    centre = scale.to(value)
    quantile = float(stats.t.isf(level / 2, df))
    reach, ratio = quantile * error, centre / error
    interval = float(scale.back(centre - reach)), float(scale.back(centre + reach))
    detectable = float(scale.back((quantile + float(stats.t.ppf(POWER, df))) * error))
    p_value = float(2 * stats.t.sf(abs(ratio), df))
    return IntervalEstimate(value, error, df, interval, ratio, p_value, detectable, scale.name)


def jackknife(
    shape: Sequence[int],
    statistic: Statistic,
    *,
    scale: IntervalScale = LINEAR,
    samples: NDArray[Any] | None = None,
    fixed: Sequence[int] = (),
) -> IntervalEstimate:
    """Estimate a statistic of a table of crossed factors, with uncertainty from each of the factors.

    Args:
        shape: The number of levels of each factor.
        statistic: Called with the indices of the levels that are kept, one array for each factor.
        scale: The scale on which the interval is symmetric.
        samples: Which sample each level of the first factor belongs to, where these are several samples of different
            sizes. A sample of one level gives the value alone.
        fixed: Factors that are not a sample. A factor with a single level never is.
    """
    levels = [np.arange(count) for count in shape]
    value = float(statistic(*levels)) if all(shape) else float("nan")
    if not np.isfinite(value):
        return IntervalEstimate(None)
    by_sample = [np.flatnonzero(samples == name) for name in np.unique(samples)] if samples is not None else levels[:1]
    if samples is not None and min(map(len, by_sample)) < 2:
        return IntervalEstimate(value)
    left_out: list[NDArray[np.float64]] = []
    for factor, count in enumerate(shape):
        if count > 1 and factor not in fixed:
            without = np.array(leave_one_out(shape, statistic, factor))
            left_out += [without[members] for members in (by_sample if factor == 0 else [levels[factor]])]
    return combine_factors(value, left_out, scale=scale)


def leave_one_out(shape: Sequence[int], statistic: Statistic, factor: int) -> list[float]:
    """The statistic without each level of one factor in turn."""
    levels = [np.arange(count) for count in shape]
    return [
        float(statistic(*levels[:factor], np.delete(levels[factor], index), *levels[factor + 1 :]))
        for index in range(shape[factor])
    ]


def combine_factors(
    value: float, left_out: Iterable[Sequence[float] | NDArray[np.float64]], *, scale: IntervalScale = LINEAR
) -> IntervalEstimate:
    """The estimate of a statistic from its values with one level of a factor left out, for each of crossed factors."""
    parts = []
    for values in left_out:
        count, left = len(values), np.array([scale.to(without) for without in values])
        parts.append(((count - 1) / count * float(((left - left.mean()) ** 2).sum()), count - 1))
    centre = scale.to(value)
    variance = sum(part for part, _ in parts)
    if not parts or not np.isfinite(variance) or not np.isfinite(centre):
        return IntervalEstimate(value)
    if variance <= (1e-12 * abs(centre)) ** 2:  # no variation beyond rounding
        return IntervalEstimate(value, 0.0, None, (value, value), None, 1.0 if value == 0 else 0.0)
    df = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    return student_interval(value, float(np.sqrt(variance)), df, scale=scale)


def combine_runs(values: Sequence[float], errors: Sequence[float], degrees: Sequence[float]) -> IntervalEstimate:
    """The mean of an estimate over training runs, for other runs and for other items.

        V = mean of the runs' variances over items + variance between runs / R,    df by Satterthwaite

    The runs were asked about the same items, so the first part does not shrink with their number. Fewer than two runs
    give the value alone.

    Args:
        values: The estimate of each run, on a linear scale.
        errors: Its standard error over items.
        degrees: The degrees of freedom of that.
    """
    runs = len(values)
    if runs < 2:
        return IntervalEstimate(values[0] if values else None)
    value, items = float(np.mean(values)), float(np.mean(np.square(errors)))
    between = float(np.var(values, ddof=1)) / runs
    variance = items + between
    if variance <= (1e-12 * abs(value)) ** 2:
        return IntervalEstimate(value, 0.0, None, (value, value), None, 1.0 if value == 0 else 0.0)
    spread = items**2 / float(np.mean(degrees)) + between**2 / (runs - 1)
    df = variance**2 / spread if spread > 0 else inf
    combined = student_interval(value, float(np.sqrt(variance)), df)
    return combined if df < inf else replace(combined, df=None)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, *, weights: ArrayLike | None = None) -> IntervalEstimate:
    """The weighted mean, with an interval and a test against zero for another sample of clusters.

    No values, or NaN among them, give no estimate; a single cluster gives the value alone.
    """
    v = np.asarray(values, dtype=float)
    w = np.ones_like(v) if weights is None else np.asarray(weights, dtype=float)
    total = float(w.sum())
    if not v.size or not np.isfinite(v).all() or total <= 0:
        return IntervalEstimate(None)
    value = float((w * v).sum() / total)
    _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(cluster, weights=w * (v - value))
    count = sums.size
    if count < 2:
        return IntervalEstimate(value)
    error = float(np.sqrt(count / (count - 1) * (sums**2).sum())) / total
    if error <= 1e-12 * abs(value):  # no variation beyond rounding
        return IntervalEstimate(value, 0.0, None, (value, value), None, 1.0 if value == 0 else 0.0)
    return student_interval(value, error, count - 1)


Sums = NDArray[np.float64]
Codes = NDArray[np.intp]


def jackknife_sums(
    numbers: ArrayLike, factors: Sequence[Codes], statistic: Callable[[Sums], float]
) -> IntervalEstimate:
    """Estimate `statistic(sums)` with uncertainty from each of the samples.

    `numbers` has a row an item and a column a sum; a factor says which of its levels each item has (`factor_codes`). A
    factor with a single level is taken as fixed. A statistic that is NaN once a level is left out (the last of its
    kind) has a value, but neither interval nor test.
    """
    rows = np.asarray(numbers, dtype=float)
    if not rows.size:
        return IntervalEstimate(None)
    total = rows.sum(axis=0)
    value = float(statistic(total))
    if not np.isfinite(value):
        return IntervalEstimate(None)
    left_out = []
    for factor in factors:
        sums = np.zeros((int(factor.max(initial=-1)) + 1, rows.shape[1]))
        np.add.at(sums, factor[factor >= 0], rows[factor >= 0])
        if len(sums) > 1:
            left_out.append([float(statistic(total - level)) for level in sums])
    return combine_factors(value, left_out)


def factor_codes(levels: ArrayLike, within: ArrayLike | None = None) -> Codes:
    """The levels of a factor as numbers; −1 for items that are not `within` it.

    Words of several kinds are a factor each: every kind is a sample of its own size.
    """
    names = np.asarray(levels)
    inside = np.ones(names.shape, dtype=bool) if within is None else np.asarray(within, dtype=bool)
    codes = np.full(names.shape, -1, dtype=np.intp)
    codes[inside] = np.unique(names[inside], return_inverse=True)[1]
    return codes


def ratio(part: float, whole: float) -> float:
    """A share; NaN of nothing."""
    return part / whole if whole > 0 else float("nan")
