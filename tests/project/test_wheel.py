"""The wheel contains all files of the package and works from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import unmask
from paths import PROJECT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the unpacked output of `pip wheel .`."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    subprocess.run([sys.executable, "-m", "pip", "wheel", PROJECT, *options, "-w", folder], check=True)
    (file,) = folder.glob("unmask-*.whl")
    zipfile.ZipFile(file).extractall(folder / "unpacked")
    return folder / "unpacked"


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    files = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}
    expected = {
        path.relative_to(PROJECT / "src").as_posix()
        for path in (PROJECT / "src" / "unmask").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - {name for name in files if ".dist-info/" in name} == expected
    assert {"unmask/py.typed", "unmask/report/page.html.j2", "unmask/lexicon/en/names.csv"} <= expected
    assert {f"unmask/embedded/{name}/config.json" for name in ("unmask-mini", "unmask-mini-nli")} <= expected


def test_the_wheel_works_from_another_folder(wheel: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UNMASK")}
    environment |= {"PYTHONPATH": str(wheel), "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}

    def run_python(*words: str) -> str:
        process = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, process.stderr
        return process.stdout

    assert run_python("-m", "unmask", "--version").strip() == f"unmask {unmask.__version__}"
    models = run_python("-m", "unmask", "models")
    assert str(wheel / "unmask" / "embedded") in models
    for name in ("unmask-mini", "unmask-mini-sentiment", "unmask-mini-nli"):
        assert name in models
    code = "import unmask.models.loading as l; print(l.load_classifier('unmask-mini-nli').labels)"
    assert "entailment" in run_python("-c", code)
    assert run_python("-c", "import unmask; print(unmask.rewrite('She lost her keys.'))") == "He lost his keys.\n"
    assert list(tmp_path.iterdir()) == []
