"""Usefulness: masked words, stated gender and downstream accuracy, against naive scores and values by hand."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

import naive
from unmask.errors import UnmaskError
from unmask.lexicon import attributes, persons
from unmask.lexicon.sentences import agreement_templates, neutral_sentences
from unmask.measures import usefulness
from unmask.measures.usefulness import Sentences, divide_words
from unmask.models.loading import load_classifier, load_masked_lm
from unmask.models.roles import Classifier, MaskQuery
from unmask.rewriting import rewriter
from unmask.statistics import jackknife
from unmask.statistics.paired import matched_shares
from unmask.training.loop import News
from unmask.workflows.usefulness import DownstreamTask, FinetunedModel, compare_accuracy

NEUTRAL = neutral_sentences()


def _some(every: int) -> Sentences:
    return Sentences(NEUTRAL[::every], "some", "")


class ByFormula:
    """A user's own object: a word's log-probability is minus its length, or what a function returns."""

    def __init__(self, log_p: Callable[[MaskQuery], float] = lambda query: -float(len(query.word))) -> None:
        self.log_p = log_p

    def log_probability(self, queries: Sequence[MaskQuery]) -> np.ndarray:
        return np.array([self.log_p(query) for query in queries])


# The sentences


def test_the_neutral_sentences_say_nothing_of_gender() -> None:
    assert len(set(NEUTRAL)) == len(NEUTRAL) == 300
    rewriters = [
        rewriter("swap", names=True, quick=True),
        rewriter("neutral", quick=True),
        rewriter("remove", quick=True),
    ]
    for text in NEUTRAL:
        assert 8 <= len(text.split()) <= 20, text
        for gender_rewriter in rewriters:
            rewritten = gender_rewriter.rewrite(text)
            assert (rewritten.text, rewritten.changes, rewritten.left) == (text, (), ())


def test_the_neutral_sentences_name_none_of_the_professions() -> None:
    names = "|".join(re.escape(attribute.name) for attribute in attributes("en"))
    assert not re.findall(rf"\b(?:{names})s?\b", "\n".join(NEUTRAL), re.IGNORECASE)


def test_the_german_neutral_sentences_say_nothing_of_gender() -> None:
    german = neutral_sentences("de")
    assert len(set(german)) == len(german) == 30
    forms = {form.lower() for thing in attributes("de") for form in (thing.forms["male"], thing.forms["female"])}
    for text in german:
        assert 8 <= len(text.split()) <= 20, text
        rewritten = rewriter("swap", language="de", quick=True).rewrite(text)
        assert (rewritten.text, rewritten.changes) == (text, ())
        assert forms.isdisjoint(re.findall(r"\w+", text.lower()))


def test_own_text_is_read_without_the_sentences_that_mention_a_gender(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    texts = NEUTRAL[:25]
    file.write_text("\n".join([*texts, "She has left.", "Robert paid the bill.", "", texts[0]]))
    sentences = usefulness.load_sentences(file)
    assert (sentences.texts, sentences.name, sentences.left_out) == (texts, "mine.txt", 2)
    assert sentences.hash != usefulness.load_sentences().hash
    file.write_text("\n".join(["She has left.", *NEUTRAL[:19]]))
    with pytest.raises(UnmaskError, match=r"has 19 texts that mention no gender \(1 do\).*give 20 or more"):
        usefulness.load_sentences(file)


# Masked words


@pytest.mark.parametrize("family", ["bert-cased-in-pieces", "roberta", "xlm-roberta"])
def test_masked_words_agree_with_the_naive_scorer(family: str, loaded: Callable[[str], Any]) -> None:
    model = loaded(family)
    texts = Sentences([NEUTRAL[index] for index in (5, 100, 240)], "three", "")
    items = usefulness.score_words(model, texts, seed=3)
    rows = {(row.sentence, row.place): row for row in items.itertuples()}
    count = 0
    for text in texts.texts:
        ids = model.tokenizer(text)["input_ids"]
        for group in divide_words(text, 3):
            positions = {span: naive.pieces_at(model.tokenizer, text, span) for span in group}
            for span, target in positions.items():
                hidden = [
                    position
                    for other_span, other_positions in positions.items()
                    if other_span != span
                    for position in other_positions
                ]
                row = rows[text, span[0]]
                loss = -naive.chain(model.model, model.tokenizer, ids, target, hidden)
                assert row.loss == pytest.approx(loss, abs=1e-5)
                assert (row.word, row.pieces) == (text[slice(*span)], len(target))
                count += 1
    assert count == len(items) == sum(len(text.split()) for text in texts.texts)
    assert items["pieces"].max() > 1


@pytest.mark.parametrize(("family", "piece"), [("bert-uncased", "the"), ("bert-cased-in-pieces", "##e")])
def test_a_word_is_right_if_each_piece_is_the_likeliest(family: str, piece: str, loaded: Callable[[str], Any]) -> None:
    model = loaded(family)
    with torch.no_grad():
        model.model.cls.predictions.bias[model.tokenizer.convert_tokens_to_ids(piece)] += 1000  # it says nothing else
    items = usefulness.score_words(model, _some(40), seed=1)
    pieces = [model.tokenizer.tokenize(word) for word in items["word"]]
    assert list(items["right"]) == [word_pieces == [piece] for word_pieces in pieces]
    assert any(piece in word_pieces for word_pieces in pieces)


def test_every_word_is_masked_once_with_about_15_per_cent_of_its_sentence() -> None:
    for text in NEUTRAL[::7]:
        divided = divide_words(text, 1)
        words = [text[slice(*span)] for group in divided for span in group]
        assert sorted(words) == sorted(re.findall(r"[\w-]+", text))
        sizes = [len(group) for group in divided]
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) <= max(1, round(0.15 * len(words)))
    assert divide_words(NEUTRAL[0], 1) == divide_words(NEUTRAL[0], 1) != divide_words(NEUTRAL[0], 2)
    assert divide_words("—", 1) == []


def test_words_that_a_tokenizer_does_not_know_are_not_asked(loaded: Callable[[str], Any]) -> None:
    text = "Der Preis beträgt 7 Δραχμές und the café is closed."
    items = usefulness.score_words(loaded("bert-cased-in-pieces"), Sentences([text], "one", ""), seed=1)
    assert list(items["word"]) == ["Der", "Preis", "beträgt", "und", "the", "is", "closed"]
    with pytest.raises(UnmaskError, match="nothing has no words that the model knows"):
        usefulness.score_words(loaded("bert-cased-in-pieces"), Sentences(["7 …"], "nothing", ""), seed=1)


def test_an_object_without_choices_has_a_loss_but_no_accuracy() -> None:
    calls: list[tuple[int, int]] = []
    items = usefulness.score_words(
        ByFormula(), _some(3), seed=1, progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(64, 100), (100, 100)]
    assert list(items["loss"]) == [len(word) for word in items["word"]]
    pd.testing.assert_frame_equal(items, usefulness.score_words(ByFormula(), _some(3), seed=1))
    figures = usefulness.compare_words(items, items)
    assert list(figures) == ["loss"]
    assert figures["loss"].before == items["loss"].mean()
    assert (figures["loss"].change, figures["loss"].interval, figures["loss"].p_value) == (0, (0, 0), 1)
    with pytest.raises(UnmaskError, match="every query needs a finite number"):
        usefulness.score_words(ByFormula(lambda _: float("nan")), _some(100), seed=1)


def _items(losses: Sequence[float], pieces: Sequence[int], right: Sequence[bool]) -> pd.DataFrame:
    frame = pd.DataFrame({"sentence": list("aaabbc"), "place": [0, 1, 2, 0, 1, 0], "word": "w", "pieces": pieces})
    return frame.assign(loss=losses, right=pd.array(right, dtype="boolean"))


def test_the_comparison_is_that_worked_by_hand() -> None:
    before = _items([1, 2, 3, 4, 5, 6], [1, 1, 1, 1, 1, 1], [True, False, False, True, True, False])
    after = _items([2, 4, 6, 8, 11, 14], [1, 1, 1, 1, 1, 1], [True, True, False, True, True, True])
    figures = usefulness.compare_words(before, after)  # changes 1, 2, 3 | 4, 6 | 8: see the test of clustered.mean
    loss = figures["loss"]
    assert (loss.before, loss.after, loss.change) == pytest.approx((3.5, 7.5, 4))
    assert loss.p_value == pytest.approx(0.120117, abs=1e-6)
    accuracy = figures["accuracy"]
    assert (accuracy.before, accuracy.after, accuracy.change) == pytest.approx((1 / 2, 5 / 6, 1 / 3))


def test_a_loss_is_per_piece_or_per_word_where_pieces_differ() -> None:
    right = [True] * 6
    before, after = _items([2] * 6, [2, 1, 1, 1, 1, 2], right), _items([4] * 6, [2, 1, 1, 1, 1, 2], right)
    assert usefulness.compare_words(before, after)["loss"].before == pytest.approx(12 / 8)
    unsplit = _items([4] * 6, [1, 1, 1, 1, 1, 1], right)
    assert usefulness.compare_words(before, unsplit)["loss"].before == pytest.approx(12 / 6)
    with pytest.raises(UnmaskError, match="no scored word in common"):
        usefulness.compare_words(before, unsplit.assign(sentence="z", place=range(6)))


# Stated gender


def _pronoun(query: MaskQuery) -> str:
    return "male" if query.word in ("he", "him", "his", "himself") else "female"


def test_every_sentence_states_one_gender_and_has_one_pronoun() -> None:
    items = usefulness.score_stated_gender(ByFormula())
    assert len(items) == len(agreement_templates()) * len(persons("en", "persons_stated")) == 560
    swap = rewriter("swap", quick=True)
    halves = {
        gender: frame.sort_values(["template", "pair"])["sentence"].tolist()
        for gender, frame in items.groupby("gender")
    }
    assert [swap.rewrite(text).text for text in halves["female"]] == halves["male"]


def test_a_model_that_always_says_he_is_right_half_of_the_time() -> None:
    always = usefulness.score_stated_gender(ByFormula(lambda query: -1.0 if _pronoun(query) == "male" else -3.0))
    assert always["right"].mean() == 0.5
    assert always["log_odds"].mean() == pytest.approx(0)
    female = {person.phrase.split()[-1] for person in persons("en", "persons_stated") if person.gender == "female"}

    def knows(query: MaskQuery) -> float:
        stated = "female" if female & set(re.findall(r"\w+", query.text)) else "male"
        return -0.5 if stated == _pronoun(query) else -2.0

    good = usefulness.score_stated_gender(ByFormula(knows))
    figures = usefulness.compare_stated_gender(good, always)
    accuracy, log_odds = figures["accuracy"], figures["log_odds"]
    assert (accuracy.before, accuracy.after, accuracy.change) == (1, 0.5, -0.5)
    assert (log_odds.before, log_odds.change) == pytest.approx((1.5, -1.5))
    with pytest.raises(UnmaskError, match="not scored on the same sentences"):
        usefulness.compare_stated_gender(good, always[1:])


def test_a_comparison_of_pronouns_holds_for_other_templates_and_other_persons() -> None:
    items = usefulness.score_stated_gender(ByFormula())
    draw = np.random.default_rng(1)
    change = {pair: draw.normal() for pair in items["pair"].unique()}
    after = items.assign(log_odds=items["log_odds"] + items["pair"].map(change))
    figure = usefulness.compare_stated_gender(items, after)["log_odds"]
    expected = stats.ttest_1samp(list(change.values()), 0)  # templates agree, so all is as in a t test over pairs
    assert figure.p_value == pytest.approx(expected.pvalue)
    assert figure.interval == pytest.approx(tuple(expected.confidence_interval()))


# A real model


def test_a_model_that_has_forgotten_is_found_out() -> None:
    """The embedded model can do it; with noise in its weights it does clearly less well."""
    able: Any = load_masked_lm("unmask-mini")
    noisy = copy.copy(able)
    noisy.model = copy.deepcopy(able.model)
    torch.manual_seed(1)
    with torch.no_grad():
        for weights in noisy.model.parameters():
            if weights.dim() > 1:
                weights.add_(0.5 * weights.std() * torch.randn_like(weights))
    texts = _some(25)
    words = usefulness.compare_words(*(usefulness.score_words(model, texts, seed=1) for model in (able, noisy)))
    assert words["loss"].before < 3.5
    assert words["accuracy"].before > 0.3
    for figure, sign in ((words["loss"], 1), (words["accuracy"], -1)):
        assert figure.interval is not None
        assert min(sign * bound for bound in figure.interval) > 0
    stated = usefulness.compare_stated_gender(*(usefulness.score_stated_gender(model) for model in (able, noisy)))
    assert stated["accuracy"].before > 0.9
    assert stated["log_odds"].interval is not None
    assert stated["log_odds"].interval[1] < 0


# Statistics


def test_a_clustered_mean_is_that_worked_by_hand() -> None:
    # mean 4; sums of deviations −6, 2, 4; V = 3/2 · 56 / 6² = 7/3; t = 4/√(7/3); p = 1 − t/√(2 + t²) with 2 df
    estimate = jackknife.clustered_mean([1, 2, 3, 4, 6, 8], list("aaabbc"))
    assert (estimate.value, estimate.df) == (4, 2)
    assert estimate.standard_error == pytest.approx((7 / 3) ** 0.5)
    assert estimate.p_value == pytest.approx(0.120117, abs=1e-6)
    assert estimate.interval == pytest.approx((4 - 4.302653 * (7 / 3) ** 0.5, 4 + 4.302653 * (7 / 3) ** 0.5))


def test_clusters_of_one_are_a_t_test_and_weights_are_repetitions() -> None:
    values = np.random.default_rng(2).normal(0.3, 1, 12)
    estimate, expected = jackknife.clustered_mean(values, range(12)), stats.ttest_1samp(values, 0)
    assert (estimate.statistic, estimate.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    weights = np.arange(12) % 3 + 1
    clusters = np.arange(12) // 2
    repeated = jackknife.clustered_mean(np.repeat(values, weights), np.repeat(clusters, weights))
    weighted = jackknife.clustered_mean(values, clusters, weights=weights)
    assert weighted.interval == pytest.approx(repeated.interval)
    assert weighted.value == pytest.approx(np.average(values, weights=weights))


def test_a_clustered_mean_without_variation_or_values_has_a_defined_answer() -> None:
    assert jackknife.clustered_mean([], []).value is None
    assert jackknife.clustered_mean([1.0, float("nan")], [1, 2]).value is None
    single_cluster = jackknife.clustered_mean([1.0, 2.0], [1, 1])
    assert (single_cluster.value, single_cluster.interval, single_cluster.p_value) == (1.5, None, None)
    for value, p in ((0.0, 1.0), (0.1, 0.0)):
        estimate = jackknife.clustered_mean([value] * 9, list("aaabbbccc"))
        assert estimate.value == pytest.approx(value)
        assert (estimate.interval, estimate.p_value) == ((estimate.value, estimate.value), p)


def test_the_clustered_test_is_calibrated() -> None:
    """Sentences of 1 to 20 words that share their difficulty: without an effect, a 5 % test rejects about 5 %."""
    draw = np.random.default_rng(3)
    rejected = 0
    for _ in range(1000):
        cluster = np.repeat(np.arange(30), draw.integers(1, 20, 30))
        p = jackknife.clustered_mean(draw.normal(size=30)[cluster] + draw.normal(size=cluster.size), cluster).p_value
        rejected += p is not None and p < 0.05
    assert 35 <= rejected <= 75


def test_matched_shares_are_those_worked_by_hand() -> None:
    before, after = [True] * 3 + [False] * 7, [True] * 2 + [False] + [True] * 6 + [False]
    shares = matched_shares(before, after)  # 1 lost, 6 gained: p = 2 · (1 + 7) / 2⁷; 5/12 ± 1.96 · √(8 − 25/12) / 12
    assert shares is not None
    assert (shares.n, shares.lost, shares.gained) == (10, 1, 6)
    assert (shares.before, shares.after, shares.change, shares.p_value) == pytest.approx((0.3, 0.8, 0.5, 0.125))
    assert shares.interval == pytest.approx((0.019379, 0.813954), abs=1e-5)


def test_examples_that_are_half_right_count_half() -> None:
    before, after = [1, 1, 0.5, 0.5, 0, 0, 0, 0], [0.5, 1, 0, 1, 0.5, 1, 1, 0]
    shares = matched_shares(before, after)  # 2 lost, 4 gained: 2/10 ± 1.96 · √(2 + 4/4 + 1 − 4/10) / 10
    assert shares is not None
    assert (shares.lost, shares.gained) == (2, 4)
    assert shares.p_value == pytest.approx(44 / 64)
    assert shares.change == shares.after - shares.before == 0.25
    assert shares.interval == pytest.approx((0.2 - 0.37188, 0.2 + 0.37188), abs=1e-4)


def test_matched_shares_that_agree_have_an_interval_and_none_have_none() -> None:
    shares = matched_shares([True, False], [True, False])
    assert shares is not None
    assert (shares.change, shares.p_value) == (0, 1)
    assert shares.interval == pytest.approx((-1.959964 / 4, 1.959964 / 4))
    assert matched_shares([], []) is None
    with pytest.raises(ValueError, match="2 answers before and 1 after"):
        matched_shares([True, False], [True])


# DownstreamTask


@pytest.fixture
def task(tmp_path: Path) -> DownstreamTask:
    """Texts whose label follows from one word."""
    people = {"good": ("mother", "sister", "aunt"), "bad": ("father", "brother", "uncle")}
    for name, jobs in (("train", ("mason", "plumber", "roofer", "secretary")), ("test", ("paralegal", "carpenter"))):
        rows = [
            {"text": f"My {person} is a {job}.", "label": label}
            for label, persons in people.items()
            for person in persons
            for job in jobs
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return DownstreamTask(
        task="sentiment",
        train=tmp_path / "train.jsonl",
        test=tmp_path / "test.jsonl",
        held_out=0.2,
        epochs=2,
        learning_rate=2e-3,
        batch_size=8,
        warmup=0.1,
    )


def test_models_are_trained_alike_and_compared_on_the_same_examples(
    model_folder: Callable[[str], Path], task: DownstreamTask, tmp_path: Path
) -> None:
    before, after = (
        FinetunedModel(name, str(model_folder(family)), family)
        for name, family in (("before", "bert-uncased"), ("../after", "distilbert"))
    )
    news: list[News] = []
    (result,), _ = compare_accuracy(task, [before, after], folder=tmp_path / "trained", watch=news.append)
    assert (result.what, result.after, result.data, result.n) == ("sentiment", "../after", "test.jsonl", 12)
    accuracy = result.figures["accuracy"]
    assert task.test is not None
    rows = [json.loads(line) for line in task.test.read_text().splitlines()]
    folders = sorted((tmp_path / "trained").iterdir())
    assert [folder.name.rpartition("-")[0] for folder in folders] == ["sentiment-after", "sentiment-before"]
    for folder, share in zip(folders, (accuracy.after, accuracy.before), strict=True):
        model = load_classifier(str(folder))
        assert isinstance(model, Classifier)
        p = model.probabilities([row["text"] for row in rows])
        right = [model.labels[index] == row["label"] for index, row in zip(p.argmax(axis=1), rows, strict=True)]
        assert share == pytest.approx(np.mean(right))
        assert json.loads((folder / "metrics.json").read_text())["settings"]["seed"] == task.seed
    assert accuracy.interval is not None
    assert news

    news.clear()
    messages: list[str] = []
    repeated, _ = compare_accuracy(
        task, [before, after], folder=tmp_path / "trained", watch=news.append, say=messages.append
    )
    assert repeated == [result]
    assert not news
    assert len(messages) == 2
    assert all("trained already" in line for line in messages)
    shorter_task = task.replace(epochs=1)
    compare_accuracy(shorter_task, [before], folder=tmp_path / "trained")
    compare_accuracy(shorter_task, [replace(before, weight_hash="changed")], folder=tmp_path / "trained")
    assert len(list((tmp_path / "trained").iterdir())) == 4


def test_a_task_without_test_examples_or_a_name_is_refused(task: DownstreamTask, tmp_path: Path) -> None:
    subject = FinetunedModel("a", "unmask-mini", "")
    with pytest.raises(UnmaskError, match=r"train\.jsonl comes without test examples; give a file of them with --test"):
        compare_accuracy(task.replace(test=None), [subject], folder=tmp_path)
    with pytest.raises(UnmaskError, match="unknown task 'mlm'"):
        compare_accuracy(task.replace(task="mlm"), [subject], folder=tmp_path)
