"""The tests of geometry: known answers, naive references, and results on pure noise."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import transformers
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.svm import SVC

from contrasts import run_contrasts
from gaussian import gaussian
from unmask.lexicon.word_lists import nouns
from unmask.measures.geometry import OWN, Geometry, word_tests
from unmask.measures.geometry.analysis import add_contrasts, analyse_space, interpret
from unmask.measures.geometry.contrasts import (
    References,
    _correlate_stereotypes,
    compare_value,
    draw_contrasts,
    match_contrasts,
    predict_difference,
    select_contrasts,
)
from unmask.measures.geometry.scoring import score_words
from unmask.measures.geometry.space import Contrast, check_pairs, embed_words, make_contrast, make_space
from unmask.models.encoder import TransformersEncoder
from unmask.models.loading import load_encoder
from unmask.options import LoadOptions
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.erasure import normalise_rows, remove_direction
from unmask.statistics.separation import (
    score_two_clusters,
)


class TestContrasts:
    def test_extremes_are_the_outermost_first(self) -> None:
        contrast = Contrast(np.ones(1), np.array([0.1, -0.5, 0.7, 0.2, -0.9]), np.empty(0, dtype=np.intp))
        first, second = contrast.extremes(2)
        assert (first.tolist(), second.tolist()) == ([2, 3], [4, 1])

    def test_words_that_make_a_contrast_are_not_asked(self) -> None:
        contrast = Contrast(np.ones(1), np.array([0.9, 0.1, -0.2, -0.8]), np.array([0]))
        assert [side.tolist() for side in contrast.extremes(1)] == [[1], [3]]

    def test_other_contrasts_are_like_the_one_that_is_asked_for(self) -> None:
        """Equally alike at their ends and equally widely scattered, in a space whose directions scatter differently."""
        matrix = normalise_rows(np.random.default_rng(0).normal(size=(600, 12)) * np.geomspace(1, 0.2, 12))
        narrow, wide = (
            select_contrasts(matrix, likeness=0.5, spread=spread, seed=0, count=30) for spread in (0.25, 0.35)
        )
        narrowly, widely = (np.mean([contrast.bias.std() for contrast in contrasts]) for contrasts in (narrow, wide))
        assert narrowly == pytest.approx(0.25, rel=0.2)
        assert widely == pytest.approx(0.35, rel=0.1)
        assert widely - narrowly > 0.04
        for contrast in (*narrow, *wide):
            first, second = (matrix[part].mean(axis=0) for part in np.split(contrast.excluded, 2))
            assert len(set(contrast.excluded.tolist())) == contrast.excluded.size
            np.testing.assert_allclose(contrast.direction, normalise_rows((first - second)[None])[0], atol=1e-9)
            np.testing.assert_allclose(contrast.bias, matrix @ contrast.direction, atol=1e-9)

    def test_the_same_seed_gives_the_same(self) -> None:
        matrix = gaussian(300, 8)
        first, second = (select_contrasts(matrix, likeness=0.5, spread=0.3, seed=4, count=3) for _ in range(2))
        for left, right in zip(first, second, strict=True):
            np.testing.assert_array_equal(left.bias, right.bias)

    def test_the_spread_of_a_contrast_is_that_of_all_other_words(self) -> None:
        contrast = Contrast(np.ones(1), np.array([9.0, 1.0, 3.0, -9.0]), np.array([0, 3]))
        assert contrast.spread == 1.0

    def test_a_gender_unlike_all_contrasts_is_not_compared(self) -> None:
        """Along a direction in which words hardly differ: no pair of words is so near."""
        matrix = gaussian(400, 12)
        matrix[:, 0] *= 0.01
        space = make_space([f"w{index}" for index in range(400)], matrix, *narrow_ends(12), vectors="", direction="")
        contrasts = draw_contrasts(space, seed=0, count=19)
        matching = match_contrasts(space, contrasts)
        assert not matching.comparable
        assert matching.mean_spread > 5 * matching.spread
        references = run_contrasts(space, None, seed=0, count=19)
        assert references.values == {}
        assert references.compare("classification", 0.9, removed=True) is None

    def test_a_prediction_by_hand(self) -> None:
        values = [0.6, 0.7, 0.8]
        difference = predict_difference(values, 1.0)
        error = 0.1 * np.sqrt(4 / 3)
        assert difference.value == pytest.approx(0.3)
        assert difference.p_value == pytest.approx(2 * stats.t.sf(0.3 / error, 2))
        reference = compare_value(values, 1.0, bounds=(0.0, 1.0))
        assert reference is not None
        assert reference.low == pytest.approx(0.7 - stats.t.isf(0.025, 2) * error)
        assert (reference.high, reference.reached, reference.contrasts) == (1.0, 0, 3)
        assert predict_difference([0.7, 0.7], 0.9).p_value is None
        assert predict_difference([0.7, 0.7], 0.7).p_value == 1.0

    def test_predictions_reject_5_percent_of_further_values(self) -> None:
        rng, draws = np.random.default_rng(0), 2000
        rejected = sum(
            (predict_difference(rng.normal(size=19), rng.normal()).p_value or 0) < 0.05 for _ in range(draws)
        )
        assert stats.binom.ppf(0.001, draws, 0.05) <= rejected <= stats.binom.isf(0.001, draws, 0.05)


class TestCompetence:
    def test_pairs_in_order_pass_and_others_do_not(self) -> None:
        rng = np.random.default_rng(0)
        vectors = rng.normal(size=(42, 5))
        direction = np.eye(5)[0]
        vectors[::2, 0], vectors[1::2, 0] = 1, -1
        (check,) = check_pairs(vectors, direction)
        assert (check.n, check.value, check.passed) == (21, 1.0, True)
        vectors[:12] = vectors[[1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]]
        (check,) = check_pairs(vectors, direction)
        assert check.value == pytest.approx(15 / 21)
        assert not check.passed
        assert check_pairs(vectors[:18], direction) == []
        vectors[0, 0] = np.nan
        (check,) = check_pairs(vectors, direction)
        assert (check.value, check.passed) == (None, False)

    def test_random_vectors_are_inconclusive(self) -> None:
        passed = 0
        for seed in range(50):
            rng = np.random.default_rng(seed)
            passed += check_pairs(rng.normal(size=(42, 30)), rng.normal(size=30))[0].passed
        assert passed <= 3  # 1.3 % are expected

    def test_the_embedded_model_sorts_words_of_women_and_of_men(self) -> None:
        encoder = load_encoder("unmask-mini", LoadOptions(device="cpu"))
        assert isinstance(encoder, TransformersEncoder)
        space = embed_words(nouns()[:240], encoder)
        (check,) = space.competence
        assert check.passed
        torch.manual_seed(0)
        untrained = transformers.AutoModel.from_config(encoder.model.config).eval()
        (check,) = embed_words(nouns()[:240], TransformersEncoder(untrained, encoder.tokenizer)).competence
        assert not check.passed


class TestStereotypes:
    def test_professions_that_lie_together_are_not_independent(self) -> None:
        """Six kinds of professions that people see alike: along random directions, r is significant far too often."""
        rng = np.random.default_rng(1)
        kinds = rng.normal(size=(6, 40))
        kind = np.arange(300) % 6
        matrix = kinds[kind] + 0.7 * rng.normal(size=(300, 40))
        words = [f"w{index}" for index in range(300)]
        people = {word: float(np.linspace(-1, 1, 6)[kind[index]]) for index, word in enumerate(words[:120])}
        rejected = {"independent": 0, "contrasts": 0}
        for seed in range(40):
            ends = np.random.default_rng(seed + 50).normal(size=(2, 40)) + 1
            space = make_space(words, matrix, *ends, vectors="", direction="")
            items = score_words(space, space.gender, OWN, None, seed=0).assign(language="en", corpus="nouns")
            items["stereotype"] = np.array([people.get(word) for word in words], dtype=float)
            contrasts = draw_contrasts(space, seed=0, count=39)
            references = References({}, None, _correlate_stereotypes(space, contrasts, people))
            test = analyse_space(add_contrasts(items, references), "sound").tests["stereotype"]
            assert test.p_value is not None
            rejected["contrasts"] += test.p_value < 0.05
            p_value = pearson_estimate(space.gender.bias[:120], items["stereotype"][:120]).p_value
            rejected["independent"] += p_value is not None and p_value < 0.05
        assert rejected["contrasts"] <= 5 < 15 < rejected["independent"], rejected


def narrow_ends(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Two ends that differ along the first axis alone."""
    return np.ones(size) + 0.5 * np.eye(size)[0], np.ones(size) - 0.5 * np.eye(size)[0]


class TestTests:
    def test_support_vectors_are_those_of_scikit_learn(self) -> None:
        rows = gaussian(200, 10)
        labels = rows[:, 0] + 0.3 * rows[:, 1] ** 2 > 0
        train = np.arange(200) < 50
        predicted = word_tests.predict_sides(rows[train], rows @ rows[train].T, labels, train)
        plain = SVC().fit(rows[train], labels[train]).predict(rows[~train])
        np.testing.assert_array_equal(predicted, plain)

    def test_no_word_is_in_training_and_test(self) -> None:
        matrix = gaussian()
        contrast = make_contrast(matrix[0], matrix[1], matrix)
        classified = word_tests.classify_words(matrix, contrast, seed=0)
        tested = round(0.8 * (len(matrix) // 6))
        assert len(set(classified.indices.tolist())) == classified.indices.size == 2 * tested
        assert classified.first.sum() == tested

    def test_two_clusters_are_those_of_scikit_learn(self) -> None:
        """From the same cut; fifty random starts give no tighter clusters."""
        rows = gaussian(120, 6) * np.geomspace(1, 0.3, 6)
        labels = word_tests.find_two_clusters(rows)[0]
        centres = np.stack([rows[~labels].mean(axis=0), rows[labels].mean(axis=0)])
        spread = float(((rows - centres[labels.astype(int)]) ** 2).sum())
        assert KMeans(2, n_init=50, random_state=0).fit(rows).inertia_ == pytest.approx(spread, rel=1e-3)
        repeated = KMeans(2, init=centres, n_init=1).fit(rows)
        np.testing.assert_array_equal(repeated.labels_ == 1, labels)

    @pytest.mark.parametrize("shape", [(60, 5), (40, 90)])
    def test_clusters_from_several_starts_are_those_of_one_start_at_a_time(self, shape: tuple[int, int]) -> None:
        rng = np.random.default_rng(0)
        rows = rng.normal(size=shape)
        rows -= rows.mean(axis=0)
        starts = rng.random((shape[0], 7)) < 0.5
        starts[:, 5], starts[:, 6] = True, False
        spreads, sides = word_tests._run_lloyd(rows @ rows.T, starts)
        for start, spread, side in zip(starts.T, spreads, sides.T, strict=True):
            expected, before = start, ~start
            while 0 < expected.sum() < len(rows) and (expected != before).any():
                first, second = rows[expected].mean(axis=0), rows[~expected].mean(axis=0)
                before, expected = (
                    expected,
                    np.linalg.norm(rows - first, axis=1) < np.linalg.norm(rows - second, axis=1),
                )
            np.testing.assert_array_equal(side, expected)
            parts = [part for part in (rows[side], rows[~side]) if len(part)]
            assert spread == pytest.approx(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))

    def test_two_clusters_do_not_depend_on_luck(self) -> None:
        """Rows that separate in two ways: the wider one counts; if both are equally good, both are found."""
        rng = np.random.default_rng(0)
        rows = rng.normal(size=(200, 5)) * 0.1
        wide, narrow = np.arange(200) % 2 == 0, np.arange(200) < 100
        rows[:, 0] += np.where(wide, 3, -3)
        rows[:, 1] += np.where(narrow, 2, -2)
        (labels,) = word_tests.find_two_clusters(rows)
        assert score_two_clusters(wide, labels).accuracy == 1.0
        rows[:, 0], rows[:, 1] = np.where(wide, 3, -3), np.where(narrow, 2.9995, -2.9995)
        assert len(word_tests.find_two_clusters(rows)) == 2, "both cuts are as good"
        assert word_tests.find_two_clusters(np.ones((5, 2)))[0].tolist() == [False] * 5

    @pytest.mark.parametrize("removed", [False, True])
    def test_neighbours_one_by_one(self, removed: bool) -> None:
        matrix = gaussian(300, 6).astype(np.float32)
        space = make_space(
            [f"w{index}" for index in range(300)],
            matrix,
            matrix[0],
            matrix[1],
            vectors="",
            direction="",
            unit_ends=True,
        )
        contrast = space.gender
        professions = np.arange(10, 40)
        direction = contrast.direction if removed else None
        shares = word_tests.find_neighbours(matrix, professions, 7).share_sides(contrast, removed=direction)
        rows = remove_direction(matrix, contrast.direction) if removed else matrix
        for profession, share in zip(professions, shares, strict=True):
            near = sorted(
                (neighbour for neighbour in range(300) if neighbour != profession),
                key=lambda o: -rows[o] @ rows[profession],
            )
            assert share == pytest.approx(
                np.mean([contrast.bias[neighbour] > np.median(contrast.bias) for neighbour in near[:7]])
            )

    def test_any_direction_separates_the_words_it_chose(self) -> None:
        """Why a value alone means nothing: even pure noise is separated almost perfectly."""
        matrix = gaussian(1200, 20)
        contrast = make_contrast(matrix[0], matrix[1], matrix)
        values = word_tests.run_tests(matrix, contrast, None, seed=0, removed=False)
        assert values["probe"] > 0.95
        values_removed = word_tests.run_tests(matrix, contrast, None, seed=0, removed=True)
        assert values_removed["probe"] < 0.65


class TestReferences:
    def test_noise_is_not_called_gender(self) -> None:
        """With noise for vectors, gender is a contrast like any other: few of the p-values are small."""
        small = []
        for seed in range(8):
            matrix = gaussian(400, 12, seed=seed)
            rng = np.random.default_rng(100 + seed)
            ends = normalise_rows(rng.normal(size=(2, 12)))
            space = make_space([f"w{index}" for index in range(400)], matrix, *ends, vectors="", direction="")
            nearby = word_tests.find_neighbours(space.matrix, np.arange(40), 20)
            references = run_contrasts(space, nearby, seed=seed, count=19)
            for removed in (False, True):
                values = word_tests.run_tests(space.matrix, space.gender, nearby, seed=seed, removed=removed)
                for name, value in values.items():
                    reference = references.compare(name, value, removed=removed)
                    assert reference is not None
                    if reference.p_value is not None:  # some tests separate all contrasts completely
                        small.append(reference.p_value <= 0.1)
        assert np.mean(small) < 0.25  # 10 % are expected, and they are not independent

    def test_gender_that_is_all_over_is_found(self) -> None:
        """Two groups of words that differ in many dimensions; the direction is only one of them."""
        rng = np.random.default_rng(0)
        signs = np.repeat([1.0, -1.0], 750)
        matrix = rng.normal(size=(1500, 150)) * np.append(np.ones(4), np.geomspace(2, 0.5, 146))
        matrix[:, :4] += signs[:, None]
        shared = 0.41 * rng.normal(size=150)
        ends = (shared + 3 * np.eye(150)[0], shared - 3 * np.eye(150)[0])
        space = make_space([f"w{index}" for index in range(1500)], matrix, *ends, vectors="", direction="")
        references = run_contrasts(space, None, seed=0, count=39)
        values = word_tests.run_tests(space.matrix, space.gender, None, seed=0, removed=True)
        reference = references.compare("classification", values["classification"], removed=True)
        assert reference is not None
        assert reference.p_value is not None
        assert reference.p_value <= 0.05

    def test_nothing_to_compare_with(self) -> None:
        empty = References({("neighbours", True): np.array([np.nan])})
        assert empty.compare("neighbours", 0.3, removed=True) is None
        assert empty.compare("clustering", 0.3, removed=True) is None


class TestAnalysis:
    def test_words_cannot_be_chosen_by_what_rounding_left(self) -> None:
        matrix = gaussian(400, 6)
        words = [f"w{index}" for index in range(400)]
        space = make_space(words, matrix, np.eye(6)[0], np.eye(6)[1], vectors="", direction="")
        nearby = word_tests.find_neighbours(space.matrix, np.arange(20), 50)
        items = score_words(space, space.gender, OWN, nearby, seed=0)
        items = items.assign(language="en", corpus="nouns", stereotype=np.where(np.arange(400) < 20, 0.3, np.nan))
        measurement = analyse_space(items, "sound")
        assert measurement.read_details(Geometry).test("clustering") is not None
        rounded = interpret(analyse_space(items.assign(bias=items["bias"] * 1e-8), "sound"))
        assert rounded.read_details(Geometry).tests == []
        assert rounded.tests["stereotype"].value is None
        assert "nothing but rounding" in rounded.headline_text
