"""Recorded ratings of texts in two versions: one row a text, with `p_female` and `p_male`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, quote
from unmask.probes import recorded

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("p_female", "p_male")
APART = ("language", "corpus", "terms")
"""What ratings are told apart by; each kind is analysed by itself."""
COUNTS = ("words", "tokens", "terms_read")
WORDS = (*APART, "id", "label", "rating", "changed_terms", "choice_female", "choice_male")
TRUTHS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


def read(path: Path, language: str | None) -> pd.DataFrame:
    """Items from Parquet, CSV or TSV; columns that an analysis can do without are filled in."""
    frame = recorded.frame_of(path)
    missing = [column for column in NEEDED if column not in frame]
    if missing:
        raise UnmaskError(
            f"{path} lacks the columns {quote(missing)}; sentiment needs {' and '.join(NEEDED)}: the ratings of the"
            " female and the male version of each text"
        )
    items = frame.assign(**{column: recorded.scores_of(frame, column, path).astype(float) for column in NEEDED})
    items["bias"] = items["p_male"] - items["p_female"]
    defaults: dict[str, Any] = {
        "language": language or "en",
        "corpus": "recorded",
        "terms": "not stated",
        "id": [str(row) for row in range(1, len(items) + 1)],
    }
    items = _tidy(items.assign(**{column: value for column, value in defaults.items() if column not in items}), path)
    if language and set(items["language"]) != {language}:
        raise UnmaskError(
            f"{path} holds ratings for {quote(sorted(map(str, set(items['language']))))}, not {language!r}"
        )
    items["changed"] = _changed(items, path)
    if not items["changed"].any():
        raise UnmaskError(f"{path} has no text that changed (column 'changed'); there is nothing to analyse")
    return items


def _tidy(items: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Every column as an audit writes it; what is not there stays missing."""
    import pandas as pd

    for column in [column for column in WORDS if column in items]:
        items[column] = pd.Series([_word(cell) for cell in items[column]], index=items.index, dtype=object)
        if column in APART and items[column].isna().any():
            row = int(items[column].isna().to_numpy().argmax()) + 1
            raise UnmaskError(f"{path}: {column!r} is empty in row {row}; fill it in, or leave out the column")
    for column in [column for column in COUNTS if column in items]:
        counts = pd.to_numeric(items[column], errors="coerce").astype(float)
        bad = ((items[column].notna() & counts.isna()) | (counts < 0) | (counts == float("inf"))).to_numpy()
        if bad.any():
            row = int(bad.argmax())
            raise UnmaskError(f"{path}: {column!r} is {items[column].iloc[row]!r} in row {row + 1}; give a number")
        items[column] = counts
    if "cut" in items:
        items["cut"] = _truths(items, "cut", path, missing=True)
    return items


def _word(cell: Any) -> str | None:
    import pandas as pd

    if pd.isna(cell):
        return None
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _truths(items: pd.DataFrame, column: str, path: Path, *, missing: bool = False) -> Any:
    """A column of true and false."""
    import pandas as pd

    given = items[column]
    found = given.astype(str).str.strip().str.lower().map(TRUTHS)
    bad = (found.isna() & ~(given.isna() & missing)).to_numpy()
    if bad.any():
        raise UnmaskError(f"{path}: {column!r} is neither true nor false in row {int(bad.argmax()) + 1}; give one")
    return pd.Series([None if pd.isna(one) else bool(one) for one in found], index=items.index, dtype="boolean")


def _changed(items: pd.DataFrame, path: Path) -> Any:
    """Which texts have two versions: as the file says, else by its terms, else those with two ratings."""
    if "changed" in items:
        found = _truths(items, "changed", path).astype(bool)
        differ = (items["bias"] != 0) & ~found
        if differ.any():
            row = int(differ.to_numpy().argmax()) + 1
            raise UnmaskError(f"{path}: row {row} did not change, yet has two ratings; correct 'changed'")
        return found
    if "changed_terms" in items:
        return items["changed_terms"].map(lambda terms: bool(terms and terms.strip())) | (items["bias"] != 0)
    return items["bias"] != 0
