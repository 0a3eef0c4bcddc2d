"""No module outside a measure's own folder names a measure."""

from __future__ import annotations

import ast
from pathlib import Path

import unmask
from unmask.measures import registry

ROOT = Path(unmask.__file__).parent
KNOWN: dict[str, int] = {}
"""Modules that still name measures, and how often. Numbers may only shrink; delete a line that has come to zero."""


def _names(tree: ast.AST) -> list[str]:
    """The string literals of a module that are the name of a measure, without docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value in registry.BUILT_IN
        and id(node) not in docstrings
    ]


def test_a_literal_is_counted_and_a_docstring_is_not() -> None:
    text = (
        '"""association"""\ndef f(x: str) -> bool:\n    "geometry"\n    return x in ("sentiment", "inference of it")\n'
    )
    assert _names(ast.parse(text)) == ["sentiment"]


def test_no_other_module_names_a_measure() -> None:
    folders = {measure.__class__.__module__.rpartition(".")[2] for measure in registry.built_in()}
    allowed = [ROOT / "measures" / folder for folder in folders] + [ROOT / "measures" / "registry.py"]
    assert all(path.exists() for path in allowed)
    counts = {}
    for path in sorted(ROOT.rglob("*.py")):
        if not any(path.is_relative_to(allowed_path) for allowed_path in allowed):
            counts[path.relative_to(ROOT).as_posix()] = len(_names(ast.parse(path.read_text(encoding="utf-8"))))
    more = {path: count for path, count in counts.items() if count > KNOWN.get(path, 0)}
    assert more == {}, "ask the measure through unmask.measures.registry, or move the code into its folder"
