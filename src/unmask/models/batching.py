"""Running a loaded `transformers` model in batches of similar length, filled to a token budget.

Speed lives here, once, for all measures. Inputs are sorted by length, so a batch holds next to no padding, and results
are scattered back to their original order. Out of memory halves the budget and continues.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.models.roles import Progress
from unmask.results import ModelInfo

TOKEN_BUDGET = 2048
"""On a CPU, which gains nothing from larger batches."""
GPU_TOKEN_BUDGET = 32768


def default_token_budget(device: str) -> int:
    """How many tokens a batch holds on a kind of device."""
    return GPU_TOKEN_BUDGET if device == "cuda" else TOKEN_BUDGET


def plan_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Batches of places, shortest first; a batch is as wide as its longest, and at most `budget` tokens in all."""
    batches: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda place: lengths[place]):
        if batches and (len(batches[-1]) + 1) * lengths[place] <= budget:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches


def run_batches(
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
        for batch in plan_batches([lengths[place] for place in todo], budget):
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


def max_tokens(model: Any) -> int | None:
    """The longest input of a model, or None where its positions have no end."""
    limit = getattr(model.config, "max_position_embeddings", None) or 0
    return limit - _before_the_first(model) if limit > 0 else None  # XLNet says -1


def _before_the_first(model: Any) -> int:
    """How many positions no token has: RoBERTa and its kin count from the padding index of their table up."""
    embeddings = getattr(model.base_model, "embeddings", None)
    table = getattr(embeddings, "position_embeddings", None)
    padding: int | None = getattr(table, "padding_idx", None)
    return 0 if padding is None else padding + 1


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

        A budget of None is what suits the device that the model is on.
        `mitigation` is what a mitigation has written beside the model, if it came from one; `revision` is
        the commit of the hub that it is of.
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
        made = self.mitigation if self.mitigation.get("weight_hash") == weights else {}  # not if trained on since
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
            mitigation=made.get("method"),
            parent_weight_hash=(made.get("parent") or {}).get("weight_hash"),
        )

    def _check_too_long(self, longest: int) -> None:
        """Refuse an input of more tokens than the model has positions for."""
        limit = max_tokens(self.model)
        if limit and longest > limit:
            raise UnmaskError(
                f"a sentence has {longest} tokens, but {self.name} takes {limit}, and nothing is cut off; shorten it"
            )

    def _check_strange_ids(self, highest: int) -> None:
        """Refuse token ids that the model has no embeddings for."""
        known = self.model.get_input_embeddings().weight.shape[0]
        if highest >= known:
            raise UnmaskError(
                f"{self.name}: the tokenizer gives id {highest}, but the model has {known} embeddings;"
                " give the tokenizer that belongs to the model"
            )
