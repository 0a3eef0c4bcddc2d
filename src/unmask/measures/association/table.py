"""Associations as a table, and its statistics with their uncertainty.

    professions × pairs of person words × templates, for each gender

An interval covers other professions, pairs and templates (`statistics.jackknife`). Female and male professions are
samples of their own sizes, so the stereotype has Welch's rows. One or two templates are taken as fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unmask.measures.association import REAL
from unmask.statistics.jackknife import LINEAR, Indices, IntervalEstimate, IntervalScale, Statistic, jackknife

Array = NDArray[np.float64]
GENDERS = ("female", "male")
STEREOTYPED = ("female", "male")
"""The groups of professions between which the stereotype is a contrast."""
FEWEST_TEMPLATES = 3
"""With fewer templates their choice is not a sample."""


@dataclass(frozen=True)
class AssociationTable:
    """Associations as professions × pairs of person words × templates for each gender; NaN where there is no item.

    Of real sentences (`is_nested`) they are professions × 1 × sentences: each profession has sentences of its own.
    """

    professions: list[str]
    groups: NDArray[np.str_]
    shares: Array
    """Women's share of the workforce of each profession."""
    by_gender: dict[str, Array]
    pairs: Sequence[str] = ()
    """The names of the pairs: `he/she`."""
    templates: Sequence[str] = ()
    is_nested: bool = False

    @property
    def means(self) -> AssociationTable:
        """Of nested sentences, the means of each profession; else the table itself."""
        if not self.is_nested:
            return self
        return replace(self, by_gender={k: mean(v, axis=(1, 2))[:, None, None] for k, v in self.by_gender.items()})

    @property
    def difference(self) -> Array:
        """Female minus male person word of each pair."""
        return self.by_gender["female"] - self.by_gender["male"]

    def rows_of(self, group: str) -> Indices:
        """The rows of the professions of a group."""
        return np.flatnonzero(self.groups == group)


def tabulate_items(items: pd.DataFrame) -> AssociationTable:
    """Arrange items as a table; two items in one cell are averaged."""
    is_nested = set(items["corpus"]) == {REAL}
    if is_nested:
        nth = items.groupby("profession")["template"].transform(lambda sentences: pd.factorize(sentences)[0])
        items = items.assign(pair=0, template=nth)
    professions = list(dict.fromkeys(items["profession"]))
    axes = (professions, sorted(set(items["pair"])), list(dict.fromkeys(items["template"])))
    columns = [items[name] for name in ("profession", "pair", "template")]
    positions = [
        column.map({level: index for index, level in enumerate(levels)}).to_numpy()
        for column, levels in zip(columns, axes, strict=True)
    ]
    by_gender = {}
    for gender in GENDERS:
        selected = (items["gender"] == gender).to_numpy()
        cells = tuple(position[selected] for position in positions)
        total, count = (np.zeros([len(levels) for levels in axes]) for _ in range(2))
        np.add.at(total, cells, items["association"].to_numpy(dtype=float)[selected])
        np.add.at(count, cells, 1)
        by_gender[gender] = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    first = items.drop_duplicates("profession").set_index("profession")
    groups, shares = first["group"].to_numpy(dtype=str), first["workforce_share"].to_numpy(dtype=float)
    pairs = [] if is_nested else _name_pairs(items)
    return AssociationTable(professions, groups, shares, by_gender, pairs, [str(name) for name in axes[2]], is_nested)


def _name_pairs(items: pd.DataFrame) -> list[str]:
    """The person words of each pair, the male one first, in the order of the pairs."""
    words = items.sort_values("gender", ascending=False, kind="stable").groupby("pair")["person"]
    return ["/".join(dict.fromkeys(map(str, phrases))) for _, phrases in words]


def mean(values: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """The mean without NaN; NaN, without a warning, if there is nothing else."""
    is_number = ~np.isnan(values)
    count = is_number.sum(axis=axis)
    total = np.where(is_number, values, 0).sum(axis=axis)
    means: Array = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    return means


def fixed_factors(values: Array) -> tuple[int, ...]:
    """The factors of a table that are not a sample: one or two templates are too few to show how templates vary."""
    return (2,) if values.shape[2] < FEWEST_TEMPLATES else ()


def estimate_mean(rows: Indices, values: Array) -> IntervalEstimate:
    """The mean over some of the professions, all pairs and all templates."""
    selected = values[rows]
    return jackknife(selected.shape, lambda *kept: float(mean(selected[np.ix_(*kept)])), fixed=fixed_factors(values))


@dataclass(frozen=True)
class StereotypeStatistic:
    """(Female − male in female professions) − (female − male in male professions), of the levels that are kept."""

    values: Array
    """Female minus male, of the professions of both groups × pairs × templates."""
    groups: NDArray[np.str_]

    @classmethod
    def of(cls, table: AssociationTable) -> StereotypeStatistic:
        """That of the professions of a table that are typically female or male."""
        rows = np.concatenate([table.rows_of(group) for group in STEREOTYPED])
        return cls(table.difference[rows], table.groups[rows])

    def means_by_group(self, rows: Indices, *others: Indices) -> tuple[Array, Array]:
        """The means of the professions of each group."""
        by_profession = mean(self.values[np.ix_(rows, *others)], axis=(1, 2))
        female, male = (by_profession[self.groups[rows] == group] for group in STEREOTYPED)
        return female[~np.isnan(female)], male[~np.isnan(male)]

    def contrast(self, *kept: Indices) -> float:
        """The stereotype in nats."""
        female, male = self.means_by_group(*kept)
        return float(mean(female) - mean(male))

    def cohens_d(self, *kept: Indices) -> float:
        """The stereotype in standard deviations of professions."""
        female, male = self.means_by_group(*kept)
        if min(female.size, male.size) < 2:
            return float("nan")
        spread = float(np.sqrt((female.var(ddof=1) + male.var(ddof=1)) / 2))
        return float(female.mean() - male.mean()) / spread if spread > 0 else float("nan")

    def estimate(self, statistic: Statistic | None = None) -> IntervalEstimate:
        """The stereotype, or another statistic, for other professions of each group, pairs and templates."""
        return jackknife(
            self.values.shape, statistic or self.contrast, samples=self.groups, fixed=fixed_factors(self.values)
        )

    def split(self, axis: int) -> list[StereotypeStatistic]:
        """That of each pair (axis 1) or template (axis 2) alone."""
        parts = np.split(self.values, self.values.shape[axis], axis)
        return [replace(self, values=part) for part in parts]


def estimate_correlation(
    tables: Sequence[AssociationTable], statistic: Callable[..., float], scale: IntervalScale = LINEAR
) -> IntervalEstimate:
    """A function of the correlations of female − male associations with women's share of the workforce.

    `statistic(differences, …, shares)` is given the differences of the professions in each of the tables.
    """
    rows = np.flatnonzero(np.isfinite(tables[0].shares))
    shares, values = tables[0].shares[rows], [table.difference[rows] for table in tables]

    def correlate(kept_rows: Indices, *others: Indices) -> float:
        means = [mean(value[np.ix_(kept_rows, *others)], axis=(1, 2)) for value in values]
        finite = np.isfinite(means).all(axis=0)
        return statistic(*(column[finite] for column in means), shares[kept_rows][finite])

    return jackknife(values[0].shape, correlate, scale=scale, fixed=fixed_factors(values[0]))
