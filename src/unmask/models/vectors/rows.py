"""Choosing rows while they are read: the wanted words, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models.vectors.table import Vectors, checked

Keep = Callable[[str], bool]
"""Whether the vector of a word is wanted."""


def check_most(most: int | None) -> None:
    """Refuse to read fewer than one word."""
    if most is not None and most < 1:
        raise UnmaskError(f"the first {most} words are asked for; ask for at least 1")


def as_word(content: bytes) -> str:
    """Bytes that are no UTF-8, of which old files have some, come out again as they went in."""
    return content.decode("utf-8", "surrogateescape")


class Rows:
    """The rows of a file as they are read; vectors that are not wanted are never held."""

    def __init__(self, size: int, *, room: int = 0, keep: Keep | None = None) -> None:
        """Rows of `size` values; `room` is for how many there is space from the start, if all are wanted."""
        self.words: list[str] = []
        self.read = 0
        self.duplicates = 0
        self._keep = keep
        self._seen: set[str] = set()
        self._size = size
        self._room = room if keep is None and room else 1_024
        self._matrix = np.empty((0, size), np.float32)  # until a row shows that it is as long as the file says

    def wants(self, word: str) -> bool:
        """Count a word that was read, and say whether its vector is wanted."""
        self.read += 1
        if self._keep is not None and not self._keep(word):
            return False
        if word in self._seen:
            self.duplicates += 1
            return False
        self._seen.add(word)
        return True

    def add(self, word: str, row: NDArray[np.float32]) -> None:
        """Hold the vector of a word."""
        at, held = len(self.words), len(self._matrix)
        if not held:
            self._matrix = np.empty((self._room, self._size), np.float32)
        elif at == held:
            self._matrix.resize((held + max(1, held // 2), self._size), refcheck=False)
        self._matrix[at] = row
        self.words.append(word)

    def finish(self, name: str, form: str) -> Vectors:
        """What was held."""
        self._matrix.resize((len(self.words), self._size), refcheck=False)
        return checked(self.words, self._matrix, name=name, form=form, duplicates=self.duplicates, read=self.read)


@dataclass(frozen=True)
class Chosen:
    """The wanted ones of words whose vectors are at hand."""

    words: list[str]
    places: list[int]
    read: int
    duplicates: int

    def vectors(self, rows: Any, *, name: str, form: str = "word2vec", source: str = "") -> Vectors:
        """These words with their vectors, one a row."""
        matrix = as_matrix(rows, name)
        if len(self.words) != len(matrix):
            raise UnmaskError(f"{name}: {len(self.words):,} words have {len(matrix):,} vectors; give one for each")
        with np.errstate(over="ignore"):
            values = np.asarray(matrix, np.float32)
        return checked(
            self.words, values, name=name, form=form, source=source, duplicates=self.duplicates, read=self.read
        )


def choose(words: Iterable[str], *, most: int | None = None, keep: Keep | None = None) -> Chosen:
    """The words that are wanted, each once, of the first `most`."""
    check_most(most)
    rows, places = Rows(0, keep=keep), []
    for place, word in enumerate(islice(words, most)):
        if rows.wants(word):
            rows.words.append(word)
            places.append(place)
    return Chosen(rows.words, places, rows.read, rows.duplicates)


def table(
    words: list[str],
    rows: Any,
    *,
    name: str,
    form: str = "word2vec",
    source: str = "",
    most: int | None = None,
    keep: Keep | None = None,
) -> Vectors:
    """The wanted rows of a table that is at hand; without a copy where all are wanted."""
    matrix = as_matrix(rows, name)
    if len(words) != len(matrix):
        raise UnmaskError(f"{name}: there are {len(words):,} words and {len(matrix):,} vectors; give one of each")
    chosen = choose(words, most=most, keep=keep)
    whole = len(chosen.places) == len(matrix)
    return chosen.vectors(matrix if whole else matrix[chosen.places], name=name, form=form, source=source)


def as_matrix(rows: Any, name: str) -> NDArray[Any]:
    """Numbers in rows and columns; refused if they are something else."""
    try:
        matrix = np.asarray(rows)
    except ValueError:
        raise UnmaskError(f"{name}: its vectors differ in length; give each word as many values") from None
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiu":
        raise UnmaskError(
            f"{name}: the vectors are an array of shape {matrix.shape} and type {matrix.dtype}; give one row of numbers"
            " a word"
        )
    return matrix
