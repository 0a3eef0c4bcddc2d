"""The study of 63 classifiers: grid, texts, trainings, measurements and the command."""

from __future__ import annotations

import csv
import gzip
import itertools
import json
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from commands import unmask as command
from toy_model import bert_of, tokenizer_of
from toy_study import step_keys
from unmask.errors import Stopped, UnmaskError
from unmask.lexicon.sentences import reviews
from unmask.measures.base import PROTOCOLS, Context
from unmask.measures.sentiment.analysis import analyse
from unmask.models.loading import Trainable, load_trainable
from unmask.options import LoadOptions
from unmask.results.storage import write_items
from unmask.rewriting import options as rewriting
from unmask.rewriting.published.masking import Masking, clean
from unmask.rewriting.result import Replacement, Rewritten
from unmask.studies.imdb63 import ReviewStudyOptions, grid, texts
from unmask.studies.imdb63.frequencies import count_terms
from unmask.studies.imdb63.grid import CONDITIONS, TERMS
from unmask.studies.imdb63.measurements import read_figures
from unmask.studies.imdb63.plan import (
    BiasMeasuring,
    ReviewTraining,
    evaluate_classifier,
    plan_batch_sizes,
    steps,
)
from unmask.studies.models import ITEMS, RESULT, hash_weights
from unmask.studies.steps import Event, Outcome, Step
from unmask.studies.study import StudyRun, run_study
from unmask.training import checkpoints, examples

Folder = Callable[[str], Path]
CPU = LoadOptions(device="cpu", offline=True)
TRAINED, TESTED = 40, 24


def write_reviews(path: Path, rows: list[tuple[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as page:
        csv.writer(page).writerows([("text", "label"), *rows])
    return path


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reviews for training and testing, and two small base models, `one` and `two`."""
    root = tmp_path_factory.mktemp("study")
    rows = [(review.text, review.label) for review in reviews()]
    write_reviews(root / "train.csv", rows[:TRAINED])
    write_reviews(root / "test.csv", rows[TRAINED : TRAINED + TESTED])
    tokenizer = tokenizer_of([text for text, _ in rows])
    for seed, name in enumerate(("one", "two"), 1):
        model = bert_of(tokenizer, seed=seed, hidden=32, layers=1, init=0.2)
        model.config.hidden_dropout_prob = 0.1  # so that an unrestored random state is detected
        model.save_pretrained(root / name)
        tokenizer.save_pretrained(root / name)
    return root


@pytest.fixture(scope="session")
def study_options(small: Path) -> ReviewStudyOptions:
    """Two models and three conditions: ten measurements."""
    return ReviewStudyOptions(
        models=(f"one={small / 'one'}", f"two={small / 'two'}"),
        conditions=("original", "R-pro", "mix-all"),
        learning_rate=2e-3,
        epochs=2,
        batch_size=8,
        train=small / "train.csv",
        test=small / "test.csv",
        **dict(CPU),
    )


@pytest.fixture(scope="session")
def finished_study(
    study_options: ReviewStudyOptions, tmp_path_factory: pytest.TempPathFactory
) -> tuple[StudyRun, Path]:
    """The study, run in this process. Tests must not modify it."""
    out = tmp_path_factory.mktemp("done") / "study"
    return run_study("imdb-63", study_options, out), out


def map_statuses(outcomes: Sequence[Outcome]) -> dict[str, str]:
    return {outcome.name: outcome.status for outcome in outcomes}


def find_executed_steps(run: StudyRun) -> set[str]:
    """The steps that this run executed."""
    return {name for name, status in map_statuses(run.finished.outcomes).items() if status != "kept"}


def get_step_folder(run: StudyRun, name: str) -> Path:
    return run.finished.folders[name]


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def have_same_training(first: Path, second: Path) -> bool:
    """Whether two trainings have equal histories and weights; the saved weights alone may be of an early step."""
    first_weights, second_weights = (load_file(cell / "model" / "model.safetensors") for cell in (first, second))
    courses = [read_json(cell / "model" / "metrics.json")["history"] for cell in (first, second)]
    return courses[0] == courses[1] and all(
        torch.equal(first_weights[name], second_weights[name]) for name in {*first_weights, *second_weights}
    )


# The grid


def test_the_grid_is_the_papers(study_options: ReviewStudyOptions) -> None:
    """The seven models of the paper, from the hub: 49 trainings, 63 measurements."""
    planned = steps(study_options.replace(models=(), conditions=(), batch_size=None))
    assert Counter(step.kind for step in planned) == {"texts": 17, "training": 49, "measuring": 63, "counting": 1}
    measuring_steps = [step for step in planned if isinstance(step, BiasMeasuring)]
    rows = {(step.training.base.name, step.training.condition, step.terms) for step in measuring_steps}
    names = ("distbase", "bertbase", "bertlarge", "robertabase", "robertalarge", "albertbase", "albertlarge")
    measured_conditions = [("original", terms) for terms in TERMS] + [
        (name, name.partition("-")[2]) for name in CONDITIONS[1:]
    ]
    assert rows == {(name, *pair) for name in names for pair in measured_conditions}
    assert [step.weights for step in select_trainings(planned)[::7]] == [model.model for model in grid.MODELS]
    sizes = [step.settings.batch_size for step in select_trainings(planned)[::7]]
    assert sizes == [32, 32, 16, 32, 16, 16, 8], "the paper's code; its text says 32 or 16"
    assert set(step_keys(planned)) == {step.name for step in planned}
    trained = {step.name: set(step.needs) for step in planned if step.kind == "training"}
    assert trained["training-bertbase-mix-weat"] == {
        "texts-train-weat-male",
        "texts-train-weat-female",
        "texts-test-original",
    }


def select_trainings(planned: Sequence[Step]) -> list[ReviewTraining]:
    return [step for step in planned if isinstance(step, ReviewTraining)]


def plan_batch_comparison(options: ReviewStudyOptions) -> list[BiasMeasuring]:
    measuring_steps = [step for step in steps(options) if isinstance(step, BiasMeasuring) and not step.training.variant]
    return plan_batch_sizes(options, measuring_steps)


def test_another_result_schema_repeats_measurements_but_no_training(
    study_options: ReviewStudyOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = steps(study_options)
    before = step_keys(planned)
    monkeypatch.setattr("unmask.studies.imdb63.plan.SCHEMA_VERSION", 1)
    after = step_keys(planned)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {step.name for step in planned if step.kind == "measuring"}


def test_in_published_the_test_reviews_are_made_like_the_training_reviews(
    study_options: ReviewStudyOptions, data: Path
) -> None:
    planned = steps(study_options.replace(protocol="published", lists=data / "imdb"))
    needs = {cell.name: cell.needs for cell in select_trainings(planned)}
    assert needs["training-one-R-pro"] == ("texts-train-pro-remove", "texts-test-pro-remove")
    assert needs["training-two-mix-all"][2:] == ("texts-test-all-male", "texts-test-all-female")


def test_batch_sizes_add_what_is_not_there(study_options: ReviewStudyOptions) -> None:
    options = study_options.replace(batch_sizes=(8, 4, 8), batch_models=("two",))
    planned = steps(options)
    added = ["training-two-original-batch4", "training-two-R-pro-batch4", "training-two-mix-all-batch4"]
    assert [cell.name for cell in select_trainings(planned)[6:]] == added
    assert [cell.settings.batch_size for cell in select_trainings(planned)] == [8] * 6 + [4] * 3
    assert [(step.training.variant, step.terms) for step in plan_batch_comparison(options)] == [
        ("", "all"),
        ("batch4", "all"),
        ("", "pro"),
        ("batch4", "pro"),
        ("", "all"),
        ("batch4", "all"),
    ]
    assert len(plan_batch_comparison(study_options.replace(batch_sizes=(16,)))) == 6, "of the first three models"


def test_side_experiments_add_what_is_not_there(study_options: ReviewStudyOptions) -> None:
    planned = {step.name for step in steps(study_options)}
    crossed = {step.name for step in steps(study_options.replace(cross_terms=True))} - planned
    classifiers = [f"{model}-{condition}" for model in ("one", "two") for condition in ("R-pro", "mix-all")]
    others = [f"measuring-{name}-with-{terms}" for name in classifiers for terms in TERMS if not name.endswith(terms)]
    assert crossed == set(others), "the classifier of original reviews needs the texts of all sets already"
    repeated = [step for step in steps(study_options.replace(trainings=3, seed=5)) if step.name not in planned]
    added = select_trainings(repeated)
    assert [(step.name, step.seed) for step in added[:2]] == [
        ("training-one-original-seed6", 6),
        ("training-one-original-seed7", 7),
    ]
    assert len(added) == 2 * 6
    assert len(repeated) == 2 * (6 + 10)
    assert not any(isinstance(step, BiasMeasuring) and step.is_crossed for step in repeated)


def test_terms_are_counted_with_the_condition_that_takes_them_out(study_options: ReviewStudyOptions) -> None:
    assert "counting-terms" not in {step.name for step in steps(study_options)}
    alone = steps(ReviewStudyOptions(count_terms=True, train=study_options.train, test=study_options.test))
    assert [step.name for step in alone] == ["texts-train-all-remove", "counting-terms"]
    assert "counting-terms" in {step.name for step in steps(study_options.replace(conditions=("R-all",)))}
    with pytest.raises(UnmaskError, match="--count-terms trains nothing, so --condition has no effect"):
        ReviewStudyOptions(count_terms=True, conditions=("R-all",))


def test_a_study_with_every_side_experiment(study_options: ReviewStudyOptions, tmp_path: Path) -> None:
    options = study_options.replace(
        conditions=("original", "R-all"), models=study_options.models[:1], epochs=1, cross_terms=True, trainings=2
    )
    run = run_study("imdb-63", options, tmp_path / "study")
    assert run.failures == []
    assert run.report is not None
    tables = {table.name: table for table in run.report.tables}
    assert len(tables["table-1"].rows) == 2
    assert [row[2] for row in tables["trainings"].rows] == ["2"] * 4
    crossed = pd.read_csv(tmp_path / "study" / "crossed.csv")
    assert list(crossed["terms"]) == list(TERMS)
    assert set(crossed["condition"]) == {"R-all"}
    trainings = pd.read_csv(tmp_path / "study" / "trainings.csv")
    assert trainings.groupby(["condition", "terms"])["seed"].apply(sorted).tolist() == [[42, 43]] * 4
    weights = [run.finished.folders[f"training-one-original{name}"] for name in ("", "-seed43")]
    assert not have_same_training(*weights)
    removed = [text for text, _ in texts.read_texts(run.finished.folders["texts-train-all-remove"])]
    counted = {row["term"]: row for row in tables["table-a1"].numbers.to_dict("records")}
    assert counted["she"]["occurrences"] == sum(change.term == "she" for text in removed for change in text.changes)
    recorded = ReviewStudyOptions(recorded=(tmp_path / "study" / "trainings.csv",))
    again = run_study("imdb-63", recorded, tmp_path / "again").report
    assert again is not None
    assert {table.name: table for table in again.tables}["trainings"] == tables["trainings"]


def test_terms_by_hand() -> None:
    def rewrite(*terms: tuple[str, str]) -> Rewritten:
        return Rewritten("", tuple(Replacement(0, 0, before, "", term, "word") for before, term in terms))

    counted = count_terms(
        [
            rewrite(("he ", "he"), ("he ", "he"), ("best ", "best man"), ("man ", "best man")),
            rewrite(("He", "he"), (" leading man", "leading man"), ("man ", "man")),
            rewrite(),
        ]
    )
    assert counted == [("he", 3, 2), ("best man", 1, 1), ("leading man", 1, 1), ("man", 1, 1)]
    assert count_terms([]) == []


def test_terms_of_real_reviews_agree_with_a_plain_count(data: Path) -> None:
    """Of 500 cleaned reviews: a term stands between two spaces."""
    masking = Masking(data / "imdb", "all", "remove")
    with gzip.open(data / "imdb" / "imdb_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        reviews = [clean(json.loads(line)["text"]) for line in itertools.islice(lines, 500)]
    counted = {term: (times, number) for term, times, number in count_terms(map(masking.rewrite, reviews))}
    for term in ("he", "mom", "actress", "god"):  # none of them follows itself
        assert counted[term] == (
            sum(text.count(f" {term} ") for text in reviews),
            sum(f" {term} " in text for text in reviews),
        )


@pytest.mark.parametrize(
    ("name", "model_type", "sizes", "expected"),
    [
        ("bertlarge", "Bert", {"num_hidden_layers": 14}, {"num_hidden_layers": 12, "num_attention_heads": 4}),
        ("robertalarge", "Roberta", {"num_hidden_layers": 13}, {"num_hidden_layers": 12, "layer_norm_eps": 1e-12}),
        ("albertlarge", "Albert", {"num_hidden_layers": 3}, {"num_hidden_layers": 12, "num_attention_heads": 64}),
        ("distbase", "DistilBert", {}, {"dropout": 0.5}),
    ],
)
def test_the_papers_architectures_reach_the_model(
    name: str, model_type: str, sizes: dict[str, int], expected: dict[str, float], small: Path, tmp_path: Path
) -> None:
    """The paper's code dropped layers of large models and gave ALBERT 64 heads."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(small / "one")
    common: dict[str, Any] = {"vocab_size": len(tokenizer), "max_position_embeddings": 64}
    if model_type == "DistilBert":
        common |= {"dim": 64, "n_layers": 1, "n_heads": 2, "hidden_dim": 64}
    else:
        common |= {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 64, "layer_norm_eps": 1e-5}
        common |= {"embedding_size": 16} if model_type == "Albert" else {}
    base = getattr(transformers, f"{model_type}ForMaskedLM")
    torch.manual_seed(1)
    original = base(base.config_class(**common, **sizes))
    original.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (base_model,) = grid.choose_base_models((f"{name}={tmp_path}",))
    cells = [ReviewTraining(base_model, "original", protocol, grid.HyperParameters()) for protocol in PROTOCOLS]
    sound, published = (
        load_trainable(str(tmp_path), CPU, labels=texts.LABELS, architecture=cell.inputs()["architecture"]).model
        for cell in cells
    )
    assert {key: getattr(published.config, key) for key in expected} == expected
    assert {key: getattr(sound.config, key) for key in expected} == {
        key: getattr(original.config, key) for key in expected
    }
    if model_type == "Bert":
        assert [len(model.bert.encoder.layer) for model in (sound, published)] == [14, 12]
        last = published.bert.encoder.layer[11].output.dense.weight
        assert torch.equal(last, original.bert.encoder.layer[11].output.dense.weight), "the first twelve, as they were"
    if model_type == "Albert":
        attention = published.albert.encoder.albert_layer_groups[0].albert_layers[0].attention
        assert (attention.num_attention_heads, attention.attention_head_size) == (64, 1)
    if model_type == "Roberta":
        assert {m.eps for m in published.modules() if isinstance(m, torch.nn.LayerNorm)} == {1e-12}
    dropout = (
        {part.p for part in published.distilbert.transformer.modules() if isinstance(part, torch.nn.Dropout)}
        if (model_type == "DistilBert")
        else {published.config.hidden_dropout_prob}
    )
    assert 0.5 in dropout
    assert 0.5 not in {sound.config.to_dict().get(key) for key in ("dropout", "hidden_dropout_prob")}


def test_the_papers_hyper_parameters_are_read(study_options: ReviewStudyOptions, data: Path) -> None:
    hyper_parameters = grid.read_hyper_parameters(data / "imdb" / "hyperparameters.csv")
    assert len(hyper_parameters) == 49
    assert {parameters.planned_epochs for parameters in hyper_parameters.values()} == {20}
    assert hyper_parameters["albertbase", "R-all"] == grid.HyperParameters(1e-5, 6, 16, 20), (
        "the epochs are counted from 0"
    )
    assert hyper_parameters["albertbase", "mix-all"].epochs == 20
    trained = ReviewTraining(
        grid.MODELS[5], "R-all", "published", hyper_parameters["albertbase", "R-all"]
    ).training_options
    assert (trained.epochs, trained.planned_epochs, trained.keep) == (6, 20, "last")
    options = study_options.replace(models=(), conditions=(), hyper_parameters=data / "imdb" / "hyperparameters.csv")
    cells = select_trainings(steps(options))
    assert {(cell.base.name, cell.condition): cell.settings for cell in cells} == hyper_parameters
    with pytest.raises(UnmaskError, match=r"hyperparameters.csv has no line for one and original; add one, or"):
        steps(options.replace(models=study_options.models))


HEADER = "model,condition,learning_rate,epochs,batch_size"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (HEADER, "has no lines below its header"),
        ("", "has no lines below its header"),
        ("model,condition\none,original", "line 2: give model, condition, learning_rate, epochs and batch_size"),
        (f"{HEADER}\none,original,1e-5,3,8\none,R-pro,1e-5", "line 3: give model"),
        (f"{HEADER}\none,R-por,1e-5,3,8", "line 2: unknown training condition 'R-por'; choose from"),
        (f"{HEADER}\none,original,1e-5,3.5,8", "line 2: give model"),
        (f"{HEADER}\none,original,1e-5,3,0", "line 2: cannot train with learning rate 1e-05, 3 epochs and batch"),
        (f"{HEADER}\none,original,nan,3,8", "line 2: cannot train"),
        (f"{HEADER}\none,original,1,0,8", "line 2: cannot train"),
        (f"{HEADER.replace('epochs', 'epoch_index_from_0')}\none,original,1e-5,20,8", "from 1 on, 20 epochs at most"),
        (f"{HEADER}\none,original,1e-5,3,8\none,original,1e-4,3,8", "line 3: one and original occur twice"),
        (b"\xff\xfe\x00", r"cannot be read \(it is not UTF-8"),
        (None, r"cannot be read \(No such file"),
    ],
)
def test_bad_hyper_parameters_are_one_line(content: str | bytes | None, line: str, tmp_path: Path) -> None:
    path = tmp_path / "hyper.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UnmaskError, match=line) as refused:
        grid.read_hyper_parameters(path)
    assert "\n" not in str(refused.value)


def test_own_hyper_parameters_are_taken_as_they_are(study_options: ReviewStudyOptions, tmp_path: Path) -> None:
    path = tmp_path / "hyper.csv"
    path.write_text(f"{HEADER}\none,original,1e-4,5,4\ntwo,original,2e-4,1,2\n", encoding="utf-8-sig")
    cells = select_trainings(steps(study_options.replace(conditions=("original",), hyper_parameters=path)))
    assert [cell.settings for cell in cells] == [grid.HyperParameters(1e-4, 5, 4), grid.HyperParameters(2e-4, 1, 2)]


# Real reviews in every condition


def run_texts(cell: texts.Texts, folder: Path) -> list[tuple[str, str]]:
    folder.mkdir()
    cell.run(folder, {}, folder, lambda _: None)
    return [(example.text, label) for example, label in texts.read_texts(folder)]


@pytest.fixture(scope="session")
def imdb(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files with 200 real reviews of each split; reading all reviews in every test would be slow."""
    assert (data / "imdb").is_dir()
    root = tmp_path_factory.mktemp("imdb")
    examples_by_split = {
        split: examples.read_known_dataset("imdb", "sentiment", offline=True, splits=(split,))[split]
        for split in texts.SPLITS
    }
    files = []
    for split, split_examples in examples_by_split.items():
        selected = [*split_examples[:100], *split_examples[-100:]]
        files.append(write_reviews(root / f"{split}.csv", [(example.text, str(example.label)) for example in selected]))
    return files


def test_a_limit_takes_half_of_each_label(small: Path) -> None:
    files = (small / "train.csv", small / "test.csv")
    source = texts.make_source(files, 7, offline=True, seed=1)
    drawn = source.read_reviews("train")
    assert [example.label for example in drawn] == ["negative"] * 3 + ["positive"] * 3
    whole = examples.read_examples(small / "train.csv", "sentiment")
    indices = [whole.index(example) for example in drawn]
    assert len(set(indices)) == 6
    assert indices == [*sorted(indices[:3]), *sorted(indices[3:])]
    assert texts.make_source(files, 7, offline=True, seed=1) == source
    assert texts.make_source(files, 7, offline=True, seed=2).digests != source.digests, "they are drawn"
    all_reviews = texts.make_source(files, 1000, offline=True).read_reviews("train")
    assert Counter(example.text for example in all_reviews) == Counter(example.text for example in whole), (
        "more than there are: all"
    )


def test_the_key_of_texts_holds_what_rewrites_them(tmp_path: Path) -> None:
    """The key covers the files of the English rewriter and of the paper's cleaning, and no others."""
    package = Path(texts.__file__).parents[2]
    for folder in ("rewriting", "lexicon"):
        shutil.copytree(package / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "embedded" / "unmask-mini").mkdir(parents=True)
    weights = tmp_path / "embedded" / "unmask-mini" / "model.safetensors"
    weights.write_bytes(b"weights")

    def changes_key(file: str) -> bool:
        path = tmp_path / file
        original, before = path.read_bytes(), texts.hash_rewriter_files(tmp_path)
        path.write_bytes(original + b"\n")
        after = texts.hash_rewriter_files(tmp_path)
        path.write_bytes(original)
        return before != after

    english = [*tmp_path.glob("rewriting/english/*"), *tmp_path.glob("rewriting/published/*"), weights]
    used = {f"lexicon/{name}.py" for path in english for name in LEXICON.findall(path.read_bytes().decode("latin-1"))}
    assert "lexicon/gender.py" in used
    for file in (
        *(path.relative_to(tmp_path).as_posix() for path in english),
        *used,
        "lexicon/table.py",
        "rewriting/options.py",
    ):
        assert changes_key(file), file
    for name in ("gender", "phrases", "names", "name_words", "name_context"):
        assert changes_key(f"lexicon/en/{name}.csv"), name
    for file in ("lexicon/en/reviews.csv", "lexicon/de/gender.csv", "rewriting/german/rewriter.py"):
        assert not changes_key(file), file
    source = texts.ReviewSource(None, (), ("one", "two"))
    sound, published = (
        texts.Texts(source, "train", "", texts.ORIGINAL, protocol, str(tmp_path)).inputs() for protocol in PROTOCOLS
    )
    assert "rewriter" not in sound
    assert published["rewriter"] == texts.hash_rewriter() == texts.hash_rewriter_files(package), "they are cleaned"


LEXICON = re.compile(r"from unmask\.lexicon\.(\w+) import")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_conditions_are_made_of_real_reviews(protocol: str, data: Path, imdb: list[Path], tmp_path: Path) -> None:
    request = ReviewStudyOptions(
        protocol=protocol, models=("one=unmask-mini",), train=imdb[0], test=imdb[1], lists=data / "imdb", **dict(CPU)
    )
    planned = steps(request)
    cells = {step.name: step for step in planned if isinstance(step, texts.Texts)}
    source = examples.read_examples(imdb[0], "sentiment")
    before: dict[str, Path] = {}
    condition_texts: dict[str, list[tuple[str, str]]] = {}
    for name in ("original", "pro-remove", "all-remove", "weat-male", "weat-female"):
        before[f"texts-train-{name}"] = tmp_path / name
        condition_texts[name] = run_texts(cells[f"texts-train-{name}"], tmp_path / name)
        assert [label for _, label in condition_texts[name]] == [example.label for example in source]
    expected = [clean(example.text) if protocol == "published" else example.text for example in source]
    assert [text for text, _ in condition_texts["original"]] == expected
    for name, terms in (("pro", "pronouns"), ("all", "all")):
        removed = [text for text, _ in condition_texts[f"{name}-remove"]]
        if protocol == "published":
            masking = Masking(data / "imdb", terms, "remove")
            assert removed == [remove_terms(text, sorted(masking.terms)) for text in expected]
        else:
            rewriter = rewriting.build_rewriter(rewriting.RewriteOptions(to="remove", terms=terms))
            assert removed[::10] == [rewriter.rewrite(text).text for text in expected[::10]]
        assert sum(a != b for a, b in zip(removed, expected, strict=True)) > 100
    male, female = condition_texts["weat-male"], condition_texts["weat-female"]
    assert sum(a != b for a, b in zip(male, female, strict=True)) > 100
    (cell,) = [step for step in select_trainings(planned) if step.condition == "mix-weat"]
    splits = cell.split_examples(before)
    assert not splits.test
    train, validation = (
        [(example.text, str(example.label)) for example in part] for part in (splits.train, splits.validation)
    )
    assert Counter(train) + Counter(validation) == Counter(male) + Counter(female)
    out = [(male.index(row) if row in male else female.index(row)) for row in validation]
    if protocol == "sound":
        assert len(validation) == 40
        assert Counter(validation) == Counter(version[index] for index in set(out) for version in (male, female))
    else:
        assert len(validation) == 40
        assert len(set(out)) > 30, "rows, whatever review they are of"
    reseeded = replace(cell, seed=1).split_examples(before)
    assert reseeded.validation != splits.validation


def remove_terms(text: str, terms: list[str]) -> str:
    """Remove terms as the paper's code does."""
    for term in terms:
        text = text.replace(f" {term} ", " ")
    return text


def test_reviews_that_cannot_be_studied_are_refused_first(study_options: ReviewStudyOptions, tmp_path: Path) -> None:
    rows = [(review.text, review.label) for review in reviews()[:8]]
    stars = write_reviews(tmp_path / "stars.csv", [(text, "5" if label == "positive" else "1") for text, label in rows])
    with pytest.raises(UnmaskError, match=r"stars.csv has the labels '1', '5'; the study needs reviews of 'negative'"):
        steps(study_options.replace(test=stars))
    good = write_reviews(tmp_path / "good.csv", [row for row in rows if row[1] == "positive"])
    with pytest.raises(UnmaskError, match=r"good.csv has the labels 'positive'; the study needs"):
        steps(study_options.replace(train=good))
    with pytest.raises(UnmaskError, match="the limit is 3 reviews; give 4 or more"):
        steps(study_options.replace(limit=3))
    reviews_file = write_reviews(tmp_path / "own.csv", rows)
    source = texts.make_source((reviews_file, reviews_file), None, offline=True)
    assert source.corpus == "custom"
    write_reviews(reviews_file, rows[1:])
    with pytest.raises(UnmaskError, match="the train reviews have changed since the study began"):
        source.read_reviews("train")


def test_base_models_that_cannot_be_used_are_refused_first(
    study_options: ReviewStudyOptions, small: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for file in (small / "one").iterdir():
        if file.suffix != ".safetensors":
            (bare / file.name).write_bytes(file.read_bytes())
    for model, line in (
        (f"x={bare}", r"bare has no weights \(\*.safetensors\); give a folder"),
        (f"x={tmp_path / 'nowhere'}", "nowhere' does not exist; give a model folder, a hub id"),
        ("bertbsae", "unknown base model 'bertbsae'; did you mean 'bertbase'"),
        ("=bert", "'=bert' names no base model; give NAME=MODEL"),
        ("a-b=bert", "'a-b=bert' names no base model"),
        ("a=", "'a=' names no base model"),
    ):
        with pytest.raises(UnmaskError, match=line):
            steps(study_options.replace(models=(model,)))
    with pytest.raises(UnmaskError, match="the base model 'x' is given twice"):
        steps(study_options.replace(models=("x=bert", "x=roberta")))
    assert hash_weights("roberta-base") == hash_weights("roberta-base") == "roberta-base"
    assert len(hash_weights("unmask-mini")) == 64
    assert hash_weights(str(small / "one")) != hash_weights(str(small / "two"))


def test_what_a_base_model_is_made_of_decides(small: Path, tmp_path: Path) -> None:
    """The hash covers code next to the weights and, for an adapter, its base model."""
    base, adapter = Path(shutil.copytree(small / "one", tmp_path / "base")), tmp_path / "adapter"
    assert hash_weights(str(base)) == hash_weights(str(small / "one")), "wherever it is"
    add_adapter(load_trainable(str(base), CPU, labels=None), base, adapter)
    whole, adapted = hash_weights(str(base)), hash_weights(str(adapter), CPU)
    (base / "README.md").write_text("about it", encoding="utf-8")
    assert (hash_weights(str(base)), hash_weights(str(adapter), CPU)) == (whole, adapted)
    (base / "modeling.py").write_text("pass", encoding="utf-8")
    assert hash_weights(str(base)) != whole
    assert hash_weights(str(adapter), CPU) != adapted
    (base / "modeling.py").unlink()
    assert hash_weights(str(adapter), CPU) == adapted
    shutil.copy(small / "two" / "model.safetensors", base)
    assert hash_weights(str(adapter), CPU) != adapted


def add_adapter(loaded: Trainable, base: Path, folder: Path) -> None:
    """Save an untrained adapter."""
    adapted = checkpoints.add_adapters(loaded.model, 2, loaded.trained_whole, base=str(base))
    checkpoints.save_adapter(adapted, loaded.model, loaded.tokenizer, folder)


# In this process


def test_a_study_ends_in_tables(finished_study: tuple[StudyRun, Path]) -> None:
    run, out = finished_study
    assert set(map_statuses(run.finished.outcomes).values()) == {"done"}
    assert run.finished.summary == "27 steps: 27 done"
    assert run.failures == []
    cells = pd.read_csv(out / "cells.csv")
    expected = [("original", "pro"), ("original", "weat"), ("original", "all"), ("R-pro", "pro"), ("mix-all", "all")]
    assert list(cells[["model", "condition", "terms"]].itertuples(index=False, name=None)) == [
        (model, *pair) for model in ("one", "two") for pair in expected
    ]
    assert set(cells["n"]) == {TESTED}
    assert (cells["below"] + cells["equal"] + cells["above"] == TESTED).all()
    assert (cells["abs_changed"] > 1e-6).all(), "these models have a bias, if a small one"
    assert cells["accuracy"].between(0, 1).all()
    assert cells["p_adjusted"].between(cells["p"], 1).all()
    assert cells["p_adjusted"].min() == pytest.approx(10 * cells["p"].min()), "Holm: the smallest of ten"
    assert not (out / "batches.csv").exists()
    assert run.report is not None
    assert [table.name for table in run.report.tables][:2] == ["table-1", "table-2"]
    assert run.report.settings["reviews"] == "train.csv and test.csv"
    assert not run.report.missing  # the other conditions of both models were not requested
    measurement = read_json(get_step_folder(run, "measuring-one-R-pro-with-pro") / "measurement.json")
    assert (measurement["corpus"], measurement["variant"]) == ("custom", "pronouns")
    assert measurement["details"]["cut"] == 0
    metrics = read_json(get_step_folder(run, "training-one-R-pro") / "metrics.json")
    assert (metrics["examples"], set(metrics["labels"])) == (TESTED, {"negative", "positive"})
    assert cells["size"].iloc[0] == metrics["parameters"]
    trained = read_json(get_step_folder(run, "training-one-mix-all") / "model" / "metrics.json")
    assert trained["examples"] == {"train": 72, "validation": 8, "test": 0}
    assert trained["settings"]["max_length"] == 64, "all that the model can read"


def test_what_is_done_is_kept(
    study_options: ReviewStudyOptions, finished_study: tuple[StudyRun, Path], tmp_path: Path
) -> None:
    """A change reruns only the steps that depend on it."""
    first, out = copy_study(finished_study, tmp_path)
    before = (out / "cells.csv").read_text(encoding="utf-8")
    repeated = run_study("imdb-63", study_options, out)
    assert find_executed_steps(repeated) == set()
    assert (out / "cells.csv").read_text(encoding="utf-8") == before
    assert repeated.page == out / "report.html"
    assert repeated.page.is_file()
    shutil.rmtree(get_step_folder(repeated, "measuring-two-mix-all-with-all"))
    assert find_executed_steps(run_study("imdb-63", study_options, out)) == {"measuring-two-mix-all-with-all"}
    assert (out / "cells.csv").read_text(encoding="utf-8") == before
    fewer = study_options.replace(models=study_options.models[:1], conditions=("original",))
    other = run_study("imdb-63", fewer.replace(learning_rate=5e-4), out)
    assert find_executed_steps(other) == {
        "training-one-original",
        *(f"measuring-one-original-with-{terms}" for terms in TERMS),
    }
    assert not have_same_training(
        get_step_folder(other, "training-one-original"), get_step_folder(first, "training-one-original")
    )
    assert find_executed_steps(run_study("imdb-63", fewer, out)) == set(), "both are kept"


def copy_study(finished_study: tuple[StudyRun, Path], folder: Path) -> tuple[StudyRun, Path]:
    run, out = finished_study
    return run, Path(shutil.copytree(out, folder / "copy"))


def test_each_setting_makes_another_training_and_only_the_form_other_texts(study_options: ReviewStudyOptions) -> None:
    options = study_options.replace(models=study_options.models[:1], conditions=("original",))
    keys = step_keys(steps(options))
    for change in ({"epochs": 3}, {"batch_size": 4}, {"seed": 1}, {"max_length": 32}, {"learning_rate": 1e-4}):
        other = step_keys(steps(options.replace(**change)))
        assert {name.partition("-")[0] for name in keys if keys[name] != other[name]} == {"training", "measuring"}
    fewer, drawn = (step_keys(steps(options.replace(limit=8, seed=seed))) for seed in (42, 1))
    assert not set(keys.values()) & set(fewer.values())
    assert not set(fewer.values()) & set(drawn.values()), "with a limit, the seed decides the reviews too"


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    study_options: ReviewStudyOptions, finished_study: tuple[StudyRun, Path], tmp_path: Path
) -> None:
    """Ctrl-C in the second epoch of the last training."""

    def interrupt(event: Event) -> None:
        if event.name == "training-one-mix-all" and event.line.startswith("step 13 of 18"):
            signal.raise_signal(signal.SIGINT)

    request = study_options.replace(models=study_options.models[:1], conditions=("original", "mix-all"))
    with pytest.raises(Stopped, match=r"stopped; \d+ of 16 steps are done, and the same command continues"):
        run_study("imdb-63", request, tmp_path / "study", watch=interrupt)
    (left,) = (tmp_path / "study" / "unfinished").iterdir()
    assert left.name.startswith("training-one-mix-all-")
    lines: list[str] = []
    finished = run_study(
        "imdb-63", request, tmp_path / "study", watch=lambda event: lines.append(f"{event.name} {event.line}")
    )
    training_lines = [
        line.removeprefix("training-one-mix-all ") for line in lines if line.startswith("training-one-mix-all ")
    ]
    first, second = [line for line in training_lines if line][:2]
    assert (first.split()[0], second.split()[:2]) == ("Resuming", ["step", "14"])
    assert "training-one-original" not in find_executed_steps(finished)
    whole, name = finished_study[0], "training-one-mix-all"
    assert have_same_training(get_step_folder(finished, name), get_step_folder(whole, name))
    assert not have_same_training(get_step_folder(finished, "training-one-original"), get_step_folder(whole, name))
    assert list((tmp_path / "study" / "unfinished").iterdir()) == []


@pytest.mark.parametrize("damage", ["checkpoint", "run"])
def test_a_checkpoint_that_cannot_be_used_is_given_up(
    damage: str, study_options: ReviewStudyOptions, finished_study: tuple[StudyRun, Path], tmp_path: Path
) -> None:
    """The checkpoint is truncated, or comes from a machine with another precision."""
    name = "training-one-original"
    by_name = finished_study[0].finished.folders
    (cell,) = [training for training in select_trainings(steps(study_options)) if training.name == name]
    before = {need: by_name[need] for need in cell.needs}

    def interrupt(line: str) -> None:
        if line.startswith("step 7 of 10"):
            signal.raise_signal(signal.SIGINT)

    draft, workspace = tmp_path / "draft", tmp_path / "workspace"
    for folder in (draft, workspace):
        folder.mkdir()
    with pytest.raises(Stopped):
        cell.run(draft, before, workspace, interrupt)
    (left,) = workspace.iterdir()
    if damage == "checkpoint":
        with (left / "latest" / "optimizer.bin").open("r+b") as file:
            file.truncate(100)
    else:
        run = read_json(left / "run.json")
        (left / "run.json").write_text(json.dumps(run | {"precision": "bf16"}), encoding="utf-8")
    messages: list[str] = []
    cell.run(draft, before, workspace, messages.append)
    (given_up,) = [
        index for index, line in enumerate(messages) if line.startswith("starting again, because it cannot resume: ")
    ]
    assert messages[given_up + 2].startswith("step 1 of 10")
    assert have_same_training(draft, by_name[name])


@pytest.fixture(scope="session")
def broken(small: Path) -> Path:
    """A model with NaN weights."""
    folder = small / "broken"
    folder.mkdir()
    for file in (small / "one").iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    tensors = load_file(folder / "model.safetensors")
    tensors["bert.embeddings.word_embeddings.weight"][:] = float("nan")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


def test_published_runs_too_and_a_failure_stops_nothing_else(
    study_options: ReviewStudyOptions, broken: Path, data: Path, tmp_path: Path
) -> None:
    request = study_options.replace(
        protocol="published",
        lists=data / "imdb",
        models=(f"bad={broken}", study_options.models[1].replace("two=", "bertbase=")),
        conditions=("mix-all",),
        max_length=24,
    )
    finished = run_study("imdb-63", request, tmp_path / "study")
    by_name = {outcome.name: outcome for outcome in finished.finished.outcomes}
    assert by_name["training-bad-mix-all"].error.startswith("the loss is nan at step 0; no checkpoint was saved")
    assert by_name["measuring-bad-mix-all-with-all"].error == "it needs training-bad-mix-all, which failed"
    assert len(finished.failures) == 2
    cells = pd.read_csv(tmp_path / "study" / "cells.csv")
    assert list(cells["model"]) == ["bertbase"]
    row = cells.iloc[0]
    assert row["n"] == TESTED
    assert row["p_adjusted"] == pytest.approx(min(1.0, 64 * row["p"]))
    training_folder, measuring_folder = (
        Path(str(by_name[name].folder)) for name in ("training-bertbase-mix-all", "measuring-bertbase-mix-all-with-all")
    )
    metrics = read_json(training_folder / "metrics.json")
    assert metrics["examples"] == 2 * TESTED, "both versions are tested with"
    assert row["recall"] == metrics["labels"]["negative"]["recall"]
    config = read_json(training_folder / "model" / "config.json")
    assert config["hidden_dropout_prob"] == 0.5, "as in the paper's code"
    measurement = read_json(measuring_folder / "measurement.json")
    assert measurement["details"]["cut"] > 0, "no more is read than was learned from"
    none = run_study("imdb-63", request.replace(models=(f"bad={broken}",)), tmp_path / "other")
    assert (none.report, none.page) == (None, None)
    assert not (tmp_path / "other" / "cells.csv").exists()


# Figures


def test_figures_of_a_cell_by_hand(tmp_path: Path) -> None:
    """Five texts, one without a term and one with equal ratings: biases 0.2, −0.1, 0.4, 0 and 0."""
    items = pd.DataFrame(
        {
            "id": list("abcde"),
            "label": ["positive"] * 3 + ["negative"] * 2,
            "changed": [True, True, True, True, False],
            "changed_terms": ["he; his; he", "she", "man", "girl; her", ""],
            "p_female": [0.5, 0.5, 0.25, 0.75, 0.1],
            "p_male": [0.7, 0.4, 0.65, 0.75, 0.1],
            "choice_female": ["positive", "positive", "negative", "positive", "negative"],
            "choice_male": ["positive", "negative", "positive", "positive", "negative"],
            "language": "en",
            "corpus": "custom",
            "terms": "all",
        }
    )
    items["bias"] = items["p_male"] - items["p_female"]
    for protocol in PROTOCOLS:
        folder = tmp_path / protocol
        folder.mkdir()
        write_items(folder / ITEMS, items)
        measurement = analyse(items, Context(protocol=protocol, seed=1)).model_copy(update={"noise_floor": 1e-7})
        (folder / RESULT).write_text(measurement.model_dump_json(), encoding="utf-8")
    sound, published = (read_figures(tmp_path / name) for name in ("sound", "published"))
    assert [sound[name] for name in ("n", "below", "equal", "above")] == [5, 1, 2, 2]
    expected = {
        "abs_nonzero": 0.7 / 3,
        "tot_nonzero": 0.5 / 3,
        "abs_all": 0.7 / 5,
        "tot_all": 0.5 / 5,
        "abs_changed": 0.7 / 4,
        "tot_changed": 0.5 / 4,
        "flips": 2 / 4,
        "noise": 1e-7,
        "terms_per_text": 7 / 4,
    }
    for figures in (sound, published):
        assert {name: figures[name] for name in expected} == pytest.approx(expected)
    # The ranks of 0.1, 0.2, 0.4 are 1, 2, 3. The negative ranks sum to 1; p is 4 of 8 sign patterns.
    assert published["p"] == pytest.approx(0.5)
    assert (published["p_adjusted"], published["stars"], published["low"]) == (1.0, "-", None)
    assert sound["effect"] == pytest.approx((5 - 1) / 6)
    low, high = sound["low"], sound["high"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert low < 0.125 < high


def test_figures_where_no_rating_moves(tmp_path: Path) -> None:
    row = {"id": "a", "label": "positive", "changed": True, "changed_terms": "he", "p_female": 0.5, "p_male": 0.5}
    items = pd.DataFrame([row | {"bias": 0.0, "language": "en", "corpus": "custom", "terms": "all"}] * 3)
    write_items(tmp_path / ITEMS, items)
    measurement = analyse(items, Context(seed=1))
    (tmp_path / RESULT).write_text(measurement.model_dump_json(), encoding="utf-8")
    figures = read_figures(tmp_path)
    assert [figures[name] for name in ("n", "below", "equal", "above", "stars")] == [3, 0, 3, 0, "-"]
    assert [figures[name] for name in ("abs_nonzero", "tot_nonzero", "flips")] == [None] * 3
    assert [figures[name] for name in ("abs_all", "tot_changed", "abs_changed")] == [0.0] * 3


class FixedClassifier:
    """A classifier with fixed answers."""

    labels = ("negative", "positive")

    def __init__(self, positive: list[float]) -> None:
        self.positive = positive

    def probabilities(self, inputs: Any) -> Any:
        assert len(inputs) == len(self.positive)
        return np.array([(1 - p, p) for p in self.positive])


def test_quality_by_hand() -> None:
    """2 of 3 positive and 1 of 2 negative reviews are classified correctly."""
    test = [("a", "positive"), ("b", "positive"), ("c", "positive"), ("d", "negative"), ("e", "negative")]
    quality = evaluate_classifier(FixedClassifier([0.9, 0.8, 0.2, 0.7, 0.1]), test)
    assert (quality["examples"], quality["accuracy"]) == (5, 0.6)
    assert quality["labels"]["positive"] == pytest.approx(
        {"recall": 2 / 3, "precision": 2 / 3, "f1": 2 / 3, "count": 3}
    )
    assert quality["labels"]["negative"] == pytest.approx(
        {"recall": 1 / 2, "precision": 1 / 2, "f1": 1 / 2, "count": 2}
    )
    low, high = quality["accuracy_interval"]
    assert 0.2 < low < 0.6 < high < 0.9
    none = evaluate_classifier(FixedClassifier([0.9] * 5), test)
    assert none["labels"]["negative"] == {"recall": 0.0, "precision": 0.0, "f1": 0.0, "count": 2}


# The command


@pytest.fixture
def run_unmask(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int | str | None, str, str]]:
    """Run `unmask WORDS…` in this process, in the folder of the reviews; returns the exit code, stdout and stderr."""
    from unmask.cli import main

    def run_unmask(*words: str | Path) -> tuple[int | str | None, str, str]:
        monkeypatch.chdir(small)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["unmask", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return run_unmask


Typed = Callable[..., tuple[int | str | None, str, str]]
REVIEWS = ("--train", "train.csv", "--test", "test.csv")


def test_the_command_prints_tables_compares_batch_sizes_and_tells_what_failed(
    run_unmask: Typed, broken: Path, small: Path, tmp_path: Path
) -> None:
    words = ["study", "run", "imdb-63", *REVIEWS, "--model", "one=one", "--condition", "R-pro", "--epochs", "1"]
    words += ["--learning-rate", "1e-3", "--batch-size", "8", "--batch-sizes", "8, 16", "--batch-model", "one"]
    words += ["--device", "cpu", "--offline", "--out", str(tmp_path / "out")]
    process = command(*words, "--model", f"bad={broken}", cwd=small)
    assert process.returncode == 1
    for part in ("Table 1.", "Table 2.", "Table 3.", "Table 5.", "Bias by batch size", "abs, 16"):
        assert part in process.stdout, part
    error_lines = process.stderr.splitlines()
    assert error_lines[0] == "10 steps: 4 of texts, 3 of training, 3 of measuring"
    assert "unmask: training-bad-R-pro: the loss is nan at step 0; no checkpoint was saved yet;" in error_lines[-2]
    assert error_lines[-1] == "unmask: measuring-bad-R-pro-with-pro: it needs training-bad-R-pro, which failed"
    assert process.stdout.splitlines()[-2:] == [
        "10 steps: 8 done, 1 failed, 1 skipped",
        f"Report: {tmp_path / 'out' / 'report.html'}",
    ]
    batches = pd.read_csv(tmp_path / "out" / "batches.csv")
    assert list(batches["batch_size"]) == [8, 16]
    code, output, _ = run_unmask(*words)
    assert (code, output.splitlines()[-2]) == (0, "8 steps: 8 kept")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("imdb-64",), "unknown study 'imdb-64'; did you mean 'imdb-63'?"),
        (("imdb-63", "--model", "bertbas"), "unknown base model 'bertbas'; did you mean 'bertbase'?"),
        (("imdb-63", "--condition", "R-prons"), "unknown training condition 'R-prons'; did you mean"),
        (("imdb-63", "--engine", "slurm"), "--engine is 'slurm'; choose from: local, ray"),
        (("imdb-63", "--address", "auto"), "--address is for Ray, and the engine is local; add --engine ray"),
        (
            ("imdb-63", "--cpus", "4"),
            "--cpus is for Ray, and the engine is local; add --engine ray, or leave",
        ),
        (("imdb-63", "--gpus", "0.5"), "--gpus is for Ray, and the engine is local; add --engine ray"),
        (("imdb-63", "--batch-sizes", "32,x"), "--batch-sizes is '32,x'; give whole numbers such as 1,2"),
        (("imdb-63", "--batch-sizes", "0"), "--batch-sizes is 0; give 1 or more"),
        (("imdb-63", "--batch-sizes", "8", "--batch-model", "x"), "unknown base model 'x'; choose from"),
        (("imdb-63", "--protocol", "best"), "--protocol is 'best'; choose from: sound, published"),
        (("imdb-63", "--learning-rate", "2"), "--learning-rate is 2; give a number above 0 and below 1"),
        (("imdb-63", "--max-length", "8"), "--max-length is 8; give 16 or more"),
        (("imdb-63", "--protocol", "published", "--lists", "one"), "has no prons_m2f.json; give the folder of the"),
        (("imdb-63", "--hyper-parameters", "none.csv"), "none.csv cannot be read (No such file or directory); give"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], line: str, run_unmask: Typed, tmp_path: Path) -> None:
    code, out, err = run_unmask("study", "run", *words, *REVIEWS, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.startswith("unmask: ")
    assert line in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_other_bad_input_is_one_line_too(run_unmask: Typed, tmp_path: Path) -> None:
    half = run_unmask("study", "run", "imdb-63", "--train", "train.csv", "--out", tmp_path / "out")
    assert half == (2, "", "unmask: give both --train and --test, or neither for IMDB\n")
    file = run_unmask("study", "run", "imdb-63", *REVIEWS, "--out", "train.csv")
    assert file == (2, "", "unmask: train.csv is a file; give a folder with --out\n")


def test_studies_are_listed_and_explained(run_unmask: Typed) -> None:
    code, listed, _ = run_unmask("study", "list")
    assert code == 0
    assert re.search(r"^imdb-63 +Gender bias of 63 film review classifiers", listed, re.M)
    code, helped, _ = run_unmask("study", "run", "imdb-63", "--help")
    assert code == 0
    for option in ("--condition", "--hyper-parameters", "--batch-sizes", "--engine", "--address", "--limit"):
        assert option in helped
    assert "study" in run_unmask("--help")[1]
