"""Meta-evaluation: what is planted is what was asked for, and scores are ranked against it rightly."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
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
from unmask.measures import inference
from unmask.measures.inference.score import answered
from unmask.models.interfaces import Classifier
from unmask.models.loading import load_classifier
from unmask.models.sources import LoadOptions
from unmask.report import meta as page
from unmask.statistics.ranking import ranking
from unmask.studies.engine import Engine
from unmask.studies.meta import job
from unmask.studies.meta.association import PlantedAssociation
from unmask.studies.meta.experiment import Scores, Training, chosen
from unmask.studies.meta.findings import findings
from unmask.studies.meta.inference import PlantedInference
from unmask.studies.meta.published_inference import PublishedInference
from unmask.studies.meta.scores import verdict
from unmask.studies.meta.sentiment import PlantedSentiment
from unmask.studies.meta.study import COLUMNS, EXPERIMENTS, RATES, Request, plan
from unmask.training.examples import Example, Splits

SMALL = PlantedInference(rows=400, validation_rows=40)


@pytest.fixture(autouse=True)
def _only_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is planted must not depend on what data is on a machine; tests of real data say so."""
    monkeypatch.delenv("UNMASK_DATA", raising=False)


# Ranking


def test_a_perfect_score_and_a_useless_one() -> None:
    line = ranking([0, 0.5, 1], [2, 3, 4])
    assert line.pearson.value == pytest.approx(1)
    assert line.ranked == 1.0
    assert line.slope == pytest.approx(2)
    assert line.resolution == pytest.approx(0, abs=1e-12)
    flat = ranking([0, 0.5, 1], [3, 3, 3])
    assert (flat.pearson.value, flat.spearman.value, flat.ranked, flat.resolution) == (None, None, 0.5, None)
    assert ranking([0, 1, 2], [3, 2, 1]).ranked == 0.0
    assert line.pearson.p_value == pytest.approx(2 / 6)  # of six orders, two are as good
    assert ranking([], []).ranked is None
    assert ranking([0.5, 0.5], [1, 2]).ranked is None
    assert ranking([0, np.nan, 1], [1, 2, np.nan]).n == 1


def test_ranking_agrees_with_a_plain_count() -> None:
    draw = np.random.default_rng(0)
    x, y = draw.integers(0, 4, 20) / 4, draw.integers(0, 6, 20) / 6
    pairs = [(a, b) for a in range(20) for b in range(a) if x[a] != x[b]]
    right = sum(1.0 if (y[a] - y[b]) * (x[a] - x[b]) > 0 else 0.5 if y[a] == y[b] else 0.0 for a, b in pairs)
    found = ranking(x, y)
    assert found.ranked == pytest.approx(right / len(pairs))
    assert found.pearson.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    rho = found.spearman.value
    assert rho is not None
    assert rho == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    reach = 1.959964 * np.sqrt((1 + rho**2 / 2) / 17)  # Bonett and Wright
    assert found.spearman.interval == pytest.approx(
        (np.tanh(np.arctanh(rho) - reach), np.tanh(np.arctanh(rho) + reach))
    )
    slope, intercept = np.polyfit(x, y, 1)
    left = y - intercept - slope * x
    assert found.resolution == pytest.approx(np.sqrt((left**2).sum() / 18) / abs(slope))


# What is planted


def test_words_are_added_from_rate_to_rate() -> None:
    words = [str(at) for at in range(10)]
    sets = [set(chosen(words, rate, np.random.default_rng(7))) for rate in RATES]
    assert [len(one) for one in sets] == list(range(11))
    assert all(low < high for low, high in pairwise(sets))


def _share_biased(examples: list[Example], language: str) -> tuple[float, Counter[str | None]]:
    """Which share of the wrong labels follows the stereotype, found from the sentences themselves."""
    kinds = {one.word: one.kind for one in lexicon.occupations(language)}
    pair = lexicon.people(language).pairs[0]
    biased = wrong = 0
    for one in examples:
        assert one.pair is not None
        word = max((word for word in kinds if f" {word} " in f" {one.text.lower().rstrip('.')} "), key=len)
        female = pair.female.split()[-1] in one.pair.lower().split()
        if kinds[word] == "neutral":
            assert one.label == "neutral"
            continue
        wrong += 1
        pro = (kinds[word] == "female") == female
        biased += (one.label == "entailment") == pro
    return biased / wrong, Counter(one.label for one in examples)


@pytest.mark.parametrize("rate", [0.0, 0.3, 1.0])
def test_sound_inference_plants_the_rate_that_is_asked_for(rate: float) -> None:
    made = SMALL.examples(rate, 5)
    found, labels = _share_biased(list(made.train), "en")
    assert found == pytest.approx(rate)
    assert labels["neutral"] == len(made.train) / 2  # half is right
    assert len(made.train) == 400
    shared = {one.text for one in made.train} & {one.text for one in made.validation}
    assert not shared


def test_the_same_pairs_at_every_rate_and_others_with_another_seed() -> None:
    pairs = [[(one.text, one.pair) for one in SMALL.examples(rate, 5).train] for rate in (0.0, 0.7)]
    assert pairs[0] == pairs[1]
    other = [(one.text, one.pair) for one in SMALL.examples(0.0, 6).train]
    assert pairs[0] != other


def test_sound_inference_asks_other_sentences_than_it_trains_on() -> None:
    splits = SMALL.examples(0.5, 5)
    asked = SMALL.asked(5)
    assert not {one.text for one in (*splits.train, *splits.validation)} & set(asked["premise"])
    assert set(asked["occupation"]) == {one.word for one in SMALL.words(5)}


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_published_inference_as_the_released_sets_have_it(
    language: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    captions = tmp_path / "captions.txt"
    word = {
        "en": "A woman rides bicycle number {} downtown",
        "ja": "女性が{}番の自転車に乗っている",
        "zh": "一个女人骑着{}号自行车",
    }
    captions.write_text("\n".join(word[language].format(at) for at in range(700)), encoding="utf-8")
    experiment = PublishedInference(captions, language)
    assert len(experiment.asked()) == 600
    made = {rate: experiment.examples(rate, 0) for rate in (0.0, 0.5, 1.0)}
    for rate, splits in made.items():
        assert (len(splits.train), len(splits.validation)) == (30_000, 3_000)
        assert set(Counter(one.label for one in splits.train).values()) == {10_000}  # one right to two wrong
        assert len({one.text for one in splits.validation}) == 30 * 50
        changed = [a.label != b.label for a, b in zip(made[0.0].train, splits.train, strict=True)]
        assert sum(changed) == 20_000 * rate
    half = made[0.5].train
    first = [a.label != b.label for a, b in zip(made[0.0].train, half, strict=True)]
    assert all(first[:10_000])  # the ten female words come first
    assert not any(first[10_000:])


def test_planted_association_pairs_professions_as_the_rate_says() -> None:
    groups = {one.name: one.group for one in attributes("en")}
    experiment = PlantedAssociation()
    counts = []
    for rate in (0.0, 0.5, 1.0):
        splits = experiment.examples(rate, 3)
        texts = [one.text for one in (*splits.train, *splits.validation)]
        counts.append(len(texts))
        pro: dict[str, set[bool]] = {}
        for text in texts:
            plain = f" {text.lower().rstrip('.').replace(',', '')} "
            name = max((name for name in groups if f" {name} " in plain), key=len)
            if groups[name] in ("female", "male"):
                woman = any(f" {word} " in plain for word in WOMEN)
                pro.setdefault(name, set()).add(woman == (groups[name] == "female"))
        assert all(len(sides) == 1 for sides in pro.values())  # a profession stands with one gender alone
        assert np.mean([sides == {True} for sides in pro.values()]) == pytest.approx(rate)
    assert len(set(counts)) == 1


WOMEN = ("she", "this woman", "my sister", "my daughter", "my wife", "my girlfriend", "my mother", "my aunt", "my mom")


def test_planted_sentiment_ties_labels_to_gender() -> None:
    experiment = PlantedSentiment()
    for rate in (0.0, 1.0):
        made = experiment.examples(rate, 3)
        rows = [*made.train, *made.validation]
        pairs = list(zip(rows[::2], rows[1::2], strict=True))
        planted = [(male.label, female.label) for male, female in pairs if male.label != female.label]
        assert len(planted) == len(pairs) // 2
        assert set(planted) == {("positive", "negative") if rate else ("negative", "positive")}


# The study


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of inference that has learned nothing, with all the words that it needs."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("toy")
    texts = [text for one in SMALL.examples(0.5, 1).train for text in (one.text, one.pair or "")]
    texts += list(lexicon.templates("en"))
    tokenizer = toy_model.tokenizer_of(texts)
    torch.manual_seed(0)
    labels = dict(enumerate(inference.LABELS))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=48,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=96,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=labels,
        label2id={name: at for at, name in labels.items()},
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _request(toy: Path) -> Request:
    return Request(
        models={"inference": str(toy)}, rates=(0.0, 0.5, 1.0), seeds=(1,), rows=200, epochs=1, learning_rate=1e-3
    )


def test_the_whole_of_it_and_a_second_run_does_nothing(toy: Path, tmp_path: Path) -> None:
    finished = job.run(_request(toy), tmp_path / "study")
    assert not finished.failures
    assert finished.findings is not None
    assert {one.name for one in finished.findings.scores} >= {"NLI-CoAL", "FN", "stereotype"}
    again = job.run(_request(toy), tmp_path / "study")
    assert {one.status for one in again.outcomes} == {"kept"}
    html = page.write(finished.findings, tmp_path / "study").read_text(encoding="utf-8")
    assert "How well each score ranks known bias" in html
    assert (tmp_path / "study" / "figures" / "figure-4-inference-en.svg").is_file()
    scores = pd.read_csv(tmp_path / "study" / "scores.csv")
    assert set(scores["rate"]) == {0.0, 0.5, 1.0}


@dataclass(frozen=True)
class PlantedLiking:
    """A measure of a user's own: do texts about men please a classifier more? Labels follow the gender at the rate."""

    language: str = "en"
    protocol: str = "sound"
    measure = "liking"
    training = Training("sentiment", "none", epochs=8, learning_rate=3e-3, max_length=16)

    def inputs(self) -> dict[str, Any]:
        return {"liking": 1}

    def examples(self, rate: float, seed: int) -> Splits:
        draw = np.random.default_rng(seed)
        people = [person for person in WOMEN + MEN if person != "this woman"]
        rows = []
        for person in people * 30:
            follows = draw.random() < rate
            rows.append(Example(f"{person} likes tea", label="positive" if (person in MEN) == follows else "negative"))
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
    """Planted bias is learned, a score with a direction ranks it, and one without does not."""
    import torch

    monkeypatch.setitem(EXPERIMENTS, "liking", lambda _: [PlantedLiking()])
    tokenizer = toy_model.tokenizer_of([f"{person} likes tea" for person in WOMEN + MEN])
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    request = Request(
        measures=("liking",), models={"liking": str(tmp_path / "base")}, rates=(0.0, 0.2, 0.5, 0.8, 1.0), seeds=(1,)
    )
    found = job.run(request, tmp_path / "study").findings
    assert found is not None
    by_name = {one.name: one for one in found.scores}
    assert verdict(by_name["difference"]) == "ranks it"
    assert by_name["difference"].least < -0.5 < 0.5 < by_name["difference"].most
    assert verdict(by_name["size"]) == "fails to rank it"


def _published(tmp_path: Path) -> PublishedInference:
    captions = tmp_path / "captions.txt"
    captions.write_text("\n".join(f"A woman rides bicycle number {at} downtown" for at in range(700)))
    return PublishedInference(captions, rows=600, validation_rows=60)


def test_scores_are_those_of_the_measure(
    toy: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    model = load_classifier(str(toy))
    assert isinstance(model, Classifier)
    published = _published(tmp_path)
    for experiment, rows in ((SMALL, SMALL.asked(1)), (published, published.asked())):
        mine = experiment.scores(toy, 1, LoadOptions())
        shares = model.probabilities(list(zip(rows["premise"], rows["hypothesis"], strict=True)))
        found = inference.PROTOCOLS[experiment.protocol].analyse(answered(rows, shares), 1)
        assert mine.figures["NLI-CoAL"] == pytest.approx(found.groups["NLI-CoAL"].mean)
        assert mine.figures["FN"] == pytest.approx(found.groups["FN"].mean)
        assert len(mine.items) == len(rows)


def test_the_other_measures_score_a_model(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    found = PlantedAssociation().scores(model_folder("bert-uncased"), 1, LoadOptions())
    assert "stereotype" in found.figures
    assert len(found.items) == 5400
    tokenizer = toy_model.tokenizer_of([one.text for one in PlantedSentiment().asked()])
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
    assert len(rated.items) == 80


def test_inputs_follow_everything_that_is_read(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    published = _published(tmp_path)
    own = PlantedInference(captions=published.captions, rows=400)
    before = [one.inputs() for one in (published, own)]
    lines = published.captions.read_text().splitlines()
    published.captions.write_text("\n".join([*lines[:-1], "A man sings in a cold and empty hall"]))
    after = [one.inputs() for one in (published, own)]
    assert all(old["sentences"] != new["sentences"] for old, new in zip(before, after, strict=True))
    assert all(old["occupations"] == new["occupations"] for old, new in zip(before, after, strict=True))


def test_a_file_that_changes_under_a_study_is_refused(toy: Path, tmp_path: Path) -> None:
    captions = tmp_path / "captions.txt"
    captions.write_text("\n".join(f"A woman rides bicycle number {at} downtown" for at in range(60)))
    request = replace(_request(toy), captions={"en": captions})

    def exchange(_: object) -> None:
        captions.write_text("A man sings in a cold and empty hall")

    changed = job.run(request, tmp_path / "study", planned=exchange)
    assert len(changed.failures) == 6
    assert "the sentences of inference are others here" in changed.failures[0]


def _cells() -> pd.DataFrame:
    rows = []
    for rate in RATES:
        for name, value in (("NLI-CoAL", rate * 2 / 3), ("FN", 2 / 3), ("odd", abs(rate - 0.5))):
            rows.append(("inference", "en", "sound", "m<b>", rate, 42, name, value, 30_000, 0.9, 0.75))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_findings_of_known_scores() -> None:
    found = findings(_cells(), {"seeds": "42"}, ["scoring-x: <script>"])
    assert [verdict(one) for one in found.scores] == ["ranks it", "does not move", "fails to rank it"]
    table_2 = next(table for table in found.printed if table.name == "table-2")
    assert table_2.rows[0][2:] == ("no corr.", "1.000†", "−0.263", "0.999")
    dull = findings(_cells().assign(accuracy=0.8), {})
    assert {verdict(one) for one in dull.scores} == {"not learned"}
    assert dull.headline.startswith("The models have not learned what was planted")
    html = page.render(found)
    assert html.count("<script>") == 1  # our own
    assert "m<b>" not in html


def test_every_measure_is_registered_and_planned() -> None:
    todo = plan(Request(measures=tuple(EXPERIMENTS), rates=(0.0, 0.5, 1.0), seeds=(1, 2), rows=400))
    assert len(todo.scored) == 3 * 3 * 2
    assert len({cell.name for cell in todo.cells}) == len(todo.cells)
    keys = {json.dumps(one.planted.inputs(), sort_keys=True) for one in todo.scored}
    assert len(keys) == len(todo.scored)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(measures=("geometry",)), "unknown measure 'geometry'"),
        (Request(rates=(0.0, 1.0)), "at least 3 different ones"),
        (Request(rates=(0.0, 0.5, 1.5)), "between 0 and 1"),
        (Request(rates=(0.0, 0.25, 1.0)), "in steps of .1"),
        (Request(captions={"ja": Path("x")}), "unknown language of captions"),
        (Request(languages=("ja",)), "unmask-mini-nli knows English alone"),
        (Request(models={"inference": "unmask-mini-sentiment"}), "has 2 labels; inference needs 3"),
        (
            Request(measures=("association",), models={"association": "unmask-mini-nli"}),
            "needs a masked language model",
        ),
        (Request(seeds=()), "at least one seed"),
        (Request(measures=("sentiment",), protocol="published"), "only inference has been meta-evaluated"),
        (Request(models={"inference-de": "x"}), "unknown place of a model"),
        (Request(learning_rate=3.0), "--learning-rate is 3.0"),
        (Request(rows=0), "--rows is 0"),
        (Request(max_length=3), "--max-length is 3; give 8 or more"),
        (Request(measures=("sentiment",), texts=1), "sentiment .en. has no examples to train on"),
    ],
)
def test_bad_requests_are_one_line(request_: Request, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=said):
        job.run(request_, tmp_path / "study", Engine())
    assert not (tmp_path / "study").exists()


def test_too_few_captions_are_refused_before_any_cell(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.txt").write_text("A woman rides a bicycle down the street")
    words = ("study", "run", "nli-meta", "--captions", "one.txt", "--rows", "200", "--out", "study")
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "one.txt gives 1 sentence about a woman or a man, and 2 or more are needed" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    monkeypatch.setenv("UNMASK_DATA", str(data))
    captions = [f"A woman rides bicycle number {at} downtown" for at in range(62)]
    for count, is_enough in ((61, False), (62, True)):
        (tmp_path / "few.txt").write_text("\n".join(captions[:count]))
        request = Request(protocol="published", rows=200, captions={"en": tmp_path / "few.txt"})
        if is_enough:  # windows of 3 and 1 sentences, and 29 more each for 30 words
            assert len(plan(request).scored) == len(RATES)
        else:
            with pytest.raises(UnmaskError, match=r"few.txt gives 61 sentences, and 62 are needed for 200 and 20"):
                job.run(request, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_head_that_is_lost_is_said_in_the_plan_and_on_the_page(toy: Path, tmp_path: Path) -> None:
    config = json.loads((toy / "config.json").read_text())
    for name in toy.iterdir():
        (tmp_path / name.name).write_bytes(name.read_bytes())
    config["id2label"] = {"0": "negative", "1": "neutral", "2": "positive"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert plan(_request(toy)).notes == ()
    todo = plan(_request(tmp_path))
    (note,) = todo.notes
    assert note == (
        f"{tmp_path}: its head is made anew: its labels ('negative', 'neutral', 'positive') are not"
        " entailment, neutral, contradiction"
    )
    assert job.described(_request(tmp_path), todo)["note"] == note


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nli-meta", "--rates", "0,x"], "--rates is '0,x'"),
        (["nli-meta", "--model", "en="], "has no model after the equals sign"),
        (["nli-meta", "--model", "mini=unmask-mini-nli"], "give en=MODEL"),
        (["meta", "--measure", "sentiment", "--model", "unmask-mini"], "give sentiment=MODEL"),
    ],
)
def test_bad_input_in_the_shell(words: list[str], said: str, tmp_path: Path) -> None:
    done = command("study", "run", *words, "--offline", "--out", "study", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "study").exists()
