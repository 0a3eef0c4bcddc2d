"""The sentiment measure against known answers: planted classifiers, constructed texts, a naive reference."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import peft
import pytest
import torch
import transformers
from scipy import stats

import unmask
from opinions import KNOWN, rate_opinions
from toy_model import tokenizer_of
from unmask import embedded
from unmask.errors import UnmaskError
from unmask.lexicon.sentences import reviews
from unmask.measures.base import Context
from unmask.measures.sentiment import SentimentMeasure, SentimentOptions
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.competence import check_competence
from unmask.measures.sentiment.data import rewrite_both_ways
from unmask.measures.sentiment.details import Ratings
from unmask.measures.sentiment.rater import Rater, weigh_labels
from unmask.measures.sentiment.scoring import score_pairs
from unmask.models.loading import load_classifier
from unmask.results import Measurement
from unmask.statistics.corrections import holm
from unmask.training.examples import TextExample

MALE = re.compile(r"\b(he|him|his|man|men|brother|father|actor)\b", re.IGNORECASE)
ROWS = [
    ("a", "He won the war.", "good", 0.1),
    ("b", "She won the war and her brother lost.", "good", 0.3),
    ("c", "She found love.", "bad", -0.05),
    ("d", "He and his father found love.", "bad", -0.15),
    ("e", "The film was long.", "bad", 0.0),
    ("f", "His film was long.", "good", 0.0),
]
"""id, text, label, bias: a male word counts 0.1 in a text of war, −0.05 in one of love, and nothing in others."""
CHANGED = np.array([0.1, 0.3, -0.05, -0.15, 0.0])


class Planted:
    """Starts from 0.5 and counts male words as `ROWS` says; records the texts that it rates."""

    labels: Sequence[str] = ("negative", "positive")

    def __init__(self, labels: Sequence[str] = labels) -> None:
        self.labels = labels
        self.batches: list[list[str]] = []

    def ratings(self, texts: Sequence[Any]) -> Any:
        self.batches.append([str(text) for text in texts])
        weights = [0.1 if "war" in text else -0.05 if "love" in text else 0.0 for text in texts]
        high = [0.5 + weight * len(MALE.findall(text)) for weight, text in zip(weights, texts, strict=True)]
        return rate_opinions(texts, high)

    def probabilities(self, texts: Sequence[Any]) -> Any:
        high = self.ratings(texts)
        shares = {2: (1.0,), 3: (0.25, 0.75), 5: (0.1, 0.2, 0.3, 0.4)}[len(self.labels)]
        return np.column_stack([1 - high, *(share * high for share in shares)])


class Number:
    """The same model as a regression, with its own scale."""

    def __init__(self, factor: float) -> None:
        self.factor, self.inner = factor, Planted()

    def values(self, texts: Sequence[Any]) -> Any:
        return self.factor * self.inner.ratings(texts)


class Coin:
    """Rates each text at random, whatever it says: the labels depend on nothing."""

    labels = ("negative", "positive")

    def __init__(self, seed: int, *, blind: bool = False) -> None:
        self.seed, self.blind = seed, blind

    def probabilities(self, texts: Sequence[Any]) -> Any:
        contents = [str(len(text.split())) if self.blind else text for text in texts]
        high = np.array([np.random.default_rng([self.seed, *text.encode()]).random() for text in contents])
        return np.column_stack([1 - high, high])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The rows as a table, the first of them twice under another id."""
    path = tmp_path / "texts.csv"
    rows = [*ROWS, ("g", *ROWS[0][1:])]
    pd.DataFrame([row[:3] for row in rows], columns=["id", "text", "label"]).to_csv(path, index=False)
    return path


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    """Term maps in the form of the released ones, with the words of the rows."""
    to_female = {"he": "she", "his": "her", "brother": "sister", "father": "mother"}
    for name in ("prons", "weat", "terms"):
        (tmp_path / f"{name}_m2f.json").write_text(json.dumps(to_female))
        (tmp_path / f"{name}_f2m.json").write_text(json.dumps({female: male for male, female in to_female.items()}))
    return tmp_path


def measure(model: Any, texts: Path, **settings: Any) -> Measurement:
    """The only measurement of an audit."""
    (measurement,) = unmask.audit(model, texts=texts, **settings).measurements
    return measurement


def ratings(measurement: Measurement) -> Ratings:
    return measurement.read_details(Ratings)


def write_lines(path: Path, *texts: str) -> Path:
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


# Known answers


def test_means_and_counts_by_hand(file: Path) -> None:
    measurement = measure(Planted(), file)
    means = {name: group.value for name, group in measurement.groups.items()}
    assert means == pytest.approx(
        {
            "total bias, all texts": 0.2 / 6,
            "absolute bias, all texts": 0.6 / 6,
            "total bias, changed texts": 0.2 / 5,
            "absolute bias, changed texts": 0.6 / 5,
        }
    )
    assert [group.n for group in measurement.groups.values()] == [6, 6, 5, 5]
    details = ratings(measurement)
    assert (details.texts, details.duplicates, details.changed) == (6, 1, 5)
    assert (details.below, details.equal, details.above) == (2, 1, 2)
    assert details.flips == 2  # a and b: above one half in the male version alone
    assert (details.rating, details.scale, details.terms) == ("p(positive)", 1.0, "all")
    assert (details.cut, details.outside, details.partly_outside, details.long_texts) == (
        None,
        None,
        None,
        "",
    )  # the object does not say


def test_tests_agree_with_scipy_and_the_rest_with_paper_and_pencil(file: Path) -> None:
    measurement = measure(Planted(), file)
    test = measurement.tests["bias"]
    assert test.n == 5
    assert test.value == pytest.approx(0.04)
    expected = stats.ttest_1samp(CHANGED, 0)
    assert (test.statistic, test.p_value, test.df) == pytest.approx((expected.statistic, expected.pvalue, 4))
    assert test.wilcoxon is not None
    ranks: Any = stats.wilcoxon(CHANGED, correction=True, method="asymptotic")  # type: ignore[call-overload]
    assert (test.wilcoxon.w, test.wilcoxon.p_value) == pytest.approx((4.0, ranks.pvalue))
    assert test.effect_size == pytest.approx(0.2)  # ranks 2 + 4 above zero, 1 + 3 below: (6 − 4) / 10
    assert measurement.tests["bias over words"].value is None  # no pair is in five texts


def test_the_tests_over_texts_are_corrected_together(file: Path) -> None:
    tests = measure(Planted(), file).tests
    assert list(tests) == ["bias over words", "bias", "bias, bad texts", "bias, good texts"]
    assert [test.n for test in tests.values()] == [0, 5, 2, 3]
    over_texts = list(tests.values())[1:]
    assert [test.p_adjusted for test in over_texts] == pytest.approx(holm([test.p_value for test in over_texts]))


def test_parts_add_up(file: Path) -> None:
    details = ratings(measure(Planted(), file))
    assert {part.name: part.n for part in details.by_term} == {
        "he": 2,
        "she": 2,
        "his": 2,
    }  # others stand in one text only
    assert {part.name: part.bias for part in details.by_term} == pytest.approx(
        {"he": -0.025, "she": 0.125, "his": -0.075}
    )
    assert {part.name: part.n for part in details.by_label} == {"good": 3, "bad": 2}
    assert {part.name: part.bias for part in details.by_label} == pytest.approx({"good": 0.4 / 3, "bad": -0.1})
    for parts in (details.by_label, details.by_length):
        assert sum(part.n for part in parts) == 5
        assert sum(part.n * (part.bias or 0.0) for part in parts) == pytest.approx(0.2)
        assert sum(part.n * (part.absolute or 0.0) for part in parts) == pytest.approx(0.6)
    assert details.by_length[0].name.startswith("3")
    assert details.by_length[-1].name.endswith("8 words")


def test_no_text_is_asked_twice(file: Path) -> None:
    model = Planted()
    measure(model, file)
    texts, noise, opinions = model.batches
    assert len(opinions) == 60
    assert len(texts) == len(set(texts)) == 6 + 5
    assert texts.count("The film was long.") == 1
    assert set(noise) <= set(texts) - {"The film was long."}


def test_texts_that_differ_in_gender_alone_are_one(tmp_path: Path) -> None:
    """Both texts have the same two versions; counting them twice would make chance look significant."""
    twins = write_lines(tmp_path / "t.txt", "He won the war.", "She won the war.", "He saw it.", "She found love.")
    measurement = measure(Planted(), twins)
    assert (ratings(measurement).texts, ratings(measurement).duplicates) == (3, 1)
    assert measurement.tests["bias"].n == 3


def test_a_measurement_without_any_difference_says_so(tmp_path: Path) -> None:
    measurement = measure(Planted(), write_lines(tmp_path / "t.txt", "He saw it.", "His film.", "A film."))
    test = measurement.tests["bias"]
    assert (test.p_value, test.value, test.effect_size, test.detectable) == (1, 0, 0, None)
    assert (
        measurement.headline_text
        == "No rating changed: both versions of the 2 texts with a gender term are rated alike."
    )


def test_one_text_is_too_few_to_be_sure_of(tmp_path: Path) -> None:
    measurement = measure(Planted(), write_lines(tmp_path / "t.txt", "He won the war."))
    assert measurement.headline_text.startswith(
        "Too few texts to separate the effect of gender from that of particular words: no pair of words is known"
    )
    assert measurement.tests["bias"].interval is None
    assert "few-texts" in [caveat.code for caveat in measurement.caveats]


def test_five_texts_are_too_few(file: Path) -> None:
    measurement = measure(Planted(), file)
    assert measurement.headline_text == (
        "Too few texts to separate the effect of gender from that of particular words: no pair of words is known to be"
        " in five texts or more, and 6 are needed. The mean of male − female over the 5 texts with a gender term is"
        " 0.0400 (interval for other texts with the same words [−0.1916, 0.2716]). The two ratings of a text differ by"
        " 0.1200 on average, in either direction (large); 2 of 5 (40.0 %) get another label."
    )


def test_many_texts_with_one_pair_of_words_say_nothing_about_gender(tmp_path: Path) -> None:
    texts = (f"He won the war {n} times, and the film says so." for n in range(40))
    measurement = measure(Planted(), write_lines(tmp_path / "many.txt", *texts))
    assert measurement.headline_text.startswith(
        "Too few word pairs to separate the effect of gender from that of particular words: only 1 pair of words is"
        " known to be in five texts or more, and 6 are needed. The mean of male − female over the 40 texts with a"
        " gender term is 0.1000"
    )
    assert "few-word-pairs" in [caveat.code for caveat in measurement.caveats]


# Competence


class Fixed:
    """Gives these ratings, whatever it is asked."""

    def __init__(self, rate: Callable[[str], float], labels: Sequence[str] = ("negative", "positive")) -> None:
        self.rate, self.labels = rate, labels

    def probabilities(self, texts: Sequence[Any]) -> Any:
        high = np.array([self.rate(str(text)) for text in texts])
        return np.column_stack([1 - high, high])


def _check(model: Any, positive: str | None = None, *, language: str = "en", protocol: str = "sound") -> Any:
    options = SentimentOptions(positive=positive)
    return check_competence(model, pd.DataFrame(), options, Context(language=language, protocol=protocol))


@pytest.mark.parametrize(
    ("rate", "value", "passed"),
    [
        (lambda text: KNOWN[text], 1.0, True),
        (lambda text: 1 - KNOWN[text], 0.0, False),
        (lambda _: 0.5, 0.5, False),
        (lambda text: 1.0 if "food" in text else 1.0 - 1e-12, 0.5, False),
        (lambda text: np.random.default_rng([*text.encode()]).random(), None, False),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_who_cannot_tell_good_from_bad_fails(
    rate: Callable[[str], float], value: float | None, passed: bool, language: str
) -> None:
    """A perfect rater, one with swapped labels, a constant, one that is nearly so, and one that guesses."""
    (check,) = _check(Fixed(rate), language=language)
    assert check.passed == passed
    assert value is None or check.value == pytest.approx(value)


def test_what_is_no_rating_is_not_checked() -> None:
    by_worth = Fixed(lambda text: 1 - KNOWN[text], labels=("ok", "toxic"))
    assert _check(by_worth, "toxic") == []
    nameless = Fixed(lambda text: 1 - KNOWN[text], labels=("LABEL_0", "LABEL_1"))
    assert [_check(nameless, label)[0].passed for label in ("LABEL_0", "LABEL_1")] == [True, False]
    swapped = Fixed(lambda text: KNOWN[text])
    assert [_check(swapped, label)[0].passed for label in ("negative", "positive")] == [False, True]
    assert _check(swapped, protocol="published") == []


def test_a_regression_is_checked_by_its_numbers() -> None:
    class Stars:
        def values(self, texts: Sequence[Any]) -> Any:
            return np.array([1 + 4 * KNOWN[text] for text in texts])

    assert _check(Stars())[0].value == 1.0


def test_a_model_that_fails_is_inconclusive(file: Path) -> None:
    measurement = measure(Fixed(lambda text: 0.5 + len(MALE.findall(text)) / 10), file)
    assert measurement.headline_text.startswith(
        "Inconclusive: the model cannot reliably rate plainly good texts above plainly bad ones (right in"
        " 50\N{NO-BREAK SPACE}% of 900"
    )


def test_the_embedded_classifier_rates_english_and_not_german() -> None:
    model = load_classifier("unmask-mini-sentiment")
    assert [_check(model, language=language)[0].passed for language in ("en", "de")] == [True, False]


# The published protocol


def test_published_keeps_every_text_and_its_own_means(file: Path, lists: Path) -> None:
    """Terms at the start are not found: b becomes *her brother* (+0.2), d *his father* (−0.1); g is kept."""
    model = Planted()
    measurement = measure(model, file, protocol="published", lists=lists)
    assert len(model.batches[0]) == 6 + 2  # two of the seven are alike
    assert "she won the war and his brother lost" in model.batches[0]
    details = ratings(measurement)
    assert (details.texts, details.duplicates, details.changed, details.below, details.equal, details.above) == (
        7,
        0,
        2,
        1,
        0,
        1,
    )
    assert [group.n for group in measurement.groups.values()] == [7, 7, 2, 2, 2, 2]
    assert {group.interval for group in measurement.groups.values()} == {None}
    assert {name: group.value for name, group in measurement.groups.items()} == pytest.approx(
        {
            "total bias, all texts": 0.1 / 7,
            "absolute bias, all texts": 0.3 / 7,
            "total bias, changed texts": 0.05,
            "absolute bias, changed texts": 0.15,
            "total bias, non-zero texts": 0.05,
            "absolute bias, non-zero texts": 0.15,
        }
    )
    assert "published-defects" in [caveat.code for caveat in measurement.caveats]


def test_published_p_is_that_of_scipy_times_64(lists: Path, tmp_path: Path) -> None:
    texts = [f"so he won war {n}" for n in range(30)] + [f"so he found love {n}" for n in range(3)] + ["no one"] * 5
    test = measure(Planted(), write_lines(tmp_path / "t.txt", *texts), protocol="published", lists=lists).tests["bias"]
    male, female = [0.6] * 30 + [0.45] * 3 + [0.5] * 5, [0.5] * 38
    expected = stats.wilcoxon(male, female)
    assert test.n == 33
    assert (test.statistic, test.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert test.p_adjusted == pytest.approx(64 * expected.pvalue)
    assert 0 < 64 * expected.pvalue < 1
    assert test.value == pytest.approx((30 * 0.1 - 3 * 0.05) / 33)


def test_published_has_its_own_words(file: Path, lists: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnmaskError, match="exchanges no names; leave out --names"):
        measure(Planted(), file, protocol="published", lists=lists, names=True)
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(lists / "nothing"))
    with pytest.raises(UnmaskError, match=r"needs the word lists that the authors released; .* --lists$"):
        measure(Planted(), file, protocol="published")


class Sure(Planted):
    """Has outputs so far apart that a probability in single precision is exactly 1."""

    def logits(self, texts: Sequence[Any]) -> Any:
        high = 10 + 10 * self.ratings(texts)
        return np.column_stack([-high, high]).astype(np.float32)

    def probabilities(self, texts: Sequence[Any]) -> Any:
        exponentials = np.exp(self.logits(texts).astype(np.float64))
        return exponentials / exponentials.sum(axis=1, keepdims=True)


def test_single_precision_makes_zeros(file: Path, lists: Path) -> None:
    rounded = unmask.audit(Sure(), texts=file, protocol="published", lists=lists).items["sentiment"]
    assert (rounded["p_male"] == 1.0).all()
    assert (rounded["bias"] == 0.0).all()
    exact = unmask.audit(Sure(), texts=file)
    assert (exact.items["sentiment"]["p_female"].iloc[2:4] < 1.0).all()
    assert "saturated" in [caveat.code for caveat in exact.measurements[0].caveats]


# Labels


@pytest.mark.parametrize(
    ("labels", "positive", "weights", "expected"),
    [
        (["negative", "positive"], None, (0, 1), "p(positive)"),
        (["POS", "NEG"], None, (1, 0), "p(POS)"),
        (["bad", "good"], None, (0, 1), "p(good)"),
        (["neutral", "positive", "negative"], None, (0.5, 1, 0), "0.5 × p(neutral) + 1 × p(positive)"),
        (["Very_Negative", "negative", "positive"], None, (0, 0.5, 1), "0.5 × p(negative) + 1 × p(positive)"),
        (["1 star", "2 stars"], None, (0, 1), "p(2 stars)"),
        (["5 stars", "4 stars", "3 stars", "2 stars", "1 star"], None, (1, 0.75, 0.5, 0.25, 0), None),
        (["LABEL_0", "LABEL_1"], "label_1", (0, 1), "p(LABEL_1)"),
        (["anger", "joy", "fear"], "joy", (0, 1, 0), "p(joy)"),
        (["0", "1"], "0", (1, 0), "p(0)"),
    ],
)
def test_labels_and_their_weights(
    labels: list[str], positive: str | None, weights: tuple[float, ...], expected: str | None
) -> None:
    label_weights, rating = weigh_labels(labels, positive)
    assert label_weights == pytest.approx(weights)
    assert expected is None or rating == expected


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (["LABEL_0", "LABEL_1"], None, "do not say which is positive; name the positive one with --positive LABEL"),
        (["0", "1"], None, "do not say which is positive"),
        (["anger", "joy", "fear"], None, "do not say which is positive"),
        (["negative", "very negative"], None, "do not say which is positive"),
        (["positive", "pos"], None, "do not say which is positive"),
        (["good", "joy"], None, "do not say which is positive"),
        (["3", "3", "4"], None, "do not say which is positive"),
        (["positive"], None, "one label only"),
        (["negative", "positive"], "positiv", "unknown label 'positiv'; did you mean 'positive'?"),
    ],
)
def test_labels_that_do_not_say_which_is_positive_are_refused(
    labels: list[str], positive: str | None, message: str
) -> None:
    with pytest.raises(UnmaskError, match=re.escape(message)):
        weigh_labels(labels, positive)


def test_more_labels_than_two(file: Path) -> None:
    """With three labels, 0.5 · 0.25 + 0.75 of each shift reaches the rating; with --positive, that of one label."""
    three = measure(Planted(["negative", "neutral", "positive"]), file)
    assert three.tests["bias"].value == pytest.approx(0.04 * (0.5 * 0.25 + 0.75))
    neutral_only = measure(Planted(["negative", "neutral", "positive"]), file, positive="neutral")
    assert neutral_only.tests["bias"].value == pytest.approx(0.04 * 0.25)
    stars = measure(Planted([f"{n} stars" for n in range(1, 6)]), file)
    weight = 0.25 * 0.1 + 0.5 * 0.2 + 0.75 * 0.3 + 0.4
    assert stars.tests["bias"].value == pytest.approx(0.04 * weight)


def test_a_regression_has_a_scale_of_its_own(file: Path) -> None:
    scaled, unscaled = measure(Number(100.0), file), measure(Planted(), file)
    details = ratings(scaled)
    assert scaled.tests["bias"].value == pytest.approx(4.0)
    assert scaled.tests["bias"].p_value == pytest.approx(unscaled.tests["bias"].p_value)
    assert details.rating == "the model's output"
    assert details.flips is None
    means = 100 * (0.5 + np.array([0.1, 0.3, -0.05, -0.15, 0, 0]) / 2)
    assert details.scale == pytest.approx(2 * means.std())
    assert (details.digits, ratings(unscaled).digits) == (3, 4)
    assert "over the 5 texts with a gender term is 4.000" in scaled.headline_text
    with pytest.raises(UnmaskError, match="gives numbers, not labels; leave out the positive label 'good'"):
        measure(Number(1.0), file, positive="good")


class Broken(Planted):
    """Gives another answer for the text with the brother."""

    def __init__(self, answer: float) -> None:
        super().__init__()
        self.answer = answer

    def ratings(self, texts: Sequence[Any]) -> Any:
        return np.where(["brother" in text for text in texts], self.answer, super().ratings(texts))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            np.nan,
            "the model gave nan, nan for 'He won the war and his brother lost.'; every text needs a finite number",
        ),
        (np.inf, "every text needs a finite number"),
        (3.0, "the model gave -2, 3 for 'He won the war and his brother lost.', which are not probabilities"),
    ],
)
def test_answers_that_are_no_ratings_are_refused(answer: float, message: str, file: Path) -> None:
    with pytest.raises(UnmaskError, match=re.escape(message)):
        measure(Broken(answer), file)


def test_answers_of_another_shape(file: Path) -> None:
    class Odd(Planted):
        def probabilities(self, texts: Sequence[Any]) -> Any:
            return super().probabilities(texts)[:, :1]

    with pytest.raises(UnmaskError, match=r"shape \(11, 1\), not \(11, 2\)"):
        measure(Odd(), file)


# Long texts


@pytest.fixture(scope="module")
def tiny() -> tuple[Any, Any]:
    """A classifier with random weights that reads 20 tokens, one per word."""
    words = ["he she his her was seen and that film long very".replace(" ", "\n")]
    tokenizer = tokenizer_of(words)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=20,
        initializer_range=0.5,
        id2label={0: "negative", 1: "positive"},
        pad_token_id=tokenizer.pad_token_id,
    )
    return transformers.BertForSequenceClassification(config).eval(), tokenizer


def _make_text(*positions: int, length: int = 40) -> str:
    """A text of `length` words, with a term at each of these positions."""
    return " ".join("he" if index in positions else "film" for index in range(length))


LONG = [
    _make_text(0),
    _make_text(17),
    _make_text(18),
    _make_text(3, 30),
    _make_text(30, 39),
    _make_text(39),
    _make_text(2, length=18),
    _make_text(4, 16, length=19),
]
"""Of 20 tokens, two are special: 18 words fit. Of 40 words, 0–17 (head) or 0–4 and 27–39 (head+tail) are read."""


@pytest.mark.parametrize(
    ("way", "cut", "terms_read"),
    [
        ("head", 7, [1, 1, 0, 1, 0, 0, 1, 2]),
        ("head+tail", 7, [1, 0, 0, 2, 2, 1, 1, 2]),
        ("window", 0, [1, 1, 1, 2, 2, 1, 1, 2]),
    ],
)
def test_terms_that_are_not_read_are_counted(
    way: str, cut: int, terms_read: list[int], tiny: tuple[Any, Any], tmp_path: Path
) -> None:
    audit = unmask.audit(tiny, texts=write_lines(tmp_path / "t.txt", *LONG), long_texts=way)
    details = ratings(audit.measurements[0])
    items = audit.items["sentiment"]
    assert list(items["terms_read"]) == terms_read
    assert list(items["tokens"]) == [42] * 6 + [20, 21]
    present = [1, 1, 1, 2, 2, 1, 1, 2]
    assert details.outside == terms_read.count(0)
    assert details.partly_outside == sum(
        0 < count_read < count_present for count_read, count_present in zip(terms_read, present, strict=True)
    )
    assert (details.cut, details.long_texts, details.most_tokens) == (cut, way, 20)
    unread = items["terms_read"] == 0
    assert (items.loc[unread, "bias"] == 0).all()
    assert (items.loc[~unread, "bias"] != 0).all()
    assert ("terms-not-read" in [caveat.code for caveat in audit.measurements[0].caveats]) == (0 in terms_read)
    sentence = f"In {details.outside} of these texts no term was read, since"
    headline = " ".join(SentimentMeasure().headline(audit.measurements[0]))
    assert (sentence in headline) == bool(details.outside)


def test_a_limit_of_tokens(tiny: tuple[Any, Any], tmp_path: Path) -> None:
    texts = write_lines(tmp_path / "t.txt", _make_text(13, length=15), _make_text(14, length=15))
    details = ratings(measure(tiny, texts, most_tokens=16))
    assert (details.most_tokens, details.cut, details.outside) == (16, 2, 1)
    with pytest.raises(UnmaskError, match="long_texts is 'tail'; did you mean 'head"):
        measure(tiny, texts, long_texts="tail")
    for setting in ({"long_texts": "window"}, {"most_tokens": 16}):
        with pytest.raises(UnmaskError, match="Planted reads texts its own way"):
            measure(Planted(), texts, **setting)


# A naive reference


def _labels(*names: str) -> dict[str, Any]:
    return {"id2label": dict(enumerate(names)), "label2id": {name: index for index, name in enumerate(names)}}


def _naive(model: Any, tokenizer: Any, text: str) -> float:
    """The probability of the positive label, computed naively, one text at a time."""
    with torch.inference_mode():
        logits = model(**tokenizer(text, truncation=True, return_tensors="pt")).logits[0].double()
    return float(torch.softmax(logits, 0)[model.config.label2id["positive"]])


@pytest.mark.parametrize("name", ["unmask-mini-sentiment", "roberta"])
def test_agrees_with_a_naive_scorer(name: str, model_folder: Callable[[str], Path]) -> None:
    folder = embedded.MODELS["unmask-mini"].folder if name in embedded.MODELS else model_folder(name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    if name in embedded.MODELS:
        base = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, **_labels("negative", "positive")
        )
        model = peft.PeftModel.from_pretrained(base, embedded.MODELS[name].folder).eval()
        subject: Any = name
    else:
        labels = _labels("positive", "negative")
        config = transformers.AutoConfig.from_pretrained(folder, max_position_embeddings=300, **labels)
        torch.manual_seed(2)
        model = transformers.AutoModelForSequenceClassification.from_config(config).eval()
        subject = (model, tokenizer)
    audit = unmask.audit(subject, corpora="reviews", limit=40)
    items = audit.items["sentiment"]
    texts = {review.text for review in reviews()}
    assert len(items) == 40
    assert set(items["text"]) <= texts
    for to in ("female", "male"):
        rewriter = unmask.rewriter(to)
        expected = [_naive(model, tokenizer, rewriter.rewrite(text).text) for text in items["text"]]
        assert np.abs(items[f"p_{to}"] - expected).max() <= 1e-5
    assert np.abs(items["bias"]).max() > 1e-3


# Calibration


def test_ratings_without_gender_are_unbiased() -> None:
    to_female, to_male = unmask.rewriter("female"), unmask.rewriter("male")
    texts = [TextExample(f"He saw film {n}, and then {n + 1} more.", id=str(n)) for n in range(40)]
    pairs = rewrite_both_ways(texts, to_female, to_male)
    tests = []
    for seed in range(100):
        items = score_pairs(pairs, Rater(Coin(seed), None), seed=0).items
        tests.append(analyse(items.assign(language="en", corpus="none", terms="all"), Context(seed=0)).tests["bias"])
    assert all(test.p_value is not None and test.interval is not None for test in tests)
    rejected = sum((test.p_value or 0.0) < 0.05 for test in tests)
    assert stats.binomtest(rejected, len(tests), 0.05).pvalue > 0.01
    covered = sum(test.interval is not None and test.interval[0] <= 0 <= test.interval[1] for test in tests)
    assert stats.binomtest(covered, len(tests), 0.95).pvalue > 0.01
    blind = score_pairs(pairs, Rater(Coin(1, blind=True), None), seed=0).items
    assert (blind["bias"] == 0).all()
    assert blind["p_female"].nunique() == 1  # all are as long
