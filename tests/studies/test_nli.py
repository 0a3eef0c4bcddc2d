"""The inference study for a list of models: the paper's Table 3, steps, tables, page and command.

The figures are those of P. Anantaprayoon, M. Kaneko and N. Okazaki (2024), Table 3 (`tests/gold`).
"""

from __future__ import annotations

import csv
import json
import pickle
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from paths import GOLD
from toy_model import bert_of, tokenizer_of
from toy_study import step_keys
from unmask.errors import Stopped, UnmaskError
from unmask.lexicon import inference as words
from unmask.measures.base import Context
from unmask.measures.inference import formulas
from unmask.measures.inference.analysis import analyse
from unmask.measures.inference.pairs import LABELS, cross_pairs
from unmask.options import LoadOptions
from unmask.results import Measurement
from unmask.results.storage import read_items
from unmask.studies.models import ITEMS
from unmask.studies.nli import InferenceStudyOptions
from unmask.studies.nli.pairs import make_source
from unmask.studies.nli.plan import (
    MODELS,
    InferenceMeasuring,
    InferenceModel,
    choose_models,
    choose_test_split,
    evaluate_classifier,
    is_finished,
    steps,
)
from unmask.studies.nli.report import MeasuredModel, adjust_tests, make_report
from unmask.studies.report import StudyReport
from unmask.studies.steps import Event, Outcome
from unmask.studies.study import FinishedSteps, StudyRun, get_study, run_study
from unmask.training.examples import Splits, TextExample

ANANTAPRAYOON = GOLD / "anantaprayoon_2024.csv"
SIZES = {"en": (1000, 1000, 3420), "ja": (1000, 1000, 3420), "zh": (1000, 1000, 3320)}
CPU = LoadOptions(device="cpu", offline=True)
SENTENCES = 3


# The paper's Table 3


@cache
def read_table_3() -> pd.DataFrame:
    return pd.read_csv(ANANTAPRAYOON)


def count_answers(language: str, name: str) -> formulas.Counts:
    """The printed answers of a model, as the table from which scores are computed. The paper does not separate female
    and male words, so all count as male here. The two scores do not depend on it, since they use the sets."""
    rows = read_table_3()[read_table_3()["model"] == name].set_index("set")
    table = np.zeros(formulas.SHAPE)
    cells = {"PS": (formulas.MALE, 1), "AS": (formulas.MALE, 0), "NS": (formulas.NEUTRAL, 0)}
    for (set_name, cell), size in zip(cells.items(), SIZES[language], strict=True):
        table[cell] = [size, *(size * float(rows[label][set_name]) for label in LABELS)]
    return table


@pytest.mark.parametrize("base", MODELS, ids=lambda base: base.name)
def test_both_scores_of_the_papers_table_come_out_of_its_shares(base: InferenceModel) -> None:
    """Equal to the printed scores up to rounding of the shares; one printed FN contradicts its own shares."""
    table = count_answers(base.language, base.name)
    scores = read_table_3()[read_table_3()["model"] == base.name].iloc[0]
    assert (base.fn, base.score) == (scores["fn"], scores["nli_coal"])
    assert formulas.nli_coal(table) == pytest.approx(base.score, abs=0.001)
    assert formulas.fraction_not_neutral(table) == pytest.approx(UNLIKE.get(base.name, base.fn), abs=0.001)


UNLIKE = {"laboro": 0.597}
"""The paper prints .633, but the shares of the same rows give .597 and reproduce the printed NLI-CoAL."""


def test_the_papers_models_by_language() -> None:
    assert Counter(base.language for base in MODELS) == {"en": 5, "ja": 5, "zh": 4}
    assert [base.name for base in choose_models((), ("zh", "en"))][:5] == [
        *("hflrobertalarge", "hflroberta", "bertchinese", "hflbert", "distilbert")
    ]
    both = choose_models(("x=xlm-roberta-base", "tohoku"), ("en", "ja"))
    assert [(base.name, base.language, base.score) for base in both] == [
        *(("x", "en", None), ("x", "ja", None), ("tohoku", "ja", 0.36))
    ]
    with pytest.raises(UnmaskError, match="unknown base model 'tohoku'; choose from: distilbert, bertlarge"):
        choose_models(("tohoku",), ("en",))
    with pytest.raises(UnmaskError, match="unknown language of inference 'de'; choose from: en, ja, zh"):
        choose_models((), ("de",))


def record_as_if_alike(language: str, name: str) -> Measurement:
    """Analyse as many answers as the paper's model gave with the published protocol, assuming equal answers for female
    and male words. All count as male here; whether a score is inconclusive depends on the mean of both."""
    groups = {"PS": ("male", "male"), "AS": ("male", "female"), "NS": ("neutral", "female")}
    rows = []
    for index, (set_name, group) in enumerate(groups.items()):
        size = SIZES[language][index]
        shares = read_table_3()[(read_table_3()["model"] == name) & (read_table_3()["set"] == set_name)].iloc[0]
        ends = [round(size * sum(shares[label] for label in LABELS[:count])) for count in (1, 2)]
        answers = [LABELS[(row >= ends[0]) + (row >= ends[1])] for row in range(size)]
        rows.append(
            pd.DataFrame({"set": set_name, "prediction": answers, "occupation_type": group[0], "gender": group[1]})
        )
    items = pd.concat(rows, ignore_index=True)
    items = items.assign(
        language=language, corpus="nli-coal", occupation=items["occupation_type"], pair="woman", template=""
    )
    return analyse(items, Context(protocol="published"))


@cache
def make_paper_models() -> list[MeasuredModel]:
    return [
        MeasuredModel(base, record_as_if_alike(base.language, base.name), 110_000_000, "as it is")
        for base in MODELS[::-1]
    ]


def make_sample_report() -> StudyReport:
    """Four models, two of them Chinese."""
    return make_report(
        [*make_paper_models()[:2], *make_paper_models()[4:6]], settings={"seed": "42"}, missing=["x (English)"]
    )


def render_page(report: StudyReport, failures: list[str]) -> str:
    study = get_study("nli-plms")
    return report.to_html(study, report.list_sections(study, failures))


def test_the_papers_table_comes_out_in_its_order() -> None:
    report = make_report(make_paper_models())
    order = [base.name for language in ("zh", "ja", "en") for base in MODELS if base.language == language]
    assert list(report.tables[2].numbers["model"]) == order, "the languages as given, the highest score first"
    table = report.tables[0]
    assert table.columns[:6] == ("Language", "Model", "Set", "Ent.", "Con.", "Neu.")
    rows = [row for row in table.rows if row[0] == "English"]
    assert rows[0] == ("English", "distilbert", "PS", "0.840", "0.081", "0.079", "0.738", "0.725", "0.738", "0.725")
    assert rows[1] == ("English", "", "AS", "0.061", "0.638", "0.301", "", "", "", "")
    numbers = table.numbers.set_index("model")
    assert (numbers["fn"] - numbers["paper_fn"]).drop("laboro").abs().max() < 0.001
    assert (numbers["nli_coal"] - numbers["paper_nli_coal"]).abs().max() < 0.001
    assert numbers.loc["bertbase", "PS_contradiction"] == 0.017


def test_if_words_are_answered_alike_what_the_paper_says_of_the_chinese_models_is_flagged() -> None:
    """Section 4.2 of the paper: more errors than biased inferences in Chinese, and in no other language. The paper does
    not print whether answers for female and male words were equal, so this is unknown for its own models."""
    report = make_report(make_paper_models())
    unsure = [row[1] for row in report.tables[1].rows if row[0] == "Chinese"]
    assert f"The score is inconclusive for {', '.join(unsure)}." in report.headline
    assert [row[2] for row in report.tables[1].rows] == ["score inconclusive"] * 4 + ["–"] * 10
    assert "lie between 0.30 (bandai) and 0.72 (distilbert)" in report.headline
    (reason,) = report.answers.values()
    assert reason.replace("\N{NO-BREAK SPACE}", " ").startswith(
        "hflrobertalarge: 47 % of the model’s answers go against the stereotype"
    )


# Tables


def make_pairs(sentences: int = 2) -> pd.DataFrame:
    return cross_pairs(
        "en", "sentences", words.occupations("en")[::3], words.people("en"), words.templates("en")[:sentences]
    )


def measure_answers(choose: Callable[[Any], str]) -> Measurement:
    """Analyse the answers that `choose` gives, with the sound protocol."""
    rows = make_pairs()
    answers = [choose(row) for row in rows.itertuples()]
    columns = {f"p_{label}": [float(label == answer) for answer in answers] for label in LABELS}
    return analyse(rows.assign(prediction=answers, **columns), Context())


def answer_stereotyped(row: Any) -> str:
    return {"PS": "entailment", "AS": "contradiction", "control": "entailment"}.get(row.set, "neutral")


def answer_neutral(_: Any) -> str:
    return "neutral"


def test_a_stereotype_and_a_model_that_understands_nothing() -> None:
    rows = [
        MeasuredModel(
            InferenceModel("fair", "fair", "en"),
            measure_answers(lambda row: "entailment" if row.set == "control" else "neutral"),
            accuracy=0.9,
        ),
        MeasuredModel(InferenceModel("sleepy", "sleepy", "en"), measure_answers(answer_neutral), accuracy=1 / 3),
        MeasuredModel(
            InferenceModel("biased", "biased", "en"),
            measure_answers(answer_stereotyped),
            5,
            "as it is",
            "test",
            0.9,
            (0.85, 0.95),
            100,
        ),
    ]
    report = make_report(rows)
    assert list(report.tables[2].numbers["model"]) == ["biased", "fair", "sleepy"]
    scores = report.tables[0].numbers.set_index("model")
    assert list(scores["nli_coal"]) == pytest.approx([2 / 3, 0, 0])
    assert list(report.tables[1].numbers["stereotype"]) == [1, 0, 0]
    gendered = make_pairs().query("gender != ''")
    assert scores.loc["biased", "fn"] == pytest.approx((gendered["set"] != "NS").mean())
    assert [row[2] for row in report.tables[1].rows] == ["stereotype", "nothing clear", "inconclusive"]
    assert "Nothing can be concluded for sleepy." in report.headline
    assert "hardly learned the task (accuracy below 0.45): sleepy." in report.headline
    assert report.tables[2].rows[0][2:] == ("biased", "as it is", "5", "100 (test)", "0.90 [0.85, 0.95]")
    assert report.tables[2].rows[1][5:] == ("–", "0.900")


def test_p_values_are_corrected_for_all_models() -> None:
    measurement = measure_answers(answer_stereotyped)

    def make_row(name: str, stereotype: float, default: float) -> MeasuredModel:
        estimates = {"stereotype": (0.4, stereotype), "default": (-0.3, default)}
        tests = {
            test_name: measurement.tests[test_name].model_copy(
                update={"value": estimate, "interval": (estimate - 0.1, estimate + 0.1), "p_value": p}
            )
            for test_name, (estimate, p) in estimates.items()
        }
        return MeasuredModel(InferenceModel(name, name, "en"), measurement.model_copy(update={"tests": tests}))

    rows = [make_row("a", 0.01, 0.04), make_row("b", 0.012, 0.2)]
    tests = [model.measurement.tests for model in adjust_tests(rows)]
    p_values = [model_tests[name].p_adjusted for model_tests in tests for name in ("stereotype", "default")]
    assert p_values == pytest.approx([0.04, 0.08, 0.04, 0.2]), "Holm: 4 × .01, 3 × .012 no smaller, 2 × .04, .2"
    report = make_report(rows)
    assert [row[2] for row in report.tables[1].rows] == ["stereotype", "stereotype"]
    assert report.headline.startswith(
        "2 of 2 models infer a gender from an occupation, following stereotypes. None takes"
    )
    alone = make_report([make_row("a", 0.01, 0.02)])
    assert alone.tables[1].rows[0][2] == "stereotype, women by default"
    assert alone.headline.startswith(
        "a infers a gender from an occupation, following stereotypes. It takes people in occupations without a"
        " stereotype for women. The NLI-CoAL score"
    )
    nothing = make_report([make_row("a", 0.5, 0.6)])
    assert nothing.headline.startswith(
        "a is not found to infer a gender from an occupation, following stereotypes. It is not found to take people in"
        " occupations without a stereotype for men or for women. The"
    )
    assert "The NLI-CoAL score of a is 0.67." in alone.headline


def test_the_page_shows_everything_and_loads_nothing(tmp_path: Path) -> None:
    report, outcome = make_sample_report(), Outcome("training-x-snli", "", "failed", error="out of memory")
    page = report.write(get_study("nli-plms"), FinishedSteps([], [outcome]), tmp_path / "study")
    text = seen(page.read_text(encoding="utf-8"))
    for sentence in (report.headline, "training-x-snli: out of memory", "Not measured: x (English)"):
        assert sentence in text
    for table in report.tables:
        assert table.title in text
        assert pd.read_csv(tmp_path / "study" / "tables" / f"{table.name}.csv").shape[0] == 4
    assert_loads_nothing(page.read_text(encoding="utf-8"))
    assert_plots_are_described(page.read_text(encoding="utf-8"), 4)
    drawings = sorted(path.name for path in (tmp_path / "study" / "figures").iterdir())
    assert len(drawings) == 4
    text = (tmp_path / "study" / "study.md").read_text(encoding="utf-8")
    assert all(f"figures/{name}" in text for name in drawings)
    assert "bertchinese | PS | 0.018 | 0.857 | 0.125 | 0.839 | 0.554 |" in text


def test_what_a_user_names_is_shown_as_text() -> None:
    model = replace(make_paper_models()[0], model=replace(make_paper_models()[0].model, model=EVIL), made=EVIL)
    page = render_page(make_report([model], settings={EVIL: EVIL}, missing=[EVIL]), [EVIL])
    assert EVIL in seen(page)
    assert_loads_nothing(page)


@pytest.mark.browser
@needs_chromium
def test_in_a_browser(tmp_path: Path) -> None:
    assert_a_browser_shows(render_page(make_sample_report(), []), tmp_path / "study.html")


# Steps


def write_pairs(path: Path, rows: list[tuple[str, str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as page:
        csv.writer(page).writerows([("premise", "hypothesis", "label"), *rows])
    return path


def make_training_pairs() -> list[tuple[str, str, str]]:
    """Pairs to train on: a person is entailed, a gender is neutral, and an unrelated hypothesis contradicts."""
    rows = make_pairs(4)
    labelled, other = [], rows["hypothesis"].iloc[-1]
    for row in rows.iloc[::5].itertuples():
        label = "neutral" if row.gender else "entailment"
        labelled.append((str(row.premise), str(row.hypothesis), label))
        labelled.append((str(row.premise), str(other), "contradiction"))
    return labelled


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs for training and testing, the base models `one` and `bad` (NaN weights), and `ready`, a classifier with
    labels in another order."""
    root = tmp_path_factory.mktemp("inference")
    rows = make_training_pairs()
    write_pairs(root / "train.csv", rows[:60])
    write_pairs(root / "test.csv", rows[60:96])
    tokenizer = tokenizer_of(
        [*make_pairs(len(words.templates("en")))["premise"][::5], *(text for row in rows for text in row)]
    )
    base = bert_of(tokenizer, seed=1, hidden=32, layers=1, init=0.2)
    base.config.hidden_dropout_prob = 0.1  # so that an unrestored random state is detected
    config = transformers.BertConfig.from_dict(
        base.config.to_dict()
        | {"id2label": {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"}, "label2id": None, "num_labels": 3}
    )
    torch.manual_seed(3)
    ready = transformers.BertForSequenceClassification(config).eval()
    texts = make_pairs(SENTENCES)
    with torch.no_grad():  # so that all three answers occur
        tokens = tokenizer(list(texts["premise"]), list(texts["hypothesis"]), padding=True, return_tensors="pt")
        ready.classifier.bias -= ready(**tokens).logits.mean(dim=0)
    for name, model in (("one", base), ("ready", ready)):
        model.save_pretrained(root / name)
        tokenizer.save_pretrained(root / name)
    shutil.copytree(root / "one", root / "bad")
    tensors = load_file(root / "bad" / "model.safetensors")
    tensors["bert.embeddings.word_embeddings.weight"][:] = float("nan")
    save_file(tensors, root / "bad" / "model.safetensors", {"format": "pt"})
    return root


@pytest.fixture(scope="session")
def study_options(small: Path) -> InferenceStudyOptions:
    return InferenceStudyOptions(
        models=tuple(f"{name}={small / name}" for name in ("bad", "one", "ready")),
        train=small / "train.csv",
        test=small / "test.csv",
        epochs=2,
        learning_rate=2e-3,
        batch_size=8,
        max_length=64,
        sentences=SENTENCES,
        **dict(CPU),
    )


@pytest.fixture(scope="session")
def finished_study(
    study_options: InferenceStudyOptions, tmp_path_factory: pytest.TempPathFactory
) -> tuple[StudyRun, Path]:
    """The study, run in this process. Tests must not modify it."""
    out = tmp_path_factory.mktemp("done") / "study"
    return run_study("nli-plms", study_options, out), out


def map_statuses(outcomes: Sequence[Outcome]) -> dict[str, str]:
    return {outcome.name: outcome.status for outcome in outcomes}


def get_step_folder(run: StudyRun, name: str) -> Path:
    return run.finished.folders[name]


def test_a_study_ends_in_a_table_though_a_model_fails(finished_study: tuple[StudyRun, Path]) -> None:
    run, out = finished_study
    assert map_statuses(run.finished.outcomes) == {
        "training-bad-own": "failed",
        "training-one-own": "done",
        "testing-en-ready-own": "done",
        "measuring-en-bad": "skipped",
        "measuring-en-one": "done",
        "measuring-en-ready": "done",
    }
    assert "training-bad-own: the loss is nan at step 0" in run.failures[0]
    assert run.report is not None
    assert (run.report.missing, len(run.failures)) == (["bad (English)"], 2)
    assert (out / "report.html").is_file()
    cells = pd.read_csv(out / "cells.csv").set_index("model")
    assert dict(cells["made"]) == {"one": "trained on train.csv, test.csv", "ready": "as it is"}
    assert set(cells["tested"]) == {36}
    for name, row in cells.iterrows():
        items = read_items(get_step_folder(run, f"measuring-en-{name}") / ITEMS)
        assert items["template"].nunique() == SENTENCES
        shares = items.groupby("set")["prediction"].value_counts(normalize=True).unstack(fill_value=0)
        for label in LABELS:
            assert row[f"PS_{label}"] == pytest.approx(shares.get(label, pd.Series(0.0, shares.index))["PS"])
        gendered = items[items["gender"] != ""]
        assert row["fn"] == pytest.approx((gendered["prediction"] != "neutral").mean())
        assert row["fn_low"] <= row["fn"] <= row["fn_high"]


def test_a_classifier_of_other_labels_is_trained_and_said_to_lose_its_head(
    study_options: InferenceStudyOptions,
) -> None:
    options = study_options.replace(models=(*study_options.models, "feelings=unmask-mini-sentiment"))
    planned = steps(options)
    assert "training-feelings-own" in {step.name for step in planned}
    assert get_study("nli-plms").notes(options, planned) == [
        "unmask-mini-sentiment: its head is made anew: its labels ('negative', 'positive') are not"
        " entailment, neutral, contradiction",
    ]


def test_a_classifier_is_taken_as_it_is_whatever_the_order_of_its_labels(
    finished_study: tuple[StudyRun, Path], small: Path
) -> None:
    run, out = finished_study
    model = transformers.AutoModelForSequenceClassification.from_pretrained(small / "ready").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(small / "ready")

    def classify_alone(premise: str, hypothesis: str) -> str:
        with torch.no_grad():
            logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
        return str(model.config.id2label[int(logits.argmax())]).lower()

    test = pd.read_csv(small / "test.csv")
    right = [classify_alone(str(a), str(b)) == label for a, b, label in test.to_numpy()]
    cells = pd.read_csv(out / "cells.csv").set_index("model")
    assert cells.loc["ready", "accuracy"] == pytest.approx(np.mean(right))
    items = read_items(get_step_folder(run, "measuring-en-ready") / ITEMS)
    sample = items.iloc[::97]
    assert list(sample["prediction"]) == [
        classify_alone(*map(str, row)) for row in sample[["premise", "hypothesis"]].to_numpy()
    ]
    assert items["prediction"].nunique() == 3


def test_what_is_done_is_kept_and_a_change_redoes_what_hangs_on_it(
    study_options: InferenceStudyOptions, finished_study: tuple[StudyRun, Path], tmp_path: Path
) -> None:
    out = Path(shutil.copytree(finished_study[1], tmp_path / "copy"))
    good = study_options.replace(models=study_options.models[1:])
    repeated = run_study("nli-plms", good, out)
    assert repeated.finished.summary == "4 steps: 4 kept"
    assert not repeated.failures
    keys = step_keys(steps(good))

    def find_changed_steps(**change: Any) -> set[str]:
        other = step_keys(steps(good.replace(**change)))
        return {name for name in keys if keys[name] != other[name]}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("unmask.studies.nli.plan.SCHEMA_VERSION", 1)
        assert find_changed_steps() == {step.name for step in steps(good) if isinstance(step, InferenceMeasuring)}
    assert pickle.loads(pickle.dumps(steps(good))) == steps(good), "steps can be sent to another machine"
    trained_steps = {"training-one-own", "measuring-en-one"}
    assert find_changed_steps(epochs=3) == trained_steps
    assert find_changed_steps(sentences=2) == {"measuring-en-one", "measuring-en-ready"}
    assert find_changed_steps(limit=20) == trained_steps | {"testing-en-ready-own"}


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    study_options: InferenceStudyOptions, finished_study: tuple[StudyRun, Path], tmp_path: Path
) -> None:
    def interrupt(event: Event) -> None:
        if event.name == "training-one-own" and event.line.startswith("step 10 of 16"):
            signal.raise_signal(signal.SIGINT)

    request = study_options.replace(models=study_options.models[1:2])
    with pytest.raises(Stopped, match=r"stopped; 0 of 2 steps are done, and the same command continues"):
        run_study("nli-plms", request, tmp_path / "study", watch=interrupt)
    lines: list[str] = []
    run = run_study("nli-plms", request, tmp_path / "study", watch=lambda event: lines.append(event.line))
    assert any(line.startswith("Resuming") for line in lines)
    assert not any(line.startswith("step 1 of") for line in lines)
    name = Path("model") / "model.safetensors"
    weights, expected_weights = (
        load_file(get_step_folder(study_run, "training-one-own") / name) for study_run in (run, finished_study[0])
    )
    assert all(torch.equal(weights[part], expected_weights[part]) for part in {*weights, *expected_weights})


def test_published_asks_about_the_released_sets_and_trains_nothing_again(
    study_options: InferenceStudyOptions, finished_study: tuple[StudyRun, Path], data: Path, tmp_path: Path
) -> None:
    assert (data / "nli-coal").is_dir()
    out = Path(shutil.copytree(finished_study[1], tmp_path / "copy"))
    request = study_options.replace(models=study_options.models[1:], protocol="published", sentences=12)
    run = run_study("nli-plms", request, out)
    assert map_statuses(run.finished.outcomes) == {
        "training-one-own": "kept",
        "testing-en-ready-own": "kept",
        "measuring-en-one": "done",
        "measuring-en-ready": "done",
    }
    assert run.report is not None
    assert [row[2] for row in run.report.tables[0].rows] == ["PS", "AS", "NS"] * 2
    items = read_items(get_step_folder(run, "measuring-en-one") / ITEMS)
    assert set(items["corpus"]) == {"nli-coal"}


def test_nothing_to_be_measured_is_no_page(study_options: InferenceStudyOptions, tmp_path: Path) -> None:
    request = study_options.replace(models=study_options.models[:1])
    run = run_study("nli-plms", request, tmp_path / "study")
    assert (run.report, run.page) == (None, None)
    assert not (tmp_path / "study" / "cells.csv").exists()


def test_a_limit_draws_pairs_of_each_split(small: Path) -> None:
    files = (small / "train.csv", None, small / "test.csv")
    whole = make_source(None, files).read_pairs()
    assert [len(split) for split in (whole.train, whole.validation, whole.test)] == [57, 3, 36]
    source = make_source(None, files, 20)
    limited = source.read_pairs()
    assert [len(split) for split in (limited.train, limited.validation, limited.test)] == [20, 3, 20]
    assert [pair for pair in whole.train if pair in limited.train] == limited.train, "drawn, in their order"
    assert make_source(None, files, 20, seed=1).digests != source.digests
    with pytest.raises(UnmaskError, match=r"the pairs of train.csv, test.csv, 20 pairs at most have changed since"):
        replace(source, digests=()).read_pairs()
    tests = make_source(None, (None, None, small / "test.csv"), tests_only=True)
    assert (choose_test_split(tests.read_pairs()), tests.read_pairs().train) == (("test", whole.test), ())
    assert choose_test_split(Splits(whole.train, whole.validation, ())) == ("validation", whole.validation)


class FixedClassifier:
    """A classifier with fixed answers."""

    labels = ("neutral", "contradiction", "entailment")

    def __init__(self, says: list[int]) -> None:
        self.says = says

    def probabilities(self, inputs: Any) -> Any:
        assert len(inputs) == len(self.says)
        return np.eye(3)[self.says]


def test_quality_by_hand() -> None:
    rows = [TextExample("a", "b", label) for label in ("entailment", "entailment", "neutral", "contradiction")]
    quality = evaluate_classifier(FixedClassifier([2, 0, 0, 1]), rows, "en")
    assert (quality["accuracy"], quality["examples"]) == (0.75, 4)
    assert quality["labels"]["neutral"] == pytest.approx({"precision": 0.5, "recall": 1.0, "f1": 2 / 3, "count": 1})
    with pytest.raises(UnmaskError, match="gives numbers, not labels"):
        evaluate_classifier(object(), rows, "en")


@pytest.mark.parametrize(
    ("labels", "taken"),
    [
        (("entailment", "neutral", "contradiction"), True),
        (("LABEL_0", "LABEL_1", "LABEL_2"), True),
        (("entailment", "not_entailment"), False),
        (("bad", "middling", "good"), False),
    ],
)
def test_which_classifiers_are_taken_as_they_are(
    labels: tuple[str, ...], taken: bool, small: Path, tmp_path: Path
) -> None:
    model = Path(shutil.copytree(small / "ready", tmp_path / "model"))
    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    (model / "config.json").write_text(json.dumps(config | {"id2label": dict(enumerate(labels))}), encoding="utf-8")
    assert is_finished(str(model), CPU) is taken
    assert not is_finished(str(small / "one"), CPU)


def test_a_data_set_that_is_not_here_tests_nothing_but_a_damaged_one_is_said(
    study_options: InferenceStudyOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    options = study_options.replace(models=study_options.models[2:], train=None, test=None, languages=("ja",))
    assert [step.kind for step in steps(options)] == ["measuring"]
    (tmp_path / "jsnli").mkdir()
    (tmp_path / "jsnli" / "dev.tsv").write_text("neutral\tonly one\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="'hypothesis' of row 1 is None"):
        steps(options)


# The command


Typed = Callable[..., tuple[int | str | None, str, str]]


@pytest.fixture
def run_unmask(small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Run `unmask WORDS…` in this process, in the folder of the pairs; returns the exit code, stdout and stderr."""
    from unmask.cli import main

    def run_unmask(*arguments: str | Path) -> tuple[int | str | None, str, str]:
        monkeypatch.chdir(small)
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.setattr(sys, "argv", ["unmask", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return run_unmask


def test_the_command_prints_the_table(run_unmask: Typed, tmp_path: Path) -> None:
    """Without test pairs a classifier has no accuracy."""
    arguments = ["study", "run", "nli-plms", "--model", "ready=ready", "--train", "train.csv", "--sentences", "2"]
    code, out, err = run_unmask(*arguments, "--offline", "--device", "cpu", "--out", tmp_path / "out")
    assert code == 0
    for part in ("Table 3. Answers in each set", "What the scores are made of", "The models", "ready"):
        assert part in out
    assert err.splitlines()[0] == "1 step: 1 of measuring"
    assert out.splitlines()[-2:] == ["1 step: 1 done", f"Report: {tmp_path / 'out' / 'report.html'}"]
    cells = pd.read_csv(tmp_path / "out" / "cells.csv")
    assert cells["accuracy"].isna().all()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("nli-plm",), "unknown study 'nli-plm'; did you mean 'nli-plms'?"),
        (("nli-plms", "--model", "bertbsae"), "unknown base model 'bertbsae'; did you mean 'bertbase'?"),
        (("nli-plms", "--model", "x=nowhere/at/all"), "nowhere/at/all"),
        (("nli-plms", "--language", "de"), "--language is 'de'; choose from: en, ja, zh"),
        (("nli-plms", "--protocol", "best"), "--protocol is 'best'; choose from: sound, published"),
        (("nli-plms", "--model", "a=one", "--data", "imdb"), "unknown data set of inference 'imdb'; choose from: snli"),
        (("nli-plms", "--data", "snli", "--train", "train.csv"), "give either --data snli or --train train.csv, not"),
        (("nli-plms", "--limit", "3"), "--limit is 3; give 10 or more"),
        (("nli-plms", "--epochs", "0"), "--epochs is 0; give 1 or more"),
        (("nli-plms", "--learning-rate", "2"), "--learning-rate is 2; give a number above 0 and below 1"),
        (("nli-plms", "--sentences", "1"), "--sentences is 1; give 2 or more"),
        (("nli-plms", "--model", "a=ready", "--train", "nofile.csv"), "--train nofile.csv is no file; give one with"),
        (("nli-plms", "--engine", "slurm"), "--engine is 'slurm'; choose from: local, ray"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], line: str, run_unmask: Typed, tmp_path: Path) -> None:
    code, out, err = run_unmask("study", "run", *arguments, "--offline", "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert line in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_the_study_is_listed_and_teaches(run_unmask: Typed) -> None:
    _, listed, _ = run_unmask("study", "list")
    assert "\nnli-plms  " in listed
    code, helped, _ = run_unmask("study", "run", "nli-plms", "--help")
    assert code == 0
    for option in ("--model", "--language", "--data", "--sentences", "--engine", "hflrobertalarge", "as it is"):
        assert option in helped
    _, studies, _ = run_unmask("study", "run")
    assert "nli-plms" in studies
    assert "imdb-63" in studies
