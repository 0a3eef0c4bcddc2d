"""The tests as the papers' code runs them."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.svm import SVC

from gaussian import gaussian
from unmask.measures.geometry import OWN, published
from unmask.measures.geometry.space import make_contrast, make_space


class TestPublished:
    def test_rows_of_a_tensor_are_shuffled_into_copies(self) -> None:
        rows = np.arange(50)[:, None] * np.ones((1, 3))
        random.Random(10).shuffle(rows)  # type: ignore[arg-type]
        assert published.shuffle_tensor_rows(list(range(50)), random.Random(10)) == rows[:, 0].astype(int).tolist()
        assert len(set(rows[:, 0])) < 40

    def test_some_words_are_then_in_both(self) -> None:
        matrix = gaussian(1500, 10)
        contrast = make_contrast(matrix[0], matrix[1], matrix)
        indices, right = published.classify_words(matrix, contrast, duplicates=True)
        assert indices.size == right.size == 400
        assert len(set(indices.tolist())) < 300
        indices, _ = published.classify_words(matrix, contrast, duplicates=False)
        assert len(set(indices.tolist())) == 400

    @pytest.mark.parametrize("duplicates", [False, True])
    def test_words_are_shuffled_from_the_most_female_and_women_first(self, duplicates: bool) -> None:
        """As in the notebooks: sort by bias, take both ends, shuffle the female end, then the male one."""
        matrix = gaussian(1500, 10)
        contrast = make_contrast(matrix[0], matrix[1], matrix)
        ascending = sorted(range(1500), key=lambda row: contrast.bias[row])
        females, males = (np.array(rows)[:, None] * np.ones((1, 2)) for rows in (ascending[:250], ascending[-250:]))
        random.seed(10)
        for rows in (females, males):
            if duplicates:
                random.shuffle(rows)  # type: ignore[arg-type]
            else:
                order = list(rows[:, 0])
                random.shuffle(order)
                rows[:, 0] = order
        tested, right = published.classify_words(matrix, contrast, duplicates=duplicates)
        np.testing.assert_array_equal(tested, [*males[50:, 0], *females[50:, 0]])
        train = np.array([*males[:50, 0], *females[:50, 0]], dtype=int)
        is_male = np.arange(100) < 50
        predicted = SVC().fit(matrix[train], is_male).predict(matrix[tested])
        np.testing.assert_array_equal(predicted == (np.arange(400) < 200), right)

    def test_clusters_start_from_male_rows_in_ascending_order(self) -> None:
        matrix = gaussian(600, 5)
        words = [f"w{index}" for index in range(600)]
        space = make_space(words, matrix, np.eye(5)[0], np.eye(5)[1], vectors="", direction="", unit_ends=True)
        scores = published.score_words(space, {}, space.gender, OWN)
        ascending = sorted(range(600), key=lambda row: space.gender.bias[row])
        rows = [*ascending[-50:], *ascending[:50]]
        clusters = KMeans(2, n_init=10, random_state=1).fit_predict(space.matrix[rows])
        assert list(scores["cluster"][rows]) == ["male" if cluster == 0 else "female" for cluster in clusters]

    def test_a_profession_is_put_down_with_its_last_neighbour(self) -> None:
        matrix = gaussian(400, 5)
        words = [f"w{index}" for index in range(400)]
        space = make_space(words, matrix, np.eye(5)[0], np.eye(5)[1], vectors="", direction="", unit_ends=True)
        professions = dict.fromkeys(words[:20])
        scores = published.score_words(space, professions, space.gender, OWN).set_index("word")
        rows = space.matrix
        for index in range(3):
            near = sorted(
                (neighbour for neighbour in range(400) if neighbour != index), key=lambda o: -rows[o] @ rows[index]
            )[:100]
            assert scores.loc[f"w{index}", "put_down"] == pytest.approx(space.gender.bias[near[-1]])
            assert scores.loc[f"w{index}", "male_neighbours"] == pytest.approx(np.mean(space.gender.bias[near] > 0))
        static = replace(space, is_static=True)
        plain = published.score_words(static, professions, space.gender, OWN).set_index("word")
        np.testing.assert_allclose(plain["put_down"][:20], space.gender.bias[:20])
