"""What some work costs, for all benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds by the clock, and of the processors."""

    wall: float
    cpu: float


def timed(work: Callable[[], object], times: float = 1) -> Cost:
    """What some work takes, or so many times it."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(times * (time.perf_counter() - wall), times * (time.process_time() - cpu))
