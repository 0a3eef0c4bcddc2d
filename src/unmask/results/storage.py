"""An audit folder: `result.json`, `items/<measure>.parquet`, and a report; written whole or not at all.

A comparison's folder is like it, and holds the folders of the audits that were made for it under `audits/`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unmask.errors import UnmaskError
from unmask.files import atomic_folder
from unmask.results.comparison import ComparisonResult
from unmask.results.schema import SCHEMA_VERSION, AuditResult

if TYPE_CHECKING:
    import pandas as pd


RESULT = "result.json"
R = TypeVar("R", AuditResult, ComparisonResult)


@dataclass(frozen=True)
class Folder:
    """What goes into a folder."""

    result: AuditResult | ComparisonResult
    items: Mapping[str, pd.DataFrame]
    pages: Mapping[str, str]
    """Further text files by name."""
    audits: Mapping[str, Folder] = field(default_factory=dict)
    """Those made for a comparison, by name."""


def save(folder: Path, result: AuditResult, items: Mapping[str, pd.DataFrame], pages: Mapping[str, str]) -> None:
    """Write an audit folder; `pages` are further text files by name."""
    save_folder(folder, Folder(result, items, pages))


def save_folder(folder: Path, content: Folder) -> None:
    """Write the folder of an audit or a comparison."""
    with atomic_folder(folder) as draft:
        write_files(draft, content)


def write_files(folder: Path, content: Folder) -> None:
    """Write the files of an audit or a comparison into an empty folder."""
    (folder / RESULT).write_text(content.result.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "items").mkdir()
    for measure, frame in content.items.items():
        frame.to_parquet(folder / "items" / f"{measure}.parquet", index=False)
    for name, text in content.pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, audit in content.audits.items():
        inner = folder / "audits" / _file_name(name)
        inner.mkdir(parents=True)
        write_files(inner, audit)


def load(folder: Path) -> AuditResult:
    """Read the result of an audit folder."""
    return _parse_result(AuditResult, folder / RESULT, _read_text(folder, "unmask audit"))


def read(path: Path) -> AuditResult:
    """Read the result of an audit from a file."""
    return _parse_result(AuditResult, path, path.read_text(encoding="utf-8", errors="replace"))


def load_comparison(folder: Path) -> ComparisonResult:
    """Read the result of a comparison's folder."""
    return _parse_result(ComparisonResult, folder / RESULT, _read_text(folder, "unmask compare"))


def is_comparison(folder: Path) -> bool:
    """Whether a folder holds a comparison, not an audit."""
    file = folder / RESULT
    return (
        file.is_file()
        and _detect_kind(_parse_fields(file.read_text(encoding="utf-8", errors="replace"))) == "comparison"
    )


def _read_text(folder: Path, verb: str) -> str:
    try:
        return (folder / RESULT).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        raise UnmaskError(f"{folder} has no {RESULT}; give a folder that {verb} has written") from None


def _parse_result(model: type[R], path: Path, text: str) -> R:
    fields = _parse_fields(text)
    if fields is None:
        raise UnmaskError(f"{path} is cut off, or no JSON; copy it again, or repeat the audit")
    if model is AuditResult and _detect_kind(fields) == "comparison":
        raise UnmaskError(f"{path} is a comparison, not an audit; give one that unmask audit has written")
    version = fields.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UnmaskError(f"{path} was written by a newer version of Unmask; update Unmask, or repeat the audit")
    if isinstance(version, int) and version < SCHEMA_VERSION:
        remedy = "run unmask compare again" if model is ComparisonResult else "run the audit again"
        if model is AuditResult and any((path.parent / "items").glob("*.parquet")):
            remedy = f"run unmask analyse {path.parent}, or the audit again"
        raise UnmaskError(f"{path} was written by an earlier version of Unmask (schema {version}); {remedy}")
    try:
        return model.model_validate_json(text)
    except ValueError as error:
        raise UnmaskError(f"{path} is not a result of this version: {str(error).splitlines()[0]}") from None


def _parse_fields(text: str) -> dict[str, Any] | None:
    """The top level of a result; None where the text is no JSON."""
    try:
        content = json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else {}


def _detect_kind(fields: dict[str, Any] | None) -> str:
    """Whether a result is of an audit or a comparison. Results of schema 1 may not say it."""
    return str((fields or {}).get("kind") or ("comparison" if "comparisons" in (fields or {}) else "audit"))


FORMATS = ("html", "md", "csv")
"""The formats of reports."""


def report_format(path: str | PathLike[str]) -> str:
    """The format of a report by the name of its file: md, csv, or else html."""
    suffix = Path(path).suffix.lower()
    return suffix[1:] if suffix in (".md", ".csv") else "html"


def free_name(model: str, root: Path = Path("audits")) -> Path:
    """A folder for an audit of this model that does not exist yet: `audits/NAME`, then `audits/NAME-2` …."""
    last = Path(model).resolve().name if Path(model).is_dir() else model
    name = _file_name(last)
    tries = (root / (name if count == 1 else f"{name}-{count}") for count in range(1, 10_000))
    return next(path for path in tries if not path.exists())


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"
