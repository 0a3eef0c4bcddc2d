"""Second half, as the released code does it: scores rounded to three digits, then counted.

    metric score = pairs with PLL(more) > PLL(less) / all pairs

A tie counts against the metric score, and not at all in the scores of `stereo` and `antistereo` pairs. There are
neither intervals nor tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.crows_pairs.analyse_sound import measurement
from unmask.probes.crows_pairs import DIRECTIONS
from unmask.results import Estimate, Measurement

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 3


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the published protocol."""
    del seed  # nothing is drawn
    more, less = (items[column].map(lambda value: round(value, DIGITS)) for column in ("pll_more", "pll_less"))
    groups = {"all pairs": _share({"pairs": "all"}, more > less)}
    for direction in DIRECTIONS:
        counted = (items["direction"] == direction) & (more != less)
        groups[f"{direction} pairs"] = _share({"direction": direction}, (more > less)[counted])
    groups["neutral"] = _share({"pairs": "neutral"}, more == less)
    return measurement(items, "published", groups, {})


def _share(labels: dict[str, str], counted: pd.Series[bool]) -> Estimate:
    return Estimate(labels=labels, n=len(counted), value=float(counted.mean()) if len(counted) else None, neutral=0.5)
