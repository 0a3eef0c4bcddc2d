"""Items as an array: professions × pairs of person words × templates, one for each gender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.probes.association import CORPORA

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
GENDERS = ("female", "male")


@dataclass(frozen=True)
class Table:
    """Associations by profession, pair and template (NaN where there is no item), and facts on the professions."""

    professions: list[str]
    groups: NDArray[np.str_]
    shares: Array
    by_gender: dict[str, Array]

    @property
    def difference(self) -> Array:
        """Female minus male person word of each pair."""
        return self.by_gender["female"] - self.by_gender["male"]

    def where(self, group: str) -> NDArray[np.intp]:
        """The professions of a group."""
        return np.flatnonzero(self.groups == group)


def noun_of(items: pd.DataFrame) -> str:
    """What the attributes of these items are called."""
    first = items.iloc[0]
    source = CORPORA.get(first["language"], {}).get(first["corpus"])
    return source.noun if source else "professions"


def table(items: pd.DataFrame) -> Table:
    """Arrange items; two items in one cell are averaged."""
    rows = {name: at for at, name in enumerate(dict.fromkeys(items["profession"]))}
    columns = {pair: at for at, pair in enumerate(sorted(set(items["pair"])))}
    layers = {text: at for at, text in enumerate(dict.fromkeys(items["template"]))}
    places = (items["profession"].map(rows), items["pair"].map(columns), items["template"].map(layers))
    by_gender = {}
    for gender in GENDERS:
        mine = (items["gender"] == gender).to_numpy()
        at = tuple(place.to_numpy()[mine] for place in places)
        total, count = (np.zeros((len(rows), len(columns), len(layers))) for _ in range(2))
        np.add.at(total, at, items["association"].to_numpy(dtype=float)[mine])
        np.add.at(count, at, 1)
        by_gender[gender] = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    first = items.drop_duplicates("profession").set_index("profession")
    return Table(
        list(rows),
        first["group"].to_numpy(dtype=str),
        first["workforce_share"].to_numpy(dtype=float),
        by_gender,
    )


def mean(values: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """The mean of what is there; NaN, without a warning, where nothing is."""
    there = ~np.isnan(values)
    count = there.sum(axis=axis)
    total = np.where(there, values, 0).sum(axis=axis)
    found: Array = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    return found
