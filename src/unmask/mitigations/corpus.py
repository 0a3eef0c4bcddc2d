"""The text that a method learns from: documents of a known corpus or of files, and the sentences of a document."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from unmask import datasets, plugins
from unmask.errors import UnmaskError, check_choice
from unmask.files import hash_content
from unmask.training.examples import SPLITS, gather_examples, read_examples

GAP, IMDB = "gap", "imdb"


def hash_texts(texts: Iterable[str]) -> str:
    """Compute a SHA-256 over texts and their lengths, in order."""
    encoded = (text.encode() for text in texts)
    return hash_content(*(part for text in encoded for part in (len(text).to_bytes(8, "big"), text)))


def read_corpus(sources: Sequence[str], *, offline: bool = False) -> list[str]:
    """Read the documents of known corpora (gap, imdb), of data sets of plug-ins that are one file, and of files.

    Files are .txt with a document a line, .csv, .tsv, .jsonl and .parquet, also .gz and .xz.
    """
    documents: list[str] = []
    from_plugins = [plugin.name for plugin in plugins.found("data set")]
    for source in sources:
        if source not in (GAP, IMDB, *from_plugins) and not Path(source).suffix:
            check_choice(source, (GAP, IMDB, *from_plugins), "corpus")
        if source == GAP:
            documents += _read_gap(datasets.locate(GAP, offline=offline))
        elif source == IMDB:
            splits = gather_examples("mlm", name=IMDB, held_out=1e-9, seed=0, offline=offline)
            documents += [example.text for example in (*splits.train, *splits.validation)]
        else:
            file = datasets.locate(source, offline=offline) if source in from_plugins else Path(source)
            documents += [example.text for example in read_examples(file, "mlm")]
    return documents


def _read_gap(folder: Path) -> list[str]:
    """Read the passages of GAP, in the order in which the paper took its parts."""
    documents = []
    for split in ("development", *SPLITS[1:]):
        path = folder / f"gap-{split}.tsv"
        if not path.is_file():
            raise UnmaskError(f"{folder} has no {path.name}; GAP has three files: development, validation and test")
        with path.open(encoding="utf-8", newline="") as lines:
            documents += [row["Text"] for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return documents
