"""The folder that stores the results of a study's steps.

    ROOT/cells/NAME-KEY/       the result of a step, and cell.json, which describes it
    ROOT/unfinished/NAME-KEY/  the workspace of a step that started and has not finished
    ROOT/failed/NAME-KEY.txt   the traceback of a step that failed
    ROOT/quarantine/           incomplete folders that were found in place of a result
    ROOT/locks/                one file per step, locked while it runs
    ROOT/study.json            the name of the study

The folder is called `cells`, an earlier name of steps, so that stores of earlier versions stay readable.

KEY is the first 12 digits of the step's key (`steps.step_key`); cell.json has all of it. A step is done if cell.json
has its name and key, and every file named there exists with the recorded size. All files reach the disk before the
folder gets its name, so that a power failure leaves no partial result. An incomplete folder is moved to quarantine and
the step runs again: a damaged study repairs itself, and nothing is deleted.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import unmask
from unmask.errors import UnmaskError
from unmask.files import atomic_folder, write_text

RECORD, STUDY = "cell.json", "study.json"
SCHEMA_VERSION = 1
DIGITS = 12
FOLDERS = ("cells", "unfinished", "failed", "locks")
LIBRARIES = ("accelerate", "numpy", "peft", "scipy", "tokenizers", "torch", "transformers")


@dataclass(frozen=True)
class Store:
    """The folder of a study."""

    root: Path

    def check_study(self, study: str) -> None:
        """Raise an error if the folder holds something else, or another study."""
        owner = self.read_study()
        if self.root.is_file():
            raise UnmaskError(f"{self.root} is a file; give a folder with --out")
        if self.root.is_dir() and any(self.root.iterdir()) and not (self.root / "cells").is_dir():
            raise UnmaskError(f"{self.root} is not the folder of a study; give another folder with --out")
        if owner not in (None, study):
            raise UnmaskError(f"{self.root} holds the study {owner}, not {study}; give another folder with --out")

    def read_study(self) -> str | None:
        """Return the name of the study in the folder, or None where it is not recorded."""
        try:
            return str(json.loads((self.root / STUDY).read_text(encoding="utf-8"))["study"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def prepare_folders(self, study: str = "") -> None:
        """Create the folders, and record the name of the study if it is given."""
        try:
            for name in FOLDERS:
                (self.root / name).mkdir(parents=True, exist_ok=True)
            if study and self.read_study() != study:
                text = json.dumps({"schema_version": SCHEMA_VERSION, "study": study})
                write_text(self.root / STUDY, f"{text}\n")
        except OSError as error:
            raise UnmaskError(
                f"{self.root} cannot be written to ({error.strerror}); give another folder with --out"
            ) from None

    def folder(self, name: str, key: str) -> Path:
        """The folder of a step's result, whether it exists or not."""
        return self.root / "cells" / f"{name}-{key[:DIGITS]}"

    def workspace(self, name: str, key: str) -> Path:
        """The folder in which a step keeps what it needs to resume."""
        return self.root / "unfinished" / f"{name}-{key[:DIGITS]}"

    def failure(self, name: str, key: str) -> Path:
        """The file for the traceback of a failed step; the key is empty if the step failed before it had one."""
        return self.root / "failed" / f"{name}-{key[:DIGITS] or 'unknown'}.txt"

    def read_record(self, name: str, key: str) -> dict[str, Any] | None:
        """Return the content of cell.json if the step is done and its result is complete, otherwise None."""
        folder = self.folder(name, key)
        try:
            record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            is_ours = (record["schema_version"], record["name"], record["key"]) == (SCHEMA_VERSION, name, key)
            complete = is_ours and all((folder / file).stat().st_size == size for file, size in record["files"].items())
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return record if complete else None

    @contextmanager
    def lock_step(self, name: str, key: str, say: Callable[[str], None]) -> Iterator[None]:
        """Hold a step, so that no other process runs it; wait for a process that does."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.root / "locks" / f"{name}-{key[:DIGITS]}.lock")
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
    def write_result(self, name: str, key: str, record: dict[str, Any]) -> Iterator[Path]:
        """Yield the folder for a step's result, which is stored when the block ends. The caller must hold the step.

        `record` is what cell.json will hold in addition to what the store knows. The block may fill it.
        """
        folder = self.folder(name, key)
        for draft in folder.parent.glob(f".{folder.name}.*"):  # of a process that was killed
            shutil.rmtree(draft, ignore_errors=True)
        if folder.exists():
            quarantine = self.root / "quarantine"
            quarantine.mkdir(exist_ok=True)
            paths = (quarantine / f"{folder.name}.{number}" for number in range(1, 10_000))
            folder.rename(next(path for path in paths if not path.exists()))
        with atomic_folder(folder) as draft:
            yield draft
            if (draft / RECORD).exists():
                raise UnmaskError(f"step {name!r} has written {RECORD}, which is reserved; use another file name")
            files = sorted(path for path in draft.rglob("*") if path.is_file())
            content = {
                "schema_version": SCHEMA_VERSION,
                "name": name,
                "key": key,
                **record,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "libraries": _find_libraries(),
                "files": {file.relative_to(draft).as_posix(): file.stat().st_size for file in files},
            }
            text = json.dumps(content, indent=2, ensure_ascii=False)
            (draft / RECORD).write_text(f"{text}\n", encoding="utf-8")
            for path in (*draft.rglob("*"), draft):
                _flush_to_disk(path)
        _flush_to_disk(folder.parent)

    def clean_up(self, name: str, key: str) -> None:
        """Remove what a finished step no longer needs: its workspace, and the traceback of an earlier failure."""
        shutil.rmtree(self.workspace(name, key), ignore_errors=True)
        for failed_key in (key, ""):
            with suppress(OSError):  # the store may be read-only
                self.failure(name, failed_key).unlink()


def _flush_to_disk(path: Path) -> None:
    """Wait until a file, or the list of files of a folder, is on the disk."""
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open folders
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _find_libraries() -> dict[str, str]:
    versions = {"python": platform.python_version(), "unmask": unmask.__version__}
    for name in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions
