"""An erasure built into a model removes the concept from the last hidden state, in plain transformers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import families
from unmask.mitigations.erasure import build_in_erasure
from unmask.statistics.erasure import Erasure, leace, projection

INPUTS = {"input_ids": torch.tensor([[3, 5, 7, 6], [4, 8, 9, 5]]), "attention_mask": torch.ones(2, 4).long()}
OTHER = {"input_ids": torch.tensor([[9, 4, 4, 3, 8]]), "attention_mask": torch.ones(1, 5).long()}
READERS_ONLY = ("albert", "modernbert")


def make_erasure(size: int) -> Erasure:
    rng = np.random.default_rng(3)
    return leace(rng.normal(size=(300, size)) + 1, rng.normal(size=(300, 2)))


def compute_last_states(model: object, inputs: dict[str, torch.Tensor]) -> np.ndarray:
    with torch.no_grad():
        hidden = model.base_model(**inputs)[0]  # type: ignore[attr-defined]
    flat: np.ndarray = hidden.double().reshape(-1, hidden.shape[-1]).numpy()
    return flat


@pytest.mark.parametrize("family", families.FAMILIES)
def test_what_was_erased_is_gone_from_what_plain_transformers_loads(
    model_folder: Callable[[str], Path], family: str, tmp_path: Path
) -> None:
    model = transformers.AutoModelForMaskedLM.from_pretrained(model_folder(family)).eval()
    before, logits = compute_last_states(model, OTHER), model(**OTHER).logits
    erasure = make_erasure(before.shape[1])
    placed = build_in_erasure(model, erasure, INPUTS)
    model.save_pretrained(tmp_path)
    reloaded = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path).eval()
    assert torch.equal(reloaded(**OTHER).logits, model(**OTHER).logits)
    assert not torch.allclose(reloaded(**OTHER).logits, logits, atol=1e-3)
    assert placed.in_state == (family not in READERS_ONLY)
    if placed.in_state:
        bare = transformers.AutoModel.from_pretrained(tmp_path).eval()
        with torch.no_grad():
            after = bare(**OTHER)[0].double().reshape(before.shape).numpy()
        assert after @ erasure.read == pytest.approx(np.tile(erasure.centre @ erasure.read, (len(after), 1)), abs=1e-5)
        cosine = (
            (after * erasure(before)).sum(1) / np.linalg.norm(after, axis=1) / np.linalg.norm(erasure(before), axis=1)
        )
        assert cosine.min() > 0.95  # the states of the erasure alone, except for the normalisation
        assert "`last_hidden_state` itself has lost it" in str(placed)
    else:
        assert compute_last_states(reloaded, OTHER) == pytest.approx(before, abs=1e-5)
        assert "is unchanged" in str(placed)


def test_only_the_last_layer_is_changed(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    model = transformers.AutoModelForMaskedLM.from_pretrained(model_folder("bert-uncased")).eval()
    with torch.no_grad():
        before = model(**OTHER, output_hidden_states=True).hidden_states
        build_in_erasure(model, projection(np.eye(before[0].shape[-1])[:2]), INPUTS)
        after = model(**OTHER, output_hidden_states=True).hidden_states
    for before_state, after_state in zip(before[:-1], after[:-1], strict=True):
        assert torch.allclose(before_state, after_state, atol=1e-6)
    assert after[-1][..., :2].abs().max() < 1e-5
    model.save_pretrained(tmp_path)
    size = json.loads((model_folder("bert-uncased") / "config.json").read_text())["intermediate_size"]
    assert json.loads((tmp_path / "config.json").read_text())["intermediate_size"] == size + 4


def test_an_activation_that_lets_nothing_through_is_not_used(model_folder: Callable[[str], Path]) -> None:
    config = transformers.AutoConfig.from_pretrained(model_folder("bert-uncased"))
    config.hidden_act = "tanh"
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    placed = build_in_erasure(model, make_erasure(config.hidden_size), INPUTS)
    assert not placed.in_state
    assert placed.layers == ["cls.predictions.transform.dense"]


def test_a_normalisation_that_hides_a_dimension_is_not_used(model_folder: Callable[[str], Path]) -> None:
    model = transformers.AutoModelForMaskedLM.from_pretrained(model_folder("bert-uncased")).eval()
    with torch.no_grad():
        model.bert.encoder.layer[-1].output.LayerNorm.weight[3] = 0.0
    assert not build_in_erasure(model, make_erasure(model.config.hidden_size), INPUTS).in_state
