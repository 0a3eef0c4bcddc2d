"""Word vectors in a file: word2vec (binary or text) and GloVe (text), plain or gzip; read whole, written whole."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, listed, one_of
from unmask.files import whole_file

FORMATS = ("word2vec", "word2vec-text", "glove")


@dataclass(frozen=True)
class Vectors:
    """Words and their vectors, in the order of the file."""

    words: list[str]
    matrix: NDArray[np.float32]
    form: str = "word2vec"
    """The format of the file that they came in."""

    def __post_init__(self) -> None:
        """Keep where each word stands; of a word that comes twice, the first counts."""
        places: dict[str, int] = {}
        for place, word in enumerate(self.words):
            places.setdefault(word, place)
        object.__setattr__(self, "_places", places)

    def __contains__(self, word: str) -> bool:
        return word in self._places  # type: ignore[attr-defined]

    def place(self, word: str) -> int:
        """The row of a word."""
        return int(self._places[word])  # type: ignore[attr-defined]

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of words, one a row."""
        missing = [word for word in words if word not in self]
        if missing:
            raise UnmaskError(f"there is no vector for {listed(missing)}; leave them out, or give other vectors")
        return self.matrix[[self.place(word) for word in words]]


def read(path: Path) -> Vectors:
    """Read a file of vectors; its format is told from its first bytes."""
    try:
        with _open(path) as file:
            head = file.read(4096)
        if not head:
            raise UnmaskError(f"{path} is empty; give a file of word vectors")
        first = head.split(b"\n", 1)[0].split()
        counted = len(first) == 2 and all(part.isdigit() for part in first)
        with _open(path) as file:
            if not counted:
                return _text(path, file)
            count, size = map(int, file.readline().split())
            rest = head.split(b"\n", 1)[1] if b"\n" in head else b""
            return _text(path, file, count, size) if _is_text(rest) else _binary(path, file, count, size)
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror or error}); give a file of word vectors") from None
    except EOFError:
        raise UnmaskError(f"{path} ends too early; is it whole?") from None


def write(path: Path, vectors: Vectors, form: str | None = None) -> None:
    """Write a file of vectors, in the format they came in if none is given; `.gz` compresses it.

    Text holds every digit that float32 needs.
    """
    form = one_of(form or vectors.form, FORMATS, "format of vectors")
    with whole_file(path) as draft, gzip.open(draft, "wb") if path.suffix == ".gz" else draft.open("wb") as file:
        if form != "glove":
            file.write(f"{len(vectors.words)} {vectors.matrix.shape[1]}\n".encode())
        for word, row in zip(vectors.words, vectors.matrix, strict=True):
            if form == "word2vec":
                file.write(_bytes(word) + b" " + row.astype("<f4").tobytes() + b"\n")
            else:
                digits = " ".join(np.format_float_positional(x, trim="-") for x in row)
                file.write(_bytes(word) + b" " + digits.encode() + b"\n")


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def _word(content: bytes | bytearray) -> str:
    """Bytes that are no UTF-8, of which old files have some, come out again as they went in."""
    return content.decode("utf-8", "surrogateescape")


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb")  # type: ignore[return-value]


def _is_text(content: bytes) -> bool:
    """Whether vectors are written in digits, by what stands after the first word."""
    values = content.partition(b" ")[2].partition(b"\n")[0]
    return bool(values) and not values[:64].strip(b"0123456789+-.eE \r")


def _text(path: Path, file: IO[bytes], count: int | None = None, size: int | None = None) -> Vectors:
    words, rows = [], []
    for number, line in enumerate(_lines(file), 1 if count is None else 2):
        parts = line.split(b" ")
        size = size or len(parts) - 1
        try:
            row = np.array(parts[-size:], np.float32)
        except ValueError:
            raise UnmaskError(f"{path}, line {number}: a value is not a number; is it a file of vectors?") from None
        if len(parts) <= size or size < 2:
            raise UnmaskError(f"{path}, line {number}: {len(parts) - 1} values, not {size}; is the file whole?")
        words.append(_word(b" ".join(parts[:-size])))
        rows.append(row)
    form = "glove" if count is None else "word2vec-text"
    return _checked(path, words, np.stack(rows) if rows else np.zeros((0, 0), np.float32), count, form)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    for line in file:
        if stripped := line.rstrip():
            yield stripped


def _binary(path: Path, file: IO[bytes], count: int, size: int) -> Vectors:
    words, matrix = [], np.empty((count, size), np.float32)
    for at in range(count):
        word = bytearray()
        while (letter := file.read(1)) != b" ":
            if not letter:
                raise UnmaskError(f"{path} ends after {at} of {count} vectors; is it whole?")
            if letter != b"\n":
                word += letter
        values = file.read(4 * size)
        if len(values) < 4 * size:
            raise UnmaskError(f"{path} ends after {at} of {count} vectors; is it whole?")
        words.append(_word(word))
        matrix[at] = np.frombuffer(values, "<f4")
    return _checked(path, words, matrix, count, "word2vec")


def _checked(path: Path, words: list[str], matrix: NDArray[np.float32], count: int | None, form: str) -> Vectors:
    if count is not None and count != len(words):
        raise UnmaskError(f"{path} promises {count} vectors and has {len(words)}; is it whole?")
    if not words:
        raise UnmaskError(f"{path} has no vectors; give a file of word vectors")
    if not np.isfinite(matrix).all():
        at = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise UnmaskError(f"{path}: the vector of {words[at]!r} is not finite; leave it out")
    return Vectors(words, matrix, form)
