"""Fine-tuning: learning, saved models, and interrupted runs that end like uninterrupted ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import commands
import families
from unmask.errors import Stopped, UnmaskError
from unmask.models.loading import load_classifier, load_masked_lm, load_trainable
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.training import loop
from unmask.training.examples import order_labels, read_examples
from unmask.training.finetune import finetune_model
from unmask.training.loop import MicroBatches, News, Stepper
from unmask.training.options import FinetuneOptions, TrainingOptions
from unmask.training.tasks import Classification, MaskedLanguageModelling

Folder = Callable[[str], Path]
SETTINGS = TrainingOptions(epochs=3, learning_rate=2e-3, batch_size=16, warmup=0.1, save_every=4)
PEOPLE = {"good": ("mother", "sister", "aunt"), "bad": ("father", "brother", "uncle")}
WORK = ("mason", "plumber", "roofer", "secretary", "paralegal")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Labelled texts (one word decides), labelled pairs (the second text decides), and plain texts."""
    folder = tmp_path_factory.mktemp("data")
    texts = [
        {"text": f"My {person} is a {job}.", "label": label}
        for label, people in PEOPLE.items()
        for person in people
        for job in WORK
    ] * 2
    labels = {"entailment": "works", "neutral": "sleeps", "contradiction": "rests"}
    pairs = [
        {"premise": f"My {person} is a {job}.", "hypothesis": f"My {person} {verb}.", "label": label}
        for people in PEOPLE.values()
        for person in people
        for job in WORK[:2]
        for label, verb in labels.items()
    ]
    pairs.append({"premise": "My aunt is a mason.", "hypothesis": "My uncle is a mason.", "label": "-"})
    for name, rows in (("sentiment", texts), ("nli", pairs)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (folder / "mlm.txt").write_text("\n".join(row["text"] for row in texts))
    return {path.stem: path for path in folder.iterdir()}


def _request(task: str, model: Path, files: dict[str, Path], out: Path, **changes: Any) -> FinetuneOptions:
    options = {"task": task, "model": model, "out": out, "train": files[task], "held_out": 0.2, **dict(SETTINGS)}
    return FinetuneOptions(**{**options, **changes})


def _load_weights(folder: Path) -> dict[str, torch.Tensor]:
    (file,) = folder.glob("*.safetensors")
    weights: dict[str, torch.Tensor] = load_file(file)
    return weights


def _measure_distance(first_folder: Path, second_folder: Path) -> float:
    first, second = _load_weights(first_folder), _load_weights(second_folder)
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def _drop_time(record: dict[str, Any] | None) -> dict[str, Any]:
    assert record is not None
    return {name: value for name, value in record.items() if name != "seconds"}


@pytest.mark.parametrize("family", ["bert-uncased", "albert", "deberta-v2"])  # adapters: on every family
def test_a_classifier_learns_and_can_be_loaded(
    family: str, model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    record = finetune_model(
        _request("sentiment", model_folder(family), files, tmp_path / "out", epochs=60, learning_rate=3e-3)
    )
    assert record is not None
    assert record["metrics"]["validation"]["accuracy"] >= 0.9
    assert json.loads((tmp_path / "out" / "metrics.json").read_text())["best_step"] == record["best_step"]
    classifier = load_classifier(str(tmp_path / "out"))
    assert isinstance(classifier, Classifier)
    assert classifier.labels == ["bad", "good"]
    p = classifier.probabilities(["My aunt is a mason.", "My uncle is a mason.", "My aunt is a mason."])
    assert p.shape == (3, 2)
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[0, 1] > 0.5 > p[1, 1]
    assert (p[0] == p[2]).all()
    assert not (tmp_path / "out.unfinished").exists()


def test_inference_has_its_labels_in_order_and_leaves_out_what_has_none(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    record = finetune_model(_request("nli", model_folder("bert-uncased"), files, tmp_path / "out", epochs=40))
    assert record is not None
    assert sum(record["examples"].values()) == 36  # without the unlabelled pair
    classifier = load_classifier(str(tmp_path / "out"))
    assert isinstance(classifier, Classifier)
    assert list(classifier.labels) == ["entailment", "neutral", "contradiction"]
    p = classifier.probabilities([("My aunt is a mason.", f"My aunt {verb}.") for verb in ("works", "sleeps", "rests")])
    assert list(p.argmax(axis=1)) == [0, 1, 2]


@pytest.mark.parametrize("family", ["bert-uncased", "roberta", "albert", "modernbert"])
@pytest.mark.parametrize("rank", [0, 4])
def test_a_masked_language_model_gets_better(
    family: str, rank: int, model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    request = _request("mlm", model_folder(family), files, tmp_path / "out", lora_rank=rank, epochs=4)
    record = finetune_model(request)
    assert record is not None
    losses = [evaluation["loss"] for evaluation in record["history"]]
    assert losses[-1] < losses[0]
    model = load_masked_lm(str(tmp_path / "out"))  # an adapter loads like a complete model
    base = load_masked_lm(str(model_folder(family)))
    assert model.info().parameters == base.info().parameters  # type: ignore[attr-defined]
    assert model.info().weight_hash != base.info().weight_hash  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "family",
    ["bert-uncased", "roberta", "distilbert", "albert", "electra", "xlm-roberta", "deberta-v2", "modernbert", "mpnet"],
)
def test_an_adapter_holds_its_head_and_little_else(
    family: str, model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    request = _request("sentiment", model_folder(family), files, tmp_path / "out", lora_rank=8, learning_rate=1e-2)
    record = finetune_model(request.replace(validation=files["sentiment"]))
    assert record is not None
    assert record["trained_parameters"] < 0.5 * record["parameters"]
    assert (
        json.loads((tmp_path / "out" / "adapter_config.json").read_text())["base_model_name_or_path"] == request.model
    )
    classifier = load_classifier(str(tmp_path / "out"))
    assert isinstance(classifier, Classifier)
    assert classifier.labels == ["bad", "good"]
    rows = [json.loads(line) for line in files["sentiment"].read_text().splitlines()]
    p = classifier.probabilities([row["text"] for row in rows])
    expected = [classifier.labels.index(row["label"]) for row in rows]
    loss = -np.log(p[range(len(rows)), expected]).mean()
    assert loss == pytest.approx(record["metrics"]["validation"]["loss"], abs=1e-5)  # saving and loading loses nothing
    for file in (tmp_path / "out").glob("tokenizer*"):
        file.unlink()  # then the tokenizer of the base model is used
    reloaded = load_classifier(str(tmp_path / "out"))
    assert isinstance(reloaded, Classifier)
    p_reloaded = reloaded.probabilities([row["text"] for row in rows])
    assert np.abs(p_reloaded - p).max() < 1e-6


def test_an_adapter_of_another_kind_is_refused(model_folder: Folder, files: dict[str, Path], tmp_path: Path) -> None:
    """Otherwise it would be audited as its base model or with a wrong head."""
    import peft
    import transformers

    folder = model_folder("bert-uncased")
    finetune_model(_request("sentiment", folder, files, tmp_path / "classifier", lora_rank=4, epochs=1))
    assert json.loads((tmp_path / "classifier" / "config.json").read_text())["architectures"] == [
        "BertForSequenceClassification"
    ]
    with pytest.raises(UnmaskError, match="is a classifier"):
        load_masked_lm(str(tmp_path / "classifier"))
    (tmp_path / "classifier" / "config.json").unlink()  # as plain PEFT leaves it
    with pytest.raises(UnmaskError, match="is a classifier"):
        load_masked_lm(str(tmp_path / "classifier"))
    with pytest.raises(UnmaskError, match="leave out --lora-rank"):
        finetune_model(_request("sentiment", tmp_path / "classifier", files, tmp_path / "again", lora_rank=4))
    assert (
        finetune_model(_request("sentiment", tmp_path / "classifier", files, tmp_path / "again", epochs=1)) is not None
    )
    bare = peft.get_peft_model(
        transformers.AutoModel.from_pretrained(folder), peft.LoraConfig(r=2, target_modules=["query"])
    )
    bare.save_pretrained(tmp_path / "bare")
    with pytest.raises(UnmaskError, match="does not fit its model"):
        load_masked_lm(str(tmp_path / "bare"))
    config = json.loads((tmp_path / "bare" / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = str(tmp_path / "bare")
    (tmp_path / "bare" / "adapter_config.json").write_text(json.dumps(config))
    with pytest.raises(UnmaskError, match="is itself an adapter"):
        load_masked_lm(str(tmp_path / "bare"))


def test_a_head_for_the_same_labels_is_kept_and_one_for_others_is_not(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    finetune_model(_request("sentiment", model_folder("bert-uncased"), files, tmp_path / "first", epochs=1))
    first = load_trainable(str(tmp_path / "first"), LoadOptions(), labels=["good", "bad"])
    assert first.labels == ("bad", "good")  # the order of the existing head
    assert first.trained_whole == ("classifier",)
    head_weights = _load_weights(tmp_path / "first")["classifier.weight"]
    assert torch.equal(first.model.classifier.weight.detach(), head_weights)
    other = load_trainable(str(tmp_path / "first"), LoadOptions(), labels=["apple", "pear"])
    assert not torch.equal(other.model.classifier.weight.detach(), head_weights)
    assert other.model.config.id2label == {0: "apple", 1: "pear"}


def test_a_bad_test_file_is_noticed_before_training(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "test.csv").write_text("text,label\nMy aunt rests.,ugly\n")
    request = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out")
    with pytest.raises(UnmaskError, match="'ugly' is not among those trained"):
        finetune_model(request.replace(test=tmp_path / "test.csv"))
    assert not (tmp_path / "out.unfinished").exists()


def test_what_failed_before_its_first_checkpoint_does_not_stand_in_the_way(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    request = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out")
    with pytest.raises(UnmaskError, match="no checkpoint was saved yet; lower the learning rate"):
        finetune_model(request.replace(learning_rate=1e30))
    finetune_model(request)
    assert request.out.is_dir()


def test_restart_removes_nothing_of_the_users(model_folder: Folder, files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "out.unfinished").mkdir()
    (tmp_path / "out.unfinished" / "thesis.txt").write_text("mine")
    request = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out", restart=True)
    with pytest.raises(UnmaskError, match="is not an unfinished run"):
        finetune_model(request)
    assert (tmp_path / "out.unfinished" / "thesis.txt").read_text() == "mine"


def test_texts_without_a_word_that_can_be_masked(model_folder: Folder, files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("你好\n" * 20 + files["mlm"].read_text(), encoding="utf-8")
    request = _request("mlm", model_folder("bert-uncased"), files, tmp_path / "out", epochs=1, batch_size=1)
    assert finetune_model(request.replace(train=tmp_path / "odd.txt", validation=files["mlm"])) is not None
    (tmp_path / "none.txt").write_text("你好\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="no validation example has a word"):
        finetune_model(request.replace(out=tmp_path / "other", validation=tmp_path / "none.txt"))


class _StopAt:
    """Send the signal of Ctrl-C after a number of steps."""

    def __init__(self, step: int) -> None:
        self.step = step

    def __call__(self, news: News) -> None:
        if news.step == self.step:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(("task", "rank"), [("sentiment", 0), ("sentiment", 4), ("mlm", 0)])
def test_an_interrupted_run_ends_like_one_that_was_not(
    task: str, rank: int, model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    """With dropout and two interruptions within an epoch, the weights are equal to the last bit."""
    whole = _request(task, model_folder("bert-uncased"), files, tmp_path / "whole", lora_rank=rank)
    parts = whole.replace(out=tmp_path / "parts")
    expected = finetune_model(whole)
    for step in (2, 5):
        with pytest.raises(Stopped, match=f"stopped at step {step} of 9; the same command resumes"):
            finetune_model(parts, watch=_StopAt(step))
        assert not parts.out.exists()
    assert _drop_time(finetune_model(parts)) == _drop_time(expected)
    assert _measure_distance(whole.out, parts.out) == 0


def test_a_run_that_was_cut_off_goes_on_from_its_last_checkpoint(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    whole = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "whole", save_every=2)
    parts = whole.replace(out=tmp_path / "parts")
    finetune_model(whole)

    def crash(news: News) -> None:
        if news.step == 5:
            raise MemoryError

    with pytest.raises(MemoryError):
        finetune_model(parts, watch=crash)
    seen: list[int] = []
    finetune_model(parts, watch=lambda news: seen.append(news.step))
    assert seen[0] == 5  # step 4 was the last checkpoint
    assert _measure_distance(whole.out, parts.out) == 0


def test_another_run_is_not_taken_for_the_unfinished_one(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    request = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out")
    with pytest.raises(Stopped):
        finetune_model(request, watch=_StopAt(2))
    other = request.replace(learning_rate=1e-3)
    with pytest.raises(UnmaskError, match=r"learning rate changed \(0\.002 then, 0\.001 now\)"):
        finetune_model(other)
    seen: list[int] = []
    finetune_model(other.replace(restart=True), watch=lambda news: seen.append(news.step))
    assert seen[0] == 1
    assert other.out.is_dir()


def test_a_broken_checkpoint_is_one_line(model_folder: Folder, files: dict[str, Path], tmp_path: Path) -> None:
    request = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out")
    with pytest.raises(Stopped):
        finetune_model(request, watch=_StopAt(2))
    (tmp_path / "out.unfinished" / "latest" / "random_states_0.pkl").write_bytes(b"no")
    with pytest.raises(UnmaskError, match="is damaged; start again with --restart"):
        finetune_model(request)


def _save_without_dropout(folder: Path) -> Path:
    families.save("bert-uncased", folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize("task", ["sentiment", "mlm"])
def test_parts_of_a_step_change_nothing(task: str, files: dict[str, Path], tmp_path: Path) -> None:
    """One step of gradient descent, at once and in micro-batches with different numbers of labels."""
    from accelerate import Accelerator

    folder = _save_without_dropout(tmp_path / "model")
    after = []
    for accumulate in (1, 3, 50):
        torch.manual_seed(0)
        examples = read_examples(files[task], task)
        labels = None if task == "mlm" else order_labels(task, examples)
        base = load_trainable(str(folder), LoadOptions(), labels=labels)
        job = (
            Classification(base.tokenizer, labels, 64)
            if labels
            else MaskedLanguageModelling(base.tokenizer, 64, seed=1)
        )
        model, optimizer = Accelerator(cpu=True).prepare(base.model, torch.optim.SGD(base.model.parameters(), lr=1.0))
        settings = SETTINGS.replace(accumulate=accumulate)
        stepper = Stepper(model, job, job.features(examples), settings, optimizer, Accelerator(cpu=True))
        loss = stepper.take_step(list(range(17)), 0, 1.0)
        after.append((loss, torch.cat([parameter.detach().flatten() for parameter in model.parameters()])))
    for loss, weights in after[1:]:
        assert loss == pytest.approx(after[0][0], abs=1e-5)
        assert float((weights - after[0][1]).abs().max()) < 1e-5


class _Short(MaskedLanguageModelling):
    """Runs out of memory on batches of five rows, except on the first batch, which leaves its gradients."""

    sizes: list[int]

    def run(self, model: Any, batch: Any) -> torch.Tensor:
        self.sizes.append(len(batch["labels"]))
        if self.sizes[-1] == 5 and len(self.sizes) > 1:
            raise torch.OutOfMemoryError("no room")
        return super().run(model, batch)


def test_too_little_memory_makes_smaller_parts_and_the_same_step(files: dict[str, Path], tmp_path: Path) -> None:
    from accelerate import Accelerator

    folder = _save_without_dropout(tmp_path / "model")
    accelerator = Accelerator(cpu=True)
    after: list[tuple[Any, ...]] = []
    sizes: list[int] = []
    for task_class, accumulate in ((MaskedLanguageModelling, 1), (_Short, 2)):
        base = load_trainable(str(folder), LoadOptions())
        job = task_class(base.tokenizer, 64, seed=1)
        if isinstance(job, _Short):
            job.sizes = sizes
        features = job.features(read_examples(files["mlm"], "mlm"))
        model, optimizer = accelerator.prepare(base.model, torch.optim.SGD(base.model.parameters(), lr=1.0))
        stepper = Stepper(model, job, features, SETTINGS.replace(accumulate=accumulate), optimizer, accelerator)
        loss = stepper.take_step(list(range(10)), 0, 1.0)
        weights = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
        metrics = loop.evaluate(model, job, features, accelerator, rows=5)
        after.append((loss, weights, metrics["loss"]))
    assert stepper.micro_batches.parts == 4
    assert sizes[:5] == [5, 5, 3, 3, 3]
    for whole, parts in zip(*after, strict=True):
        assert np.allclose(whole, parts, atol=1e-5)


class _Broken(MaskedLanguageModelling):
    """A loss that is infinite, or a finite loss whose gradient is not finite."""

    broken_part: str

    def run(self, model: Any, batch: Any) -> torch.Tensor:
        sums = super().run(model, batch)
        zero = 0 * next(model.parameters()).sum()
        return sums * float("inf") if self.broken_part == "loss" else sums + torch.sqrt(zero)


@pytest.mark.parametrize("broken_part", ["loss", "gradient"])
def test_a_step_that_went_wrong_leaves_the_weights_alone(
    broken_part: str, files: dict[str, Path], tmp_path: Path
) -> None:
    from accelerate import Accelerator

    base = load_trainable(str(_save_without_dropout(tmp_path / "model")), LoadOptions())
    job = _Broken(base.tokenizer, 64, seed=1)
    job.broken_part = broken_part
    accelerator = Accelerator(cpu=True)
    model, optimizer = accelerator.prepare(base.model, torch.optim.SGD(base.model.parameters(), lr=1.0))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    features = job.features(read_examples(files["mlm"], "mlm"))
    loss = Stepper(model, job, features, SETTINGS, optimizer, accelerator).take_step(list(range(4)), 0, 1.0)
    assert not np.isfinite(loss)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.parameters())


def test_one_example_too_large_for_memory_is_one_line() -> None:
    from accelerate import Accelerator

    with pytest.raises(UnmaskError, match="out of memory on a single example"):
        MicroBatches(1).shrink(torch.OutOfMemoryError("no room"), 1, Accelerator(cpu=True))
    with pytest.raises(RuntimeError, match="another thing"):
        MicroBatches(1).shrink(RuntimeError("another thing"), 8, Accelerator(cpu=True))


def test_a_loss_that_is_no_number_names_the_step_and_the_last_good_checkpoint(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint holds the weights before the failed step."""
    calls: list[int] = []
    real = Stepper._compute_gradients

    def fail_at_step_5(*arguments: Any) -> float:
        calls.append(1)
        return float("nan") if len(calls) == 6 else real(*arguments)

    monkeypatch.setattr(Stepper, "_compute_gradients", fail_at_step_5)
    request = _request("mlm", model_folder("bert-uncased"), files, tmp_path / "out", epochs=2, save_every=2)
    with pytest.raises(
        UnmaskError, match=r"nan at step 5; the last good checkpoint, of step 4, is in .*out\.unfinished"
    ):
        finetune_model(request)
    monkeypatch.undo()
    assert finetune_model(request) is not None  # resumes from the checkpoint


def test_the_best_checkpoint_is_kept_not_the_last(model_folder: Folder, files: dict[str, Path], tmp_path: Path) -> None:
    """At a learning rate that destroys the model, the weights of the best evaluation are saved."""
    request = _request(
        "mlm", model_folder("bert-uncased"), files, tmp_path / "out", learning_rate=1.0, epochs=4, evaluate_every=1
    )
    record = finetune_model(request)
    assert record is not None
    best = min(record["history"], key=lambda evaluation: evaluation["loss"])
    assert record["best_step"] == best["step"] < record["steps"]
    assert record["metrics"]["validation"]["loss"] == pytest.approx(best["loss"], abs=1e-6)


def test_a_training_set_without_a_test_set_can_have_one(
    model_folder: Folder, files: dict[str, Path], tmp_path: Path
) -> None:
    request = _request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out")
    record = finetune_model(request.replace(validation=files["sentiment"], test=files["sentiment"]))
    assert record is not None
    assert record["examples"] == {"train": 60, "validation": 60, "test": 60}
    assert record["metrics"]["test"]["examples"] == 60


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "tagging"}, "task is 'tagging'; choose from: mlm, sentiment, nli"),
        ({"epochs": 0}, "epochs is 0; give 1 or more"),
        ({"learning_rate": -1.0}, "learning_rate is -1; give a number above 0"),
        ({"warmup": 1.0}, "warmup is 1; give a number from 0 to below 1"),
        ({"precision": "half"}, "precision is 'half'; choose from"),
        ({"max_length": 2}, "max_length is 2; give 8 or more"),
        ({"lora_rank": -1}, "lora_rank is -1; give 0 or more"),
        ({"lora_rank": 999_999}, "no layer of"),
        ({"held_out": 0.0}, "--held-out is 0.0"),
        ({"data": "imdb"}, "either --data"),
        ({"data": "imbd", "train": None}, "did you mean 'imdb'"),
        ({"data": "snli", "train": None}, "is for nli"),
        ({"precision": "fp16"}, "needs a GPU"),
        ({"model": "no/such/folder"}, "does not exist"),
        ({"learning_rate": 1e30}, "lower the learning rate"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"weight_decay": -5.0}, "weight_decay is -5"),
        ({"device": "cuda:1"}, "CUDA_VISIBLE_DEVICES"),
    ],
)
def test_bad_requests_are_refused(
    changes: dict[str, Any], message: str, model_folder: Folder, files: dict[str, Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "snli").mkdir()
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path))
    with pytest.raises(UnmaskError, match=message):
        finetune_model(_request("sentiment", model_folder("bert-uncased"), files, tmp_path / "out").replace(**changes))
    assert not (tmp_path / "out").exists()


def test_two_processes_learn_what_one_learns(files: dict[str, Path], tmp_path: Path) -> None:
    """Rows are distributed, gradients are averaged, and one process writes."""
    model = _save_without_dropout(tmp_path / "model")
    common = ["finetune", "mlm", str(model), "--train", str(files["mlm"]), "--device", "cpu"]
    common += ["--epochs", "2", "--learning-rate", "1e-4", "--batch-size", "7"]
    launch = ["torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "unmask"]  # accelerate launch
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-m", *launch, *common, "--out", str(tmp_path / "two")]
    two = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    for process in (commands.unmask(*common, "--out", tmp_path / "one", cwd=tmp_path), two):
        assert process.returncode == 0, process.stderr
        assert process.stdout.count("Model:") == 1
    single, parallel = (json.loads((tmp_path / name / "metrics.json").read_text()) for name in ("one", "two"))
    assert parallel["device"] == "2 × cpu"
    assert parallel["metrics"]["validation"]["masked_pieces"] == single["metrics"]["validation"]["masked_pieces"]
    assert parallel["metrics"]["validation"]["loss"] == pytest.approx(single["metrics"]["validation"]["loss"], abs=1e-4)
    assert (
        _measure_distance(tmp_path / "one", tmp_path / "two") < 3e-4
    )  # of one step of 1e-4 in a sign that is a toss-up


def test_two_processes_stop_together_and_go_on(files: dict[str, Path], tmp_path: Path) -> None:
    """One process is interrupted; both stop at the same step."""
    model = _save_without_dropout(tmp_path / "model")
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", "-m", "unmask"]
    words += ["finetune", "mlm", str(model), "--train", str(files["mlm"]), "--device", "cpu", "--epochs", "400"]
    words += ["--batch-size", "7", "--out", str(tmp_path / "out")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = subprocess.Popen(
        words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert running.stderr is not None
    while not running.stderr.readline().startswith("epoch 1.00"):
        assert running.poll() is None
    workers = subprocess.run(
        ["pgrep", "-P", str(running.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    os.kill(int(workers[-1]), signal.SIGINT)
    _, err = running.communicate(timeout=120)
    assert "the same command resumes from there" in err
    assert (tmp_path / "out.unfinished" / "latest" / "random_states_1.pkl").is_file()


def test_the_command_stops_and_goes_on(model_folder: Folder, files: dict[str, Path], tmp_path: Path) -> None:
    words = [sys.executable, "-m", "unmask", "finetune", "sentiment", str(model_folder("bert-uncased"))]
    words += ["--train", str(files["sentiment"]), "--out", "out", "--epochs", "400", "--batch-size", "4"]
    running = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stderr is not None
    lines = [running.stderr.readline() for _ in range(3)]
    assert [line.split()[0] for line in lines] == ["Reading", "Training", "epoch"]
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "the same command resumes from there" in err.splitlines()[-1]
    assert out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.unfinished"]
    running = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert running.stderr.readline().startswith("Reading")
    assert running.stderr.readline().startswith("Resuming")
    running.kill()
    running.communicate(timeout=120)
