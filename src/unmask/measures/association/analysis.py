"""Analysis: items → means, contrasts and correlations.

`sound` gives every number an interval over professions, pairs of person words and templates (`table.py`). `published`
is the paper's analysis: means, and Wilcoxon's signed ranks over 900 pairs aligned row by row. V is the sum of the ranks
of positive female − male differences; Z is continuity-corrected; r = −|Z|/√(2n), which is always negative (Field's
rFromWilcox). The paper corrected for nothing, so the adjusted p is the p.

Of real sentences the value of a profession is the mean over its sentences, and professions are the sample: their means
vary with the sentences too, so an interval over professions covers both. Only the values of single professions have an
interval over sentences. Person words are taken as they occur (most are *he* and *she*), and are no sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from unmask.errors import UnmaskError
from unmask.measures.association.data import CORPORA
from unmask.measures.association.details import AssociationDetails, ProfessionValue
from unmask.measures.association.interpretation import list_caveats
from unmask.measures.association.robustness import describe_robustness
from unmask.measures.association.table import (
    GENDERS,
    STEREOTYPED,
    Array,
    AssociationTable,
    StereotypeStatistic,
    estimate_correlation,
    estimate_mean,
    fixed_factors,
    mean,
    tabulate_items,
)
from unmask.measures.base import Context
from unmask.results import Effect, Estimate, Measurement
from unmask.statistics.correlation import pearson, spearman
from unmask.statistics.jackknife import FISHER, Indices, IntervalEstimate, jackknife
from unmask.statistics.paired import mean_bias, sign_flip, signed_ranks

Correlation = Callable[[Array, Array], float]
FEWEST_ROWS = 2
"""Professions of a group that say something about others."""


def analyse(items: pd.DataFrame, context: Context) -> Measurement:
    """Compute groups, tests and values of single professions; headline and adjusted p-values come later."""
    table = tabulate_items(items)
    first = items.iloc[0]
    source = CORPORA.get(first["language"], {}).get(first["corpus"])
    noun = source.noun if source else "professions"
    is_published = context.protocol == "published"
    details = AssociationDetails(professions=profession_values(table, intervals=not is_published)).model_dump()
    if is_published:
        groups, tests = _analyse_published(items, noun)
    else:
        details |= describe_robustness(table)
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
        details=details,
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


def _test_mean(rows: Indices, values: Array, **fields: Any) -> Estimate:
    """The mean over some of the professions, with the rank-biserial correlation as its effect size."""
    selected = values[rows]

    def rank_biserial(*kept: Indices) -> float:
        subset = selected[np.ix_(*kept)]
        value = signed_ranks(subset[~np.isnan(subset)]).rank_biserial
        return float("nan") if value is None else value

    effect = jackknife(selected.shape, rank_biserial, scale=FISHER, fixed=fixed_factors(values))
    estimate = estimate_mean(rows, values)
    if len(rows) < FEWEST_ROWS:
        estimate, effect = IntervalEstimate(estimate.value), IntervalEstimate(effect.value)
    return _build_test(estimate, effect, "rank-biserial correlation", n=int((~np.isnan(selected)).sum()), **fields)


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
