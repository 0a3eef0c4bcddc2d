"""The quality of a classifier, and agreement beyond chance: known answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from unmask.statistics.proportions import classification_quality, compare_shares, confusion_matrix, estimate_kappa


def test_quality_by_hand() -> None:
    """3 of 4 negative and 4 of 6 positive texts are right; an unused label scores 0."""
    quality = classification_quality([[3, 1, 0], [2, 4, 0], [0, 0, 0]], ["negative", "positive", "none"])
    assert quality["accuracy"] == pytest.approx(0.7)
    assert quality["labels"]["positive"] == {
        "precision": 0.8,
        "recall": pytest.approx(4 / 6),
        "f1": pytest.approx(8 / 11),
        "count": 6,
    }
    assert quality["labels"]["none"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "count": 0}
    assert quality["macro_f1"] == pytest.approx((6 / 9 + 8 / 11 + 0) / 3)
    assert quality["accuracy_interval"][0] < 0.7 < quality["accuracy_interval"][1]
    assert quality["examples"] == 10


def test_kappa_by_hand() -> None:
    """Two readers of 50 applications: 20 and 15 times both say yes and no, 5 and 10 times they differ; kappa is .4.

    Its standard error for large samples (Fleiss, Cohen and Everitt 1969) is .1267.
    """
    estimate = estimate_kappa([[20, 5], [10, 15]])
    assert estimate.value == pytest.approx(0.4)
    assert estimate.standard_error == pytest.approx(0.1267, rel=0.03)
    assert estimate.df == 49


def test_kappa_agrees_with_scikit_learn() -> None:
    draw = np.random.default_rng(3)
    first = draw.integers(0, 3, 80)
    second = np.where(draw.random(80) < 0.6, first, draw.integers(0, 3, 80))
    estimate = estimate_kappa(confusion_matrix(first.tolist(), second, 3))
    assert estimate.value == pytest.approx(cohen_kappa_score(first, second))
    left_out = [cohen_kappa_score(np.delete(first, i), np.delete(second, i)) for i in range(80)]
    assert estimate.standard_error == pytest.approx(np.sqrt(79 / 80 * ((left_out - np.mean(left_out)) ** 2).sum()))


def test_kappa_of_next_to_nothing() -> None:
    assert estimate_kappa(np.zeros((3, 3))).value is None
    assert estimate_kappa([[7, 0], [0, 0]]).value is None  # one label alone: chance would agree, too
    both = estimate_kappa([[5, 0], [0, 5]])
    assert (both.value, both.interval, both.p_value) == (1.0, None, None)  # perfect agreement of a sample is no proof
    assert estimate_kappa([[1, 0], [0, 1]]).interval is None  # without one of the two, there is no kappa
    assert estimate_kappa([[0, 5], [5, 0]]).value == -1


def test_a_ratio_of_perfect_shares_has_no_interval() -> None:
    shares = compare_shares(20, 20, 20, 20)
    assert (shares.ratio, shares.ratio_interval) == (1.0, None)
    assert shares.interval == pytest.approx((-0.1611, 0.1611), abs=1e-4)
    assert compare_shares(0, 20, 5, 20).ratio_interval is None
    assert compare_shares(19, 20, 20, 20).ratio_interval is not None
