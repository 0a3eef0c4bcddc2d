"""Words and their vectors, and the selection of rows while they are read: the wanted words, each once."""

from __future__ import annotations

import hashlib
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
from unmask.models.roles import ADAPTER, CONFIG, MITIGATION, check_mitigation_record
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

    def find_row(self, word: str) -> int:
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
            raise UnmaskError(f"there is no vector for {quote(missing)}; leave them out, or give other vectors")
        return self.matrix[[self.find_row(word) for word in known]]

    def notes(self) -> list[str]:
        """What was odd about them, a sentence each; none if nothing was."""
        found = []
        if self.duplicates:
            rows = "1 row was" if self.duplicates == 1 else f"{self.duplicates:,} rows were"
            found.append(f"{rows} left out of {self.name}: the word had come before, and the first counts.")
        if self.zeros:
            words = "1 word" if len(self.zeros) == 1 else f"{len(self.zeros):,} words"
            found.append(f"{words} of {self.name} have a vector of zeros, which points nowhere: {quote(self.zeros)}.")
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


def check_vectors(
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
        return check_vectors(self.words, self._matrix, name=name, form=form, duplicates=self.duplicates, read=self.read)


@dataclass(frozen=True)
class ChosenWords:
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
        return check_vectors(
            self.words, values, name=name, form=form, source=source, duplicates=self.duplicates, read=self.read
        )


def choose_words(words: Iterable[str], *, most: int | None = None, keep: Keep | None = None) -> ChosenWords:
    """The words that are wanted, each once, of the first `most`."""
    check_most(most)
    rows, places = Rows(0, keep=keep), []
    for place, word in enumerate(islice(words, most)):
        if rows.wants(word):
            rows.words.append(word)
            places.append(place)
    return ChosenWords(rows.words, places, rows.read, rows.duplicates)


def select_rows(
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
    chosen = choose_words(words, most=most, keep=keep)
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


def is_vector_folder(path: Path) -> bool:
    """Whether a folder holds vectors and no model."""
    return (path / MITIGATION).is_file() and not any((path / name).is_file() for name in (CONFIG, ADAPTER))


def find_vector_file(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The file of vectors in a folder, and how it was made."""
    try:
        found = json.loads((folder / MITIGATION).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    record = check_mitigation_record(found)
    made = record.get("made") if record else None
    file = made.get("file") if isinstance(made, dict) else None
    if record is None or not isinstance(file, str) or Path(file).name != file:
        raise UnmaskError(f"{folder / MITIGATION} names no file of vectors; give the file itself")
    if not (folder / file).is_file():
        raise UnmaskError(f"{folder} has no {file}, which {MITIGATION} names; give the file itself")
    return folder / file, record


PICKLES = (".kv", ".model", ".pkl", ".pickle")
ENDINGS = (".bin", ".txt", ".vec", ".gz", ".npz", ".npy", *PICKLES)
"""Names with which files of vectors end; a file of vectors may have any other."""


def load_vectors(given: Any, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Word vectors from whatever holds them.

    That is a file (see `read_vectors`), a folder of debiased vectors, gensim's `KeyedVectors` or a model that has them
    as `wv`, a dict of word and vector, `(words, matrix)`, or an object with `words` and a method `vectors(words)`. With
    `most`, only the first so many words are looked at; with `keep`, only those for which it is true are held.
    """
    from unmask.models.vector_files import read_vectors

    if isinstance(given, str | os.PathLike):
        path = Path(given)
        if not is_vector_folder(path):
            return read_vectors(path, most=most, keep=keep)
        file, record = find_vector_file(path)
        return replace(read_vectors(file, most=most, keep=keep), name=str(given), mitigation=record)
    if isinstance(given, Vectors):
        if most is None and keep is None:
            return given
        found = select_rows(given.words, given.matrix, name=given.name, form=given.form, most=most, keep=keep)
        return replace(
            found,
            source=given.source,
            duplicates=given.duplicates + found.duplicates,
            mitigation=given.mitigation,
        )
    keyed = _keyed(given)
    if keyed is not None:
        words = getattr(keyed, "index_to_key", None) or sorted(keyed.key_to_index, key=keyed.key_to_index.get)
        kind = type(keyed).__name__
        return select_rows(
            [str(word) for word in words], keyed.vectors, name=kind, source="gensim", most=most, keep=keep
        )
    if isinstance(given, Mapping) and given:
        return _mapping(given, choose_words(_words(given, "the dict"), most=most, keep=keep))
    if _is_pair(given):
        name = "(words, matrix)"
        return select_rows(
            _words(given[0], name), given[1], name=name, source="words and a matrix", most=most, keep=keep
        )
    if _answers(given):
        name = type(given).__name__
        chosen = choose_words(_words(given.words, name), most=most, keep=keep)
        return chosen.vectors(given.vectors(chosen.words), name=name, source="own object")
    raise UnmaskError(
        f"a {type(given).__name__} holds no word vectors; give a file, gensim's KeyedVectors, a dict of word and"
        " vector, or (words, matrix)"
    )


def is_word_vectors(given: Any) -> bool:
    """Whether something is word vectors rather than a model: a file, or an object with words and vectors.

    A folder counts if `unmask mitigate` has left vectors in it. The name of a file that is not there counts if it ends
    like one of vectors, so that reading it says what is wrong.
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
        return bool(given) and all(isinstance(word, str) and np.ndim(row) == 1 for word, row in _first(given))
    return isinstance(given, Vectors) or _keyed(given) is not None or _is_pair(given) or _answers(given)


def _keyed(given: Any) -> Any:
    """The part of an object that looks like gensim's KeyedVectors."""
    for part in (given, getattr(given, "wv", None)):
        if isinstance(getattr(part, "key_to_index", None), Mapping) and np.ndim(getattr(part, "vectors", 0)) == 2:
            return part
    return None


def _is_pair(given: Any) -> bool:
    """Whether something is a list of words and a matrix."""
    if not isinstance(given, tuple) or len(given) != 2 or hasattr(given[0], "state_dict"):
        return False
    words = given[0]
    words_first = isinstance(words, list | tuple | np.ndarray) and isinstance(next(iter(words), ""), str)
    return words_first and (isinstance(given[1], list | tuple) or np.ndim(given[1]) == 2)


def _answers(given: Any) -> bool:
    """Whether an object has words, and gives their vectors when asked."""
    return callable(getattr(given, "vectors", None)) and isinstance(getattr(given, "words", None), list | tuple)


def _first(given: Mapping[Any, Any], most: int = 5) -> list[tuple[Any, Any]]:
    return [item for item, _ in zip(given.items(), range(most), strict=False)]


def _words(given: Iterable[Any], name: str) -> list[str]:
    """Words that are strings."""
    words = list(given)
    strange = next((word for word in words if not isinstance(word, str)), None)
    if strange is not None:
        raise UnmaskError(f"{name} has {strange!r} among its words; give strings")
    return [str(word) for word in words]


def _mapping(given: Mapping[str, Any], chosen: ChosenWords) -> Vectors:
    name = "the dict"
    size = np.shape(given[chosen.words[0]]) if chosen.words else (2,)
    for word in chosen.words:
        if np.shape(given[word]) != size:
            raise UnmaskError(
                f"{name}: the vector of {word!r} has shape {np.shape(given[word])}, not {size}; give each word as many"
                " values"
            )
    rows = np.array([np.asarray(given[word]) for word in chosen.words]).reshape(-1, *size)
    return chosen.vectors(rows, name=name, source="dict of vectors")
