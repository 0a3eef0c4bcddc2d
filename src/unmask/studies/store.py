"""Where a study keeps what its cells have made; a cell is there whole or not at all.

    ROOT/cells/NAME-KEY/       what a cell has made, and cell.json, which says what it is
    ROOT/unfinished/NAME-KEY/  the workspace of a cell that was begun and is not done
    ROOT/failed/NAME-KEY.txt   the traceback of a cell that failed
    ROOT/distrusted/           folders that stood in a cell's place and were not whole
    ROOT/locks/                one file a cell, locked while it is done
    ROOT/study.json            which study it is

KEY is the first 12 digits of the cell's key; cell.json has all of it. A cell counts as done if cell.json has its name
and key, and every file named in it is there with the size it had. Everything reaches the disk before the folder takes
its name, so a machine that loses its power leaves no half cell either. A folder that is not whole is moved away and the
cell done again: a study that was damaged mends itself, and nothing that somebody may want to look at is deleted.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import unmask
from unmask.errors import UnmaskError
from unmask.files import whole_file, whole_folder
from unmask.studies.cells import Say

RECORD, STUDY = "cell.json", "study.json"
SCHEMA_VERSION = 1
DIGITS = 12
FOLDERS = ("cells", "unfinished", "failed", "locks")
LIBRARIES = ("accelerate", "numpy", "peft", "scipy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True)
class Store:
    """The folder of a study."""

    root: Path

    def prepare(self) -> None:
        """Make the folders, so that a place that cannot be written to is found before the work."""
        try:
            for name in FOLDERS:
                (self.root / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None

    def study(self) -> str | None:
        """The name of the study that the folder is of; None where nothing says it."""
        try:
            return str(json.loads((self.root / STUDY).read_text(encoding="utf-8"))["study"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def claim(self, study: str) -> None:
        """Make the folders, and say there which study it is."""
        self.prepare()
        if self.study() == study:
            return
        text = json.dumps({"schema_version": SCHEMA_VERSION, "study": study})
        try:
            with whole_file(self.root / STUDY) as draft:
                draft.write_text(f"{text}\n", encoding="utf-8")
        except OSError as error:
            raise self._unwritable(error) from None

    def folder(self, name: str, key: str) -> Path:
        """Where a cell's result is, or will be."""
        return self.root / "cells" / _file_name(name, key)

    def workspace(self, name: str, key: str) -> Path:
        """Where a cell keeps what it needs to go on after an interruption."""
        return self.root / "unfinished" / _file_name(name, key)

    def failure(self, name: str, key: str) -> Path:
        """Where the traceback of a cell that failed is written; its key is empty if it failed before it had one."""
        return self.root / "failed" / f"{_file_name(name, key or 'unknown')}.txt"

    def find(self, name: str, key: str) -> Path | None:
        """The folder of a cell, if it is done and whole."""
        return self.folder(name, key) if self.record(name, key) is not None else None

    def record(self, name: str, key: str) -> dict[str, Any] | None:
        """What cell.json says of a cell, if it is done and whole."""
        folder = self.folder(name, key)
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            ours = (record["schema_version"], record["name"], record["key"]) == (SCHEMA_VERSION, name, key)
            whole = ours and all((folder / file).stat().st_size == size for file, size in record["files"].items())
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return record if whole else None

    @contextmanager
    def alone(self, name: str, key: str, say: Say) -> Iterator[None]:
        """Hold a cell, so that nobody else who uses this store does it; waits for whoever does."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.root / "locks" / f"{_file_name(name, key)}.lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            say("waiting for another run that does the same")
            lock.acquire(poll_interval=0.2)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def writing(self, name: str, key: str, record: dict[str, Any]) -> Iterator[Path]:
        """Yield the folder for a cell's result, to be called by who holds the cell; enters the cell at the end.

        `record` is what cell.json will hold besides what the store knows, and may be filled while the block runs.
        """
        folder = self.folder(name, key)
        for left in folder.parent.glob(f".{folder.name}.*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        if folder.exists():
            self._set_aside(folder)
        with whole_folder(folder) as draft:
            yield draft
            if (draft / RECORD).exists():
                raise UnmaskError(f"cell {name!r} has written {RECORD}, which is the study's own; choose another name")
            entry = {
                "schema_version": SCHEMA_VERSION,
                "name": name,
                "key": key,
                **record,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "libraries": _libraries(),
                "files": {file.relative_to(draft).as_posix(): file.stat().st_size for file in _files(draft)},
            }
            text = json.dumps(entry, indent=2, ensure_ascii=False)
            (draft / RECORD).write_text(f"{text}\n", encoding="utf-8")
            for path in (*draft.rglob("*"), draft):
                _to_disk(path)
        _to_disk(folder.parent)

    def forget_attempts(self, name: str, key: str) -> None:
        """Remove what a cell that is done no longer needs: its workspace, and the traceback of an earlier failure."""
        shutil.rmtree(self.workspace(name, key), ignore_errors=True)
        for one in (key, ""):
            with suppress(OSError):  # a store that may only be read is as good
                self.failure(name, one).unlink()

    def _unwritable(self, error: OSError) -> UnmaskError:
        return UnmaskError(f"{self.root} cannot be written to ({error.strerror}); give another folder with --out")

    def _set_aside(self, folder: Path) -> None:
        place = self.root / "distrusted"
        place.mkdir(exist_ok=True)
        names = (place / f"{folder.name}.{number}" for number in range(1, 10_000))
        folder.rename(next(path for path in names if not path.exists()))


def _file_name(name: str, key: str) -> str:
    return f"{name}-{key[:DIGITS]}"


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _to_disk(path: Path) -> None:
    """See that a file, or the list of a folder's files, has reached the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows opens no folders
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _libraries() -> dict[str, str]:
    found = {"python": platform.python_version(), "unmask": unmask.__version__}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
