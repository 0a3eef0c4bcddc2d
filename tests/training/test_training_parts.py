"""The parts of training against known answers: examples, batches, learning rates, masks and metrics."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim.optimizer import register_optimizer_step_pre_hook
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForSequenceClassification

import families
from toy_model import bert_of, tokenizer_of
from unmask import datasets
from unmask.datasets import Dataset
from unmask.errors import UnmaskError
from unmask.models.batching import IGNORED
from unmask.models.loading import load_classifier
from unmask.options import LoadOptions
from unmask.statistics.proportions import wilson_interval
from unmask.training.checkpoints import Workspace
from unmask.training.examples import Splits, TextExample, gather_examples, normalise_label, order_labels, read_examples
from unmask.training.finetune import finetune_model
from unmask.training.loop import fit, learning_rate_at, make_accelerator, plan_batches
from unmask.training.options import FinetuneOptions, TrainingOptions
from unmask.training.tasks import Classification, MaskedLanguageModelling, Task

TEXT = "the cat sat on the mat while the dog ran over the hill to the old house by the sea"


# Batches and learning rates


@given(st.lists(st.integers(1, 60), max_size=200), st.integers(1, 17), st.integers(0, 3))
def test_every_row_is_in_one_batch(lengths: list[int], size: int, epoch: int) -> None:
    batches = plan_batches(lengths, size, seed=1, epoch=epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) <= size for batch in batches)
    assert len(batches) == -(-len(lengths) // size)
    assert batches == plan_batches(lengths, size, seed=1, epoch=epoch)


def test_batches_hold_like_lengths_and_change_with_the_epoch() -> None:
    lengths = list(range(1000))
    batches = plan_batches(lengths, 10, seed=1, epoch=0)
    assert max(max(batch) - min(batch) for batch in batches) < 100
    assert batches != plan_batches(lengths, 10, seed=1, epoch=1)
    assert batches != plan_batches(lengths, 10, seed=2, epoch=0)


def test_the_rate_rises_and_falls_in_a_line() -> None:
    settings = TrainingOptions(learning_rate=1.0, warmup=0.4)
    assert [round(learning_rate_at(step, 10, settings), 3) for step in range(10)] == [
        0.2, 0.4, 0.6, 0.8, 1.0, 0.833, 0.667, 0.5, 0.333, 0.167,
    ]  # fmt: skip
    assert learning_rate_at(0, 10, TrainingOptions(learning_rate=1.0, warmup=0.0)) == 1.0


def train_and_record_rates(settings: TrainingOptions, folder: Path) -> list[float]:
    """Train on four texts and return the learning rate of each step."""
    tokenizer = tokenizer_of([TEXT])
    task = Classification(tokenizer, ["a", "b"], 16)
    features = task.features([TextExample(TEXT, label=label) for label in "abab"])
    config = bert_of(tokenizer, seed=1, hidden=32, layers=1).config
    accelerator = make_accelerator(settings, LoadOptions(device="cpu"))
    rates: list[float] = []

    def record_rate(optimizer: Any, *_: Any) -> None:
        if type(optimizer) is torch.optim.AdamW:  # not the wrapper of Accelerate
            rates.append(optimizer.param_groups[0]["lr"])

    hook = register_optimizer_step_pre_hook(record_rate)
    try:
        model = BertForSequenceClassification(config)
        fit(model, task, features, [], settings, Workspace(folder / "run"), accelerator=accelerator)
    finally:
        hook.remove()
    return rates


def test_the_rate_falls_over_the_epochs_that_were_planned(tmp_path: Path) -> None:
    """Two epochs of two steps: the rate falls to 0 over these four steps, or over the eight of four planned epochs."""
    settings = TrainingOptions(epochs=2, learning_rate=8e-3, batch_size=2, warmup=0.0)
    assert train_and_record_rates(settings, tmp_path) == pytest.approx([8e-3, 6e-3, 4e-3, 2e-3])
    planned = settings.replace(planned_epochs=4)
    assert train_and_record_rates(planned, tmp_path) == pytest.approx([8e-3, 7e-3, 6e-3, 5e-3])
    assert train_and_record_rates(planned.replace(warmup=0.5), tmp_path) == pytest.approx(
        [1.6e-3, 3.2e-3, 4.8e-3, 6.4e-3]
    )
    with pytest.raises(UnmaskError, match="1 epochs are planned, 2 trained; plan as many or more"):
        settings.replace(planned_epochs=1)


@pytest.mark.parametrize(("claimed", "requested", "length"), [(24, 48, 24), (24, 20, 20), (int(1e30), 99, 64)])
def test_training_reads_no_more_than_loading_allows(claimed: int, requested: int, length: int, tmp_path: Path) -> None:
    """The model has 64 positions; its tokenizer may claim fewer."""
    tokenizer = tokenizer_of([TEXT])
    tokenizer.model_max_length = claimed
    bert_of(tokenizer, seed=1, hidden=32, layers=1).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    texts = [TextExample(f"{TEXT} {TEXT} {TEXT} {TEXT}", label=label) for label in "abab"]
    request = FinetuneOptions(
        task="sentiment",
        model=str(tmp_path / "base"),
        out=tmp_path / "out",
        max_length=requested,
        epochs=1,
        batch_size=4,
        device="cpu",
        offline=True,
    )
    record = finetune_model(request, data=Splits(texts, texts, ()))
    assert record is not None
    assert record["settings"]["max_length"] == length
    model: Any = load_classifier(str(tmp_path / "out"), request.loading, most_tokens=length)
    assert model.probabilities([TEXT]).shape == (1, 2)


# Masks


def _make_task(max_length: int = 64) -> MaskedLanguageModelling:
    return MaskedLanguageModelling(tokenizer_of([TEXT]), max_length, seed=7)


def test_masks_are_as_often_as_they_should_be() -> None:
    task = _make_task()
    (features,) = task.features([TextExample(TEXT)])
    special = set(task.tokenizer.all_special_ids)
    fates: Counter[str] = Counter()
    for row in range(3000):
        batch = task.batch([features], [(0, row)])
        for token, label, original in zip(
            batch["input_ids"][0], batch["labels"][0], features["input_ids"], strict=True
        ):
            if label == IGNORED:
                assert token == original
                fates["left"] += 1
            else:
                assert label == original
                assert original not in special
                fates[
                    "mask" if token == task.tokenizer.mask_token_id else "same" if token == original else "other"
                ] += 1
    masked = fates["mask"] + fates["same"] + fates["other"]
    assert masked == 3000 * 3  # 15 % of 20 words
    assert fates["mask"] / masked == pytest.approx(0.8, abs=0.02)
    assert fates["other"] / masked == pytest.approx(0.1, abs=0.02)  # a random token can be the mask or the word itself


def test_a_mask_depends_on_its_row_and_epoch_alone() -> None:
    task = _make_task()
    features = task.features([TextExample(TEXT), TextExample(" ".join(TEXT.split()[:9]))])
    together = task.batch(features, [(2, 5), (2, 6)])
    alone = task.batch(features[:1], [(2, 5)])
    width = alone["input_ids"].shape[1]
    assert (together["input_ids"][0, :width] == alone["input_ids"][0]).all()
    assert (together["labels"][0, :width] == alone["labels"][0]).all()
    assert (together["labels"][1, 11:] == IGNORED).all()
    other = task.batch(features[:1], [(3, 5)])
    assert (other["labels"] != alone["labels"]).any()


def test_long_texts_are_split_not_cut() -> None:
    task = _make_task(max_length=9)
    rows = [row["input_ids"] for row in task.features([TextExample(TEXT)])]
    assert [len(row) for row in rows] == [9, 9, 8]
    pieces = [token for row in rows for token in row[1:-1]]
    assert pieces == task.tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    assert {row[0] for row in rows} == {task.tokenizer.cls_token_id}


def test_a_tokenizer_that_pads_on_the_left() -> None:
    task = _make_task()
    task.tokenizer.padding_side = "left"
    features = task.features([TextExample(TEXT), TextExample("the cat sat on the mat")])
    batch = task.batch(features, [(0, 0), (0, 1)])
    where = (batch["labels"][1] != IGNORED).nonzero().flatten()
    assert (batch["attention_mask"][1][where] == 1).all()


# Metrics


def test_wilson_gives_known_intervals() -> None:
    assert wilson_interval(0.8, 10) == pytest.approx(
        (0.490162, 0.943318), abs=1e-6
    )  # R: prop.test(8, 10, correct = FALSE)
    assert wilson_interval(0.0, 10) == pytest.approx((0.0, 0.277533), abs=1e-6)
    assert wilson_interval(1.0, 5)[1] == 1.0
    assert wilson_interval(0.5, 0) == (0.0, 1.0)


def test_metrics_of_a_classifier_by_hand() -> None:
    task = Classification(tokenizer_of([TEXT]), ["a", "b"], 32)
    logits = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 9.0]])
    labels = torch.tensor([0, 0, 1, 1, IGNORED])
    metrics = task.metrics(task.sums(logits, labels))
    low, high = 0.126928, 2.126928  # −ln softmax of the larger and the smaller logit
    assert metrics["loss"] == pytest.approx((3 * low + high) / 4, abs=1e-5)
    assert metrics["accuracy"] == 0.75
    assert metrics["examples"] == 4
    assert metrics["labels"]["a"] == pytest.approx({"precision": 2 / 3, "recall": 1.0, "f1": 0.8, "count": 2})
    assert metrics["labels"]["b"] == pytest.approx({"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "count": 2})
    assert metrics["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)


def test_metrics_of_masked_words_by_hand() -> None:
    task = _make_task()
    logits = torch.tensor([[[1.0, 0.0], [0.0, 0.0], [5.0, 0.0]]])
    metrics = task.metrics(task.sums(logits, torch.tensor([[0, 1, IGNORED]])))
    assert metrics["loss"] == pytest.approx((0.313262 + 0.693147) / 2, abs=1e-5)
    assert metrics["accuracy"] == 0.5
    assert metrics["perplexity"] == pytest.approx(1.654, abs=1e-3)
    assert metrics["masked_pieces"] == 2


# Examples


def test_files_of_every_kind_give_the_same(tmp_path: Path) -> None:
    import gzip

    import pandas as pd

    frame = pd.DataFrame({"text": ["good, really", "bad"], "label": ["pos", "neg"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "a.tsv", sep="\t", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    lines = "\n".join(json.dumps(row) for row in frame.to_dict("records"))
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    expected = [TextExample("good, really", None, "positive"), TextExample("bad", None, "negative")]
    for path in tmp_path.iterdir():
        assert read_examples(path, "sentiment") == expected, path
        assert read_examples(path, "mlm") == [TextExample("good, really"), TextExample("bad")]


@pytest.mark.parametrize(
    ("name", "text", "task", "message"),
    [
        ("a.csv", "text\nx\n", "sentiment", "no column 'label'"),
        ("a.txt", "x\n", "nli", "has no labels"),
        ("a.doc", "x", "mlm", "unknown kind"),
        ("a.csv", "text,label\n", "sentiment", "has no examples"),
        ("a.jsonl", "{", "mlm", "cannot be read"),
        ("a.jsonl.gz", "no gzip", "mlm", "cannot be read"),
        ("a.csv", "text,label\nx,\n", "sentiment", "'label' of row 1 is ''"),
        ("a.csv", "text,label\nI liked it, a lot,pos\n", "sentiment", "more cells than columns"),
        ("a.csv", "text,text,label\na,b,pos\n", "sentiment", "'text' twice"),
        ("a.csv", "text,label\nx\n", "sentiment", "'label' of row 1 is None"),
        ("a.jsonl", "[1]\n", "mlm", "row 1 is no object"),
        ("a.jsonl", '{"text": ["x"], "label": "pos"}\n', "sentiment", "'text' of row 1"),
        ("a.jsonl", '{"text": "x", "label": NaN}\n', "sentiment", "'label' of row 1 is nan"),
    ],
)
def test_bad_files_are_refused(name: str, text: str, task: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UnmaskError, match=message):
        read_examples(tmp_path / name, task)


def test_labels_are_in_a_known_order() -> None:
    def make_examples(*labels: str) -> list[TextExample]:
        return [TextExample("", None, label) for label in labels]

    assert order_labels("sentiment", make_examples("positive", "negative", "positive")) == ["negative", "positive"]
    assert order_labels("sentiment", make_examples("10", "9", "1")) == ["1", "9", "10"]
    assert [normalise_label(value, "sentiment") for value in ("1.0", "1", "01", "pos")] == ["1", "1", "1", "positive"]
    assert order_labels("nli", make_examples("neutral")) == ["entailment", "neutral", "contradiction"]
    for task, labels, message in (
        ("nli", ("yes",), "unknown label 'yes'"),
        ("sentiment", ("good",), "two or more"),
        ("sentiment", tuple(map(str, range(30))), "30 different labels"),
    ):
        with pytest.raises(UnmaskError, match=message):
            order_labels(task, make_examples(*labels))


# Known datasets


def _write_archives(folder: Path) -> dict[str, Path]:
    """Write archives with the layout of the canonical ones."""
    reviews = {"train/pos/0_9": "great", "train/neg/0_1": "awful", "train/unsup/0_0": "hm", "test/pos/1_7": "fine"}
    with tarfile.open(folder / "aclImdb_v1.tar.gz", "w:gz") as archive:
        for name, text in reviews.items():
            info = tarfile.TarInfo(f"aclImdb/{name}.txt")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    with zipfile.ZipFile(folder / "snli_1.0.zip", "w") as archive_2:
        for split in ("train", "dev", "test"):
            rows = [{"sentence1": f"{split} a", "sentence2": "b", "gold_label": label} for label in ("neutral", "-")]
            archive_2.writestr(f"snli_1.0/snli_1.0_{split}.jsonl", "\n".join(map(json.dumps, rows)))
    return {"imdb": folder / "aclImdb_v1.tar.gz", "snli": folder / "snli_1.0.zip"}


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve the archives locally in place of the canonical addresses, with an empty cache, also where hubs are off."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    folder = tmp_path / "served"
    folder.mkdir()
    archives = _write_archives(folder)

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *arguments: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, path in archives.items():
        original = datasets.built_in()[name]
        address = f"http://127.0.0.1:{server.server_port}/{path.name}"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        local = Dataset(name, original.about, ((address, digest),), original.licence, original.citation)
        monkeypatch.setitem(datasets.built_in(), name, local)
    monkeypatch.delenv("UNMASK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield folder
    server.shutdown()
    server.server_close()


def _gather(task: str, name: str, *, offline: bool = False) -> Any:
    return gather_examples(
        task, name=name, train=None, validation=None, test=None, held_out=0.5, seed=1, offline=offline
    )


def test_known_data_sets_are_fetched_checked_and_read(served: Path) -> None:
    with pytest.raises(UnmaskError, match="run once without --offline"):
        _gather("nli", "snli", offline=True)
    splits = _gather("nli", "snli")
    assert [len(part) for part in (splits.train, splits.validation, splits.test)] == [1, 1, 1]
    assert splits.test[0] == TextExample("test a", "b", "neutral")
    reviews = _gather("sentiment", "imdb")
    assert {example.text: example.label for example in [*reviews.train, *reviews.validation]} == {
        "great": "positive",
        "awful": "negative",
    }
    assert reviews.test == [TextExample("fine", None, "positive")]
    (served / "snli_1.0.zip").unlink()
    assert _gather("nli", "snli", offline=True).test == splits.test  # from the cache


def test_a_download_that_is_not_what_it_was_is_refused(served: Path, tmp_path: Path) -> None:
    (served / "snli_1.0.zip").write_bytes(b"something else")
    with pytest.raises(UnmaskError, match="SHA-256 differs"):
        _gather("nli", "snli")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    (served / "snli_1.0.zip").unlink()
    with pytest.raises(UnmaskError, match="cannot be fetched"):
        _gather("nli", "snli")


@pytest.mark.usefixtures("served")
def test_a_folder_of_data_sets_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "imdb").mkdir(parents=True)
    with pytest.raises(UnmaskError, match="no file for 'train', 'test'"):
        _gather("sentiment", "imdb")
    for split in ("train", "test"):
        rows = [{"text": f"{split} {label}", "label": label} for label in ("pos", "neg")]
        (tmp_path / "data" / "imdb" / f"imdb_{split}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    splits = _gather("sentiment", "imdb")
    assert [example.text for example in splits.test] == ["test pos", "test neg"]
    assert {example.text for example in [*splits.train, *splits.validation]} == {"train pos", "train neg"}


def test_the_archive_can_lie_in_that_folder(served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(tmp_path / "data"))
    with pytest.raises(UnmaskError, match="not a folder"):
        _gather("nli", "snli")
    (tmp_path / "data" / "snli").mkdir(parents=True)
    (served / "snli_1.0.zip").rename(tmp_path / "data" / "snli" / "snli_1.0.zip")
    assert len(_gather("nli", "snli", offline=True).test) == 1
    (tmp_path / "data" / "snli" / "snli_1.0.zip").write_bytes(b"damaged")
    with pytest.raises(UnmaskError, match="SHA-256 differs"):
        _gather("nli", "snli", offline=True)


def test_the_real_data_sets_have_their_sizes(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    snli = _gather("nli", "snli")
    assert [len(part) for part in (snli.train, snli.validation, snli.test)] == [116_271, 9_842, 9_824]
    imdb = _gather("sentiment", "imdb")
    assert [len(imdb.train) + len(imdb.validation), len(imdb.test)] == [25_000, 25_000]
    assert Counter(example.label for example in imdb.test) == {"negative": 12_500, "positive": 12_500}


@pytest.mark.parametrize("family", sorted(families.FAMILIES))
def test_the_head_runs_on_masked_words_alone(family: str, model_folder: Callable[[str], Path]) -> None:
    model = AutoModelForMaskedLM.from_pretrained(model_folder(family)).eval()
    task = MaskedLanguageModelling(AutoTokenizer.from_pretrained(model_folder(family)), 32, seed=1)
    texts = [TextExample(text, None) for text in ("The nurse is here.", "My sister works as a nurse in the old house.")]
    batch = task.batch(task.features(texts), [(0, 0), (0, 1)])
    results = []
    for run in (task.run, partial(Task.run, task)):  # the second runs the head on every word
        sums = run(model, batch)
        sums[0].backward()  # type: ignore[no-untyped-call]
        gradients = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
        results.append({**gradients, "sums": sums.detach()})
        model.zero_grad()
    torch.testing.assert_close(results[0], results[1], atol=1e-4, rtol=1e-4)
