"""A head for the same labels is kept, in any order and spelling; otherwise it is replaced with a message."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from unmask.errors import UnmaskError
from unmask.lexicon.labels import INFERENCE, match_labels
from unmask.models.loading import load_classifier, load_trainable
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.training import checkpoints
from unmask.training.examples import Splits, TextExample
from unmask.training.finetune import finetune_model
from unmask.training.options import FinetuneOptions, TrainingOptions

Folder = Callable[[str], Path]
PAIRS = [
    TextExample(f"My {person} is a mason.", f"My {person} {verb}.", label)
    for person in ("mother", "father", "sister", "brother")
    for label, verb in zip(INFERENCE, ("works", "sleeps", "rests"), strict=True)
]


@pytest.mark.parametrize(
    ("labels", "expected_labels", "expected"),
    [
        (("contradict", "Entail", "neutral"), INFERENCE, ["contradiction", "entailment", "neutral"]),
        (("n", "C", "e"), INFERENCE, ["neutral", "contradiction", "entailment"]),
        (("矛盾", "中立", "含意"), INFERENCE, ["contradiction", "neutral", "entailment"]),
        (("POSITIVE", "NEGATIVE"), ("negative", "positive"), ["positive", "negative"]),
        (("pos", "neg"), ("negative", "positive"), ["positive", "negative"]),
        (("bad", "mixed", "good"), ("negative", "neutral", "positive"), ["negative", "neutral", "positive"]),
        (("Very_Negative", "pos"), ("very negative", "good"), ["very negative", "good"]),
        (("Pear", " apple"), ("apple", "pear"), ["pear", "apple"]),
        (("LABEL_0", "LABEL_1", "LABEL_2"), INFERENCE, None),
        (("negative", "neutral", "positive"), INFERENCE, None),
        (INFERENCE, ("negative", "neutral", "positive"), None),
        (("entail", "entailment", "neutral"), INFERENCE, None),
        (("entailment", "not_entailment"), INFERENCE, None),
        (("very negative", "positive"), ("negative", "positive"), None),
        (("good", "pos"), ("negative", "positive"), None),
        ((), INFERENCE, None),
        ((), (), None),
    ],
)
def test_the_same_labels_are_known_by_what_they_mean(
    labels: Sequence[str], expected_labels: Sequence[str], expected: list[str] | None
) -> None:
    assert match_labels(labels, expected_labels) == expected


def _save_classifier(folder: Path, base: Path, labels: Sequence[str]) -> Path:
    """Save a classifier with these labels; the weights of its head do not depend on them."""
    torch.manual_seed(5)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        base, id2label=dict(enumerate(labels)), label2id={name: index for index, name in enumerate(labels)}
    )
    with torch.no_grad():
        model.classifier.weight.normal_()
    checkpoints.save_model(model, transformers.AutoTokenizer.from_pretrained(base), folder)
    return folder


def _save_adapter(folder: Path, base: Path, labels: Sequence[str]) -> Path:
    """Save an adapter on the base model, with a head for these labels."""
    trainable = load_trainable(str(base), LoadOptions(), labels=labels)
    adapted = checkpoints.add_adapters(trainable.model, 2, trainable.trained_whole, base=str(base))
    with torch.no_grad():
        for name, weights in adapted.named_parameters():
            if "lora_B" in name:
                weights.fill_(0.01)  # PEFT initialises it with zeros
    checkpoints.save_adapter(adapted, trainable.model, trainable.tokenizer, folder)
    return folder


def _label_probabilities(model: Path, labels: Sequence[str]) -> np.ndarray:
    """The probabilities of the labels, in this order."""
    classifier = load_classifier(str(model))
    assert isinstance(classifier, Classifier)
    p = classifier.probabilities([(example.text, str(example.pair)) for example in PAIRS])
    return p[:, [list(classifier.labels).index(label) for label in labels]]


def _train(model: Path, out: Path) -> list[str]:
    """Train with a negligible learning rate and return the messages."""
    messages: list[str] = []
    settings = TrainingOptions(epochs=1, learning_rate=1e-12, batch_size=12, weight_decay=0.0)
    finetune_model(
        FinetuneOptions(task="nli", model=str(model), out=out, **dict(settings), device="cpu"),
        data=Splits(PAIRS, PAIRS, ()),
        say=messages.append,
    )
    return messages


@pytest.mark.parametrize("labels", [("contradict", "entail", "neutral"), ("N", "E", "C"), INFERENCE])
def test_a_head_of_inference_is_kept_in_any_order_and_spelling(
    labels: tuple[str, ...], model_folder: Folder, tmp_path: Path
) -> None:
    base = _save_classifier(tmp_path / "base", model_folder("bert-uncased"), labels)
    messages = _train(base, tmp_path / "out")
    spelled = [next(name for name in labels if name[0].lower() == label[0]) for label in INFERENCE]
    assert np.abs(_label_probabilities(tmp_path / "out", INFERENCE) - _label_probabilities(base, spelled)).max() < 1e-6
    assert len(messages) == 1


@pytest.mark.parametrize("labels", [("LABEL_0", "LABEL_1", "LABEL_2"), ("negative", "neutral", "positive")])
def test_a_head_for_other_labels_is_made_anew_and_that_is_said(
    labels: tuple[str, ...], model_folder: Folder, tmp_path: Path
) -> None:
    base = _save_classifier(tmp_path / "base", model_folder("bert-uncased"), labels)
    messages = _train(base, tmp_path / "out")
    assert messages[1:] == [
        f"{base}: its head is made anew: its labels ({', '.join(map(repr, labels))}) are not"
        " entailment, neutral, contradiction"
    ]
    before, after = (load_file(folder / "model.safetensors") for folder in (base, tmp_path / "out"))
    assert (before["classifier.weight"] - after["classifier.weight"]).abs().max() > 0.1
    inner = [name for name in before if name.startswith("bert.")]
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in inner)


def test_a_model_that_had_no_head_is_not_said_to_lose_one(model_folder: Folder, tmp_path: Path) -> None:
    assert len(_train(model_folder("bert-uncased"), tmp_path / "out")) == 1


def test_labels_without_names_are_said_to_have_none(model_folder: Folder, tmp_path: Path) -> None:
    base = _save_classifier(tmp_path / "base", model_folder("bert-uncased"), ("LABEL_0", "LABEL_1"))
    assert "id2label" not in json.loads((base / "config.json").read_text()), "the usual names are not saved"
    assert _train(base, tmp_path / "out")[1].endswith("its head is made anew: its labels have no names")


def test_an_adapter_with_a_head_of_another_size_can_be_trained(model_folder: Folder, tmp_path: Path) -> None:
    base = _save_adapter(tmp_path / "adapter", model_folder("bert-uncased"), ("negative", "positive"))
    assert "its labels ('negative', 'positive') are not" in _train(base, tmp_path / "out")[1]
    whole = load_trainable(str(base), LoadOptions(), labels=("negative", "positive"))
    trained = load_file(tmp_path / "out" / "model.safetensors")
    merged = whole.model.state_dict()
    plain = load_file(model_folder("bert-uncased") / "model.safetensors")
    name = "bert.encoder.layer.0.attention.self.query.weight"
    assert torch.allclose(trained[name], merged[name], atol=1e-6), "what it has learned else is kept"
    assert not torch.allclose(trained[name], plain[name], atol=1e-4)
    assert trained["classifier.weight"].shape[0] == 3


def test_an_adapter_that_knows_the_labels_keeps_its_head(model_folder: Folder, tmp_path: Path) -> None:
    labels = ("contradict", "entail", "neutral")
    base = _save_adapter(tmp_path / "adapter", model_folder("bert-uncased"), labels)
    assert len(_train(base, tmp_path / "out")) == 1
    spelled = ("entail", "neutral", "contradict")
    assert np.abs(_label_probabilities(tmp_path / "out", INFERENCE) - _label_probabilities(base, spelled)).max() < 1e-6


def test_an_adapter_that_does_not_fit_inside_is_refused(model_folder: Folder, tmp_path: Path) -> None:
    base = _save_adapter(tmp_path / "adapter", model_folder("bert-uncased"), ("negative", "positive"))
    file = base / "adapter_model.safetensors"
    weights = load_file(file)
    name = next(key for key in weights if "lora_A" in key)
    save_file({**weights, name: weights[name][:, :-1].contiguous()}, file)
    with pytest.raises(UnmaskError, match=r"does not fit its model: .* or of another size"):
        load_trainable(str(base), LoadOptions(), labels=INFERENCE)
