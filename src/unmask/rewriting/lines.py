"""JSON lines: find the text of a field in a line, and put another in its place; all else stays byte for byte.

Numbers keep their digits, fields their order, and the line its spacing, because only the string itself is replaced.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

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


def fields(line: str) -> list[Field]:
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


def errors_of(written: str) -> str | None:
    """How a string of a line that was decoded with `surrogateescape` is turned into bytes and back.

    Half characters (surrogates) can stand for bytes that are not UTF-8, or come from escapes such as `\\ud83d`. None if
    it has both, which cannot be told apart.
    """
    if not _SURROGATE.search(written):
        return "surrogatepass"
    return None if "\\ud" in written.lower() else "surrogateescape"


def literal(text: str, before: str) -> str:
    """The text as a JSON string, escaped where the one before it was."""
    ascii_only = before.isascii() and "\\u" in before
    written = json.dumps(text, ensure_ascii=ascii_only)
    if ascii_only or errors_of(before) == "surrogateescape":
        return written
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", written)


def _skip(line: str, place: int) -> int:
    match = _WHITE.match(line, place)
    assert match is not None
    return match.end()
