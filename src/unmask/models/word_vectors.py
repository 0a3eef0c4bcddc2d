"""Words and their vectors, from whatever holds them: a file, gensim, a dict, a matrix."""

from __future__ import annotations

import json
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
from unmask.models.roles import ADAPTER, CONFIG, MITIGATION, check_mitigation_record
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
    zeros: list[str] = field(default_factory=list)
    """The words whose vectors are all zeros."""
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
        known: list[str] = []
        missing: list[str] = []
        for word in words:
            (known if word in self else missing).append(word)
        return known, missing

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of words, one a row."""
        known, missing = self.known(words)
        if missing:
            raise UnmaskError(f"there is no vector for {quote(missing)}; leave them out, or give other vectors")
        return self.matrix[[self.find_row(word) for word in known]]

    def notes(self) -> list[str]:
        """Describe duplicates and zeros, a sentence each; empty if there are none."""
        notes = []
        if self.duplicates:
            rows = "1 row was" if self.duplicates == 1 else f"{self.duplicates:,} rows were"
            notes.append(f"{rows} left out of {self.name}: the word had come before, and the first counts.")
        if self.zeros:
            words = "1 word" if len(self.zeros) == 1 else f"{len(self.zeros):,} words"
            notes.append(f"{words} of {self.name} have a vector of zeros, which points nowhere: {quote(self.zeros)}.")
        return notes

    def weight_hash(self) -> str:
        """Compute a SHA-256 over the words and their vectors, which is the same in every format."""
        blocks = (self.matrix[start : start + BLOCK] for start in range(0, len(self.words), BLOCK))
        return hash_content("\n".join(self.words), *(block.astype("<f4").tobytes() for block in blocks))

    def info(self) -> ModelInfo:
        """Identify the vectors that were read."""
        weights = self.weight_hash()
        # The record does not count if rows were left out, or were changed since.
        record = self.mitigation if self.mitigation.get("weight_hash") == weights else {}
        return ModelInfo(
            name=self.name,
            architecture=self.source or ARCHITECTURES.get(self.form, self.form),
            parameters=int(self.matrix.size),
            weight_hash=weights,
            vocabulary=len(self.words),
            dtype=str(self.matrix.dtype),
            mitigation=record.get("method"),
            parent_weight_hash=(record.get("parent") or {}).get("weight_hash"),
        )


class WordFilter:
    """Decides, word by word, which rows are kept: the wanted words, each once."""

    def __init__(self, most: int | None = None, keep: Keep | None = None) -> None:
        """Look at the first `most` words only, and want those for which `keep` is true."""
        if most is not None and most < 1:
            raise UnmaskError(f"the first {most} words are asked for; ask for at least 1")
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

    def select(self, words: Iterable[str]) -> list[int]:
        """Return the indices of the accepted words."""
        return [index for index, word in enumerate(islice(words, self.most)) if self.accepts(word)]


def build_vectors(chosen: WordFilter, rows: Any, *, name: str, form: str = "word2vec", source: str = "") -> Vectors:
    """Check the rows of the accepted words, and build `Vectors` of them."""
    matrix = _as_matrix(rows, name)
    words = chosen.words
    if not words:
        raise UnmaskError(
            f"none of the {chosen.read:,} words of {name} is wanted; give other vectors"
            if chosen.read
            else f"{name} has no vectors; give a file of word vectors"
        )
    if len(words) != len(matrix):
        raise UnmaskError(f"{name}: {len(words):,} words have {len(matrix):,} vectors; give one for each")
    if matrix.shape[1] < 2:
        raise UnmaskError(f"{name} has vectors of {matrix.shape[1]} value; give vectors of at least 2")
    with np.errstate(over="ignore"):
        matrix = np.asarray(matrix, np.float32)
    zeros: list[str] = []
    for start in range(0, len(matrix), BLOCK):
        block = matrix[start : start + BLOCK]
        wrong = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(wrong):
            word = words[start + int(wrong[0])]
            raise UnmaskError(f"{name}: the vector of {word!r} is not finite (NaN or infinite); leave it out")
        zeros += [words[start + int(row)] for row in np.flatnonzero(~block.any(axis=1))]
    return Vectors(words, matrix, form, name, source, chosen.duplicates, zeros)


def select_rows(
    words: Sequence[Any],
    rows: Any,
    chosen: WordFilter,
    *,
    name: str,
    form: str = "word2vec",
    source: str = "",
) -> Vectors:
    """Build `Vectors` of the wanted rows of a table in memory, without a copy where all are wanted."""
    matrix = _as_matrix(rows, name)
    if len(words) != len(matrix):
        raise UnmaskError(f"{name}: there are {len(words):,} words and {len(matrix):,} vectors; give one of each")
    indices = chosen.select(_check_words(words, name))
    return build_vectors(
        chosen, matrix if len(indices) == len(matrix) else matrix[indices], name=name, form=form, source=source
    )


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


def _check_words(words: Iterable[Any], name: str) -> list[str]:
    checked = list(words)
    for word in checked:
        if not isinstance(word, str):
            raise UnmaskError(f"{name} has {word!r} among its words; give strings")
    return [str(word) for word in checked]


def is_vector_folder(path: Path) -> bool:
    """Whether a folder holds vectors and no model."""
    return (path / MITIGATION).is_file() and not any((path / name).is_file() for name in (CONFIG, ADAPTER))


def find_vector_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Find the vector file in a folder that `unmask mitigate` has written; returns it and its record."""
    try:
        content = json.loads((folder / MITIGATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    record = check_mitigation_record(content)
    made = record.get("made") if record else None
    file = made.get("file") if isinstance(made, dict) else None
    if record is None or not isinstance(file, str) or Path(file).name != file:
        raise UnmaskError(f"{folder / MITIGATION} names no file of vectors; give the file itself")
    if not (folder / file).is_file():
        raise UnmaskError(f"{folder} has no {file}, which {MITIGATION} names; give the file itself")
    return folder / file, record


def load_vectors(given: Any, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Load word vectors from whatever holds them.

    That is a file (see `read_vectors`), a folder of debiased vectors, gensim's `KeyedVectors` or a model that has them
    as `wv`, a dict of word and vector, `(words, matrix)`, or an object with `words` and a method `vectors(words)`. With
    `most`, only that many words are read; with `keep`, only words for which it is true are kept.
    """
    from unmask.models.vector_files import read_vectors

    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if not is_vector_folder(path):
            return read_vectors(path, most=most, keep=keep)
        file, record = find_vector_file(path)
        return replace(read_vectors(file, most=most, keep=keep), name=str(given), mitigation=record)
    chosen = WordFilter(most, keep)
    if isinstance(given, Vectors):
        if most is None and keep is None:
            return given
        selected = select_rows(given.words, given.matrix, chosen, name=given.name, form=given.form, source=given.source)
        return replace(selected, duplicates=given.duplicates + selected.duplicates, mitigation=given.mitigation)
    keyed = _find_keyed_vectors(given)
    if keyed is not None:
        words = getattr(keyed, "index_to_key", None) or sorted(keyed.key_to_index, key=keyed.key_to_index.get)
        return select_rows([*map(str, words)], keyed.vectors, chosen, name=type(keyed).__name__, source="gensim")
    if isinstance(given, Mapping) and given:
        chosen.select(_check_words(given, "the dict"))
        vectors = [np.asarray(given[word]) for word in chosen.words]
        for word, vector in zip(chosen.words, vectors, strict=True):
            if vector.shape != vectors[0].shape:
                raise UnmaskError(
                    f"the dict: the vector of {word!r} has shape {vector.shape}, not {vectors[0].shape}; give each word"
                    " as many values"
                )
        rows = vectors or np.empty((0, 2))
        return build_vectors(chosen, rows, name="the dict", source="dict of vectors")
    if _is_words_and_matrix(given):
        return select_rows(given[0], given[1], chosen, name="(words, matrix)", source="words and a matrix")
    if _has_vectors_method(given):
        name = type(given).__name__
        chosen.select(_check_words(given.words, name))
        return build_vectors(chosen, given.vectors(chosen.words), name=name, source="own object")
    raise UnmaskError(
        f"a {type(given).__name__} holds no word vectors; give a file, gensim's KeyedVectors, a dict of word and"
        " vector, or (words, matrix)"
    )


def is_word_vectors(given: Any) -> bool:
    """Whether something is word vectors rather than a model: a file, or an object with words and vectors.

    A folder counts if `unmask mitigate` has left vectors in it. The name of a missing file counts if it has a suffix of
    vector files, so that reading it tells what is wrong.
    """
    if isinstance(given, str | os.PathLike):
        path = Path(given)
        try:
            return path.is_file() or is_vector_folder(path) or (path.suffix in ENDINGS and not path.exists())
        except (OSError, ValueError):  # too long for a name, or with a NUL in it
            return False
    if isinstance(given, type):
        return False
    if isinstance(given, Mapping):
        first = islice(given.items(), 5)
        return bool(given) and all(isinstance(word, str) and np.ndim(row) == 1 for word, row in first)
    has_words = _is_words_and_matrix(given) or _has_vectors_method(given)
    return isinstance(given, Vectors) or has_words or _find_keyed_vectors(given) is not None


def _find_keyed_vectors(given: Any) -> Any:
    """Find the part of an object that looks like gensim's KeyedVectors."""
    for part in (given, getattr(given, "wv", None)):
        if isinstance(getattr(part, "key_to_index", None), Mapping) and np.ndim(getattr(part, "vectors", 0)) == 2:
            return part
    return None


def _is_words_and_matrix(given: Any) -> bool:
    if not isinstance(given, tuple) or len(given) != 2 or hasattr(given[0], "state_dict"):
        return False
    words, rows = given
    is_list = isinstance(words, list | tuple | np.ndarray) and isinstance(next(iter(words), ""), str)
    return is_list and (isinstance(rows, list | tuple) or np.ndim(rows) == 2)


def _has_vectors_method(given: Any) -> bool:
    return callable(getattr(given, "vectors", None)) and isinstance(getattr(given, "words", None), list | tuple)
