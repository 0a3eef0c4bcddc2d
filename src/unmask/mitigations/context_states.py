"""Hidden states, and the two parts of Context-Debias's loss as functions of them; formulas in `context_task`.

States are layers (that of the embeddings first) × rows × tokens × dimensions.
"""

from __future__ import annotations

from typing import Any

import torch

from unmask.training.tasks import Batch


def hidden_states(model: Any, batch: Batch) -> torch.Tensor:
    """The states of a batch; the head plays no part, so only the layers below it are run."""
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return torch.stack(model.base_model(**inputs, output_hidden_states=True).hidden_states)


def pooled(states: torch.Tensor, groups: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean state of each group of tokens (layers × groups × dimensions), and the row that it stands in.

    Groups are numbered from 1 in each row; 0 is no group.
    """
    rows, places = groups.nonzero(as_tuple=True)
    step = int(groups.max()) + 1
    names, inverse = torch.unique(rows * step + groups[rows, places], return_inverse=True)
    sizes = torch.bincount(inverse, minlength=len(names))
    totals = torch.zeros(len(states), len(names), states.shape[-1]).to(states)
    return totals.index_add(1, inverse, states[:, rows, places]) / sizes[:, None], names // step


def orthogonality(
    states: torch.Tensor, groups: torch.Tensor, vectors: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean of Σ_g ⟨v(g), E⟩² over a row's groups and the layers, for each row; and each group's mean |cosine|.

    `vectors` are layers × genders × dimensions; the cosines, for the record, groups × genders.
    """
    words, rows = pooled(states, groups)
    products = torch.einsum("lwd,lgd->wlg", words, vectors)
    with torch.no_grad():
        lengths = words.norm(dim=-1).T[:, :, None] * vectors.norm(dim=-1)
        cosines = (products / lengths.clamp_min(1e-12)).abs().mean(dim=1)
    squares = products.pow(2).sum(dim=-1).mean(dim=-1)
    totals = torch.zeros(len(groups)).to(squares).index_add(0, rows, squares)
    return totals / torch.bincount(rows, minlength=len(groups)), cosines


def preservation(states: torch.Tensor, before: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """The mean squared change of the states of each row, over layers, dimensions and the tokens attended to."""
    changes = (states - before).pow(2).mean(dim=(0, 3))
    return (changes * attention).sum(dim=1) / attention.sum(dim=1)
