"""A map of the most biased words, as SVG text: t-SNE, each word a point in the colour of its side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from unmask.report.drawing import FEMALE, MALE
from unmask.report.geometry_marks import Mark, dots, drawing, labels, scaled
from unmask.report.pages import signed

if TYPE_CHECKING:
    import pandas as pd

MAP_WIDTH, MAP_HEIGHT, MAP_MARGINS = 520, 430, {"left": 10, "right": 10, "top": 10, "bottom": 10}
MOST_LABELS = 16
RADIUS = 3.2
COLOURS = {"female": FEMALE, "male": MALE}
STRENGTHS = (0.35, 0.65, 1.0)
"""How opaque the points of the least, the medium and the most biased third of a side are."""


def word_map(items: pd.DataFrame) -> str:
    """The words with a place on the map; empty if there are none.

    The colour is the side by which a word was chosen, the fainter the less biased; an outline marks words that fall
    into the cluster of the other side. A pointer shows the word and its bias.
    """
    rows = items[items["side"].isin(COLOURS) & np.isfinite(items["x"]) & np.isfinite(items["y"])]
    if rows.empty:
        return ""
    rows = rows.assign(mark=list(_marks(rows)), strength=_strengths(rows), astray=astray(rows))
    parts = []
    for strength, opacity in enumerate(STRENGTHS):  # the most biased last, on top
        for side, colour in COLOURS.items():
            for outlined in (False, True):
                own = (rows["strength"] == strength) & (rows["side"] == side) & (rows["astray"] == outlined)
                outline = ' stroke="currentColor" stroke-width="1.3"' if outlined else ""
                style = f'fill="{colour}" fill-opacity="{opacity:g}"{outline}'
                parts.append(dots(rows["mark"][own], radius=RADIUS, style=style))
    named = labels(list(rows["mark"]), _worth_a_label(rows), width=MAP_WIDTH, most=MOST_LABELS, clear_of_marks=False)
    return drawing([*parts, *named], MAP_WIDTH, MAP_HEIGHT, MAP_MARGINS)


def astray(rows: pd.DataFrame) -> pd.Series[bool]:
    """Whether a word is in the cluster of the other side."""
    if "cluster" not in rows:
        return rows["side"] != rows["side"]
    return rows["cluster"].isin(COLOURS) & (rows["cluster"] != rows["side"])


def _marks(rows: pd.DataFrame) -> Iterator[Mark]:
    ends = {name: (float(rows[name].min()), float(rows[name].max())) for name in ("x", "y")}
    wide, tall = ((low, high) if high > low else (low - 1, high + 1) for low, high in ends.values())
    for word, bias, x, y in rows[["word", "bias", "x", "y"]].itertuples(index=False):
        place = scaled(x, wide, MAP_WIDTH), MAP_HEIGHT - scaled(y, tall, MAP_HEIGHT)
        yield Mark(*place, str(word), f"{word} {signed(bias, 3)}")


def _strengths(rows: pd.DataFrame) -> pd.Series[int]:
    """Which third of its side a word is in, by bias."""
    outward = rows["bias"].where(rows["side"] == "male", -rows["bias"])
    ranks = outward.groupby(rows["side"]).rank(method="first", pct=True)
    return (ranks * len(STRENGTHS)).map(ceil).astype(int) - 1


def _worth_a_label(rows: pd.DataFrame) -> Iterator[Mark]:
    """In turn the most male and the most female."""
    ordered = rows.sort_values("bias", kind="stable")
    female, male = (ordered["mark"][ordered["side"] == side] for side in COLOURS)
    return chain.from_iterable(zip(male[::-1], female, strict=False))
