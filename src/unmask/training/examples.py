"""Training examples: texts, or pairs of texts, with labels; from a user's files or a known data set.

The splits of known data sets are the official ones. Where the labels of a test split were never published (OCNLI), or
there is none (JSNLI), the official development set is the test set, and validation data is held out of training as for
a user's files; so too where there is no development set (IMDB, JSICK). What is reported at the end has chosen no
checkpoint.

JSNLI has spaces between its words. As `jsnli` they are removed, since most Japanese tokenizers find words themselves;
as `jsnli-words` they stay, for tokenizers that want words (those of Juman++).
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import lzma
import math
import re
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unmask import datasets
from unmask.errors import UnmaskError, check_choice, quote
from unmask.lexicon.labels import INFERENCE

LATIN = "A-Za-zＡ-Ｚａ-ｚ"
BETWEEN_WORDS = re.compile(f"(?<![{LATIN} ]) +| +(?![{LATIN} ])")
"""Spaces, but not those between two Latin words, which belong there."""


@dataclass(frozen=True)
class Layout:
    """The files of a data set, and what it is for."""

    task: str
    dataset: str
    """Its name in `datasets`."""
    files: Mapping[str, Sequence[str]]
    """By split the names that its file may have, the best first; only files of the first name that is there count."""
    columns: tuple[str, ...] = ()
    """Of tables that do not name them."""
    joined: bool = False
    """Whether the spaces between words are taken out."""


_JSNLI_FILES = {"train": ("train_w_filtering.tsv*", "train_wo_filtering.tsv*"), "test": ("dev.tsv*",)}
_JSNLI_COLUMNS = ("label", "premise", "hypothesis")
LAYOUTS = {
    "imdb": Layout("sentiment", "imdb", {"train": ("imdb_train*",), "test": ("imdb_test*",)}),
    "snli": Layout("nli", "snli", {"train": ("snli_train*",), "validation": ("snli_dev*",), "test": ("snli_test*",)}),
    "jsnli": Layout("nli", "jsnli", _JSNLI_FILES, _JSNLI_COLUMNS, joined=True),
    "jsnli-words": Layout("nli", "jsnli", _JSNLI_FILES, _JSNLI_COLUMNS),
    "jsick": Layout("nli", "jsick", {"train": ("train.tsv*",), "test": ("test.tsv*",)}),
    "ocnli": Layout(
        "nli",
        "ocnli",
        {"train": tuple(f"train.{size}.json*" for size in ("50k", "30k", "10k", "3k")), "test": ("dev.json*",)},
    ),
}


def find_split_files(layout: Layout, place: Path, splits: Sequence[str]) -> dict[str, list[Path]]:
    """The files of the splits that a data set has, in a folder."""
    wanted = {split: names for split, names in layout.files.items() if split in splits}
    found = {split: _first_files([sorted(place.glob(name)) for name in names]) for split, names in wanted.items()}
    missing = [split for split, files in found.items() if not files]
    if missing:
        names = ", ".join(" or ".join(name.removesuffix("*") for name in wanted[split]) for split in missing)
        by_hand = datasets.DATASETS[layout.dataset].by_hand
        where = f"get it from {by_hand}" if by_hand else "put it there (.jsonl or a table, also .gz or .xz)"
        raise UnmaskError(f"{place} has no file for {quote(missing)}, which is called {names}; {where}")
    return found


def join_words(text: str) -> str:
    """A text without the spaces between its words."""
    return BETWEEN_WORDS.sub("", text)


def _first_files(groups: Sequence[list[Path]]) -> list[Path]:
    """The first group with files in it, a file that is there plain and compressed only once."""
    group = next((group for group in groups if group), [])
    return list({re.sub(r"\.(gz|xz)$", "", path.name): path for path in reversed(group)}.values())[::-1]


SPLITS = ("train", "validation", "test")
COLUMNS = {
    "text": ("text", "sentence", "review"),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "label": ("label", "gold_label", "sentiment"),
    "id": ("id",),
}
JSICK = {"premise": "sentence_A_Ja", "hypothesis": "sentence_B_Ja", "label": "entailment_label_Ja"}
"""Its names of columns, known but not asked for."""
NEEDED = {
    "mlm": ("text",),
    "sentiment": ("text", "label"),
    "nli": ("premise", "hypothesis", "label"),
    "texts": ("text",),
}
WELCOME = {"texts": ("label", "id")}
"""What is read where it is there."""
UNLABELLED = ("mlm", "texts")
NO_LABEL = "-"  # the sign of SNLI and OCNLI for pairs on which their annotators did not agree


@dataclass(frozen=True)
class Example:
    """A text, or a pair of texts, and its label if it has one."""

    text: str
    pair: str | None = None
    label: str | None = None
    id: str | None = None
    """What its file calls it."""


@dataclass(frozen=True)
class Splits:
    """The examples to train on, to choose the best checkpoint by, and to report at the end."""

    train: Sequence[Example]
    validation: Sequence[Example]
    test: Sequence[Example]

    def hashes(self) -> dict[str, str]:
        """What the examples were, exactly."""
        return {name: hash_examples(getattr(self, name)) for name in SPLITS if getattr(self, name)}


def hash_examples(examples: Iterable[Example]) -> str:
    """A SHA-256 over all texts and labels, in order."""
    total = hashlib.sha256()
    for one in examples:
        total.update(json.dumps([one.text, one.pair, one.label]).encode())
    return total.hexdigest()


def gather_examples(
    task: str,
    *,
    name: str | None = None,
    train: Path | None = None,
    validation: Path | None = None,
    test: Path | None = None,
    held_out: float,
    seed: int,
    offline: bool,
) -> Splits:
    """Examples of a known data set or of files; without a validation file, a share of the training set is held out."""
    if (name is None) == (train is None):
        raise UnmaskError("give either --data with a known data set, or --train with a file of your own")
    files = {"train": train, "validation": validation, "test": test}
    own = {split: read_examples(path, task) for split, path in files.items() if path is not None}
    found = own if name is None else {**read_known_dataset(name, task, offline=offline), **own}
    training, checking = list(found["train"]), list(found.get("validation", ()))
    if not checking:
        training, checking = _hold_out(training, held_out, seed)
    return Splits(training, checking, list(found.get("test", ())))


def labels_of(task: str, examples: Iterable[Example]) -> list[str]:
    """The labels in the order of the model's outputs: fixed for inference, sorted for sentiment."""
    found = Counter(one.label for one in examples if one.label is not None)
    if task == "nli":
        known = list(INFERENCE)
        strange = [label for label in found if label not in known]
        if strange:
            raise UnmaskError(f"unknown label {quote(strange)}; natural language inference has {', '.join(known)}")
        return known
    if len(found) < 2:
        raise UnmaskError(f"the training examples have {len(found)} label(s): {quote(found)}; two or more are needed")
    if len(found) > 20:
        raise UnmaskError(
            f"the training examples have {len(found)} different labels; is the label column the right one?"
        )
    return sorted(found, key=lambda label: (0, float(label), "") if _is_number(label) else (1, 0.0, label))


def read_examples(path: Path, task: str, *, columns: Sequence[str] = ()) -> list[Example]:
    """Examples from a file: .txt (one text a line; for mlm), .csv, .tsv, .jsonl or .parquet; also .gz and .xz.

    `columns` names those of a .csv or .tsv that does not name them itself, and has no quotes around cells.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise UnmaskError(f"{path} {what}; give a file with {_columns(task)}")
    try:
        examples = list(_rows(path, task, columns))
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except csv.Error as error:
        raise UnmaskError(f"{path} is not a table as we read it ({error}); check its quotes and separators") from None
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise UnmaskError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if not examples:
        raise UnmaskError(f"{path} has no examples; give a file with {_columns(task)}")
    return examples


def _rows(path: Path, task: str, columns: Sequence[str]) -> Iterator[Example]:
    kind = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".xz")][-1:]
    if kind == [".txt"]:
        if task not in UNLABELLED:
            raise UnmaskError(f"{path} has no labels; {task} needs a table with {_columns(task)}")
        with _open(path) as lines:
            yield from (Example(line.strip()) for line in lines if line.strip())
        return

    if kind in ([".jsonl"], [".json"]):
        with _open(path) as lines:
            full = [line for line in lines if line.strip()]
        if kind == [".json"] and full and full[0].lstrip().startswith("["):
            raise UnmaskError(f"{path} is one list; give an object a line (.jsonl)")
        rows = [json.loads(line) for line in full]
    elif kind in ([".csv"], [".tsv"]):
        with _open(path) as lines:
            reader = csv.DictReader(
                lines,
                columns or None,
                delimiter="," if kind == [".csv"] else "\t",
                quoting=csv.QUOTE_NONE if columns else csv.QUOTE_MINIMAL,
                strict=True,
            )
            double = [name for name, count in Counter(reader.fieldnames or ()).items() if count > 1]
            if double:
                raise UnmaskError(f"{path} has the column {quote(double)} twice; keep one")
            rows = list(reader)
    elif kind == [".parquet"]:
        from pyarrow import parquet

        rows = parquet.read_table(path).to_pylist()
    else:
        raise UnmaskError(f"{path} is of an unknown kind; give .txt, .csv, .tsv, .jsonl or .parquet (also .gz or .xz)")
    yield from _from_table(rows, task, path)


def _from_table(rows: list[dict[str, Any]], task: str, path: Path) -> Iterator[Example]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UnmaskError(f"{path}: row {number} is no object with names and values; give {_columns(task)}")
        if None in row:
            raise UnmaskError(f"{path}: row {number} has more cells than columns; put quotes around text with commas")
    present = rows[0].keys() if rows else ()
    names = {}
    for need in NEEDED[task]:
        found = [name for name in (*COLUMNS[need], JSICK.get(need, need)) if name in present]
        if rows and not found:
            raise UnmaskError(f"{path} has no column {need!r}, only {quote(present)}; {task} needs {_columns(task)}")
        names[need] = found[0] if found else need
    extra = {need: column for need in WELCOME.get(task, ()) for column in COLUMNS[need] if column in present}
    for number, row in enumerate(rows, 1):
        cells = {need: row.get(name) for need, name in names.items()}
        for need, cell in cells.items():
            if not isinstance(cell, str | int | float) or cell != cell or (need == "label" and not str(cell).strip()):
                raise UnmaskError(
                    f"{path}: {names[need]!r} of row {number} is {cell!r}; give a text or number in every row"
                )
        if task == "mlm":
            if str(cells["text"]).strip():
                yield Example(str(cells["text"]))
        elif task == "texts":
            more = {need: _cell(row.get(column)) for need, column in extra.items()}
            label = None if more.get("label") is None else _label(more["label"], task)
            yield Example(str(cells["text"]), None, label, more.get("id"))
        elif str(cells["label"]) != NO_LABEL:
            pair = str(cells["hypothesis"]) if task == "nli" else None
            yield Example(str(cells["premise" if task == "nli" else "text"]), pair, _label(cells["label"], task))


def _cell(value: Any) -> str | None:
    """What a cell holds that may be empty."""
    text = "" if value is None or value != value else str(value).strip()
    return text or None


def _label(value: Any, task: str) -> str:
    text = str(value).strip()
    if _is_number(text) and float(text).is_integer():
        text = str(int(float(text)))
    if task == "nli":
        return text.lower()
    return {"pos": "positive", "neg": "negative"}.get(text, text)


def read_known_dataset(
    name: str, task: str, *, offline: bool, splits: Sequence[str] = SPLITS
) -> dict[str, list[Example]]:
    """The examples of a known data set, by split."""
    layout = LAYOUTS[check_choice(name, LAYOUTS, "data set")]
    of = layout.task
    if task not in (of, "mlm"):
        raise UnmaskError(f"data set {name} is for {of}, not for {task}; choose another, or give --train")
    place = datasets.locate(layout.dataset, offline=offline)
    if place.is_dir():
        files = find_split_files(layout, place, splits)
        found = {
            split: [one for file in paths for one in read_examples(file, of, columns=layout.columns)]
            for split, paths in files.items()
        }
    else:
        found = {split: list(rows) for split, rows in (_imdb(place) if name == "imdb" else _snli(place)).items()}
        found = {split: rows for split, rows in found.items() if split in splits}
    if layout.joined:
        found = {split: [_joined(one) for one in examples] for split, examples in found.items()}
    if task == "mlm":
        return {split: [Example(one.text) for one in examples] for split, examples in found.items()}
    return found


def _joined(one: Example) -> Example:
    return replace(one, text=join_words(one.text), pair=None if one.pair is None else join_words(one.pair))


def _imdb(archive: Path) -> dict[str, list[Example]]:
    found: dict[str, list[tuple[int, Example]]] = {"train": [], "test": []}
    with tarfile.open(archive) as members:
        for member in members:
            parts = member.name.split("/")
            if len(parts) == 4 and parts[1] in found and parts[2] in ("pos", "neg"):
                content = members.extractfile(member)
                assert content is not None
                example = Example(content.read().decode().strip(), None, _label(parts[2], "sentiment"))
                found[parts[1]].append((int(parts[3].partition("_")[0]), example))
    return {
        split: [one for _, one in sorted(rows, key=lambda row: (row[1].label, row[0]))] for split, rows in found.items()
    }


def _snli(archive: Path) -> dict[str, list[Example]]:
    found = {}
    with zipfile.ZipFile(archive) as members:
        for split, short in zip(SPLITS, ("train", "dev", "test"), strict=True):
            with members.open(f"snli_1.0/snli_1.0_{short}.jsonl") as lines:
                rows = (json.loads(line) for line in lines)
                found[split] = [
                    Example(row["sentence1"], row["sentence2"], row["gold_label"])
                    for row in rows
                    if row["gold_label"] != NO_LABEL
                ]
    return found


def _hold_out(examples: list[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    if not 0 < share < 1:
        raise UnmaskError(f"--held-out is {share}; give a share between 0 and 1, such as 0.05")
    count = max(1, round(share * len(examples)))
    if count >= len(examples):
        raise UnmaskError(f"there are {len(examples)} training examples, too few to hold some out; give --validation")
    order = np.random.default_rng(seed).permutation(len(examples))
    chosen = set(order[:count].tolist())
    return (
        [one for at, one in enumerate(examples) if at not in chosen],
        [one for at, one in enumerate(examples) if at in chosen],
    )


def _open(path: Path) -> Any:
    opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def _columns(task: str) -> str:
    names = ["/".join(COLUMNS[need]) for need in NEEDED[task]]
    if task in UNLABELLED:
        return f"a text a line (.txt), or with the column {names[0]}"
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
