"""Tables of recorded items, for the readers that do not use `unmask.measures.recorded` yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.spreadsheets import plain_frame

if TYPE_CHECKING:
    import pandas as pd


def frame_of(path: Path) -> pd.DataFrame:
    """A table from Parquet, CSV or TSV."""
    import pandas as pd

    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".parquet": pd.read_parquet,
        ".csv": lambda file: plain_frame(pd.read_csv(file)),
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
    }
    if not path.is_file():
        raise UnmaskError(f"{path} does not exist; give a file of recorded scores (Parquet, CSV or TSV)")
    if path.suffix not in readers:
        raise UnmaskError(f"{path}: cannot read {path.suffix or 'a file without ending'}; give .parquet, .csv or .tsv")
    try:
        frame = readers[path.suffix](path)
    except (ValueError, OSError, UnicodeDecodeError) as error:
        raise UnmaskError(
            f"{path} cannot be read: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        ) from None
    if frame.empty:
        raise UnmaskError(f"{path} has no rows; give at least one item")
    return frame


def scores_of(frame: pd.DataFrame, column: str, path: Path) -> pd.Series[float]:
    """A column of numbers, every one of them there."""
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
