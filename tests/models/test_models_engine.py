"""Batching: every input once and within the budget; running out of memory halves the budget."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmask.errors import UnmaskError
from unmask.models import batching
from unmask.models.batching import plan_batches, run_batches
from unmask.models.handle import ModelHandle
from unmask.models.roles import MaskQuery, WordInSentence

lengths_of = st.lists(st.integers(1, 60), max_size=80)


@given(lengths_of, st.integers(1, 300))
def test_a_plan_has_every_place_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = plan_batches(lengths, budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget


@given(lengths_of, st.integers(1, 300), st.integers(60, 200), st.sampled_from([1, 3]))
def test_out_of_memory_leaves_nothing_out(lengths: list[int], budget: int, memory: int, at_once: int) -> None:
    processed: list[int] = []

    def forward(indices: list[int]) -> None:
        if len(indices) * max(lengths[index] for index in indices) > memory:
            raise torch.OutOfMemoryError
        processed.extend(indices)

    run_batches(lengths, forward, budget=budget, at_once=at_once)
    every = sorted(processed) if at_once == 1 else sorted(set(processed))  # in threads, a batch may be run again
    assert every == list(range(len(lengths)))


def test_an_input_too_large_for_the_machine_is_said_to_be() -> None:
    def forward(_: list[int]) -> None:
        raise torch.OutOfMemoryError

    with pytest.raises(UnmaskError, match="out of memory on an input of 7 tokens"):
        run_batches([7, 7, 7], forward, budget=100)


@pytest.fixture
def keep_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("keep_threads")
def test_batches_side_by_side_share_the_threads_of_torch() -> None:
    torch.set_num_threads(4)
    used: list[int] = []
    run_batches([5, 5, 5], lambda _: used.append(torch.get_num_threads()), budget=5, at_once=2)
    assert used == [2, 2, 2]
    assert torch.get_num_threads() == 4


@pytest.mark.usefixtures("keep_threads")
def test_scores_are_the_same_whatever_the_number_of_threads() -> None:
    texts = [f"{start} is a {job}." for start in ("She", "The old man") for job in ("nurse", "captain", "ship builder")]
    queries = [MaskQuery(text, (0, text.index(" is"))) for text in texts]
    words = [WordInSentence(text, (text.index("is a") + 5, len(text) - 1)) for text in texts]
    results = []
    for threads in (1, 2, 4):
        torch.set_num_threads(threads)
        handle = ModelHandle("unmask-mini")
        masked_lm, encoder = handle.masked_lm(), handle.encoder()
        for model in (masked_lm, encoder):
            assert isinstance(model, batching.LoadedModel)
            model.token_budget = 16
        results.append(
            (masked_lm.log_probability(queries).tolist(), encoder.embed(words, layers=4, pooling="mean").tolist())
        )
    assert results[0] == results[1] == results[2]


def test_progress_ends_at_the_whole() -> None:
    seen: list[tuple[int, int]] = []
    run_batches([3, 5, 4], lambda _: None, budget=5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
