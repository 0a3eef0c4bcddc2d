"""Text in blocks of whole documents, and the fields of JSON lines; every byte that is not rewritten stays.

**Blocks** have a bounded size, and every byte is in exactly one of them. A document is a paragraph (the text between
blank lines), a line, or a file. One that is larger than a piece is cut, if possible after a sentence, else after white
space, so memory is bounded even where a line has 100 MB. Where blocks end depends only on the text after their
beginning: a run that resumes at the end of any block finds the same ones.

**JSON lines**: only the string of a field is replaced, so numbers keep their digits, fields their order, and the line
its spacing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from unmask.rewriting.options import DocumentSampler

DOCUMENTS = ("paragraph", "line", "file")
BLOCK = 1 << 17
PIECE = 1 << 20
TAIL = 1 << 14

_NEWLINE = rb"(?:\r\n|\n|\r(?!\n))"
_STARTS = {
    "paragraph": re.compile(_NEWLINE + rb"[ \t]*" + _NEWLINE + rb"[ \t\r\n]*"),
    "line": re.compile(_NEWLINE),
}
_CUTS = (  # three small letters: not after "Mr." or "e.g."
    re.compile(rb"[a-z]{3}[.!?]+[\"')\]]*\s+"),
    re.compile(rb"\s*\n\s*"),
    re.compile(rb"\s+"),
    re.compile(rb"[!-/:-@\[-`{-~]+"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole documents, or a piece of one."""

    content: bytes
    piece_of: bool | None = None
    """Of a piece: whether its document is rewritten. None: these are whole documents."""
    begins: bool = True
    """Whether a document begins here."""
    goes_on: bool = False
    """Whether the last document goes on in the next block."""


def read_blocks(
    stream: IO[bytes], document: str, choice: DocumentSampler, within: bool | None = None
) -> Iterator[Block]:
    """Read blocks to the end; `within` is the choice for the document in the middle of which the stream stands."""
    buffer = b""
    window = BLOCK
    ended = False
    while True:
        if not ended and len(buffer) < window:
            buffer += stream.read(window - len(buffer))
            ended = len(buffer) < window
        if not buffer:
            return
        view = buffer[:window]
        rest = len(view) if len(buffer) < window else 0  # the stream ends within the window
        end = rest or last_start(view, document) if within is None else first_start(view, document) or rest
        if end:
            yield Block(view[:end], piece_of=within, begins=within is None)
            within = None
        elif window >= PIECE:
            end = find_cut(view)
            begins = within is None
            within = choice.selects(view[:end]) if within is None else within
            yield Block(view[:end], piece_of=within, begins=begins, goes_on=True)
        else:
            window *= 2
            continue
        buffer = buffer[end:]
        window = BLOCK


def split_documents(content: bytes, document: str) -> Iterator[bytes]:
    """The documents of a block, each with the newlines after it; together they are the block."""
    place = 0
    if document in _STARTS:
        for match in _STARTS[document].finditer(content):
            yield content[place : match.end()]
            place = match.end()
    if place < len(content):
        yield content[place:]


def first_start(buffer: bytes, document: str) -> int:
    """Where the first document after the one at the beginning starts; 0 if that is not in the buffer."""
    match = _STARTS[document].search(buffer) if document in _STARTS else None
    return match.end() if match and match.end() < len(buffer) else 0


def last_start(buffer: bytes, document: str) -> int:
    """Where the last document starts for certain; 0 if the buffer has no other than the first."""
    if document not in _STARTS:
        return 0
    for begin in (max(0, len(buffer) - TAIL), 0):  # mostly there is one near the end
        found = 0
        for match in _STARTS[document].finditer(buffer, begin):
            if match.end() < len(buffer):  # else its blank lines may go on
                found = match.end()
        if found:
            return found
    return 0


def find_cut(buffer: bytes) -> int:
    """Where to cut a document that is too large: after a sentence, a line, white space, a sign, or a character."""
    for pattern in _CUTS:
        found = 0
        for match in pattern.finditer(buffer, max(0, len(buffer) - TAIL)):
            if match.end() < len(buffer):
                found = match.end()
        if found:
            return found
    end = len(buffer)
    while end > len(buffer) - 4 and buffer[end - 1] & 0xC0 == 0x80:  # a character of several bytes stays whole
        end -= 1
    return end - 1 if buffer[end - 1] & 0xC0 == 0xC0 else len(buffer)


def split_pieces(document: bytes) -> Iterator[bytes]:
    """A document in pieces that are not too large."""
    place = 0
    while len(document) - place > PIECE:
        end = place + find_cut(document[place : place + PIECE])
        yield document[place:end]
        place = end
    yield document[place:]


_WHITE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Numbers are not needed, and Python refuses to read integers of more than 4,300 digits. Control characters inside
# strings are against the rules, and common.
_value = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False).raw_decode


class Field(NamedTuple):
    """A field of a JSON object: its name, its value, and where that stands in the line."""

    name: str
    value: Any
    start: int
    end: int


def json_fields(line: str) -> list[Field]:
    """The fields of the object in a line; raises `ValueError` with the reason if it holds none."""
    try:
        return _fields(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _fields(line: str) -> list[Field]:
    place = _skip(line, 0)
    if line[place : place + 1] != "{":
        raise ValueError("it does not begin with {")
    found: list[Field] = []
    place = _skip(line, place + 1)
    while line[place : place + 1] != "}" or found:
        if line[place : place + 1] != '"':
            raise json.JSONDecodeError("a field name in double quotes is missing", line, place)
        name, place = _value(line, place)
        place = _skip(line, place)
        if line[place : place + 1] != ":":
            raise json.JSONDecodeError("a colon is missing", line, place)
        start = _skip(line, place + 1)
        value, end = _value(line, start)
        found.append(Field(name, value, start, end))
        place = _skip(line, end)
        if line[place : place + 1] == "}":
            break
        if line[place : place + 1] != ",":
            raise json.JSONDecodeError("a comma or } is missing", line, place)
        place = _skip(line, place + 1)
    if _skip(line, place + 1) != len(line):
        raise json.JSONDecodeError("there is more after the object", line, place + 1)
    return found


def string_errors(written: str) -> str | None:
    """How a string of a line that was decoded with `surrogateescape` is turned into bytes and back.

    Half characters (surrogates) can stand for bytes that are not UTF-8, or come from escapes such as `\\ud83d`. None if
    it has both, which cannot be told apart.
    """
    if not _SURROGATE.search(written):
        return "surrogatepass"
    return None if "\\ud" in written.lower() else "surrogateescape"


def json_literal(text: str, before: str) -> str:
    """The text as a JSON string, escaped where the one before it was."""
    ascii_only = before.isascii() and "\\u" in before
    written = json.dumps(text, ensure_ascii=ascii_only)
    if ascii_only or string_errors(before) == "surrogateescape":
        return written
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def _skip(line: str, place: int) -> int:
    match = _WHITE.match(line, place)
    assert match is not None
    return match.end()
