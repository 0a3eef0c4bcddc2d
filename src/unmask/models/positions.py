"""How many tokens a model takes."""

from __future__ import annotations

from typing import Any


def most_tokens(model: Any) -> int | None:
    """The longest input of a model, or None where its positions have no end."""
    limit = getattr(model.config, "max_position_embeddings", None) or 0
    return limit - _before_the_first(model) if limit > 0 else None  # XLNet says -1


def _before_the_first(model: Any) -> int:
    """How many positions no token has: RoBERTa and its kin count from the padding index of their table up."""
    embeddings = getattr(model.base_model, "embeddings", None)
    table = getattr(embeddings, "position_embeddings", None)
    padding: int | None = getattr(table, "padding_idx", None)
    return 0 if padding is None else padding + 1
