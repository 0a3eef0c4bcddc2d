"""Documents in bytes, and the fields of JSON lines; everything here keeps every byte.

A document of plain text is a paragraph (the text between blank lines), a line, or a file. One that is larger than a
piece is cut, if possible after a sentence, else after white space, so memory is bounded even if a line has 100 MB.

Of a JSON line only the string of a field is replaced, so numbers keep their digits, fields their order, and the line
its spacing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

PIECE = 1 << 20
"""Bytes that are rewritten at once, at most."""
TAIL = 1 << 14
"""Bytes at the end of a buffer that are searched for a place to cut."""

_NEWLINE = rb"(?:\r\n|\n|\r(?!\n))"
_DOCUMENT_ENDS = {
    "paragraph": re.compile(_NEWLINE + rb"[ \t]*" + _NEWLINE + rb"[ \t\r\n]*"),
    "line": re.compile(_NEWLINE),
    "file": re.compile(rb"(?!)"),  # never
}
_CUTS = (
    re.compile(rb"[a-z]{3}[.!?]+[\"')\]]*\s+"),  # a sentence; three small letters: not after "Mr." or "e.g."
    re.compile(rb"\s*\n\s*"),
    re.compile(rb"\s+"),
    re.compile(rb"[!-/:-@\[-`{-~]+"),
)


def split_documents(content: bytes, document: str) -> Iterator[bytes]:
    """The documents of a text, each with the newlines after it; together they are the text."""
    start = 0
    for match in _DOCUMENT_ENDS[document].finditer(content):
        yield content[start : match.end()]
        start = match.end()
    if start < len(content):
        yield content[start:]


def find_second_document(buffer: bytes, document: str) -> int:
    """The offset of the first document after the one at the beginning; 0 if that is not in the buffer."""
    match = _DOCUMENT_ENDS[document].search(buffer)
    return match.end() if match and match.end() < len(buffer) else 0


def find_last_document(buffer: bytes, document: str) -> int:
    """The offset of the last document that certainly starts in the buffer; 0 if there is only the first."""
    tail = max(0, len(buffer) - TAIL)  # there usually is one near the end
    return _last_match(_DOCUMENT_ENDS[document], buffer, tail) or _last_match(_DOCUMENT_ENDS[document], buffer, 0)


def find_cut(buffer: bytes) -> int:
    """Where to cut a document that is too large: after a sentence, a line, white space, a sign, or a character."""
    for pattern in _CUTS:
        if cut := _last_match(pattern, buffer, max(0, len(buffer) - TAIL)):
            return cut
    end = len(buffer)
    while end > len(buffer) - 4 and buffer[end - 1] & 0xC0 == 0x80:  # a character of several bytes stays whole
        end -= 1
    return end - 1 if buffer[end - 1] & 0xC0 == 0xC0 else len(buffer)


def _last_match(pattern: re.Pattern[bytes], buffer: bytes, start: int) -> int:
    """The end of the last match that does not touch the end of the buffer, where it might go on; 0 if none."""
    return max((match.end() for match in pattern.finditer(buffer, start) if match.end() < len(buffer)), default=0)


def split_pieces(document: bytes) -> Iterator[bytes]:
    """A document in pieces that are not too large."""
    start = 0
    while len(document) - start > PIECE:
        end = start + find_cut(document[start : start + PIECE])
        yield document[start:end]
        start = end
    yield document[start:]


_WHITE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Numbers are not needed, and Python does not read integers of more than 4,300 digits. Control characters inside strings
# are against the rules, and common.
_read_value = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False).raw_decode


class JsonField(NamedTuple):
    """A field of a JSON object: its name, its value, and where that stands in the line."""

    name: str
    value: Any
    start: int
    end: int

    def has_string(self, line: str) -> bool:
        """Whether the value was written as a string; numbers are read as strings too."""
        return line[self.start] == '"'


def read_json_fields(line: str) -> list[JsonField]:
    """The fields of the object in a line; raises `ValueError` with the reason if it holds none."""
    try:
        return _parse_object(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parse_object(line: str) -> list[JsonField]:
    index = _skip_space(line, 0)
    if line[index : index + 1] != "{":
        raise ValueError("it does not begin with {")
    fields: list[JsonField] = []
    index = _skip_space(line, index + 1)
    while line[index : index + 1] != "}" or fields:
        if line[index : index + 1] != '"':
            raise json.JSONDecodeError("a field name in double quotes is missing", line, index)
        name, index = _read_value(line, index)
        index = _skip_space(line, index)
        if line[index : index + 1] != ":":
            raise json.JSONDecodeError("a colon is missing", line, index)
        start = _skip_space(line, index + 1)
        value, end = _read_value(line, start)
        fields.append(JsonField(name, value, start, end))
        index = _skip_space(line, end)
        if line[index : index + 1] == "}":
            break
        if line[index : index + 1] != ",":
            raise json.JSONDecodeError("a comma or } is missing", line, index)
        index = _skip_space(line, index + 1)
    if _skip_space(line, index + 1) != len(line):
        raise json.JSONDecodeError("there is more after the object", line, index + 1)
    return fields


def _skip_space(line: str, index: int) -> int:
    return _WHITE.match(line, index).end()  # type: ignore[union-attr]


def string_errors(written: str) -> str | None:
    """How to encode a string of a line that was decoded with `surrogateescape`: the `errors` argument.

    Half characters (surrogates) can stand for bytes that are not UTF-8, or come from escapes such as `\\ud83d`. None if
    it has both, which cannot be told apart.
    """
    if not _SURROGATE.search(written):
        return "surrogatepass"
    return None if "\\ud" in written.lower() else "surrogateescape"


def write_json_string(text: str, before: str) -> str:
    """The text as a JSON string, escaped where the one before it was."""
    ascii_only = before.isascii() and "\\u" in before
    written = json.dumps(text, ensure_ascii=ascii_only)
    if ascii_only or string_errors(before) == "surrogateescape":
        return written
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
