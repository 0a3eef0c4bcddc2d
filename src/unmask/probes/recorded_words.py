"""Recorded items of geometry and of CrowS-Pairs, as an audit leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, listed
from unmask.probes.recorded import frame_of

if TYPE_CHECKING:
    import pandas as pd

WORDS = ("words", "word", "bias", "side", "cluster", "male_neighbours", "stereotype")
PAIRS = ("id", "direction", "pll_more", "pll_less", "difference")


def read_words(path: Path, language: str | None) -> pd.DataFrame:
    """Words, and what the tests of geometry made of each."""
    return _read(path, language, WORDS, "geometry")


def read_pairs(path: Path, language: str | None) -> pd.DataFrame:
    """Pairs of sentences, and how likely each of them is."""
    return _read(path, language, PAIRS, "CrowS-Pairs")


def _read(path: Path, language: str | None, columns: tuple[str, ...], measure: str) -> pd.DataFrame:
    frame = frame_of(path)
    missing = [column for column in columns if column not in frame]
    if missing:
        raise UnmaskError(f"{path} lacks the columns {listed(missing)}; {measure} needs what unmask audit has written")
    if frame.empty:
        raise UnmaskError(f"{path} has no rows; give items that unmask audit has written")
    if "language" not in frame:
        frame = frame.assign(language=language or "en")
    return frame if "corpus" in frame else frame.assign(corpus="recorded")
