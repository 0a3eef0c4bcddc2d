"""An affine map of a model's last hidden states, folded into the weights of whatever reads them.

A layer that computes `W h + b` of a hidden state h computes `(W M) h + (W c + b)` of it once the map `h → M h + c`
stands before it; so the map can live in the layer's own weights, and the saved model needs no code of ours. The layers
that read the last hidden state (the transform of a language-model head, a pooler, a classifier) are found by watching
a forward pass, for any architecture. What a user takes from `last_hidden_state` herself comes before these layers, and
is not changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError


def fold(
    readers: Iterable[tuple[str, torch.nn.Linear]], matrix: NDArray[np.float64], shift: NDArray[np.float64]
) -> None:
    """Fold the map into layers that read the last hidden state (`find_readers`)."""
    with torch.no_grad():
        for name, layer in readers:
            weight = layer.weight.double()
            factor = torch.from_numpy(np.asarray(matrix, np.float64)).to(weight)
            added = weight @ torch.from_numpy(np.asarray(shift, np.float64)).to(weight)
            if layer.bias is None and added.abs().max() > 0:
                raise ValueError(f"{name} has no bias to hold the constant of a map")
            layer.weight.copy_((weight @ factor).to(layer.weight))
            if layer.bias is not None:
                layer.bias.copy_((layer.bias.double() + added).to(layer.bias))


def find_readers(model: Any, inputs: dict[str, torch.Tensor]) -> list[tuple[str, torch.nn.Linear]]:
    """The linear layers whose input is the last hidden state, at all places or at one."""
    seen, last = watched(model, inputs, torch.nn.Linear)
    found = [
        (name, model.get_submodule(name))
        for name, calls in seen.items()
        if any(_reads(given, last) for given, _ in calls)
    ]
    if not found:
        raise UnmaskError(
            f"no linear layer of {type(model).__name__} reads its last hidden state, so nothing can be folded into it;"
            " choose a method that trains the model"
        )
    return found


Calls = dict[str, list[tuple[torch.Tensor, torch.Tensor]]]


def watched(model: Any, inputs: dict[str, torch.Tensor], *kinds: type[torch.nn.Module]) -> tuple[Calls, torch.Tensor]:
    """Run the model once; gives what went in and out of the layers of some kinds, and the last hidden state."""
    calls: Calls = {}
    hidden: list[torch.Tensor] = []

    def watch(name: str) -> Any:
        def note(_module: Any, arguments: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
            calls.setdefault(name, []).append((arguments[0].detach(), output.detach()))

        return note

    hooks = [
        layer.register_forward_hook(watch(name)) for name, layer in model.named_modules() if isinstance(layer, kinds)
    ]
    hooks.append(model.base_model.register_forward_hook(lambda _m, _a, output: hidden.append(output[0].detach())))
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            model(**inputs)
    finally:
        model.train(was_training)
        for hook in hooks:
            hook.remove()
    return calls, hidden[-1]


def _reads(given: torch.Tensor, last: torch.Tensor) -> bool:
    if given.shape[-1] != last.shape[-1]:
        return False
    if given.shape == last.shape:
        return torch.equal(given, last)
    if given.dim() == 2 and given.shape[0] == last.shape[0]:
        return any(torch.equal(given, last[:, at]) for at in (0, -1))
    return given.dim() == 2 and torch.equal(given, last.reshape(-1, last.shape[-1]))
