"""Batches by length, filled to a token budget; out of memory halves the budget and goes on.

Speed lives here, once, for all measures. What is asked is sorted by length, so a batch holds next to no padding, and
the result is scattered back to the order of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from unmask.errors import UnmaskError
from unmask.models.interfaces import Progress

TOKEN_BUDGET = 2048
"""On a CPU, which gains nothing from larger batches."""
GPU_TOKEN_BUDGET = 32768


def token_budget(device: str) -> int:
    """How many tokens a batch holds on a kind of device."""
    return GPU_TOKEN_BUDGET if device == "cuda" else TOKEN_BUDGET


def plan(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of places, shortest first; a batch is as wide as its longest, and at most `budget` tokens in all."""
    batches: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if batches and (len(batches[-1]) + 1) * lengths[place] <= budget:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches


def run(
    lengths: Sequence[int],
    forward: Callable[[list[int]], None],
    *,
    budget: int = TOKEN_BUDGET,
    progress: Progress | None = None,
) -> None:
    """Call `forward` with batches of places until every place was in one."""
    done: set[int] = set()
    while len(done) < len(lengths):
        todo = [place for place in range(len(lengths)) if place not in done]
        for batch in plan([lengths[place] for place in todo], budget):
            places = [todo[at] for at in batch]
            try:
                forward(places)
            except torch.OutOfMemoryError:
                if len(places) == 1:
                    raise UnmaskError(
                        f"out of memory on an input of {lengths[places[0]]} tokens; use a smaller model or --device cpu"
                    ) from None
                budget = max(lengths[places[-1]], len(places) * lengths[places[-1]] // 2)
                break
            done.update(places)
            if progress:
                progress(len(done), len(lengths))
