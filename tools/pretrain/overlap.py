"""Word n-grams that text for pretraining must not share with the sentences that the model will be measured on."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from unmask.lexicon import words
from unmask.measures.association.data import build_rows
from unmask.measures.base import PROTOCOLS

LENGTH = 8
WORD = re.compile(r"[^\W_]+")
PACKAGE_FILES = ("reviews.csv", "inference_templates.csv", "weat_templates.csv")


def word_ngrams(text: str) -> Iterator[int]:
    """The hash of every 8-gram of lower-case words; the same within one process and its children."""
    found = WORD.findall(text.lower())
    for start in range(len(found) - LENGTH + 1):
        yield hash(tuple(found[start : start + LENGTH]))


def package_sentences() -> Iterator[str]:
    """The sentences that the package itself asks about."""
    for corpus, protocol in product(("bec-pro", "emotions"), PROTOCOLS):
        yield from (row.sentence for row in build_rows("en", corpus, protocol=protocol))
    folder = Path(words.__file__).parent / "en"
    for name in PACKAGE_FILES:
        yield from (folder / name).read_text(encoding="utf-8").splitlines()


def test_ngrams(folders: Iterable[Path]) -> dict[str, set[int]]:
    """The n-grams of the package and of every text file below each folder, by the folder's name.

    A line of a table counts as one text: what crosses from one column into the next matches no running text.
    """
    ngrams = {"package": {ngram for sentence in package_sentences() for ngram in word_ngrams(sentence)}}
    for folder in folders:
        ngrams[folder.name] = set()
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
                ngrams[folder.name].update(ngram for line in lines for ngram in word_ngrams(line))
    return ngrams
