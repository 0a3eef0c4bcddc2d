"""Reading, gating and reporting an audit import no model library; `import unmask` imports no large library."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unmask
from commands import environment

CHECK = """
import sys
{code}
print(sorted({{"torch", "transformers", "pandas", "scipy"}} & set(sys.modules)))
"""
RULE = '{"rule": [{"measure": "association", "test": "stereotype", "magnitude_at_most": 9}]}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an audit in `audit`."""
    path = tmp_path_factory.mktemp("light")
    (path / "one.csv").write_text("template\n{person} is {a} {profession}.\n")
    unmask.audit("unmask-mini", measures="association", templates=path / "one.csv").save(path / "audit")
    return path


def find_imports(code: str, folder: Path) -> set[str]:
    """The large libraries that some code imports in a new process."""
    process = subprocess.run(
        [sys.executable, "-c", CHECK.format(code=code)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return set(ast.literal_eval(process.stdout.splitlines()[-1]))


def test_importing_the_package_imports_no_large_library(folder: Path) -> None:
    assert find_imports("import unmask; dir(unmask)", folder) == set()


@pytest.mark.parametrize(
    "code",
    [
        "import unmask; unmask.load('audit').summary()",
        "import unmask; unmask.load('audit').text('html')",
        f"import unmask; unmask.gate('audit', {RULE})",
        "import unmask; unmask.card('audit')",
        "import unmask; unmask.ranking(['audit', 'audit'])",
        "from unmask.cli import app; app(['report', 'audit', '--out', 'page.html'], standalone_mode=False)",
    ],
)
def test_reading_an_audit_imports_no_model_library(code: str, folder: Path) -> None:
    assert not find_imports(code, folder) & {"torch", "transformers"}
