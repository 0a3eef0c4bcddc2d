"""Ctrl-C while training: finish the step, keep a checkpoint, stop. A second Ctrl-C stops at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0
"""Seconds within which a second signal is taken for the first: a launcher passes on what the terminal has sent."""


@contextmanager
def listening() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether the user has asked to stop."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    first = 0.0

    def note(number: int, frame: Any) -> None:
        nonlocal first
        if asked.is_set() and callable(before) and time.monotonic() - first > PATIENCE:
            before(number, frame)
        first = first or time.monotonic()
        asked.set()

    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, note)
    try:
        yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, before)
