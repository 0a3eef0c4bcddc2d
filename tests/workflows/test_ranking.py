"""Audits of several models: stored, resumed, run locally or on Ray, and ranked."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import unmask
from commands import unmask as command
from pages import assert_loads_nothing
from unmask.embedded import MODELS
from unmask.errors import Stopped, UnmaskError
from unmask.results import storage
from unmask.studies.models import hash_model
from unmask.workflows import ranking
from unmask.workflows.audit import run_audit
from unmask.workflows.ranking import OUT

pytestmark = pytest.mark.filterwarnings(
    "default::pytest.PytestUnraisableExceptionWarning", "default::pytest.PytestUnhandledThreadExceptionWarning"
)  # of Ray's threads


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    """Options for a short audit: one template, two professions per group."""
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    (tmp_path / "p.csv").write_text(
        "profession,group,workforce_share\nmason,male,3\nplumber,male,2.7\nsecretary,female,93\n"
        "hairdresser,female,92\njudge,balanced,52\nbartender,balanced,53\n"
    )
    return {"templates": tmp_path / "t.csv", "professions": tmp_path / "p.csv"}


@pytest.fixture
def make_models(tmp_path: Path) -> Callable[[int], list[str]]:
    """Make folders of models that differ in their weights, and know English."""

    def make(number: int) -> list[str]:
        return [
            str(_perturb_model(MODELS["unmask-mini"].folder, tmp_path / f"bert-{seed}", seed)) for seed in range(number)
        ]

    return make


def _perturb_model(model: Path, folder: Path, seed: int) -> Path:
    shutil.copytree(model, folder)
    generator = torch.Generator().manual_seed(seed)
    weights = {
        name: weight + 0.002 * torch.randn(weight.shape, generator=generator)
        for name, weight in load_file(model / "model.safetensors").items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture
def audit_counts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often each model is audited in this process."""
    counts: Counter[str] = Counter()
    run = run_audit

    def count_audit(model: str, *arguments: Any, **options: Any) -> unmask.Audit:
        counts[Path(model).name] += 1
        return run(model, *arguments, **options)

    monkeypatch.setattr(ranking, "run_audit", count_audit)
    return counts


def _read_statuses(run: unmask.AuditedModels) -> dict[str, str]:
    return {Path(model).name: outcome.status for model, outcome in run.outcomes.items()}


@pytest.mark.usefixtures("ray")
def test_ten_models_on_two_ray_workers(
    make_models: Callable[[int], list[str]],
    options: dict[str, Any],
    audit_counts: Counter[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_models(10)
    monkeypatch.chdir(tmp_path)  # the workers run in another folder
    relative = {name: path.relative_to(tmp_path) for name, path in options.items()}
    models = [f"bert-{seed}" for seed in range(10)]
    run = unmask.audit_many(models, "several", engine="ray", **relative)
    assert (run.failures, _read_statuses(run)) == ({}, dict.fromkeys(models, "done"))
    results = {model: storage.load(folder) for model, folder in run.folders.items()}
    assert len({result.model.weight_hash for result in results.values()}) == 10
    assert run.page == Path("several/ranking.html")
    page = run.page.read_text(encoding="utf-8")
    for model, folder in run.folders.items():
        assert f'<a href="cells/{folder.name}/report.html">{model}</a>' in page
    assert_loads_nothing(page)
    assert {row.split(",")[6] for row in unmask.ranking([*run.folders.values()], "csv").splitlines()[1:]} == {*models}
    assert not audit_counts, "nothing was audited in this process"
    repeated = unmask.audit_many(models, "several", **options)
    assert _read_statuses(repeated) == dict.fromkeys(models, "kept"), "the other engine finds the same audits"
    assert repeated.folders == run.folders
    assert not audit_counts
    alone = unmask.audit(tmp_path / "bert-3", **options)
    assert [measurement.tests for measurement in alone.measurements] == [
        measurement.tests for measurement in results["bert-3"].measurements
    ]


def test_an_interrupted_run_continues(
    make_models: Callable[[int], list[str]],
    options: dict[str, Any],
    audit_counts: Counter[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = make_models(3)
    counting = vars(ranking)["run_audit"]  # as patched by the fixture

    def interrupt(model: str, *arguments: Any, **options: Any) -> unmask.Audit:
        if Path(model).name == "bert-1":
            raise KeyboardInterrupt
        audit: unmask.Audit = counting(model, *arguments, **options)
        return audit

    with monkeypatch.context() as patch:
        patch.setattr(ranking, "run_audit", interrupt)
        with pytest.raises(Stopped, match="1 of 3 steps"):
            unmask.audit_many(models, tmp_path / "out", **options)
    assert audit_counts == {"bert-0": 1}
    run = unmask.audit_many(models, tmp_path / "out", **options)
    assert _read_statuses(run) == {"bert-0": "kept", "bert-1": "done", "bert-2": "done"}
    assert audit_counts == {"bert-0": 1, "bert-1": 1, "bert-2": 1}


def test_a_model_is_audited_again_only_if_something_changed(
    make_models: Callable[[int], list[str]], options: dict[str, Any], audit_counts: Counter[str], tmp_path: Path
) -> None:
    models = make_models(2)

    def run(*models: str, **arguments: Any) -> list[str]:
        return [*_read_statuses(unmask.audit_many(models, tmp_path / "out", **options, **arguments)).values()]

    assert run(*models) == ["done", "done"]
    assert run(*reversed(models), device="cpu") == ["kept", "kept"]
    assert run(models[0], seed=7) == ["done"]
    with options["templates"].open("a") as file:
        file.write("{person} works as {a} {profession}.\n")
    assert run(models[0]) == ["done"], "the content of a file counts"
    shutil.rmtree(models[0])
    _perturb_model(Path(models[1]), Path(models[0]), seed=9)
    assert run(models[0]) == ["done"], "the weights of a model count"
    assert audit_counts == {"bert-0": 4, "bert-1": 1}


def test_a_model_that_fails_stops_no_other(
    make_models: Callable[[int], list[str]], options: dict[str, Any], tmp_path: Path
) -> None:
    make_models(2)
    files = [text for name, path in options.items() for text in (f"--{name}", path.name)]
    words = ("audit", "bert-0", "no-such-model", "./gone", "bert-1", *files)
    process = command(*words, "--json", cwd=tmp_path)
    assert process.returncode == 1
    output = json.loads(process.stdout)
    assert [*output["audits"]] == ["bert-0", "bert-1"]
    assert [row["model"] for row in output["ranking"]] in (["bert-0", "bert-1"], ["bert-1", "bert-0"])
    assert [*output["failures"]] == ["no-such-model", "./gone"]
    assert output["failures"]["./gone"].startswith("folder './gone' does not exist; give a model folder")
    lines = process.stderr.splitlines()
    for model, why in output["failures"].items():
        assert sum(why in line for line in lines) == 1, f"one line for {model}"
    page = (tmp_path / output["report"]).read_text(encoding="utf-8")
    assert "bert-0" in page
    assert "no-such-model" not in page
    (tmp_path / "bert-0").rename(tmp_path / "gone")
    resumed = command("audit", "./gone", "bert-1", *files, cwd=tmp_path)
    assert (resumed.returncode, resumed.stderr.count("1 of 2")) == (0, 2), "one is done, and one was kept"
    assert f"Ranking: {OUT / 'ranking.html'}" in resumed.stdout.splitlines()
    for folder in output["audits"].values():
        assert (tmp_path / folder / "report.html").is_file()


def test_if_all_models_fail_there_is_no_ranking(tmp_path: Path) -> None:
    run = unmask.audit_many(["./gone", "./away"], tmp_path / "out")
    assert (run.page, run.folders, [*run.failures]) == (None, {}, ["./gone", "./away"])
    assert not (tmp_path / "out" / "ranking.html").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("a", "b", "a"), "'a' is given more than once; give each model once"),
        (("a", "b", "--protocol", "new"), "--protocol is 'new'; choose from: sound, published"),
        (("a", "b", "--engine", "rai"), "--engine is 'rai'; did you mean 'ray'?"),
        (("a", "b", "--cpus", "2"), "--cpus is for Ray, and the engine is local; add --engine ray, or leave it out"),
        (("a", "b", "--out", "full"), "full is not the folder of a study; give another folder with --out"),
        (("a", "--engine", "ray"), "--engine is for audits of several models; give another model, or leave it out"),
        (("--gpus", "1"), "--gpus is for Ray, and the engine is local; add --engine ray, or leave it out"),
    ],
)
def test_what_cannot_work_is_one_line_and_nothing_is_audited(tmp_path: Path, words: list[str], line: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").touch()
    process = command("audit", *words, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    (message,) = process.stderr.splitlines()
    assert message.startswith(f"unmask: {line}")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_python_takes_names_only() -> None:
    for wrong in ("unmask-mini", [object()], [("model", "tokenizer"), "unmask-mini"]):
        with pytest.raises(UnmaskError, match="takes a list of model names"):
            unmask.audit_many(wrong)  # type: ignore[arg-type]
    with pytest.raises(UnmaskError, match="no models were given"):
        unmask.audit_many([])
    with pytest.raises(UnmaskError, match="wrods"):
        unmask.audit_many(["a", "b"], wrods=3)


def test_a_file_of_settings_can_list_models(
    make_models: Callable[[int], list[str]], options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_models(2)
    file = tmp_path / "audit.toml"
    text = 'templates = "t.csv"\nprofessions = "p.csv"\nout = "out"\n'
    file.write_text(f'model = ["bert-0", "bert-1"]\ncpus = 1\n{text}')
    settings = unmask.read_config(file)
    models = settings.pop("model")
    assert models == (str(tmp_path / "bert-0"), str(tmp_path / "bert-1"))
    assert settings == options
    monkeypatch.chdir(tmp_path)
    assert _read_statuses(unmask.audit_many(models, **settings, out="out")) == {
        "bert-0": "done",
        "bert-1": "done",
    }
    process = command("audit", "--config", file, cwd=tmp_path)
    assert (process.returncode, process.stderr.count("2 of 2 models had been audited before")) == (0, 1)
    file.write_text(f'model = ["bert-0"]\n{text}'.replace("out =", "seed = 3\n#"))
    assert unmask.read_config(file)["model"] == str(tmp_path / "bert-0")
    process = command("audit", "--config", file, cwd=tmp_path)
    assert (process.returncode, process.stderr) == (0, "")
    assert storage.load(tmp_path / "audits" / "bert-0").seed == 3, "one model is audited as ever"


def test_the_hash_of_word_vectors(tmp_path: Path) -> None:
    """The hash covers the word file next to an npy file; a folder of debiased vectors hashes like its file."""
    np.save(tmp_path / "v.npy", np.ones((2, 3)))
    (tmp_path / "v.txt").write_text("a\nb\n")
    before = hash_model(str(tmp_path / "v.npy"))
    (tmp_path / "v.txt").write_text("a\nc\n")
    assert hash_model(str(tmp_path / "v.npy")) != before
    shutil.copy(tmp_path / "v.npy", tmp_path / "v.bin")
    folder = tmp_path / "made"
    folder.mkdir()
    shutil.copy(tmp_path / "v.npy", folder / "w.bin")
    hashes = {"weight_hash": "b", "parent": {"weight_hash": "a"}}
    record = {"method": "hard-debias", "made": {"file": "w.bin"}} | hashes
    (folder / "mitigation.json").write_text(json.dumps(record))
    assert hash_model(str(folder)) == hash_model(str(tmp_path / "v.bin"))
