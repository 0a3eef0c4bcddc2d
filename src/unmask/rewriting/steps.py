"""Files as steps: a block of work, and where the reader stands when it is done."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unmask.errors import UnmaskError
from unmask.rewriting.blocks import BLOCK, blocks
from unmask.rewriting.sources import Source
from unmask.rewriting.work import Lines, Task, Values, Work


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


def steps(source: Source, task: Task, place: Place) -> Iterator[tuple[Step, Work | None]]:
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
        for block in blocks(stream, task.document, task.choice, place.within):
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
    from unmask.rewriting import tables

    size = source.size or 0
    before = place
    with tables.open_table(source.path, task.column) as file:
        rows = max(1, file.metadata.num_rows)
        for group, batch in tables.batches(file):
            after = Place(lines=before.lines + batch.num_rows)
            work = Values(tables.values(batch.column(task.column)))
            yield Step(source, before, after, size * after.lines // rows, rows=(group, batch)), work
            before = after


def _done(source: Source, stream: Any, after: Place) -> int:
    return int(stream.fileobj.tell()) if source.compressed else after.offset
