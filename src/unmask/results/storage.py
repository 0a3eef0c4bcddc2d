"""An audit folder: `result.json`, `items/<measure>.parquet`, and a report; written whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.files import whole_folder
from unmask.results.schema import AuditResult

if TYPE_CHECKING:
    import pandas as pd


def save(folder: Path, result: AuditResult, items: Mapping[str, pd.DataFrame], pages: Mapping[str, str]) -> None:
    """Write an audit folder; `pages` are further text files by name."""
    with whole_folder(folder) as draft:
        (draft / "result.json").write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")
        (draft / "items").mkdir()
        for measure, frame in items.items():
            frame.to_parquet(draft / "items" / f"{measure}.parquet", index=False)
        for name, text in pages.items():
            (draft / name).write_text(text, encoding="utf-8")


def load(folder: Path) -> AuditResult:
    """Read the result of an audit folder."""
    path = folder / "result.json"
    try:
        return AuditResult.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UnmaskError(f"{folder} has no result.json; give a folder that unmask audit has written") from None
    except ValueError as error:
        raise UnmaskError(f"{path} is not a result of this version: {str(error).splitlines()[0]}") from None


def free_name(model: str, root: Path = Path("audits")) -> Path:
    """A folder for an audit of this model that does not exist yet: `audits/NAME`, then `audits/NAME-2` …."""
    last = Path(model).resolve().name if Path(model).is_dir() else model
    name = re.sub(r"[^\w.-]+", "-", last).strip("-.") or "model"
    tries = (root / (name if count == 1 else f"{name}-{count}") for count in range(1, 10_000))
    return next(path for path in tries if not path.exists())
