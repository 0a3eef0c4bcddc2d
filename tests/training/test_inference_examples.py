"""Inference datasets for fine-tuning."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from unmask import datasets
from unmask.cli.train import finetune_command
from unmask.errors import UnmaskError
from unmask.training.examples import Splits, TextExample, gather_examples, join_words, read_examples, read_known_dataset
from unmask.training.options import FinetuneOptions

JSNLI = 'contradiction\t雪 の 山 。 \t夏 の "日 です 。 \nentailment\tＡｓｔｒｏ Ｔｕｒｆ の 人\tT シャツ の 人\n'


def _gather(name: str) -> Splits:
    return gather_examples("nli", name=name, train=None, validation=None, test=None, held_out=0.1, seed=1, offline=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for datasets."""
    path = tmp_path / "data"
    path.mkdir()
    monkeypatch.setenv("UNMASK_DATA", str(path))
    return path


def test_the_real_data_sets_have_their_sizes_and_labels(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    jsick, ocnli = _gather("jsick"), _gather("ocnli")
    assert [len(part) for part in (jsick.train, jsick.validation, jsick.test)] == [4_500, 500, 4_927]
    assert Counter(example.label for example in jsick.test) == {
        "neutral": 3_042,
        "entailment": 1_088,
        "contradiction": 797,
    }
    assert all(example.pair and not example.text.isascii() for example in jsick.test), (
        "the Japanese columns, not the English ones"
    )
    assert len(ocnli.train) + len(ocnli.validation) == 10_000 - 15, "15 pairs have no label that most agreed on"
    assert len(ocnli.test) == 3_000 - 50
    assert Counter(example.label for example in ocnli.test) == {
        "neutral": 1_103,
        "entailment": 947,
        "contradiction": 900,
    }


def test_the_real_jsnli_is_joined_unless_words_are_wanted(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNMASK_DATA", str(data))
    joined, words = (
        read_known_dataset(name, "nli", offline=True, splits=("test",))["test"] for name in ("jsnli", "jsnli-words")
    )
    assert len(joined) == len(words) == 3_916
    assert all(" " in example.text.strip() for example in words)
    assert (
        sum(" " in example.text for example in joined) == sum("Ａｓｔｒｏ Ｔ" in example.text for example in joined) + 2
    )
    assert [example.label for example in joined] == [example.label for example in words]
    with pytest.raises(
        UnmaskError, match=r"no file for 'train', which is called train_w_filtering.tsv.*jsnli_1\.1\.zip"
    ):
        _gather("jsnli")


def test_the_hashes_are_those_of_the_files(data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong hash would refuse a correct download, so the hashes are checked against correct files."""
    (folder / "jsick").mkdir()
    for split in ("train", "test"):
        (folder / "jsick" / f"{split}.tsv").write_bytes(gzip.decompress((data / f"jsick/{split}.tsv.gz").read_bytes()))
    assert datasets.locate("jsick", offline=True) == folder / "jsick"
    assert len(_gather("jsick").test) == 4_927
    with (folder / "jsick" / "test.tsv").open("a") as file:
        file.write("\n")
    with pytest.raises(UnmaskError, match="SHA-256 differs"):
        datasets.locate("jsick", offline=True)
    monkeypatch.setenv("UNMASK_DATA", str(data))
    assert datasets.locate("nli-coal", offline=True) == data / "nli-coal"


def test_every_file_has_an_address_a_hash_and_a_place_of_its_own() -> None:
    for dataset in datasets.built_in().values():
        assert bool(dataset.addresses) != bool(dataset.by_hand)
        assert len(set(dataset.files)) == len(dataset.files) == len({address for address, _ in dataset.addresses})
        assert all(len(sha256) == 64 for _, sha256 in dataset.addresses)
        assert all(address.endswith(file.rpartition("/")[2]) for (address, _), file in zip(
            dataset.addresses, dataset.files, strict=True
        ))  # fmt: skip


def test_jsnli_is_read_without_header_and_quotes(folder: Path) -> None:
    (folder / "jsnli").mkdir()
    for file in ("train_w_filtering.tsv", "dev.tsv"):
        (folder / "jsnli" / file).write_text(JSNLI, encoding="utf-8")
    (folder / "jsnli" / "train_wo_filtering.tsv").write_text(JSNLI * 9, encoding="utf-8")
    splits = _gather("jsnli")
    assert splits.test == [
        TextExample("雪の山。", '夏の"日です。', "contradiction"),
        TextExample("Ａｓｔｒｏ Ｔｕｒｆの人", "Tシャツの人", "entailment"),
    ]
    assert len(splits.train) == len(splits.validation) == 1, (
        "the filtered file, and what is validated on is held out of it"
    )
    assert _gather("jsnli-words").test[1] == TextExample("Ａｓｔｒｏ Ｔｕｒｆ の 人", "T シャツ の 人", "entailment")
    (folder / "jsnli" / "dev.tsv").write_text("neutral\tonly one\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="'hypothesis' of row 1 is None"):
        _gather("jsnli")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("雪 の 山 。 ", "雪の山。"),
        ("New York の 人", "New Yorkの人"),
        ("３ Ｄ の T", "３ＤのT"),
        ("a  b", "a  b"),
    ],
)
def test_spaces_between_words_go_but_latin_words_stay_apart(text: str, expected: str) -> None:
    assert join_words(text) == expected


def test_the_largest_training_set_of_ocnli_counts_and_pairs_without_label_do_not(folder: Path) -> None:
    (folder / "ocnli").mkdir()
    rows = [{"sentence1": f"甲{number}", "sentence2": "乙", "label": "neutral", "label0": None} for number in range(20)]
    disputed = {**rows[0], "label": "-"}
    for file, split_rows in (
        ("train.50k.json", rows),
        ("train.3k.json", rows[:3]),
        ("dev.json", [*rows[:2], disputed]),
    ):
        (folder / "ocnli" / file).write_text("\n".join(map(json.dumps, split_rows)), encoding="utf-8")
    compressed = gzip.compress((folder / "ocnli" / "dev.json").read_bytes())
    (folder / "ocnli" / "dev.json.gz").write_bytes(compressed)  # the same pairs, which count once
    splits = _gather("ocnli")
    assert [len(part) for part in (splits.train, splits.validation, splits.test)] == [18, 2, 2]
    (folder / "ocnli" / "train.50k.json").unlink()
    assert len(read_known_dataset("ocnli", "nli", offline=True)["train"]) == 3
    assert read_known_dataset("ocnli", "mlm", offline=True)["test"] == [TextExample("甲0"), TextExample("甲1")]


def test_what_is_not_there_is_said_in_one_line(folder: Path, tmp_path: Path) -> None:
    for name in ("jsnli", "ocnli"):
        with pytest.raises(
            UnmaskError, match=rf"{name} is not in the folder UNMASK_DATA .* by hand; put .* {name}/ there"
        ):
            _gather(name)
    (folder / "jsick").mkdir()
    with pytest.raises(UnmaskError, match=r"no file for 'train', 'test', which is called train\.tsv, test\.tsv; put"):
        _gather("jsick")
    with pytest.raises(UnmaskError, match="jsick is for nli, not for sentiment"):
        read_known_dataset("jsick", "sentiment", offline=True)
    with pytest.raises(UnmaskError, match="did you mean 'jsnli'"):
        _gather("jnli")
    (tmp_path / "list.json").write_text('[\n{"text": "a"}]')
    with pytest.raises(UnmaskError, match=r"one list; give an object a line"):
        read_examples(tmp_path / "list.json", "mlm")


def test_finetune_nli_has_the_settings_of_the_paper(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    rows = [
        {"premise": "My aunt is a mason.", "hypothesis": "She works.", "label": label} for label in ("neutral",) * 4
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = FinetuneOptions(
        task="nli",
        model=str(model_folder("bert-uncased")),
        out=tmp_path / "out",
        train=tmp_path / "pairs.jsonl",
        device="cpu",
    )
    finetune_command(options)
    settings = json.loads((tmp_path / "out" / "metrics.json").read_text())["settings"]
    assert [settings[name] for name in ("epochs", "learning_rate", "batch_size")] == [5, 2e-5, 32]
    assert options.max_length == 128, "this model takes fewer"
