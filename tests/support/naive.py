"""The naive way to score a row: one sentence at a time, no padding, no batches, the full vocabulary."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

from unmask.measures.association.data import AssociationRow, mask_letters


def pieces_at(tokenizer: Any, sentence: str, span: tuple[int, int]) -> list[int]:
    """Positions of the tokens of a span, from the number of tokens before it and up to its end."""
    start, end = span
    before, through = (len(tokenizer(text)["input_ids"]) - 1 for text in (sentence[:start].rstrip(), sentence[:end]))
    return list(range(before, through))


def log_p(model: Any, ids: list[int], position: int, token: int, attention: list[int] | None = None) -> float:
    """The log-probability of a token at a position."""
    return float(_log_p_all(model, tuple(ids), position, None if attention is None else tuple(attention))[token])


@lru_cache(maxsize=32768)
def _log_p_all(model: Any, ids: tuple[int, ...], position: int, attention: tuple[int, ...] | None) -> torch.Tensor:
    """Run a single input; the cache makes it possible to compare every row in reasonable time."""
    with torch.inference_mode():
        mask = None if attention is None else torch.tensor([attention])
        logits = model(input_ids=torch.tensor([ids]), attention_mask=mask).logits
    return torch.log_softmax(logits[0, position], dim=-1)


def chain(model: Any, tokenizer: Any, ids: list[int], target: list[int], hidden: list[int]) -> float:
    """The log-probability of a word: each piece given those before it."""
    total = 0.0
    for done in range(len(target)):
        masked = list(ids)
        for position in [*target[done:], *hidden]:
            masked[position] = tokenizer.mask_token_id
        total += log_p(model, masked, target[done], ids[target[done]])
    return total


def sound(model: Any, tokenizer: Any, row: AssociationRow) -> tuple[float, float]:
    """Target and prior log-probability, sound protocol."""
    ids = tokenizer(row.sentence)["input_ids"]
    target = pieces_at(tokenizer, row.sentence, row.target_span)
    attribute = pieces_at(tokenizer, row.sentence, row.attribute_span)
    return chain(model, tokenizer, ids, target, []), chain(model, tokenizer, ids, target, attribute)


def published(model: Any, tokenizer: Any, row: AssociationRow, length: int) -> tuple[float, float]:
    """Target and prior log-probability as the paper's code computes them."""
    target, _, both_masked = mask_letters(row)

    def padded(text: str) -> list[int]:
        ids = tokenizer(text)["input_ids"][:length]
        while len(ids) < length:
            ids.append(tokenizer.mask_token_id)
        return list(ids)

    position = padded(both_masked).index(tokenizer.mask_token_id)
    token = padded(row.sentence)[position]
    scores = []
    for text in (target, both_masked):
        ids = padded(text)
        scores.append(log_p(model, ids, position, token, [1 if token > 0 else 0 for token in ids]))
    return scores[0], scores[1]
