"""Words and their vectors, from whatever holds them: a file, gensim, a dict, a matrix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, quote
from unmask.files import hash_content
from unmask.models.roles import ADAPTER, CONFIG, MITIGATION, describe_mitigation, read_mitigation_record
from unmask.results import ModelInfo

FORMATS = ("word2vec", "word2vec-text", "glove")
"""The formats that other programs read too."""
ARCHITECTURES = {
    "word2vec": "word2vec, binary",
    "word2vec-text": "word2vec, text",
    "glove": "GloVe, text",
    "npz": "NumPy, npz",
    "npy": "NumPy, npy",
}
PICKLES = (".kv", ".model", ".pkl", ".pickle")
ENDINGS = (".bin", ".txt", ".vec", ".gz", ".npz", ".npy", *PICKLES)
"""Common suffixes of vector files; a vector file may have any other."""
BLOCK = 16_384
"""The number of rows that are checked or hashed together."""

Keep = Callable[[str], bool]
"""Whether the vector of a word is wanted."""


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
    """What they came from, if not from a file: gensim, a dict."""
    duplicates: int = 0
    """The number of rows left out because their word had come before."""
    mitigation: Mapping[str, Any] = field(default_factory=dict)
    """The record that a mitigation has written next to the file."""

    def __post_init__(self) -> None:
        """Index the words; of a word that comes twice, the first counts."""
        rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            rows.setdefault(word, row)
        object.__setattr__(self, "_rows", rows)

    def __contains__(self, word: str) -> bool:
        return word in self._rows  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self.words)

    def find_row(self, word: str) -> int:
        """Return the row of a word."""
        return int(self._rows[word])  # type: ignore[attr-defined]

    def known(self, words: Iterable[str]) -> tuple[list[str], list[str]]:
        """Split words into those that have a vector and those that have none, each in the order given."""
        listed = list(words)
        return [word for word in listed if word in self], [word for word in listed if word not in self]

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of words, one a row."""
        present, missing = self.known(words)
        if missing:
            raise UnmaskError(f"there is no vector for {quote(missing)}; leave them out, or give other vectors")
        return self.matrix[[self.find_row(word) for word in present]]

    def weight_hash(self) -> str:
        """Compute a SHA-256 over the words and their vectors, which is the same in every format."""
        blocks = (self.matrix[start : start + BLOCK] for start in range(0, len(self.words), BLOCK))
        return hash_content("\n".join(self.words), *(block.astype("<f4").tobytes() for block in blocks))

    def info(self) -> ModelInfo:
        """Identify the vectors that were read; a mitigation does not count if rows were left out or changed since."""
        weights = self.weight_hash()
        return ModelInfo(
            name=self.name,
            architecture=self.source or ARCHITECTURES.get(self.form, self.form),
            parameters=int(self.matrix.size),
            weight_hash=weights,
            vocabulary=len(self.words),
            dtype=str(self.matrix.dtype),
            **describe_mitigation(self.mitigation, weights),
        )


class WordFilter:
    """Decides, word by word, which rows are kept: the wanted words, each once."""

    def __init__(self, most: int | None = None, keep: Keep | None = None) -> None:
        """Look at the first `most` words only, and want those for which `keep` is true."""
        if most is not None and most < 1:
            raise UnmaskError(f"the number of words is {most}; give at least 1")
        self.most = most
        self.words: list[str] = []
        """The accepted words."""
        self.read = 0
        self.duplicates = 0
        self._keep = keep
        self._seen: set[str] = set()

    def accepts(self, word: str) -> bool:
        """Count a word, and say whether its row is kept."""
        self.read += 1
        if self._keep is not None and not self._keep(word):
            return False
        if word in self._seen:
            self.duplicates += 1
            return False
        self._seen.add(word)
        self.words.append(word)
        return True


def build_vectors(selection: WordFilter, rows: Any, *, name: str, form: str = "word2vec", source: str = "") -> Vectors:
    """Check the rows of the accepted words, and build `Vectors` of them."""
    words = selection.words
    if not words:
        raise UnmaskError(
            f"none of the {selection.read:,} words of {name} is wanted; give other vectors"
            if selection.read
            else f"{name} has no vectors; give a file of word vectors"
        )
    matrix = _as_matrix(rows, name)
    if len(words) != len(matrix):
        raise UnmaskError(f"{name}: {len(words):,} words have {len(matrix):,} vectors; give one for each")
    if matrix.shape[1] < 2:
        raise UnmaskError(f"{name} has vectors of {matrix.shape[1]} value; give vectors of at least 2")
    with np.errstate(over="ignore"):
        matrix = np.asarray(matrix, np.float32)
    for start in range(0, len(matrix), BLOCK):
        block = matrix[start : start + BLOCK]
        invalid = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(invalid):
            word = words[start + int(invalid[0])]
            raise UnmaskError(f"{name}: the vector of {word!r} is not finite (NaN or infinite); leave it out")
    return Vectors(words, matrix, form, name, source, selection.duplicates)


def select_rows(
    words: Iterable[Any],
    rows: Any,
    selection: WordFilter,
    *,
    name: str,
    form: str = "word2vec",
    source: str = "",
) -> Vectors:
    """Build `Vectors` of the wanted words, from a table or a function that returns the rows of words.

    Rows of a table are not copied where all are wanted.
    """
    listed = list(words)
    for word in listed:
        if not isinstance(word, str):
            raise UnmaskError(f"{name} has {word!r} among its words; give strings")
    table = None if callable(rows) else _as_matrix(rows, name)
    if table is not None and len(listed) != len(table):
        raise UnmaskError(f"{name}: there are {len(listed):,} words and {len(table):,} vectors; give one of each")
    indices = [index for index, word in enumerate(islice(listed, selection.most)) if selection.accepts(str(word))]
    if table is None:
        table = rows(selection.words)
    elif len(indices) < len(table):
        table = table[indices]
    return build_vectors(selection, table, name=name, form=form, source=source)


def _as_matrix(rows: Any, name: str) -> NDArray[Any]:
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


def is_vector_folder(path: Path) -> bool:
    """Whether a folder holds vectors and no model."""
    return (path / MITIGATION).is_file() and not any((path / name).is_file() for name in (CONFIG, ADAPTER))


def find_vector_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Find the vector file in a folder that `unmask mitigate` has written; returns it and its record."""
    record = read_mitigation_record(folder / MITIGATION)
    description = record.get("made")
    file = description.get("file") if isinstance(description, dict) else None
    if not isinstance(file, str) or Path(file).name != file:
        raise UnmaskError(f"{folder / MITIGATION} names no file of vectors; give the file itself")
    if not (folder / file).is_file():
        raise UnmaskError(f"{folder} has no {file}, which {MITIGATION} names; give the file itself")
    return folder / file, record


def load_vectors(data: Any, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Load word vectors from whatever holds them.

    That is a file (see `read_vectors`), a folder of debiased vectors, gensim's `KeyedVectors` or a model that has them
    as `wv`, a dict of word and vector, `(words, matrix)`, or an object with `words` and a method `vectors(words)`. With
    `most`, only that many words are read; with `keep`, only words for which it is true are kept.
    """
    from unmask.models.vector_files import read_vectors

    if isinstance(data, str | os.PathLike):
        path = Path(data)
        if not is_vector_folder(path):
            return read_vectors(path, most=most, keep=keep)
        file, record = find_vector_file(path)
        return replace(read_vectors(file, most=most, keep=keep), name=str(data), mitigation=record)
    selection = WordFilter(most, keep)
    if isinstance(data, Vectors):
        if most is None and keep is None:
            return data
        selected = select_rows(data.words, data.matrix, selection, name=data.name, form=data.form, source=data.source)
        return replace(selected, duplicates=data.duplicates + selected.duplicates, mitigation=data.mitigation)
    parts = _find_words_and_rows(data)
    if parts is None:
        raise UnmaskError(
            f"a {type(data).__name__} holds no word vectors; give a file, gensim's KeyedVectors, a dict of word and"
            " vector, or (words, matrix)"
        )
    words, rows, name, source = parts
    return select_rows(words, rows, selection, name=name, source=source)


def is_word_vectors(data: Any) -> bool:
    """Whether something is word vectors rather than a model: a file, or an object with words and vectors.

    A folder counts if `unmask mitigate` has left vectors in it. The name of a missing file counts if it has a suffix of
    vector files, so that reading it tells what is wrong.
    """
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        try:
            return path.is_file() or is_vector_folder(path) or (path.suffix in ENDINGS and not path.exists())
        except (OSError, ValueError):  # too long for a name, or with a NUL in it
            return False
    if isinstance(data, Mapping):
        first = islice(data.items(), 5)
        return bool(data) and all(isinstance(word, str) and np.ndim(row) == 1 for word, row in first)
    return isinstance(data, Vectors) or _find_words_and_rows(data) is not None


def _find_words_and_rows(data: Any) -> tuple[Iterable[Any], Any, str, str] | None:
    """Find the words of an object and their rows (or what returns the rows of words), its name, and what it is."""
    if isinstance(data, type):
        return None
    candidates: tuple[Any, ...] = (data, getattr(data, "wv", None))
    for part in candidates:
        index = getattr(part, "key_to_index", None)
        if isinstance(index, Mapping) and np.ndim(getattr(part, "vectors", 0)) == 2:
            words = getattr(part, "index_to_key", None) or sorted(index, key=index.__getitem__)
            return map(str, words), part.vectors, type(part).__name__, "gensim"
    if isinstance(data, Mapping) and data:
        return data, lambda words: [np.asarray(data[word]) for word in words], "the dict", "dict of vectors"
    if isinstance(data, tuple) and len(data) == 2 and not hasattr(data[0], "state_dict"):
        words, rows = data
        is_list = isinstance(words, list | tuple | np.ndarray) and isinstance(next(iter(words), ""), str)
        if is_list and (isinstance(rows, list | tuple) or np.ndim(rows) == 2):
            return words, rows, "(words, matrix)", "words and a matrix"
    if callable(getattr(data, "vectors", None)) and isinstance(getattr(data, "words", None), list | tuple):
        return data.words, data.vectors, type(data).__name__, "own object"
    return None
