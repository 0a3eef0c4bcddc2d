"""Writing vectors: the whole file, or nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from unmask.errors import one_of
from unmask.files import whole_file
from unmask.models.vectors.arrays import words_beside
from unmask.models.vectors.table import FORMATS, NUMPY_FORMATS, Vectors


def write(path: Path, vectors: Vectors, form: str | None = None) -> None:
    """Write a file of vectors, in the format they came in if none is given; `.gz` compresses it, but no NumPy file.

    Text holds every digit that float32 needs. The words of an npy file go into one beside it.
    """
    form = one_of(form or vectors.form, (*FORMATS, *NUMPY_FORMATS), "format of vectors")
    if form in NUMPY_FORMATS:
        _write_arrays(path, vectors, form)
        return
    with whole_file(path) as draft, gzip.open(draft, "wb") if path.suffix == ".gz" else draft.open("wb") as file:
        if form != "glove":
            file.write(f"{len(vectors.words)} {vectors.matrix.shape[1]}\n".encode())
        for word, row in zip(vectors.words, vectors.matrix, strict=True):
            if form == "word2vec":
                file.write(_bytes(word) + b" " + row.astype("<f4").tobytes() + b"\n")
            else:
                digits = " ".join(np.format_float_positional(x, trim="-") for x in row)
                file.write(_bytes(word) + b" " + digits.encode() + b"\n")


def _write_arrays(path: Path, vectors: Vectors, form: str) -> None:
    if form == "npy":
        with whole_file(words_beside(path)[0]) as draft:
            draft.write_bytes(b"".join(_bytes(word) + b"\n" for word in vectors.words))
    with whole_file(path) as draft, draft.open("wb") as file:
        if form == "npy":
            np.save(file, vectors.matrix, allow_pickle=False)
        else:
            np.savez(file, words=np.array([_bytes(word) for word in vectors.words]), vectors=vectors.matrix)


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")
