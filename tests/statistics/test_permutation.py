"""WEAT: answers by hand and by enumeration, its words and sentences, and degenerate input."""

from __future__ import annotations

import doctest
import gzip
import json
import math
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, stats

import unmask
from unmask.errors import UnmaskError
from unmask.lexicon.weat import Association, association, associations, gendered_sentences, sentences
from unmask.statistics import permutation
from unmask.statistics.permutation import effect_interval, partition_test

A, B = [[2.0, 0.0]], [[0.0, 1.0]]  # s(w) is then the difference of a unit vector's coordinates
X, Y = [[5.0, 0.0], [4.0, 3.0]], [[3.0, 4.0], [0.0, 7.0]]  # s: 1, .2 and -.2, -1
SETS = ("targ1", "targ2", "attr1", "attr2")
for_each_test = pytest.mark.parametrize("test", associations(), ids=lambda test: test.name)


def naive_p(values: list[int], size: int, alternative: str) -> float:
    """Enumerate all groups, in whole numbers."""
    count, total = len(values), sum(values)

    def distance(group: tuple[int, ...]) -> int:  # count × (sum of the group − its expected value)
        difference = count * sum(values[index] for index in group) - size * total
        return abs(difference) if alternative == "two-sided" else difference

    observed = distance(tuple(range(size)))
    reached = [distance(group) >= observed for group in combinations(range(count), size)]
    return sum(reached) / len(reached)


def test_by_hand() -> None:
    result = unmask.weat(X, Y, A, B)
    assert result.x == pytest.approx([1, 0.2])
    assert result.y == pytest.approx([-0.2, -1])
    assert result.statistic == pytest.approx(1.2 - -1.2)
    assert result.effect_size == pytest.approx((0.6 - -0.6) / math.sqrt((1 + 0.04 + 0.04 + 1) / 3))
    assert (result.p_value, result.partitions, result.exact) == (1 / 6, 6, True)
    assert (result.n_x, result.n_y, result.alternative) == (2, 2, "greater")
    assert unmask.weat(X, Y, A, B, alternative="two-sided").p_value == 2 / 6


def test_sides_turn_the_sign() -> None:
    result, swapped, negated = unmask.weat(X, Y, A, B), unmask.weat(Y, X, A, B), unmask.weat(X, Y, B, A)
    assert result.effect_size is not None
    assert swapped.effect_size == pytest.approx(-result.effect_size)
    assert negated.effect_size == pytest.approx(-result.effect_size)
    assert swapped.p_value == negated.p_value == 1
    assert result.interval is not None
    assert swapped.interval == pytest.approx((-result.interval[1], -result.interval[0]), abs=1e-5)


def test_lengths_do_not_matter() -> None:
    long = [[5e200, 0.0], [4e-200, 3e-200]]
    assert unmask.weat(long, Y, A, B).x == pytest.approx([1, 0.2])


@given(st.lists(st.integers(-6, 6), min_size=4, max_size=11), st.data())
def test_p_is_that_of_all_partitions(values: list[int], more: st.DataObject) -> None:
    size = more.draw(st.integers(1, len(values) - 1))
    alternative = more.draw(st.sampled_from(["greater", "two-sided"]))
    tenths = [value / 10 for value in values]  # with many ties, most of them inexact by rounding
    result = partition_test(tenths, size, alternative=alternative, seed=0)
    assert result.exact
    assert result.partitions == math.comb(len(values), size)
    assert result.p_value == naive_p(values, size, alternative)


def test_p_of_eight_and_eight() -> None:
    values = [9, 7, 8, 3, 5, 4, 6, 2, 4, 1, 0, 2, -3, 1, 5, -2]
    assert partition_test(values, 8, seed=0).p_value == naive_p(values, 8, "greater")
    assert partition_test(range(16, 0, -1), 8, seed=0).p_value == 1 / 12870
    assert partition_test(range(16), 8, seed=0).p_value == 1


@pytest.mark.parametrize(("ones", "size", "count"), [(12, 16, 32), (9, 10, 35)])
def test_p_of_larger_sets_is_hypergeometric_for_zeros_and_ones(ones: int, size: int, count: int) -> None:
    in_first = ones * 2 // 3
    values = [1] * in_first + [0] * (size - in_first) + [1] * (ones - in_first)
    values += [0] * (count - len(values))
    result = partition_test(values, size, seed=0)
    assert result.exact
    assert result.p_value == pytest.approx(stats.hypergeom.sf(in_first - 1, count, ones, size), rel=1e-12)


def test_p_of_very_large_sets_is_drawn() -> None:
    values = [1] * 20 + [0] * 20 + [1] * 12 + [0] * 28
    result = partition_test(values, 40, samples=20_000, seed=1)
    truth = float(stats.hypergeom.sf(19, 80, 32, 40))
    assert not result.exact
    assert result.partitions == 20_001
    assert result.p_value == pytest.approx(truth, abs=4 * math.sqrt(truth * (1 - truth) / 20_000))
    assert partition_test(values, 40, samples=20_000, seed=1) == result
    two_sided = partition_test(values, 40, samples=20_000, seed=1, alternative="two-sided").p_value
    assert two_sided == pytest.approx(2 * truth, abs=8 * math.sqrt(truth * (1 - truth) / 20_000))
    assert partition_test([1] * 40 + [0] * 40, 40, samples=99, seed=1).p_value == 1 / 100  # never zero


@pytest.mark.parametrize(("t", "n_x", "n_y"), [(0.0, 8, 8), (2.5, 8, 8), (-4.0, 8, 8), (1.0, 2, 2), (6.0, 30, 12)])
def test_interval_by_the_noncentral_t(t: float, n_x: int, n_y: int) -> None:
    n, df = n_x + n_y, n_x + n_y - 2
    bound = math.sqrt(n * (n - 1) / (n_x * n_y))
    interval = effect_interval(bound * t / math.sqrt(df + t * t), n_x, n_y)
    assert interval is not None
    for effect, share in zip(interval, (0.975, 0.025), strict=True):
        rho = effect / bound
        centre = rho * math.sqrt(n / (1 - rho * rho))
        below = integrate.quad(  # P(T <= t): a normal over an independent chi
            lambda u, centre=centre: stats.norm.cdf(t * u / math.sqrt(df) - centre) * stats.chi.pdf(u, df), 0, 40
        )[0]
        assert below == pytest.approx(share, abs=1e-5)


def test_interval_holds_zero_where_student_finds_nothing() -> None:
    random = np.random.default_rng(5)
    outcomes = set()
    for shift in (0.0, 0.4, 0.8, 1.2) * 5:
        x, y = random.normal(shift, 1, 8), random.normal(0, 1, 6)
        effect = (x.mean() - y.mean()) / np.concatenate([x, y]).std(ddof=1)
        interval = effect_interval(float(effect), 8, 6)
        assert interval is not None
        assert interval[0] < effect < interval[1]
        finds = bool(stats.ttest_ind(x, y).pvalue < 0.05)
        assert finds == (not interval[0] <= 0 <= interval[1])
        outcomes.add(finds)
    assert outcomes == {True, False}


def test_interval_covers() -> None:
    random = np.random.default_rng(6)
    x, y = random.normal(1, 1, (1000, 8)), random.normal(0, 1, (1000, 8))
    effects = (x.mean(axis=1) - y.mean(axis=1)) / np.concatenate([x, y], axis=1).std(axis=1, ddof=1)
    truth = 1 / math.sqrt(1 + 1 / 4) * math.sqrt(15 / 16)
    intervals = [effect_interval(float(effect), 8, 8) for effect in effects]
    covered = [interval is not None and interval[0] <= truth <= interval[1] for interval in intervals]
    assert 0.93 <= np.mean(covered) <= 0.97


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_vectors_that_mean_nothing_are_found_to_mean_something_at_the_nominal_rate(alternative: str) -> None:
    random = np.random.default_rng(7)
    p = []
    for _ in range(600):
        x, y, a, b = (random.normal(size=(count, 20)) for count in (6, 5, 8, 8))
        p.append(unmask.weat(x, y, a, b, alternative=alternative).p_value)
    assert 0.03 <= np.mean(np.array(p) <= 0.05) <= 0.07
    assert 0.44 <= np.mean(np.array(p) <= 0.5) <= 0.56


def test_targets_that_are_all_alike_have_no_effect() -> None:
    for result in (unmask.weat([[1.0, 2.0], [2.0, 4.0]], [[3.0, 6.0], [0.1, 0.2]], A, B), unmask.weat(X, Y, A, A)):
        assert (result.effect_size, result.interval, result.p_value) == (None, None, 1.0)
    assert unmask.weat(X, Y, A, A, alternative="two-sided").p_value == 1


def test_sets_without_spread_have_an_effect_and_no_interval() -> None:
    result = unmask.weat([[1, 0], [2, 0]], [[0, 1], [0, 3]], A, B)
    assert result.effect_size == pytest.approx(math.sqrt(4 * 3 / (2 * 2)))  # the largest possible
    assert result.interval is None
    assert result.p_value == 1 / 6


@pytest.mark.parametrize(
    ("x", "a", "message"),
    [
        ([[1, 0], [0, 0], [0, 0]], A, "x has 2 vectors of zeros, first in row 1; they have no cosine: leave them out"),
        (X, [[1.0, float("nan")]], "a has NaN or infinity in 1 vectors, first in row 0; leave them out"),
        (X, [[1.0, 2.0, 3.0]], "x has vectors of 2 dimensions and a of 3; take all from the same model"),
        ([[1.0, 0.0]], A, "x has 1 vectors; give each set of targets at least 2"),
        ([1.0, 0.0], A, r"x has the shape \(2,\); give at least one vector, and vectors as rows"),
        (X, np.zeros((0, 2)), r"a has the shape \(0, 2\); give at least one vector, and vectors as rows"),
        ([[1.0, 0.0], [1.0]], A, "x is no table of numbers; give vectors as rows, all of the same length"),
        (X, [["he", "man"]], "a is no table of numbers; give vectors as rows, all of the same length"),
    ],
)
def test_what_is_no_set_of_vectors_is_refused(x: NDArray[np.float64], a: NDArray[np.float64], message: str) -> None:
    with pytest.raises(UnmaskError, match=f"^{message}$"):
        unmask.weat(x, Y, a, B)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(UnmaskError, match="unknown alternative 'less'; choose from: greater, two-sided"):
        unmask.weat(X, Y, A, B, alternative="less")
    with pytest.raises(UnmaskError, match="0 samples are too few"):
        unmask.weat(X, Y, A, B, samples=0)
    with pytest.raises(UnmaskError, match="unknown association test '9'"):
        association("9")


def test_the_example_is_right() -> None:
    failed, tried = doctest.testmod(permutation)
    assert failed == 0
    assert tried > 0


@for_each_test
def test_spans_hold_the_word(test: Association) -> None:
    for word_set, texts in zip(test.sets, sentences(test), strict=True):
        forms = {word.text: {word.text, word.singular, word.plural} for word in word_set.words}
        for sentence in texts:
            start, end = sentence.span
            form = sentence.text[start:end]
            assert form in forms[sentence.word] or form[0].lower() + form[1:] in forms[sentence.word]
        assert {sentence.word for sentence in texts} == set(forms)
        assert len({sentence.text for sentence in texts}) == len(texts)


def test_people_are_no_things() -> None:
    texts = {sentence.text for test_sentences in sentences(association("6")) for sentence in test_sentences}
    assert {"A child is a person.", "Executives are people.", "It is management.", "A wedding is a thing."} <= texts
    assert not {"A child is a thing.", "It is a parent.", "This is a management."} & texts


def test_sentences_about_men_and_women() -> None:
    gendered = gendered_sentences()
    assert [sentence.gender for sentence in gendered] == ["male"] * 80 + ["female"] * 80
    assert (gendered[0].text, gendered[0].span, gendered[0].word) == ("This is a male.", (10, 14), "male")
    women = next(sentence for sentence in gendered if sentence.text == "Those are women.")
    assert (women.text[slice(*women.span)], women.word, women.gender) == ("women", "woman", "female")


@for_each_test
def test_words_and_sentences_are_those_released(test: Association, data: Path) -> None:
    words = json.loads((data / "seat" / f"weat{test.name}.jsonl").read_text(encoding="utf-8"))
    released = json.loads((data / "seat" / f"sent-weat{test.name}.jsonl").read_text(encoding="utf-8"))
    for key, word_set, test_sentences in zip(SETS, test.sets, sentences(test, released=True), strict=True):
        assert [word.text for word in word_set.words] == words[key]["examples"]
        texts = [sentence.text for sentence in test_sentences]
        if word_set.name.startswith("arts"):  # a random part of them was released: as many as the other targets have
            released_texts = set(released[key]["examples"])
            assert len(released_texts) == len(released["targ1"]["examples"]) < len(texts)
            texts = [text for text in texts if text in released_texts]
        assert texts == released[key]["examples"]


@pytest.mark.parametrize("gender", ["male", "female"])
def test_sentences_of_the_gender_direction_are_those_released(gender: str, data: Path) -> None:
    released = (data / "lipstick" / f"{gender}_sentence_file.txt").read_text(encoding="utf-8").splitlines()
    gendered = [sentence for sentence in gendered_sentences() if sentence.gender == gender]
    assert [sentence.text.removesuffix(".") for sentence in gendered] == released
    words = {sentence.text[slice(*sentence.span)].lower() for sentence in gendered}
    assert len(words) == 13
    for sentence in gendered:  # the paper's code takes the first of these words in the sentence: the same one
        match = re.search(rf"\b({'|'.join(words)})\b", sentence.text, re.IGNORECASE)
        assert match is not None
        assert match.span() == sentence.span


def test_word2vec_ties_mathematics_to_men(data: Path) -> None:
    path = data / "vectors" / "word2vec-googlenews-bolukbasi-26k.bin.gz"
    head, _, content = gzip.decompress(path.read_bytes()).partition(b"\n")
    count, width = map(int, head.split())
    vectors, position = {}, 0
    for _ in range(count):
        end = content.index(b" ", position)
        vectors[content[position:end].decode().strip()] = np.frombuffer(content, np.float32, width, end + 1)
        position = end + 1 + 4 * width
    test = association("7")
    x, y, a, b = ([vectors[word.text] for word in word_set.words if word.text in vectors] for word_set in test.sets)
    assert [word.text for word_set in test.sets for word in word_set.words if word.text not in vectors] == ["equations"]

    def cosine(u: NDArray[np.float32], v: NDArray[np.float32]) -> float:
        return float(stats.pearsonr(np.concatenate([u, -u]), np.concatenate([v, -v])).statistic)  # the means are zero

    naive = [np.mean([cosine(w, v) for v in a]) - np.mean([cosine(w, v) for v in b]) for w in (*x, *y)]
    result = unmask.weat(x, y, a, b)
    assert [*result.x, *result.y] == pytest.approx(naive, abs=1e-6)
    assert result.effect_size == pytest.approx((np.mean(naive[:7]) - np.mean(naive[7:])) / np.std(naive, ddof=1))
    assert result.effect_size == pytest.approx(0.883, abs=0.0005)
    assert result.p_value == pytest.approx(naive_p([round(value * 1e9) for value in naive], 7, "greater"))
