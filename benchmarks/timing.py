"""What some work costs, for all benchmarks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

import psutil
import torch


class Cost(NamedTuple):
    """Seconds by the clock, and of the processors."""

    wall: float
    cpu: float


def timed(work: Callable[[], object], times: float = 1) -> Cost:
    """What some work takes, or so many times it."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(times * (time.perf_counter() - wall), times * (time.process_time() - cpu))


def beside(rounds: Sequence[dict[str, Cost]], ours: str, bare: str, count: int, unit: str) -> None:
    """Print each way beside ours: how many of a unit a second, and the medians of the ratios of each turn."""
    print(f"{torch.get_num_threads()} thread(s), {psutil.cpu_count()} cores; torch {torch.__version__}")
    for name in rounds[0]:
        wall = median(one[name].wall for one in rounds)
        ratios = [
            median(getattr(one[name], clock) / getattr(one[ours], clock) for one in rounds) for clock in Cost._fields
        ]
        speed = f"{count / wall:8.1f} {unit}/s"
        print(f"{name:28} {speed}   {ratios[0]:5.2f} × the time of ours   {ratios[1]:5.2f} × CPU time")
    over = median(one[ours].wall / one[bare].wall for one in rounds)
    print(f"ours / bare forward pass: {over:.2f}")
    print(json.dumps([{name: cost._asdict() for name, cost in one.items()} for one in rounds]))
