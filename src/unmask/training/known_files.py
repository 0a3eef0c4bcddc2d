"""How known data sets lie on disk: which file is which split, and what has to be known to read it.

The splits are the official ones. Where the labels of a test split were never published (OCNLI), or there is none
(JSNLI), the official development set is the test, and validation is held out of training as for files of a user's;
so also where there is no development set (IMDB, JSICK). What is reported at the end has chosen no checkpoint.

JSNLI has spaces between its words. As `jsnli` they are taken out, since most Japanese tokenizers find words themselves;
as `jsnli-words` they stay, for tokenizers that want words (those of Juman++).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask import datasets
from unmask.errors import UnmaskError, listed

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


def find(layout: Layout, place: Path, splits: Sequence[str]) -> dict[str, list[Path]]:
    """The files of the splits that a data set has, in a folder."""
    wanted = {split: names for split, names in layout.files.items() if split in splits}
    found = {split: _first([sorted(place.glob(name)) for name in names]) for split, names in wanted.items()}
    missing = [split for split, files in found.items() if not files]
    if missing:
        names = ", ".join(" or ".join(name.removesuffix("*") for name in wanted[split]) for split in missing)
        by_hand = datasets.DATASETS[layout.dataset].by_hand
        where = f"get it from {by_hand}" if by_hand else "put it there (.jsonl or a table, also .gz or .xz)"
        raise UnmaskError(f"{place} has no file for {listed(missing)}, which is called {names}; {where}")
    return found


def join(text: str) -> str:
    """A text without the spaces between its words."""
    return BETWEEN_WORDS.sub("", text)


def _first(groups: Sequence[list[Path]]) -> list[Path]:
    """The first group with files in it, a file that is there plain and compressed only once."""
    group = next((group for group in groups if group), [])
    return list({re.sub(r"\.(gz|xz)$", "", path.name): path for path in reversed(group)}.values())[::-1]
