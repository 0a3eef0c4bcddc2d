"""Limits on the size of the package. They may only be lowered, except by a commit that adds a feature and names it.

Last raised for the study bec-pro, coreference, association in real sentences, exports, derived stereotypes, cross term
sets and published forms of two mitigations (43,542 lines in 232 files before).
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

import unmask

ROOT = Path(unmask.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
SOURCES = {path: path.read_text(encoding="utf-8") for path in FILES}
TREES = {path: ast.parse(source) for path, source in SOURCES.items()}
Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = [(path, node) for path, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, Function)]

LINES = 51_000
FILE_COUNT = 265
FILES_PER_FOLDER = 12
ONE_WORD_NAMES = 0.273
IMPORT_LINES = 4_020
FUNCTION_LINES = 60
TARGETS = "Targets: 30,000 lines, 200 files, 12 files per folder, a third of names of one word."


def count_lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def count_docstring(function: Function) -> int:
    return count_lines(function.body[0]) if ast.get_docstring(function) else 0


def is_one_word(name: str) -> bool:
    return "_" not in name.strip("_")


def measure_package() -> dict[str, float]:
    lines = sum(len(source.splitlines()) for source in SOURCES.values())
    imports = [
        node for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = [node.name for _, node in FUNCTIONS if not node.name.endswith("__")]
    return {
        "lines": lines,
        "files": len(FILES),
        "files per folder": max(Counter(path.parent for path in FILES).values()),
        "one-word function names": sum(map(is_one_word, names)) / len(names),
        "import lines": sum(map(count_lines, imports)),
        "lines of the longest function": max(count_lines(node) - count_docstring(node) for _, node in FUNCTIONS),
    }


@pytest.mark.parametrize(
    ("figure", "limit"),
    [
        ("lines", LINES),
        ("files", FILE_COUNT),
        ("files per folder", FILES_PER_FOLDER),
        ("one-word function names", ONE_WORD_NAMES),
        ("import lines", IMPORT_LINES),
        ("lines of the longest function", FUNCTION_LINES),
    ],
)
def test_the_package_stays_within_its_budget(figure: str, limit: float) -> None:
    assert measure_package()[figure] <= limit, TARGETS


def test_names_of_one_word_are_counted() -> None:
    assert [is_one_word(name) for name in ("load", "_load", "load_model", "_load_model")] == [True, True, False, False]
