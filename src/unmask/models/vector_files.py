"""Reading and writing files of word vectors. A file's format is told from its first bytes, never from its name.

- Text: one word and its values per line; GloVe's format, and word2vec's, whose first line says how many there are.
- word2vec binary: the number and size of vectors, then each word, a space, and its values as float32. An uncompressed
  file is mapped into memory, so rows that are not wanted are skipped, and pages that were passed are given back to the
  system, so memory does not grow with the file.
- NumPy: an npz with `words` and `vectors`, or an npy with its words, one per line, in a file beside it. An npy is
  mapped into memory: rows that nobody looks at are never copied. Pickled objects are refused.

A file is written completely or not at all.
"""

from __future__ import annotations

import gzip
import mmap
import re
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import atomic_file
from unmask.models.word_vectors import (
    FORMATS,
    NUMPY_FORMATS,
    PICKLES,
    Keep,
    Rows,
    Vectors,
    as_word,
    check_most,
    select_rows,
)
from unmask.steps import say

_DIGITS = b"0123456789+-.eE \rnaifNAIF"
_VALUE = re.compile(rb"[+-]?\d*\.\d+([eE][+-]?\d+)?")


def is_text(content: bytes) -> bool:
    """Whether vectors are written in digits, by what stands after the first word."""
    values = content.partition(b" ")[2].partition(b"\n")[0]
    return bool(values) and not values[:64].strip(_DIGITS)


def read_text_vectors(
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


LONGEST = 1_000
"""Bytes of a word; what is longer is none."""
_GIVE_BACK = 64 * 2**20
"""How much is passed before it is handed back; a multiple of every page size."""
_AT_ONCE = 2**20
"""How much of a compressed file is unpacked together."""
_DENSEST = 1_032
"""How much longer than its file what is in a gzip file can be."""


def read_binary_vectors(
    file: IO[bytes], path: Path, *, count: int, size: int, most: int | None = None, keep: Keep | None = None
) -> Vectors:
    """Read the rows of a file whose first line, which says how many and how long they are, has been read."""
    packed = isinstance(file, gzip.GzipFile)
    wanted = count if most is None else min(count, most)
    rows = Rows(size, room=min(wanted, bytes_at_most(path, packed=packed) // (4 * size + 1)), keep=keep)
    content: _Content = _Streamed(file) if packed else _Mapped(file)
    try:
        while rows.read < wanted:
            found = content.word()
            if found is None or content.ends_within(4 * size):
                raise UnmaskError(f"{path} ends after {rows.read:,} of {count:,} vectors; is it whole?")
            if len(found) > LONGEST or b"\0" in found:
                raise UnmaskError(
                    f"{path}: what stands before vector {rows.read + 1:,} is no word; does its first line, which says"
                    f" {size} values a vector, tell the truth?"
                )
            word = as_word(found.lstrip(b"\n"))
            if rows.wants(word):
                rows.add(word, np.frombuffer(content.take(4 * size), "<f4"))
            else:
                content.skip(4 * size)
        if wanted == count and content.take(16).strip():
            raise UnmaskError(f"{path} promises {count:,} vectors and goes on after them; is its first line right?")
    finally:
        content.close()
    return rows.finish(str(path), "word2vec")


def bytes_at_most(path: Path, *, packed: bool) -> int:
    """What a file can hold, unpacked if it is compressed."""
    return path.stat().st_size * (_DENSEST if packed else 1)


class _Content(Protocol):
    """Bytes that are read from front to back."""

    def word(self) -> bytes | None:
        """What stands before the next space; if too long for a word, the beginning of it; None at the end."""
        ...

    def ends_within(self, size: int) -> bool:
        """Whether fewer bytes than these are left."""
        ...

    def take(self, size: int) -> bytes:
        """The next bytes; fewer at the end."""
        ...

    def skip(self, size: int) -> None:
        """Pass over bytes."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


class _Mapped:
    """A file as memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._at = file.tell()
        self._back = 0
        self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def word(self) -> bytes | None:
        end = self._data.find(b" ", self._at, self._at + LONGEST + 2)
        if end < 0:
            return None if self._at + LONGEST >= len(self._data) else self._data[self._at : self._at + LONGEST + 1]
        found = self._data[self._at : end]
        self._at = end + 1
        return found

    def ends_within(self, size: int) -> bool:
        return self._at + size > len(self._data)

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        self.skip(size)
        return found

    def skip(self, size: int) -> None:
        self._at += size
        if self._at - self._back > 2 * _GIVE_BACK and hasattr(mmap, "MADV_DONTNEED"):
            self._data.madvise(mmap.MADV_DONTNEED, self._back, _GIVE_BACK)
            self._back += _GIVE_BACK

    def close(self) -> None:
        self._data.close()


class _Streamed:
    """A compressed file, unpacked as it is read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._next = b""

    def word(self) -> bytes | None:
        if b" " not in self._next:
            self._fill(LONGEST + 1)
        found, space, self._next = self._next.partition(b" ")
        if space or len(found) > LONGEST:
            return found
        return None

    def ends_within(self, size: int) -> bool:
        self._fill(size)
        return len(self._next) < size

    def take(self, size: int) -> bytes:
        self._fill(size)
        found, self._next = self._next[:size], self._next[size:]
        return found

    def skip(self, size: int) -> None:
        self.take(size)

    def close(self) -> None:
        """Whoever opened the file closes it."""

    def _fill(self, size: int) -> None:
        while len(self._next) < size and (more := self._file.read(min(max(8_192, size), _AT_ONCE))):
            self._next += more


NPZ, NPY = b"PK\x03\x04", b"\x93NUMPY"
"""What the files begin with."""


def read_npz(path: Path, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Read `words` and `vectors` of an npz file."""
    try:
        with np.load(path, allow_pickle=False) as parts:
            missing = [part for part in ("words", "vectors") if part not in parts.files]
            if missing:
                raise UnmaskError(f"{path} has no {quote(missing)}; save it with numpy.savez(file, words=…, vectors=…)")
            words, matrix = parts["words"], parts["vectors"]
    except (ValueError, EOFError, zipfile.BadZipFile):
        raise _no_array(path) from None
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise UnmaskError(f"{path}: its words are an array of type {words.dtype}; give one string a vector")
    named = [as_word(word) if isinstance(word, bytes) else str(word) for word in words.tolist()]
    return select_rows(named, matrix, name=str(path), form="npz", most=most, keep=keep)


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
    return select_rows(words, matrix, name=str(path), form="npy", most=most, keep=keep)


def words_beside(path: Path) -> list[Path]:
    """Where the words of an npy file may be: `a.txt` or `a.vocab`, for `a.wv.npy` also without the `.wv`."""
    stems = list(dict.fromkeys((path.stem, path.stem.removesuffix(".wv"))))
    return [path.with_name(stem + ending) for stem in stems for ending in (".txt", ".vocab")]


def _no_array(path: Path) -> UnmaskError:
    return UnmaskError(
        f"{path} is damaged, or holds pickled objects, which are never loaded; save an array of numbers (and words as"
        " an array of strings)"
    )


HEAD = 4_096
FEWEST_BYTES = 2
"""A value takes a digit and a space, or four bytes."""
FASTTEXT = (793_712_314).to_bytes(4, "little")
"""What fastText's own models begin with."""


def read_vectors(path: Path, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Read a file of vectors: word2vec binary or text, GloVe text (each also as gzip), NumPy npz or npy.

    With `most`, reading stops after the first so many words; with `keep`, the vectors of words for which it is false
    are never held.
    """
    check_most(most)
    say(f"Reading word vectors from {path}")
    try:
        with path.open("rb") as file:
            begins = file.read(8)
        _check_other_files(path, begins)
        if begins.startswith(NPZ):
            return read_npz(path, most=most, keep=keep)
        if begins.startswith(NPY):
            return read_npy(path, most=most, keep=keep)
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
                raise no_vectors(str(path), head)
            return read_text_vectors(file, str(path), most=most, keep=keep)
        file.readline()
        count, size = map(int, header)
        if size < 2:
            raise UnmaskError(f"{path} says that its vectors have {size} values; give vectors of at least 2")
        if FEWEST_BYTES * size > bytes_at_most(path, packed=isinstance(file, gzip.GzipFile)):
            raise UnmaskError(
                f"{path} says that its vectors have {size:,} values, and is too short for one of them; is its first"
                " line right?"
            )
        if is_text(rest):
            return read_text_vectors(file, str(path), count=count, size=size, most=most, keep=keep)
        return read_binary_vectors(file, path, count=count, size=size, most=most, keep=keep)


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _check_other_files(path: Path, begins: bytes) -> None:
    if path.suffix in PICKLES or (begins[:1] == b"\x80" and begins[1:2] in b"\x02\x03\x04\x05"):
        raise UnmaskError(
            f"{path} is a pickle, which can run code of its author's; open it in gensim and save it with"
            " save_word2vec_format"
        )
    if begins.startswith(FASTTEXT):
        raise UnmaskError(f"{path} is a model of fastText's; give its vectors, the file that ends in .vec")


def write_vectors(path: Path, vectors: Vectors, form: str | None = None) -> None:
    """Write a file of vectors, in the format they came in if none is given; `.gz` compresses it, but no NumPy file.

    Text holds every digit that float32 needs. The words of an npy file go into one beside it.
    """
    form = check_choice(form or vectors.form, (*FORMATS, *NUMPY_FORMATS), "format of vectors")
    if form in NUMPY_FORMATS:
        _write_arrays(path, vectors, form)
        return
    with atomic_file(path) as draft, gzip.open(draft, "wb") if path.suffix == ".gz" else draft.open("wb") as file:
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
        with atomic_file(words_beside(path)[0]) as draft:
            draft.write_bytes(b"".join(_bytes(word) + b"\n" for word in vectors.words))
    with atomic_file(path) as draft, draft.open("wb") as file:
        if form == "npy":
            np.save(file, vectors.matrix, allow_pickle=False)
        else:
            np.savez(file, words=np.array([_bytes(word) for word in vectors.words]), vectors=vectors.matrix)


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")
