"""Linear layers of a model that runs on a CPU, computed by oneDNN.

In float32, PyTorch calls MKL, which uses half of the vector width on processors that are not Intel's. oneDNN uses all
of it: an EPYC with AVX-512 computes twice as fast, and the outputs differ in the last bits only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import torch
from torch.nn import functional

MOST_BYTES = 2**30
"""The layers' weights are copied; larger models keep the memory."""
ROWS = 2048
"""The copies are arranged for this many rows, and made for at least as many."""

Linear = Callable[[torch.Tensor], torch.Tensor]


@contextmanager
def fast_linear_layers(model: torch.nn.Module, *, tokens: int = ROWS) -> Iterator[None]:
    """Compute the float32 linear layers of a model on a CPU with oneDNN, without gradients.

    Weights, hooks and names of the model stay as they are. Nothing changes where oneDNN cannot do it, and for so few
    `tokens` that copying the weights would take longer.
    """
    layers = [module for module in model.modules() if type(module) is torch.nn.Linear and _fits(module)]
    if tokens < ROWS or sum(layer.weight.nbytes for layer in layers) > MOST_BYTES or not _has_onednn():
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


def _pack(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    """A linear function with a copy of the weight, arranged as oneDNN wants it."""
    operators: Any = torch.ops.mkldnn
    with torch.no_grad():
        packed = operators._reorder_linear_weight(weight, ROWS)
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
