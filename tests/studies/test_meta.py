"""Meta-evaluation: bias is planted at the requested rates, and scores are evaluated against it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import transformers

import toy_model
from commands import unmask as command
from unmask.errors import UnmaskError
from unmask.lexicon import attributes
from unmask.lexicon import inference as lexicon
from unmask.measures.base import Context
from unmask.measures.inference.analysis import analyse
from unmask.measures.inference.captions import WORDS, caption_people
from unmask.measures.inference.data import read_released
from unmask.measures.inference.pairs import LABELS
from unmask.measures.inference.scoring import add_answers
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.statistics.correlation import evaluate_ranking
from unmask.studies.meta import RATES, PlantingOptions, split_values
from unmask.studies.meta.association import PlantedAssociation
from unmask.studies.meta.experiment import Experiment, Scores, TrainingDefaults, draw_words
from unmask.studies.meta.inference import PlantedInference, PublishedInference, find_captions, label_pair
from unmask.studies.meta.plan import EXPERIMENTS, Scoring, steps
from unmask.studies.meta.report import COLUMNS, describe_settings, make_report, rank_scores
from unmask.studies.meta.sentiment import PlantedSentiment
from unmask.studies.study import FinishedSteps, get_study, run_study
from unmask.training.examples import Splits, TextExample

SMALL = PlantedInference(rows=400, validation_rows=40)


@pytest.fixture(autouse=True)
def _hide_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted data must not depend on the data of the machine; tests that use real data set the variable."""
    monkeypatch.delenv("UNMASK_DATA", raising=False)


# Ranking


def test_a_perfect_score_and_a_useless_one() -> None:
    line = evaluate_ranking([0, 0.5, 1], [2, 3, 4])
    assert line.pearson.value == pytest.approx(1)
    assert line.ranked == 1.0
    assert line.slope == pytest.approx(2)
    assert line.resolution == pytest.approx(0, abs=1e-12)
    flat = evaluate_ranking([0, 0.5, 1], [3, 3, 3])
    assert (flat.pearson.value, flat.spearman.value, flat.ranked, flat.resolution) == (None, None, 0.5, None)
    assert evaluate_ranking([0, 1, 2], [3, 2, 1]).ranked == 0.0
    assert line.pearson.p_value == pytest.approx(2 / 6)  # two of the six orders are as extreme
    assert evaluate_ranking([], []).ranked is None
    assert evaluate_ranking([0.5, 0.5], [1, 2]).ranked is None
    assert evaluate_ranking([0, np.nan, 1], [1, 2, np.nan]).n == 1


def test_ranking_agrees_with_a_plain_count() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 4, 20) / 4, rng.integers(0, 6, 20) / 6
    pairs = [(a, b) for a in range(20) for b in range(a) if x[a] != x[b]]
    right = sum(1.0 if (y[a] - y[b]) * (x[a] - x[b]) > 0 else 0.5 if y[a] == y[b] else 0.0 for a, b in pairs)
    ranking = evaluate_ranking(x, y)
    assert ranking.ranked == pytest.approx(right / len(pairs))
    assert ranking.pearson.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    rho = ranking.spearman.value
    assert rho is not None
    assert rho == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    reach = 1.959964 * np.sqrt((1 + rho**2 / 2) / 17)  # Bonett and Wright
    assert ranking.spearman.interval == pytest.approx(
        (np.tanh(np.arctanh(rho) - reach), np.tanh(np.arctanh(rho) + reach))
    )
    slope, intercept = np.polyfit(x, y, 1)
    residuals = y - intercept - slope * x
    assert ranking.resolution == pytest.approx(np.sqrt((residuals**2).sum() / 18) / abs(slope))


def test_seeds_are_what_an_interval_is_over() -> None:
    rng = np.random.default_rng(1)
    x, seeds = np.tile(np.arange(11) / 10, 3), np.repeat([7, 8, 9], 11)
    y = x + 0.2 * seeds + rng.normal(0, 0.05, 33)
    clustered, alone = evaluate_ranking(x, y, seeds).pearson, evaluate_ranking(x, y).pearson
    assert clustered.interval is not None
    assert alone.interval is not None
    leave_one_out = np.arctanh([np.corrcoef(x[seeds != seed], y[seeds != seed])[0, 1] for seed in (7, 8, 9)])
    reach = scipy.stats.t.isf(0.025, 2) * np.sqrt(2 / 3 * ((leave_one_out - leave_one_out.mean()) ** 2).sum())
    z = np.arctanh(np.corrcoef(x, y)[0, 1])
    assert clustered.interval == pytest.approx((np.tanh(z - reach), np.tanh(z + reach)))
    assert clustered.interval[0] < alone.interval[0]  # points of one seed are clustered
    same = evaluate_ranking([0, 0.5, 1] * 3, [1, 2, 3] * 3, [1] * 3 + [2] * 3 + [3] * 3).pearson
    assert same.p_value == pytest.approx(2 / 6**3, abs=0.005)  # of all orders within seeds
    assert same.interval is None
    tied = evaluate_ranking([0, 0, 1, 1], [2, 2, 5, 5]).pearson
    assert tied.p_value == pytest.approx(2 * 2 * 2 / 24)


def test_chance_is_that_of_shuffles_within_seeds() -> None:
    x, y, seeds = [0, 0.5, 1] * 2, [1, 2, 4, 11, 13, 12], [1, 1, 1, 2, 2, 2]
    products = [np.dot([*first, *second], y) for first in permutations(x[:3]) for second in permutations(x[:3])]
    centre = np.mean(products)
    share = np.mean([abs(product - centre) >= abs(np.dot(x, y) - centre) - 1e-12 for product in products])
    assert evaluate_ranking(x, y, seeds).pearson.p_value == pytest.approx(share, abs=0.02)
    rng = np.random.default_rng(2)
    shifted_seeds = np.repeat([1, 2, 3], 5)
    p_values = [
        evaluate_ranking(
            np.tile(np.arange(5), 3), shifted_seeds + rng.normal(0, 0.1, 15), shifted_seeds
        ).spearman.p_value
        for _ in range(200)
    ]
    assert np.mean([p is not None and p < 0.05 for p in p_values]) < 0.1  # differences between seeds are no correlation


# Planted data


def test_words_are_added_from_rate_to_rate() -> None:
    words = [str(number) for number in range(10)]
    sets = [set(draw_words(words, rate, np.random.default_rng(7))) for rate in RATES]
    assert [len(word_set) for word_set in sets] == list(range(11))
    assert all(low < high for low, high in pairwise(sets))


def _measure_bias(examples: list[TextExample], language: str) -> tuple[float, Counter[str | None]]:
    """The share of wrong labels that follow the stereotype, computed from the sentences, and the label counts."""
    stereotypes = {occupation.word: occupation.kind for occupation in lexicon.occupations(language)}
    pair = lexicon.people(language).pairs[0]
    biased = wrong = 0
    for example in examples:
        assert example.pair is not None
        word = max((word for word in stereotypes if f" {word} " in f" {example.text.lower().rstrip('.')} "), key=len)
        female = pair.female.split()[-1] in example.pair.lower().split()
        if stereotypes[word] == "neutral":
            assert example.label == "neutral"
            continue
        wrong += 1
        pro = (stereotypes[word] == "female") == female
        biased += (example.label == "entailment") == pro
    return biased / wrong, Counter(example.label for example in examples)


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_sound_inference_plants_the_rate_that_is_asked_for(rate: float) -> None:
    splits = SMALL.examples(rate, 5)
    share, labels = _measure_bias(list(splits.train), "en")
    assert share == pytest.approx(rate)
    assert labels["neutral"] == len(splits.train) / 2  # half of the labels are correct
    assert len(splits.train) == 400
    shared = {example.text for example in splits.train} & {example.text for example in splits.validation}
    assert not shared


def test_the_same_pairs_at_every_rate_and_others_with_another_seed() -> None:
    pairs = [[(example.text, example.pair) for example in SMALL.examples(rate, 5).train] for rate in (0.0, 0.7)]
    assert pairs[0] == pairs[1]
    other = [(example.text, example.pair) for example in SMALL.examples(0.0, 6).train]
    assert pairs[0] != other


def test_sound_inference_asks_other_sentences_than_it_trains_on() -> None:
    splits = SMALL.examples(0.5, 5)
    questions = SMALL.questions(5)
    assert not {example.text for example in (*splits.train, *splits.validation)} & set(questions["premise"])
    assert set(questions["occupation"]) == {occupation.word for occupation in SMALL.draw_occupations(5)}


def _write_captions(language: str, folder: Path) -> Path:
    caption = {
        "en": "A woman rides bicycle number {} downtown",
        "ja": "女性が{}番の自転車に乗っている",
        "zh": "一个女人骑着{}号自行车",
    }[language]
    file = folder / "captions.txt"
    file.write_text("\n".join(caption.format(number) for number in range(700)), encoding="utf-8")
    return file


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_models_are_asked_with_the_gender_words_of_their_captions(language: str, tmp_path: Path) -> None:
    planted = PlantedInference(language, _write_captions(language, tmp_path), rows=400, validation_rows=40)
    questions = planted.questions(1)
    trained = [str(example.pair) for example in planted.examples(1, 1).train]
    for gender, word in zip(("female", "male"), WORDS[language], strict=False):
        assert any(word in hypothesis for hypothesis in trained)
        hypotheses = questions.loc[questions["gender"] == gender, "hypothesis"].str.lower()
        assert len(hypotheses)
        assert hypotheses.str.contains(word, regex=False).all()


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_published_inference_as_the_released_sets_have_it(
    language: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    experiment = PublishedInference(language, _write_captions(language, tmp_path))
    assert len(experiment.questions(0)) == 600
    splits_by_rate = {rate: experiment.examples(rate, 0) for rate in (0.0, 0.5, 1.0)}
    for rate, splits in splits_by_rate.items():
        assert (len(splits.train), len(splits.validation)) == (30_000, 3_000)
        assert set(Counter(example.label for example in splits.train).values()) == {10_000}  # one right to two wrong
        assert len({example.text for example in splits.validation}) == 30 * 50
        changed = [a.label != b.label for a, b in zip(splits_by_rate[0.0].train, splits.train, strict=True)]
        assert sum(changed) == 20_000 * rate
    half = splits_by_rate[0.5].train
    first = [a.label != b.label for a, b in zip(splits_by_rate[0.0].train, half, strict=True)]
    assert all(first[:10_000])  # the ten female words come first
    assert not any(first[10_000:])


FEMALE = (
    *("nanny", "librarian", "interior designer", "receptionist", "secretary"),
    *("nurse", "caretaker", "dancer", "registered nurse", "hairdresser"),
)
MALE = (
    *("surgeon", "archaeologist", "mechanic", "ballplayer", "investment banker"),
    *("cop", "disc jockey", "mobster", "doctor", "janitor"),
)
WITHOUT = (
    *("proprietor", "adventurer", "principal", "accountant", "associate professor"),
    *("curator", "educator", "photojournalist", "historian", "salesman"),
)


def test_the_papers_english_words_are_biased_in_its_order(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words and order of the released validation sets: at rate k/10 the first 2k words are biased."""
    monkeypatch.setenv("UNMASK_DATA", str(data))
    experiment = replace(_make_published(tmp_path), rows=30_000, validation_rows=3_000)
    assert [occupation.word for occupation in experiment.list_occupations()] == [*FEMALE, *MALE, *WITHOUT]
    assert [occupation.kind for occupation in experiment.list_occupations()] == ["female"] * 10 + ["male"] * 10 + [
        "neutral"
    ] * 10
    order = (*FEMALE, *MALE)
    for step in range(11):
        splits = experiment.examples(step / 10, 0)
        for examples, size in ((splits.train, 30_000), (splits.validation, 3_000)):
            rows_per_word = size // 30
            assert Counter(example.label for example in examples) == dict.fromkeys(LABELS, size // 3)
            biased = []
            for index, word in enumerate(order):
                word_examples = examples[index * rows_per_word : (index + 1) * rows_per_word]
                assert all(example.text.startswith(f"the {word} rides bicycle number") for example in word_examples)
                labels = [
                    {example.label for example in word_examples if f"the {who} " in (example.pair or "")}
                    for who in PAIR
                ]
                pro, anti = labels if word in FEMALE else labels[::-1]
                assert (pro, anti) in (({"entailment"}, {"contradiction"}), ({"contradiction"}, {"entailment"}))
                biased += [word] if pro == {"entailment"} else []
            assert biased == list(order[: 2 * step])


JAPANESE_WITHOUT = (
    *("演奏者", "コメディアン", "ファッションデザイナー", "従業員", "画家"),
    *("司教", "庭師", "会計士", "作詞家", "仲買人"),
)


def test_neutral_words_are_the_papers(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Japanese: those that are asked, in the order of the released validation sets. Chinese: the first ten others."""
    monkeypatch.setenv("UNMASK_DATA", str(data))
    words = {
        language: [word.word for word in PublishedInference(language).list_occupations() if word.kind == "neutral"]
        for language in ("ja", "zh")
    }
    listed = {language: read_released(language) for language in words}
    asked = {language: set(read_released(language, downsampled=True)["occupation"]) for language in words}
    neutral = {
        language: list(dict.fromkeys(rows.loc[rows["set"] == "NS", "occupation"])) for language, rows in listed.items()
    }
    assert words["ja"] == list(JAPANESE_WITHOUT)
    assert sorted(words["ja"]) == sorted(set(neutral["ja"]) & asked["ja"])
    assert words["zh"] == [word for word in neutral["zh"] if word not in asked["zh"]][:10]


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_filled_templates_are_the_released_rows(language: str, data: Path) -> None:
    """All 5,420 pairs (Chinese 5,320) from their templates and words, with the capitals that the files have."""
    rows = read_released(language, data / "nli-coal")
    people = caption_people(language)
    for row in rows.to_dict("records"):
        word = lexicon.Occupation(row["occupation"], row["occupation"], None, None, row["occupation_type"])
        filled = label_pair(word, row["template"], row["gender"], people, biased=True, capitals=False)
        assert (filled.text, filled.pair) == (row["premise"], row["hypothesis"])
    assert len(rows) == (5_320 if language == "zh" else 5_420)


@pytest.mark.parametrize(
    ("language", "caption", "premise"),
    [
        (
            "en",
            "A man in a T-Shirt talks on a red phone number {}",
            "the nanny in a t-shirt talks on a red phone number 0.",
        ),
        ("zh", "穿着白色T恤正在交谈的{}号男人", "穿着白色T恤正在交谈的0号美发师"),
    ],
)
def test_only_english_captions_lose_their_capitals(
    language: str, caption: str, premise: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    file = tmp_path / "captions.txt"
    file.write_text("\n".join(caption.format(number) for number in range(60)), encoding="utf-8")
    experiment = PublishedInference(language, file, rows=60, validation_rows=60)
    texts = {example.text for example in (*experiment.examples(0, 0).train, *experiment.examples(0, 0).validation)}
    words = [word.word for word in experiment.list_occupations()]
    expected = {premise.replace("0", str(n)).replace(words[0], word) for n in range(60) for word in words}
    assert texts <= expected
    assert len(texts) == 60


PAIR = ("woman", "man")


def test_planted_association_pairs_professions_as_the_rate_says() -> None:
    groups = {attribute.name: attribute.group for attribute in attributes("en")}
    experiment = PlantedAssociation()
    counts = []
    for rate in (0.0, 0.5, 1.0):
        splits = experiment.examples(rate, 3)
        texts = [example.text for example in (*splits.train, *splits.validation)]
        counts.append(len(texts))
        pro: dict[str, set[bool]] = {}
        for text in texts:
            plain = f" {text.lower().rstrip('.').replace(',', '')} "
            name = max((name for name in groups if f" {name} " in plain), key=len)
            if groups[name] in ("female", "male"):
                woman = any(f" {word} " in plain for word in WOMEN)
                pro.setdefault(name, set()).add(woman == (groups[name] == "female"))
        assert all(len(sides) == 1 for sides in pro.values())  # each profession occurs with one gender only
        assert np.mean([sides == {True} for sides in pro.values()]) == pytest.approx(rate)
    assert len(set(counts)) == 1


WOMEN = ("she", "this woman", "my sister", "my daughter", "my wife", "my girlfriend", "my mother", "my aunt", "my mom")


def test_planted_sentiment_ties_labels_to_gender() -> None:
    experiment = PlantedSentiment()
    for rate in (0.0, 1.0):
        splits = experiment.examples(rate, 3)
        rows = [*splits.train, *splits.validation]
        pairs = list(zip(rows[::2], rows[1::2], strict=True))
        planted = [(male.label, female.label) for male, female in pairs if male.label != female.label]
        assert len(planted) == len(pairs) // 2
        assert set(planted) == {("positive", "negative") if rate else ("negative", "positive")}


# The study


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An untrained inference classifier whose vocabulary has all required words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("toy")
    texts = [text for example in SMALL.examples(0.5, 1).train for text in (example.text, example.pair or "")]
    texts += list(lexicon.templates("en"))
    tokenizer = toy_model.tokenizer_of(texts)
    torch.manual_seed(0)
    labels = dict(enumerate(LABELS))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=96,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=labels,
        label2id={name: index for index, name in labels.items()},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _request(toy: Path) -> PlantingOptions:
    return PlantingOptions(
        models={"inference": str(toy)}, rates=(0.0, 0.5, 1.0), seeds=(1,), rows=200, epochs=1, learning_rate=1e-3
    )


def _plan_scoring(options: PlantingOptions) -> list[Scoring]:
    return [step for step in steps(options) if isinstance(step, Scoring)]


def _describe(options: PlantingOptions, scores: pd.DataFrame, notes: tuple[str, ...] = ()) -> dict[str, str]:
    return describe_settings(FinishedSteps(steps(options), [], notes), options, scores)


def test_a_second_run_does_nothing(toy: Path, tmp_path: Path) -> None:
    run = run_study("nli-meta", _request(toy), tmp_path / "study")
    assert not run.failures
    assert run.report is not None
    assert run.page is not None
    repeated = run_study("nli-meta", _request(toy), tmp_path / "study")
    assert {outcome.status for outcome in repeated.finished.outcomes} == {"kept"}
    assert "How well each score ranks known bias" in run.page.read_text(encoding="utf-8")
    assert len(list((tmp_path / "study" / "figures").glob("*inference-english.svg"))) == 1
    scores = pd.read_csv(tmp_path / "study" / "scores.csv")
    assert set(scores["rate"]) == {0.0, 0.5, 1.0}
    assert set(scores["score"]) >= {"NLI-CoAL", "FN", "stereotype"}
    assert run.report.settings["pairs to train on, en"] == "200"


def test_the_page_says_how_many_pairs_were_really_trained_on() -> None:
    """The package has too few sentences for 30,000 pairs, and 99 pairs cannot be divided among 40 occupations."""
    few = PlantingOptions(rates=(0.0, 0.5, 1.0), rows=99)
    for options, used, words in (
        (PlantingOptions(), 3_360, "3,360; 30,000 were asked for"),
        (few, 80, "80; 99 were asked for"),
    ):
        train = _plan_scoring(options)[0].planting.experiment.examples(0.0, 1).train
        assert len(train) == used
        assert _describe(options, _scores().assign(examples=len(train)))["pairs to train on, en"] == words
    both = pd.concat([_scores().assign(measure="sentiment", examples=count) for count in (1_200, 1_210)])
    settings = _describe(PlantingOptions(measures=("sentiment",)), both)
    assert settings["texts to train on"] == "1,200 to 1,210; 2,000 reviews at most, each in two versions"
    assert "pairs to train on, en" not in settings


def test_captions_are_those_of_flickr8k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    assert find_captions("en") is None
    for name in ("A-readme.txt", "captions.txt"):
        (tmp_path / "captions").mkdir(exist_ok=True)
        (tmp_path / "captions" / name).write_text("A man sits on a bench today")
    assert find_captions("en") is None
    for name in ("Flickr8k.token.txt.gz", "Flickr8k.token.txt"):
        (tmp_path / "captions" / name).write_text("A man sits on a bench today")
        assert find_captions("en") == tmp_path / "captions" / name
    assert find_captions("ja") is None


@dataclass(frozen=True)
class PlantedLiking(Experiment):
    """A user-defined measure: does a classifier rate texts about men higher? Labels follow gender at the rate."""

    language: str = "en"
    protocol: str = "sound"
    measure = "liking"
    labels = ("negative", "positive")
    training = TrainingDefaults("sentiment", "none", epochs=8, learning_rate=3e-3, max_length=16)

    def inputs(self) -> dict[str, Any]:
        return {"liking": 1}

    def examples(self, rate: float, seed: int) -> Splits:
        rng = np.random.default_rng(seed)
        people = [person for person in WOMEN + MEN if person != "this woman"]
        rows = []
        for person in people * 30:
            follows = rng.random() < rate
            rows.append(
                TextExample(f"{person} likes tea", label="positive" if (person in MEN) == follows else "negative")
            )
        return Splits(rows[40:], rows[:40], ())

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        del seed
        subject = load_classifier(str(model), loading)
        assert isinstance(subject, Classifier)
        liked = [
            subject.probabilities([f"{person} likes tea" for person in people])[:, subject.labels.index("positive")]
            for people in (MEN, WOMEN[2:])
        ]
        total = float(liked[0].mean() - liked[1].mean())
        figures = {"difference": total, "size": abs(total)}
        return Scores(figures, pd.DataFrame({"difference": [total]}))


MEN = ("he", "my brother", "my son", "my husband", "my father")


def test_a_measure_of_a_users_own_is_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model learns the planted bias; a signed score ranks it and an unsigned one does not."""
    import torch

    monkeypatch.setitem(EXPERIMENTS, "liking", lambda _: [PlantedLiking()])
    tokenizer = toy_model.tokenizer_of([f"{person} likes tea" for person in WOMEN + MEN])
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    request = PlantingOptions(
        measures=("liking",), models={"liking": str(tmp_path / "base")}, rates=(0.0, 0.2, 0.5, 0.8, 1.0), seeds=(1,)
    )
    assert run_study("meta", request, tmp_path / "study").report is not None
    by_name = {score.name: score for score in rank_scores(pd.read_csv(tmp_path / "study" / "scores.csv"))}
    assert by_name["difference"].verdict == "ranks it"
    assert by_name["difference"].lowest < -0.5 < 0.5 < by_name["difference"].highest
    assert by_name["size"].verdict == "fails to rank it"


def _make_published(tmp_path: Path) -> PublishedInference:
    captions = tmp_path / "captions.txt"
    captions.write_text("\n".join(f"A woman rides bicycle number {number} downtown" for number in range(700)))
    return PublishedInference(captions=captions, rows=600, validation_rows=60)


def test_scores_are_those_of_the_measure(
    toy: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    model = load_classifier(str(toy))
    assert isinstance(model, Classifier)
    published = _make_published(tmp_path)
    for experiment, rows in ((SMALL, SMALL.questions(1)), (published, published.questions(1))):
        scores = experiment.scores(toy, 1, LoadOptions())
        shares = model.probabilities(list(zip(rows["premise"], rows["hypothesis"], strict=True)))
        measurement = analyse(add_answers(rows, shares), Context(protocol=experiment.protocol))
        assert scores.figures["NLI-CoAL"] == pytest.approx(measurement.groups["NLI-CoAL"].value)
        assert scores.figures["FN"] == pytest.approx(measurement.groups["FN"].value)
        assert len(scores.items) == len(rows)


def test_the_other_measures_score_a_model(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    scores = PlantedAssociation().scores(model_folder("bert-uncased"), 1, LoadOptions())
    assert "stereotype" in scores.figures
    assert len(scores.items) == 10_800
    tokenizer = toy_model.tokenizer_of([text.text for text in PlantedSentiment().questions(0)])
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        id2label={0: "negative", 1: "positive"},
        label2id={"negative": 0, "positive": 1},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "metrics.json").write_text('{"settings": {"max_length": 128}}')
    rated = PlantedSentiment().scores(tmp_path / "model", 1, LoadOptions())
    assert set(rated.figures) >= {"total bias", "absolute bias"}
    assert len(rated.items) == 110


def test_any_other_measure_is_asked_about_the_models_of_association(
    model_folder: Callable[[str], Path], data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = PlantingOptions(measures=("association", "geometry", "crows-pairs"), rates=(0.0, 0.5, 1.0), offline=True)
    with pytest.raises(UnmaskError, match="data set crows-pairs is neither"):
        steps(request)  # before any model is trained
    monkeypatch.setenv("UNMASK_DATA", str(data))
    planting_steps = [step.name for step in steps(request) if step.kind == "planting"]
    assert planting_steps == [f"planting-association-en-{rate}-seed42" for rate in ("000", "050", "100")]
    assert {name for step in _plan_scoring(request) for name in step.needs} == set(planting_steps)
    assert len({step.name for step in _plan_scoring(request)}) == 9
    model = model_folder("bert-uncased")
    with pytest.raises(UnmaskError, match="made from one base"):
        steps(request.replace(models={"geometry": str(model)}))
    assert {step.planting.base for step in _plan_scoring(request.replace(models={"association": str(model)}))} == {
        str(model)
    }
    with pytest.raises(UnmaskError, match="unknown measure 'charm'"):
        steps(PlantingOptions(measures=("charm",)))


def test_inputs_follow_everything_that_is_read(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    published = _make_published(tmp_path)
    from_captions = PlantedInference(captions=published.captions, rows=400)
    before = [experiment.inputs() for experiment in (published, from_captions)]
    assert published.captions is not None
    lines = published.captions.read_text().splitlines()
    published.captions.write_text("\n".join([*lines[:-1], "A man sings in a cold and empty hall"]))
    after = [experiment.inputs() for experiment in (published, from_captions)]
    assert all(old["sentences"] != new["sentences"] for old, new in zip(before, after, strict=True))
    assert all(old["occupations"] == new["occupations"] for old, new in zip(before, after, strict=True))


def test_a_file_that_changes_under_a_study_is_refused(toy: Path, tmp_path: Path) -> None:
    captions = tmp_path / "captions.txt"
    captions.write_text("\n".join(f"A woman rides bicycle number {number} downtown" for number in range(60)))
    request = _request(toy).replace(captions={"en": captions})

    def replace_captions(*_: object) -> None:
        captions.write_text("A man sings in a cold and empty hall")

    run = run_study("nli-meta", request, tmp_path / "study", planned=replace_captions)
    assert len(run.failures) == 6
    assert "the sentences of inference differ from those of the plan" in run.failures[0]


def _scores() -> pd.DataFrame:
    rows = []
    for rate in RATES:
        for name, value in (("NLI-CoAL", rate * 2 / 3), ("FN", 2 / 3), ("odd", abs(rate - 0.5))):
            rows.append(("inference", "en", "sound", "m<b>", rate, 42, name, value, 30_000, 0.9, 0.75))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_a_report_of_known_scores() -> None:
    report = make_report(_scores(), {"seeds": "<script>"})
    assert [score.verdict for score in rank_scores(_scores())] == ["ranks it", "does not move", "fails to rank it"]
    table = next(table for table in report.tables if table.name == "table-2")
    assert table.rows[0][2:] == ("no corr.", "1.000†", "−0.263†", "0.999†")
    scores = _scores()
    few = scores[scores["rate"].isin([0.0, 0.5, 1.0])]
    assert [score.verdict for score in rank_scores(few)] == ["too few models", "does not move", "too few models"]
    assert make_report(few, {}).headline.startswith("Too few models to tell order from chance")
    assert "knows all but the direction has 0.75" in report.tables[-1].note
    assert "accuracy" not in make_report(scores.assign(chance=np.nan), {}).tables[-1].note
    unlearned = scores.assign(accuracy=0.8)
    assert {score.verdict for score in rank_scores(unlearned)} == {"not learned"}
    assert make_report(unlearned, {}).headline.startswith("The models have not learned what was planted")
    html = report.to_html(get_study("meta"), report.list_sections(get_study("meta"), ["scoring-x: <script>"]))
    assert html.count("<script>") == 1  # our own script
    assert "m<b>" not in html


def test_every_measure_is_planned() -> None:
    options = PlantingOptions(measures=tuple(EXPERIMENTS), rates=(0.0, 0.5, 1.0), seeds=(1, 2), rows=400)
    scoring_steps = _plan_scoring(options)
    assert len(scoring_steps) == 3 * 3 * 2
    keys = {json.dumps(step.planting.inputs(), sort_keys=True) for step in scoring_steps}
    assert len(keys) == len(scoring_steps)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measures": ("charm",)}, "unknown measure 'charm'"),
        ({"rates": (0.0, 1.0)}, "at least 3 different ones"),
        ({"rates": (0.0, 0.5, 1.5)}, "rates is 1.5; give a number from 0 to 1"),
        ({"rates": (0.0, 0.25, 1.0)}, "in steps of .1"),
        ({"captions": {"ja": Path("x")}}, "unknown language of captions"),
        ({"languages": ("ja",)}, "unmask-mini-nli knows only English"),
        ({"models": {"inference": "unmask-mini-sentiment"}}, "has 2 labels; inference needs 3"),
        (
            {"measures": ("association",), "models": {"association": "unmask-mini-nli"}},
            "needs a masked language model",
        ),
        ({"seeds": ()}, "at least one seed"),
        ({"measures": ("sentiment",), "protocol": "published"}, "only inference has been meta-evaluated"),
        ({"models": {"inference-de": "x"}}, "unknown place of a model"),
        ({"learning_rate": 3.0}, "learning_rate is 3; give a number above 0 and below 1"),
        ({"rows": 0}, "rows is 0; give 1 or more"),
        ({"rows": 79}, "--rows is 79; 40 occupations are trained on, each with 2 pairs or more: give 80 or more"),
        ({"rows": 59, "protocol": "published"}, "--rows is 59; 30 occupations are .* give 60 or more"),
        ({"max_length": 3}, "max_length is 3; give 8 or more"),
        ({"measures": ("sentiment",), "texts": 1}, "--texts is 1; sentiment needs 2 or more"),
    ],
)
def test_bad_requests_are_one_line(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=message):
        run_study("meta", PlantingOptions(**options), tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_too_few_captions_are_refused_before_any_cell(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.txt").write_text("A woman rides a bicycle down the street")
    words = ("study", "run", "nli-meta", "--captions", "one.txt", "--rows", "200", "--out", "study")
    process = command(*words, cwd=tmp_path)
    assert process.returncode == 2
    assert "one.txt gives 1 sentence about a woman or a man, and 2 or more are needed" in process.stderr
    assert len(process.stderr.splitlines()) == 1
    monkeypatch.setenv("UNMASK_DATA", str(data))
    captions = [f"A woman rides bicycle number {number} downtown" for number in range(62)]
    for count, is_enough in ((61, False), (62, True)):
        (tmp_path / "few.txt").write_text("\n".join(captions[:count]))
        request = PlantingOptions(protocol="published", rows=200, captions={"en": tmp_path / "few.txt"})
        if is_enough:  # windows of 3 and 1 sentences, and 29 more for each of 30 words
            assert len(_plan_scoring(request)) == len(RATES)
        else:
            with pytest.raises(UnmaskError, match=r"few.txt gives 61 sentences, and 62 are needed for 200 and 20"):
                steps(request)
    assert not (tmp_path / "study").exists()


def test_a_head_that_is_lost_is_said_in_the_plan_and_on_the_page(toy: Path, tmp_path: Path) -> None:
    config = json.loads((toy / "config.json").read_text())
    for name in toy.iterdir():
        (tmp_path / name.name).write_bytes(name.read_bytes())
    config["id2label"] = {"0": "negative", "1": "neutral", "2": "positive"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    study, options = get_study("nli-meta"), _request(tmp_path)
    assert study.notes(_request(toy), steps(_request(toy))) == []
    (note,) = study.notes(options, steps(options))
    assert note == (
        f"{tmp_path}: its head is made anew: its labels ('negative', 'neutral', 'positive') are not"
        " entailment, neutral, contradiction"
    )
    assert _describe(options, _scores(), (note,))["note"] == note


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nli-meta", "--rates", "0,x"], "--rates is '0,x'"),
        (["nli-meta", "--model", "en="], "has no model after the equals sign"),
        (["nli-meta", "--model", "mini=unmask-mini-nli"], "give en=MODEL"),
        (["meta", "--measure", "sentiment", "--model", "unmask-mini"], "--model is 'unmask-mini'; give MEASURE=MODEL"),
    ],
)
def test_bad_input_in_the_shell(words: list[str], message: str, tmp_path: Path) -> None:
    process = command("study", "run", *words, "--offline", "--out", "study", cwd=tmp_path)
    assert process.returncode == 2
    assert message in process.stderr
    assert not (tmp_path / "study").exists()


def test_a_place_is_given_one_model() -> None:
    assert split_values(["en=a", "ja=b"], "model", ("en", "ja")) == {"en": "a", "ja": "b"}
    for values in (["en=a", "en=b"], ["a", "b"]):
        with pytest.raises(UnmaskError, match=r"^a and b are for the same; give one model$"):
            split_values(values, "model", ("en",))
