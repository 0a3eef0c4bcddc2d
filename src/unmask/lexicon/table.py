"""Strict reading of CSV files of words: ours, or a user's."""

from __future__ import annotations

import csv
import gzip
import math
import tomllib
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from string import Formatter
from typing import TypeVar

from pydantic import TypeAdapter

from unmask.errors import UnmaskError, check_choice, quote

Record = TypeVar("Record")


class WordRow(dict[str, str]):
    """The cells of a row by column, and where the row stands, for messages."""

    def __init__(self, cells: Iterable[tuple[str, str]], location: str) -> None:
        super().__init__(cells)
        self.location = location

    def error(self, message: str) -> UnmaskError:
        """An error that names the file and the line."""
        return UnmaskError(f"{self.location}: {message}")

    def read_number(self, column: str, low: float, high: float) -> float | None:
        """The number in a cell; None where it is empty."""
        text = self.get(column, "")
        try:
            number = float(text) if text else None
        except ValueError:
            number = math.nan
        if number is not None and not low <= number <= high:
            first = next(iter(self.values()))
            raise self.error(f"{column} {text!r} of {first!r} is not a number between {low:g} and {high:g}")
        return number

    def read_choice(self, column: str, choices: Iterable[str], default: str = "") -> str:
        """The cell of a column that allows certain values only."""
        try:
            return check_choice(self.get(column) or default, choices, column)
        except UnmaskError as error:
            raise self.error(str(error)) from None

    def read_fields(self, column: str) -> list[str]:
        """The names in braces of a template."""
        try:
            return [name for _, name, _, _ in Formatter().parse(self[column]) if name is not None]
        except ValueError as error:
            raise self.error(f"{column} {self[column]!r} cannot be read: {error}") from None


def read_rows(
    path: Path | None,
    language: str,
    name: str,
    required: tuple[str, ...],
    *,
    lower_columns: bool = False,
    unique: bool = False,
) -> list[WordRow]:
    """Read a CSV file of words strictly: what is probably a mistake raises an error instead of a guess.

    Args:
        path: A user's file; without one, our own file `name` in the folder of the language is read.
        language: The folder of our own files.
        name: What the file holds.
        required: Columns that must be there and filled in every row.
        lower_columns: Read the names of columns in lower case.
        unique: No cell of the first required column may stand there twice.

    Returns:
        The rows, with their cells stripped.
    """
    if path is None:
        text = (resources.files(__package__) / language / f"{name}.csv").read_text(encoding="utf-8")
    else:
        text = read_text(path, f"a CSV file {'with the columns male and female' if name == 'gender' else f'of {name}'}")
    where = path or f"{language}/{name}.csv"
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        lines = [(f"{where}, line {reader.line_num}", [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise UnmaskError(f"{where} is not valid CSV ({error}); look for a quote that is not closed") from None
    lines = [(location, cells) for location, cells in lines if any(cells)]
    columns = lines[0][1] if lines else []
    if lower_columns:
        columns = [column.lower() for column in columns]
    missing = [column for column in required if column not in columns]
    if missing:
        hint = "; separate columns by commas" if any(";" in column or "\t" in column for column in columns) else ""
        raise UnmaskError(f"{where}: column {missing[0]!r} is missing; it has {quote(columns) or 'no columns'}{hint}")
    rows = []
    for location, cells in lines[1:]:
        row = WordRow(zip_longest(columns, cells, fillvalue=""), location)
        if len(cells) > len(columns):
            raise row.error(f"{len(cells)} cells for {len(columns)} columns; put quotes around text with commas")
        if any(unicodedata.category(letter) == "Cc" for cell in cells for letter in cell):
            raise row.error("a cell holds a line break or control character; remove it")
        empty = [column for column in required if not row[column]]
        if empty:
            raise row.error(f"column {empty[0]!r} is empty; fill it in")
        rows.append(row)
    if not rows:
        raise UnmaskError(f"{where} has no rows; give at least one")
    if unique:
        check_unique((row[required[0]] for row in rows), where, required[0])
    return rows


def read_records(record: type[Record], language: str, name: str) -> tuple[Record, ...]:
    """The rows of our own file as instances of a dataclass, whose fields are columns of the file."""
    columns = tuple(field.name for field in fields(record))  # type: ignore[arg-type]
    return TypeAdapter(tuple[record, ...]).validate_python(  # type: ignore[valid-type]
        [{column: row[column] for column in columns} for row in read_rows(None, language, name, columns)]
    )


@cache
def read_groups(language: str, name: str, key: str, value: str) -> dict[str, list[str]]:
    """The cells of one column of our own file, by those of another, in order."""
    groups: dict[str, list[str]] = {}
    for row in read_rows(None, language, name, (key, value)):
        groups.setdefault(row[key], []).append(row[value])
    return groups


@cache
def read_word_sets(language: str) -> Mapping[str, frozenset[str]]:
    """The sets of words that the rules of a language refer to, by name: `word_sets.toml` in its folder."""
    text = (resources.files(__package__) / language / "word_sets.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


def read_text(path: Path, wanted: str) -> str:
    """The text of a user's file, plain or gzip; `wanted` tells in messages what to give."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise UnmaskError(f"{path} does not exist; give {wanted}") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8 text; save it in UTF-8") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise UnmaskError(f"{path} cannot be read ({reason}); give {wanted}") from None


def check_unique(names: Iterable[str], where: object, what: str) -> None:
    """Raise an error for a name that is given twice."""
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        raise UnmaskError(f"{where}: {quote(double)} given more than once; give every {what} once")
