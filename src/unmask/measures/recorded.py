"""Recorded items: tables of scores that an audit or another program has written.

A measure declares the columns of its items (`RecordedColumn`). One reader checks them, converts them to the types that
an audit writes, and fills in those that are missing and have a default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unmask.errors import UnmaskError, import_extra, quote
from unmask.results.storage import ITEMS, list_items, read_items
from unmask.spreadsheets import plain_frame

if TYPE_CHECKING:
    import pandas as pd

REQUIRED, OPTIONAL = object(), object()
BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


@dataclass(frozen=True)
class RecordedColumn:
    """A column of recorded items.

    Args:
        name: The name of the column.
        dtype: How cells are converted. "text": strings without surrounding spaces, None where empty; "number": finite
            numbers; "count": numbers from 0; "boolean": true or false; "any": unchanged.
        default: The value of a missing column, or a function that computes it from the table. A missing column without
            a default is an error if REQUIRED and stays missing if OPTIONAL.
        choices: The values that a text may have, in lower case; texts are converted to lower case.
        nullable: Whether cells may be empty. An empty column that is not nullable and has a default counts as missing.
    """

    name: str
    dtype: Literal["text", "number", "count", "boolean", "any"] = "any"
    default: Any = REQUIRED
    choices: tuple[str, ...] = ()
    nullable: bool = False


CORPUS = RecordedColumn("corpus", "text", default="recorded")


def locate_items(path: Path, measure: str) -> tuple[Path, str]:
    """The file of recorded items, and a name for the model; an audit folder stands for its items."""
    folder = path.parent.parent if path.parent.name == "items" else path
    file = list_items(path).get(measure) if path.is_dir() else path
    if file is None:
        raise UnmaskError(
            f"{path} is a folder without items/{measure}{ITEMS}; give an audit folder or a file of scores"
        )
    if folder != path or path.is_dir():
        return file, folder.name
    return file, path.name.removesuffix(ITEMS) if path.name.endswith(ITEMS) else path.stem


def read_table(path: Path) -> pd.DataFrame:
    """Read a table with at least one row from JSON lines, CSV, TSV or Parquet."""
    import pandas as pd

    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".jsonl": read_items,
        ITEMS: read_items,
        ".csv": lambda file: plain_frame(pd.read_csv(file)),
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
        ".parquet": pd.read_parquet,
    }
    if not path.is_file():
        raise UnmaskError(f"{path} does not exist; give a file of recorded scores (JSON lines, CSV, TSV or Parquet)")
    suffix = ITEMS if path.name.endswith(ITEMS) else path.suffix
    if suffix not in readers:
        raise UnmaskError(f"{path}: cannot read {suffix or 'a file without ending'}; give {', '.join(readers)}")
    if suffix == ".parquet":
        import_extra("pyarrow", "parquet", str(path))
    try:
        frame = readers[suffix](path)
    except (ValueError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnmaskError(f"{path} cannot be read: {reason}") from None
    if frame.empty:
        raise UnmaskError(f"{path} has no rows; give at least one item")
    return frame


def read_recorded(
    path: Path, columns: Sequence[RecordedColumn], *, language: str | None, **options: Any
) -> pd.DataFrame:
    """Read the items of a measure; see `read_table` and `complete_columns`."""
    return complete_columns(read_table(path), columns, path, language=language, **options)


def complete_columns(
    frame: pd.DataFrame,
    columns: Sequence[RecordedColumn],
    path: Path,
    *,
    language: str | None,
    default_language: str = "en",
    needs: str = "",
) -> pd.DataFrame:
    """Check and convert the columns of recorded items.

    Args:
        frame: The items as they were read.
        columns: The columns of the measure. A column `language` is added to them.
        path: The file, for error messages.
        language: The language that all items must have; None for any.
        default_language: The language of items without a column `language`, if `language` is None.
        needs: What the measure needs, in words, for the error message where a column is missing.
    """
    required = [column.name for column in columns if column.default is REQUIRED]
    if missing := [name for name in required if name not in frame]:
        needs = needs or f"it needs {', '.join(required)}"
        raise UnmaskError(f"{path} lacks the columns {quote(missing)}; {needs}")
    items = frame.copy()
    for column in (RecordedColumn("language", "text", default=language or default_language), *columns):
        if column.name in items and column.dtype == "text":
            items[column.name] = _convert_texts(items[column.name])
        has_default = column.default is not REQUIRED and column.default is not OPTIONAL
        if has_default and (
            column.name not in items or (not column.nullable and bool(_are_empty(items[column.name]).all()))
        ):
            default = column.default(items) if callable(column.default) else column.default
            items[column.name] = [default] * len(items) if isinstance(default, str) else default
        elif column.name in items:
            items[column.name] = _check_column(items, column, path)
    languages = sorted(set(items["language"]))
    if language is not None and languages != [language]:
        raise UnmaskError(f"{path} holds scores for {quote(languages)}, not for {language!r}")
    return items


def read_scores(frame: pd.DataFrame, column: str, path: Path) -> pd.Series[float]:
    """A column of finite numbers."""
    import pandas as pd

    if column not in frame:
        raise UnmaskError(
            f"{path} has no column {column!r}; choose one with --score-column: {', '.join(map(str, frame))}"
        )
    scores = pd.to_numeric(frame[column], errors="coerce")
    bad = (scores.isna() | scores.abs().eq(float("inf"))).to_numpy()
    if bad.any():
        raise UnmaskError(
            f"{path}: column {column!r} has values that are not numbers (first in row {int(bad.argmax()) + 1});"
            " every item needs one"
        )
    return scores


def _check_column(items: pd.DataFrame, column: RecordedColumn, path: Path) -> pd.Series[Any]:
    """A column in its type; the first invalid cell is an error."""
    import pandas as pd

    cells = items[column.name]
    empty = _are_empty(cells)
    if column.dtype == "number" and not column.nullable:
        return read_scores(items, column.name, path)
    if empty.any() and not column.nullable:
        raise UnmaskError(f"{path}: {column.name!r} is empty in row {int(empty.to_numpy().argmax()) + 1}; fill it in")
    converted: pd.Series[Any]
    if column.dtype in ("number", "count"):
        converted = pd.to_numeric(cells, errors="coerce").astype(float)
        bad = (~empty & converted.isna()) | converted.abs().eq(float("inf"))
        bad |= (converted < 0) & (column.dtype == "count")
        expected = "give a number"
    elif column.dtype == "boolean":
        converted = cells.astype(str).str.strip().str.lower().map(BOOLEANS)
        bad = converted.isna() & ~empty
        expected = "give true or false"
        converted = converted.astype("boolean" if column.nullable else bool) if not bad.any() else converted
    elif column.choices:
        converted = cells.str.lower()
        bad = ~empty & ~converted.isin(column.choices)
        expected = f"choose from: {', '.join(column.choices)}"
    else:
        return cells
    if bad.any():
        row = int(bad.to_numpy().argmax())
        raise UnmaskError(f"{path}: {column.name!r} is {str(cells.iloc[row])!r} in row {row + 1}; {expected}")
    return converted


def _convert_texts(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Cells as text, as an audit writes it: numbers without a fraction lose their decimal point."""
    import pandas as pd

    def to_text(cell: Any) -> str | None:
        if pd.isna(cell):
            return None
        return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()

    return pd.Series([to_text(cell) for cell in cells], index=cells.index, dtype=object)


def _are_empty(cells: pd.Series[Any]) -> pd.Series[bool]:
    return cells.isna() | cells.astype(str).str.strip().eq("")
