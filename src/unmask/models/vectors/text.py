"""Vectors in digits, a word a line: GloVe's format, and word2vec's, which begins with how many there are."""

from __future__ import annotations

import re
from typing import IO

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models.vectors.rows import Keep, Rows, as_word
from unmask.models.vectors.table import Vectors

_DIGITS = b"0123456789+-.eE \rnaifNAIF"
_VALUE = re.compile(rb"[+-]?\d*\.\d+([eE][+-]?\d+)?")


def is_text(content: bytes) -> bool:
    """Whether vectors are written in digits, by what stands after the first word."""
    values = content.partition(b" ")[2].partition(b"\n")[0]
    return bool(values) and not values[:64].strip(_DIGITS)


def read(
    file: IO[bytes],
    name: str,
    *,
    count: int | None = None,
    size: int | None = None,
    most: int | None = None,
    keep: Keep | None = None,
) -> Vectors:
    """Read lines until the file ends, or `most` words are read; `count` and `size` are what its first line says."""
    rows = Rows(size, keep=keep) if size else None
    for number, line in enumerate(file, 1 if count is None else 2):
        if rows and rows.read == most:
            break
        line = line.rstrip()
        if not line:
            continue
        if rows is None or size is None:
            size = line.count(b" ")
            if size < 2 or _numbers(line.split(b" ")[1:]) is None:
                raise no_vectors(name, line)
            rows = Rows(size, keep=keep)
        parts = line.rsplit(b" ", size)
        if len(parts) <= size or _VALUE.fullmatch(parts[0].rpartition(b" ")[2] if b" " in parts[0] else b""):
            raise UnmaskError(f"{name}, line {number}: {line.count(b' ')} values, not {size}; is the file whole?")
        word = as_word(parts[0])
        if rows.wants(word):
            row = _numbers(parts[1:])
            if row is None:
                raise UnmaskError(f"{name}, line {number}: a value is not a number; is it a file of vectors?")
            rows.add(word, row)
    rows = rows or Rows(0)
    promised = count if count is None or most is None or count < most else most
    if promised is not None and promised != rows.read:
        raise UnmaskError(f"{name} promises {count:,} vectors and has {rows.read:,}; is it whole?")
    return rows.finish(name, "glove" if count is None else "word2vec-text")


def _numbers(parts: list[bytes]) -> NDArray[np.float32] | None:
    """The values of a row, infinite where they are too large; None if one is no number."""
    try:
        with np.errstate(over="ignore"):
            return np.array(parts, np.float32)
    except ValueError:
        return None


def no_vectors(name: str, begins: bytes) -> UnmaskError:
    """What to say of a file that is something else."""
    shown = repr(begins[:30].decode("utf-8", "replace"))
    return UnmaskError(
        f"{name} is no file of word vectors (it begins with {shown}); give word2vec (binary or text), GloVe or NumPy"
    )
