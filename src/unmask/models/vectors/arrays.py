"""NumPy's files: an npz with `words` and `vectors`, or an npy with its words, one a line, in a file beside it.

An npy is mapped into memory: rows that nobody looks at are never copied. Pickled objects are refused.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, listed
from unmask.models.vectors.rows import Keep, as_word, table
from unmask.models.vectors.table import Vectors

NPZ, NPY = b"PK\x03\x04", b"\x93NUMPY"
"""What the files begin with."""


def read_npz(path: Path, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Read `words` and `vectors` of an npz file."""
    try:
        with np.load(path, allow_pickle=False) as parts:
            missing = [part for part in ("words", "vectors") if part not in parts.files]
            if missing:
                raise UnmaskError(
                    f"{path} has no {listed(missing)}; save it with numpy.savez(file, words=…, vectors=…)"
                )
            words, matrix = parts["words"], parts["vectors"]
    except (ValueError, EOFError, zipfile.BadZipFile):
        raise _no_array(path) from None
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise UnmaskError(f"{path}: its words are an array of type {words.dtype}; give one string a vector")
    named = [as_word(word) if isinstance(word, bytes) else str(word) for word in words.tolist()]
    return table(named, matrix, name=str(path), form="npz", most=most, keep=keep)


def read_npy(path: Path, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Read an npy file, and the words beside it."""
    try:
        matrix: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        raise _no_array(path) from None
    beside = words_beside(path)
    found = next((place for place in beside if place.is_file()), None)
    if found is None:
        raise UnmaskError(
            f"{path} has no words beside it; put them, one a line, into {beside[0].name} or {beside[1].name}"
        )
    words = as_word(found.read_bytes()).removesuffix("\n").split("\n")
    words = [word.removesuffix("\r") for word in words]
    return table(words, matrix, name=str(path), form="npy", most=most, keep=keep)


def words_beside(path: Path) -> list[Path]:
    """Where the words of an npy file may be: `a.txt` or `a.vocab`, for `a.wv.npy` also without the `.wv`."""
    stems = list(dict.fromkeys((path.stem, path.stem.removesuffix(".wv"))))
    return [path.with_name(stem + ending) for stem in stems for ending in (".txt", ".vocab")]


def _no_array(path: Path) -> UnmaskError:
    return UnmaskError(
        f"{path} is damaged, or holds pickled objects, which are never loaded; save an array of numbers (and words as"
        " an array of strings)"
    )
