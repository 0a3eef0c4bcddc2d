"""The items of two models side by side, paired by the columns that a measure declares, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel
from unmask.results import Change, Comparison, Measurement

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


def build_comparison(
    before: ComparedModel, after: ComparedModel, pairs: pd.DataFrame, changes: Mapping[str, Change], **fields: Any
) -> Comparison:
    """A comparison of paired items; `fields` are its verdict, its headline, and what else differs from the defaults."""
    first = before.measurement
    caveats = {caveat.code: caveat for side in (before, after) for caveat in side.measurement.caveats}
    return Comparison(
        name=first.name,
        language=first.language,
        corpus=first.corpus,
        variant=first.variant,
        protocol=first.protocol,
        before=before.name,
        after=after.name,
        items=len(pairs),
        unpaired=len(before.items) + len(after.items) - 2 * len(pairs),
        changes=dict(changes),
        caveats=list(caveats.values()),
        **fields,
    )


def select_items(measurement: Measurement, items: pd.DataFrame | None, **columns: str) -> pd.DataFrame | None:
    """The items of a measurement: those with its language, its corpus and the values of other `columns`.

    A column that the items lack, or that is empty, selects all of them. None if nothing is left.
    """
    if items is None:
        return None
    for column, value in {"language": measurement.language, "corpus": measurement.corpus, **columns}.items():
        if column in items and items[column].notna().any():
            items = items[items[column] == value]
    return None if items.empty else items
