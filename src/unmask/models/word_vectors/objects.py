"""Word vectors from whatever holds them: a file, a folder of debiased vectors, gensim's object, a dict, or a matrix.

A folder is what `unmask mitigate` leaves: the file of vectors, and `mitigation.json`, which names it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.models.metadata import ADAPTER, CONFIG, MITIGATION, check_mitigation_record
from unmask.models.word_vectors.files import PICKLES, read_vectors
from unmask.models.word_vectors.table import ChosenWords, Keep, Vectors, choose_words, select_rows


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


ENDINGS = (".bin", ".txt", ".vec", ".gz", ".npz", ".npy", *PICKLES)
"""Names with which files of vectors end; a file of vectors may have any other."""


def load_vectors(given: Any, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Word vectors from whatever holds them.

    That is a file (see `read_vectors`), a folder of debiased vectors, gensim's `KeyedVectors` or a model that has them
    as `wv`, a dict of word and vector, `(words, matrix)`, or an object with `words` and a method `vectors(words)`. With
    `most`, only the first so many words are looked at; with `keep`, only those for which it is true are held.
    """
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


def are_vectors(given: Any) -> bool:
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
