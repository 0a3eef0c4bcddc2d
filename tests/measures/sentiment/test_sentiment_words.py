"""Gender, or a few words? Also: several term sets at once, and cached ratings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from scipy import stats

import unmask
from opinions import rate_opinions
from toy_model import tokenizer_of
from unmask.lexicon.sentences import reviews
from unmask.measures.base import Context
from unmask.measures.sentiment import analysis, word_pairs
from unmask.measures.sentiment.data import Pair, rewrite_both_ways
from unmask.measures.sentiment.rater import CachedRater, Rater, identify_rater
from unmask.measures.sentiment.scoring import score_pairs, score_sets
from unmask.models.classifier import TransformersClassifier
from unmask.models.roles import View
from unmask.results import Estimate
from unmask.training.examples import TextExample


def versions(texts: Sequence[str], terms: str = "all") -> list[Pair]:
    examples = [TextExample(text, label="positive", id=str(index)) for index, text in enumerate(texts)]
    return rewrite_both_ways(examples, unmask.rewriter("female", terms=terms), unmask.rewriter("male", terms=terms))


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return versions([review.text for review in reviews()])


def estimate_over_words(items: pd.DataFrame) -> Estimate:
    """The primary test of these items."""
    changed = items[items["changed"]]
    return word_pairs.estimate_over_words(word_pairs.find_families(word_pairs.estimate_pairs(changed)), 0)


class ByWords:
    """Rates a text by the value of each of its words."""

    labels = ("negative", "positive")

    def __init__(self, worth: dict[str, float]) -> None:
        self.worth = worth
        self.rated_texts: list[str] = []

    def probabilities(self, texts: Sequence[Any]) -> Any:
        self.rated_texts += texts
        rows = [[word.strip(".,;:!?'\"").lower() for word in text.split()] for text in texts]
        high = 0.5 + np.array([sum(self.worth.get(word, 0.0) for word in row) for row in rows])
        high = rate_opinions(texts, high)
        return np.column_stack([1 - high, high])


def test_pairs_are_the_words_that_stand_against_each_other() -> None:
    pair, unchanged = versions(["She told his brother that the actress was a king.", "A film."])
    assert pair.term_pairs == ["he/she", "his/her", "brother/sister", "actor/actress", "king/queen"]
    assert pair.terms == ["she", "his", "brother", "actress", "king"]
    assert unchanged.term_pairs == []


def test_each_pair_gets_what_it_adds(pairs: list[Pair]) -> None:
    model = ByWords({"he": 0.01, "she": -0.01, "mother": 0.03, "man": -0.02})
    items = score_pairs(pairs, Rater(model, None), seed=0).items
    parts = word_pairs.estimate_pairs(items)
    biases = {part.name: part.bias or 0.0 for part in parts}
    assert all(part.interval and part.interval[0] <= (part.bias or 0.0) <= part.interval[1] for part in parts)
    assert biases["he/she"] == pytest.approx(0.02, abs=1e-3)
    assert biases["father/mother"] == pytest.approx(-0.03, abs=1e-3)
    assert biases["man/woman"] == pytest.approx(-0.02, abs=1e-3)
    assert biases["son/daughter"] == pytest.approx(0, abs=1e-3)
    test, families = estimate_over_words(items), word_pairs.find_families(parts)
    assert sum(len(family.names) for family in families) == len(biases)
    pronouns = next(family for family in families if "his/her" in family.names)
    assert pronouns.value == pytest.approx((biases["his/her"] + biases["him/her"]) / 2)
    expected = stats.ttest_1samp([family.value for family in families], 0)
    assert (test.n, test.statistic, test.p_value) == pytest.approx((48, expected.statistic, expected.pvalue))
    assert test.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert test.p_value is not None
    assert test.p_value > 0.1  # three words are not a gender


def test_a_preference_for_a_gender_is_found(pairs: list[Pair]) -> None:
    terms = {term for pair in pairs for term_pair in pair.term_pairs for term in term_pair.split("/")}
    male = {term_pair.split("/")[0] for pair in pairs for term_pair in pair.term_pairs}
    chance = np.random.default_rng(1)
    worth = {term: (0.01 if term in male else 0.0) + chance.normal(0, 0.004) for term in sorted(terms)}
    items = score_pairs(pairs, Rater(ByWords(worth), None), seed=0).items
    test = estimate_over_words(items)
    assert test.p_value is not None
    assert test.p_value < 0.001
    assert test.interval is not None
    assert test.interval[0] < 0.01 < test.interval[1]


def test_what_is_not_known_is_not_tested(pairs: list[Pair]) -> None:
    items = score_pairs(pairs, Rater(ByWords({"he": 0.1}), None), seed=0).items
    for unknown in (items.drop(columns="term_pairs"), items.head(3)):
        test = estimate_over_words(unknown)
        assert (test.n, test.value, test.p_value) == (0, None, None)
    few = score_pairs(versions([f"He saw {n} films." for n in range(9)]), Rater(ByWords({"he": 0.1}), None), seed=0)
    test = estimate_over_words(few.items)
    assert (test.n, test.p_value) == (1, None)
    assert test.value == pytest.approx(0.1)


def test_models_that_have_learned_nothing_do_not_favour_a_gender(pairs: list[Pair]) -> None:
    """The test over texts is significant in most of them: random weights make each prefer or avoid *he*."""
    tokenizer = tokenizer_of([text for pair in pairs for text in (pair.female.text, pair.male.text)])
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.3,
        id2label={0: "negative", 1: "positive"},
    )
    over_texts, over_words = [], []
    for seed in range(60):
        torch.manual_seed(seed)
        model = TransformersClassifier(transformers.BertForSequenceClassification(config), tokenizer)
        items = score_pairs(pairs, Rater(model, None), seed=0).items
        tests = analysis.analyse(items.assign(language="en", corpus="x", terms="all"), Context(seed=0)).tests
        over_texts.append(tests["bias"].p_value)
        over_words.append(tests["bias over words"].p_value)
    rejected = [float(np.mean([p is not None and p < 0.05 for p in values])) for values in (over_texts, over_words)]
    assert rejected[0] > 0.3
    assert rejected[1] <= 8 / 60  # 5 % of 60 is 3; more than 8 has a chance of 0.3 %


def test_the_headline_says_which(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    pd.DataFrame({"text": [review.text for review in reviews()]}).to_csv(file, index=False)
    some, odd = (
        unmask.audit(ByWords(worth), texts=file).measurements[0].headline_text
        for worth in ({"he": 0.02, "his": 0.02}, {"girl": 0.2, "king": 0.2})
    )
    assert some.startswith("On average, ratings hardly depend on gender: a male word")
    assert odd.startswith("No clear bias: a ")
    assert "over 48 pairs of words (95" in odd
    terms = {pair for text in versions([review.text for review in reviews()]) for pair in text.term_pairs}
    male = {pair.split("/")[0] for pair in terms}
    every = unmask.audit(ByWords(dict.fromkeys(sorted(male), 0.02)), texts=file).measurements[0]
    assert every.headline_text.startswith(
        "The model rates male versions higher: a male word in place of its female counterpart adds 0.0199"
    )
    assert "48 of 48 pairs lean towards the male word. That is a " in every.headline_text
    against = unmask.audit(ByWords(dict.fromkeys(sorted(male), -0.001)), texts=file).measurements[0]
    assert against.headline_text.startswith(
        "On average, ratings hardly depend on gender: a female word in place of its male counterpart adds 0.001"
    )
    assert "48 of 48 pairs lean towards the female word." in against.headline_text


def test_leaving_out_a_family_by_hand() -> None:
    families = [word_pairs.WordFamily((str(index),), value) for index, value in enumerate([1, 2, 3, 4, 5, 9])]
    assert word_pairs.leave_one_out(families) == pytest.approx((15 / 5, 23 / 5))
    assert word_pairs.leave_one_out(families[:5]) is None


@pytest.mark.parametrize(
    ("effects", "fewest", "most"), [((1.0, 0.0, 0.0), 0, 16), ((1.0, 1.0, 1.0), 0, 16), ((1.0, 0.0, 0.6), 150, 200)]
)
def test_random_effects_of_words(
    pairs: list[Pair], effects: tuple[float, float, float], fewest: int, most: int
) -> None:
    """Words that are liked at random, alone or with noise of texts, reject in 5 % of 200 (more than 16: 3 in 100).

    A common effect of .6 of their spread is found in most.
    """
    spread, noise, mean = effects
    design, families = build_design(pairs)
    rejected, draw = 0, np.random.default_rng(5)
    if noise:
        mean = 0.0
    for _ in range(200):
        values = draw.normal(mean, spread, families.max() + 1)[families]
        bias = design @ values + draw.normal(0, noise or 1e-9, len(design))
        rows = ["; ".join(pair.term_pairs) for pair in pairs]
        test = estimate_over_words(pd.DataFrame({"changed": True, "term_pairs": rows, "bias": bias}))
        rejected += (test.p_value or 1.0) < 0.05
    assert fewest <= rejected <= most


def build_design(pairs: list[Pair]) -> tuple[Any, Any]:
    """How often each pair of words occurs in each text, and the family of each pair."""
    names = sorted({name for pair in pairs for name in pair.term_pairs})
    design = np.array([[pair.term_pairs.count(name) for name in names] for pair in pairs], dtype=float)
    return design, np.array(word_pairs.group_pairs(names))


def test_several_sets_at_once_are_as_one_at_a_time() -> None:
    texts = [review.text for review in reviews()[:60]]
    sets = {terms: versions(texts, terms) for terms in ("pronouns", "family", "all")}
    worth = {"he": 0.01, "mother": 0.02, "king": -0.03}
    model = ByWords(worth)
    together = score_sets(sets, Rater(model, None), seed=3)
    rated_texts = model.rated_texts[:-64]
    assert len(rated_texts) == len(set(rated_texts))
    for terms, pairs in sets.items():
        alone = score_pairs(pairs, Rater(ByWords(worth), None), seed=3)
        pd.testing.assert_frame_equal(together[terms].items, alone.items)


def test_ratings_are_kept_and_used_again(tmp_path: Path) -> None:
    texts = [review.text for review in reviews()[:40]]
    first_model, cached_model, another_model = (ByWords({"he": 0.1}) for _ in range(3))
    rated = CachedRater(Rater(first_model, None), tmp_path, "one").rate(texts)
    second = CachedRater(Rater(cached_model, None), tmp_path, "one").rate(texts)
    assert (len(first_model.rated_texts), len(cached_model.rated_texts)) == (40, 0)
    assert np.array_equal(rated.ratings, second.ratings)
    assert rated.choices == second.choices
    CachedRater(Rater(another_model, None), tmp_path, "another").rate(texts)
    assert len(another_model.rated_texts) == 40
    damaged = sorted(tmp_path.glob("*.json"))
    for path in damaged:
        path.write_bytes(path.read_bytes()[:50])
    assert np.array_equal(CachedRater(Rater(cached_model, None), tmp_path, "one").rate(texts).ratings, rated.ratings)
    assert len(cached_model.rated_texts) == 40


def test_an_audit_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run rates only what the first had not, and gives the result of an uninterrupted run."""
    batch_sizes: list[int] = []
    rate = Rater.rate

    def count_and_rate(self: Any, texts: Sequence[str]) -> Any:
        batch_sizes.append(len(texts))
        if stop_at and len(batch_sizes) == stop_at:
            raise KeyboardInterrupt
        return rate(self, texts)

    monkeypatch.setattr(Rater, "rate", count_and_rate)
    monkeypatch.setattr(sys.modules["unmask.measures.sentiment.scoring"], "AT_ONCE", 10)
    settings: dict[str, Any] = {"corpora": "reviews", "limit": 40, "seed": 5, "workspace": tmp_path / "w"}
    stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        unmask.audit("unmask-mini-sentiment", **settings)
    assert len(list((tmp_path / "w").glob("*.json"))) == 2
    stop_at, before = 0, len(batch_sizes)
    second = unmask.audit("unmask-mini-sentiment", **settings)
    assert len(batch_sizes) - before == 4 - 2 + 2  # the two that are left, the noise floor, and plain opinions
    uninterrupted = unmask.audit("unmask-mini-sentiment", **(settings | {"workspace": None}))
    assert second.measurements == uninterrupted.measurements


def test_kept_ratings_are_of_the_same_model_and_way_of_reading(pairs: list[Pair]) -> None:
    """Whatever changes a rating changes the identity: labels, words, configuration, weights, how texts are read."""
    tokenizer = tokenizer_of([text for pair in pairs[:20] for text in (pair.female.text, pair.male.text)])
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}

    def identity(
        labels: tuple[str, str] = ("negative", "positive"),
        positive: str | None = None,
        *,
        seed: int = 0,
        **options: Any,
    ) -> str:
        config = transformers.BertConfig(
            vocab_size=len(tokenizer), id2label=dict(enumerate(labels)), **(small | options.pop("config", {}))
        )
        torch.manual_seed(seed)
        words = options.pop("tokenizer", tokenizer)
        model = TransformersClassifier(transformers.BertForSequenceClassification(config), words, **options)
        return identify_rater(model, Rater(model, positive))

    other_tokenizer = tokenizer_of([text for pair in pairs[20:] for text in (pair.female.text, pair.male.text)])
    identities = [
        identity(),
        identity(("positive", "negative")),
        identity(positive="negative"),
        identity(seed=1),
        identity(long_texts="window"),
        identity(most_tokens=32),
        identity(config={"layer_norm_eps": 1e-5}),
        identity(tokenizer=other_tokenizer),
    ]
    assert len(set(identities)) == len(identities)
    assert identity() == identities[0]


def test_pairs_that_share_a_word_are_one_family() -> None:
    pairs = ["he/she", "his/her", "him/her", "mr./mrs", "mr/ms", "son/daughter", "sons/daughters", "men/women"]
    assert word_pairs.group_pairs(pairs) == [0, 1, 1, 2, 2, 3, 3, 4]


def test_least_squares_and_its_errors_by_hand() -> None:
    """Against statsmodels' formulas: (XᵀX)⁻¹Xᵀy, and White's errors times n/(n − k)."""
    draw = np.random.default_rng(4)
    counts = draw.integers(0, 3, size=(30, 3))
    names = np.array(["he/she", "man/woman", "son/daughter"])
    rows = ["; ".join(np.repeat(names, row)) for row in counts]
    nonempty_rows = [bool(text) for text in rows]
    design = counts[nonempty_rows].astype(float)
    bias = design @ [0.02, -0.01, 0.03] + draw.normal(0, 0.01, len(design))
    frame = pd.DataFrame({"term_pairs": [text for text in rows if text], "bias": bias})
    inverse = np.linalg.inv(design.T @ design)
    values = inverse @ design.T @ bias
    residuals = bias - design @ values
    errors = np.sqrt(np.diag(inverse @ (design.T * residuals**2) @ design @ inverse) * len(bias) / (len(bias) - 3))
    parts = {part.name: part for part in word_pairs.estimate_pairs(frame)}
    for index, name in enumerate(names):
        assert parts[name].bias == pytest.approx(values[index])
        interval = parts[name].interval
        assert interval is not None
        assert (interval[1] - interval[0]) / 2 == pytest.approx(stats.t.isf(0.025, len(bias) - 3) * errors[index])


def test_rare_pairs_share_a_column_and_unread_texts_are_left_out() -> None:
    rows = ["he/she"] * 6 + ["he/she; duke/duchess", "he/she; earl/countess"]
    bias = [0.01] * 6 + [0.51, 0.51]
    (common,) = word_pairs.estimate_pairs(pd.DataFrame({"term_pairs": rows, "bias": bias}))
    assert (common.name, common.n) == ("he/she", 8)
    assert common.bias == pytest.approx(0.01)
    frame = pd.DataFrame(
        {"term_pairs": ["he/she; he/she"] * 12, "bias": [0.02] * 6 + [0.0] * 6, "terms_read": [2] * 6 + [0] * 6}
    )
    (part,) = word_pairs.estimate_pairs(frame)
    assert part.n == 6
    assert part.bias == pytest.approx(0.01)


def test_places_are_found_after_longer_words() -> None:
    """*he* becomes *she*: later positions move by a letter each time, and terms are found where they then are."""
    text = "He saw him and he saw him and he left."
    (pair,) = versions([text])

    class UpTo:
        labels = ("negative", "positive")
        long_texts, most_tokens = "head", 16

        def probabilities(self, texts: Sequence[Any]) -> Any:
            return np.full((len(texts), 2), 0.5)

        def views(self, texts: Sequence[str]) -> Any:
            end = pair.female.text.index("she left")  # in the female version, the last term begins where reading ends
            return [View(99, ((0, end if text == pair.female.text else 0),), (text.encode(),)) for text in texts]

    items = score_pairs([pair], Rater(UpTo(), None), seed=0).items
    assert items["terms_read"].tolist() == [4]
