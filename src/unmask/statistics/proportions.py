"""An interval for a proportion, the comparison of two, agreement beyond chance, and the quality of a classifier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from unmask.statistics.jackknife import IntervalEstimate, combine_factors

NORMAL = 1.959964
"""The 97.5 % point of the normal distribution."""


def wilson_interval(share: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval (Wilson 1927): it stays inside 0 and 1, and is everything when nothing was counted."""
    if count <= 0:
        return 0.0, 1.0
    z = NORMAL
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class SharesCompared:
    """The difference and the ratio of two independent shares; None where there is nothing to divide."""

    difference: float | None
    interval: tuple[float, float] | None = None
    ratio: float | None = None
    ratio_interval: tuple[float, float] | None = None
    p_value: float | None = None


def compare_shares(first: int, first_count: int, second: int, second_count: int) -> SharesCompared:
    """Compare the shares of two samples.

    The interval of the difference is Newcombe's (1998, his method 10), from Wilson's of each share; that of the ratio
    is Katz's, normal on the logarithm; it has none where both shares are 1, or one is 0. The p-value is that of
    Fisher's exact test.
    """
    if min(first_count, second_count) <= 0:
        return SharesCompared(None)
    shares = first / first_count, second / second_count
    (low, high), (other_low, other_high) = (
        wilson_interval(share, count) for share, count in zip(shares, (first_count, second_count), strict=True)
    )
    difference = shares[0] - shares[1]
    interval = (
        difference - math.hypot(shares[0] - low, other_high - shares[1]),
        difference + math.hypot(high - shares[0], shares[1] - other_low),
    )
    ratio, ratio_interval = None, None
    if second:
        ratio = shares[0] / shares[1]
    if first and second and first + second < first_count + second_count:
        reach = NORMAL * math.sqrt((1 - shares[0]) / first + (1 - shares[1]) / second)
        ratio_interval = (ratio or 0.0) * math.exp(-reach), (ratio or 0.0) * math.exp(reach)
    table = np.array([[first, first_count - first], [second, second_count - second]])
    return SharesCompared(difference, interval, ratio, ratio_interval, float(stats.fisher_exact(table).pvalue))


def confusion_matrix(truth: Sequence[int], predictions: ArrayLike, labels: int) -> NDArray[np.float64]:
    """How often each label (rows) was predicted as each (columns)."""
    cells = np.zeros((labels, labels))
    np.add.at(cells, (np.asarray(truth, dtype=int), np.asarray(predictions, dtype=int)), 1)
    return cells


def estimate_kappa(matrix: ArrayLike) -> IntervalEstimate:
    """Cohen's kappa of two ways to label the same things, with an interval over things (each left out in turn).

        κ = (p_o − p_e) / (1 − p_e)

    with p_o the share of equal labels, p_e that expected by chance. Where both give all things the same single label,
    and without things, there is no estimate. Where no thing changes the value, there is no interval.

    Args:
        matrix: How often each label of the first way (rows) meets each of the second (columns).
    """
    cells = np.asarray(matrix, dtype=float)
    value = _kappa(cells)
    if not np.isfinite(value):
        return IntervalEstimate(None)
    without = []
    for row, column in zip(*np.nonzero(cells), strict=True):
        fewer = cells.copy()
        fewer[row, column] -= 1
        without += [_kappa(fewer)] * int(cells[row, column])
    if not np.isfinite(without).all() or np.ptp(without) < 1e-12:
        return IntervalEstimate(value)
    return combine_factors(value, [without])


def _kappa(cells: NDArray[np.float64]) -> float:
    total = cells.sum()
    if not total:
        return float("nan")
    observed = np.trace(cells) / total
    expected = float((cells.sum(axis=0) * cells.sum(axis=1)).sum()) / total**2
    return float((observed - expected) / (1 - expected)) if expected < 1 else float("nan")


def classification_quality(matrix: ArrayLike, labels: Sequence[str]) -> dict[str, Any]:
    """Accuracy with Wilson's 95 % interval, macro F1, and precision, recall and F1 of each label.

    Rows of the matrix are true labels, columns predicted ones. A share of nothing is 0.
    """

    def divide(part: float, whole: float) -> float:
        return float(part / whole) if whole else 0.0

    cells = np.asarray(matrix, dtype=float)
    right, true, predicted = np.diag(cells), cells.sum(axis=1), cells.sum(axis=0)
    count = float(cells.sum())
    accuracy = divide(float(right.sum()), count)
    by_label = {
        label: {
            "precision": divide(right[index], predicted[index]),
            "recall": divide(right[index], true[index]),
            "f1": divide(2 * right[index], predicted[index] + true[index]),
            "count": int(true[index]),
        }
        for index, label in enumerate(labels)
    }
    return {
        "accuracy": accuracy,
        "accuracy_interval": list(wilson_interval(accuracy, count)),
        "macro_f1": float(np.mean([quality["f1"] for quality in by_label.values()])),
        "labels": by_label,
        "examples": int(count),
    }
