"""Where outcomes go, in order: to the files of a draft, or to standard output."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import IO, Any, Protocol, cast

from unmask.errors import UnmaskError
from unmask.rewriting.counts import Counts, Summary
from unmask.rewriting.draft import Draft
from unmask.rewriting.sources import Source
from unmask.rewriting.steps import Place, Step
from unmask.rewriting.work import Outcome


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
        from unmask.rewriting import tables

        self._tables = tables
        self._column = column
        with tables.open_table(source.path, column) as like:
            self._writer = tables.TableWriter(path, like)

    def write(self, step: Step, outcome: Outcome) -> None:
        if step.rows is not None:
            group, batch = step.rows
            self._writer.write(group, self._tables.replaced(batch, self._column, outcome.values))

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
