"""Building an erasure into the weights of a model, so that the saved model needs no code of ours.

Most encoders end with `h = γ ⊙ norm(u + W₂ act(W₁ u + b₁) + b₂) + β`, where u is the input of the last feed-forward
block. An erasure `h → h - A Bᵀ(h - c)` cannot stand after the normalisation, but it can stand before it: with
Q = γ ⊙ B and P = A / γ, both centred and scaled so that QᵀP = 1,

    x → x - P Qᵀ x     of x = u + W₂ act(…) + b₂,     β → β - A Bᵀ(β - c)

makes Bᵀh = Bᵀc whatever the input. The part of x that comes from W₂ and b₂ is changed in W₂ and b₂. The part that is u
bypasses all weights; but every usual activation has act(z) - act(-z) = z, so two more neurons for each direction
compute -P Qᵀ u exactly. All layers get as many neurons (of weight 0, where they do nothing), because a configuration
has one size for all. The result is a plain checkpoint of its architecture; only the scale of a state, which the
normalisation sets anew, may differ from what the erasure alone would give.

Where the layers are of another type (shared between depths, gated, normalised before), this is not possible, and the
map is folded into the layers that read the last hidden state instead: a layer that computes `W h + b` computes
`(W M) h + (W c + b)` once the map `h → M h + c` stands before it. These layers (the transform of a language-model head,
a pooler, a classifier) are found by watching a forward pass, for any architecture. `last_hidden_state` itself comes
before these layers, and is not changed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.statistics.erasure import Erasure

SIZES = ("intermediate_size", "hidden_dim", "ffn_dim")
"""The names of the size of a feed-forward block in configurations."""
TOLERANCE = 1e-4
LEAST_GAIN = 1e-2
Calls = dict[str, list[tuple[torch.Tensor, torch.Tensor]]]


@dataclass(frozen=True)
class Placed:
    """Where an erasure was put."""

    in_state: bool
    """Whether the last hidden state itself was changed, or only what reads it."""
    layers: list[str]

    def __str__(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.layers)
        if self.in_state:
            return (
                f"The erasure is built into the last layer ({names}): `last_hidden_state` itself has lost it, wherever"
                " the folder is loaded with plain transformers. Every feed-forward block is wider by two neurons for"
                " each direction, which are zero elsewhere."
            )
        return (
            f"The erasure is folded into the layers that read the last hidden state ({names}), wherever the folder is"
            " loaded with plain transformers. The architecture does not allow it in `last_hidden_state` itself: what"
            " you take from there is unchanged."
        )


@dataclass(frozen=True)
class _Block:
    """The end of an encoder: the two layers of its last feed-forward block, and the normalisation after it."""

    up: str
    down: str
    norm: str


def build_in_erasure(model: Any, erasure: Erasure, inputs: dict[str, torch.Tensor]) -> Placed:
    """Build an erasure into a model; `inputs` is any batch that it takes."""
    block = _find_last_block(model, inputs)
    if block is not None:
        gain = model.get_submodule(block.norm).weight.detach().abs()
        size = model.get_submodule(block.up).out_features
        wider = size + 2 * erasure.rank
        name = next((name for name in SIZES if getattr(model.config, name, None) == size), None)
        # A dimension that the normalisation hides cannot be corrected before it.
        if name and gain.min() > LEAST_GAIN * gain.max() and _fits_config(model, name, wider):
            _build_into_block(model, block, erasure)
            setattr(model.config, name, wider)
            return Placed(True, [block.up, block.down, block.norm])
    readers = find_readers(model, inputs)
    if any(layer.bias is None for _, layer in readers):  # no place for a constant; erasing towards 0 is as good
        erasure = replace(erasure, centre=np.zeros_like(erasure.centre))
    fold_into_readers(readers, erasure.matrix, erasure.shift)
    return Placed(False, [name for name, _ in readers])


def watch_forward_pass(
    model: Any, inputs: dict[str, torch.Tensor], *kinds: type[torch.nn.Module]
) -> tuple[Calls, torch.Tensor]:
    """Run the model once; returns inputs and outputs of its layers of some kinds, and the last hidden state."""
    calls: Calls = {}
    hidden: list[torch.Tensor] = []

    def make_hook(name: str) -> Any:
        def record(_module: Any, arguments: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
            calls.setdefault(name, []).append((arguments[0].detach(), output.detach()))

        return record

    hooks = [
        layer.register_forward_hook(make_hook(name))
        for name, layer in model.named_modules()
        if isinstance(layer, kinds)
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


def find_readers(model: Any, inputs: dict[str, torch.Tensor]) -> list[tuple[str, torch.nn.Linear]]:
    """Find the linear layers whose input is the last hidden state, at all positions or at one."""
    calls, state = watch_forward_pass(model, inputs, torch.nn.Linear)

    def reads_state(values: torch.Tensor) -> bool:
        if values.shape == state.shape:
            return torch.equal(values, state)
        if values.dim() != 2 or values.shape[-1] != state.shape[-1]:
            return False
        if values.shape[0] == state.shape[0]:
            return any(torch.equal(values, state[:, position]) for position in (0, -1))
        return torch.equal(values, state.reshape(-1, state.shape[-1]))

    readers = [
        (name, model.get_submodule(name))
        for name, records in calls.items()
        if any(reads_state(values) for values, _ in records)
    ]
    if not readers:
        raise UnmaskError(
            f"no linear layer of {type(model).__name__} reads its last hidden state, so nothing can be folded into it;"
            " choose a method that trains the model"
        )
    return readers


def fold_into_readers(
    readers: Iterable[tuple[str, torch.nn.Linear]], matrix: NDArray[np.float64], shift: NDArray[np.float64]
) -> None:
    """Fold the map `h → matrix h + shift` into layers that read the last hidden state (`find_readers`)."""
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


def _build_into_block(model: Any, block: _Block, erasure: Erasure) -> None:
    up, down, norm = (model.get_submodule(name) for name in (block.up, block.down, block.norm))
    removed, readers, centre = (torch.from_numpy(part) for part in (erasure.removed, erasure.read, erasure.centre))
    with torch.no_grad():
        gain, bias = norm.weight.double(), norm.bias.double()
        away, seen = removed / gain[:, None], gain[:, None] * readers
        away, seen = away - away.mean(dim=0), seen - seen.mean(dim=0)  # a normalisation sees no mean
        away = away @ torch.linalg.inv(seen.T @ away)
        weight, constant = down.weight.double(), down.bias.double()
        down.weight.copy_(weight - away @ (seen.T @ weight))
        down.bias.copy_(constant - away @ (seen.T @ constant))
        norm.bias.copy_(bias - removed @ (readers.T @ (bias - centre)))
        added = 2 * erasure.rank
        for name, layer in list(model.named_modules()):
            if _layer_pattern(name) == _layer_pattern(block.up):
                rows = torch.cat([seen.T, -seen.T]) if layer is up else torch.zeros(added, len(gain))
                layer.weight = torch.nn.Parameter(torch.cat([layer.weight, rows.to(layer.weight)]))
                if layer.bias is not None:
                    layer.bias = torch.nn.Parameter(torch.cat([layer.bias, torch.zeros(added).to(layer.bias)]))
                layer.out_features += added
            elif _layer_pattern(name) == _layer_pattern(block.down):
                columns = torch.cat([-away, away], 1) if layer is down else torch.zeros(len(gain), added)
                layer.weight = torch.nn.Parameter(torch.cat([layer.weight, columns.to(layer.weight)], 1))
                layer.in_features += added


def _layer_pattern(name: str) -> str:
    """Return a name without the number of its layer."""
    return re.sub(r"\.\d+\.", ".#.", name)


def _fits_config(model: Any, name: str, size: int) -> bool:
    """Whether the architecture, configured to this size, has exactly these layers in another size."""
    config = copy.deepcopy(model.config)
    setattr(config, name, size)
    before = {key: tensor.shape for key, tensor in model.state_dict().items()}
    with torch.device("meta"):
        after = {key: tensor.shape for key, tensor in type(model)(config).state_dict().items()}
    changed = {_layer_pattern(key) for key in before if before[key] != after.get(key)}
    return before.keys() == after.keys() and len(changed) == 3  # two weights and a bias


def _find_last_block(model: Any, inputs: dict[str, torch.Tensor]) -> _Block | None:
    """Find the last block of an encoder by watching a forward pass; None where it is of another kind."""
    calls, state = watch_forward_pass(model, inputs, torch.nn.Linear, torch.nn.LayerNorm)
    single = {name: records[0] for name, records in calls.items() if len(records) == 1}
    norms = [
        name
        for name, (_, output) in single.items()
        if isinstance(model.get_submodule(name), torch.nn.LayerNorm) and _is_close(output, state)
    ]
    linear = {name: call for name, call in single.items() if isinstance(model.get_submodule(name), torch.nn.Linear)}
    for norm in norms:
        part = model.get_submodule(norm)
        for down, (inner, output) in linear.items():
            for up, (before, raised) in linear.items():
                fits = raised.shape == inner.shape and before.shape == output.shape == state.shape
                biases = all(model.get_submodule(name).bias is not None for name in (up, down))
                if fits and biases and part.bias is not None and _is_close(single[norm][0], output + before):
                    return _Block(up, down, norm) if _has_suitable_activation(model.config, raised, inner) else None
    return None


def _has_suitable_activation(config: Any, raised: torch.Tensor, inner: torch.Tensor) -> bool:
    """Whether the function between two layers is an activation with act(z) - act(-z) = z."""
    from transformers.activations import ACT2FN

    for name in ("hidden_act", "activation", "hidden_activation"):
        key = getattr(config, name, None)
        if isinstance(key, str) and key in ACT2FN and _is_close(ACT2FN[key](raised), inner):
            values = torch.linspace(-8, 8, 101)
            return bool(((ACT2FN[key](values) - ACT2FN[key](-values)) - values).abs().max() < 1e-5)
    return False


def _is_close(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.shape == right.shape and torch.allclose(left, right, atol=TOLERANCE, rtol=TOLERANCE)
