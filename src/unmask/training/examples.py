"""Training examples: texts, or pairs of texts, with labels; from a user's files or a known dataset.

`layouts.toml` lists the tasks, their columns, and the files of known datasets. The splits of known datasets are the
official ones. Where the labels of a test split were never published (OCNLI), or there is none (JSNLI), the official
development set is the test set, and validation data is held out of training as for a user's files; so too where there
is no development set (IMDB, JSICK). The examples of the final report have chosen no checkpoint.

JSNLI has spaces between its words. As `jsnli` they are removed, since most Japanese tokenizers find words themselves;
as `jsnli-words` they stay, for tokenizers that want words (those of Juman++).
"""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import math
import re
import tarfile
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from unmask import datasets
from unmask.errors import UnmaskError, check_choice, import_extra, quote
from unmask.files import hash_content

LATIN = "A-Za-zＡ-Ｚａ-ｚ"
BETWEEN_WORDS = re.compile(f"(?<![{LATIN} ]) +| +(?![{LATIN} ])")
"""Spaces, but not those between two Latin words, which belong there."""
NO_LABEL = "-"
"""The label of SNLI and OCNLI for pairs on which their annotators did not agree."""
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True)
class TaskLayout:
    """The columns of a task's examples."""

    columns: Sequence[str]
    optional: Sequence[str] = ()
    labels: Sequence[str] = ()
    """The labels in the order of the model's outputs, if they are always the same."""
    skips_blank: bool = False

    @property
    def has_labels(self) -> bool:
        """Whether every example has a label."""
        return "label" in self.columns

    def describe(self) -> str:
        """Describe the columns that a file needs."""
        names = ["/".join(COLUMNS[column]) for column in self.columns]
        if not self.has_labels:
            return f"a text a line (.txt), or with the column {names[0]}"
        return f"the columns {', '.join(names)}"


@dataclass(frozen=True)
class DatasetLayout:
    """The files of a known dataset, and the task that it is for."""

    task: str
    files: Mapping[str, Sequence[str]]
    """For each split, the patterns of its files, the best first."""
    dataset: str
    """Its name in `datasets`."""
    header: Sequence[str] = ()
    """The columns of tables that do not name them."""
    joined: bool = False
    """Whether the spaces between words are removed."""


_TABLES = tomllib.loads(Path(__file__).with_name("layouts.toml").read_text(encoding="utf-8"))
COLUMNS: dict[str, list[str]] = _TABLES["columns"]
TASK_LAYOUTS: dict[str, TaskLayout] = {name: TaskLayout(**entry) for name, entry in _TABLES["tasks"].items()}
LAYOUTS = {name: DatasetLayout(**{"dataset": name, **entry}) for name, entry in _TABLES["datasets"].items()}


@dataclass(frozen=True)
class TextExample:
    """A text, or a pair of texts, and its label if it has one."""

    text: str
    pair: str | None = None
    label: str | None = None
    id: str | None = None
    """Its identifier in its file."""


@dataclass(frozen=True)
class Splits:
    """The examples to train on, to choose the best checkpoint by, and to report at the end."""

    train: Sequence[TextExample]
    validation: Sequence[TextExample]
    test: Sequence[TextExample]

    def hashes(self) -> dict[str, str]:
        """Compute the hash of every split that has examples."""
        return {name: hash_examples(getattr(self, name)) for name in SPLITS if getattr(self, name)}


def hash_examples(examples: Iterable[TextExample]) -> str:
    """Compute a SHA-256 over all texts and labels, in order."""
    return hash_content(*(json.dumps([example.text, example.pair, example.label]) for example in examples))


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
    """Read examples of a known dataset or of files; without validation examples, a share of training is held out."""
    if (name is None) == (train is None):
        raise UnmaskError("give either --data with a known data set, or --train with a file of your own")
    files = {"train": train, "validation": validation, "test": test}
    splits = {split: read_examples(path, task) for split, path in files.items() if path is not None}
    if name is not None:
        splits = {**read_known_dataset(name, task, offline=offline), **splits}
    learned, checked = splits["train"], splits.get("validation", [])
    if not checked:
        if not 0 < held_out < 1:
            raise UnmaskError(f"--held-out is {held_out}; give a share between 0 and 1, such as 0.05")
        count = max(1, round(held_out * len(learned)))
        if count >= len(learned):
            raise UnmaskError(
                f"there are {len(learned)} training examples, too few to hold some out; give --validation"
            )
        import numpy as np  # not needed for the options of commands

        held_out_indices = set(np.random.default_rng(seed).permutation(len(learned))[:count].tolist())
        checked = [example for index, example in enumerate(learned) if index in held_out_indices]
        learned = [example for index, example in enumerate(learned) if index not in held_out_indices]
    return Splits(learned, checked, splits.get("test", []))


def order_labels(task: str, examples: Iterable[TextExample]) -> list[str]:
    """Return the labels in the order of the model's outputs: the task's own, or those of the examples, sorted."""
    counts = Counter(example.label for example in examples if example.label is not None)
    if labels := list(TASK_LAYOUTS[task].labels):
        unknown = [label for label in counts if label not in labels]
        if unknown:
            raise UnmaskError(f"unknown label {quote(unknown)}; natural language inference has {', '.join(labels)}")
        return labels
    if len(counts) < 2:
        raise UnmaskError(f"the training examples have {len(counts)} label(s): {quote(counts)}; two or more are needed")
    if len(counts) > 20:
        raise UnmaskError(
            f"the training examples have {len(counts)} different labels; is the label column the right one?"
        )
    return sorted(counts, key=lambda label: (0, float(label), "") if _is_number(label) else (1, 0.0, label))


def read_examples(path: Path, task: str, *, header: Sequence[str] = ()) -> list[TextExample]:
    """Read examples from a file: .txt (one text a line), .csv, .tsv, .jsonl or .parquet; also .gz and .xz.

    `header` names the columns of a .csv or .tsv that does not name them itself, and has no quotes around cells.
    """
    layout = TASK_LAYOUTS[task]
    if not path.is_file():
        problem = "is a folder" if path.is_dir() else "does not exist"
        raise UnmaskError(f"{path} {problem}; give a file with {layout.describe()}")
    try:
        rows = _read_rows(path, header)
        if _file_type(path) == ".txt" and layout.has_labels:
            raise UnmaskError(f"{path} has no labels; {task} needs a table with {layout.describe()}")
        examples = _make_examples(rows, task, path)
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except csv.Error as error:
        raise UnmaskError(f"{path} is not a table as we read it ({error}); check its quotes and separators") from None
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise UnmaskError(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if not examples:
        raise UnmaskError(f"{path} has no examples; give a file with {layout.describe()}")
    return examples


def _file_type(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".xz")]
    return suffixes[-1] if suffixes else ""


def _read_rows(path: Path, header: Sequence[str]) -> list[dict[str, Any]]:
    """Read the rows of a table; the lines of a .txt are rows with a text."""
    file_type = _file_type(path)
    if file_type == ".parquet":
        parquet = import_extra("pyarrow.parquet", "parquet", str(path))
        rows: list[dict[str, Any]] = parquet.read_table(path).to_pylist()
        return rows
    if file_type not in (".txt", ".json", ".jsonl", ".csv", ".tsv"):
        raise UnmaskError(f"{path} is of an unknown kind; give .txt, .csv, .tsv, .jsonl or .parquet (also .gz or .xz)")
    open_file: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with open_file(path, "rt", encoding="utf-8-sig", newline="") as lines:
        if file_type in (".csv", ".tsv"):
            reader = csv.DictReader(
                lines,
                header or None,
                delimiter="," if file_type == ".csv" else "\t",
                quoting=csv.QUOTE_NONE if header else csv.QUOTE_MINIMAL,
                strict=True,
            )
            duplicates = [name for name, count in Counter(reader.fieldnames or ()).items() if count > 1]
            if duplicates:
                raise UnmaskError(f"{path} has the column {quote(duplicates)} twice; keep one")
            return list(reader)
        content = [line.strip() for line in lines if line.strip()]
    if file_type == ".txt":
        return [{"text": line} for line in content]
    if file_type == ".json" and content and content[0].startswith("["):
        raise UnmaskError(f"{path} is one list; give an object a line (.jsonl)")
    return [json.loads(line) for line in content]


def _make_examples(rows: Sequence[dict[str, Any]], task: str, path: Path) -> list[TextExample]:
    """Check the cells of the rows, and make examples of them."""
    layout = TASK_LAYOUTS[task]
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UnmaskError(f"{path}: row {number} is no object with names and values; give {layout.describe()}")
        if None in row:
            raise UnmaskError(f"{path}: row {number} has more cells than columns; put quotes around text with commas")
    present = rows[0].keys() if rows else ()
    names: dict[str, str | None] = {}
    for column in (*layout.columns, *layout.optional):
        names[column] = next((name for name in COLUMNS[column] if name in present), None)
        if rows and names[column] is None and column in layout.columns:
            raise UnmaskError(
                f"{path} has no column {column!r}, only {quote(present)}; {task} needs {layout.describe()}"
            )
    examples = []
    for number, row in enumerate(rows, 1):
        cells = {column: row.get(name) for column, name in names.items() if name is not None}
        for column in layout.columns:
            cell = cells[column]
            is_text = isinstance(cell, str | int | float) and cell == cell
            if not is_text or (column == "label" and not str(cell).strip()):
                raise UnmaskError(
                    f"{path}: {names[column]!r} of row {number} is {cell!r}; give a text or number in every row"
                )
        first, *second = (str(cells[column]) for column in layout.columns if column != "label")
        label, name = (_read_optional(cells.get(column)) for column in ("label", "id"))
        if (layout.skips_blank and not first.strip()) or (layout.has_labels and str(cells["label"]) == NO_LABEL):
            continue
        pair = second[0] if second else None
        examples.append(TextExample(first, pair, None if label is None else normalise_label(label, task), name))
    return examples


def _read_optional(cell: Any) -> str | None:
    """Return the text of a cell; None if it is missing, NaN or blank."""
    return None if cell is None or cell != cell else str(cell).strip() or None


def normalise_label(label: str, task: str) -> str:
    """Write a label in one way: whole numbers without decimals, `pos` and `neg` in full, fixed labels in lower case."""
    if _is_number(label) and float(label).is_integer():
        label = str(int(float(label)))
    if TASK_LAYOUTS[task].labels:
        return label.lower()
    return {"pos": "positive", "neg": "negative"}.get(label, label)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def read_known_dataset(
    name: str, task: str, *, offline: bool, splits: Sequence[str] = SPLITS
) -> dict[str, list[TextExample]]:
    """Read the examples of a known dataset, by split."""
    layout = LAYOUTS[check_choice(name, LAYOUTS, "data set")]
    if task not in (layout.task, "mlm"):
        raise UnmaskError(f"data set {name} is for {layout.task}, not for {task}; choose another, or give --train")
    path = datasets.locate(layout.dataset, offline=offline)
    if path.is_dir():
        examples = {
            split: [example for file in files for example in read_examples(file, layout.task, header=layout.header)]
            for split, files in _find_split_files(layout, path, splits).items()
        }
    else:
        read_archive = _read_pair_archive if path.suffix == ".zip" else _read_text_archive
        examples = {split: rows for split, rows in read_archive(path, layout.task).items() if split in splits}
    if task != layout.task:
        examples = {split: [TextExample(example.text) for example in rows] for split, rows in examples.items()}
    if layout.joined:
        examples = {split: [_join_example(example) for example in rows] for split, rows in examples.items()}
    return examples


def join_words(text: str) -> str:
    """Remove the spaces between words."""
    return BETWEEN_WORDS.sub("", text)


def _join_example(example: TextExample) -> TextExample:
    return replace(
        example, text=join_words(example.text), pair=None if example.pair is None else join_words(example.pair)
    )


def _find_split_files(layout: DatasetLayout, folder: Path, splits: Sequence[str]) -> dict[str, list[Path]]:
    """Find the files of the splits of a dataset; a file that is there plain and compressed counts once."""
    patterns = {split: names for split, names in layout.files.items() if split in splits}
    files = {}
    for split, names in patterns.items():
        matches = next((paths for name in names if (paths := sorted(folder.glob(name)))), [])
        unpacked = {re.sub(r"\.(gz|xz)$", "", path.name): path for path in reversed(matches)}
        files[split] = [*unpacked.values()][::-1]
    missing = [split for split, paths in files.items() if not paths]
    if missing:
        names = ", ".join(" or ".join(name.removesuffix("*") for name in patterns[split]) for split in missing)
        by_hand = datasets.built_in()[layout.dataset].by_hand
        hint = f"get it from {by_hand}" if by_hand else "put it there (.jsonl or a table, also .gz or .xz)"
        raise UnmaskError(f"{folder} has no file for {quote(missing)}, which is called {names}; {hint}")
    return files


def _read_text_archive(archive: Path, task: str) -> dict[str, list[TextExample]]:
    """Read a text a file, in folders `train/pos`, `train/neg`, `test/pos` and `test/neg` (IMDB)."""
    numbered: dict[str, list[tuple[int, TextExample]]] = {"train": [], "test": []}
    with tarfile.open(archive) as members:
        for member in members:
            parts = member.name.split("/")
            if len(parts) == 4 and parts[1] in numbered and parts[2] in ("pos", "neg"):
                content = members.extractfile(member)
                assert content is not None
                example = TextExample(content.read().decode().strip(), None, normalise_label(parts[2], task))
                numbered[parts[1]].append((int(parts[3].partition("_")[0]), example))
    return {
        split: [example for _, example in sorted(rows, key=lambda row: (row[1].label, row[0]))]
        for split, rows in numbered.items()
    }


def _read_pair_archive(archive: Path, task: str) -> dict[str, list[TextExample]]:
    """Read a JSON-lines file a split (SNLI)."""
    examples = {}
    with zipfile.ZipFile(archive) as members:
        for split, short in zip(SPLITS, ("train", "dev", "test"), strict=True):
            with members.open(f"snli_1.0/snli_1.0_{short}.jsonl") as lines:
                examples[split] = _make_examples([json.loads(line) for line in lines], task, archive)
    return examples
