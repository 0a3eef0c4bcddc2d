"""Rewriting blocks in this process, or in many: blocks go out, and come back in the order they were read in.

The number of blocks in progress is bounded, and so is memory. Small inputs are done in this process: starting others
would take longer than the work.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from unmask.errors import UnmaskError, quote
from unmask.rewriting.files.blocks import Block, json_fields, json_literal, split_documents, split_pieces, string_errors
from unmask.rewriting.files.summary import Counts
from unmask.rewriting.options import BOM, DocumentSampler, RewriteOptions, split_margins
from unmask.rewriting.result import Rewriter

Factory = Callable[[RewriteOptions], Rewriter]
Value = bytes | None


@dataclass(frozen=True)
class Task:
    """What every process must know: how to build its rewriter, and what a document is."""

    factory: Factory
    settings: RewriteOptions
    choice: DocumentSampler
    document: str = "paragraph"
    column: str = "text"

    def hand(self) -> BlockRewriter:
        """Build the rewriter, once a process."""
        return BlockRewriter(self.factory(self.settings), self)


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines of a JSON lines file."""

    content: bytes
    first: bool
    """Whether these are the first ones of the file: then the field must be there."""


@dataclass(frozen=True, slots=True)
class Values:
    """Some rows of a table's text column, in UTF-8."""

    content: Sequence[Value]


Work = Block | Lines | Values


@dataclass(slots=True)
class Outcome:
    """What came of a block."""

    content: bytes = b""
    values: list[Value] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    lines: int = 0
    invalid_at: int | None = None
    """Where the first bytes that are not UTF-8 stand, in bytes (values: in rows) from the beginning of the block."""
    bad_line: tuple[int, str] | None = None
    """The number in the block of a line that cannot be read, and why."""


class BlockRewriter:
    """A rewriter at work on blocks."""

    def __init__(self, rewriter: Rewriter, task: Task) -> None:
        """Take the rewriter, and what to do with it."""
        self.rewriter = rewriter
        self.task = task

    def work(self, work: Work) -> Outcome:
        """Rewrite a block."""
        if isinstance(work, Block):
            return self._text(work)
        if isinstance(work, Lines):
            return self._lines(work)
        return self._values(work)

    def _text(self, block: Block) -> Outcome:
        outcome = Outcome()
        parts = []
        place = 0
        whole = block.piece_of is None
        for document in split_documents(block.content, self.task.document) if whole else [block.content]:
            parts.append(self._document(document, outcome, place, piece_of=block.piece_of))
            place += len(document)
        outcome.content = b"".join(parts)
        if not block.begins:  # this document has been counted
            outcome.counts.documents = outcome.counts.chosen = 0
        return outcome

    def _document(
        self,
        document: bytes,
        outcome: Outcome,
        place: int,
        *,
        piece_of: bool | None = None,
        errors: str = "surrogateescape",
    ) -> bytes:
        """Rewrite a document if it is chosen, but not the white space around it; the same object if nothing changes."""
        before, text, after = split_margins(document)
        if not text:
            return document
        counts = outcome.counts
        counts.documents += 1
        if not (self.task.choice.selects(text) if piece_of is None else piece_of):
            return document
        counts.chosen += 1
        new = self._rewrite(text, outcome, place + len(before), errors)
        if new is text:
            return document
        counts.changed += 1
        return before + new + after

    def _rewrite(self, text: bytes, outcome: Outcome, place: int, errors: str) -> bytes:
        parts = []
        changed = invalid = False
        for piece in split_pieces(text):
            decoded = piece.decode("utf-8", errors)
            if errors == "surrogateescape" and not decoded.isascii() and (at := _invalid_at(piece)) is not None:
                if outcome.invalid_at is None:
                    outcome.invalid_at = place + at
                invalid = True
            try:
                done = self.rewriter.rewrite(decoded)
            except Exception as error:
                error.add_note(f"while rewriting the text that begins {decoded[:80]!r}")
                raise
            if done.text == decoded:
                parts.append(piece)
            else:
                parts.append(done.text.encode("utf-8", errors))
                changed = True
            outcome.counts.note(done)
            place += len(piece)
        outcome.counts.invalid += invalid
        return b"".join(parts) if changed else text

    def _lines(self, lines: Lines) -> Outcome:
        outcome = Outcome()
        parts = []
        first = lines.first
        place = 0
        for number, line in enumerate(_split(lines.content)):
            if line.strip():
                try:
                    parts.append(self._line(line, outcome, place, first=first))
                except ValueError as error:
                    outcome.bad_line = (number, str(error))
                    return outcome
                first = False
            else:
                parts.append(line)
            outcome.lines += 1
            place += len(line)
        outcome.content = b"".join(parts)
        return outcome

    def _line(self, line: bytes, outcome: Outcome, place: int, *, first: bool) -> bytes:
        start = len(BOM) if line.startswith(BOM) else 0
        decoded = line[start:].decode("utf-8", "surrogateescape")
        found = json_fields(decoded)
        ours = [one for one in found if one.name == self.task.column]
        texts = [one for one in ours if isinstance(one.value, str) and decoded[one.start] == '"' and one.value.strip()]
        if first and not ours:
            known = quote(list(dict.fromkeys(one.name for one in found)), most=12) or "no fields"
            raise ValueError(f"there is no field {self.task.column!r}; choose one with --column from: {known}")
        if first and not texts and ours[-1].value is not None and decoded[ours[-1].start] != '"':
            raise ValueError(f"the field {self.task.column!r} holds no text; choose another with --column")
        if not texts:
            outcome.counts.without_text += 1
            return line
        parts = [line[:start].decode("utf-8")]
        end = 0
        invalid_before = outcome.invalid_at is not None
        for one in texts:
            new = self._string(decoded[one.start : one.end], one.value, outcome, place)
            parts += (decoded[end : one.start], new)
            end = one.end
        if not invalid_before and outcome.invalid_at is not None:
            outcome.invalid_at = place + (_invalid_at(line) or 0)
        return "".join((*parts, decoded[end:])).encode("utf-8", "surrogateescape")

    def _string(self, written: str, value: str, outcome: Outcome, place: int) -> str:
        errors = string_errors(written)
        if errors is None:
            outcome.counts.documents += 1
            outcome.counts.invalid += 1
            outcome.invalid_at = place if outcome.invalid_at is None else outcome.invalid_at
            return written
        text = value.encode("utf-8", errors)
        new = self._document(text, outcome, place, errors=errors)
        return written if new is text else json_literal(new.decode("utf-8", errors), written)

    def _values(self, values: Values) -> Outcome:
        outcome = Outcome()
        for row, text in enumerate(values.content):
            if text is None or not text.strip():
                outcome.counts.without_text += 1
                outcome.values.append(text)
                continue
            known = outcome.invalid_at
            outcome.values.append(self._document(text, outcome, 0))
            if known is None and outcome.invalid_at is not None:
                outcome.invalid_at = row
        return outcome


def _split(content: bytes) -> list[bytes]:
    """Lines that end with a newline and nothing else."""
    found = [line + b"\n" for line in content.split(b"\n")]
    found[-1] = found[-1][:-1]
    return found if found[-1] else found[:-1]


def _invalid_at(text: bytes) -> int | None:
    """Where the first byte that is not UTF-8 stands."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


SMALL = 1 << 20
PARCEL = 1 << 17
"""Bytes that go to a process at once."""
UNDER_WAY = 3
"""Parcels a process that are sent or waiting to be written."""

Label = TypeVar("Label")


class WorkerLostError(UnmaskError):
    """A process ended before its work did."""


class Pool(Generic[Label]):
    """Maps blocks to outcomes, in order; whatever label comes with a block comes back with its outcome."""

    def __init__(self, task: Task, processes: int | None = None) -> None:
        """Build a rewriter here; other processes start when they are needed (at once if their number is given)."""
        self._task = task
        self._hand = task.hand()
        self._processes = cores() if processes is None else processes
        self._small = SMALL if processes is None else 0
        self._executor: ProcessPoolExecutor | None = None

    def map(self, work: Iterable[tuple[Label, Work | None]]) -> Iterator[tuple[Label, Outcome]]:
        """Do the work; where there is none, the label comes back with an empty outcome."""
        waiting: deque[tuple[list[tuple[Label, Work | None]], Future[list[Outcome]]]] = deque()
        parcel: list[tuple[Label, Work | None]] = []
        size = seen = 0
        for label, block in work:
            if self._executor is None and (self._processes == 1 or seen < self._small):
                yield label, self._hand.work(block) if block else Outcome()
                seen += _size(block)
                continue
            parcel.append((label, block))
            size += _size(block) + 100
            if size >= PARCEL:
                waiting.append((parcel, self._submit(parcel)))
                parcel, size = [], 0
            while len(waiting) > UNDER_WAY * self._processes:
                yield from _collect(*waiting.popleft())
        if parcel:
            waiting.append((parcel, self._submit(parcel)))
        while waiting:
            yield from _collect(*waiting.popleft())

    def _submit(self, parcel: list[tuple[Label, Work | None]]) -> Future[list[Outcome]]:
        blocks = [block for _, block in parcel if block is not None]
        try:
            if self._executor is None:
                self._executor = ProcessPoolExecutor(
                    self._processes, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(self._task,)
                )
            with _deaf():  # any submission may start a process
                return self._executor.submit(_work, blocks)
        except BrokenProcessPool:
            raise _lost() from None

    def close(self) -> None:
        """Let the processes go; what is under way is forgotten."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _collect(parcel: list[tuple[Label, Work | None]], future: Future[list[Outcome]]) -> Iterator[tuple[Label, Outcome]]:
    try:
        outcomes = iter(future.result())
    except BrokenProcessPool:
        raise _lost() from None
    for label, block in parcel:
        yield label, Outcome() if block is None else next(outcomes)


def _lost() -> WorkerLostError:
    return WorkerLostError(
        "a process ended before its work did (was memory short?); nothing of its part was written: try again with fewer"
        " --processes"
    )


def _size(block: Work | None) -> int:
    if isinstance(block, Block | Lines):
        return len(block.content)
    return sum(len(value or b"") for value in block.content) if isinstance(block, Values) else 0


@contextmanager
def _deaf() -> Iterator[None]:
    """While processes start, Ctrl-C is not for them: they inherit that it is held back; here it comes afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_rewriter: BlockRewriter | None = None


def _begin(task: Task) -> None:
    global _rewriter
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is a process for every core already
    _rewriter = task.hand()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody waits for the work any more


def _work(blocks: list[Work]) -> list[Outcome]:
    assert _rewriter is not None
    return [_rewriter.work(block) for block in blocks]
