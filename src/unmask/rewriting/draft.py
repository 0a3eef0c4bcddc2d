"""What an unfinished run leaves beside its output, so that the same command can go on: `OUT.unfinished`.

`output` is what will be renamed to OUT; `finished.jsonl` has a line for each file that is done, `current.json` says how
far the one at work has come. Each entry holds a hash of what was written, so output that was damaged or never reached
the disk is found out and done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import IO, Any

from unmask.errors import UnmaskError
from unmask.files import whole_file
from unmask.rewriting.counts import Counts
from unmask.rewriting.sources import Source
from unmask.rewriting.steps import Place
from unmask.unfinished import RUN, Unfinished

OUTPUT, FINISHED, CURRENT = "output", "finished.jsonl", "current.json"
EVERY = 1.0
"""Seconds between two entries for the file at work."""


class Draft(Unfinished):
    """The folder of an unfinished run."""

    def __init__(self, out: Path, *, single: bool) -> None:
        """Name the folder; nothing is made yet."""
        super().__init__(out)
        self.out = out
        self.single = single
        self._lock: IO[bytes] | None = None
        self._finished: IO[str] | None = None
        self._saved = time.monotonic()

    def has_checkpoint(self) -> bool:
        """Whether there is something to go on from."""
        return any((self.folder / name).exists() for name in (FINISHED, CURRENT))

    def begin(self, run: dict[str, Any], *, restart: bool) -> bool:
        """Take the folder for this run alone; says whether it goes on with an earlier one."""
        self._hold()  # before anything of another run is removed
        going_on = self.claim(run, restart=restart)
        self._hold()
        if not self.single:
            (self.folder / OUTPUT).mkdir(exist_ok=True)
        return going_on

    def path(self, source: Source) -> Path:
        """Where the output of a source is written."""
        return self.folder / OUTPUT if self.single else self.folder / OUTPUT / source.name

    def compresses(self, source: Source) -> bool:
        """Whether the output is a gzip file: by its name, if the user has given that."""
        return self.out.suffix.lower() == ".gz" if self.single else source.compressed

    def resumes(self, source: Source) -> bool:
        """Whether a run can go on in the middle of this source."""
        return source.resumable and not self.compresses(source)

    def finished(self, sources: list[Source]) -> dict[str, dict[str, Any]]:
        """The entries of the files that are done, whole, and were not changed since."""
        by_name = {source.name: source for source in sources}
        entries = {}
        for entry in _entries(self.folder / FINISHED):
            source = by_name.get(entry["name"])
            if source and _still(entry, source) and _hash(self.path(source)) == entry["hash"]:
                entries[source.name] = entry
        if not (self.folder / FINISHED).exists():
            return entries
        with whole_file(self.folder / FINISHED) as draft:  # without a half line that a crash has left
            draft.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries.values()), encoding="utf-8")
        return entries

    def current(self, sources: list[Source]) -> dict[str, Any] | None:
        """The entry of the file at work, if its output is as it says."""
        try:
            entry: dict[str, Any] = json.loads((self.folder / CURRENT).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        for source in sources:
            if source.name == entry["name"] and self.resumes(source) and _still(entry, source):
                whole = _hash(self.path(source), entry["written"]) == entry["hash"]
                return entry if whole else None
        return None

    def tidy(self, names: set[str]) -> None:
        """Remove output of files that are no longer there."""
        root = self.folder / OUTPUT
        if not self.single:
            for file in [path for path in root.rglob("*") if path.is_file()]:
                if file.relative_to(root).as_posix() not in names:
                    file.unlink()

    def finish(self, source: Source, counts: Counts, invalid_at: int | None) -> None:
        """Enter that a file is done."""
        if self._finished is None:
            self._finished = (self.folder / FINISHED).open("a", encoding="utf-8")
        entry = {
            "name": source.name,
            "identity": None if source.is_standard_input else source.identity(),
            "hash": _hash(self.path(source)),
            "invalid_at": invalid_at,
            "counts": counts.record(),
        }
        self._finished.write(f"{json.dumps(entry)}\n")
        self._finished.flush()

    def enter(
        self, source: Source, place: Place, file: IO[bytes], digest: Any, counts: Counts, more: dict[str, Any]
    ) -> None:
        """Enter how far a file has come, every so often."""
        if time.monotonic() - self._saved < EVERY:
            return
        file.flush()
        os.fsync(file.fileno())
        entry = {
            "name": source.name,
            "identity": source.identity(),
            "written": file.tell(),
            "hash": digest.hexdigest(),
            "offset": place.offset,
            "within": place.within,
            "lines": place.lines,
            "counts": counts.record(),
            **more,
        }
        with whole_file(self.folder / CURRENT) as draft, draft.open("w", encoding="utf-8") as entries:
            json.dump(entry, entries)
            entries.flush()
            os.fsync(entries.fileno())
        self._saved = time.monotonic()

    def publish(self) -> None:
        """Give the output its name, and remove the rest."""
        if self._finished is not None:
            self._finished.close()
        if self.out.exists():
            raise UnmaskError(f"{self.out} has come into being meanwhile; move it away, and the same command finishes")
        (self.folder / OUTPUT).rename(self.out)
        self.remove()

    def close(self) -> None:
        """Let go of the folder."""
        for file in (self._finished, self._lock):
            if file is not None:
                file.close()
        self._finished = self._lock = None

    def _hold(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        if (self.folder / RUN).is_file():
            self._lock = (self.folder / RUN).open("rb")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnmaskError(f"another run is writing {self.folder}; wait for it, or give another --out") from None


def _entries(path: Path) -> list[dict[str, Any]]:
    found = []
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                break
    return found


def _still(entry: dict[str, Any], source: Source) -> bool:
    return not source.is_standard_input and bool(entry["identity"] == source.identity())


def _hash(path: Path, size: int | None = None) -> str | None:
    """The hash of a file, or of its first bytes; None if it is not there or shorter."""
    digest = hashlib.blake2b()
    try:
        with path.open("rb") as content:
            left = path.stat().st_size if size is None else size
            while left and (part := content.read(min(left, 1 << 20))):
                digest.update(part)
                left -= len(part)
    except OSError:
        return None
    return None if left else digest.hexdigest()
