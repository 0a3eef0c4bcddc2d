"""All cores at once: blocks go out to processes, and come back in the order they were read in.

The number of blocks that are under way is bounded, and so is memory. Small inputs are done in this process: starting
others would take longer than the work.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Generic, TypeVar

from unmask.errors import UnmaskError
from unmask.rewriting.blocks import Block
from unmask.rewriting.work import Hand, Lines, Outcome, Task, Values, Work

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


_hand: Hand | None = None


def _begin(task: Task) -> None:
    global _hand
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is a process for every core already
    _hand = task.hand()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody waits for the work any more


def _work(blocks: list[Work]) -> list[Outcome]:
    assert _hand is not None
    return [_hand.work(block) for block in blocks]
