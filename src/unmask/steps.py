"""The log of what is done and how long it takes: `unmask -v`, or the logger `unmask`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

LOG = logging.getLogger("unmask")


def say(line: str) -> None:
    """Log a line."""
    LOG.info("%s", line)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Log what is done, and then how long it took."""
    say(f"{what} …")
    start = perf_counter()
    yield
    say(f"{what}: {perf_counter() - start:.1f} s")
