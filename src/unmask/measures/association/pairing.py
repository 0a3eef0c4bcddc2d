"""The items of two models, side by side: the same sentence asked of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["language", "corpus", "template", "profession", "gender", "pair", "person"]
"""What two items must share to be the same question."""
PAIR = ["language", "corpus", "template", "profession", "pair"]


@dataclass(frozen=True)
class Paired:
    """The items that both have, in the order of those before."""

    items: pd.DataFrame
    """The columns of the items before, with `before`, `after` and `change` (after minus before)."""
    unpaired: int
    """How many items only one of them has, and were left out."""

    def scores(self, column: str) -> pd.DataFrame:
        """Items whose association is one of `before`, `after` and `change`."""
        return self.items.assign(association=self.items[column])


def pair(before: ComparedModel, after: ComparedModel) -> Paired:
    """Pair items by language, corpus, template, profession, gender and person pair; none in common is refused."""
    one, other = (side.items.assign(nth=side.items.groupby(KEYS).cumcount()) for side in (before, after))
    scores = other[[*KEYS, "nth", "association"]].rename(columns={"association": "after"})
    merged = one.rename(columns={"association": "before"}).merge(scores, on=[*KEYS, "nth"], how="inner")
    if merged.empty:
        raise UnmaskError(
            f"{before.name} and {after.name} have no item in common (language, corpus, template, profession, gender and"
            " person pair must agree); audit both with the same words"
        )
    merged = merged.assign(change=merged["after"] - merged["before"], association=merged["before"])
    if before.measurement.protocol == "published":  # it pairs row by row, so a row without its counterpart goes too
        merged = merged[merged.groupby(PAIR)["gender"].transform("nunique") == 2].reset_index(drop=True)
    left_out = len(one) + len(other) - 2 * len(merged)
    return Paired(merged.drop(columns=["nth", "log_p_target", "log_p_prior"], errors="ignore"), left_out)
