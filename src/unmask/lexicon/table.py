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
from typing import TypeVar

from pydantic import TypeAdapter

from unmask.errors import UnmaskError, quote

Record = TypeVar("Record")


class Row(dict[str, str]):
    """The cells of a row by column, and the number of the line on which the row ends."""

    def __init__(self, cells: Iterable[tuple[str, str]], line: int) -> None:
        super().__init__(cells)
        self.line = line

    def read_number(self, column: str, low: float, high: float, where: object) -> float | None:
        """The number in a cell; None where it is empty."""
        text = self.get(column, "")
        try:
            number = float(text) if text else None
        except ValueError:
            number = math.nan
        if number is not None and not low <= number <= high:
            first = next(iter(self.values()))
            raise UnmaskError(f"{where}: {column} {text!r} of {first!r} is not a number between {low:g} and {high:g}")
        return number


def read_rows(
    path: Path | None, language: str, name: str, required: tuple[str, ...], *, lower_columns: bool = False
) -> list[Row]:
    """The rows of the CSV file at `path`, or without one, of our own file `name` in the folder of the language.

    Cells are stripped; what is probably a mistake raises an error instead of a guess. `required` columns must be there
    and filled in every row.
    """
    if path is None:
        text = (resources.files(__package__) / language / f"{name}.csv").read_text(encoding="utf-8")
    else:
        text = read_text(path, f"a CSV file {'with the columns male and female' if name == 'gender' else f'of {name}'}")
    where = path or name
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in cells]) for cells in reader]
    except csv.Error as error:
        raise UnmaskError(f"{where} is not CSV as we read it ({error}); look for a quote that is not closed") from None
    lines = [(number, cells) for number, cells in lines if any(cells)]
    columns = lines[0][1] if lines else []
    if lower_columns:
        columns = [column.lower() for column in columns]
    missing = [column for column in required if column not in columns]
    if missing:
        hint = "; separate columns by commas" if any(";" in column or "\t" in column for column in columns) else ""
        raise UnmaskError(f"{where}: column {missing[0]!r} is missing; it has {quote(columns) or 'no columns'}{hint}")
    rows = []
    for number, cells in lines[1:]:
        if len(cells) > len(columns):
            raise UnmaskError(
                f"{where}, line {number}: {len(cells)} cells for {len(columns)} columns;"
                " put quotes around text with commas"
            )
        if any(unicodedata.category(letter) == "Cc" for cell in cells for letter in cell):
            raise UnmaskError(f"{where}, line {number}: a cell holds a line break or control character; remove it")
        row = Row(zip_longest(columns, cells, fillvalue=""), number)
        empty = [column for column in required if not row[column]]
        if empty:
            raise UnmaskError(f"{where}, line {number}: column {empty[0]!r} is empty; fill it in")
        rows.append(row)
    if not rows:
        raise UnmaskError(f"{where} has no rows; give at least one")
    return rows


def read_records(record: type[Record], language: str, name: str) -> tuple[Record, ...]:
    """The rows of our own file as instances of a dataclass, whose fields are columns of the file."""
    columns = tuple(field.name for field in fields(record))  # type: ignore[arg-type]
    return TypeAdapter(tuple[record, ...]).validate_python(  # type: ignore[valid-type]
        [{column: row[column] for column in columns} for row in read_rows(None, language, name, columns)]
    )


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
    except IsADirectoryError:
        raise UnmaskError(f"{path} is a folder; give {wanted}") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8 text; save it in UTF-8") from None
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise UnmaskError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}); give {wanted}"
        ) from None


def check_unique(names: Iterable[str], where: object, what: str) -> None:
    """Raise an error for a name that is given twice."""
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        raise UnmaskError(f"{where}: {quote(double)} given more than once; give every {what} once")
