"""Audits of word vectors and encoders: through Python and the command line, on good input and bad."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import transformers
from scipy import stats

import unmask
from commands import interrupted
from commands import unmask as command
from contrasts import run_contrasts
from planted import PlantedModel
from toy_model import bert_of, tokenizer_of
from unmask.cli import main
from unmask.lexicon.weat import associations, sentences
from unmask.lexicon.word_lists import nouns
from unmask.measures.geometry import Geometry
from unmask.measures.geometry.analysis import IN_BOTH_PROTOCOLS
from unmask.measures.geometry.contrasts import find_nearest_words
from unmask.measures.geometry.space import embed_words, make_word_sentences
from unmask.measures.geometry.vocabulary import rated_stereotypes
from unmask.measures.geometry.word_tests import measure_seat, run_tests, sort_words
from unmask.models import vector_files, word_vectors
from unmask.models.checkpoints import find_checkpoint
from unmask.models.encoder import TransformersEncoder
from unmask.models.handle import ModelHandle
from unmask.models.roles import WordInSentence
from unmask.models.word_vectors import Vectors
from unmask.options import LoadOptions
from unmask.results import Measurement
from unmask.results.storage import load, read_items
from unmask.statistics.correlation import pearson_estimate
from unmask.statistics.separation import score_two_clusters
from unmask.workflows.audit import choose_measures
from unmask.workflows.audit_options import audit_options

CONTRASTS = 19
SEEDS = 6
FEW: dict[str, Any] = {"contrasts": CONTRASTS}
Folder = Callable[[str], Path]


def planted(size: int = 16, seed: int = 0) -> Vectors:
    """Vectors in which professions lie by stereotype along the first axis; the rest is noise."""
    rng = np.random.default_rng(seed)
    people = rated_stereotypes()
    words = list(dict.fromkeys([*people, *nouns()[:300]]))
    words += [word.text for test in associations() for word_set in test.sets for word in word_set.words]
    words = list(dict.fromkeys(["he", "she", *words]))
    matrix = rng.normal(size=(len(words), size))
    matrix[:, 0] = [2 * (people.get(word) or 0.0) for word in words] + rng.normal(scale=0.3, size=len(words))
    matrix[:2, 0] = 4, -4
    return Vectors(words, matrix.astype(np.float32))


@pytest.fixture(scope="module")
def word2vec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of planted vectors."""
    path = tmp_path_factory.mktemp("vectors") / "v.bin"
    vector_files.write_vectors(path, planted())
    return path


@pytest.fixture(scope="module")
def audited(word2vec: Path) -> Path:
    """The folder of an audit of these vectors, by the command."""
    done = command("audit", "v.bin", "--contrasts", str(CONTRASTS), "--out", "audit", cwd=word2vec.parent)
    assert done.returncode == 0, done.stderr
    assert "Report: audit/report.html" in done.stdout
    assert "professions between women and men follow stereotypes" in " ".join(done.stdout.split())
    return word2vec.parent / "audit"


def _measure(model: Any, **settings: Any) -> Measurement:
    (measurement,) = unmask.audit(model, **(FEW | settings)).measurements
    return measurement


def _chosen_measures(model: Any, **options: Any) -> list[str]:
    """The measures that an audit runs."""
    return [measure.name for measure in choose_measures(ModelHandle(model), audit_options()(**options))]


# Word vectors


def test_the_command_leaves_a_folder_that_can_be_read_again(audited: Path) -> None:
    result = load(audited)
    (measurement,) = result.measurements
    assert (measurement.name, measurement.corpus, measurement.read_details(Geometry) is not None) == (
        "geometry",
        "vectors",
        True,
    )
    assert result.model.architecture == "word2vec, binary"
    assert result.configuration["geometry_words"] == ["vectors"]
    assert "layers" not in result.configuration
    items = read_items(audited / "items" / "geometry.jsonl.gz")
    assert len(items) == measurement.read_details(Geometry).words
    assert {"word", "bias", "side", "cluster", "male_neighbours", "stereotype"} <= set(items)
    assert (audited / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in audited.parent.iterdir()) == ["audit", "v.bin"]


def test_it_finds_what_was_planted(audited: Path) -> None:
    tests = load(audited).measurements[0].tests
    assert tests["stereotype"].value == pytest.approx(0.8, abs=0.15)
    assert tests["stereotype"].p_adjusted is not None
    assert tests["stereotype"].p_adjusted < 0.001
    assert [name for name in tests if name.startswith("WEAT")] == [f"WEAT {test.name}" for test in associations()]
    classification = tests.get("classification")  # gender lies in one direction alone
    assert classification is None or (classification.p_value or 0.0) > 0.05


@pytest.mark.parametrize("source_format", ["npz", "dict", "gensim"])
def test_vectors_of_any_kind_give_the_same(source_format: str, audited: Path, tmp_path: Path) -> None:
    ours = planted()
    model: Any
    if source_format == "npz":
        model = tmp_path / "v.npz"
        vector_files.write_vectors(model, ours, "npz")
    elif source_format == "dict":
        model = dict(zip(ours.words, ours.matrix, strict=True))
    else:
        model = pytest.importorskip("gensim.models").KeyedVectors(vector_size=ours.matrix.shape[1])
        model.add_vectors(ours.words, ours.matrix)
    audit = unmask.audit(model, **FEW)
    before = load(audited)
    assert audit.result.model.weight_hash == before.model.weight_hash
    assert audit.measurements[0].tests == before.measurements[0].tests
    geometry = audit.measurements[0].read_details(Geometry)
    assert geometry.model_copy(update={"vectors": ""}) == before.measurements[0].read_details(Geometry).model_copy(
        update={"vectors": ""}
    )
    items = read_items(audited / "items" / "geometry.jsonl.gz")
    pd.testing.assert_frame_equal(audit.items["geometry"], items, check_dtype=False)


def test_analyse_gives_the_same_without_the_vectors(audited: Path) -> None:
    (before,), (after,) = load(audited).measurements, unmask.analyse(audited).measurements
    assert len(before.read_details(Geometry).tests) == len(after.read_details(Geometry).tests) == 8
    for test, analysed_test in zip(
        before.read_details(Geometry).tests, after.read_details(Geometry).tests, strict=True
    ):
        figures = ("name", "words", "removed", "n", "value", "interval", "v_measure")
        assert [getattr(analysed_test, figure) for figure in figures] == [getattr(test, figure) for figure in figures]
        assert analysed_test.reference is None
    assert after.read_details(Geometry).professions == before.read_details(Geometry).professions
    assert after.read_details(Geometry).most_male == before.read_details(Geometry).most_male
    assert after.tests["stereotype"].value == before.tests["stereotype"].value
    assert after.tests["stereotype"] == before.tests["stereotype"]
    assert "classification" not in after.tests  # what it is compared with was not recorded
    assert "no-contrasts" in {caveat.code for caveat in after.caveats}


def test_a_folder_of_debiased_vectors(word2vec: Path, audited: Path, tmp_path: Path) -> None:
    record = unmask.mitigate(str(word2vec), "hard-debias", tmp_path / "hard")
    audit = unmask.audit(tmp_path / "hard", **FEW)
    info = audit.result.model
    assert (info.name, info.mitigation) == (str(tmp_path / "hard"), "hard-debias")
    assert info.weight_hash == record["weight_hash"]
    assert info.parent_weight_hash == load(audited).model.weight_hash
    assert abs(audit.measurements[0].tests["stereotype"].value or 0) < 0.3
    some = word_vectors.load_vectors(tmp_path / "hard", most=500).info()
    assert some.mitigation is None  # these rows are not what the record is about
    with pytest.raises(unmask.UnmaskError, match="holds debiased word vectors, and no model"):
        find_checkpoint(str(tmp_path / "hard"), LoadOptions())
    (tmp_path / "hard" / "v.bin").unlink()
    with pytest.raises(unmask.UnmaskError, match=r"has no v\.bin, which mitigation\.json names"):
        unmask.audit(tmp_path / "hard")
    record["made"]["file"] = "../v.bin"
    (tmp_path / "hard" / "mitigation.json").write_text(json.dumps(record))
    with pytest.raises(unmask.UnmaskError, match="names no file of vectors"):
        unmask.audit(tmp_path / "hard")


def test_words_that_are_not_there_are_counted(tmp_path: Path) -> None:
    ours = planted()
    ours.matrix[ours.find_row("time")] = 0
    (tmp_path / "words.txt").write_text("\n".join([*nouns()[:50], nouns()[0], "xyzzy", "plugh"]))
    twice = Vectors([*ours.words, "time"], np.vstack([ours.matrix, ours.matrix[:1]]))
    measurement = _measure((twice.words, twice.matrix), word_list=tmp_path / "words.txt")
    assert measurement.corpus == "own words"
    assert measurement.read_details(Geometry).missing == ["xyzzy", "plugh"]
    assert measurement.read_details(Geometry).left_out == {"came twice": 1, "with a vector of zeros": 1}
    caveats = {caveat.code: caveat.text for caveat in measurement.caveats}
    assert caveats["words-missing"].startswith("2 requested words have no vector (xyzzy, plugh)")
    assert "few-words" in caveats


def test_words_of_the_association_tests_that_are_not_there_are_counted() -> None:
    ours = planted()
    career = [word.text for word in next(test for test in associations() if test.name == "6").attributes[0].words]
    ours.matrix[ours.find_row(career[0])] = 0
    removed = [*career[1:5], "algebra"]
    indices = [index for index, word in enumerate(ours.words) if word not in removed]
    measurement = _measure(([ours.words[index] for index in indices], ours.matrix[indices]))
    count = len({word.text for test in associations() for word_set in test.sets for word in word_set.words})
    message = {caveat.code: caveat.text for caveat in measurement.caveats}["association-words-missing"]
    assert message == (
        f"6 of the {count} words of WEAT have no vector ({', '.join(career[:5])}…) and are left out."
        " Too few words are left for WEAT 6, WEAT 6b."
    )
    assert [name for name in measurement.tests if name.startswith("WEAT")] == ["WEAT 7", "WEAT 7b", "WEAT 8", "WEAT 8b"]
    assert "association-words-missing" not in {caveat.code for caveat in _measure(planted()).caveats}


def test_only_as_many_words_are_read_as_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = planted()
    monkeypatch.setattr("unmask.measures.geometry.vocabulary.MOST", 500)
    assert unmask.audit(ours, **FEW).result.model.vocabulary == 500
    (tmp_path / "words.txt").write_text("\n".join(nouns()[:300]))
    listed = unmask.audit(ours, word_list=tmp_path / "words.txt", **FEW)
    assert listed.result.model.vocabulary == len(ours.words) > 500


def test_items_of_another_protocol_are_refused(audited: Path, tmp_path: Path) -> None:
    sound = read_items(audited / "items" / "geometry.jsonl.gz")
    published = sound[["language", "corpus", *IN_BOTH_PROTOCOLS]].assign(put_down=sound["bias"], asked=1, right=1)
    published.to_csv(tmp_path / "published.csv", index=False)
    sound[list(IN_BOTH_PROTOCOLS)].to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(unmask.UnmaskError, match=r"by the published protocol, not sound; give --protocol published$"):
        unmask.analyse(tmp_path / "published.csv", measure="geometry")
    with pytest.raises(unmask.UnmaskError, match=r"by the sound protocol, not published; give --protocol sound$"):
        unmask.analyse(audited, protocol="published")
    message = r"lacks the columns 'cluster_removed', 'probed'.*; geometry in the sound protocol needs what unmask audit"
    with pytest.raises(unmask.UnmaskError, match=message):
        unmask.analyse(tmp_path / "few.csv", measure="geometry")
    measurement = unmask.analyse(tmp_path / "published.csv", measure="geometry", protocol="published").measurements[0]
    assert measurement.read_details(Geometry).words == len(sound)


def test_without_professions_there_is_no_finding_about_them(tmp_path: Path) -> None:
    ours = planted()
    indices = [index for index, word in enumerate(ours.words) if word not in rated_stereotypes()]
    audit = unmask.audit(([ours.words[index] for index in indices], ours.matrix[indices]), **FEW)
    (measurement,) = audit.measurements
    test = measurement.tests["stereotype"]
    assert (test.value, test.interval, test.p_value, test.p_adjusted) == (None, None, None, None)
    assert measurement.read_details(Geometry).test("neighbours") is None
    assert measurement.read_details(Geometry).professions == []
    assert measurement.read_details(Geometry).test("classification") is not None
    audit.save(tmp_path / "audit")
    assert load(tmp_path / "audit") == audit.result


# Encoders


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Settings for few words: the professions, and two more."""
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("table\nwindow\n")
    return FEW | {"word_list": path}


def test_a_masked_model_is_measured_for_both_and_each_has_its_primary_test(
    model_folder: Folder, few: dict[str, Any], tmp_path: Path
) -> None:
    measures = ["association", "geometry"]
    audit = unmask.audit(model_folder("roberta"), measures=measures, corpora="emotions", **few)
    audit.save(tmp_path / "audit")
    result = load(tmp_path / "audit")
    assert result == audit.result
    assert [(measurement.name, measurement.corpus) for measurement in result.measurements] == [
        ("association", "emotions"),
        ("geometry", "own words"),
    ]
    assert result.configuration["measures"] == measures
    assert result.configuration["layers"] == 2  # the model has no four
    for measurement in result.measurements:
        primary = measurement.tests.get("stereotype")
        assert primary is None or primary.p_adjusted == primary.p_value
    assert sorted(path.name.partition(".")[0] for path in (tmp_path / "audit" / "items").iterdir()) == measures


@pytest.mark.parametrize(("family", "protocol"), [("albert", "sound"), ("modernbert", "published")])
def test_encoders_of_other_families(model_folder: Folder, few: dict[str, Any], family: str, protocol: str) -> None:
    measurement = _measure(str(model_folder(family)), measures="geometry", protocol=protocol, **few)
    names = {test.name for test in measurement.read_details(Geometry).tests}
    if protocol == "sound":
        assert measurement.read_details(Geometry).words + len(measurement.read_details(Geometry).missing) == len(
            {*rated_stereotypes(), "table", "window"}
        )
        assert names == {"clustering", "probe", "classification", "neighbours"}
        assert [name for name in measurement.tests if name.startswith("SEAT")]
    else:
        assert names == {"clustering", "neighbours", "classification"}
        assert measurement.tests == {}
    assert measurement.headline_text
    assert "No finding" not in measurement.headline_text


def test_a_model_without_a_head_and_one_that_classifies_are_the_same_encoder(
    model_folder: Folder, few: dict[str, Any], tmp_path: Path
) -> None:
    folder = model_folder("bert-uncased")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    bare = transformers.AutoModel.from_pretrained(folder)
    classifier = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    for name, model in (("bare", bare), ("classifier", classifier)):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    assert _chosen_measures(tmp_path / "bare") == ["geometry"]
    assert _chosen_measures(tmp_path / "classifier") == ["sentiment"]
    assert _chosen_measures((bare, tokenizer)) == ["geometry"]
    from_encoder = _measure(tmp_path / "bare", **few)
    from_classifier = _measure((classifier, tokenizer), measures="geometry", **few)
    assert from_encoder.tests == from_classifier.tests
    assert from_encoder.read_details(Geometry) == from_classifier.read_details(Geometry)


class Hashed:
    """A user's own encoder: one vector per word, whatever the sentence."""

    def embed(self, words: Sequence[WordInSentence], *, layers: int, pooling: str) -> np.ndarray:
        del pooling
        seeds = [int.from_bytes(word.text[slice(*word.span)].lower().encode()[:8], "big") for word in words]
        return np.stack([np.random.default_rng(seed).normal(size=8 * layers) for seed in seeds]).astype(np.float32)


def test_an_object_with_an_embed_method_is_enough(few: dict[str, Any]) -> None:
    audits = [unmask.audit(Hashed(), layers=2, **few) for _ in range(2)]
    assert audits[0].result.model.architecture == "own object"
    assert audits[0].measurements[0].read_details(Geometry).dimensions == 16
    first_result, second_result = (audit.result.model_copy(update={"created": ""}) for audit in audits)
    assert first_result == second_result  # the same seed
    pd.testing.assert_frame_equal(audits[0].items["geometry"], audits[1].items["geometry"])


def test_measures_that_run_by_default(model_folder: Folder, word2vec: Path) -> None:
    masked = model_folder("bert-uncased")
    for model, settings, measures in (
        (masked, {}, ["association", "geometry"]),
        (masked, {"languages": ("en", "de")}, ["association", "geometry"]),
        (masked, {"languages": ("de",)}, ["association"]),
        (masked, {"protocol": "published"}, ["association"]),
        (masked, {"professions": Path("p.csv")}, ["association"]),
        (masked, {"corpora": ("emotions",)}, ["association"]),
        (masked, {"corpora": ("nouns",)}, ["geometry"]),
        (masked, {"measures": ("crows-pairs", "geometry")}, ["crows-pairs", "geometry"]),
        (PlantedModel([], bias=0), {}, ["association"]),
        (Hashed(), {}, ["geometry"]),
        (word2vec, {}, ["geometry"]),
        ({"he": [1.0, 0.0], "she": [0.0, 1.0]}, {}, ["geometry"]),
        ("unmask-mini-sentiment", {}, ["sentiment"]),
        ("unmask-mini-nli", {}, ["inference"]),
        ("unmask-mini-nli", {"measures": ("geometry",)}, ["geometry"]),
    ):
        assert _chosen_measures(model, **settings) == measures, (model, settings)


def test_models_that_have_read_nothing_are_unbiased() -> None:
    """Each word has its own random vector, so gender is a contrast like any other.

    With 19 other contrasts, a p-value of at most 0.1 means one of the two highest ranks of 20. Sound tests are there no
    more often than chance allows (99.9 % of the time). The share of words in the right cluster, on its own, always
    looks like a finding, because words were selected by the direction.
    """
    people = {word: value for word, value in rated_stereotypes().items() if "_" not in word}
    words = list(dict.fromkeys([*list(people)[:120], *nouns()[:200]]))[:260]
    texts = [sentence.text for word in words for sentence in make_word_sentences(word)]
    texts += [
        sentence.text for test in associations() for test_sentences in sentences(test) for sentence in test_sentences
    ]
    tokenizer = tokenizer_of(texts)
    low: Counter[str] = Counter()
    for seed in range(SEEDS):
        encoder = TransformersEncoder(bert_of(tokenizer, seed=seed, hidden=32, layers=1), tokenizer)
        space = embed_words(words, encoder, layers=1)
        nearby = find_nearest_words(space, people)
        assert nearby is not None
        references = run_contrasts(space, nearby, seed=seed, count=CONTRASTS)
        for name, value in run_tests(space.matrix, space.gender, nearby, seed=seed, removed=True).items():
            reference = references.compare(name, value, removed=True)
            assert reference is not None
            low[name] += reference.p_value is not None and reference.p_value <= 0.1
        indices = space.indices(list(people))
        stereotypes = [people[space.words[index]] for index in indices]
        p_value = pearson_estimate(space.gender.bias[indices], np.array(stereotypes, dtype=float)).p_value
        low["stereotype"] += p_value is not None and p_value <= 0.1
        for name, test in measure_seat(encoder, layers=1, pooling="first+last", seed=seed).tests.items():
            low[name] += test.p_value is not None and test.p_value <= 0.1
        clusters = sort_words(space.matrix, space.gender, seed=seed)["clustering"]
        low["clusters by themselves"] += score_two_clusters(clusters.first, clusters.predicted).p_value <= 0.1
    assert low.pop("clusters by themselves") == SEEDS
    assert len(low) == 5 + len(associations())
    assert max(low.values()) <= stats.binom.isf(0.001, SEEDS, 0.1), low
    assert sum(low.values()) <= stats.binom.isf(0.001, SEEDS * len(low), 0.1), low


# Bad input: one line, exit code 2, nothing written


@pytest.fixture(scope="module")
def broken(word2vec: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files that cannot be measured, and one that can."""
    folder = tmp_path_factory.mktemp("broken")
    ours = planted()
    content = word2vec.read_bytes()
    (folder / "v.bin").write_bytes(content)
    (folder / "cut.bin").write_bytes(content[:-7])
    vector_files.write_vectors(folder / "few.bin", Vectors(ours.words[:100], ours.matrix[:100]))
    vector_files.write_vectors(folder / "nobody.bin", Vectors(ours.words[2:], ours.matrix[2:]))
    zeroed = ours.matrix.copy()
    zeroed[ours.find_row("she")] = 0
    vector_files.write_vectors(folder / "zero.bin", Vectors(ours.words, zeroed))
    vector_files.write_vectors(folder / "same.bin", Vectors(ours.words, np.ones_like(ours.matrix)))
    (folder / "narrow.bin").write_bytes(b"%d 1\n" % len(ours.words) + content.partition(b"\n")[2])
    (folder / "ragged.txt").write_text("he 1 2 3\nshe 1 2 3\nnurse 1 2\n")
    (folder / "two.txt").write_text("table\nwindow\n")
    (folder / "folder").mkdir()
    (folder / "folder" / "mitigation.json").write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cut.bin"], "cut.bin"),
        (["ragged.txt"], "ragged.txt"),
        (["narrow.bin"], "vectors of 1 values by its first line"),
        (["none.bin"], "none.bin cannot be read"),
        (["few.bin"], "geometry needs 240 words with vectors, and there are 98"),
        (["v.bin", "--words", "150"], "geometry needs 240 words"),
        (["nobody.bin"], "no vector for 'he'"),
        (["zero.bin"], "the vector of 'she' is all zeros"),
        (["same.bin"], "are the same vector; there is no direction"),
        (["folder"], "names no file of vectors"),
        (["v.bin", "--language", "de"], "geometry measures English words, not 'de'"),
        (
            ["v.bin", "--measure", "association"],
            "v.bin is a table of word vectors; association needs a masked language model",
        ),
        (["v.bin", "--corpus", "glove"], "--corpus glove is for encoders"),
        (["v.bin", "--corpus", "bec-pro"], "--corpus bec-pro is for association"),
        (["v.bin", "--corpus", "noun"], "did you mean 'nouns'"),
        (["v.bin", "--layers", "2"], "--layers is for encoders"),
        (["v.bin", "--full"], "--full is for encoders"),
        (["v.bin", "--texts", "two.txt"], "--texts is for sentiment"),
        (["v.bin", "--word-list", "none.txt"], "none.txt does not exist; give a text file with one word per line"),
        (["MODEL", "--words", "300", "--full"], "--words and --full both select the words of geometry"),
        (["MODEL", "--full", "--corpus", "glove"], "--full and --corpus glove both select the words of geometry"),
        (
            ["MODEL", "--word-list", "two.txt", "--words", "9"],
            "--words and --word-list both select the words of geometry",
        ),
        (["MODEL", "--pooling", "last"], "--pooling is 'last'"),
        (["MODEL", "--contrasts", "9"], "--contrasts"),
        (["MODEL", "--layers", "0"], "--layers"),
        (["MODEL", "--layers", "9", "--measure", "geometry"], "layers, not 9; give 1 to"),
        (["MODEL", "--measure", "geometry", "--language", "de"], "geometry measures English words"),
        (["MODEL", "--measure", "association", "--corpus", "nouns"], "--corpus nouns is for geometry"),
        (["MODEL", "--measure", "association", "--layers", "2"], "--layers is for geometry"),
        (["unmask-mini-nli", "--layers", "2"], "--layers is for geometry"),
    ],
)
def test_bad_input_is_refused_in_a_line(
    words: list[str],
    message: str,
    model_folder: Folder,
    broken: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(path.name for path in broken.iterdir())
    words = [str(model_folder("bert-uncased")) if word == "MODEL" else word for word in words]
    monkeypatch.chdir(broken)
    monkeypatch.setattr(sys, "argv", ["unmask", "audit", *words, "--out", "out"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 2, err
    assert message in err
    assert len(err.strip().splitlines()) == 1, err
    assert out == ""
    assert sorted(path.name for path in broken.iterdir()) == before


class Both:
    """Answers as a masked language model, and gives all words the same vector."""

    def log_probability(self, queries: Sequence[Any]) -> list[float]:
        return [-1.0] * len(queries)

    def embed(self, words: Sequence[WordInSentence], *, layers: int, pooling: str) -> np.ndarray:
        del layers, pooling
        return np.ones((len(words), 4), np.float32)


def test_what_fails_by_default_can_be_left_out() -> None:
    message = r"the same vector; there is no direction \(or leave out geometry: --measure association\)$"
    with pytest.raises(unmask.UnmaskError, match=message):
        unmask.audit(Both())
    with pytest.raises(unmask.UnmaskError, match=r"there is no direction$"):
        unmask.audit(Both(), measures=["association", "geometry"])


def test_ctrl_c(word2vec: Path, tmp_path: Path) -> None:
    arguments = ("audit", word2vec, "--contrasts", "999", "--out", "out")
    code, out, err = interrupted(*arguments, cwd=tmp_path, once="manifold/_utils")  # before the first contrast
    assert (code, out) == (130, "")
    assert err.strip() == "unmask: Interrupted. Nothing was written."
    assert list(tmp_path.iterdir()) == []
