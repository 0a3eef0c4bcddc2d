"""Second half, done right: means, contrasts and correlations with intervals over professions and person words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.measures.association.caveats import caveats
from unmask.measures.association.details import AssociationDetails, ProfessionValue
from unmask.measures.association.tables import GENDERS, Array, Table, mean, noun_of, table
from unmask.results import Effect, Estimate, Measurement
from unmask.statistics.correlation import pearson, spearman
from unmask.statistics.jackknife import FISHER, Indices, IntervalEstimate, Statistic, jackknife
from unmask.statistics.paired import sign_flip, signed_ranks

if TYPE_CHECKING:
    import pandas as pd

STEREOTYPED = ("female", "male")


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the sound protocol; words and adjusted p-values come later."""
    data = table(items)
    noun = noun_of(items)
    kinds = [str(group) for group in dict.fromkeys(data.groups)]
    tests: dict[str, Estimate] = {}
    if set(STEREOTYPED) <= set(kinds):
        tests["stereotype"] = _stereotype(data, seed)
    for kind in kinds:
        tests[f"female minus male, {kind} {noun}"] = _difference(data, kind, noun, seed)
    groups: dict[str, Estimate] = {}
    for kind in kinds:
        for gender in GENDERS:
            name = f"{kind} {noun}, {gender} persons"
            groups[name], tests[name] = _mean(data, kind, noun, gender)
    if np.isfinite(data.shares).sum() > 2:
        for name, correlate in (("pearson", pearson), ("spearman", spearman)):
            tests[f"workforce share, {name}"] = _workforce(data, name, correlate, seed)
    first = items.iloc[0]
    return Measurement(
        name="association",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        protocol="sound",
        attributes=noun,
        items=len(items),
        groups=groups,
        tests=tests,
        details=AssociationDetails(professions=professions(data)).model_dump(),
        caveats=caveats(items, "sound"),
    )


def _cut(values: Array, rows: Indices, columns: Indices) -> Array:
    return values[np.ix_(rows, columns)]


def mean_over(rows: NDArray[np.intp], values: Array) -> IntervalEstimate:
    """The mean over some of the professions, and all pairs."""
    chosen = values[rows]
    return jackknife(chosen.shape, lambda r, c: float(mean(_cut(chosen, r, c))))


def _ranks_over(rows: NDArray[np.intp], values: Array) -> IntervalEstimate:
    """The rank-biserial correlation over some of the professions, and all pairs."""
    chosen = values[rows]
    return jackknife(chosen.shape, lambda r, c: _rank_biserial(_cut(chosen, r, c)), scale=FISHER)


def _rank_biserial(values: Array) -> float:
    value = signed_ranks(values[~np.isnan(values)]).rank_biserial
    return float("nan") if value is None else value


def _mean(data: Table, kind: str, noun: str, gender: str) -> tuple[Estimate, Estimate]:
    rows, values = data.where(kind), data.by_gender[gender]
    estimate = mean_over(rows, values)
    effect = _ranks_over(rows, values)
    there = values[rows][~np.isnan(values[rows])]
    group = Estimate(
        labels={"group": kind, "gender": gender},
        n=there.size,
        value=estimate.value,
        sd=float(there.std(ddof=1)) if there.size > 1 else None,
        interval=estimate.interval,
    )
    question = f"Do {kind} {noun} change the probability of {gender} person words?"
    labels = {"contrast": "mean", "group": kind, "gender": gender}
    return group, _test(labels, question, there.size, estimate, effect, "rank-biserial correlation")


def _difference(data: Table, kind: str, noun: str, seed: int) -> Estimate:
    rows, values = data.where(kind), data.difference
    estimate = mean_over(rows, values)
    effect = _ranks_over(rows, values)
    pairs = values[rows][~np.isnan(values[rows])]
    ranks = signed_ranks(pairs)
    test = _test(
        {"contrast": "difference", "group": kind},
        f"Do {kind} {noun} raise female person words more than male ones?",
        pairs.size,
        estimate,
        effect,
        "rank-biserial correlation",
    )
    return test.model_copy(
        update={
            "p_sign_flip": sign_flip(mean(values[rows], axis=(0, 2)), seed=seed),
            "wilcoxon": Effect(n=ranks.n, w=ranks.w, v=ranks.v, z=ranks.z, r=ranks.r, p_value=ranks.p_value),
        }
    )


def _stereotype(data: Table, seed: int) -> Estimate:
    """(Female − male in female professions) − (female − male in male professions)."""
    rows = np.concatenate([data.where(kind) for kind in STEREOTYPED])
    groups, values = data.groups[rows], data.difference[rows]

    def sides(r: Indices, c: Indices) -> tuple[Array, Array]:
        by_profession = mean(_cut(values, r, c), axis=(1, 2))
        female, male = (by_profession[groups[r] == kind] for kind in STEREOTYPED)
        return female[~np.isnan(female)], male[~np.isnan(male)]

    def contrast(r: Indices, c: Indices) -> float:
        female, male = sides(r, c)
        return float(mean(female) - mean(male))

    def standardised(r: Indices, c: Indices) -> float:
        female, male = sides(r, c)
        if min(female.size, male.size) < 2:
            return float("nan")
        spread = float(np.sqrt((female.var(ddof=1) + male.var(ddof=1)) / 2))
        return float(female.mean() - male.mean()) / spread if spread > 0 else float("nan")

    shape = values.shape
    test = _test(
        {"contrast": "stereotype"},
        "Do female person words gain more than male ones from typically female, against typically male, professions?",
        int((~np.isnan(values)).sum()),
        jackknife(shape, contrast),
        jackknife(shape, standardised),
        "Cohen's d between professions",
    )
    each = np.arange(shape[0])
    by_pair = [contrast(each, np.array([pair])) for pair in range(shape[1])]
    return test.model_copy(update={"p_sign_flip": sign_flip(by_pair, seed=seed)})


def correlation(data: Table, correlate: Callable[[Array, Array], float]) -> tuple[tuple[int, ...], Statistic]:
    """Women's share of the workforce and the female − male association: a shape and a statistic to be jackknifed."""
    rows = np.flatnonzero(np.isfinite(data.shares))
    values, shares = data.difference[rows], data.shares[rows]

    def statistic(r: Indices, c: Indices) -> float:
        by_profession = mean(_cut(values, r, c), axis=(1, 2))
        there = ~np.isnan(by_profession)
        return correlate(by_profession[there], shares[r][there])

    return values.shape, statistic


def _workforce(data: Table, name: str, correlate: Callable[[Array, Array], float], seed: int) -> Estimate:
    """Does the female − male association of a profession follow women's share of its workforce?"""
    rows = np.flatnonzero(np.isfinite(data.shares))
    values, shares = data.difference[rows], data.shares[rows]
    estimate = jackknife(*correlation(data, correlate), scale=FISHER)
    test = _test(
        {"contrast": "workforce", "correlation": name},
        "Does the female − male association of a profession follow women's share of its workforce?",
        len(rows),
        estimate,
        estimate,
        f"{name.capitalize()} correlation",
    )
    slopes = mean((shares - shares.mean())[:, None] * mean(values, axis=2), axis=0)
    return test.model_copy(update={"p_sign_flip": sign_flip(slopes, seed=seed)})


def _test(
    labels: dict[str, str],
    question: str,
    n: int,
    estimate: IntervalEstimate,
    effect: IntervalEstimate,
    effect_name: str,
) -> Estimate:
    return Estimate(
        labels=labels,
        question=question,
        n=n,
        value=estimate.value,
        interval=estimate.interval,
        statistic=estimate.statistic,
        statistic_name="t",
        df=estimate.df,
        p_value=estimate.p_value,
        effect_size=effect.value,
        effect_size_name=effect_name,
        effect_size_interval=effect.interval,
    )


def professions(data: Table, *, intervals: bool = True) -> list[ProfessionValue]:
    """The values of Figures 3 to 6, with intervals over person words."""
    found = []
    for row, name in enumerate(data.professions):
        female, male = (float(mean(data.by_gender[gender][row])) for gender in GENDERS)
        difference = mean_over(np.array([row]), data.difference)
        share = float(data.shares[row])
        found.append(
            ProfessionValue(
                profession=name,
                group=str(data.groups[row]),
                workforce_share=share if np.isfinite(share) else None,
                female=female if np.isfinite(female) else None,
                male=male if np.isfinite(male) else None,
                difference=difference.value,
                difference_interval=difference.interval if intervals else None,
            )
        )
    return found
