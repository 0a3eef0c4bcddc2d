"""CSV that is safe in spreadsheets, which run cells that begin with =, +, - or @: such a text gets an apostrophe.

Numbers do not change. A text that begins with apostrophes before one of these signs gets one more, so that `plain`
restores every text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
