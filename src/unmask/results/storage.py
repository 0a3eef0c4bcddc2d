"""An audit folder: `result.json`, `items/<measure>.jsonl.gz`, and a report; written whole or not at all.

A comparison's folder is like it, and holds the folders of the audits that were made for it under `audits/`.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unmask.errors import UnmaskError
from unmask.files import atomic_folder
from unmask.results.comparison import ComparisonResult
from unmask.results.schema import RULE_VERSION, SCHEMA_VERSION, AuditResult

if TYPE_CHECKING:
    import pandas as pd


RESULT = "result.json"
ITEMS = ".jsonl.gz"
"""The ending of files with items."""
R = TypeVar("R", AuditResult, ComparisonResult)


@dataclass(frozen=True)
class Folder:
    """What goes into a folder."""

    result: AuditResult | ComparisonResult
    items: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    """By measure."""
    pages: Mapping[str, str] = field(default_factory=dict)
    """Further text files by name."""
    audits: Mapping[str, Folder] = field(default_factory=dict)
    """Those made for a comparison, by name."""


def save(folder: Path, content: Folder) -> None:
    """Write the folder of an audit or a comparison."""
    with atomic_folder(folder) as draft:
        write_files(draft, content)


def write_files(folder: Path, content: Folder) -> None:
    """Write the files of an audit or a comparison into an empty folder."""
    (folder / RESULT).write_text(content.result.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "items").mkdir()
    for measure, frame in content.items.items():
        write_items(folder / "items" / f"{measure}{ITEMS}", frame)
    for name, text in content.pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, audit in content.audits.items():
        inner = folder / "audits" / file_name(name)
        inner.mkdir(parents=True)
        write_files(inner, audit)


def write_items(path: Path, items: pd.DataFrame) -> None:
    """Write a table as JSON lines, an object per row: numbers keep all digits, missing values are null."""
    columns = [items[name].astype(object).where(items[name].notna(), None) for name in items]
    with gzip.GzipFile(path, "wb", compresslevel=6, mtime=0) as file:  # the same items give the same file
        for cells in zip(*columns, strict=True):
            row = dict(zip(items, cells, strict=True))
            file.write(f"{json.dumps(row, ensure_ascii=False, default=methodcaller('tolist'))}\n".encode())


def read_items(path: Path) -> pd.DataFrame:
    """Read a table of JSON lines, packed or not; a column without a value holds NaN."""
    import pandas as pd

    rows = []
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    rows.append(_parse_object(line, number))
    except (EOFError, zlib.error) as error:
        raise OSError(f"it is not a complete gzip file: {error}") from None
    items = pd.DataFrame(rows)
    return items.astype({name: float for name in items if items[name].isna().all()})


def _parse_object(line: bytes, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise ValueError(f"line {number} is not a JSON object")
    return row


def list_items(folder: Path) -> dict[str, Path]:
    """The files of items in an audit folder, by measure; audits of earlier versions have Parquet files."""
    files = [
        (file.name.removesuffix(ending), file)
        for ending in (".parquet", ITEMS)
        for file in sorted((folder / "items").glob(f"*{ending}"))
    ]
    return dict(files)


def load(folder: Path, model: type[R] = AuditResult) -> R:  # type: ignore[assignment]
    """Read the result of an audit folder, or with `ComparisonResult` that of a comparison's."""
    return read(folder / RESULT, model)


def read(path: Path, model: type[R] = AuditResult) -> R:  # type: ignore[assignment]
    """Read the result of an audit or a comparison from a file."""
    fields = read_fields(path)
    if model is AuditResult and _detect_kind(fields) == "comparison":
        raise UnmaskError(f"{path} is a comparison, not an audit; give one that unmask audit has written")
    version = fields.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise UnmaskError(f"{path} was written by a newer version of Unmask; update Unmask, or repeat the audit")
    if isinstance(version, int) and version < SCHEMA_VERSION:
        remedy = "run unmask compare again" if model is ComparisonResult else "run the audit again"
        if model is AuditResult and list_items(path.parent):
            remedy = f"run unmask analyse {path.parent}, or the audit again"
        raise UnmaskError(f"{path} was written by an earlier version of Unmask (schema {version}); {remedy}")
    try:
        return model.model_validate_json(json.dumps(fields))
    except ValueError as error:
        raise UnmaskError(f"{path} is not a result of this version: {str(error).splitlines()[0]}") from None


def check_rules(results: Iterable[AuditResult]) -> None:
    """Raise an error where an audit was judged by other rules than those of this version."""
    for result in results:
        if result.rule_version != RULE_VERSION:
            raise UnmaskError(
                f"the numbers of {result.model.name} follow version {result.rule_version} of the rules, and this Unmask"
                f" {RULE_VERSION}, so they cannot be compared; audit the model again, or its items with unmask analyse"
            )


def is_comparison(folder: Path) -> bool:
    """Whether a folder holds a comparison, not an audit."""
    return (folder / RESULT).is_file() and _detect_kind(read_fields(folder / RESULT)) == "comparison"


def read_fields(path: Path) -> dict[str, Any]:
    """The top level of a `result.json`, unchecked; an error if it is missing or not whole."""
    try:
        content = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, NotADirectoryError):
        message = f"{path.parent} has no {path.name}; give a folder that unmask audit or unmask compare has written"
        raise UnmaskError(message) from None
    except ValueError:
        raise UnmaskError(f"{path} is cut off, or no JSON; copy it again, or repeat the audit") from None
    return content if isinstance(content, dict) else {}


def _detect_kind(fields: Mapping[str, Any]) -> str:
    """Whether a result is of an audit or a comparison. Results of schema 1 may not say it."""
    return str(fields.get("kind") or ("comparison" if "comparisons" in fields else "audit"))


FORMATS = ("html", "md", "csv")
"""The formats of reports."""


def report_format(path: str | PathLike[str]) -> str:
    """The format of a report by the name of its file: md, csv, or else html."""
    suffix = Path(path).suffix.lower()
    return suffix[1:] if suffix in (".md", ".csv") else "html"


def free_name(model: str, root: Path = Path("audits")) -> Path:
    """A folder for an audit of this model that does not exist yet: `audits/NAME`, then `audits/NAME-2` …."""
    last = Path(model).resolve().name if Path(model).is_dir() else model
    name = file_name(last)
    tries = (root / (name if count == 1 else f"{name}-{count}") for count in range(1, 10_000))
    return next(path for path in tries if not path.exists())


def file_name(name: str) -> str:
    """A name as files and folders may have it."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"
