"""Where results go, in order: to standard output, or to the files of a draft that an interrupted run can resume.

The draft is the folder `OUT.unfinished`. In it, `output` is what will be renamed to OUT, `finished.jsonl` has a line
for each finished file, and `current.json` says how far the current one is. Each entry holds a hash of what was written,
so output that was damaged or never reached the disk is detected and done again.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import time
from pathlib import Path
from typing import IO, Any, Protocol, cast

from unmask.errors import UnmaskError
from unmask.files import atomic_file
from unmask.resumable import RUN, ResumableRun
from unmask.rewriting.files.sources import Place, Source, Step
from unmask.rewriting.files.summary import Counts, Summary
from unmask.rewriting.files.workers import Outcome

OUTPUT, FINISHED, CURRENT = "output", "finished.jsonl", "current.json"
EVERY = 1.0
"""Seconds between two entries for the file at work."""


class Draft(ResumableRun):
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
        with atomic_file(self.folder / FINISHED) as draft:  # without a half line that a crash has left
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
        with atomic_file(self.folder / CURRENT) as draft, draft.open("w", encoding="utf-8") as entries:
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


class _Writer(Protocol):
    def write(self, step: Step, outcome: Outcome) -> None: ...
    def close(self) -> None: ...


class _Bytes:
    """Text and JSON lines."""

    def __init__(self, file: IO[bytes], *, keep_open: bool = False) -> None:
        self.file = file
        self.digest = hashlib.blake2b()
        self._keep_open = keep_open

    def write(self, step: Step, outcome: Outcome) -> None:  # noqa: ARG002
        self.file.write(outcome.content)
        self.digest.update(outcome.content)

    def close(self) -> None:
        if self._keep_open:
            self.file.flush()
        else:
            self.file.close()


class _Rows:
    """A Parquet file."""

    def __init__(self, path: Path, source: Source, column: str) -> None:
        from unmask.rewriting.files import parquet

        self._parquet = parquet
        self._column = column
        with parquet.open_table(source.path, column) as like:
            self._writer = parquet.TableWriter(path, like)

    def write(self, step: Step, outcome: Outcome) -> None:
        if step.rows is not None:
            group, batch = step.rows
            self._writer.write(group, self._parquet.replace_column(batch, self._column, outcome.values))

    def close(self) -> None:
        self._writer.close()


class Output:
    """Writes what comes, file after file, and adds up what was counted."""

    def __init__(self, summary: Summary, column: str, draft: Draft | None, stream: IO[bytes] | None = None) -> None:
        """Write to a draft, or to a stream."""
        self.summary = summary
        self._column = column
        self._draft = draft
        self._stream = stream
        self._writer: _Writer | None = None
        self._counts = Counts()
        self._invalid_at: int | None = None
        self._changed = self._invalid = False  # of the document that has been cut
        self._going_on: dict[str, Any] | None = None

    def go_on(self, entry: dict[str, Any]) -> Place:
        """Prepare to go on with the file of this entry; says where."""
        self._going_on = entry
        self._counts = Counts.from_record(entry["counts"])
        self._invalid_at = entry["invalid_at"]
        self._changed, self._invalid = entry["changed"], entry["invalid"]
        return Place(entry["offset"], entry["within"], entry["lines"])

    def take(self, step: Step, outcome: Outcome) -> None:
        """Write an outcome, and what follows from it."""
        source = step.source
        if outcome.bad_line is not None:
            number, why = outcome.bad_line
            raise UnmaskError(
                f"{source.title}, line {step.before.lines + number + 1}: {why}"
                + ("" if "--column" in why else "; JSON lines have one object a line, else say --format text")
            )
        if self._writer is None:
            self._writer = self._open(source)
        self._writer.write(step, outcome)
        self._count(step, outcome)
        if step.ends:
            self._writer.close()
            self._writer = None
            if self._draft is not None:
                self._draft.finish(source, self._counts, self._invalid_at)
            self.add(source.title, self._counts, self._invalid_at)
            self._counts, self._invalid_at = Counts(), None
        elif self._draft is not None and self._draft.resumes(source) and isinstance(self._writer, _Bytes):
            state = {"invalid_at": self._invalid_at, "changed": self._changed, "invalid": self._invalid}
            self._draft.enter(source, step.after, self._writer.file, self._writer.digest, self._counts, state)

    def add(self, title: str, counts: Counts, invalid_at: int | None) -> None:
        """Add a file to the summary."""
        self.summary.files += 1
        self.summary.counts.add(counts)
        if invalid_at is not None:
            self.summary.invalid[title] = invalid_at

    def close(self) -> None:
        """Let go of a file that was not finished."""
        if isinstance(self._writer, _Bytes):
            self._writer.close()
        self._writer = None

    def _count(self, step: Step, outcome: Outcome) -> None:
        counts = outcome.counts
        if outcome.invalid_at is not None and self._invalid_at is None:
            rows = step.source.format == "parquet"
            self._invalid_at = outcome.invalid_at + (step.before.lines if rows else step.before.offset)
        if step.before.within is not None:  # the document has been counted with its first piece
            counts.changed -= self._changed and counts.changed > 0
            counts.invalid -= self._invalid and counts.invalid > 0
        else:
            self._changed = self._invalid = False
        self._changed = self._changed or counts.changed > 0
        self._invalid = self._invalid or counts.invalid > 0
        self._counts.add(counts)

    def _open(self, source: Source) -> _Writer:
        if self._draft is None:
            assert self._stream is not None
            return _Bytes(self._stream, keep_open=True)
        path = self._draft.path(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.format == "parquet":
            return _Rows(path, source, self._column)
        if self._draft.compresses(source):
            # Without name and time in it, the same text gives the same file.
            return _Bytes(cast(IO[bytes], gzip.GzipFile(path, "wb", compresslevel=6, mtime=0)))
        entry, self._going_on = self._going_on, None
        if entry is None or entry["name"] != source.name:
            return _Bytes(path.open("wb"))
        file = path.open("r+b")
        writer = _Bytes(file)
        left = entry["written"]
        while left and (part := file.read(min(left, 1 << 20))):
            writer.digest.update(part)
            left -= len(part)
        file.seek(entry["written"])
        file.truncate()
        return writer
