"""What is read: files, folders and standard input, and each of them as blocks of bounded size.

Every byte of a text is in exactly one block. Where blocks end depends only on the text after their beginning, so a run
that resumes at the end of any block finds the same ones.
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
from typing import IO, Any, NamedTuple, cast

from unmask.errors import UnmaskError, import_extra
from unmask.rewriting.files.documents import PIECE, find_cut, find_last_document, find_second_document
from unmask.rewriting.files.options import FileRewriteOptions
from unmask.rewriting.options import DocumentSampler

FORMAT_OF_ENDING = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    "": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
STANDARD_INPUT = Path("-")
BLOCK = 1 << 17


@dataclass(frozen=True)
class Source:
    """One file to read."""

    path: Path
    name: str
    """Where it is written, inside the folder for the output; with forward slashes."""
    format: str

    @property
    def title(self) -> str:
        """Its name in messages."""
        return "standard input" if self.is_standard_input else str(self.path)

    @property
    def is_standard_input(self) -> bool:
        """Whether this is not a file."""
        return self.path == STANDARD_INPUT

    @property
    def is_compressed(self) -> bool:
        """Whether it is a gzip file; what is written is one too."""
        return self.path.suffix.lower() == ".gz"

    @property
    def is_resumable(self) -> bool:
        """Whether a run can resume in the middle of it."""
        return not self.is_compressed and self.format != "parquet" and self.path.is_file()

    @property
    def size(self) -> int | None:
        """Its bytes, if that can be known."""
        return self.path.stat().st_size if self.path.is_file() else None

    def identity(self) -> list[int] | None:
        """Size and time of the last change; None for standard input."""
        if self.is_standard_input:
            return None
        stat = self.path.stat()
        return [stat.st_size, stat.st_mtime_ns]

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open it for reading bytes, unpacked."""
        if self.is_standard_input:
            if sys.stdin is None:
                raise UnmaskError("there is no standard input; name a file, or give --text")
            yield sys.stdin.buffer
            return
        try:
            with self.path.open("rb") as raw:
                if self.is_compressed:
                    with gzip.GzipFile(fileobj=raw) as unpacked:
                        yield cast(IO[bytes], unpacked)
                else:
                    yield raw
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnmaskError(f"{self.title} is not a complete gzip file ({error}); fetch it again") from None


def find_sources(paths: Iterable[Path], format_name: str) -> tuple[list[Source], list[str]]:
    """The files to read in a fixed order, and the names of files in folders whose format is unknown."""
    paths = list(paths) or [STANDARD_INPUT]
    sources: list[Source] = []
    unknown: list[str] = []
    for path in paths:
        if path == STANDARD_INPUT:
            if format_name == "parquet":
                raise UnmaskError("Parquet cannot be read from standard input; name the file")
            sources.append(Source(path, "-", "text" if format_name == "auto" else format_name))
        elif path.is_dir():
            for file in _walk_folder(path):
                inside = file.relative_to(path).as_posix()
                name = inside if len(paths) == 1 else f"{path.resolve().name}/{inside}"
                detected = _detect_format(file, format_name)
                if detected and file.is_file() and not file.name.startswith("."):
                    sources.append(Source(file, name, detected))
                else:
                    unknown.append(inside)
        elif path.exists():
            detected = _detect_format(path, format_name)
            if detected is None:
                raise UnmaskError(
                    f"{path} has an unknown ending (known: .txt, .md, .jsonl, .ndjson, .parquet, and .gz);"
                    " say what it is with --format text, jsonl or parquet"
                )
            sources.append(Source(path, path.name, detected))
        else:
            raise UnmaskError(f"{path} does not exist; give a file, a folder, - for standard input, or --text")
    if not sources:
        raise UnmaskError(
            f"{paths[0]} has no file to rewrite ({len(unknown)} of other formats); give --format to read them as one"
        )
    _check_sources(sources)
    return sources, unknown


def _check_sources(sources: list[Source]) -> None:
    by_name: dict[str, Source] = {}
    for source in sources:
        first = by_name.setdefault(source.name, source)
        if first is not source:
            raise UnmaskError(
                f"{first.title} and {source.title} would both be written as {source.name}; rewrite one after the other"
            )
        if not source.is_standard_input and not os.access(source.path, os.R_OK):
            raise UnmaskError(f"{source.title} cannot be read (permission denied); nothing was written")
        if source.format == "parquet" and not source.is_compressed:
            import_extra("pyarrow", "parquet", source.title)
        elif source.format == "parquet":
            raise UnmaskError(f"{source.title} is a packed Parquet file; unpack it (gunzip) first")


def _walk_folder(root: Path) -> Iterator[Path]:
    """The files of a folder; hidden folders and links to folders are returned as they are, and not entered."""

    def fail(error: OSError) -> None:
        raise UnmaskError(f"{error.filename} cannot be read ({error.strerror}); nothing was written")

    for folder, subfolders, files in os.walk(root, onerror=fail):
        skipped = [name for name in subfolders if name.startswith(".") or (Path(folder) / name).is_symlink()]
        subfolders[:] = sorted(set(subfolders) - set(skipped))
        for file in sorted(files + skipped):
            yield Path(folder) / file


def _detect_format(path: Path, format_name: str) -> str | None:
    """The format that is asked for, or that the ending says."""
    if format_name != "auto":
        return format_name
    *endings, last = ["", *(ending.lower() for ending in path.suffixes)]
    if last == ".gz":
        return FORMAT_OF_ENDING.get(endings[-1]) if len(endings) > 1 else None
    return FORMAT_OF_ENDING.get(last)


class Position(NamedTuple):
    """A position in a source, from which reading can resume."""

    offset: int = 0
    within: bool | None = None
    """In the middle of a document that was cut: whether the document is rewritten. None where a document begins."""
    rows: int = 0
    """The lines of JSON, or rows of a table, before it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole documents of a source, or a piece of one; the last block of a source is empty."""

    source: Source
    content: Any
    """Bytes of a text; of a table, the texts of some rows as a list of bytes or None."""
    before: Position
    after: Position
    bytes_read: int
    """How many bytes of the source have been read."""
    rows: tuple[int, Any] | None = None
    """Of a table: the row group, and the rows whose text is rewritten."""
    is_end: bool = False

    @property
    def size(self) -> int:
        """The bytes of its text."""
        if isinstance(self.content, bytes):
            return len(self.content)
        return sum(len(text or b"") for text in self.content)


def read_blocks(source: Source, options: FileRewriteOptions, start: Position) -> Iterator[Block]:
    """The blocks of a source from a position on, and the empty one at its end."""
    after, bytes_read = start, 0
    for block in _read_table(source, options.column) if source.format == "parquet" else _read(source, options, start):
        yield block
        after, bytes_read = block.after, block.bytes_read
    yield Block(source, b"", after, after, bytes_read, is_end=True)


def _read(source: Source, options: FileRewriteOptions, before: Position) -> Iterator[Block]:
    with source.open() as stream:
        if before.offset:
            stream.seek(before.offset)
        if source.format == "jsonl":
            contents = _read_lines(stream, before)
        else:
            contents = read_text(stream, options.document, options.sampler, before)
        for content, after in contents:
            bytes_read = cast(Any, stream).fileobj.tell() if source.is_compressed else after.offset
            yield Block(source, content, before, after, bytes_read)
            before = after


def read_text(
    stream: IO[bytes], document: str, sampler: DocumentSampler, start: Position
) -> Iterator[tuple[bytes, Position]]:
    """The blocks of a plain text, each with the position after it."""
    buffer, window, ended = b"", BLOCK, False
    offset, within = start.offset, start.within
    while True:
        if not ended and len(buffer) < window:
            buffer += stream.read(window - len(buffer))
            ended = len(buffer) < window
        if not buffer:
            return
        view = buffer[:window]
        rest = len(view) if len(buffer) < window else 0  # the stream ends within the window
        end = rest or find_last_document(view, document) if within is None else find_second_document(view, document)
        end = end or rest
        if end:
            within = None
        elif window >= PIECE:  # a document too large for a block: cut it
            end = find_cut(view)
            within = sampler.selects(view[:end]) if within is None else within
        else:
            window *= 2
            continue
        offset += end
        yield view[:end], Position(offset, within)
        buffer = buffer[end:]
        window = BLOCK


def _read_lines(stream: IO[bytes], before: Position) -> Iterator[tuple[bytes, Position]]:
    offset, rows = before.offset, before.rows
    while lines := stream.readlines(BLOCK):
        content = b"".join(lines)
        offset, rows = offset + len(content), rows + len(lines)
        yield content, Position(offset, None, rows)


def _read_table(source: Source, column: str) -> Iterator[Block]:
    from unmask.rewriting.files import parquet

    size, before = source.size or 0, Position()
    with parquet.open_table(source.path, column) as file:
        for group, batch in parquet.read_batches(file):
            after = Position(rows=before.rows + batch.num_rows)
            bytes_read = size * after.rows // max(1, file.metadata.num_rows)
            yield Block(source, parquet.column_texts(batch.column(column)), before, after, bytes_read, (group, batch))
            before = after
