"""Reading .xlsx, and CSV that is safe in spreadsheets.

Spreadsheets run cells that begin with =, +, - or @: such a text gets an apostrophe. Numbers do not change. A text that
begins with apostrophes before one of these signs gets one more, so that `plain` restores every text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class SheetRow:
    """A row of a sheet."""

    cells: dict[str, str]
    """The content of each cell that is not empty, by the letters of its column."""
    indent: int
    """How far the first cell is indented, by which tables show what belongs to what."""


SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_xlsx(path: Path) -> list[SheetRow]:
    """Read the first sheet of an Excel file (.xlsx): the stored texts and numbers, without formulas and formats."""
    try:
        with ZipFile(path) as archive:
            names = set(archive.namelist())
            parts = [
                ElementTree.fromstring(archive.read(f"xl/{name}.xml")) if f"xl/{name}.xml" in names else None
                for name in ("worksheets/sheet1", "sharedStrings", "styles")
            ]
    except FileNotFoundError:
        raise UnmaskError(f"{path} does not exist; give an Excel file (.xlsx)") from None
    except (BadZipFile, ElementTree.ParseError, OSError) as error:
        raise UnmaskError(f"{path} is not an Excel file that can be read ({error}); save it as .xlsx or CSV") from None
    sheet, strings, styles = parts
    if sheet is None:
        raise UnmaskError(f"{path} has no first sheet; save it as .xlsx with one, or as CSV")
    texts = ["".join(part.text or "" for part in entry.iter(f"{SHEET}t")) for entry in strings or ()]
    formats = [] if styles is None else styles.findall(f"{SHEET}cellXfs/{SHEET}xf")
    indents = [
        0 if (alignment := form.find(f"{SHEET}alignment")) is None else int(alignment.get("indent", 0))
        for form in formats
    ]
    rows = []
    for row in sheet.iter(f"{SHEET}row"):
        cells, indent = {}, 0
        for cell in row.findall(f"{SHEET}c"):
            value = cell.findtext(f"{SHEET}v") or "".join(part.text or "" for part in cell.iter(f"{SHEET}t"))
            column = re.sub(r"\d", "", cell.get("r", ""))
            if value:
                cells[column] = texts[int(value)] if cell.get("t") == "s" else value
            if column == "A" and indents:
                indent = indents[int(cell.get("s", 0))]
        rows.append(SheetRow(cells, indent))
    return rows
