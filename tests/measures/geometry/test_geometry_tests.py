"""The tests of geometry: known answers, naive references, and what comes out where there is nothing to find."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from unmask.errors import UnmaskError
from unmask.measures.geometry import OWN, Geometry, published, word_tests
from unmask.measures.geometry.analysis import analyse_space, interpret
from unmask.measures.geometry.contrasts import References, run_contrasts, select_contrasts
from unmask.measures.geometry.scoring import score_words
from unmask.measures.geometry.space import Contrast, make_contrast, make_space
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

Matrix = NDArray[np.float64]


def gaussian(words: int = 600, size: int = 20, seed: int = 0) -> Matrix:
    return normalise_rows(np.random.default_rng(seed).normal(size=(words, size)))


class TestSeparation:
    def test_two_clusters_are_called_by_what_most_of_them_is(self) -> None:
        found = score_two_clusters([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0])
        assert found.accuracy == pytest.approx(5 / 6)
        assert cluster_agreement([1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0]) == pytest.approx(1 / 6)

    def test_their_chance_is_that_of_all_deals(self) -> None:
        labels, clusters = np.array([1, 1, 1, 0, 0, 0, 0]), np.array([1, 1, 0, 0, 0, 0, 1])
        deals = []
        for ones in combinations(range(7), 3):
            dealt = np.isin(np.arange(7), ones)
            deals.append(max(np.mean(dealt == clusters), np.mean(dealt != clusters)))
        found = score_two_clusters(labels, clusters)
        assert found.chance == pytest.approx(np.mean(deals))
        assert found.p_value == pytest.approx(np.mean(np.array(deals) >= found.accuracy - 1e-9))
        assert found.chance_high == pytest.approx(np.quantile(deals, 0.975, method="inverted_cdf"))

    def test_predictions_can_be_worse_than_half(self) -> None:
        found = score_predictions([1, 1, 0, 0], [0, 0, 1, 0])
        assert found.accuracy == pytest.approx(0.25)
        assert found.p_value == pytest.approx(1.0)

    def test_purity_of_many_clusters(self) -> None:
        found = score_many_clusters([1, 1, 1, 0, 0, 0], [5, 5, 7, 7, 7, 9], seed=0)
        assert found.accuracy == pytest.approx(5 / 6)
        assert found.chance > 0.5

    def test_a_cluster_for_each_thing_is_pure_by_chance_as_well(self) -> None:
        found = score_many_clusters([1, 0, 1, 0], [0, 1, 2, 3], seed=0)
        assert (found.accuracy, found.chance, found.p_value) == (1.0, 1.0, 1.0)

    def test_v_measure(self) -> None:
        assert v_measure([1, 1, 0, 0], [3, 3, 4, 4]) == pytest.approx(1.0)
        assert v_measure([1, 0, 1, 0], [3, 3, 4, 4]) == pytest.approx(0.0, abs=1e-12)

    def test_one_cluster_says_nothing(self) -> None:
        found = score_two_clusters([1, 1, 0, 0], [0, 0, 0, 0])
        assert (found.accuracy, found.p_value, found.v_measure) == (0.5, 1.0, 0.0)


class TestProbe:
    def test_it_is_ridge_regression(self) -> None:
        rows = gaussian(60, 5)
        labels = rows[:, 0] + 0.5 * rows[:, 1] > 0
        found = linear_probe(rows @ rows.T, labels, seed=3, shuffles=0)
        kind = np.where(labels, 1.0, -1.0)
        rng = np.random.default_rng(3)
        folds = np.empty(60, dtype=int)
        for side in (-1.0, 1.0):
            members = rng.permutation(np.flatnonzero(kind == side))
            folds[members] = np.arange(members.size) % FOLDS
        right = np.empty(60, dtype=bool)
        for fold in range(FOLDS):
            train, test = folds != fold, folds == fold
            centred = rows[train] - rows[train].mean(axis=0)
            penalty = PENALTY * float((centred**2).sum(axis=1).mean())
            ridge = Ridge(alpha=penalty).fit(rows[train], kind[train])
            right[test] = (ridge.predict(rows[test]) > 0) == labels[test]
        np.testing.assert_array_equal(found.right, right)
        assert found.accuracy == pytest.approx(right.mean())

    def test_chance_is_what_shuffled_labels_give(self) -> None:
        rows = gaussian(80, 5)
        found = linear_probe(rows @ rows.T, np.arange(80) % 2 == 0, seed=1)
        assert found.chance == pytest.approx(0.5, abs=0.05)
        assert found.p_value > 0.01
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


class TestContrasts:
    def test_extremes_are_the_outermost_first(self) -> None:
        contrast = Contrast(np.ones(1), np.array([0.1, -0.5, 0.7, 0.2, -0.9]), np.empty(0, dtype=np.intp))
        first, second = contrast.extremes(2)
        assert (first.tolist(), second.tolist()) == ([2, 3], [4, 1])

    def test_words_that_make_a_contrast_are_not_asked(self) -> None:
        one = Contrast(np.ones(1), np.array([0.9, 0.1, -0.2, -0.8]), np.array([0]))
        assert [side.tolist() for side in one.extremes(1)] == [[1], [3]]

    def test_other_contrasts_are_like_the_one_that_is_asked_for(self) -> None:
        """As alike at their ends, and as widely scattered: of a space in which directions scatter differently."""
        matrix = normalise_rows(np.random.default_rng(0).normal(size=(600, 12)) * np.geomspace(1, 0.2, 12))
        narrow, wide = (
            select_contrasts(matrix, likeness=0.5, spread=spread, seed=0, count=30) for spread in (0.25, 0.35)
        )
        narrowly, widely = (np.mean([one.bias.std() for one in some]) for some in (narrow, wide))
        assert narrowly == pytest.approx(0.25, rel=0.2)
        assert widely == pytest.approx(0.35, rel=0.1)
        assert widely - narrowly > 0.04
        for one in (*narrow, *wide):
            first, second = (matrix[part].mean(axis=0) for part in np.split(one.excluded, 2))
            assert len(set(one.excluded.tolist())) == one.excluded.size
            np.testing.assert_allclose(one.direction, normalise_rows((first - second)[None])[0], atol=1e-9)
            np.testing.assert_allclose(one.bias, matrix @ one.direction, atol=1e-9)

    def test_the_same_seed_gives_the_same(self) -> None:
        matrix = gaussian(300, 8)
        one, two = (select_contrasts(matrix, likeness=0.5, spread=0.3, seed=4, count=3) for _ in range(2))
        for left, right in zip(one, two, strict=True):
            np.testing.assert_array_equal(left.bias, right.bias)


class TestTests:
    def test_support_vectors_are_those_of_scikit_learn(self) -> None:
        rows = gaussian(200, 10)
        first = rows[:, 0] + 0.3 * rows[:, 1] ** 2 > 0
        train = np.arange(200) < 50
        said = word_tests.predict_sides(rows[train], rows @ rows.T, first, train)
        plain = SVC().fit(rows[train], first[train]).predict(rows[~train])
        np.testing.assert_array_equal(said, plain)

    def test_no_word_is_in_training_and_test(self) -> None:
        matrix = gaussian()
        one = make_contrast(matrix[0], matrix[1], matrix)
        found = word_tests.classify_words(matrix, one, 50, seed=0)
        assert found.indices.size == 80
        assert len(set(found.indices.tolist())) == 80
        assert found.first.sum() == 40

    def test_two_clusters_are_those_of_scikit_learn(self) -> None:
        """From the same cut; and no tighter ones come of fifty random starts."""
        rows = gaussian(120, 6) * np.geomspace(1, 0.3, 6)
        said = word_tests.find_two_clusters(rows)[0]
        centres = np.stack([rows[~said].mean(axis=0), rows[said].mean(axis=0)])
        spread = float(((rows - centres[said.astype(int)]) ** 2).sum())
        assert KMeans(2, n_init=50, random_state=0).fit(rows).inertia_ == pytest.approx(spread, rel=1e-3)
        again = KMeans(2, init=centres, n_init=1).fit(rows)
        np.testing.assert_array_equal(again.labels_ == 1, said)

    def test_two_clusters_do_not_depend_on_luck(self) -> None:
        """Rows that fall apart in two ways: the wider one counts, and the other is no worse than it is."""
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(200, 5)) * 0.1
        wide, narrow = np.arange(200) % 2 == 0, np.arange(200) < 100
        rows[:, 0] += np.where(wide, 3, -3)
        rows[:, 1] += np.where(narrow, 2, -2)
        (said,) = word_tests.find_two_clusters(rows)
        assert score_two_clusters(wide, said).accuracy == 1.0
        rows[:, 0], rows[:, 1] = np.where(wide, 3, -3), np.where(narrow, 2.9995, -2.9995)
        assert len(word_tests.find_two_clusters(rows)) == 2, "both cuts are as good"
        assert word_tests.find_two_clusters(np.ones((5, 2)))[0].tolist() == [False] * 5

    @pytest.mark.parametrize("removed", [False, True])
    def test_neighbours_one_by_one(self, removed: bool) -> None:
        matrix = gaussian(300, 6).astype(np.float32)
        space = make_space(
            [f"w{at}" for at in range(300)], matrix, matrix[0], matrix[1], vectors="", direction="", unit_ends=True
        )
        one = space.gender
        professions = np.arange(10, 40)
        direction = one.direction if removed else None
        found = word_tests.find_neighbours(matrix, professions, 7).share_sides(one, removed=direction)
        rows = remove_direction(matrix, one.direction) if removed else matrix
        for profession, share in zip(professions, found, strict=True):
            near = sorted(
                (other for other in range(300) if other != profession), key=lambda o: -rows[o] @ rows[profession]
            )
            assert share == pytest.approx(np.mean([one.bias[other] > np.median(one.bias) for other in near[:7]]))

    def test_any_direction_separates_the_words_it_chose(self) -> None:
        """Why a value means nothing by itself: in pure noise, a fifth of it is told apart almost perfectly."""
        matrix = gaussian(1200, 20)
        one = make_contrast(matrix[0], matrix[1], matrix)
        found = word_tests.run_tests(matrix, one, None, word_tests.Sizes(100, 200), seed=0, removed=False)
        assert found["probe"] > 0.95
        gone = word_tests.run_tests(matrix, one, None, word_tests.Sizes(100, 200), seed=0, removed=True)
        assert gone["probe"] < 0.65


class TestReferences:
    def test_noise_is_not_called_gender(self) -> None:
        """With noise for vectors, gender is a contrast like any other: few of the p-values are small."""
        small = []
        for seed in range(8):
            matrix = gaussian(400, 12, seed=seed)
            rng = np.random.default_rng(100 + seed)
            ends = normalise_rows(rng.normal(size=(2, 12)))
            space = make_space([f"w{at}" for at in range(400)], matrix, *ends, vectors="", direction="")
            sizes = word_tests.Sizes(30, 60, 20)
            nearby = word_tests.find_neighbours(space.matrix, np.arange(40), 20)
            found = run_contrasts(space, nearby, sizes, seed=seed, count=19)
            for removed in (False, True):
                values = word_tests.run_tests(space.matrix, space.gender, nearby, sizes, seed=seed, removed=removed)
                for name, value in values.items():
                    reference = found.compare(name, value, removed=removed)
                    assert reference is not None
                    small.append(reference.p_value <= 0.1)
        assert np.mean(small) < 0.25  # 10 % are expected of 64, and they are not independent

    def test_gender_that_is_all_over_is_found(self) -> None:
        """Words of two kinds that differ in many dimensions, of which the direction is but one."""
        rng = np.random.default_rng(0)
        kind = np.repeat([1.0, -1.0], 750)
        matrix = rng.normal(size=(1500, 150))
        matrix[:, :4] += 1.5 * kind[:, None]
        shared = rng.normal(size=150)
        ends = (shared + 3 * np.eye(150)[0], shared - 3 * np.eye(150)[0])
        space = make_space([f"w{at}" for at in range(1500)], matrix, *ends, vectors="", direction="")
        sizes = word_tests.Sizes(60, 120)
        found = run_contrasts(space, None, sizes, seed=0, count=39)
        values = word_tests.run_tests(space.matrix, space.gender, None, sizes, seed=0, removed=True)
        reference = found.compare("classification", values["classification"], removed=True)
        assert reference is not None
        assert reference.p_value <= 0.05

    def test_nothing_to_compare_with(self) -> None:
        empty = References({("neighbours", True): np.array([np.nan])})
        assert empty.compare("neighbours", 0.3, removed=True) is None
        assert empty.compare("clustering", 0.3, removed=True) is None


class TestPublished:
    def test_rows_of_a_tensor_are_shuffled_into_copies(self) -> None:
        rows = np.arange(50)[:, None] * np.ones((1, 3))
        random.Random(10).shuffle(rows)  # type: ignore[arg-type]
        assert published.shuffle_tensor_rows(list(range(50)), random.Random(10)) == rows[:, 0].astype(int).tolist()
        assert len(set(rows[:, 0])) < 40

    def test_some_words_are_then_in_both(self) -> None:
        matrix = gaussian(1500, 10)
        one = make_contrast(matrix[0], matrix[1], matrix)
        sizes = word_tests.Sizes(100, 250)
        asked, right = published.classify_words(matrix, one, sizes, duplicates=True)
        assert asked.size == right.size == 400
        assert len(set(asked.tolist())) < 300
        asked, _ = published.classify_words(matrix, one, sizes, duplicates=False)
        assert len(set(asked.tolist())) == 400

    def test_a_profession_is_put_down_with_its_last_neighbour(self) -> None:
        matrix = gaussian(400, 5)
        words = [f"w{at}" for at in range(400)]
        space = make_space(words, matrix, np.eye(5)[0], np.eye(5)[1], vectors="", direction="", unit_ends=True)
        professions = dict.fromkeys(words[:20])
        found = published.score_words(space, professions, space.gender, OWN).set_index("word")
        rows = space.matrix
        for at in range(3):
            near = sorted((other for other in range(400) if other != at), key=lambda o: -rows[o] @ rows[at])[:100]
            assert found.loc[f"w{at}", "put_down"] == pytest.approx(space.gender.bias[near[-1]])
            assert found.loc[f"w{at}", "male_neighbours"] == pytest.approx(np.mean(space.gender.bias[near] > 0))
        static = replace(space, is_static=True)
        plain = published.score_words(static, professions, space.gender, OWN).set_index("word")
        np.testing.assert_allclose(plain["put_down"][:20], space.gender.bias[:20])


class TestAnalysis:
    def test_words_cannot_be_chosen_by_what_rounding_left(self) -> None:
        matrix = gaussian(400, 6)
        words = [f"w{at}" for at in range(400)]
        space = make_space(words, matrix, np.eye(6)[0], np.eye(6)[1], vectors="", direction="")
        nearby = word_tests.find_neighbours(space.matrix, np.arange(20), 50)
        items = score_words(space, space.gender, OWN, nearby, seed=0)
        items = items.assign(language="en", corpus="nouns", stereotype=np.where(np.arange(400) < 20, 0.3, np.nan))
        found = analyse_space(items, "sound")
        assert found.read_details(Geometry).test("clustering") is not None
        gone = interpret(analyse_space(items.assign(bias=items["bias"] * 1e-8), "sound"))
        assert gone.read_details(Geometry).tests == []
        assert gone.tests["stereotype"].value is None
        assert "nothing but rounding" in gone.headline_text


class TestSpace:
    def test_bias_is_a_cosine(self) -> None:
        matrix = gaussian(300, 4) * 7
        words = [f"w{at}" for at in range(300)]
        space = make_space(words, matrix, np.array([2.0, 0, 0, 0]), np.zeros(4), vectors="", direction="")
        np.testing.assert_allclose(space.gender.bias, normalise_rows(matrix)[:, 0], atol=1e-6)

    @pytest.mark.parametrize(
        ("spoil", "said"),
        [
            ("few", "geometry needs 240 words"),
            ("twice", "w0.* given twice"),
            ("zero", "1 words have a vector that is zero or not finite"),
            ("same", "the same vector"),
        ],
    )
    def test_what_cannot_be_measured_is_refused(self, spoil: str, said: str) -> None:
        words, matrix = [f"w{at}" for at in range(300)], gaussian(300, 4)
        ends = np.eye(4)[:2]
        if spoil == "few":
            words, matrix = words[:20], matrix[:20]
        elif spoil == "twice":
            words[1] = "w0"
        elif spoil == "zero":
            matrix[3] = 0
        else:
            ends[1] = ends[0]
        with pytest.raises(UnmaskError, match=said):
            make_space(words, matrix, *ends, vectors="", direction="he − she")
