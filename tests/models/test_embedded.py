"""The embedded models: present, loadable, and as described on their cards."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoModelForMaskedLM, AutoTokenizer

import commands
import unmask
from unmask import embedded
from unmask.lexicon import attributes, persons
from unmask.models.handle import ModelHandle
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier

MINI = embedded.MODELS["unmask-mini"].folder


def test_weights_are_small_enough_for_a_package() -> None:
    assert embedded.MODELS["unmask-mini"].size < 20e6
    assert sum(model.size for model in embedded.MODELS.values()) < 30e6
    for model in embedded.MODELS.values():
        assert model.size > 1e6, model.name
        card = (model.folder / "README.md").read_text(encoding="utf-8")
        assert card.startswith(f"# {model.name}\n")


def test_the_masked_language_model_loads_as_any_other() -> None:
    model, report = AutoModelForMaskedLM.from_pretrained(MINI, output_loading_info=True)
    assert not report["missing_keys"]
    assert sum(parameter.numel() for parameter in model.parameters()) < 12e6
    assert next(model.parameters()).dtype.itemsize == 4  # float16 only on disk
    assert AutoTokenizer.from_pretrained(MINI).tokenize("She is an Electrician.") == [
        "she",
        "is",
        "an",
        "electrician",
        ".",
    ]


def test_person_words_and_professions_are_whole() -> None:
    tokenizer = AutoTokenizer.from_pretrained(MINI)
    targets = {person.target for person in persons("en")}
    assert len(targets) == 18
    single = {
        attribute.name for attribute in attributes("en") if " " not in attribute.name and "-" not in attribute.name
    }
    assert len(single) > 20
    common = {"nurse", "doctor", "engineer", "teacher", "lawyer", "soldier", "librarian", "programmer", "nanny", "chef"}
    split = [word for word in targets | single | common if len(tokenizer.tokenize(word)) != 1]
    assert not split


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("The capital of France is [MASK].", "paris"),
        ("She opened the [MASK] and walked into the room.", "door"),
        ("This is the best [MASK] I have ever seen.", "movie"),
        ("She has two brothers and three [MASK].", "sisters"),
    ],
)
def test_it_has_read(sentence: str, word: str) -> None:
    tokenizer, model = AutoTokenizer.from_pretrained(MINI), AutoModelForMaskedLM.from_pretrained(MINI).eval()
    encoded = tokenizer(sentence, return_tensors="pt")
    position = int((encoded["input_ids"][0] == tokenizer.mask_token_id).nonzero())
    assert tokenizer.convert_ids_to_tokens(int(model(**encoded).logits[0, position].argmax())) == word


def test_an_audit_says_what_its_card_says() -> None:
    measurement = unmask.audit("unmask-mini", measures="association").measurements[0]
    stereotype, share = measurement.tests["stereotype"], measurement.tests["workforce share, pearson"]
    assert stereotype.value == pytest.approx(0.44, abs=0.01)
    assert share.value == pytest.approx(0.49, abs=0.01)
    assert share.p_adjusted is not None
    assert share.p_adjusted < 0.05


def test_the_command_takes_names_and_lists_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    assert all(name in commands.unmask("models", cwd=tmp_path).stdout for name in embedded.MODELS)
    process = commands.unmask("audit", "--templates", "t.csv", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "audits" / "unmask-mini" / "report.html").is_file()
    process = commands.unmask("audit", "unmask-mini-nli", "--limit", "2", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "audits" / "unmask-mini-nli" / "report.html").is_file()


def test_the_sentiment_classifier_knows_praise_from_blame() -> None:
    classifier = load_classifier("unmask-mini-sentiment")
    assert isinstance(classifier, Classifier)
    assert list(classifier.labels) == ["negative", "positive"]
    p = classifier.probabilities(["A wonderful film.", "Dull, stupid and far too long.", "I loved every minute of it."])
    assert list(p.argmax(axis=1)) == [1, 0, 1]


def test_the_inference_classifier_knows_its_labels() -> None:
    classifier = load_classifier("unmask-mini-nli")
    assert isinstance(classifier, Classifier)
    assert list(classifier.labels) == ["entailment", "neutral", "contradiction"]
    premise = "A man is playing a guitar on a stage."
    hypotheses = ["A man is playing music.", "The man is famous.", "A man is sleeping in bed."]
    p = classifier.probabilities([(premise, hypothesis) for hypothesis in hypotheses])
    assert list(p.argmax(axis=1)) == [0, 1, 2]


def _measure_accuracy(name: str, rows: list[dict[str, Any]], texts: list[Any], labels: dict[str, str]) -> float:
    classifier = load_classifier(name)
    assert isinstance(classifier, Classifier)
    expected = [classifier.labels.index(labels.get(row["label"], row["label"])) for row in rows]
    return float(np.mean(classifier.probabilities(texts).argmax(axis=1) == expected))


def _sample_rows(file: Path, count: int) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return random.Random(0).sample(rows, count)


def test_the_classifiers_are_as_good_on_real_test_data_as_their_cards_say(data: Path) -> None:
    rows = _sample_rows(data / "imdb" / "imdb_test.jsonl.gz", 300)
    texts: list[Any] = [row["text"] for row in rows]
    assert _measure_accuracy("unmask-mini-sentiment", rows, texts, {"pos": "positive", "neg": "negative"}) > 0.89
    rows = _sample_rows(data / "snli" / "snli_test.jsonl.gz", 1000)
    texts = [(row["premise"], row["hypothesis"]) for row in rows]
    assert _measure_accuracy("unmask-mini-nli", rows, texts, {}) > 0.75


def test_an_audit_names_what_the_model_has_hardly_read_about(tmp_path: Path) -> None:
    counts = ModelHandle("unmask-mini").training_counts
    assert set(counts) == {attribute.forms["profession"] for attribute in attributes("en")}
    rare = [profession for profession, count in counts.items() if count < 10]
    (tmp_path / "one.csv").write_text("template\n{person} is {a} {profession}.\n", encoding="utf-8")
    audit = unmask.audit("unmask-mini", measures="association", templates=tmp_path / "one.csv")
    (caveat,) = (caveat for caveat in audit.measurements[0].caveats if caveat.code == "hardly-read")
    assert f"{len(rare)} of the 60 professions" in caveat.text
    card = " ".join((MINI / "README.md").read_text(encoding="utf-8").split())
    assert [profession for profession in rare if profession not in card] == []


def test_only_a_folder_with_counts_has_training_counts(tmp_path: Path) -> None:
    (tmp_path / "training_counts.csv").write_text("phrase,count\nnurse,12\n", encoding="utf-8")
    assert ModelHandle(tmp_path).training_counts == {"nurse": 12}
    assert ModelHandle("unmask-mini-nli").training_counts == {}
    assert ModelHandle(object()).training_counts == {}
