"""A folder of debiased vectors, as `unmask mitigate` leaves it: the file, and `mitigation.json` that names it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.models.records import ADAPTER, CONFIG, MITIGATION, trusted


def is_folder(path: Path) -> bool:
    """Whether a folder holds vectors and no model."""
    return (path / MITIGATION).is_file() and not any((path / name).is_file() for name in (CONFIG, ADAPTER))


def file_in(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The file of vectors in a folder, and how it was made."""
    try:
        found = json.loads((folder / MITIGATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    record = trusted(found)
    made = record.get("made") if record else None
    file = made.get("file") if isinstance(made, dict) else None
    if record is None or not isinstance(file, str) or Path(file).name != file:
        raise UnmaskError(f"{folder / MITIGATION} names no file of vectors; give the file itself")
    if not (folder / file).is_file():
        raise UnmaskError(f"{folder} has no {file}, which {MITIGATION} names; give the file itself")
    return folder / file, record
