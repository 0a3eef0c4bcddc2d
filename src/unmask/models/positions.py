"""How many tokens a model takes."""

from __future__ import annotations

from typing import Any


def most_tokens(model: Any) -> int | None:
    """The longest input of a model, or None where its positions have no end."""
    limit: int | None = getattr(model.config, "max_position_embeddings", None)
    if limit and _counts_from_padding(model):
        limit -= (model.config.pad_token_id or 0) + 1
    return limit


def _counts_from_padding(model: Any) -> bool:
    """RoBERTa and its kin number positions from the padding id up."""
    embeddings = getattr(model.base_model, "embeddings", None)
    table = getattr(embeddings, "position_embeddings", None)
    return getattr(table, "padding_idx", None) is not None
