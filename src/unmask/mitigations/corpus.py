"""The text that a method learns from: documents of a known corpus or of files, and the sentences of a document."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask import datasets, plugins
from unmask.errors import UnmaskError, check_choice
from unmask.training import examples

DEFAULT = "gap"
KNOWN = ("gap", "imdb")
SPLITS = ("development", "validation", "test")


@dataclass(frozen=True)
class Corpus:
    """Documents, and where they come from."""

    name: str
    documents: list[str]

    @property
    def hash(self) -> str:
        """A SHA-256 over all documents, in order."""
        return hash_texts(self.documents)


def hash_texts(texts: Iterable[str]) -> str:
    """A SHA-256 over texts, in order."""
    total = hashlib.sha256()
    for text in texts:
        total.update(len(text.encode()).to_bytes(8, "big") + text.encode())
    return total.hexdigest()


def read_corpus(sources: Sequence[str], *, offline: bool = False) -> Corpus:
    """Known corpora (gap, imdb), data sets of plug-ins that are one file, and files.

    Files are .txt with a document a line, .csv, .tsv, .jsonl and .parquet, also .gz and .xz.
    """
    documents: list[str] = []
    foreign = [plugin.name for plugin in plugins.found("data set")]
    for source in sources:
        if source not in (*KNOWN, *foreign) and not Path(source).suffix:
            check_choice(source, (*KNOWN, *foreign), "corpus")
        if source == "gap":
            documents += _gap(datasets.locate("gap", offline=offline))
        elif source in KNOWN:
            found = examples.gather_examples(
                "mlm", name=source, train=None, validation=None, test=None, held_out=1e-9, seed=0, offline=offline
            )
            documents += [one.text for one in (*found.train, *found.validation)]
        else:
            file = datasets.locate(source, offline=offline) if source in foreign else Path(source)
            documents += [one.text for one in examples.read_examples(file, "mlm")]
    return Corpus(", ".join(sources), documents)


def split_sentences(document: str, language: str) -> list[str]:
    """The sentences of a document, without the white space around them."""
    from sentencex import segment

    return [stripped for sentence in segment(language, document) if (stripped := sentence.strip())]


def _gap(folder: Path) -> list[str]:
    """The passages of GAP, in the order in which the paper took its parts."""
    documents = []
    for split in SPLITS:
        path = folder / f"gap-{split}.tsv"
        if not path.is_file():
            raise UnmaskError(f"{folder} has no gap-{split}.tsv; GAP has three files, gap-{{{','.join(SPLITS)}}}.tsv")
        with path.open(encoding="utf-8", newline="") as lines:
            documents += [row["Text"] for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return documents
