"""Folding an affine map into weights gives the outputs of the map itself, for every family."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import families
from unmask.errors import UnmaskError
from unmask.mitigations.erasure import find_readers, fold_into_readers


def make_map(size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    direction = rng.normal(size=size)
    direction /= np.linalg.norm(direction)
    return np.eye(size) - np.outer(direction, direction), rng.normal(size=size)


@pytest.mark.parametrize("family", families.FAMILIES)
def test_folded_weights_do_what_the_map_does(model_folder: Callable[[str], Path], family: str) -> None:
    model = transformers.AutoModelForMaskedLM.from_pretrained(model_folder(family)).eval()
    inputs = {"input_ids": torch.tensor([[3, 5, 7, 6], [4, 8, 9, 5]]), "attention_mask": torch.ones(2, 4).long()}
    size = model.base_model(**inputs)[0].shape[-1]
    matrix, shift = make_map(size)
    readers = find_readers(model, inputs)
    if any(layer.bias is None for _, layer in readers):
        with pytest.raises(ValueError, match="has no bias"):
            fold_into_readers(readers, matrix, shift)
        shift = np.zeros(size)

    def apply_map(_module: object, _arguments: object, output: object) -> object:
        changed = output[0] @ torch.from_numpy(matrix.T).float() + torch.from_numpy(shift).float()  # type: ignore[index]
        if isinstance(output, tuple):
            return (changed, *output[1:])
        output.last_hidden_state = changed  # type: ignore[attr-defined]
        return output

    hook = model.base_model.register_forward_hook(apply_map)
    expected = model(**inputs).logits
    hook.remove()
    before = model(**inputs).logits
    fold_into_readers(readers, matrix, shift)
    after = model(**inputs).logits
    assert not torch.allclose(before, after, atol=1e-2)
    assert torch.allclose(after, expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("model_type", ["Bert", "Roberta", "DistilBert"])
def test_classifiers_read_the_first_place(model_type: str) -> None:
    small = {"vocab_size": 30, "num_labels": 2}
    config = {
        "Bert": transformers.BertConfig,
        "Roberta": transformers.RobertaConfig,
        "DistilBert": transformers.DistilBertConfig,
    }[model_type]
    sizes = (
        {"dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16}
        if model_type == "DistilBert"
        else {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    )
    model = getattr(transformers, f"{model_type}ForSequenceClassification")(config(**small, **sizes))
    inputs = {"input_ids": torch.tensor([[3, 5, 7, 6]])}
    names = [name for name, _ in find_readers(model, inputs)]
    assert names == [
        {"Bert": "bert.pooler.dense", "Roberta": "classifier.dense", "DistilBert": "pre_classifier"}[model_type]
    ]
    assert model.training  # as it was


def test_a_model_without_such_a_layer() -> None:
    model = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=30, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        ),
        add_pooling_layer=False,
    )
    with pytest.raises(UnmaskError, match="no linear layer of BertModel reads its last hidden state"):
        find_readers(model, {"input_ids": torch.tensor([[3, 5]])})
