"""What all `transformers` models behind our interfaces have in common."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.models import engine
from unmask.models.interfaces import Progress
from unmask.models.positions import most_tokens
from unmask.results import ModelInfo


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
        self.token_budget = token_budget or engine.token_budget(next(model.parameters()).device.type)
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

    def _refuse_too_long(self, longest: int) -> None:
        """Refuse an input of more tokens than the model has positions for."""
        limit = most_tokens(self.model)
        if limit and longest > limit:
            raise UnmaskError(
                f"a sentence has {longest} tokens, but {self.name} takes {limit}, and nothing is cut off; shorten it"
            )

    def _refuse_strange_ids(self, highest: int) -> None:
        """Refuse token ids that the model has no embeddings for."""
        known = self.model.get_input_embeddings().weight.shape[0]
        if highest >= known:
            raise UnmaskError(
                f"{self.name}: the tokenizer gives id {highest}, but the model has {known} embeddings;"
                " give the tokenizer that belongs to the model"
            )
