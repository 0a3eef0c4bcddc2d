"""The language-model head of a model, applied only at the tokens that are read.

A head multiplies each token with the whole vocabulary, which takes half of the time of a small model. For any
architecture, the output of the model's body is cut to those tokens on its way to the head. This works because heads
treat all tokens alike; a model for which it does not hold is detected by `head_runs_alone`, and run whole.
"""

from __future__ import annotations

from threading import Lock, get_ident
from typing import Any

import torch

from unmask.models.batching import Batch, pad

_HOOKS = Lock()  # adding hooks is not safe in threads


def logits_at(model: Any, batch: Batch, rows: torch.Tensor, columns: torch.Tensor, *, alone: bool) -> torch.Tensor:
    """The logits over the vocabulary at some tokens of a batch; `alone`: the head sees these only.

    Several threads may run one model at once.
    """
    thread = get_ident()

    def cut(_module: Any, _args: Any, output: Any) -> Any:
        if get_ident() != thread:
            return None  # the output of another batch stays as it is
        hidden = output[0][rows, columns].unsqueeze(1)
        if isinstance(output, tuple):
            return (hidden, *output[1:])
        output.last_hidden_state = hidden
        return output

    if not alone:
        whole: torch.Tensor = model(**batch).logits
        return whole[rows, columns]
    with _HOOKS:
        hook = _find_core(model).base_model.register_forward_hook(cut)
    try:
        logits: torch.Tensor = model(**batch).logits
    finally:
        with _HOOKS:
            hook.remove()
    return logits[:, 0]


def head_runs_alone(model: Any, tokenizer: Any) -> bool:
    """Whether cutting to a token before the head gives the same logits as after it.

    Raises an AttributeError where a model has no head.
    """
    core = _find_core(model)
    mask, ids = tokenizer.mask_token_id, tokenizer("")["input_ids"]
    padded = pad(tokenizer, [{"input_ids": row} for row in ([*ids, mask, mask], [mask, *ids, mask, mask])], left=False)
    device = next(core.parameters()).device
    batch = {name: tensor.to(device) for name, tensor in padded.items()}
    rows, columns = torch.tensor([0, 1], device=device), torch.tensor([1, 2], device=device)
    was_training = core.training
    core.eval()
    try:
        with torch.no_grad():
            whole = logits_at(core, batch, rows, columns, alone=False)
            if core.base_model is core:
                return False
            try:
                cut = logits_at(core, batch, rows, columns, alone=True)
            except (RuntimeError, IndexError, TypeError, AttributeError):
                return False
    finally:
        core.train(was_training)
    return cut.shape == whole.shape and bool(torch.allclose(cut, whole, atol=1e-4, rtol=1e-4, equal_nan=True))


def _find_core(model: Any) -> Any:
    """The model inside the wrappers of several processes and of adapters."""
    model = getattr(model, "module", model)
    return model.get_base_model() if hasattr(model, "get_base_model") else model
