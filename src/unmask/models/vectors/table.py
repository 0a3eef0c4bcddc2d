"""Words and their vectors, and which ones they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, listed
from unmask.results import ModelInfo

FORMATS = ("word2vec", "word2vec-text", "glove")
"""The formats that other programs read too."""
NUMPY_FORMATS = ("npz", "npy")
ARCHITECTURES = {
    "word2vec": "word2vec, binary",
    "word2vec-text": "word2vec, text",
    "glove": "GloVe, text",
    "npz": "NumPy, npz",
    "npy": "NumPy, npy",
}
BLOCK = 16_384
"""How many rows are looked at together."""


@dataclass(frozen=True)
class Vectors:
    """Words and their vectors, in the order of the file."""

    words: list[str]
    matrix: NDArray[np.float32]
    form: str = "word2vec"
    """The format of the file that they came in."""
    name: str = "word vectors"
    """The file, or what was given in its place."""
    source: str = ""
    """What they were before they came here, if no file: gensim's KeyedVectors, a dict."""
    duplicates: int = 0
    """How many rows were left out because their word had come before."""
    zeros: list[str] = field(default_factory=list)
    """The words whose vectors are all zeros, so that they point nowhere."""
    mitigation: Mapping[str, Any] = field(default_factory=dict)
    """What a mitigation has written beside the file, if it made it."""

    def __post_init__(self) -> None:
        """Keep where each word stands; of a word that comes twice, the first counts."""
        places: dict[str, int] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, place)
        object.__setattr__(self, "_places", places)

    def __contains__(self, word: str) -> bool:
        return word in self._places  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.words)

    def place(self, word: str) -> int:
        """The row of a word."""
        return int(self._places[word])  # type: ignore[attr-defined]

    def known(self, words: Iterable[str]) -> tuple[list[str], list[str]]:
        """The words that have a vector, and those that have none, each in the order given."""
        known: list[str] = []
        missing: list[str] = []
        for word in words:
            (known if word in self else missing).append(word)
        return known, missing

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of words, one a row."""
        known, missing = self.known(words)
        if missing:
            raise UnmaskError(f"there is no vector for {listed(missing)}; leave them out, or give other vectors")
        return self.matrix[[self.place(word) for word in known]]

    def notes(self) -> list[str]:
        """What was odd about them, a sentence each; none if nothing was."""
        found = []
        if self.duplicates:
            rows = "1 row was" if self.duplicates == 1 else f"{self.duplicates:,} rows were"
            found.append(f"{rows} left out of {self.name}: the word had come before, and the first counts.")
        if self.zeros:
            words = "1 word" if len(self.zeros) == 1 else f"{len(self.zeros):,} words"
            found.append(f"{words} of {self.name} have a vector of zeros, which points nowhere: {listed(self.zeros)}.")
        return found

    def weight_hash(self) -> str:
        """A SHA-256 over the words and their vectors, in their order; the same in whatever format they came."""
        digest = hashlib.sha256("\n".join(self.words).encode("utf-8", "surrogateescape"))
        for start in range(0, len(self.words), BLOCK):
            digest.update(self.matrix[start : start + BLOCK].astype("<f4").tobytes())
        return digest.hexdigest()

    def info(self) -> ModelInfo:
        """Which vectors these are, exactly: of the rows that were read."""
        weights = self.weight_hash()
        is_made = self.mitigation.get("weight_hash") == weights  # not if some are left out, or were changed since
        made = self.mitigation if is_made else {}
        return ModelInfo(
            name=self.name,
            architecture=self.source or ARCHITECTURES.get(self.form, self.form),
            parameters=int(self.matrix.size),
            weight_hash=weights,
            vocabulary=len(self.words),
            dtype=str(self.matrix.dtype),
            mitigation=made.get("method"),
            parent_weight_hash=(made.get("parent") or {}).get("weight_hash"),
        )


def checked(
    words: list[str],
    matrix: NDArray[np.float32],
    *,
    name: str,
    form: str,
    source: str = "",
    duplicates: int = 0,
    read: int,
) -> Vectors:
    """The wanted ones of `read` words; refused if there are none, or if a number is none."""
    if not words:
        raise UnmaskError(
            f"none of the {read:,} words of {name} is wanted; give other vectors"
            if read
            else f"{name} has no vectors; give a file of word vectors"
        )
    if matrix.shape[1] < 2:
        raise UnmaskError(f"{name} has vectors of {matrix.shape[1]} value; give vectors of at least 2")
    zeros: list[str] = []
    for start in range(0, len(matrix), BLOCK):
        block = matrix[start : start + BLOCK]
        wrong = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(wrong):
            word = words[start + int(wrong[0])]
            raise UnmaskError(f"{name}: the vector of {word!r} is not finite (NaN or infinite); leave it out")
        zeros += [words[start + int(at)] for at in np.flatnonzero(~block.any(axis=1))]
    return Vectors(words, matrix, form, name, source, duplicates, zeros)
