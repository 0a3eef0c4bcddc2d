"""What is read: files, folders and standard input, their formats and output names, and each file as a series of steps.

A step is a block of work and the position of the reader when it is done.
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from unmask.errors import UnmaskError
from unmask.rewriting.files.blocks import BLOCK, read_blocks
from unmask.rewriting.files.workers import Lines, Task, Values, Work

FORMATS = ("text", "jsonl", "parquet")
ENDINGS = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    "": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
STANDARD_INPUT = Path("-")


@dataclass(frozen=True)
class Source:
    """One file to read."""

    path: Path
    name: str
    """Where it is written, inside the folder for the output; with forward slashes."""
    format: str

    @property
    def title(self) -> str:
        """What messages call it."""
        return "standard input" if self.is_standard_input else str(self.path)

    @property
    def is_standard_input(self) -> bool:
        """Whether this is no file."""
        return self.path == STANDARD_INPUT

    @property
    def compressed(self) -> bool:
        """Whether it is a gzip file; what is written is one too."""
        return self.path.suffix.lower() == ".gz"

    @property
    def resumable(self) -> bool:
        """Whether a run can go on in the middle of it."""
        return not self.compressed and self.format != "parquet" and self.path.is_file()

    @property
    def size(self) -> int | None:
        """Its bytes, if that can be known."""
        return self.path.stat().st_size if self.path.is_file() else None

    def identity(self) -> list[int]:
        """Tells whether a file has been changed since."""
        stat = self.path.stat()
        return [stat.st_size, stat.st_mtime_ns]

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its bytes."""
        if self.is_standard_input:
            if sys.stdin is None:
                raise UnmaskError("there is no standard input; name a file, or give --text")
            yield sys.stdin.buffer
            return
        try:
            with self.path.open("rb") as raw:
                if self.compressed:
                    with gzip.GzipFile(fileobj=raw) as unpacked:
                        yield cast(IO[bytes], unpacked)
                else:
                    yield raw
        except OSError as error:
            if error.errno is None:  # gzip's own
                raise UnmaskError(
                    f"{self.title} is no whole gzip file ({error}); unpack it, or fetch it again"
                ) from None
            raise
        except EOFError:
            raise UnmaskError(f"{self.title} is no whole gzip file (it ends early); fetch it again") from None


def find_sources(paths: Iterable[Path], form: str) -> tuple[list[Source], list[str]]:
    """The files to read in a fixed order, and the names of those in folders that are of no format we know."""
    paths = list(paths) or [STANDARD_INPUT]
    found: list[Source] = []
    others: list[str] = []
    for path in paths:
        if path == STANDARD_INPUT:
            if form == "parquet":
                raise UnmaskError("Parquet cannot be read from standard input; name the file")
            found.append(Source(path, "-", "text" if form == "auto" else form))
        elif path.is_dir():
            for file in _files(path):
                inside = file.relative_to(path).as_posix()
                name = inside if len(paths) == 1 else f"{path.resolve().name}/{inside}"
                kind = _format(file) if form == "auto" else form
                if kind and file.is_file() and not file.name.startswith("."):
                    found.append(Source(file, name, kind))
                else:
                    others.append(inside)
        elif path.exists():
            kind = _format(path) if form == "auto" else form
            if kind is None:
                raise UnmaskError(
                    f"{path} has none of the endings we know (.txt, .md, .jsonl, .ndjson, .parquet, and .gz);"
                    " say what it is with --format text, jsonl or parquet"
                )
            found.append(Source(path, path.name, kind))
        else:
            raise UnmaskError(f"{path} does not exist; give a file, a folder, - for standard input, or --text")
    _check(found, others, paths)
    return found, others


def _check(found: list[Source], others: list[str], paths: list[Path]) -> None:
    if not found:
        raise UnmaskError(
            f"{paths[0]} has no file to rewrite ({len(others)} of other formats); give --format to read them as one"
        )
    names: dict[str, Source] = {}
    for source in found:
        if source.name in names:
            raise UnmaskError(
                f"{names[source.name].title} and {source.title} would both be written as {source.name};"
                " rewrite one after the other"
            )
        names[source.name] = source
        if not source.is_standard_input and not os.access(source.path, os.R_OK):
            raise UnmaskError(f"{source.title} cannot be read (permission denied); nothing was written")
        if source.format == "parquet" and source.compressed:
            raise UnmaskError(f"{source.title} is a packed Parquet file; unpack it (gunzip) first")


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, onerror=_refuse):
        apart = [name for name in folders if name.startswith(".") or (Path(place) / name).is_symlink()]
        folders[:] = sorted(set(folders) - set(apart))
        for file in sorted(files + apart):
            yield Path(place) / file


def _refuse(error: OSError) -> None:
    raise UnmaskError(f"{error.filename} cannot be read ({error.strerror}); nothing was written")


def _format(path: Path) -> str | None:
    endings = [ending.lower() for ending in path.suffixes]
    if endings and endings[-1] == ".gz":
        endings.pop()
        return ENDINGS.get(endings[-1]) if endings else None
    return ENDINGS.get(path.suffix.lower())


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a source reading goes on."""

    offset: int = 0
    within: bool | None = None
    """The choice for the document that goes on here; None where one begins."""
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """A block's place among the others. The last step of a source has no block."""

    source: Source
    before: Place
    after: Place
    done: int
    """How many bytes of the source have been read."""
    ends: bool = False
    rows: tuple[int, Any] | None = None
    """Of a table: the row group, and the rows whose text is being rewritten."""


def read_steps(source: Source, task: Task, place: Place) -> Iterator[tuple[Step, Work | None]]:
    """The blocks of a source from a place on, and the end."""
    reader = {"text": _text, "jsonl": _lines, "parquet": _rows}[source.format]
    step = None
    try:
        for step, work in reader(source, task, place):
            yield step, work
    except zlib.error as error:
        raise UnmaskError(f"{source.title} is a damaged gzip file ({error}); fetch it again") from None
    after = step.after if step else place
    yield Step(source, after, after, step.done if step else 0, ends=True), None


def _text(source: Source, task: Task, place: Place) -> Iterator[tuple[Step, Work]]:
    with source.open() as stream:
        if place.offset:
            stream.seek(place.offset)
        before = place
        for block in read_blocks(stream, task.document, task.choice, place.within):
            after = Place(before.offset + len(block.content), block.piece_of if block.goes_on else None)
            yield Step(source, before, after, _done(source, stream, after)), block
            before = after


def _lines(source: Source, _task: Task, place: Place) -> Iterator[tuple[Step, Work]]:
    with source.open() as stream:
        if place.offset:
            stream.seek(place.offset)
        before = place
        while lines := stream.readlines(BLOCK):
            content = b"".join(lines)
            after = Place(before.offset + len(content), None, before.lines + len(lines))
            yield Step(source, before, after, _done(source, stream, after)), Lines(content, before.lines == 0)
            before = after


def _rows(source: Source, task: Task, place: Place) -> Iterator[tuple[Step, Work]]:
    from unmask.rewriting.files import parquet

    size = source.size or 0
    before = place
    with parquet.open_table(source.path, task.column) as file:
        rows = max(1, file.metadata.num_rows)
        for group, batch in parquet.read_batches(file):
            after = Place(lines=before.lines + batch.num_rows)
            work = Values(parquet.column_texts(batch.column(task.column)))
            yield Step(source, before, after, size * after.lines // rows, rows=(group, batch)), work
            before = after


def _done(source: Source, stream: Any, after: Place) -> int:
    return int(stream.fileobj.tell()) if source.compressed else after.offset
