"""Features of all commands: `-v`, completion, tables that fit the terminal, and helpful errors."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console
from typer.main import get_command

import unmask
from commands import unmask as _run
from unmask.cli import app
from unmask.cli.listing import LISTS
from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.mitigations.method import list_methods
from unmask.models.tokenization import LONG_TEXTS
from unmask.rewriting.options import MODES
from unmask.steps import LOG, step
from unmask.studies.imdb63.grid import choose_base_models
from unmask.studies.report import StudyTable

# Completion


def _complete(words: str) -> list[str]:
    """The completions that a shell would offer."""
    typed = words.split(" ")
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(len(typed) - 1), "_UNMASK_COMPLETE": "complete_bash"}
    process = subprocess.run(
        [sys.executable, "-m", "unmask"], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return process.stdout.split()


def test_a_shell_is_told_what_can_follow() -> None:
    assert {"audit", "card", "study"} <= set(_complete("unmask "))
    assert _complete("unmask audit --measure s") == ["sentiment"]
    assert _complete("unmask audit unmask-mini-") == ["unmask-mini-sentiment", "unmask-mini-nli"]
    assert _complete("unmask study run lipstick-s") == ["lipstick-static"]


def test_names_that_complete_are_those_that_there_are() -> None:
    for words, names in {
        "mitigate m --method": list_methods(),
        "rewrite --to": MODES,
        "analyse --measure": registry.BUILT_IN,
        "analyse --language": ("en", "de", "ja", "zh"),
        "audit --long-texts": LONG_TEXTS,
        "compare": MODELS,
        "list": LISTS,
        "study run meta --engine": ("local", "ray"),
    }.items():
        assert _complete(f"unmask {words} ") == list(names), words


def test_the_help_of_analyse_names_every_measure() -> None:
    (option,) = [parameter for parameter in get_command(app).commands["analyse"].params if parameter.name == "measure"]  # type: ignore[attr-defined]
    assert [name for name in registry.BUILT_IN if name not in option.help] == []


def test_the_script_of_a_shell(tmp_path: Path) -> None:
    assert "_UNMASK_COMPLETE=complete_bash" in _run("--show-completion", "bash", cwd=tmp_path).stdout
    refused = _run("--show-completion", "tcsh", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (
        2,
        "unmask: unknown shell 'tcsh'; choose from: bash, zsh, fish, powershell\n",
    )


# Verbose


def test_steps_are_said_to_whoever_listens(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=LOG.name), step("Weighing"):
        assert caplog.messages == ["Weighing …"]
    assert caplog.messages[1].startswith("Weighing: 0.")


def test_verbose_says_what_is_loaded_and_where_from(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("template\n{person} is {a} {profession}.\n")
    (tmp_path / "p.csv").write_text("profession,group\nmason,male\nplumber,male\nnurse,female\nmaid,female\n")
    model = model_folder("bert-uncased")
    words = ("audit", model, "--templates", "t.csv", "--professions", "p.csv")
    loud, quiet = _run(*words, "-v", "--out", "a", cwd=tmp_path), _run(*words, "--out", "b", cwd=tmp_path)
    assert (loud.returncode, quiet.returncode) == (0, 0)
    for line in (f"Loading {model} from {model}: ", "Measuring association: ", "Writing a: "):
        assert line in loud.stderr
    assert quiet.stderr == ""
    assert loud.stdout.replace("a/report", "b/report") == quiet.stdout


# Tables


def test_a_list_of_everything(tmp_path: Path) -> None:
    output = _run("list", cwd=tmp_path).stdout
    assert all(f"\n{name.capitalize()}\n" in output for name in LISTS)
    assert list(json.loads(_run("list", "--json", cwd=tmp_path).stdout)) == list(LISTS)


def test_a_wide_table_of_a_study_is_shown_in_parts_that_fit() -> None:
    columns = ("model", *(f"condition {number}" for number in range(12)))
    rows = tuple((f"model {number}", *(f"{number}.{column:02}" for column in range(12))) for number in range(3))
    table = StudyTable("t", "A wide table", columns, rows, "", pd.DataFrame())
    for width in (60, 80, 300):
        page = StringIO()
        table.show(Console(file=page, width=width, color_system=None))
        lines = page.getvalue().splitlines()
        assert max(map(len, lines)) <= width
        assert [page.getvalue().count(f" {cell}") for row in rows for cell in row[1:]] == [1] * 36
        assert sum(line.split()[:1] == ["model"] and "0" in line for line in lines) >= 1


# Errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["audti"], "No such command 'audti'. Did you mean 'audit'? See unmask --help"),
        (["audit", "--model", "x"], "model is given without --model: unmask audit MODEL; see unmask audit --help"),
        (["study", "run", "lipstick-static", "--vectors", "v.txt", "--out", "x"], "NAME=v.txt, such as glove=v.txt"),
        (["finetune", "sentiment", "unmask-mini", "--out", "x"], "give either --data with a known data set, or"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    process = _run(*words, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert message in process.stderr
    assert len(process.stderr.splitlines()) == 1
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("model", "method", "message"),
    [
        ("v.txt", "leace", "leace changes language models, and .*v.txt is a file; .* --method hard-debias"),
        (
            "unmask-mini",
            "hard-debias",
            "hard-debias changes word vectors, and unmask-mini is not a file of them; .* cda",
        ),
        ("unmask-mini-nli", "leace", "unmask-mini-nli is a classifier, and methods change masked language models"),
        ("unmask-mini", "CDS", "unknown method 'CDS'; did you mean 'cds'"),
    ],
)
def test_a_method_that_does_not_fit(model: str, method: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("he 1 0\nshe 0 1\n")
    source = tmp_path / model if model == "v.txt" else model
    with pytest.raises(UnmaskError, match=message):
        unmask.mitigate(str(source), method, tmp_path / "x")


def test_a_model_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(UnmaskError, match="is the folder of an audit, and no model"):
        unmask.audit(str(tmp_path))
    with pytest.raises(UnmaskError, match="did you mean 'unmask-mini'"):
        unmask.audit("unmask-mni", offline=True)
    with pytest.raises(UnmaskError, match="write NAME=unmask-mini, such as mine=unmask-mini"):
        choose_base_models(["unmask-mini"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnmaskError, match=r"result\.json has no result\.json; give a folder"):
        unmask.card("result.json")
