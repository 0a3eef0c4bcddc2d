"""Batching: every input once and within the budget; running out of memory halves the budget."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import UnmaskError
from unmask.models.batching import plan_batches, run_batches

lengths_of = st.lists(st.integers(1, 60), max_size=80)


@given(lengths_of, st.integers(1, 300))
def test_a_plan_has_every_place_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = plan_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


@given(lengths_of, st.integers(1, 300), st.integers(60, 200))
def test_out_of_memory_leaves_nothing_out(lengths: list[int], budget: int, memory: int) -> None:
    processed: list[int] = []

    def forward(indices: list[int]) -> None:
        if len(indices) * max(lengths[index] for index in indices) > memory:
            raise torch.OutOfMemoryError
        processed.extend(indices)

    run_batches(lengths, forward, budget=budget)
    assert sorted(processed) == list(range(len(lengths)))


def test_an_input_too_large_for_the_machine_is_said_to_be() -> None:
    def forward(_: list[int]) -> None:
        raise torch.OutOfMemoryError

    with pytest.raises(UnmaskError, match="out of memory on an input of 7 tokens"):
        run_batches([7, 7, 7], forward, budget=100)


def test_progress_ends_at_the_whole() -> None:
    seen: list[tuple[int, int]] = []
    run_batches([3, 5, 4], lambda _: None, budget=5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
