"""Reading a file of vectors; its format is told from its first bytes, never from its name."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import IO

from unmask.errors import UnmaskError
from unmask.models.vectors import arrays, binary, text
from unmask.models.vectors.rows import Keep, check_most
from unmask.models.vectors.table import Vectors
from unmask.steps import say

HEAD = 4_096
FEWEST_BYTES = 2
"""A value takes a digit and a space, or four bytes."""
PICKLES = (".kv", ".model", ".pkl", ".pickle")
FASTTEXT = (793_712_314).to_bytes(4, "little")
"""What fastText's own models begin with."""


def read(path: Path, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Read a file of vectors: word2vec binary or text, GloVe text (each also as gzip), NumPy npz or npy.

    With `most`, reading stops after the first so many words; with `keep`, the vectors of words for which it is false
    are never held.
    """
    check_most(most)
    say(f"Reading word vectors from {path}")
    try:
        with path.open("rb") as file:
            begins = file.read(8)
        _refuse_other_files(path, begins)
        if begins.startswith(arrays.NPZ):
            return arrays.read_npz(path, most=most, keep=keep)
        if begins.startswith(arrays.NPY):
            return arrays.read_npy(path, most=most, keep=keep)
        return _words_and_values(path, most, keep)
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror or error}); give a file of word vectors") from None
    except (EOFError, zlib.error):
        raise UnmaskError(f"{path} ends too early or is damaged; is it whole?") from None


def _words_and_values(path: Path, most: int | None, keep: Keep | None) -> Vectors:
    with _open(path) as file:
        head = file.read(HEAD)
    if not head:
        raise UnmaskError(f"{path} is empty; give a file of word vectors")
    first, _, rest = head.partition(b"\n")
    header = first.split()
    with _open(path) as file:
        if len(header) != 2 or not all(part.isdigit() for part in header):
            if b"\0" in head:
                raise text.no_vectors(str(path), head)
            return text.read(file, str(path), most=most, keep=keep)
        file.readline()
        count, size = map(int, header)
        if size < 2:
            raise UnmaskError(f"{path} says that its vectors have {size} values; give vectors of at least 2")
        if FEWEST_BYTES * size > binary.bytes_at_most(path, packed=isinstance(file, gzip.GzipFile)):
            raise UnmaskError(
                f"{path} says that its vectors have {size:,} values, and is too short for one of them; is its first"
                " line right?"
            )
        if text.is_text(rest):
            return text.read(file, str(path), count=count, size=size, most=most, keep=keep)
        return binary.read(file, path, count=count, size=size, most=most, keep=keep)


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _refuse_other_files(path: Path, begins: bytes) -> None:
    if path.suffix in PICKLES or (begins[:1] == b"\x80" and begins[1:2] in b"\x02\x03\x04\x05"):
        raise UnmaskError(
            f"{path} is a pickle, which can run code of its author's; open it in gensim and save it with"
            " save_word2vec_format"
        )
    if begins.startswith(FASTTEXT):
        raise UnmaskError(f"{path} is a model of fastText's; give its vectors, the file that ends in .vec")
