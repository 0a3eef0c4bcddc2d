"""Strict reading of CSV files of words: ours, or a user's."""

from __future__ import annotations

import csv
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from io import StringIO
from pathlib import Path

from unmask.errors import UnmaskError, quote


def read_rows(path: Path | None, language: str, name: str, required: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of a CSV file, as they are meant: what looks like a slip in it is refused, not guessed at."""
    text = _text(path, language, name)
    where = path or name
    try:
        lines = [(number, cells) for number, cells in _cells(text) if any(cells)]
    except csv.Error as error:
        raise UnmaskError(f"{where} is not CSV as we read it ({error}); look for a quote that is not closed") from None
    columns = lines[0][1] if lines else []
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
        row = dict(zip(columns, cells + [""] * (len(columns) - len(cells)), strict=True))
        empty = [column for column in required if not row[column]]
        if empty:
            raise UnmaskError(f"{where}, line {number}: column {empty[0]!r} is empty; fill it in")
        rows.append(row)
    if not rows:
        raise UnmaskError(f"{where} has no rows; give at least one")
    return rows


@cache
def read_word_sets(language: str) -> Mapping[str, frozenset[str]]:
    """The sets of words that the rules of a language refer to, by name: `word_sets.toml` in its folder."""
    text = (resources.files(__package__) / language / "word_sets.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


def _cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, with the line on which it ends."""
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    for cells in reader:
        yield reader.line_num, [cell.strip() for cell in cells]


def _text(path: Path | None, language: str, name: str) -> str:
    if path is None:
        return (resources.files(__package__) / language / f"{name}.csv").read_text(encoding="utf-8")
    wanted = "with the columns male and female" if name == "gender" else f"of {name}"
    return read_text(path, f"a CSV file {wanted}")


def read_text(path: Path, wanted: str) -> str:
    """The text of a user's file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UnmaskError(f"{path} does not exist; give {wanted}") from None
    except IsADirectoryError:
        raise UnmaskError(f"{path} is a folder; give {wanted}") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8 text; save it in UTF-8") from None
    except (OSError, ValueError) as error:
        raise UnmaskError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}); give {wanted}"
        ) from None


def check_unique(names: Iterable[str], where: object, what: str) -> None:
    """Refuse a name that stands there twice."""
    double = [name for name, count in Counter(names).items() if count > 1]
    if double:
        raise UnmaskError(f"{where}: {quote(double)} given more than once; give every {what} once")
