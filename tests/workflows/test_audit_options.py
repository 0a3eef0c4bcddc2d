"""Option files: valid content, precedence, the output of `unmask init`, and repeated audits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import unmask
from commands import unmask as command
from unmask.cli import app
from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import nouns
from unmask.measures import registry
from unmask.measures.geometry.vocabulary import rated_stereotypes
from unmask.models import vector_files
from unmask.models.loading import load_masked_lm
from unmask.models.word_vectors import Vectors
from unmask.options import EngineOptions
from unmask.results import AuditResult
from unmask.results.storage import load
from unmask.workflows.audit_options import AuditOptions, audit_command, list_differences, load_config, options_of

CLI_PARAMETERS = {parameter.key: parameter for parameter in audit_command().parameters().values() if parameter.cli}
Folder = Callable[[str], Path]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    """A folder with word lists for a short run: one template, two professions per group."""
    folder = tmp_path / "words"
    folder.mkdir()
    (folder / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    (folder / "p.csv").write_text(
        "profession,group,workforce_share\nmason,male,3\nplumber,male,2.7\nsecretary,female,93\n"
        "hairdresser,female,92\njudge,balanced,52\nbartender,balanced,53\n"
    )
    return folder


@pytest.fixture(scope="module")
def vectors_audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the result of an audit of random word vectors."""
    folder = tmp_path_factory.mktemp("vectors")
    vocabulary = list(dict.fromkeys(["he", "she", *rated_stereotypes(), *nouns()[:150]]))
    matrix = np.random.default_rng(0).normal(size=(len(vocabulary), 8)).astype(np.float32)
    vector_files.write_vectors(folder / "v.bin", Vectors(vocabulary, matrix))
    _save_result(unmask.audit(folder / "v.bin", contrasts=19, seed=7), folder)
    return folder


def _save_result(audit: unmask.Audit, folder: Path) -> Path:
    """Write only result.json; building the pages is slow."""
    (folder / "result.json").write_text(audit.result.model_dump_json(), encoding="utf-8")
    return folder / "result.json"


def _write_toml(folder: Path, text: str) -> Path:
    path = folder / "audit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def _edit_result(folder: Path, path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """Write a modified copy of a result.json."""
    content = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


# unmask init


def test_init_writes_every_option_and_changes_nothing(tmp_path: Path) -> None:
    process = command("init", "settings/mine.toml", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert "unmask audit --config settings/mine.toml" in process.stdout
    text = (tmp_path / "settings" / "mine.toml").read_text(encoding="utf-8")
    assert load_config(tmp_path / "settings" / "mine.toml").values == {}
    settings = [line[1:] for line in text.splitlines() if line.startswith("#") and not line.startswith("# ")]
    verb: Any = typer.main.get_command(app).commands["audit"]  # type: ignore[attr-defined]
    typed = {
        parameter.name if parameter.param_type_name == "argument" else max(parameter.opts, key=len)[2:]
        for parameter in verb.params
    }
    assert sorted(line.partition(" = ")[0] for line in settings) == sorted(
        (typed - {"config", "verbose", "models"}) | {"model"}
    )
    everything = _write_toml(tmp_path, "\n".join(settings))
    values = load_config(everything).values
    assert {parameter.name: values.get(parameter.name, parameter.default) for parameter in CLI_PARAMETERS.values()} == {
        parameter.name: parameter.default for parameter in CLI_PARAMETERS.values()
    }
    assert unmask.read_config(everything) == {"model": "unmask-mini"}
    comments = " ".join(text.replace("\n#", " ").split())
    assert all(" ".join(parameter.help.split()) in comments for parameter in CLI_PARAMETERS.values())


def test_init_refuses_to_write_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text("seed = 3\n")
    process = command("init", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (
        2,
        "unmask: audit.toml exists; give another name, or remove it first\n",
    )
    assert (tmp_path / "audit.toml").read_text() == "seed = 3\n"


def test_options_stand_under_their_measures() -> None:
    for parameter in CLI_PARAMETERS.values():
        owners = {measure.name for measure in registry.built_in() if parameter.name in measure.Options.model_fields}
        if parameter.name in EngineOptions.model_fields:
            continue
        assert set(parameter.panel.lower().replace(" and ", " ").split()) == owners, parameter.key
        assert bool(owners) == (parameter.name not in audit_command().__base__.model_fields), parameter.key  # type: ignore[union-attr]


# an audit.toml


def test_the_command_line_wins_and_paths_are_the_files(model_folder: Folder, tmp_path: Path, words: Path) -> None:
    shutil.copytree(model_folder("bert-uncased"), words / "bert")
    _write_toml(
        words, 'model = "bert"\nmeasure = "association"\ntemplates = "t.csv"\nprofessions = "p.csv"\nseed = 3\n'
    )
    process = command("audit", "--config", "words/audit.toml", "--seed", "7", "--out", "a", cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    result = load(tmp_path / "a")
    assert (result.model.name, result.seed) == ("words/bert", 7)
    assert result.configuration["measures"] == ["association"]
    assert (result.configuration["templates"], result.configuration["persons"]) == ("words/t.csv", None)
    audit = unmask.audit(**unmask.read_config(words / "audit.toml"))
    assert audit.result.seed == 3
    assert audit.measurements[0].data_hash == result.measurements[0].data_hash


def test_names_and_paths(tmp_path: Path) -> None:
    (tmp_path / "near").mkdir()
    terms = {"family", "./away/mine.csv"}
    path = _write_toml(tmp_path, f'long_texts = "window"\nfull = true\nterms = {sorted(terms)}\nout = "a"\n')
    values = load_config(path).values
    assert values["long_texts"] == "window"
    assert values["terms"] == (str(tmp_path / "away" / "mine.csv"), "family")
    assert values["out"] == tmp_path / "a"
    assert unmask.read_config(path).keys() == {"model", "long_texts", "full", "terms"}
    models = {"near": str(tmp_path / "near"), "./gone": str(tmp_path / "gone"), "org/name": "org/name"}
    for name, expected in models.items():
        assert load_config(_write_toml(tmp_path, f'\ufeffmodel = "{name}"')).values == {"models": (expected,)}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("leyers = 3", "unknown setting 'leyers'; did you mean 'layers'?"),
        ("config = 3", "unknown setting 'config'; choose from: model, measure"),
        ('layers = "four"', 'layers is "four"; give a whole number'),
        ("layers = true", "layers is true; give a whole number"),
        ("layers = 0", "layers is 0; give 1 or more"),
        ("contrasts = 18", "contrasts is 18; give 19 or more"),
        ("limit = 1.5", "limit is 1.5; give a whole number"),
        ('names = "yes"', 'names is "yes"; give true or false'),
        ("model = 7", "model is 7; give a list of texts in quotes"),
        ("texts = [1]", "texts is [1]; give a path in quotes"),
        ("measure = [1]", "measure is [1]; give a list of texts in quotes"),
        ("seed = 1979-05-27", 'seed is "1979-05-27"; give a whole number'),
        ("[geometry]\nlayers = 3", "[geometry] is a table; write settings without tables"),
        ("long-texts = 'head'\nlong_texts = 'head'", "long-texts is there twice"),
        ("seed = ", "is not TOML (Invalid value (at"),
    ],
)
def test_what_is_wrong_in_a_file(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(UnmaskError) as raised:
        load_config(_write_toml(tmp_path, text))
    assert str(raised.value).startswith(str(tmp_path / "audit.toml"))
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "latin.toml").write_bytes(b"model = '\xe4'")
    for name, line in {
        "gone.toml": "does not exist; give a file of options, or write one with unmask init",
        "x.json": "is not a result of this version",
        "latin.toml": "is not TOML",
    }.items():
        with pytest.raises(UnmaskError, match=f"{name} {line}"):
            unmask.read_config(tmp_path / name)
    process = command("audit", "--config", ".", cwd=tmp_path)
    line = "unmask: . is a folder; give a file such as audit.toml, or the result.json of an audit\n"
    assert (process.returncode, process.stdout, process.stderr) == (2, "", line)


# a result.json


def test_the_command_repeats_an_audit_and_notices_other_data(
    model_folder: Folder, words: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(words)
    settings: dict[str, Any] = {"measures": "association", "templates": "t.csv", "professions": "p.csv", "seed": 3}
    original = unmask.audit(model_folder("bert-uncased"), **settings)
    _save_result(original, words)
    for template in ("{person} is {a} {profession}.", "{person} was {a} {profession}."):
        Path("t.csv").write_text(f"template\n{template}\n")
        process = command("audit", "--config", "result.json", "--json", cwd=words)
        assert process.returncode == 0
        repeated = AuditResult.model_validate_json(process.stdout)
        assert (repeated.configuration, repeated.seed, repeated.model) == (
            original.result.configuration,
            3,
            original.result.model,
        )
        changed = "was" in template
        assert (repeated.measurements != original.measurements) == changed
        message = "unmask: not as in result.json: other data: association, en, custom has other items ("
        assert process.stderr.startswith(message) if changed else process.stderr == ""
        assert process.stderr.count("\n") == changed


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("unmask-mini-nli", {"limit": 2, "occupations": "o.csv", "labels": "entailment,neutral,contradiction"}),
        ("unmask-mini-sentiment", {"corpora": "reviews", "limit": 6, "terms": ("family", "t.csv"), "seed": 3}),
        ("unmask-mini-sentiment", {"texts": "texts.txt", "long_texts": "window", "most_tokens": 16}),
        ("bert-uncased", {"measures": "geometry", "word_list": "w.txt", "layers": 1, "contrasts": 19}),
    ],
)
def test_every_measure_is_repeated(
    model_folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, settings: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("o.csv").write_text("occupation,type\nnurse,female\nmason,male\nbaker,neutral\nclerk,neutral\n")
    Path("t.csv").write_text("male,female\nhe,she\nhis,her\nhim,her\n")
    Path("texts.txt").write_text("He is a good friend, and I like him very much, as all do.\nShe lost her keys.\n")
    Path("w.txt").write_text("\n".join(nouns()[:120]))
    original = unmask.audit(model if model in MODELS else model_folder(model), **settings)
    repeated = unmask.audit(**unmask.read_config(_save_result(original, tmp_path)))
    assert repeated.measurements == original.measurements
    assert repeated.result.configuration == original.result.configuration
    assert list_differences(original.result, repeated.result) == []


def test_word_vectors_are_repeated(vectors_audit: Path, tmp_path: Path) -> None:
    result = load(vectors_audit)
    assert unmask.audit(**unmask.read_config(vectors_audit / "result.json")).measurements == result.measurements
    older = _edit_result(
        vectors_audit, tmp_path / "older.json", lambda content: content["configuration"].pop("contrasts")
    )
    with pytest.warns(UserWarning, match=r"older.json does not state contrasts; the default is used: 99$"):
        assert "contrasts" not in unmask.read_config(older)


def test_what_was_not_the_same(vectors_audit: Path) -> None:
    current = load(vectors_audit)
    previous = current.model_copy(
        update={
            "unmask_version": "0.0.1",
            "libraries": current.libraries | {"torch": "1.0", "gone": "1"},
            "model": current.model.model_copy(update={"weight_hash": "f" * 64, "device": "cuda:1"}),
            "measurements": [current.measurements[0].model_copy(update={"data_hash": "e" * 64})],
        }
    )
    current = current.model_copy(update={"model": current.model.model_copy(update={"device": "cpu"})})
    version, model, device, data = list_differences(previous, current)
    assert version.startswith("another version: unmask 0.0.1 then, ")
    assert "torch 1.0 then, " in version
    assert "gone" not in version
    assert model.startswith("another model: the weights of ")
    assert "(ffffffffffff then, " in model
    assert device == "another device: cuda then, cpu now; the last digits may differ"
    assert data.startswith("other data: geometry, en, vectors has other items (eeeeeeeeeeee then, ")


def test_a_result_allows_nothing(vectors_audit: Path, tmp_path: Path) -> None:
    """A result may come from a stranger, so remote code runs only with the user's explicit permission."""

    def grant_permissions(content: dict[str, Any]) -> None:
        content["configuration"] |= {"allow_remote_code": True, "allow_pickle": True, "offline": True}

    config = load_config(_edit_result(vectors_audit, tmp_path / "theirs.json", grant_permissions))
    assert not any(config.values[name] for name in ("allow_remote_code", "allow_pickle", "offline"))
    assert [note.partition(" was made with ")[2].partition(";")[0] for note in config.notes] == [
        "--allow-pickle",
        "--allow-remote-code",
    ]


def test_results_that_are_of_no_audit(vectors_audit: Path, tmp_path: Path) -> None:
    scores = _edit_result(
        vectors_audit, tmp_path / "s.json", lambda content: content.update(configuration={"items": "s.tsv"})
    )
    with pytest.raises(
        UnmaskError, match=r"is of recorded scores, not of a model; repeat it with unmask analyse s.tsv"
    ):
        unmask.read_config(scores)
    empty = _edit_result(vectors_audit, tmp_path / "e.json", lambda content: content.update(measurements=[]))
    with pytest.raises(
        UnmaskError, match=r"the audit of .*v\.bin holds no measurement to repeat; audit the model again"
    ):
        unmask.read_config(empty)
    (tmp_path / "compared.json").write_text('{"comparisons": [], "before": {}}')
    with pytest.raises(UnmaskError, match=r"compared.json is a comparison, not an audit; give one that unmask audit"):
        unmask.read_config(tmp_path / "compared.json")


def test_a_model_of_the_hub_is_known_by_its_commit(model_folder: Folder, tmp_path: Path) -> None:
    cached = tmp_path / "models--org--name" / "snapshots" / "0a1b2c"
    shutil.copytree(model_folder("bert-uncased"), cached)
    loaded: Any = load_masked_lm(str(cached))
    assert loaded.info().revision == "0a1b2c"
    loaded = load_masked_lm(str(model_folder("bert-uncased")))
    assert loaded.info().revision is None


def test_options_of_several_measures_come_back(model_folder: Folder, words: Path) -> None:
    """The configuration holds all options of the measures that ran, and all of them are restored."""
    settings: dict[str, Any] = {
        "templates": words / "t.csv",
        "professions": words / "p.csv",
        "layers": 1,
        "contrasts": 19,
    }
    (words / "w.txt").write_text("\n".join(nouns()[:120]))
    settings |= {"measures": ("association", "geometry"), "word_list": words / "w.txt", "pooling": "mean", "seed": 5}
    audit = unmask.audit(model_folder("bert-uncased"), **settings)
    for name in settings["measures"]:
        assert registry.get_measure(name).Options.model_fields.keys() <= audit.result.configuration.keys()
    options = options_of(audit.result)
    assert {name: getattr(options, name) for name in settings} == settings
    assert options.given_names == settings.keys() - AuditOptions.model_fields.keys()
