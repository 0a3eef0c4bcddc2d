"""Rewriting blocks, in this process or in several: blocks go out, and come back in the order they were read in.

The number of blocks in progress is bounded, and so is memory. Small inputs are rewritten in this process: starting
others would take longer than the work.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace

from unmask.errors import UnmaskError, quote
from unmask.rewriting.files.documents import (
    JsonField,
    read_json_fields,
    split_documents,
    split_pieces,
    string_errors,
    write_json_string,
)
from unmask.rewriting.files.options import FileRewriteOptions
from unmask.rewriting.files.sources import Block
from unmask.rewriting.files.summary import Counts
from unmask.rewriting.options import BOM, RewriteOptions, split_margins
from unmask.rewriting.result import Rewriter

Factory = Callable[[RewriteOptions], Rewriter]


Content = bytes | list[bytes | None] | UnmaskError
"""A block after rewriting: a text, or the texts of a table's rows; or why it cannot be read."""


class BlockRewriter:
    """Applies a rewriter to the documents of blocks."""

    def __init__(self, options: FileRewriteOptions, factory: Factory) -> None:
        """Build the rewriter."""
        self._rewriter = factory(options)
        self._options = options
        self._sampler = options.sampler

    def rewrite_block(self, block: Block) -> tuple[Content, Counts]:
        """Rewrite a block. An error is returned rather than raised, so that the blocks before it are written first."""
        counts = Counts()
        if block.is_end:
            return b"", counts
        content: Content
        if block.source.format == "text":
            content = self._rewrite_text(block, counts)
        elif block.source.format == "jsonl":
            try:
                content = self._rewrite_lines(block, counts)
            except UnmaskError as error:
                return error, counts
        else:
            content = self.rewrite_values(block.content, counts)
        if counts.invalid_at is not None:
            counts.invalid_at += block.before.rows if block.source.format == "parquet" else block.before.offset
        return content, counts

    def _rewrite_text(self, block: Block, counts: Counts) -> bytes:
        going_on = block.before.within is not None
        selected = block.before.within if going_on else block.after.within
        is_piece = selected is not None
        parts, start = [], 0
        for document in [block.content] if is_piece else split_documents(block.content, self._options.document):
            parts.append(self._rewrite_document(document, counts, start, selected=selected))
            start += len(document)
        if going_on:  # this document was counted with its first piece
            counts.documents = counts.chosen = 0
        return b"".join(parts)

    def _rewrite_lines(self, block: Block, counts: Counts) -> bytes:
        """Rewrite whole lines of a JSON lines file; if they are the first of the file, the field must be there."""
        parts, start = [], 0
        first = block.before.rows == 0
        for number, line in enumerate(io.BytesIO(block.content), block.before.rows + 1):
            if line.strip():
                try:
                    line = self._rewrite_line(line, counts, start, first=first)
                except ValueError as error:
                    hint = (
                        ""
                        if "--column" in str(error)
                        else "; JSON lines have one object a line, else say --format text"
                    )
                    raise UnmaskError(f"{block.source.title}, line {number}: {error}{hint}") from None
                first = False
            parts.append(line)
            start += len(line)
        return b"".join(parts)

    def rewrite_values(self, texts: Sequence[bytes | None], counts: Counts) -> list[bytes | None]:
        """Rewrite the texts of a table's rows, in UTF-8."""
        values: list[bytes | None] = []
        for row, text in enumerate(texts):
            if text is None or not text.strip():
                counts.without_text += 1
                values.append(text)
                continue
            was_valid = counts.invalid_at is None
            values.append(self._rewrite_document(text, counts, 0))
            if was_valid and counts.invalid_at is not None:
                counts.invalid_at = row
        return values

    def _rewrite_document(
        self,
        document: bytes,
        counts: Counts,
        start: int,
        *,
        selected: bool | None = None,
        errors: str = "surrogateescape",
    ) -> bytes:
        """Rewrite a document if it is selected, without the white space around it.

        `selected` is given for a piece of a document. Returns the same object if nothing changes.
        """
        before, text, after = split_margins(document)
        if not text:
            return document
        counts.documents += 1
        if not (self._sampler.selects(text) if selected is None else selected):
            return document
        counts.chosen += 1
        parts = []
        start += len(before)
        changed = invalid = False
        for piece in split_pieces(text):
            decoded = piece.decode("utf-8", errors)
            if errors == "surrogateescape" and (index := _find_invalid(piece)) is not None:
                if counts.invalid_at is None:
                    counts.invalid_at = start + index
                invalid = True
            try:
                rewritten = self._rewriter.rewrite(decoded)
            except Exception as error:
                error.add_note(f"while rewriting the text that begins {decoded[:80]!r}")
                raise
            if rewritten.text == decoded:
                parts.append(piece)
            else:
                parts.append(rewritten.text.encode("utf-8", errors))
                changed = True
            counts.count_changes(rewritten)
            start += len(piece)
        counts.invalid_utf8 += invalid
        counts.changed += changed
        return b"".join((before, *parts, after)) if changed else document

    def _rewrite_line(self, line: bytes, counts: Counts, start: int, *, first: bool) -> bytes:
        margin = len(BOM) if line.startswith(BOM) else 0
        decoded = line[margin:].decode("utf-8", "surrogateescape")
        fields = read_json_fields(decoded)
        column = self._options.column
        matches = [each for each in fields if each.name == column]
        texts = [each for each in matches if each.has_string(decoded) and each.value.strip()]
        if first and not matches:
            names = quote(list(dict.fromkeys(each.name for each in fields)), most=12) or "no fields"
            raise ValueError(f"there is no field {column!r}; choose one with --column from: {names}")
        if first and not texts and matches[-1].value is not None and not matches[-1].has_string(decoded):
            raise ValueError(f"the field {column!r} holds no text; choose another with --column")
        if not texts:
            counts.without_text += 1
            return line
        parts = [line[:margin].decode("utf-8")]
        end = 0
        was_valid = counts.invalid_at is None
        for text in texts:
            parts += (decoded[end : text.start], self._rewrite_string(text, decoded, counts, start))
            end = text.end
        if was_valid and counts.invalid_at is not None:
            counts.invalid_at = start + (_find_invalid(line) or 0)
        return "".join((*parts, decoded[end:])).encode("utf-8", "surrogateescape")

    def _rewrite_string(self, string: JsonField, line: str, counts: Counts, start: int) -> str:
        written = line[string.start : string.end]
        errors = string_errors(written)
        if errors is None:
            counts.documents += 1
            counts.invalid_utf8 += 1
            counts.invalid_at = start if counts.invalid_at is None else counts.invalid_at
            return written
        text = string.value.encode("utf-8", errors)
        new = self._rewrite_document(text, counts, start, errors=errors)
        return written if new is text else write_json_string(new.decode("utf-8", errors), written)


def _find_invalid(text: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


SMALL = 1 << 20
"""Bytes that are rewritten here before other processes start."""
PARCEL = 1 << 17
"""Bytes that are sent to a process at once."""
PARCELS_IN_PROGRESS = 3
"""Parcels for each process that are sent or waiting to be written."""


class WorkerLostError(UnmaskError):
    """A process ended before its work was done."""

    def __init__(self) -> None:
        super().__init__("a worker process was lost, perhaps for lack of memory; run again with fewer --processes")


class Pool:
    """Rewrites blocks in order, in as many processes as asked for."""

    def __init__(self, options: FileRewriteOptions, factory: Factory) -> None:
        """Build a rewriter here; other processes start when they are needed (at once if their number is given)."""
        self._arguments = (options, factory)
        self._rewriter = BlockRewriter(options, factory)
        self._processes = count_cores() if options.processes is None else options.processes
        self._small = SMALL if options.processes is None else 0
        self._executor: ProcessPoolExecutor | None = None

    def rewrite_blocks(self, blocks: Iterable[Block]) -> Iterator[tuple[Block, Content, Counts]]:
        """Each block with its new content and what was counted in it."""
        waiting: deque[tuple[list[Block], Future[list[tuple[Content, Counts]]]]] = deque()
        parcel: list[Block] = []
        parcel_size = seen = 0
        for block in blocks:
            if self._executor is None and (self._processes == 1 or seen < self._small):
                yield block, *self._rewriter.rewrite_block(block)
                seen += block.size
                continue
            parcel.append(block)
            parcel_size += block.size + 100
            if parcel_size >= PARCEL:
                waiting.append((parcel, self._submit(parcel)))
                parcel, parcel_size = [], 0
            while len(waiting) > PARCELS_IN_PROGRESS * self._processes:
                yield from _collect(*waiting.popleft())
        if parcel:
            waiting.append((parcel, self._submit(parcel)))
        while waiting:
            yield from _collect(*waiting.popleft())

    def _submit(self, parcel: list[Block]) -> Future[list[tuple[Content, Counts]]]:
        try:
            if self._executor is None:
                context = multiprocessing.get_context("spawn")
                self._executor = ProcessPoolExecutor(
                    self._processes, context, initializer=_start_worker, initargs=self._arguments
                )
            with _block_interrupts():  # any submission may start a process
                return self._executor.submit(_rewrite_parcel, [replace(block, rows=None) for block in parcel])
        except BrokenProcessPool:
            raise WorkerLostError from None

    def close(self) -> None:
        """Stop the processes; work in progress is dropped."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)


def count_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _collect(
    parcel: list[Block], future: Future[list[tuple[Content, Counts]]]
) -> Iterator[tuple[Block, Content, Counts]]:
    try:
        results = future.result()
    except BrokenProcessPool:
        raise WorkerLostError from None
    for block, (content, counts) in zip(parcel, results, strict=True):
        yield block, content, counts


@contextmanager
def _block_interrupts() -> Iterator[None]:
    """Hold back Ctrl-C: a process that starts inherits this and ignores it; here it is delivered afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_rewriter: BlockRewriter | None = None  # of a process that was started by a pool


def _start_worker(options: FileRewriteOptions, factory: Factory) -> None:
    global _rewriter
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is a process for every core already
    _rewriter = BlockRewriter(options, factory)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody waits for the work any more


def _rewrite_parcel(blocks: list[Block]) -> list[tuple[Content, Counts]]:
    assert _rewriter is not None
    return [_rewriter.rewrite_block(block) for block in blocks]
