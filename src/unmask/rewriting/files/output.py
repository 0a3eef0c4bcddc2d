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
from typing import IO, TYPE_CHECKING, Any, cast

from unmask.errors import UnmaskError
from unmask.files import atomic_file
from unmask.resumable import RUN, ResumableRun
from unmask.rewriting.files.sources import Block, Position, Source
from unmask.rewriting.files.summary import Counts, Summary
from unmask.rewriting.files.workers import Content

if TYPE_CHECKING:
    from unmask.rewriting.files.parquet import TableWriter

OUTPUT, FINISHED, CURRENT = "output", "finished.jsonl", "current.json"
EVERY = 1.0
"""Seconds between two entries for the current file."""


class Draft(ResumableRun):
    """The folder of an unfinished run."""

    def __init__(self, out: Path, *, single: bool) -> None:
        """Name the folder of a run that writes a single file or a folder; nothing is made yet."""
        super().__init__(out)
        self.out = out
        self.single = single
        self._lock: IO[bytes] | None = None
        self._saved = time.monotonic()

    def has_checkpoint(self) -> bool:
        """Whether there is something to resume."""
        return any((self.folder / name).exists() for name in (FINISHED, CURRENT))

    def begin(self, run: dict[str, Any], *, restart: bool) -> None:
        """Take the folder for this run alone."""
        self._lock_folder()  # before anything of another run is removed
        self.claim(run, restart=restart)
        self._lock_folder()
        if not self.single:
            (self.folder / OUTPUT).mkdir(exist_ok=True)

    def path(self, source: Source) -> Path:
        """Where the output of a source is written."""
        return self.folder / OUTPUT if self.single else self.folder / OUTPUT / source.name

    def compresses(self, source: Source) -> bool:
        """Whether the output is a gzip file: by its name, if the user has given that."""
        return self.out.suffix.lower() == ".gz" if self.single else source.is_compressed

    def resumes(self, source: Source) -> bool:
        """Whether a run can resume in the middle of this source."""
        return source.is_resumable and not self.compresses(source)

    def finished(self, sources: dict[str, Source]) -> dict[str, dict[str, Any]]:
        """The entries of the files that are done, whole, and unchanged since."""
        path = self.folder / FINISHED
        if not path.exists():
            return {}
        entries: dict[str, dict[str, Any]] = {}
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:  # half a line, which a crash has left
                break
            if self._is_intact(entry, sources.get(entry["name"])):
                entries[entry["name"]] = entry
        with atomic_file(path) as draft:
            draft.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries.values()), encoding="utf-8")
        return entries

    def current(self, sources: dict[str, Source]) -> dict[str, Any] | None:
        """The entry of the current file, if its output is as the entry says."""
        try:
            entry: dict[str, Any] = json.loads((self.folder / CURRENT).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        source = sources.get(entry["name"])
        return entry if source and self.resumes(source) and self._is_intact(entry, source) else None

    def _is_intact(self, entry: dict[str, Any], source: Source | None) -> bool:
        """Whether the source of an entry has not changed since, nor what was written of it."""
        identity = source and source.identity()
        if source is None or identity is None or identity != entry["identity"]:
            return False
        digest = _digest(self.path(source), entry.get("written"))
        return digest is not None and digest.hexdigest() == entry["hash"]

    def remove_others(self, names: set[str]) -> None:
        """Remove the output of files that are no longer there."""
        root = self.folder / OUTPUT
        if not self.single:
            for file in [path for path in root.rglob("*") if path.is_file()]:
                if file.relative_to(root).as_posix() not in names:
                    file.unlink()

    def record_finished(self, source: Source, counts: Counts) -> None:
        """Record that a file is done."""
        with (self.folder / FINISHED).open("a", encoding="utf-8") as entries:
            entries.write(f"{json.dumps(_make_entry(source, _digest(self.path(source)), counts))}\n")

    def record_current(self, block: Block, file: IO[bytes], digest: Any, counts: Counts) -> None:
        """Record how far a file has come, every so often."""
        if time.monotonic() - self._saved < EVERY:
            return
        file.flush()
        os.fsync(file.fileno())
        entry = _make_entry(block.source, digest, counts) | {"written": file.tell(), "position": block.after}
        with atomic_file(self.folder / CURRENT) as draft, draft.open("w", encoding="utf-8") as entries:
            json.dump(entry, entries)
            entries.flush()
            os.fsync(entries.fileno())
        self._saved = time.monotonic()

    def publish(self) -> None:
        """Give the output its name, and remove the rest."""
        if self.out.exists():
            raise UnmaskError(f"{self.out} was created during the run; move it away and run the same command again")
        (self.folder / OUTPUT).rename(self.out)
        self.remove()

    def close(self) -> None:
        """Release the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _lock_folder(self) -> None:
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        self.close()
        if (self.folder / RUN).is_file():
            self._lock = (self.folder / RUN).open("rb")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UnmaskError(f"another run is writing {self.folder}; wait for it, or give another --out") from None


def _make_entry(source: Source, digest: Any, counts: Counts) -> dict[str, Any]:
    state = {"invalid_at": counts.invalid_at, "cut_changed": counts.cut_changed, "cut_invalid": counts.cut_invalid}
    return {
        "name": source.name,
        "identity": source.identity(),
        "hash": digest.hexdigest(),
        "counts": counts.to_record() | state,
    }


def _digest(path: Path, size: int | None = None) -> Any:
    """The digest of a file, or of its first bytes; None if it is not there or shorter."""
    digest = hashlib.blake2b()
    try:
        with path.open("rb") as content:
            left = path.stat().st_size if size is None else size
            while left and (part := content.read(min(left, 1 << 20))):
                digest.update(part)
                left -= len(part)
    except OSError:
        return None
    return None if left else digest


class Output:
    """Writes outcomes, file after file, and adds up what was counted."""

    def __init__(self, summary: Summary, column: str, draft: Draft | None, stream: IO[bytes] | None = None) -> None:
        """Write to a draft, or to a stream."""
        self.summary = summary
        self._column = column
        self._draft = draft
        self._stream = stream
        self._file: IO[bytes] | None = None
        self._digest = hashlib.blake2b()
        self._table: TableWriter | None = None
        self._counts = Counts()
        """What has been counted in the current file."""
        self._resumed: dict[str, Any] | None = None

    def resume(self, entry: dict[str, Any]) -> Position:
        """Continue the file of this entry of the draft when it is opened; returns the position to read from."""
        self._resumed = entry
        return Position(*entry["position"])

    def write(self, block: Block, content: Content, counts: Counts) -> None:
        """Write the new content of a block, and record it in the draft."""
        if isinstance(content, UnmaskError):
            raise content
        source = block.source
        if self._file is None and self._table is None:
            self._open(source)
        if self._file is not None and isinstance(content, bytes):
            self._file.write(content)
            self._digest.update(content)
        elif self._table is not None and block.rows is not None and isinstance(content, list):
            self._table.write(*block.rows, self._column, content)
        self._counts.add_block(counts, goes_on=block.before.within is not None)
        if block.is_end:
            self.close(whole=True)
            if self._draft is not None:
                self._draft.record_finished(source, self._counts)
            self.add_file(source, self._counts)
            self._counts = Counts()
        elif self._draft is not None and self._file is not None and self._draft.resumes(source):
            self._draft.record_current(block, self._file, self._digest, self._counts)

    def add_file(self, source: Source, counts: Counts) -> None:
        """Add a finished file to the summary."""
        self.summary.files += 1
        self.summary.counts.add(counts)
        if counts.invalid_at is not None:
            self.summary.invalid[source.title] = counts.invalid_at

    def close(self, *, whole: bool = False) -> None:
        """Close the current file; a table gets its footer only if it is whole."""
        if self._file is not None and self._file is self._stream:
            self._file.flush()
        elif self._file is not None:
            self._file.close()
        if self._table is not None and whole:
            self._table.close()
        self._file = self._table = None

    def _open(self, source: Source) -> None:
        self._digest = hashlib.blake2b()
        if self._draft is None:
            self._file = self._stream
            return
        path = self._draft.path(source)
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = self._resumed
        if entry is not None and entry["name"] != source.name:
            entry = None  # another file comes first: it has changed since it was finished
        elif entry is not None:
            self._resumed, self._counts = None, Counts.from_record(entry["counts"])
        if source.format == "parquet":
            from unmask.rewriting.files import parquet

            with parquet.open_table(source.path, self._column) as original:
                self._table = parquet.TableWriter(path, original)
        elif self._draft.compresses(source):
            # Without name and time in it, the same text gives the same file.
            self._file = cast(IO[bytes], gzip.GzipFile(path, "wb", compresslevel=6, mtime=0))
        elif entry is None:
            self._file = path.open("wb")
        else:
            self._digest = _digest(path, entry["written"])
            self._file = path.open("r+b")
            self._file.seek(entry["written"])
            self._file.truncate()
