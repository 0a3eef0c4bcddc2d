"""The study of BEC-Pro: its steps, the paper's tables and hypotheses, German, interruptions, page and command."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import rankdata

import unmask as library
from commands import unmask
from pages import assert_loads_nothing, assert_plots_are_described
from toy_study import step_keys
from unmask.errors import Stopped, UnmaskError
from unmask.measures.association.analysis import analyse
from unmask.measures.base import Context
from unmask.results import Comparison, storage
from unmask.studies.becpro import ProfessionStudyOptions
from unmask.studies.becpro.hypotheses import answer_change, answer_hypotheses
from unmask.studies.becpro.plan import StudiedModel, choose_models, steps
from unmask.studies.becpro.tables import (
    StudiedResult,
    tabulate_changed_means,
    tabulate_changes,
    tabulate_means,
    tabulate_workforce,
)
from unmask.studies.models import Debiasing
from unmask.studies.steps import Event
from unmask.studies.study import StudyRun, run_study

GOLDEN = "golden/becpro_en_bert_association.tsv"
TEXT = (
    "My sister said that she had seen her brother.",
    "The king and his wife were at home. He read a book to her.",
    "John wrote to Mary, and the old man slept.",
    "The waitress brought him a cup of tea.",
)
GERMAN_TEXT = ("Meine Schwester ist zu Hause. Sie liest.", "Der Lehrer gab seiner Frau ein Buch.")
SETTINGS = {"batch_size": "2", "save_every": "2", "held_out": "0", "learning_rate": "1e-3"}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(TEXT * 3), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def options(text: Path, model_folder: Callable[[str], Path]) -> ProfessionStudyOptions:
    """An English model that is fine-tuned, and the same model in German, which is not."""
    model = str(model_folder("bert-uncased"))
    return ProfessionStudyOptions(
        models=(model, f"de={model}"), corpora={"en": str(text)}, settings=SETTINGS, device="cpu", offline=True
    )


@pytest.fixture(scope="module")
def finished_study(options: ProfessionStudyOptions, tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyRun, Path]:
    out = tmp_path_factory.mktemp("becpro") / "sound"
    run = run_study("bec-pro", options, out)
    assert run.failures == []
    return run, out


def read_items(run: StudyRun, step: str, folder: str) -> pd.DataFrame:
    items = storage.read_items(run.finished.folders[step] / folder / "items" / "association.jsonl.gz")
    return items[items["corpus"] == "bec-pro"]


def find_table(run: StudyRun, name: str) -> pd.DataFrame:
    assert run.report is not None
    return next(table.numbers for table in run.report.tables if table.name == name)


def sum_positive_ranks(differences: Any) -> float:
    """R's V: the sum of the ranks of the positive differences, without zeros."""
    differences = differences[differences != 0]
    return float(rankdata(abs(differences))[differences > 0].sum())


class TestSound:
    def test_its_steps(self, finished_study: tuple[StudyRun, Path]) -> None:
        assert list(finished_study[0].finished.folders) == [
            "auditing-bert-uncased-en-before",
            "debiasing-bert-uncased-en-cds",
            "auditing-bert-uncased-en-after",
            "comparing-bert-uncased-en",
            "auditing-bert-uncased-de-before",
        ]

    def test_table_4_equals_the_items(self, finished_study: tuple[StudyRun, Path]) -> None:
        run = finished_study[0]
        before = read_items(run, "auditing-bert-uncased-en-before", "audit")
        after = read_items(run, "auditing-bert-uncased-en-after", "audit")
        table = find_table(run, "table-4")
        for group in ("female", "male", "balanced"):
            changes = {}
            for gender in ("female", "male"):
                values = [
                    frame.loc[(frame["group"] == group) & (frame["gender"] == gender), "association"].to_numpy()
                    for frame in (before, after)
                ]
                row = table.query("model == 'bert-uncased' and jobs == @group and person == @gender").iloc[0]
                means = [float(side.mean()) for side in values]
                assert row[["before", "after", "change"]].tolist() == pytest.approx([*means, means[1] - means[0]])
                assert row["change_low"] < row["change"] < row["change_high"]
                changes[gender] = values[1] - values[0]
            assert row["n"] == 1800
            assert row["w"] == pytest.approx(sum_positive_ranks(changes["female"] - changes["male"]))

    def test_table_5_equals_the_items(self, finished_study: tuple[StudyRun, Path]) -> None:
        run = finished_study[0]
        items = read_items(run, "auditing-bert-uncased-de-before", "audit")
        subset = items[items["group"] == "male"]
        female, male = (
            subset.loc[subset["gender"] == gender, "association"].to_numpy() for gender in ("female", "male")
        )
        table = find_table(run, "table-5")
        row = table[(table["model"] == "bert-uncased, German") & (table["jobs"] == "male")].iloc[0]
        assert (row["mean"], row["sd"]) == pytest.approx((female.mean(), female.std(ddof=1)))
        assert row["w"] == pytest.approx(sum_positive_ranks(female - male))
        assert set(table["model"]) == {
            *("paper", "bert-uncased", "bert-uncased, German", "bert-uncased, German, agreement-free sentences")
        }

    def test_emotions_have_a_table_of_their_own(self, finished_study: tuple[StudyRun, Path]) -> None:
        table = find_table(finished_study[0], "emotions")
        assert list(dict.fromkeys(table["jobs"])) == ["anger", "fear", "joy", "sadness"]
        assert set(find_table(finished_study[0], "table-4")["jobs"]) == {"female", "male", "balanced"}
        assert "anger: female − male" in set(find_table(finished_study[0], "changes")["figure"])

    def test_audits_are_those_of_the_workflow(
        self, finished_study: tuple[StudyRun, Path], options: ProfessionStudyOptions
    ) -> None:
        audit = library.audit(options.models[0], corpora="bec-pro", device="cpu", offline=True)
        items = read_items(finished_study[0], "auditing-bert-uncased-en-before", "audit")
        expected = audit.items["association"]["association"].to_numpy()
        assert items["association"].to_numpy() == pytest.approx(expected, abs=1e-5)
        table = find_table(finished_study[0], "workforce")
        row = table[(table["model"] == "bert-uncased") & (table["correlation"] == "Pearson")].iloc[0]
        test = audit.measurements[0].tests["workforce share, pearson"]
        assert row["before"] == pytest.approx(test.value, abs=1e-4)
        uncorrected = analyse(items, Context()).tests["workforce share, pearson"].interval
        assert (row["before_low"], row["before_high"]) == pytest.approx(uncorrected, abs=1e-4)

    def test_german_is_measured_and_not_fine_tuned(self, finished_study: tuple[StudyRun, Path]) -> None:
        run, out = finished_study
        assert run.report is not None
        assert "Fine-tuning on GAP" in run.report.answers["What cannot be done for German"]
        page = (out / "report.html").read_text(encoding="utf-8")
        assert "Figure 6: bert-uncased, BEC-Pro, German" in page
        assert "H1, bert-uncased, German" not in page  # an untrained model does not answer hypotheses

    def test_its_page(self, finished_study: tuple[StudyRun, Path]) -> None:
        out = finished_study[1]
        page = (out / "report.html").read_text(encoding="utf-8")
        assert_loads_nothing(page)
        assert_plots_are_described(page, 13)
        assert "Figures 3 to 5: bert-uncased, before and after" in page
        assert "What is missing" not in page
        names = {path.stem for path in (out / "tables").glob("*.csv")}
        assert names == {"table-4", "table-5", "changes", "workforce", "emotions", "training"}

    def test_what_is_done_is_kept(self, finished_study: tuple[StudyRun, Path], options: ProfessionStudyOptions) -> None:
        run = run_study("bec-pro", options, finished_study[1])
        assert {outcome.status for outcome in run.finished.outcomes} == {"kept"}

    def test_an_option_changes_the_steps_that_it_concerns(self, options: ProfessionStudyOptions) -> None:
        def find_changed(**changes: Any) -> set[str]:
            first, second = step_keys(steps(options)), step_keys(steps(options.replace(**changes)))
            return {name for name in first if first[name] != second[name]}

        trained = {"debiasing-bert-uncased-en-cds", "auditing-bert-uncased-en-after", "comparing-bert-uncased-en"}
        assert find_changed(limit=4) == trained
        assert find_changed(settings={**SETTINGS, "epochs": "1"}) == trained
        assert len(find_changed(seed=1)) == 5


def test_german_text_of_ones_own(options: ProfessionStudyOptions, tmp_path: Path) -> None:
    """It goes beyond the paper: German words are exchanged, and names are not."""
    (tmp_path / "de.txt").write_text("\n".join(GERMAN_TEXT * 3), encoding="utf-8")
    german = options.replace(
        models=options.models[1:],
        corpora={"de": str(tmp_path / "de.txt")},
        settings={**SETTINGS, "probability": "1"},
        limit=4,
    )
    run = run_study("bec-pro", german, tmp_path / "out")
    assert run.failures == []
    assert run.report is not None
    assert "a text of your own" in run.report.answers["What cannot be done for German"]
    training = find_table(run, "training").iloc[0]
    assert training["documents"] == 4
    assert "bert-uncased, German" in set(find_table(run, "table-4")["model"])
    assert run.report.missing == ["Table 4 and Figures 3 to 5 (no English model was measured)"]


def test_published_goes_on_inside_the_training_to_the_same_weights(
    options: ProfessionStudyOptions, data: Path, tmp_path: Path
) -> None:
    assert (data / "cds").is_dir()
    settings = {"save_every": "4", "epochs": "1"}
    published = options.replace(models=options.models[:1], protocol="published", settings=settings)
    training = "debiasing-bert-uncased-en-cds"
    whole = run_study("bec-pro", published, tmp_path / "whole")
    assert whole.failures == []
    lines: list[str] = []

    class MachineDown(BaseException):
        """Ctrl-C would save a checkpoint first."""

    def interrupt(event: Event) -> None:
        if event.name == training and event.line.startswith("step 6 of "):
            raise MachineDown

    def note(event: Event) -> None:
        lines.append(event.line)

    with pytest.raises(MachineDown):
        run_study("bec-pro", published, tmp_path / "cut", watch=interrupt)
    resumed = run_study("bec-pro", published, tmp_path / "cut", watch=note)
    statuses = {outcome.name: outcome.status for outcome in resumed.finished.outcomes}
    assert statuses["auditing-bert-uncased-en-before"] == "kept"
    assert statuses[training] == "done"
    assert any(line.startswith("Resuming") for line in lines)
    assert not any(line.startswith("step 4 of ") for line in lines)
    assert any(line.startswith("step 5 of ") for line in lines)
    for name in ("table-4", "training"):
        first, second = find_table(whole, name), find_table(resumed, name)
        columns = first.columns.difference(["seconds", "steps_per_second"])
        pd.testing.assert_frame_equal(first[columns], second[columns])


def test_ctrl_c_saves_a_checkpoint(options: ProfessionStudyOptions, tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if event.line.startswith("step 3 of "):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Stopped, match="1 of 4 steps are done, and the same command continues"):
        run_study("bec-pro", options.replace(models=options.models[:1]), tmp_path / "out", watch=interrupt)
    assert list((tmp_path / "out" / "unfinished").glob("*/*/latest/progress.json"))


# The paper's own model, from scores that others recorded


@pytest.fixture(scope="module")
def recorded(data: Path) -> StudiedResult:
    sides = [
        library.analyse(data / GOLDEN, score_column=column, protocol="published")
        for column in ("Pre_Assoc", "Post_Assoc")
    ]
    compared = library.compare(*sides, usefulness=False)
    return StudiedResult(StudiedModel("bert", "bert-base-uncased", "en"), sides[0], compared)


def test_recorded_scores_give_the_papers_table_4(recorded: StudiedResult) -> None:
    """The column pre is the paper's, up to .006; after its own fine-tuning the replication has other values."""
    table = tabulate_changed_means([recorded])
    numbers = table.numbers.set_index(["model", "jobs", "person"])
    for index in [index for index in numbers.index if index[0] == "bert"]:
        paper = numbers.loc[("paper", *index[1:]), "before"]
        assert numbers.loc[index, "before"] == pytest.approx(paper, abs=0.006)
    women = numbers.loc["bert"].xs("female", level="person")
    assert women["w"].round().to_dict() == {"balanced": 367281, "female": 132018, "male": 399235}
    assert [row[1] for row in table.rows[:2]] == ["balanced", "balanced"]
    assert (table.rows[0][-2:], table.rows[1][-2:]) == (("359188", "−0.47"), ("", ""))
    assert tabulate_means([recorded]).numbers["sd"].notna().all()


def test_recorded_scores_answer_the_hypotheses_as_the_paper_does(recorded: StudiedResult) -> None:
    """By signs alone, as the paper reads them."""
    first, second, third = answer_hypotheses(recorded)
    assert (first.before, first.change) == ("supported", "supported")
    assert (second.before, second.change) == ("supported", "supported")
    assert third.before == "contradicted"
    assert third.change == "contradicted"


def test_the_workforce_of_recorded_scores(recorded: StudiedResult) -> None:
    """r = .67 [.55, .75] and ρ = .68 [.53, .79] before, as an audit in the sound protocol has them."""
    numbers = tabulate_workforce([recorded]).numbers.set_index("correlation")
    assert numbers["before"].round(2).to_dict() == {"Pearson": 0.67, "Spearman": 0.68}
    assert numbers["before_low"].round(2).to_dict() == {"Pearson": 0.55, "Spearman": 0.53}
    assert numbers["change"].isna().to_dict() == {"Pearson": False, "Spearman": True}


def test_changes_have_verdicts_and_no_means(recorded: StudiedResult) -> None:
    numbers = tabulate_changes([recorded]).numbers
    assert set(numbers["figure"]) == {"female: female − male", "male: female − male", "balanced: female − male"}
    assert numbers["verdict"].notna().all()


def make_comparison(**means: float) -> Comparison:
    """A comparison in which the mean of `GROUP_GENDER` changes by a value, without tests."""
    changes = {}
    for name, value in means.items():
        group, _, gender = name.partition("_")
        labels = {"contrast": "mean", "group": group, "gender": gender}
        changes[name] = {
            "labels": labels,
            "question": "",
            "before": None,
            "after": None,
            "change": {"labels": labels, "n": 9, "value": value},
        }
    fields = {"name": "association", "language": "en", "corpus": "bec-pro", "protocol": "published", "before": "a"}
    return Comparison.model_validate({**fields, "after": "b", "verdict": "improved", "items": 9, "changes": changes})


@pytest.mark.parametrize(
    ("hypothesis", "female_female", "male_male", "answer"),
    [
        ("H1", -0.14, -0.05, "supported"),
        ("H1", -0.14, 0.05, "contradicted"),  # as in the paper's Table 4
        ("H1", -0.14, 0.0, "partly supported"),
        ("H1", 0.0, 0.0, "not supported"),
    ],
)
def test_the_second_half_of_h1(hypothesis: str, female_female: float, male_male: float, answer: str) -> None:
    comparison = make_comparison(female_female=female_female, male_male=male_male)
    assert answer_change(hypothesis, comparison)[0] == answer


def test_the_second_half_of_h2() -> None:
    assert answer_change("H2", make_comparison(male_female=0.96, female_male=0.55))[0] == "supported"
    assert answer_change("H2", make_comparison(male_female=0.96))[1].endswith("female professions: not computable")


# Options


def test_models_and_their_languages() -> None:
    both = choose_models(ProfessionStudyOptions(models=("bert-base-uncased", "de=x/bert-base-uncased")))
    assert [(model.name, model.model, model.language) for model in both] == [
        ("bert-base-uncased", "bert-base-uncased", "en"),
        ("bert-base-uncased-2", "x/bert-base-uncased", "de"),
    ]
    one = choose_models(ProfessionStudyOptions(models=("a/b_c", "de=a/b_c"), languages=("en", "de")))
    assert [(model.name, model.language) for model in one] == [("b-c", "en"), ("b-c", "de")]


def test_the_text_that_is_learned_from(options: ProfessionStudyOptions) -> None:
    trained = [step for step in steps(options) if isinstance(step, Debiasing)]
    assert [step.sources for step in trained] == [(options.corpora["en"],)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"models": ("fr=unmask-mini",)}, "unknown language in --model fr=unmask-mini: 'fr'"),
        ({"models": ("de=",)}, "--model de= names no model"),
        ({"models": ("unmask-mini-nli",)}, "unmask-mini-nli is a"),
        ({"models": ("nowhere/",)}, "nowhere"),
        ({"corpora": {"de": "x.txt"}}, "unknown language of --corpus 'de'"),
        ({"corpora": {"en": "nowhere.txt"}}, "nowhere.txt"),
        ({"settings": {"epoch": "1"}}, "epoch"),
        ({"limit": 0}, "limit is 0"),
        ({"protocol": "published", "settings": {"batch_size": "2"}}, "fixes the setting batch_size"),
        ({"models": ("de=unmask-mini",), "limit": 3}, "--limit is for fine-tuning, and no model is fine-tuned"),
    ],
)
def test_what_cannot_be_run_is_refused(changes: dict[str, Any], message: str, text: Path) -> None:
    corpora = {} if any(name.startswith("de=") for name in changes.get("models", ())) else {"en": str(text)}
    with pytest.raises(UnmaskError, match=message):
        steps(ProfessionStudyOptions(**{"corpora": corpora, "offline": True, **changes}))


def test_published_fine_tunes_no_german_model(tmp_path: Path, data: Path) -> None:
    assert (data / "cds").is_dir()
    (tmp_path / "de.txt").write_text("\n".join(GERMAN_TEXT), encoding="utf-8")
    values = {"models": ("de=unmask-mini",), "corpora": {"de": str(tmp_path / "de.txt")}, "protocol": "published"}
    with pytest.raises(UnmaskError, match="fine-tunes English models only"):
        steps(ProfessionStudyOptions.parse(values))


def test_published_needs_the_authors_lists(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    with pytest.raises(UnmaskError, match="cda_default_pairs"):
        steps(ProfessionStudyOptions(corpora={"en": str(text)}, protocol="published"))


def test_the_command(finished_study: tuple[StudyRun, Path], options: ProfessionStudyOptions, tmp_path: Path) -> None:
    words = [*(word for model in options.models for word in ("--model", model)), "--device", "cpu", "--offline"]
    words += [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    words += ["--corpus", f"en={options.corpora['en']}", "--out", str(finished_study[1])]
    process = unmask("study", "run", "bec-pro", *words, cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "5 kept" in process.stdout
    assert "Table 4: mean associations before and after fine-tuning" in process.stdout
    assert "What cannot be done for German" in process.stdout
