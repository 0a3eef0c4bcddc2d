"""Reading .xlsx, and CSV that is safe in spreadsheets.

Spreadsheets run cells that begin with =, +, - or @: such a text gets an apostrophe. Numbers do not change. A text that
begins with apostrophes before one of these signs gets one more, so that `plain` restores every text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from unmask.errors import UnmaskError

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"'*[=+\-@\t\r]")
GUARDED = re.compile(rf"'(?={FORMULA.pattern})")


def guarded(cell: Any) -> Any:
    """A cell that no spreadsheet runs as a formula."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def plain(cell: Any) -> Any:
    """A guarded cell, as it was before."""
    return GUARDED.sub("", cell, count=1) if isinstance(cell, str) and GUARDED.match(cell) else cell


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, with guarded texts."""
    return _texts(frame, guarded).to_csv(index=False, lineterminator="\n")


def plain_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that was read from CSV, with the original texts."""
    return _texts(frame, plain)


def _texts(frame: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    changed = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        changed[name] = frame[name].map(change)
    return changed


def read_sheet(path: Path) -> list[list[str]]:
    """The cells of the first sheet of an .xlsx file, row by row, as texts; empty cells are empty texts."""
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    try:
        with ZipFile(path) as book:
            names = book.namelist()
            shared = []
            if "xl/sharedStrings.xml" in names:
                strings = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
                shared = ["".join(part.text or "" for part in item.iter(f"{main}t")) for item in strings]
            first = min(name for name in names if name.startswith("xl/worksheets/sheet"))
            sheet = ElementTree.fromstring(book.read(first))
    except (OSError, BadZipFile, ValueError, KeyError, ElementTree.ParseError) as error:
        raise UnmaskError(
            f"{path} cannot be read as .xlsx ({type(error).__name__}); save it again, or as CSV"
        ) from None
    rows = []
    for row in sheet.iter(f"{main}row"):
        cells: list[str] = []
        for cell in row.iter(f"{main}c"):
            letters = "".join(letter for letter in cell.get("r", "") if letter.isalpha())
            index = sum((ord(letter) - 64) * 26**place for place, letter in enumerate(reversed(letters))) - 1
            cells += [""] * (max(index, len(cells)) - len(cells))
            value = "".join(part.text or "" for tag in ("v", "t") for part in cell.iter(main + tag))
            cells.append(shared[int(value)] if cell.get("t") == "s" and value else value)
        rows.append(cells)
    return rows
