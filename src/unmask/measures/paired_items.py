"""The items of two models side by side, paired by the columns that a measure declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel

if TYPE_CHECKING:
    import pandas as pd


def pair_items(
    before: ComparedModel, after: ComparedModel, *, keys: Sequence[str], scores: Sequence[str], item: str
) -> pd.DataFrame:
    """Pair items that agree in `keys`; of `scores`, each model's has the suffix `_before` or `_after`.

    Items that occur several times are paired in their order. `item` says what an item is, for the error message where
    the models have none in common.
    """
    known = [key for key in keys if key in before.items and key in after.items]
    shared = [column for column in scores if column in before.items and column in after.items]
    one, other = (side.items.assign(nth=side.items.groupby(known).cumcount()) for side in (before, after))
    pairs = one.merge(other[[*known, "nth", *shared]], on=[*known, "nth"], suffixes=("_before", "_after"))
    if pairs.empty:
        raise UnmaskError(f"{before.name} and {after.name} have no {item} in common; audit both on the same data")
    return pairs.drop(columns="nth")


def items_of_side(pairs: pd.DataFrame, side: str) -> pd.DataFrame:
    """The paired items of one model (`before` or `after`) under their own column names."""
    other = "_after" if side == "before" else "_before"
    names = [str(column) for column in pairs]
    kept = pairs[[name for name in names if not name.endswith(other)]]
    return kept.rename(columns={name: name.removesuffix(f"_{side}") for name in names})
