"""CSV for people: a spreadsheet runs a cell that begins with =, +, - or @, so a text that does gets an apostrophe.

Numbers stay as they are. A text that begins with apostrophes and then so gets one more, so that `plain` gives back
every text as it was.
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
    """A cell that no spreadsheet runs."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def plain(cell: Any) -> Any:
    """A cell as it was before it was guarded."""
    return GUARDED.sub("", cell, count=1) if isinstance(cell, str) and GUARDED.match(cell) else cell


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, its texts guarded."""
    return _texts(frame, guarded).to_csv(index=False, lineterminator="\n")


def plain_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that was read from CSV, with its texts as they were."""
    return _texts(frame, plain)


def _texts(frame: pd.DataFrame, change: Callable[[Any], Any]) -> pd.DataFrame:
    changed = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool"]):
        changed[name] = frame[name].map(change)
    return changed
