"""Sent-Debias as released, against a naive implementation of the choices of the released code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from unmask.errors import UnmaskError
from unmask.lexicon.word_lists import DEFINITIONAL_PAIRS
from unmask.mitigations.method import MitigateOptions
from unmask.mitigations.mitigate import mitigate_model
from unmask.mitigations.released_sent_debias import pair_sentences, project_pooled, read_qnli
from unmask.training.tasks import Classification

TEXTS = [
    f"{who} is a {what} and {who.lower()} works." for who in ("She", "He") for what in ("mason", "roofer", "taper")
]
TEXTS += [f"My {kin} applied for the position of {what}." for kin in ("mother", "son") for what in ("mason", "taper")]
TEXTS += ["A man had a good day.", "A girl had a good day.", "Mary rests.", "The roofer rests."]
QNLI = "index\tquestion\tsentence\tlabel\n" + "\n".join(
    f'{index}\tIs my "mother a {job}?\tMy mother is a {job}.\t{label}'
    for index, (job, label) in enumerate(
        [("mason", "entailment"), ("roofer", "not_entailment"), ("taper", "entailment")] * 20
    )
)


@pytest.fixture(scope="module")
def bert(model_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT whose checkpoint has a pooled output, as bert-base-uncased."""
    folder = tmp_path_factory.mktemp("bert") / "pooled"
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder("bert-uncased"))
    torch.manual_seed(5)
    config = transformers.AutoConfig.from_pretrained(model_folder("bert-uncased"))
    transformers.BertForPreTraining(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., MitigateOptions]:
    def make(model: Path, **settings: Any) -> MitigateOptions:
        (tmp_path / "text.txt").write_text("\n".join(TEXTS), encoding="utf-8")
        (tmp_path / "train.tsv").write_text(QNLI, encoding="utf-8")
        return MitigateOptions(
            model=str(model),
            method="sent-debias",
            out=tmp_path / "out",
            corpus=(str(tmp_path / "text.txt"),),
            protocol="published",
            settings={"qnli": str(tmp_path / "train.tsv")} | settings,
            device="cpu",
        )

    return make


def test_each_word_of_a_pair_is_exchanged_alone() -> None:
    assert ("Mary", "John") in DEFINITIONAL_PAIRS
    assert pair_sentences(["She saw her mother , and Mary saw HIM.", "He, she said.", "Nobody."]) == [
        ("she saw her mother , and mary saw him.", "he saw her mother , and mary saw him."),
        ("she saw her mother , and mary saw him.", "she saw her father , and mary saw him."),
        ("she saw her mother , and mary saw him.", "she saw his mother , and mary saw him."),
        ("he, she said.", "he, he said."),
    ]
    assert pair_sentences(["A man saw a man"]) == [("a woman saw a woman", "a man saw a man")]


def test_the_direction_is_removed_and_the_length_restored() -> None:
    pooled, direction = torch.tensor([[3.0, 4.0, 0.0], [1.0, 0.0, 2.0]]), torch.tensor([2.0, 0.0, 0.0])
    assert project_pooled(pooled, direction).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def find_direction(folder: Path) -> np.ndarray:
    """The first principal component of pooled outputs, sentence by sentence."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).eval()
    centred = []
    for pair in pair_sentences(TEXTS):
        with torch.no_grad():
            u, w = (model(**tokenizer(text, return_tensors="pt")).pooler_output[0].double() for text in pair)
        u, w = u / u.norm(), w / w.norm()
        centred += [(u - (u + w) / 2).numpy(), (w - (u + w) / 2).numpy()]
    _, _, components = np.linalg.svd(np.array(centred), full_matrices=False)
    return np.asarray(components[0])


def test_what_is_kept_is_an_encoder_fine_tuned_with_the_projection(
    bert: Path, request_for: Callable[..., MitigateOptions], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    direction = find_direction(bert)
    losses: list[tuple[float, float]] = []
    run = Classification.run

    def compare_losses(self: Any, model: Any, batch: Any) -> torch.Tensor:
        sums = run(self, model, batch)
        with torch.no_grad():
            inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
            first = model.bert(**inputs).last_hidden_state[:, 0]
            u = torch.tanh(first @ model.bert.pooler.dense.weight.T + model.bert.pooler.dense.bias)
            v = torch.tensor(direction, dtype=torch.float32)
            u = u - (u @ v)[:, None] * v / (v @ v)
            logits = (u / u.norm(dim=1, keepdim=True)) @ model.classifier.weight.T + model.classifier.bias
            naive = torch.nn.functional.cross_entropy(logits, batch["labels"], reduction="sum")
        losses.append((float(sums[0].detach()), float(naive)))
        return sums

    monkeypatch.setattr(Classification, "run", compare_losses)
    details = mitigate_model(request_for(bert))["details"]
    found = np.array(details["direction_of_the_pooled_output"])
    assert abs(found @ direction) == pytest.approx(1, abs=1e-6)
    assert len(losses) == details["steps"] == 3 * 2
    assert [loss for loss, _ in losses] == pytest.approx([naive for _, naive in losses], rel=1e-4)
    before, after = (transformers.AutoModelForMaskedLM.from_pretrained(path) for path in (bert, tmp_path / "out"))
    changed = {name for name, value in after.state_dict().items() if not torch.equal(value, before.state_dict()[name])}
    assert any(name.startswith("bert.encoder") for name in changed)
    assert not any(name.startswith("cls.") and "decoder" not in name for name in changed)
    with torch.no_grad():
        state = after.base_model(torch.tensor([[2, 7, 8, 3]])).last_hidden_state[0, 0]
    assert abs(float(state @ torch.tensor(direction, dtype=torch.float32))) > 1e-3, (
        "nothing is projected in the weights"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"qnli": None}, "of sent-debias needs --set qnli=PATH. For --protocol published: train.tsv of QNLI"),
        ({"components": 2}, "the published protocol fixes the setting components"),
        ({"qnli": "none.tsv"}, "none.tsv does not exist"),
    ],
)
def test_bad_settings_are_one_line(
    settings: dict[str, Any], message: str, bert: Path, request_for: Callable[..., MitigateOptions]
) -> None:
    request = request_for(bert, **settings)
    if settings.get("qnli", "") is None:
        request = request.replace(settings={})
    with pytest.raises(UnmaskError, match=message):
        mitigate_model(request)


def test_a_model_without_a_trained_pooled_output_is_refused(
    model_folder: Callable[[str], Path], request_for: Callable[..., MitigateOptions]
) -> None:
    for family in ("bert-uncased", "roberta"):
        with pytest.raises(UnmaskError, match="has no trained pooled output"):
            mitigate_model(request_for(model_folder(family)))


def test_qnli_belongs_to_the_published_protocol(bert: Path, request_for: Callable[..., MitigateOptions]) -> None:
    with pytest.raises(UnmaskError, match="belongs to --protocol published"):
        mitigate_model(request_for(bert).replace(protocol="sound"))


def test_only_qnli_is_read(tmp_path: Path) -> None:
    path = tmp_path / "train.tsv"
    path.write_text(QNLI, encoding="utf-8")
    examples = read_qnli(path)
    assert len(examples) == 60
    assert (examples[0].text, examples[0].pair) == ('Is my "mother a mason?', "My mother is a mason.")
    path.write_text(QNLI.replace("not_entailment", "neutral"), encoding="utf-8")
    with pytest.raises(UnmaskError, match="line 3, is not QNLI"):
        read_qnli(path)
    path.write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="is not QNLI"):
        read_qnli(path)
