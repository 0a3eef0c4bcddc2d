"""The lipstick studies: steps, the papers' tables, remaining bias versus other contrasts, page and commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import unmask
from pages import assert_loads_nothing, assert_plots_are_described
from toy_study import step_keys
from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import nouns
from unmask.measures.geometry import OWN, published, vocabulary
from unmask.measures.geometry.space import Contrast, embed_static
from unmask.mitigations.methods.hard_debias import hard_debias
from unmask.models.vector_files import read_vectors, write_vectors
from unmask.models.word_vectors import Vectors
from unmask.statistics.correlation import pearson
from unmask.studies.lipstick import ContextualLipstickOptions, LipstickOptions, StaticLipstickOptions
from unmask.studies.lipstick.plan import WordMeasuring, steps
from unmask.studies.lipstick.report import MeasuredWords
from unmask.studies.models import Debiasing, read_measurement
from unmask.studies.study import StudyRun, run_study

PAIRS = ("he she", "man woman", "his her", "himself herself", "boy girl", "father mother", "son daughter")


def make_vectors(words: int = 700, size: int = 24) -> Vectors:
    """Make word vectors with gender in three dimensions; he − she is only one of them."""
    rng = np.random.default_rng(0)
    names = list(dict.fromkeys([*vocabulary.rated_stereotypes(), *nouns()]))[:words]
    gender = rng.normal(size=(words, 1))
    matrix = rng.normal(size=(words, size))
    matrix[:, :3] += 2 * gender
    ends, spelled = [], []
    for pair in PAIRS:
        shared = rng.normal(size=size)
        for side, word in zip((1, -1), pair.split(), strict=True):
            ends.append(shared + side * 4 * np.eye(size)[0])
            spelled.append(word)
    return Vectors([*spelled, *names], np.concatenate([ends, matrix]).astype(np.float32))


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "planted.bin"
    write_vectors(path, make_vectors())
    return path


def read_rows(run: StudyRun) -> list[MeasuredWords]:
    return [MeasuredWords(step, *read_measurement(folder)) for step, folder in run.finished.results(WordMeasuring)]


@pytest.fixture(scope="module")
def sound(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyRun, Path]:
    out = tmp_path_factory.mktemp("lipstick") / "sound"
    run = run_study("lipstick-static", StaticLipstickOptions(vectors=(f"toy={vectors}",), contrasts=19), out)
    assert run.failures == []
    assert run.report is not None
    return run, out


class TestStatic:
    def test_the_origin_chooses_the_words(self, sound: tuple[StudyRun, Path]) -> None:
        origin, debiased = read_rows(sound[0])
        before = origin.items[origin.items["side"] != ""].set_index("word")["side"]
        after = debiased.items[(debiased.items["words"] == "origin") & (debiased.items["side"] != "")]
        assert after.set_index("word")["side"].to_dict() == before.to_dict()

    def test_what_is_left_stands_beside_other_contrasts_of_the_origin(self, sound: tuple[StudyRun, Path]) -> None:
        origin, debiased = read_rows(sound[0])
        origin_test, debiased_test = (row.find_test("probe", removed=row.is_origin) for row in (origin, debiased))
        assert origin_test is not None
        assert debiased_test is not None
        assert origin_test.reference is not None
        assert debiased_test.reference is not None
        assert debiased_test.reference.values == origin_test.reference.values
        assert (debiased_test.value or 0) > 0.8, "gender is in two more dimensions, which hard debiasing leaves"

    def test_words_of_weat_that_are_not_there_are_named(self, sound: tuple[StudyRun, Path]) -> None:
        for row in read_rows(sound[0]):
            text = {caveat.code: caveat.text for caveat in row.measurement.caveats}["association-words-missing"]
            assert text.endswith("Too few words are left for WEAT 6, WEAT 6b, WEAT 7, WEAT 7b, WEAT 8, WEAT 8b.")

    def test_the_bias_itself_is_gone(self, sound: tuple[StudyRun, Path]) -> None:
        """Hard debiasing removes its own direction, which is close to he − she, from every word."""
        origin, debiased = read_rows(sound[0])
        before, after = (row.items[row.items["words"] == "own"]["bias"].abs().mean() for row in (origin, debiased))
        assert after < 0.35 * before

    def test_the_tables(self, sound: tuple[StudyRun, Path]) -> None:
        assert sound[0].report is not None
        table, remaining, details = sound[0].report.tables
        assert (table.name, remaining.name, details.name) == ("table-1", "left", "more")
        assert [row[0] for row in table.rows] == ["origin", "hard-debias"]
        assert len(remaining.rows) == 8
        assert set(table.numbers["words"]) == {"own", "origin"}

    def test_what_is_done_is_kept(self, sound: tuple[StudyRun, Path], vectors: Path) -> None:
        request = StaticLipstickOptions(vectors=(f"toy={vectors}",), contrasts=19)
        run = run_study("lipstick-static", request, sound[1])
        assert {outcome.status for outcome in run.finished.outcomes} == {"kept"}

    def test_another_seed_is_another_step(self, vectors: Path) -> None:
        first_keys, second_keys = (
            step_keys(steps(StaticLipstickOptions(vectors=(f"toy={vectors}",), seed=seed))) for seed in (1, 2)
        )
        assert set(first_keys) == set(second_keys)
        assert not set(first_keys.values()) & set(second_keys.values())

    def test_another_result_schema_is_another_step(self, vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        request = StaticLipstickOptions(vectors=(f"toy={vectors}",))
        before = step_keys(steps(request))["geometry-toy-origin-vectors-sound"]
        monkeypatch.setattr("unmask.studies.lipstick.plan.SCHEMA_VERSION", 1)
        assert step_keys(steps(request))["geometry-toy-origin-vectors-sound"] != before

    def test_other_words_are_another_step(self, vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        noun_options = ContextualLipstickOptions(methods=(), vocabularies=("nouns",))
        vector_options = StaticLipstickOptions(vectors=(f"toy={vectors}",), protocol="published")
        monkeypatch.setattr("unmask.measures.geometry.vocabulary.excluded_words", lambda *_, **__: frozenset({"nun"}))
        before = step_keys(steps(noun_options)) | step_keys(steps(vector_options))
        monkeypatch.setattr("unmask.measures.geometry.vocabulary.nouns", lambda: ["table", "window"])
        monkeypatch.setattr("unmask.measures.geometry.vocabulary.excluded_words", lambda *_, **__: frozenset({"monk"}))
        after = step_keys(steps(noun_options)) | step_keys(steps(vector_options))
        for name in ("geometry-model-origin-nouns-sound", "geometry-toy-origin-vectors-published"):
            assert before[name] != after[name]

    def test_the_page(self, sound: tuple[StudyRun, Path]) -> None:
        page = (sound[1] / "report.html").read_text(encoding="utf-8")
        assert_loads_nothing(page)
        assert_plots_are_described(page, 4)
        text = (sound[1] / "study.md").read_text(encoding="utf-8")
        assert "![Map of the most biased words: toy, origin](figures/maps-toy-origin.svg)" in text
        assert (sound[1] / "figures" / "maps-toy-origin.svg").is_file()

    def test_published(self, vectors: Path, tmp_path: Path, data: Path) -> None:
        assert (data / "professions").is_dir()
        request = StaticLipstickOptions(vectors=(f"toy={vectors}",), debiased=(f"toy={vectors}",), protocol="published")
        run = run_study("lipstick-static", request, tmp_path / "out")
        assert run.report is not None
        table = run.report.tables[0]
        assert table.rows[0][1:] == table.rows[1][1:], "the same vectors have changed nothing"
        assert [row[0] for row in table.rows] == ["origin", "debiased"]

    def test_gn_glove(self, tmp_path: Path, data: Path) -> None:
        """The last value of each vector is left out; so are words that one of the files lacks, wherever they stand."""
        assert (data / "lipstick").is_dir()
        origin = make_vectors()
        path, gn_path = tmp_path / "glove.txt", tmp_path / "gn_glove.txt"
        write_vectors(path, origin, "glove")
        order = np.random.default_rng(1).permutation(len(origin.words))[:-30]
        order = np.union1d(order, [origin.find_row(word) for pair in PAIRS for word in pair.split()])[::-1]
        gender = 100 * np.random.default_rng(2).normal(size=(len(order), 1)).astype(np.float32)
        matrix = np.concatenate([origin.matrix[order], gender], axis=1)
        write_vectors(gn_path, Vectors([origin.words[row] for row in order], matrix), "glove")
        request = StaticLipstickOptions(vectors=(f"glove={path}",), gn_glove=(str(gn_path),), protocol="published")
        run = run_study("lipstick-static", request, tmp_path / "out")
        assert run.failures == []
        before, after = read_rows(run)
        assert (before.name, after.name) == ("origin", "gn-glove")
        assert before.details.dimensions == after.details.dimensions == origin.matrix.shape[1]
        assert before.details.left_out["are not in the debiased vectors"] > 0
        kept = {origin.words[row] for row in order}
        assert set(before.items["word"]) == set(after.items["word"]) <= kept
        for name in ("clustering", "neighbours", "classification"):
            first, second = before.find_test(name), after.find_test(name)
            assert first is not None
            assert second is not None
            assert first.value == pytest.approx(second.value), "without the last value, they are the same vectors"


class TestContextual:
    def test_a_debiased_model_beside_its_origin(self, tmp_path: Path, model_folder: Callable[[str], Path]) -> None:
        model = str(model_folder("bert-uncased"))
        request = ContextualLipstickOptions(
            model=model, debiased=(f"same={model}",), vocabularies=("nouns",), words=240, contrasts=19
        )
        run = run_study("lipstick-contextual", request, tmp_path / "out")
        assert run.failures == []
        assert run.report is not None
        origin, same = read_rows(run)
        for name in ("clustering", "probe", "classification", "neighbours"):
            origin_test, same_test = origin.find_test(name), same.find_test(name)
            assert origin_test is not None
            assert same_test is not None
            assert origin_test.value == pytest.approx(same_test.value), "the same model has changed nothing"
        assert run.report.tables[0].name == "table-2"

    def test_steps(self) -> None:
        planned = steps(ContextualLipstickOptions(vocabularies=("nouns",)))
        assert len(planned) == 4 + 5
        assert "debiasing-model-leace" in {step.name for step in planned}
        assert planned[5].needs == ("geometry-model-origin-nouns-sound", "debiasing-model-sent-debias")


@pytest.mark.parametrize(
    ("options", "values", "message"),
    [
        (ContextualLipstickOptions, {"methods": ("hard-debias",)}, "changes word vectors"),
        (ContextualLipstickOptions, {"vocabularies": ("verbs",)}, "verbs"),
        (
            ContextualLipstickOptions,
            {"settings": {"cda.epochs": "1"}},
            "cda.epochs is a setting of",
        ),
        (ContextualLipstickOptions, {"settings": ["epochs=1"]}, "names no method; give METHOD.NAME=VALUE"),
        (ContextualLipstickOptions, {"settings": ["cds.epochs=x"]}, "epochs is 'x'; give a whole number"),
        (ContextualLipstickOptions, {"debiased": ("origin=unmask-mini",)}, "two models are called 'origin'"),
        (StaticLipstickOptions, {"vectors": ("a=nowhere.bin",)}, "nowhere.bin"),
        (StaticLipstickOptions, {"contrasts": 5}, "contrasts is 5; give 19 or more"),
        (StaticLipstickOptions, {"words": 0}, "words is 0; give 1 or more"),
    ],
)
def test_what_cannot_be_run_is_refused(options: type[LipstickOptions], values: dict[str, Any], message: str) -> None:
    with pytest.raises(UnmaskError, match=message):
        steps(options(**values))


def test_a_folder_names_a_file_of_its_own(vectors: Path, tmp_path: Path) -> None:
    record = {"method": "hard-debias", "weight_hash": "a", "parent": {"weight_hash": "b"}, "made": {"file": "../x.bin"}}
    (tmp_path / "hard").mkdir()
    (tmp_path / "x.bin").write_bytes(vectors.read_bytes())
    (tmp_path / "hard" / "mitigation.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(UnmaskError, match="names no file of vectors"):
        steps(StaticLipstickOptions(vectors=(f"toy={vectors}",), debiased=(f"toy={tmp_path / 'hard'}",)))


def test_a_file_without_a_name_belongs_to_the_only_vectors(vectors: Path) -> None:
    named, unnamed = (
        step_keys(steps(StaticLipstickOptions(vectors=(f"toy={vectors}",), debiased=(text,))))
        for text in (f"toy={vectors}", str(vectors))
    )
    assert named == unnamed
    two = (f"toy={vectors}", f"other={vectors}")
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"vectors": two, "debiased": (str(vectors),)}, "belongs to no vectors; write NAME="),
        ({"vectors": two, "debiased": (two[0],), "gn_glove": (two[0],)}, "two debiased versions of toy were given"),
        (
            {"vectors": two, "gn_glove": ("toy=none.txt",)},
            "there is no file 'none.txt'; give NAME=FILE with --gn-glove",
        ),
    )
    for options, message in cases:
        with pytest.raises(UnmaskError, match=message):
            steps(StaticLipstickOptions(**options))


def test_a_method_is_published_where_its_lists_are_given() -> None:
    settings = {"cds.lists": "folder", "context-debias.epochs": "1"}
    for protocol, methods in (("published", ["cds"]), ("sound", [])):
        options = ContextualLipstickOptions(
            methods=("cds", "context-debias"), vocabularies=("nouns",), protocol=protocol, settings=settings
        )
        debiasings = [step for step in steps(options) if isinstance(step, Debiasing)]
        assert [step.method for step in debiasings if step.protocol == "published"] == methods


def test_debiased_vectors_belong_to_vectors(vectors: Path) -> None:
    request = StaticLipstickOptions(vectors=(f"toy={vectors}",), debiased=(f"other={vectors}",))
    with pytest.raises(UnmaskError, match="no vectors are called 'other'"):
        steps(request)


def test_the_command(vectors: Path, sound: tuple[StudyRun, Path], tmp_path: Path) -> None:
    arguments = ("study", "run", "lipstick-static", "--contrasts", "19", "--out", sound[1])
    process = unmask(*arguments, "--vectors", f"toy={vectors}", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert "3 kept" in process.stdout
    assert "Word vectors before and after debiasing" in process.stdout
    bad = unmask("study", "run", "lipstick-contextual", "--set", "epochs=1", "--out", "other", cwd=tmp_path)
    assert bad.returncode == 2
    assert "METHOD.NAME=VALUE" in bad.stderr


def test_gonen_and_goldberg_on_word2vec(data: Path) -> None:
    """The paper on all of word2vec: r = 0.747 before and 0.606 after, clusters 0.999 and 0.925, classifier 1 and 1.

    The debiased vectors here are our own, so only their correlation and clusters are close to the paper's.
    """
    before = read_vectors(next(iter((data / "vectors").glob("word2vec*"))))
    after = hard_debias(before).vectors
    words = vocabulary.vector_words(before, published=True).words
    professions = vocabulary.rated_stereotypes(published=True)
    spaces = [embed_static(words, word_vectors) for word_vectors in (before, after)]
    origin = published.score_words(spaces[0], professions, spaces[0].gender, OWN)
    gender = Contrast(np.empty(0), origin["bias"].to_numpy(dtype=float), np.empty(0, dtype=np.intp))
    debiased = published.score_words(spaces[1], professions, gender, "origin")
    for scores, paper in ((origin, 0.747), (debiased, 0.606)):
        rows = scores[scores["male_neighbours"].notna()]
        assert pearson(rows["put_down"], rows["male_neighbours"]) == pytest.approx(paper, abs=0.01)
    for scores, clustered, classified in ((origin, 0.999, 0.9995), (debiased, 0.922, 0.949)):
        tests = {test.name: test for test in published.list_word_tests(scores)}
        assert tests["clustering"].accuracy == pytest.approx(clustered, abs=0.001)
        assert tests["classification"].value == pytest.approx(classified, abs=0.001)
