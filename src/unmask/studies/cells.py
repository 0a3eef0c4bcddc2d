"""The cells of a study, and the folder that keeps their results.

Cells need one another; each is known by a hash of everything that decides its result. The key of a cell is SHA-256 over
its kind, its inputs and the keys of the cells that it needs. So a change anywhere before a cell makes another cell of
it, and a result of the old one is never used for the new one.

    ROOT/cells/NAME-KEY/       the result of a cell, and cell.json, which says what it is
    ROOT/unfinished/NAME-KEY/  the workspace of a cell that was begun and is not done
    ROOT/failed/NAME-KEY.txt   the traceback of a cell that failed
    ROOT/distrusted/           folders that stood in a cell's place and were incomplete
    ROOT/locks/                one file per cell, locked while it is done
    ROOT/study.json            which study it is

KEY is the first 12 digits of the cell's key; cell.json has all of it. A cell counts as done if cell.json has its name
and key, and every file named in it is there with the size it had. Everything reaches the disk before the folder gets
its name, so a power failure leaves no half cell either. An incomplete folder is moved away and the cell done again: a
damaged study repairs itself, and nothing that somebody may want to look at is deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import unmask
from unmask.errors import UnmaskError, quote
from unmask.files import atomic_file, atomic_folder

Say = Callable[[str], None]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


class Cell(Protocol):
    """One piece of a study; a frozen dataclass that can be pickled will do."""

    @property
    def name(self) -> str:
        """Short, unique in its study, and fit for a file name."""
        ...

    @property
    def kind(self) -> str:
        """What sort of work it is: texts, training, measuring."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the cells that must be done before it."""
        ...

    @property
    def needs_gpu(self) -> bool:
        """Whether it wants a GPU where there is one."""
        ...

    def inputs(self) -> dict[str, Any]:
        """All that decides the result besides the cells before it, as JSON: settings, hashes of data and weights."""
        ...

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Write the result into the folder `draft`.

        `before` has the folder of each cell that this one needs. `workspace` is a folder of its own which outlives an
        interruption, for checkpoints, and is removed when the cell is done. `say` takes a line on how it goes.
        """
        ...


def key(cell: Cell, keys_of_needs: Mapping[str, str], inputs: dict[str, Any] | None = None) -> str:
    """The hash that a cell is known by, from the keys of the cells it needs, by name.

    `inputs` are the cell's own where they have been asked for already: hashing data takes time.
    """
    content = [cell.kind, cell.inputs() if inputs is None else inputs, [keys_of_needs[name] for name in cell.needs]]
    try:
        text = json.dumps(content, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UnmaskError(f"the inputs of cell {cell.name!r} are no JSON ({error}); give plain values only") from None
    return hashlib.sha256(text.encode()).hexdigest()


def keys(cells: Sequence[Cell]) -> dict[str, str]:
    """The keys of all cells of a study, by name."""
    found: dict[str, str] = {}
    for cell in order(cells):
        found[cell.name] = key(cell, found)
    return found


def order(cells: Sequence[Cell]) -> list[Cell]:
    """The cells, each after all that it needs and else as given; what cannot be ordered is refused."""
    by_name: dict[str, Cell] = {}
    for cell in cells:
        if not NAME.fullmatch(cell.name):
            raise UnmaskError(f"{cell.name!r} is no name for a cell; use at most 100 letters, digits, and . _ + -")
        if cell.name in by_name:
            raise UnmaskError(f"two cells are called {cell.name!r}; give each a name of its own")
        by_name[cell.name] = cell
    for cell in cells:
        unknown = [name for name in cell.needs if name not in by_name]
        if unknown:
            raise UnmaskError(
                f"cell {cell.name!r} needs {quote(unknown)}, which is not in the study; add it, or correct the name"
            )
    try:
        TopologicalSorter({cell.name: cell.needs for cell in cells}).prepare()
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        raise UnmaskError(f"these cells wait for one another: {circle}; take one of the needs away") from None
    placed: dict[str, Cell] = {}

    def place(cell: Cell) -> None:
        for name in cell.needs:
            if name not in placed:
                place(by_name[name])
        placed[cell.name] = cell

    for cell in cells:
        if cell.name not in placed:
            place(cell)
    return list(placed.values())


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
            with atomic_file(self.root / STUDY) as draft:
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
        with atomic_folder(folder) as draft:
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
