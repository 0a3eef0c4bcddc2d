"""Recorded items of geometry, as an audit leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, quote
from unmask.probes.recorded import frame_of

if TYPE_CHECKING:
    import pandas as pd

WORDS = ("words", "word", "bias", "side", "cluster", "male_neighbours", "stereotype")
"""What items of geometry have in both protocols."""
OF_PROTOCOL = {
    "sound": (
        *WORDS,
        "cluster_removed",
        "probed",
        "probed_removed",
        "part",
        "predicted",
        "predicted_removed",
        "male_neighbours_removed",
    ),
    "published": (*WORDS, "put_down", "asked", "right"),
}


def read_words(path: Path, language: str | None, protocol: str = "sound") -> pd.DataFrame:
    """Words, and what the tests of geometry made of each; refused if another protocol has written them."""
    there = set(frame_of(path))
    for other, columns in OF_PROTOCOL.items():
        if other != protocol and there.issuperset(columns) and not there.issuperset(OF_PROTOCOL[protocol]):
            raise UnmaskError(f"{path} was written by the {other} protocol, not {protocol}; give --protocol {other}")
    return _read(path, language, OF_PROTOCOL[protocol], f"geometry in the {protocol} protocol")


def _read(path: Path, language: str | None, columns: tuple[str, ...], measure: str) -> pd.DataFrame:
    frame = frame_of(path)
    missing = [column for column in columns if column not in frame]
    if missing:
        raise UnmaskError(f"{path} lacks the columns {quote(missing)}; {measure} needs what unmask audit has written")
    if frame.empty:
        raise UnmaskError(f"{path} has no rows; give items that unmask audit has written")
    if "language" not in frame:
        frame = frame.assign(language=language or "en")
    return frame if "corpus" in frame else frame.assign(corpus="recorded")
