"""Analysis: items → means, contrasts and correlations.

`sound` gives every number an interval over professions, pairs of person words and templates (`statistics.jackknife`).
Female and male professions are samples of their own sizes, so the stereotype has Welch's rows. With one or two templates
these are taken as fixed, and a caveat says so. `published` is the paper's analysis: means, and Wilcoxon's signed ranks over 900 pairs aligned row by row. V is the sum of the ranks
of positive female − male differences; Z is continuity-corrected; r = −|Z|/√(2n), which is always negative (Field's
rFromWilcox). The paper corrected for nothing, so the adjusted p is the p.

Of real sentences the value of a profession is the mean over its sentences, and professions are the sample: their means
vary with the sentences too, so an interval over professions covers both. Only the values of single professions have an
interval over sentences. Person words are taken as they occur (most are *he* and *she*), and are no sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.association import REAL
from unmask.measures.association.data import CORPORA
from unmask.measures.association.details import AssociationDetails, ProfessionValue
from unmask.measures.association.interpretation import list_caveats
from unmask.measures.base import Context
from unmask.results import Effect, Estimate, Measurement
from unmask.statistics.correlation import pearson, spearman
from unmask.statistics.jackknife import (
    FISHER,
    LINEAR,
    Indices,
    IntervalEstimate,
    IntervalScale,
    Statistic,
    jackknife,
)
from unmask.statistics.paired import mean_bias, sign_flip, signed_ranks

Array = NDArray[np.float64]
Correlation = Callable[[Array, Array], float]
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
    return AssociationTable(professions, groups, shares, by_gender, is_nested)


def analyse(items: pd.DataFrame, context: Context) -> Measurement:
    """Compute groups, tests and values of single professions; headline and adjusted p-values come later."""
    table = tabulate_items(items)
    first = items.iloc[0]
    source = CORPORA.get(first["language"], {}).get(first["corpus"])
    noun = source.noun if source else "professions"
    is_published = context.protocol == "published"
    if is_published:
        groups, tests = _analyse_published(items, noun)
    else:
        groups, tests = _analyse_sound(table.means, noun, context.seed)
        groups, tests = (_count_sentences(estimates, table) for estimates in (groups, tests))
    return Measurement(
        name="association",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        protocol="published" if is_published else "sound",
        attributes=noun,
        items=len(items),
        groups=groups,
        tests=tests,
        details=AssociationDetails(professions=profession_values(table, intervals=not is_published)).model_dump(),
        caveats=list_caveats(items, context.protocol),
    )


def profession_values(table: AssociationTable, *, intervals: bool = True) -> list[ProfessionValue]:
    """The values of the paper's Figures 3 to 6, with intervals over person words."""
    values = []
    for row, name in enumerate(table.professions):
        female, male = (float(mean(table.by_gender[gender][row])) for gender in GENDERS)
        numbers = {"workforce_share": float(table.shares[row]), "female": female, "male": male}
        differences = table.difference[row]
        over_sentences = mean_bias(differences[~np.isnan(differences)]) if table.is_nested else None
        difference = over_sentences or estimate_mean(np.array([row]), table.difference)
        values.append(
            ProfessionValue(
                profession=name,
                group=str(table.groups[row]),
                **{field: number if np.isfinite(number) else None for field, number in numbers.items()},
                difference=difference.value,
                difference_interval=difference.interval if intervals else None,
            )
        )
    return values


def mean(values: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """The mean without NaN; NaN, without a warning, if there is nothing else."""
    is_number = ~np.isnan(values)
    count = is_number.sum(axis=axis)
    total = np.where(is_number, values, 0).sum(axis=axis)
    means: Array = np.divide(total, count, out=np.full(np.shape(total), np.nan), where=count > 0)
    return means


def _analyse_published(items: pd.DataFrame, noun: str) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    groups: dict[str, Estimate] = {}
    tests: dict[str, Estimate] = {}
    for group, rows in items.groupby("group", sort=False):
        by_gender = {gender: rows.loc[rows["gender"] == gender, "association"].to_numpy(float) for gender in GENDERS}
        female, male = by_gender["female"], by_gender["male"]
        if len(female) != len(male) or not len(female):
            raise UnmaskError(
                f"{group} {noun} have {len(female)} female and {len(male)} male rows; the published test pairs them"
                " row by row; use --protocol sound"
            )
        for gender, values in by_gender.items():
            groups[f"{group} {noun}, {gender} persons"] = Estimate(
                labels={"group": str(group), "gender": gender},
                n=len(values),
                value=float(values.mean()),
                sd=float(values.std(ddof=1)) if len(values) > 1 else None,
            )
        ranks = signed_ranks(female - male)
        tests[f"female minus male, {group} {noun}"] = Estimate(
            labels={"contrast": "difference", "group": str(group)},
            question=f"Do the associations of female and male person words with {group} {noun} differ?",
            n=ranks.n,
            value=float((female - male).mean()),
            statistic=ranks.v,
            statistic_name="V",
            p_value=ranks.p_value,
            p_adjusted=ranks.p_value,
            effect_size=None if ranks.r is None else -abs(ranks.r),
            effect_size_name="r = −|Z|/√(2n)",
        )
    return groups, tests


def _analyse_sound(table: AssociationTable, noun: str, seed: int) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    names = [str(group) for group in dict.fromkeys(table.groups)]
    groups: dict[str, Estimate] = {}
    tests: dict[str, Estimate] = {}
    if set(STEREOTYPED) <= set(names):
        tests["stereotype"] = estimate_stereotype(table, seed)
    for group in names:
        rows, values = table.rows_of(group), table.difference
        pairs = values[rows][~np.isnan(values[rows])]
        ranks = signed_ranks(pairs)
        tests[f"female minus male, {group} {noun}"] = _test_mean(
            rows,
            values,
            labels={"contrast": "difference", "group": group},
            question=f"Do {group} {noun} raise female person words more than male ones?",
            p_sign_flip=sign_flip(mean(values[rows], axis=(0, 2)), seed=seed),
            wilcoxon=Effect(n=ranks.n, w=ranks.w, v=ranks.v, z=ranks.z, r=ranks.r, p_value=ranks.p_value),
        )
    for group in names:
        for gender in GENDERS:
            labels = {"group": group, "gender": gender}
            rows, values = table.rows_of(group), table.by_gender[gender]
            test = _test_mean(
                rows,
                values,
                labels={"contrast": "mean", **labels},
                question=f"Do {group} {noun} change the probability of {gender} person words?",
            )
            finite = values[rows][~np.isnan(values[rows])]
            name = f"{group} {noun}, {gender} persons"
            tests[name] = test
            groups[name] = Estimate(
                labels=labels,
                n=test.n,
                value=test.value,
                sd=float(finite.std(ddof=1)) if finite.size > 1 else None,
                interval=test.interval,
            )
    if np.isfinite(table.shares).sum() > 2:
        for name, correlate in (("pearson", pearson), ("spearman", spearman)):
            tests[f"workforce share, {name}"] = _test_workforce(table, name, correlate, seed)
    return groups, tests


def _count_sentences(estimates: dict[str, Estimate], table: AssociationTable) -> dict[str, Estimate]:
    """Of real sentences: count these, not professions, and leave out what is about pairs of person words."""
    if not table.is_nested:
        return estimates
    sentences = (~np.isnan(table.difference)).sum(axis=(1, 2))
    counted = {}
    for name, estimate in estimates.items():
        wanted = [estimate.labels["group"]] if "group" in estimate.labels else STEREOTYPED
        is_correlation = estimate.labels.get("contrast") == "workforce"
        n = estimate.n if is_correlation else int(sentences[np.isin(table.groups, wanted)].sum())
        counted[name] = estimate.model_copy(update={"n": n, "p_sign_flip": None, "wilcoxon": None})
    return counted


def fixed_factors(values: Array) -> tuple[int, ...]:
    """The factors of a table that are not a sample: one or two templates are too few to show how templates vary."""
    return (2,) if values.shape[2] < FEWEST_TEMPLATES else ()


def estimate_mean(rows: Indices, values: Array) -> IntervalEstimate:
    """The mean over some of the professions, all pairs and all templates."""
    selected = values[rows]
    return jackknife(selected.shape, lambda *kept: float(mean(selected[np.ix_(*kept)])), fixed=fixed_factors(values))


def _test_mean(rows: Indices, values: Array, **fields: Any) -> Estimate:
    """The mean over some of the professions, with the rank-biserial correlation as its effect size."""
    selected = values[rows]

    def rank_biserial(*kept: Indices) -> float:
        subset = selected[np.ix_(*kept)]
        value = signed_ranks(subset[~np.isnan(subset)]).rank_biserial
        return float("nan") if value is None else value

    effect = jackknife(selected.shape, rank_biserial, scale=FISHER, fixed=fixed_factors(values))
    return _build_test(
        estimate_mean(rows, values), effect, "rank-biserial correlation", n=int((~np.isnan(selected)).sum()), **fields
    )


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
        """The stereotype, or another statistic, for other professions, pairs and templates; groups have their own size."""
        return jackknife(
            self.values.shape, statistic or self.contrast, samples=self.groups, fixed=fixed_factors(self.values)
        )

    def split(self, axis: int) -> list[StereotypeStatistic]:
        """That of each pair (axis 1) or template (axis 2) alone."""
        parts = np.split(self.values, self.values.shape[axis], axis)
        return [replace(self, values=part) for part in parts]


def estimate_stereotype(table: AssociationTable, seed: int) -> Estimate:
    """The stereotype with Cohen's d between professions as its effect size."""
    stereotype = StereotypeStatistic.of(table)
    by_pair = [part.contrast(*map(np.arange, part.values.shape)) for part in stereotype.split(axis=1)]
    return _build_test(
        stereotype.estimate(),
        stereotype.estimate(stereotype.cohens_d),
        "Cohen's d between professions",
        n=int((~np.isnan(stereotype.values)).sum()),
        labels={"contrast": "stereotype"},
        question="Do female person words gain more than male ones from typically female, against typically male,"
        " professions?",
        p_sign_flip=sign_flip(by_pair, seed=seed),
    )


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


def _test_workforce(table: AssociationTable, name: str, correlate: Correlation, seed: int) -> Estimate:
    rows = np.flatnonzero(np.isfinite(table.shares))
    values, shares = table.difference[rows], table.shares[rows]
    estimate = estimate_correlation([table], correlate, FISHER)
    slopes = mean((shares - shares.mean())[:, None] * mean(values, axis=2), axis=0)
    return _build_test(
        estimate,
        estimate,
        f"{name.capitalize()} correlation",
        n=len(rows),
        labels={"contrast": "workforce", "correlation": name},
        question="Does the female − male association of a profession follow women's share of its workforce?",
        p_sign_flip=sign_flip(slopes, seed=seed),
    )


def _build_test(
    estimate: IntervalEstimate, effect: IntervalEstimate, effect_name: str, *, n: int, **fields: Any
) -> Estimate:
    return Estimate.from_statistic(
        estimate,
        n=n,
        effect_size=effect.value,
        effect_size_name=effect_name,
        effect_size_interval=effect.interval,
        **fields,
    )
