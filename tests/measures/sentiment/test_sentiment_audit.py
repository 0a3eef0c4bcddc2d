"""Sentiment from outside: the command and its files, texts and term sets, recorded ratings, real reviews."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from scipy import stats
from typer.testing import CliRunner

import unmask
from commands import unmask as command
from opinions import rate_opinions
from toy_model import tokenizer_of
from unmask.cli import app
from unmask.errors import UnmaskError
from unmask.lexicon.sentences import reviews
from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.data import rewrite_both_ways
from unmask.measures.sentiment.details import Ratings
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.scoring import score_pairs
from unmask.models.classifier import TransformersClassifier
from unmask.results import AuditResult, Measurement
from unmask.results.storage import load, read_items
from unmask.training.examples import TextExample

MALE = re.compile(r"\b(he|him|his|man|men|er|sein|seine|vater|chairperson)\b", re.IGNORECASE)
SENTENCES = [
    f"{who} saw the {adjective} film with {whose} {companion}."
    for adjective in ("old", "new", "long", "short", "loud")
    for who, whose, companion in (("He", "his", "father"), ("She", "her", "friend"), ("The man", "his", "sister"))
]
NO_TERM = "The film was long."


class Counter:
    """Rates a text by its number of male words."""

    labels = ("negative", "positive")

    def probabilities(self, texts: Sequence[Any]) -> Any:
        high = [0.2 + 0.1 * len(MALE.findall(text)) + 1e-4 * len(text) for text in texts]
        high = rate_opinions(texts, high)
        return np.column_stack([1 - high, high])


def ratings(measurement: Measurement) -> Ratings:
    return measurement.read_details(Ratings)


def write_lines(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def save(folder: Path, *, labels: Sequence[str] = ("negative", "positive"), **settings: Any) -> Path:
    """A small classifier with random weights that knows the words of the sentences."""
    tokenizer = tokenizer_of([*SENTENCES, NO_TERM])
    _tiny(tokenizer, labels, **settings).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tiny(tokenizer: Any, labels: Sequence[str] = ("negative", "positive"), *, seed: int = 3, **settings: Any) -> Any:
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
        initializer_range=0.2,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
        pad_token_id=tokenizer.pad_token_id,
        **settings,
    )
    return transformers.BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a classifier and its texts, to run commands in."""
    path = tmp_path_factory.mktemp("sentiment")
    save(path / "classifier")
    labels = ["good", "bad"]
    rows = [f"{n},{text},{labels[n % 2]}" for n, text in enumerate([*SENTENCES, NO_TERM])]
    write_lines(path / "texts.csv", "id,text,label", *rows)
    return path


@pytest.fixture(scope="module")
def audited(folder: Path) -> Path:
    """The folder of an audit by the command."""
    done = command("audit", "classifier", "--texts", "texts.csv", "--out", "audit", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Report: audit/report.html" in done.stdout
    assert "Mean over texts: +" in done.stdout
    assert "cannot reliably rate plainly good texts above plainly bad ones" in done.stdout  # it is untrained
    assert "A rating is p(positive)." in done.stdout
    return folder / "audit"


# The command


def test_the_folder(audited: Path) -> None:
    assert sorted(str(path.relative_to(audited)) for path in audited.rglob("*") if path.is_file()) == [
        "items/sentiment.jsonl.gz",
        "report.html",
        "result.json",
    ]
    result = load(audited)
    (measurement,) = result.measurements
    assert (measurement.name, measurement.corpus, measurement.language, measurement.protocol) == (
        "sentiment",
        "custom",
        "en",
        "sound",
    )
    assert result.model.architecture == "BertForSequenceClassification"
    assert result.configuration["measures"] == ["sentiment"]
    assert result.configuration["terms"] == ["all"]
    assert (result.configuration["long_texts"], result.configuration["tokens_at_once"]) == ("head", 128)
    assert result.configuration["most_tokens"] is None  # nobody asked: another model may read fewer
    assert (ratings(measurement).texts, ratings(measurement).changed) == (16, 15)
    assert (measurement.noise_floor or 0.0) < 1e-5
    assert measurement.distinct_inputs == 16 + 15
    items = read_items(audited / "items" / "sentiment.jsonl.gz")
    assert {"id", "changed_terms", "p_female", "p_male", "bias", "label", "text"} <= set(items)
    assert np.allclose(items["bias"], items["p_male"] - items["p_female"])
    assert items["changed_terms"].iloc[0] == "he; his; father"


@pytest.mark.parametrize(
    ("model", "labels", "settings"),
    [
        ("unmask-mini-sentiment", ("negative", "positive"), {"texts": "texts.csv"}),
        ("unmask-mini-nli", ("entailment", "neutral", "contradiction"), {"limit": 2}),
    ],
)
def test_a_model_that_reads_fewer_tokens_is_asked_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, labels: tuple[str, ...], settings: Any
) -> None:
    monkeypatch.chdir(folder)
    large = unmask.audit(model, **settings)
    (tmp_path / "result.json").write_text(large.result.model_dump_json(), encoding="utf-8")
    config = unmask.read_config(tmp_path / "result.json") | {"model": save(tmp_path / "small", labels=labels)}
    small = unmask.audit(**config)
    assert [audit.result.configuration["tokens_at_once"] for audit in (large, small)] == [512, 128]
    assert small.measurements[0].data_hash == large.measurements[0].data_hash


def test_json_is_the_result_and_settings_are_obeyed(folder: Path) -> None:
    settings = ("--texts", "texts.csv", "--terms", "pronouns", "--positive", "negative")
    done = command("audit", "classifier", *settings, "--limit", "9", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    result = AuditResult.model_validate(json.loads(done.stdout))
    assert load(folder / "audits" / "classifier") == result
    (measurement,) = result.measurements
    assert (ratings(measurement).terms, ratings(measurement).rating, ratings(measurement).texts) == (
        "pronouns",
        "p(negative)",
        9,
    )


def test_the_same_seed_gives_the_same(folder: Path, audited: Path) -> None:
    repeated = unmask.audit(folder / "classifier", texts=folder / "texts.csv")
    results = [result.model_dump() | {"created": ""} for result in (load(audited), repeated.result)]
    for result in results:
        result["model"]["name"] = result["configuration"]["texts"] = ""  # as they were typed
    assert results[0] == results[1]
    items = read_items(audited / "items" / "sentiment.jsonl.gz")
    for column in ("id", "p_female", "p_male", "bias", "changed_terms"):
        assert list(items[column]) == list(repeated.items["sentiment"][column])


def test_help_names_the_options() -> None:
    help_text = CliRunner().invoke(app, ["audit", "--help"], env={"COLUMNS": "100", "NO_COLOR": "1"}).stdout
    options = ("terms", "names", "texts", "limit", "positive", "long-texts", "most-tokens", "lists")
    assert [option for option in options if f"--{option} " not in help_text] == []


def _assert_refused(done: subprocess.CompletedProcess[str], message: str, folder: Path) -> None:
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stdout == ""
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("model", "words", "message"),
    [
        ("classifier", ("--texts", "empty.csv"), "the text of row 2 is empty; fill it in"),
        ("classifier", ("--texts", "plain.txt"), "none of the 1 texts has a gender term of the set 'all'"),
        ("nan", ("--texts", "texts.csv"), "gives no finite output for 'The film was long"),
    ],
)
def test_bad_input_is_one_line(model: str, words: tuple[str, ...], message: str, folder: Path) -> None:
    write_lines(folder / "empty.csv", "text", "He is here.", '" "')
    write_lines(folder / "plain.txt", NO_TERM)
    if model == "nan":
        weights = load_file(save(folder / model) / "model.safetensors")
        weights["classifier.weight"][0, 0] = float("nan")
        save_file(weights, folder / model / "model.safetensors", {"format": "pt"})
    _assert_refused(command("audit", f"./{model}", *words, "--out", "out", cwd=folder), message, folder)


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        ("classifier", {"texts": "texts.csv", "terms": "pronoun"}, "did you mean 'pronouns'?"),
        ("classifier", {"texts": "missing.csv"}, "missing.csv does not exist"),
        ("classifier", {"texts": "texts.csv", "positive": "good"}, "unknown label 'good'"),
        (
            "classifier",
            {"texts": "texts.csv", "long_texts": "tail"},
            "long_texts is 'tail'; did you mean 'head+tail'",
        ),
        ("classifier", {"texts": "texts.csv", "limit": 0}, "limit is 0; give 1 or more"),
        ("classifier", {"texts": "texts.csv", "corpora": "imdb"}, "--texts takes the place of a corpus"),
        (
            "classifier",
            {"corpora": "bec-pro"},
            "--corpus bec-pro is for association, and this model is measured for sentiment",
        ),
        ("classifier", {"measures": "association"}, "association needs a masked language model"),
        ("classifier", {"professions": "texts.csv"}, "--professions is for association"),
        (
            "unmask-mini",
            {"measures": "sentiment"},
            "unmask-mini is a masked language model; sentiment needs a text classifier",
        ),
        ("unmask-mini", {"positive": "good"}, "--positive is for sentiment"),
        ("unmask-mini", {"long_texts": "window"}, "--long-texts is for sentiment"),
    ],
)
def test_settings_that_do_not_fit_are_refused(model: str, settings: dict[str, Any], message: str, folder: Path) -> None:
    options = {name: folder / value if name in ("texts", "professions") else value for name, value in settings.items()}
    with pytest.raises(UnmaskError, match=re.escape(message)):
        unmask.audit(str(folder / model) if model == "classifier" else model, **options)


def test_models_whose_labels_are_no_ratings(tmp_path: Path) -> None:
    texts = write_lines(tmp_path / "t.txt", *SENTENCES)
    several = save(tmp_path / "several", labels=("joy", "anger"), problem_type="multi_label_classification")
    with pytest.raises(UnmaskError, match="may all hold at once; name the one to rate by with --positive"):
        unmask.audit(several, texts=texts)
    joyful = unmask.audit(several, texts=texts, positive="joy")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(several).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(several)
    items = joyful.items["sentiment"]
    with torch.inference_mode():
        for _, row in items[~items["changed"]].iterrows():
            expected = torch.sigmoid(model(**tokenizer(row["text"], return_tensors="pt")).logits[0, 0])
            assert row["p_female"] == pytest.approx(float(expected), abs=1e-5)
    assert set(items["choice_male"]) <= {"joy", "not joy"}
    unclear = save(tmp_path / "unclear", labels=("LABEL_0", "LABEL_1"))
    with pytest.raises(UnmaskError, match="name the positive one with --positive LABEL"):
        unmask.audit(unclear, texts=texts)
    (measurement,) = unmask.audit(unclear, texts=texts, positive="LABEL_1").measurements
    assert ratings(measurement).rating == "p(LABEL_1)"


# Texts and term sets


def test_an_own_model_in_every_shape(folder: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "classifier")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder / "classifier")
    pipeline = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer)
    loaded = TransformersClassifier(model, tokenizer)
    audits = [
        unmask.audit(classifier, texts=folder / "texts.csv") for classifier in (folder / "classifier", pipeline, loaded)
    ]
    assert len({audit.measurements[0].tests["bias"].value for audit in audits}) == 1
    number = transformers.BertForSequenceClassification.from_pretrained(
        folder / "classifier", num_labels=1, ignore_mismatched_sizes=True
    )
    (measurement,) = unmask.audit((number, tokenizer), texts=folder / "texts.csv").measurements
    assert (ratings(measurement).rating, ratings(measurement).flips) == ("the model's output", None)


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("t.csv", ("id,text", "1,He is.", "1,She was."), "the id '1' occurs 2 times"),
        ("t.csv", ("words", "He is."), "has no column 'text'"),
        ("t.jsonl", ('{"text": "He is."}', '{"text": null}'), "'text' of row 2 is None"),
        ("t.pdf", ("He is.",), "of an unknown kind"),
        ("t.txt", ("",), "has no examples"),
    ],
)
def test_files_that_hold_no_texts_are_refused(name: str, lines: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=re.escape(message)):
        unmask.audit(Counter(), texts=write_lines(tmp_path / name, *lines))


def test_german_texts(tmp_path: Path) -> None:
    texts = write_lines(
        tmp_path / "t.txt", "Er hat den Film gesehen.", "Sie hat ihn gesehen, sagt der Vater.", "Ein Film."
    )
    audit = unmask.audit(Counter(), texts=texts, languages="de", terms="pronouns")
    assert audit.measurements[0].language == "de"
    assert audit.items["sentiment"]["changed_terms"].iloc[0] == "er"
    assert audit.items["sentiment"]["bias"].iloc[0] == pytest.approx(0.1 - 1e-4)  # one word, and a letter less
    with pytest.raises(UnmaskError, match="no built-in texts in 'de'; give your own with --texts"):
        unmask.audit(Counter(), languages="de")
    with pytest.raises(UnmaskError, match="one language"):
        unmask.audit(Counter(), languages=["de", "en"], texts=texts)


def test_own_terms_and_names(tmp_path: Path) -> None:
    texts = write_lines(tmp_path / "t.txt", "The chairperson spoke to her.", "John left.", "Then he said no.")
    terms = write_lines(tmp_path / "mine.csv", "male,female", "chairperson,chairwoman")
    items = unmask.audit(Counter(), texts=texts, terms=terms).items["sentiment"]
    assert list(items["changed"]) == [True, False, False]
    assert set(items["terms"]) == {"mine.csv"}
    changed = [
        list(unmask.audit(Counter(), texts=texts, names=names).items["sentiment"]["changed"]) for names in (False, True)
    ]
    assert changed == [[True, False, True], [True, True, True]]


def test_texts_are_drawn_by_seed(tmp_path: Path) -> None:
    texts = write_lines(tmp_path / "t.txt", *(f"He saw film {n}." for n in range(50)))
    ids = [
        list(unmask.audit(Counter(), texts=texts, limit=10, seed=seed).items["sentiment"]["id"]) for seed in (1, 1, 2)
    ]
    assert ids[0] == ids[1] != ids[2]
    assert ids[0] == sorted(ids[0], key=int)
    assert len(set(ids[0])) == 10
    assert len(unmask.audit(Counter(), texts=texts, limit=99).items["sentiment"]) == 50


def test_the_reviews_of_the_package_are_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (measurement,) = unmask.audit(Counter()).measurements
    assert (measurement.corpus, measurement.items, ratings(measurement).changed) == ("reviews", 330, 330)
    assert measurement.headline_text.startswith("No clear bias: a male word")  # a few words are not a gender
    assert {"short-reviews", "over-texts"} <= {caveat.code for caveat in measurement.caveats}


# Recorded ratings


def _assert_same(first: Measurement, second: Measurement) -> None:
    unknown = {"duplicates": 0, "long_texts": "", "most_tokens": None}
    assert second.tests == first.tests
    assert second.groups == first.groups
    assert second.competence in ([], first.competence)
    # an audit folder says who gave the ratings; of recorded ratings alone, nobody knows
    assert second.headline == (first.headline if second.competence else SentimentMeasure().headline(first))
    assert ratings(second) == ratings(first).model_copy(update=unknown)


def test_analyse_gives_the_figures_of_the_audit(audited: Path, folder: Path) -> None:
    (first,) = load(audited).measurements
    done = command("analyse", "audit", "--out", "analysed", cwd=folder)
    assert done.returncode == 0, done.stderr
    analysed = load(folder / "analysed").measurements[0]
    assert analysed.competence == first.competence
    _assert_same(first, analysed)
    items = read_items(audited / "items" / "sentiment.jsonl.gz")
    items.to_csv(folder / "items.csv", index=False)
    for file in (audited / "items" / "sentiment.jsonl.gz", folder / "items.csv"):
        _assert_same(first, unmask.analyse(file).measurements[0])
    two_sets = unmask.audit(Counter(), texts=folder / "texts.csv", terms=["pronouns", "all"])
    two_sets.items["sentiment"].to_parquet(folder / "both.parquet")
    for measurement, recorded in zip(
        two_sets.measurements, unmask.analyse(folder / "both.parquet").measurements, strict=True
    ):
        _assert_same(measurement, recorded)


def test_two_columns_are_enough(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.csv", "p_female,p_male", "0.5,0.6", "0.5,0.7", "0.4,0.4", "0.9,0.8")
    (measurement,) = unmask.analyse(file).measurements
    details = ratings(measurement)
    assert (details.texts, details.changed, details.above, details.below, details.equal) == (4, 3, 2, 1, 0)
    assert measurement.tests["bias"].value == pytest.approx(0.2 / 3)
    assert (details.scale, details.flips, details.by_term, details.by_length, details.by_label) == (
        1.0,
        None,
        [],
        [],
        [],
    )
    (published,) = unmask.analyse(file, protocol="published").measurements
    assert published.tests["bias"].p_adjusted == 1.0
    columns = "p_female,p_male,changed_terms,words,label,cut,terms_read,choice_female,choice_male"
    sparse = write_lines(tmp_path / "s.csv", columns, "0.5,0.6,,,,,,,", "0.5,0.7,,3,1,,,,", "0.4,0.6,,,,,,pos,")
    details = ratings(unmask.analyse(sparse).measurements[0])
    assert (details.changed, details.flips, details.cut, details.outside, details.by_term, details.by_length) == (
        3,
        None,
        None,
        None,
        [],
        [],
    )
    assert [part.name for part in details.by_label] == ["1"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("p_female", "0.5"), "lacks the columns 'p_male'"),
        (("p_female,p_male", "0.5,x"), "column 'p_male' has values that are not numbers (first in row 1)"),
        (("p_female,p_male", "0.5,"), "not numbers (first in row 1)"),
        (("p_female,p_male", "0.5,0.5"), "no text that changed"),
        (("p_female,p_male,changed", "0.5,0.6,maybe"), "'changed' is 'maybe' in row 1; give true or false"),
        (("p_female,p_male,changed", "0.5,0.6,true", "0.5,0.6,false"), "row 2 did not change, yet has two ratings"),
        (("p_female,p_male,words", "0.5,0.6,3", "0.5,0.6,many"), "'words' is 'many' in row 2; give a number"),
        (("p_female,p_male,cut", "0.5,0.6,x"), "'cut' is 'x' in row 1; give true or false"),
        (("p_female,p_male,terms", "0.5,0.6,all", "0.5,0.6,"), "'terms' is empty in row 2"),
        (("p_female,p_male",), "has no rows"),
    ],
)
def test_recorded_ratings_that_are_invalid_are_refused(lines: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=re.escape(message)):
        unmask.analyse(write_lines(tmp_path / "r.csv", *lines))


def test_options_that_do_not_apply_to_ratings_are_refused(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "r.csv", "p_female,p_male", "0.5,0.6")
    with pytest.raises(UnmaskError, match="--score-column does not apply: sentiment needs p_female and p_male"):
        unmask.analyse(file, score_column="p_male")
    with pytest.raises(UnmaskError, match="lacks the columns 'template'"):
        unmask.analyse(file, measure="association")
    with pytest.raises(UnmaskError, match=r"did you mean 'sentiment'\?"):
        unmask.analyse(file, measure="sentimental")


# Real reviews, and models that have read nothing


def test_the_published_sets_find_as_many_reviews_as_the_paper(data: Path) -> None:
    """The number of the 25,000 test reviews without a term. (4,222 have none of all terms, which another test checks;
    two more have only *womb*, which has no counterpart.)
    """

    class Length:
        labels = ("negative", "positive")

        def __init__(self) -> None:
            self.rated_texts: list[Any] = []

        def probabilities(self, texts: Sequence[Any]) -> Any:
            self.rated_texts += texts
            high = np.array([len(text) % 997 for text in texts]) / 997
            return np.column_stack([1 - high, high])

    assert (data / "imdb").is_dir()
    model = Length()
    audit = unmask.audit(model, corpora="imdb", protocol="published", terms=["pronouns", "family"])
    without = [ratings(measurement).texts - ratings(measurement).changed for measurement in audit.measurements]
    assert without == [8655, 6668]
    assert [ratings(measurement).texts for measurement in audit.measurements] == [25_000] * 2
    once = model.rated_texts[:-64]  # the last ones are the sample for the noise floor
    assert len(once) == len(set(once)) < 50_000 + sum(25_000 - unchanged for unchanged in without)


def test_models_that_have_read_nothing_have_no_common_direction() -> None:
    """Random weights make each model prefer *he* or *she*; over many models nothing remains."""
    versions = unmask.rewriter("female"), unmask.rewriter("male")
    pairs = rewrite_both_ways(
        [TextExample(review.text, id=str(n)) for n, review in enumerate(reviews()[:40])], *versions
    )
    tokenizer = tokenizer_of([text for pair in pairs for text in (pair.female.text, pair.male.text)])
    biases = []
    for seed in range(30):
        model = _tiny(tokenizer, seed=seed)
        rater = Rater(TransformersClassifier(model, tokenizer), None)
        biases.append(score_pairs(pairs, rater, seed=0).items["bias"].mean())
    assert np.abs(biases).max() > 1e-4
    assert stats.ttest_1samp(biases, 0).pvalue > 0.01
