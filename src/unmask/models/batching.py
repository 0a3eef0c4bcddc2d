"""Running a loaded `transformers` model in batches of similar length, filled to a token budget.

Speed lives here, once, for all measures. Inputs are sorted by length, so a batch holds next to no padding, and results
are scattered back to their original order. Out of memory halves the budget and continues.

On a CPU, batches run side by side, each on its share of the threads. The threads of one operation of a small model wait
for each other more than they compute, above all where other work runs on the machine. Scores are the same to the last
bit, whatever the number of threads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from unmask.errors import UnmaskError
from unmask.models.roles import Progress, describe_mitigation
from unmask.results import ModelInfo

TOKEN_BUDGET = 2048
"""On a CPU, which gains nothing from larger batches."""
GPU_TOKEN_BUDGET = 32768
MOST_AT_ONCE = 4
"""Batches that run side by side, which all need memory."""
IGNORED = -100
"""The label of a token that is not to be predicted."""
MOST_PACKED_BYTES = 2**30
"""The most bytes of linear layers that are copied for oneDNN: a larger model keeps the memory."""
PACKED_ROWS = 2048
"""How many rows the copies are arranged for; fewer tokens are not worth a copy."""
Batch = dict[str, torch.Tensor]


def default_token_budget(device: str) -> int:
    """How many tokens a batch holds on a kind of device."""
    return GPU_TOKEN_BUDGET if device == "cuda" else TOKEN_BUDGET


def plan_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of indices, shortest first; a batch is as wide as its longest, and at most `budget` tokens in all."""
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batches and (len(batches[-1]) + 1) * lengths[index] <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def run_batches(
    lengths: Sequence[int],
    forward: Callable[[list[int]], None],
    *,
    budget: int = TOKEN_BUDGET,
    progress: Progress | None = None,
    at_once: int = 1,
) -> None:
    """Call `forward` with batches of indices until every index was in one; `at_once` of them in threads."""

    def has_memory(indices: list[int]) -> bool:
        try:
            forward(indices)
        except torch.OutOfMemoryError:
            return False
        return True

    done: set[int] = set()
    while len(done) < len(lengths):
        remaining = [index for index in range(len(lengths)) if index not in done]
        plan = plan_batches([lengths[index] for index in remaining], budget)
        batches = [[remaining[index] for index in batch] for batch in plan]
        with _share_threads(min(at_once, len(batches))) as run:
            for indices, is_done in zip(batches, run(has_memory, batches), strict=True):
                longest = lengths[indices[-1]]
                if not is_done and len(indices) == 1:
                    raise UnmaskError(
                        f"out of memory on an input of {longest} tokens; use a smaller model or --device cpu"
                    )
                if not is_done:
                    budget = max(longest, len(indices) * longest // 2)
                    break
                done.update(indices)
                if progress:
                    progress(len(done), len(lengths))


@contextmanager
def _share_threads(at_once: int) -> Iterator[Callable[..., Iterator[bool]]]:
    """Yield a function that works like `map`, in threads that share those of torch."""
    if at_once < 2:
        yield map
        return
    threads, pool = torch.get_num_threads(), ThreadPoolExecutor(at_once)
    torch.set_num_threads(max(1, threads // at_once))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


@contextmanager
def fast_linear_layers(model: torch.nn.Module, *, tokens: int = PACKED_ROWS) -> Iterator[None]:
    """Compute the float32 linear layers of a model on a CPU with oneDNN, without gradients.

    Weights, hooks and names of the model stay as they are. Nothing changes where oneDNN cannot do it, and for so few
    `tokens` that copying the weights would take longer.
    """
    layers = [module for module in model.modules() if type(module) is torch.nn.Linear and _fits(module)]
    if tokens < PACKED_ROWS or sum(layer.weight.nbytes for layer in layers) > MOST_PACKED_BYTES or not _has_onednn():
        layers = []
    try:
        for layer in layers:
            vars(layer)["forward"] = _pack(layer.weight.detach(), layer.bias)
        yield
    finally:
        for layer in layers:
            vars(layer).pop("forward", None)


def _fits(layer: torch.nn.Linear) -> bool:
    is_plain = layer.weight.device.type == "cpu" and layer.weight.dtype == torch.float32
    return is_plain and "forward" not in vars(layer) and not hasattr(layer, "parametrizations")


def _pack(weight: torch.Tensor, bias: torch.Tensor | None) -> Callable[[torch.Tensor], torch.Tensor]:
    """A linear function with a copy of the weight, arranged as oneDNN wants it."""
    operators: Any = torch.ops.mkldnn
    with torch.no_grad():
        packed = operators._reorder_linear_weight(weight, PACKED_ROWS)
    return partial(_apply, packed, None if bias is None else bias.detach())


def _apply(packed: torch.Tensor, bias: torch.Tensor | None, values: torch.Tensor) -> torch.Tensor:
    operators: Any = torch.ops.mkldnn
    result: torch.Tensor = operators._linear_pointwise(values, packed, bias, "none", [], "")
    return result


@cache
def _has_onednn() -> bool:
    """Whether PyTorch has these operators, which are not public, and they compute what they should."""
    draw = torch.Generator().manual_seed(0)
    values, weight, bias = (torch.randn(size, generator=draw) for size in ((5, 24), (16, 24), (16,)))
    try:
        found = _pack(weight, bias)(values)
    except (AttributeError, RuntimeError):
        return False
    return torch.allclose(found, functional.linear(values, weight, bias), atol=1e-4)


def pad(tokenizer: Any, rows: Sequence[Mapping[str, Any]], *, left: bool | None = None) -> Batch:
    """Pad rows to the longest, and add an attention mask if they have none.

    This does what `tokenizer.pad` does in a fraction of its time: a step of a small model takes some 20 ms on a GPU,
    and the tokenizer's own padding would be a quarter of that.

    Args:
        tokenizer: Its padding tokens are used.
        rows: Token ids and the like by name; all rows have the same names.
        left: Whether to pad on the left; by default on the tokenizer's side.

    Returns:
        One tensor for each name, with a row for each input.
    """
    left = tokenizer.padding_side == "left" if left is None else left
    fill = {
        "input_ids": tokenizer.pad_token_id or 0,
        "token_type_ids": tokenizer.pad_token_type_id,
        "labels": IGNORED,
    }
    lengths = [len(row["input_ids"]) for row in rows]
    shape = (len(rows), max(lengths))
    batch = {}
    for name in dict.fromkeys((*rows[0], "attention_mask")):
        padded = np.full(shape, fill.get(name, 0), dtype=np.int64)
        for index, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            columns = slice(shape[1] - length, None) if left else slice(length)
            padded[index, columns] = row.get(name, 1)
        batch[name] = torch.from_numpy(padded)
    return batch


def move_batch(batch: Batch, device: torch.device | str) -> Batch:
    """Return the tensors of a batch on a device."""
    return {name: tensor.to(device) for name, tensor in batch.items()}


def max_tokens(model: Any) -> int | None:
    """The longest input of a model, or None where its positions have no end."""
    limit = getattr(model.config, "max_position_embeddings", None) or 0
    if limit <= 0:  # XLNet says -1
        return None
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding: int | None = getattr(table, "padding_idx", None)
    return limit if padding is None else limit - padding - 1  # RoBERTa counts positions from its padding index up


def shorten(text: str | tuple[str, str], most: int = 60) -> str:
    """Quote the beginning of a text, or of a pair, for an error message."""
    line = text if isinstance(text, str) else " / ".join(text)
    return repr(line if len(line) <= most else f"{line[:most].rstrip()} …")


def weight_hash(model: Any) -> str:
    """A SHA-256 over the names and bytes of all weights; the same wherever the model is loaded from."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


class LoadedModel:
    """A model in evaluation mode, its tokenizer, and how to run them."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str = "",
        token_budget: int | None = None,
        progress: Progress | None = None,
        mitigation: Mapping[str, Any] | None = None,
        revision: str | None = None,
    ) -> None:
        """Take a `PreTrainedModel` and its tokenizer; a batch holds at most `token_budget` tokens.

        A budget of None is the default of the device that the model is on. `mitigation` is the record of the
        mitigation that made the model, if one did; `revision` is its commit on the hub.
        """
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.name = name or getattr(model, "name_or_path", "") or type(model).__name__
        self.token_budget = token_budget or default_token_budget(next(model.parameters()).device.type)
        self.progress = progress
        self.mitigation = mitigation or {}
        self.revision = revision

    def info(self) -> ModelInfo:
        """Which model this is, exactly."""
        parameter = next(self.model.parameters())
        weights = weight_hash(self.model)
        return ModelInfo(
            name=self.name,
            revision=self.revision,
            architecture=type(self.model).__name__,
            parameters=sum(parameter.numel() for parameter in self.model.parameters()),
            weight_hash=weights,
            tokenizer=type(self.tokenizer).__name__,
            vocabulary=len(self.tokenizer),
            dtype=str(parameter.dtype).removeprefix("torch."),
            device=str(parameter.device),
            **describe_mitigation(self.mitigation, weights),
        )

    @property
    def device(self) -> torch.device:
        """The device that the model is on."""
        device: torch.device = next(self.model.parameters()).device
        return device

    def _run_batches(self, lengths: Sequence[int], forward: Callable[[list[int]], None]) -> None:
        """Call `forward`, which several threads may do at once, with batches of inputs."""
        at_once = min(MOST_AT_ONCE, torch.get_num_threads()) if self.device.type == "cpu" else 1
        with fast_linear_layers(self.model, tokens=sum(lengths)):
            run_batches(lengths, forward, budget=self.token_budget, progress=self.progress, at_once=at_once)

    def _check_length(self, longest: int) -> None:
        """Raise an error for an input of more tokens than the model has positions for."""
        limit = max_tokens(self.model)
        if limit and longest > limit:
            raise UnmaskError(
                f"a sentence has {longest} tokens, but {self.name} takes {limit}, and nothing is cut off; shorten it"
            )

    def _check_ids(self, highest: int) -> None:
        """Raise an error for token ids that the model has no embeddings for."""
        count = self.model.get_input_embeddings().weight.shape[0]
        if highest >= count:
            raise UnmaskError(
                f"{self.name}: the tokenizer gives id {highest}, but the model has {count} embeddings;"
                " give the tokenizer that belongs to the model"
            )

    def _check_finite(
        self, outputs: NDArray[np.floating[Any]], text_at: Callable[[int], str | tuple[str, str]]
    ) -> None:
        """Raise an error for outputs (one a row) that are not finite; `text_at` gives the text of a row."""
        invalid = np.flatnonzero(~np.isfinite(outputs).all(axis=tuple(range(1, outputs.ndim))))
        if invalid.size:
            text = shorten(text_at(int(invalid[0])))
            raise UnmaskError(f"{self.name} gives no finite output for {text}; check the weights, or use a wider dtype")
