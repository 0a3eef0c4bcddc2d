"""Reading and writing vector files. The format is detected from the first bytes, never from the name.

- Text: one word and its values per line; GloVe's format, and word2vec's, whose first line says how many there are.
- word2vec binary: the number and size of vectors, then each word, a space, and its values as float32.
- NumPy: an npz with `words` and `vectors`, or an npy with its words, one per line, in a file next to it. An npy is
  mapped into memory: rows that nobody uses are never copied. Pickled objects are refused.

Text and binary files are read as a stream (also gzip), so memory holds only the rows that are wanted. A file is written
completely or not at all.
"""

from __future__ import annotations

import gzip
import re
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import atomic_file
from unmask.models.word_vectors import FORMATS, PICKLES, Keep, Vectors, WordFilter, build_vectors, select_rows
from unmask.steps import say

NPZ, NPY = b"PK\x03\x04", b"\x93NUMPY"
FASTTEXT = (793_712_314).to_bytes(4, "little")
"""The first bytes of fastText's own models."""
HEAD = 4_096
CHUNK = 2**20
LONGEST = 1_000
"""The most bytes of a word in a binary file."""
DENSEST = 1_032
"""The largest possible ratio of a gzip file's content to its size."""
_VALUE = re.compile(rb"[+-]?\d*\.\d+([eE][+-]?\d+)?")


def read_vectors(path: Path, *, most: int | None = None, keep: Keep | None = None) -> Vectors:
    """Read a vector file: word2vec binary or text, GloVe text (each also as gzip), NumPy npz or npy.

    With `most`, reading stops after that many words; with `keep`, vectors of words for which it is false are never
    held in memory.
    """
    selection = WordFilter(most, keep)
    say(f"Reading word vectors from {path}")
    try:
        with path.open("rb") as file:
            begins = file.read(8)
        if path.suffix in PICKLES or (begins[:1] == b"\x80" and begins[1:2] in b"\x02\x03\x04\x05"):
            raise UnmaskError(
                f"{path} is a pickle, which can run code of its author's; open it in gensim and save it with"
                " save_word2vec_format"
            )
        if begins.startswith(FASTTEXT):
            raise UnmaskError(f"{path} is a model of fastText's; give its vectors, the file that ends in .vec")
        if begins.startswith(NPZ):
            return _read_npz(path, selection)
        if begins.startswith(NPY):
            return _read_npy(path, selection)
        return _read_stream(path, selection, is_compressed=begins.startswith(b"\x1f\x8b"))
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror or error}); give a file of word vectors") from None
    except (EOFError, zlib.error):
        raise UnmaskError(f"{path} ends too early or is damaged; is it whole?") from None


def _read_stream(path: Path, selection: WordFilter, *, is_compressed: bool) -> Vectors:
    """Read a text or word2vec binary file, by what its first lines look like."""

    def open_file() -> IO[bytes]:
        return gzip.open(path, "rb") if is_compressed else path.open("rb")  # type: ignore[return-value]

    with open_file() as file:
        head = file.read(HEAD)
    if not head:
        raise UnmaskError(f"{path} is empty; give a file of word vectors")
    first, _, rest = head.partition(b"\n")
    header = first.split()
    with open_file() as file:
        if len(header) != 2 or not all(part.isdigit() for part in header):
            if b"\0" in head:
                raise _not_vectors(path, head)
            return _read_text(file, path, selection)
        file.readline()
        count, size = map(int, header)
        if size < 2:
            raise UnmaskError(f"{path} has vectors of {size} values by its first line; give vectors of at least 2")
        if 2 * size > path.stat().st_size * (DENSEST if is_compressed else 1):  # a digit and a space for each value
            raise UnmaskError(
                f"{path} is too short for a vector of {size:,} values, the size in its first line; check that line"
            )
        values = rest.partition(b" ")[2].partition(b"\n")[0]
        if values and not values[:64].strip(b"0123456789+-.eE \rnaifNAIF"):
            return _read_text(file, path, selection, count=count, size=size)
        return _read_binary(file, path, selection, count, size)


def _read_text(
    file: IO[bytes], path: Path, selection: WordFilter, *, count: int | None = None, size: int = 0
) -> Vectors:
    """Read lines until the file ends or enough words are read; `count` and `size` are those of the first line."""
    rows = bytearray()
    for number, line in enumerate(file, 1 if count is None else 2):
        if selection.read == selection.most:
            break
        line = line.rstrip()
        if not line:
            continue
        if not size:
            size = line.count(b" ")
            if size < 2 or _parse_values(line.split(b" ")[1:]) is None:
                raise _not_vectors(path, line)
        name, *values = line.rsplit(b" ", size)
        if len(values) < size or _VALUE.fullmatch(name.rpartition(b" ")[2] if b" " in name else b""):
            raise UnmaskError(f"{path}, line {number}: {line.count(b' ')} values, not {size}; is the file whole?")
        if selection.accepts(_decode_word(name)):
            row = _parse_values(values)
            if row is None:
                raise UnmaskError(f"{path}, line {number}: a value is not a number; is it a file of vectors?")
            rows += row.tobytes()
    if count is not None and selection.read != min(count, selection.most or count):
        raise UnmaskError(f"{path} promises {count:,} vectors and has {selection.read:,}; is it whole?")
    return build_vectors(
        selection,
        np.frombuffer(rows, np.float32).reshape(-1, max(size, 1)),
        name=str(path),
        form="glove" if count is None else "word2vec-text",
    )


def _parse_values(parts: list[bytes]) -> NDArray[np.float32] | None:
    """Parse the values of a row, infinite where they are too large; None if one is not a number."""
    try:
        with np.errstate(over="ignore"):
            return np.array(parts, np.float32)
    except ValueError:
        return None


def _decode_word(content: bytes) -> str:
    """Decode a word; bytes that are not UTF-8, which some old files have, are written back unchanged."""
    return content.decode("utf-8", "surrogateescape")


def _not_vectors(path: Path, begins: bytes) -> UnmaskError:
    excerpt = repr(begins[:30].decode("utf-8", "replace"))
    return UnmaskError(
        f"{path} is not a word vector file (it begins with {excerpt}); give word2vec (binary or text), GloVe or NumPy"
    )


def _read_binary(file: IO[bytes], path: Path, selection: WordFilter, count: int, size: int) -> Vectors:
    """Read the rows of a file whose first line has been read."""
    rows, width = bytearray(), 4 * size
    needed = min(count, selection.most or count)
    buffer, start = b"", 0

    def fill(length: int) -> None:
        """Buffer at least this many bytes, as far as there are any."""
        nonlocal buffer, start
        if len(buffer) - start < length:
            parts = [buffer[start:]]
            available = len(parts[0])
            while available < length and (part := file.read(max(CHUNK, length - available))):
                parts.append(part)
                available += len(part)
            buffer, start = b"".join(parts), 0

    while selection.read < needed:
        fill(LONGEST + 1 + width)
        end = buffer.find(b" ", start, start + LONGEST + 1)
        has_word = end >= 0 or len(buffer) - start > LONGEST
        if not has_word or (end >= 0 and len(buffer) < end + 1 + width):
            raise UnmaskError(f"{path} ends after {selection.read:,} of {count:,} vectors; is it whole?")
        if end < 0 or b"\0" in buffer[start:end]:
            raise UnmaskError(
                f"{path} has no word before vector {selection.read + 1:,}; check its first line, which gives"
                f" {size} values a vector"
            )
        word = _decode_word(buffer[start:end].lstrip(b"\n"))
        start = end + 1 + width
        if selection.accepts(word):
            rows += buffer[end + 1 : end + 1 + width]
    fill(16)
    if needed == count and buffer[start : start + 16].strip():
        raise UnmaskError(f"{path} promises {count:,} vectors and has more; check its first line")
    return build_vectors(selection, np.frombuffer(rows, "<f4").reshape(-1, size), name=str(path), form="word2vec")


def _read_npz(path: Path, selection: WordFilter) -> Vectors:
    try:
        with np.load(path, allow_pickle=False) as parts:
            missing = [part for part in ("words", "vectors") if part not in parts.files]
            if missing:
                raise UnmaskError(f"{path} has no {quote(missing)}; save it with numpy.savez(file, words=…, vectors=…)")
            words, matrix = parts["words"], parts["vectors"]
    except (ValueError, EOFError, zipfile.BadZipFile):
        raise _damaged_array(path) from None
    if words.ndim != 1 or words.dtype.kind not in "US":
        raise UnmaskError(f"{path}: its words are an array of type {words.dtype}; give one string a vector")
    decoded = [_decode_word(word) if isinstance(word, bytes) else str(word) for word in words.tolist()]
    return select_rows(decoded, matrix, selection, name=str(path), form="npz")


def _read_npy(path: Path, selection: WordFilter) -> Vectors:
    try:
        matrix: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        raise _damaged_array(path) from None
    candidates = list_word_files(path)
    file = next((candidate for candidate in candidates if candidate.is_file()), None)
    if file is None:
        names = " or ".join(candidate.name for candidate in candidates[:2])
        raise UnmaskError(f"{path} has no file of words next to it; put them, one a line, into {names}")
    words = _decode_word(file.read_bytes()).removesuffix("\n").split("\n")
    return select_rows([word.removesuffix("\r") for word in words], matrix, selection, name=str(path), form="npy")


def list_word_files(path: Path) -> list[Path]:
    """List where the words of an npy file may be: `a.txt` or `a.vocab`, for `a.wv.npy` also without the `.wv`."""
    stems = list(dict.fromkeys((path.stem, path.stem.removesuffix(".wv"))))
    return [path.with_name(stem + ending) for stem in stems for ending in (".txt", ".vocab")]


def _damaged_array(path: Path) -> UnmaskError:
    return UnmaskError(
        f"{path} is damaged, or holds pickled objects, which are never loaded; save an array of numbers (and words as"
        " an array of strings)"
    )


def write_vectors(path: Path, vectors: Vectors, form: str | None = None) -> None:
    """Write a vector file, by default in the format the vectors came in.

    A name that ends with `.gz` compresses it, except for NumPy files. Text holds every digit that float32 needs. The
    words of an npy file go into one next to it.
    """
    form = check_choice(form or vectors.form, (*FORMATS, "npz", "npy"), "format of vectors")
    words = [word.encode("utf-8", "surrogateescape") for word in vectors.words]
    if form == "npy":
        with atomic_file(list_word_files(path)[0]) as draft:
            draft.write_bytes(b"".join(word + b"\n" for word in words))
    is_compressed = path.suffix == ".gz" and form in FORMATS
    with atomic_file(path) as draft, gzip.open(draft, "wb") if is_compressed else draft.open("wb") as file:
        if form == "npy":
            np.save(file, vectors.matrix, allow_pickle=False)
        elif form == "npz":
            np.savez(file, words=np.array(words), vectors=vectors.matrix)
        elif form != "glove":
            file.write(f"{len(words)} {vectors.matrix.shape[1]}\n".encode())
        for word, row in zip(words, vectors.matrix, strict=True) if form in FORMATS else ():
            if form == "word2vec":
                file.write(word + b" " + row.astype("<f4").tobytes() + b"\n")
            else:
                digits = " ".join(np.format_float_positional(value, trim="-") for value in row)
                file.write(word + b" " + digits.encode() + b"\n")
