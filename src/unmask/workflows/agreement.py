"""Across measures: over several models, do they agree on which is the more biased?

Each measure gives one figure a model, or two. Of every two figures, Pearson's r with Fisher's interval and Spearman's ρ
with that of Bonett and Wright (2000) over the models that have both; Pearson's p-values are corrected together (Holm).
Models that were made from one another are no sample of all models, and r over a handful of them says little: the
intervals show how little, and a caveat says the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from unmask.results import Agreement, Caveat, Correlation, MeasureFigure, ModelFigures
from unmask.results.numbers import number
from unmask.results.verdict import ALPHA
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import ROUNDING, evaluate_ranking
from unmask.workflows.figures import Evidence, described_figures, model_figures

FEWEST = 4
"""Models that a correlation needs for an interval."""


def compare(evidence: Sequence[Evidence]) -> Agreement:
    """The figures of each model, and how they go together."""
    models = [ModelFigures(model=one.model, figures=model_figures(one)) for one in evidence]
    return agreement(models, described_figures())


def agreement(models: Sequence[ModelFigures], figures: Sequence[MeasureFigure]) -> Agreement:
    """How figures go together over models; those that too few have, or that are the same for all, are left out."""
    columns = {
        one.name: np.array([model.figures.get(one.name, np.nan) for model in models], dtype=float) for one in figures
    }
    there = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    left_out = {name: why for name, values in there.items() if (why := _why_not(values))}
    kept = [name for name in there if name not in left_out]
    pairs = [_correlation(first, second, columns) for first, second in combinations(kept, 2)]
    corrected = holm([one.pearson_p_value for one in pairs])
    pairs = [one.model_copy(update={"p_adjusted": p}) for one, p in zip(pairs, corrected, strict=True)]
    shown = [one for one in figures if one.name in there]
    return Agreement(
        figures=shown,
        models=[
            ModelFigures(model=one.model, figures={each.name: one.figures.get(each.name) for each in shown})
            for one in models
        ],
        correlations=pairs,
        headline=_headline(pairs, {one.name: one for one in figures}, len(models)),
        left_out=left_out,
    )


def caveat(models: int) -> Caveat:
    """Why a correlation over these models says little."""
    return Caveat(
        code="few-models",
        text=f"Measures are compared over {models} models. So few, made from one another or chosen by hand, are"
        " no sample of models: an r here says how the measures go together over these, and little of others.",
    )


def _why_not(values: np.ndarray) -> str:
    known = values[np.isfinite(values)]
    if known.size < FEWEST:
        return f"{known.size} models have it, and {FEWEST} are needed"
    return "the same for all models" if np.ptp(known) <= ROUNDING * np.abs(known).max() else ""


def _correlation(first: str, second: str, columns: Mapping[str, np.ndarray]) -> Correlation:
    found = evaluate_ranking(columns[first], columns[second])
    enough = found.n >= FEWEST
    return Correlation(
        first=first,
        second=second,
        n=found.n,
        pearson=found.pearson.value if enough else None,
        pearson_interval=found.pearson.interval if enough else None,
        pearson_p_value=found.pearson.p_value if enough else None,
        spearman=found.spearman.value if enough else None,
        spearman_interval=found.spearman.interval if enough else None,
        spearman_p_value=found.spearman.p_value if enough else None,
    )


def _headline(pairs: Sequence[Correlation], figures: Mapping[str, MeasureFigure], models: int) -> str:
    known = [one for one in pairs if one.pearson is not None]
    if not known:
        return f"Over {models} models no two figures can be compared."
    clear = [one for one in known if one.p_adjusted is not None and one.p_adjusted < ALPHA]
    said = f"Over {models} models, {len(clear)} of {len(known)} pairs of figures go together beyond chance"
    said += " after correction"
    said += f": {'; '.join(_named(one) for one in clear)}." if clear else "."
    between = [one.pearson for one in known if figures[one.first].extrinsic != figures[one.second].extrinsic]
    values = [value for value in between if value is not None]
    if values:
        said += (
            f" Between figures of the models and figures of the classifiers made of them, r lies between"
            f" {number(min(values))} and {number(max(values))} ({len(values)} pairs)."
        )
    return said


def _named(one: Correlation) -> str:
    return f"{one.first} and {one.second} (r = {number(one.pearson)})"
