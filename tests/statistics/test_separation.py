"""Separation of two groups: known answers, naive references, chance level."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from gaussian import gaussian
from unmask.statistics.erasure import cosines_without_direction, normalise_rows, remove_direction
from unmask.statistics.separation import (
    FOLDS,
    PENALTY,
    cluster_agreement,
    linear_probe,
    score_many_clusters,
    score_predictions,
    score_two_clusters,
    v_measure,
)


class TestSeparation:
    def test_two_clusters_are_labelled_by_their_majority(self) -> None:
        separation = score_two_clusters([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0])
        assert separation.accuracy == pytest.approx(5 / 6)
        assert cluster_agreement([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0]) == pytest.approx(1 / 6)

    def test_chance_is_that_of_all_assignments(self) -> None:
        labels, clusters = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 0, 0, 0, 0, 1])
        deals = []
        for ones in combinations(range(7), 3):
            labels_dealt = np.isin(np.arange(7), ones)
            deals.append(max(np.mean(labels_dealt == clusters), np.mean(labels_dealt != clusters)))
        separation = score_two_clusters(labels, clusters)
        assert separation.chance == pytest.approx(np.mean(deals))
        assert separation.p_value == pytest.approx(np.mean(np.array(deals) >= separation.accuracy - 1e-9))
        assert separation.chance_high == pytest.approx(np.quantile(deals, 0.975, method="inverted_cdf"))

    def test_predictions_can_be_worse_than_half(self) -> None:
        separation = score_predictions([1, 1, 0, 0], [0, 0, 1, 0])
        assert separation.accuracy == pytest.approx(0.25)
        assert separation.p_value == pytest.approx(1.0)

    def test_purity_of_many_clusters(self) -> None:
        separation = score_many_clusters([1, 1, 1, 0, 0, 0], [5, 5, 7, 7, 7, 9], seed=0)
        assert separation.accuracy == pytest.approx(5 / 6)
        assert separation.chance > 0.5

    def test_a_cluster_for_each_thing_is_pure_by_chance_as_well(self) -> None:
        separation = score_many_clusters([1, 0, 1, 0], [0, 1, 2, 3], seed=0)
        assert (separation.accuracy, separation.chance, separation.p_value) == (1.0, 1.0, 1.0)

    def test_v_measure(self) -> None:
        assert v_measure([1, 1, 0, 0], [3, 3, 4, 4]) == pytest.approx(1.0)
        assert v_measure([1, 0, 1, 0], [3, 3, 4, 4]) == pytest.approx(0.0, abs=1e-12)

    def test_one_cluster_says_nothing(self) -> None:
        separation = score_two_clusters([1, 1, 0, 0], [0, 0, 0, 0])
        assert (separation.accuracy, separation.p_value, separation.v_measure) == (0.5, 1.0, 0.0)


class TestProbe:
    def test_it_is_ridge_regression(self) -> None:
        rows = gaussian(60, 5)
        labels = rows[:, 0] + 0.5 * rows[:, 1] > 0
        probe = linear_probe(rows @ rows.T, labels, seed=3, shuffles=0)
        signs = np.where(labels, 1.0, -1.0)
        rng = np.random.default_rng(3)
        folds = np.empty(60, dtype=int)
        for side in (-1.0, 1.0):
            members = rng.permutation(np.flatnonzero(signs == side))
            folds[members] = np.arange(members.size) % FOLDS
        right = np.empty(60, dtype=bool)
        for fold in range(FOLDS):
            train, test = folds != fold, folds == fold
            centred = rows[train] - rows[train].mean(axis=0)
            penalty = PENALTY * float((centred**2).sum(axis=1).mean())
            ridge = Ridge(alpha=penalty).fit(rows[train], signs[train])
            right[test] = (ridge.predict(rows[test]) > 0) == labels[test]
        np.testing.assert_array_equal(probe.right, right)
        assert probe.accuracy == pytest.approx(right.mean())

    def test_chance_is_what_shuffled_labels_give(self) -> None:
        rows = gaussian(80, 5)
        probe = linear_probe(rows @ rows.T, np.arange(80) % 2 == 0, seed=1)
        assert probe.chance == pytest.approx(0.5, abs=0.05)
        assert probe.p_value > 0.01
        planted = linear_probe(rows @ rows.T, rows[:, 0] > 0, seed=1)
        assert planted.p_value == pytest.approx(1 / 200)
        assert planted.accuracy > planted.chance_high

    def test_rows_that_are_all_the_same(self) -> None:
        rows = np.ones((20, 3)) / np.sqrt(3)
        assert linear_probe(rows @ rows.T, np.arange(20) < 10, seed=0, shuffles=9).accuracy <= 0.5


class TestVectors:
    def test_products_without_a_direction(self) -> None:
        rows = gaussian(30, 6)
        direction = normalise_rows(np.ones((1, 6)))[0]
        plain = remove_direction(rows, direction)
        part = rows @ direction
        np.testing.assert_allclose(cosines_without_direction(rows @ rows.T, part, part), plain @ plain.T, atol=1e-12)
        np.testing.assert_allclose(plain @ direction, 0, atol=1e-12)
