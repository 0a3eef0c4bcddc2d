"""Deprecations of the model libraries are hidden; every other warning is shown."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from commands import environment
from unmask.steps import hide_deprecations

RUN = """
import sys
from unmask.cli import main
for command in sys.argv[1:]:
    sys.argv = ["unmask", *command.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
"""
"""Runs commands in one process, so that the libraries are imported once."""


@pytest.mark.parametrize(
    ("category", "module", "is_shown"),
    [
        (FutureWarning, "transformers.modeling_utils", False),
        (DeprecationWarning, "peft", False),
        (DeprecationWarning, "torch.jit._script", False),
        (UserWarning, "torch.cuda", True),
        (FutureWarning, "unmask.models.loading", True),
        (FutureWarning, "torchmetrics", True),
    ],
)
def test_deprecations_of_model_libraries_are_hidden(category: type[Warning], module: str, is_shown: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        hide_deprecations()
        warnings.warn_explicit("message", category, "file.py", 1, module=module)
    assert [warning.category for warning in caught] == [category] * is_shown


def test_filters_that_were_set_before_have_precedence() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hide_deprecations()
        warnings.warn_explicit("message", FutureWarning, "file.py", 1, module="transformers")
    assert len(caught) == 1


def test_training_and_auditing_an_adapter_print_no_warning(tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("She is a nurse.\nHe is a cook.\n" * 12)
    (tmp_path / "one.csv").write_text("template\n{person} is {a} {profession}.\n")
    commands = (
        "finetune mlm unmask-mini --train texts.txt --lora-rank 2 --epochs 1 --out adapter",
        "audit adapter --measure association --templates one.csv --out audit",
    )
    process = subprocess.run(
        [sys.executable, "-c", RUN, *commands],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert process.returncode == 0, process.stderr
    assert "Warning" not in process.stdout + process.stderr
    assert (tmp_path / "audit" / "result.json").is_file()
