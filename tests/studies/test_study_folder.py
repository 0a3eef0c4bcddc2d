"""A study's folder says which study it is, and no other study may have it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner
from unmask.studies.engine import carry_out
from unmask.studies.meta.options import MetaOptions, PlantingOptions

from commands import unmask as command
from unmask.cli.studies import STUDIES, Study, app
from unmask.errors import UnmaskError
from unmask.studies.steps import Outcome
from unmask.studies.store import STUDY


@dataclass(frozen=True)
class Nothing:
    """A plan without cells."""

    cells: tuple[()] = ()
    notes: tuple[()] = ()


def _run(study: str, out: Path) -> list[Outcome]:
    return carry_out(study, Nothing, out, None, planned=None, watch=None)[1]


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_another_study_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    _run("imdb-63", tmp_path / "out")
    assert json.loads((tmp_path / "out" / STUDY).read_text())["study"] == "imdb-63"
    (tmp_path / "out" / "report.html").write_text("of imdb-63")
    before = _files(tmp_path / "out")
    with pytest.raises(UnmaskError, match=r"out holds the study imdb-63, and this is nli-plms; give another folder"):
        _run("nli-plms", tmp_path / "out")
    assert _files(tmp_path / "out") == before
    _run("imdb-63", tmp_path / "out")
    assert _files(tmp_path / "out") == before


@pytest.mark.parametrize("content", [None, "", "[]", "{}", "null"])
def test_a_folder_that_does_not_say_its_study_is_accepted(content: str | None, tmp_path: Path) -> None:
    (tmp_path / "cells").mkdir()
    if content is not None:
        (tmp_path / STUDY).write_text(content)
    _run("meta", tmp_path)
    with pytest.raises(UnmaskError, match="holds the study meta"):
        _run("nli-meta", tmp_path)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_study_is_refused_by_the_folder_of_another(study: Study, tmp_path: Path) -> None:
    _run("another", tmp_path / "out")
    before = _files(tmp_path / "out")
    done = CliRunner().invoke(app, ["run", study.name, "--offline", "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, UnmaskError)
    assert f"out holds the study another, and this is {study.name};" in str(done.exception)
    assert _files(tmp_path / "out") == before


def test_it_is_one_line_in_the_shell(tmp_path: Path) -> None:
    _run("nli-meta", tmp_path / "out")
    done = command("study", "run", "meta", "--out", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "unmask: out holds the study nli-meta, and this is meta; give another folder with --out\n"


def test_from_python_a_meta_evaluation_of_inference_alone_is_nli_meta() -> None:
    assert PlantingOptions().name == "nli-meta"
    assert PlantingOptions(measures=("association",)).name == "meta"
    assert MetaOptions(measures=("inference",)).name == "meta"
