"""Linear layers that oneDNN computes: the same outputs, and a model that is left as it was."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from unmask.models import batching
from unmask.models.batching import fast_linear_layers, weight_hash


@pytest.fixture
def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(48, 96), nn.GELU(), nn.Linear(96, 32, bias=False))


@torch.no_grad()
def test_outputs_are_the_same_for_any_number_of_rows(model: nn.Sequential) -> None:
    for size in ((1, 48), (7, 48), (3, 11, 48), (0, 48), (3000, 48)):
        values = torch.randn(size)
        expected = model(values)
        with fast_linear_layers(model):
            found = model(values)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_layers_are_replaced_within_the_block_only(model: nn.Sequential) -> None:
    before = weight_hash(model)
    with fast_linear_layers(model):
        is_replaced = {"forward" in vars(layer) for layer in (model[0], model[2])}
        has_onednn = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        assert is_replaced == {has_onednn}
        assert weight_hash(model) == before
    assert not any("forward" in vars(layer) for layer in model)
    with pytest.raises(KeyError), fast_linear_layers(model):
        raise KeyError
    assert not any("forward" in vars(layer) for layer in model)


@torch.no_grad()
def test_hooks_still_run(model: nn.Sequential) -> None:
    model[0].register_forward_hook(lambda _module, _args, output: output * 0)
    with fast_linear_layers(model):
        assert float(model(torch.randn(2, 48)).abs().sum()) == 0


def test_other_layers_stay(model: nn.Sequential, monkeypatch: pytest.MonkeyPatch) -> None:
    half = nn.Linear(8, 8, dtype=torch.bfloat16)
    with fast_linear_layers(half):
        assert "forward" not in vars(half)
    monkeypatch.setattr(batching, "MOST_PACKED_BYTES", model[0].weight.nbytes)
    with fast_linear_layers(model):
        assert "forward" not in vars(model[0])
