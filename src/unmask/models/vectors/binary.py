"""word2vec's binary format: how many vectors of how many values, then each word, a space, and its values as float32.

A file that is not compressed is mapped into memory, so that rows that are not wanted are passed over; what has been
passed is handed back to the system as it goes, so that memory does not grow with the file.
"""

from __future__ import annotations

import gzip
import mmap
from pathlib import Path
from typing import IO, Protocol

import numpy as np

from unmask.errors import UnmaskError
from unmask.models.vectors.rows import Keep, Rows, as_word
from unmask.models.vectors.table import Vectors

LONGEST = 1_000
"""Bytes of a word; what is longer is none."""
_GIVE_BACK = 64 * 2**20
"""How much is passed before it is handed back; a multiple of every page size."""
_AT_ONCE = 2**20
"""How much of a compressed file is unpacked together."""
_DENSEST = 1_032
"""How much longer than its file what is in a gzip file can be."""


def read(
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
