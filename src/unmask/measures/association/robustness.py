"""How much the findings depend on single professions, pairs of person words and templates.

- the stereotype of each template alone, for other professions and pairs
- the stereotype without each profession, pair and template in turn: how far it goes down and up
- reliability: do the pairs, or the templates, agree on which professions go with female person words? Cronbach's α of
  the female − male differences, professions being the cases, and pairs or templates the items of the test
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unmask.measures.association.details import LeftOut, TemplateValue
from unmask.measures.association.table import (
    STEREOTYPED,
    Array,
    AssociationTable,
    StereotypeStatistic,
    estimate_mean,
    fixed_factors,
    mean,
)
from unmask.statistics.correlation import cronbach_alpha
from unmask.statistics.jackknife import leave_one_out

FACTORS = ("profession", "pair", "template")


def describe_robustness(table: AssociationTable) -> dict[str, Any]:
    """The fields of `AssociationDetails` that say how robust the findings are."""
    if table.is_nested:
        return {}
    has_stereotype = set(STEREOTYPED) <= set(table.groups)
    return {
        "templates": list_template_values(table, has_stereotype=has_stereotype),
        "left_out": list_left_out(table) if has_stereotype else [],
        "alpha_pairs": cronbach_alpha(mean(table.difference, axis=2)),
        "alpha_templates": cronbach_alpha(mean(table.difference, axis=1)),
    }


def list_template_values(table: AssociationTable, *, has_stereotype: bool) -> list[TemplateValue]:
    """The stereotype of each template; without one, its female − male difference."""
    if has_stereotype:
        estimates = [part.estimate() for part in StereotypeStatistic.of(table).split(axis=2)]
    else:
        rows = np.arange(len(table.professions))
        by_template = np.split(table.difference, table.difference.shape[2], axis=2)
        estimates = [estimate_mean(rows[present], part) for part, present in map(_find_rows, by_template)]
    return [
        TemplateValue(template=name, value=estimate.value, interval=estimate.interval)
        for name, estimate in zip(table.templates, estimates, strict=True)
    ]


def _find_rows(values: Array) -> tuple[Array, np.ndarray]:
    """The values of a template, and which professions it has."""
    return values, ~np.isnan(values).all(axis=(1, 2))


def list_left_out(table: AssociationTable) -> list[LeftOut]:
    """The range of the stereotype without each level of a factor, for factors that are samples."""
    stereotype = StereotypeStatistic.of(table)
    shape = stereotype.values.shape
    professions = [table.professions[row] for group in STEREOTYPED for row in table.rows_of(group)]
    ranges = []
    for factor, names in enumerate((professions, table.pairs, table.templates)):
        if shape[factor] < 2 or factor in fixed_factors(stereotype.values):
            continue
        values = leave_one_out(shape, stereotype.contrast, factor)
        if np.isfinite(values).all():
            ranges.append(_describe_range(FACTORS[factor], values, names))
    return ranges


def _describe_range(factor: str, values: Sequence[float], names: Sequence[str]) -> LeftOut:
    low, high = int(np.argmin(values)), int(np.argmax(values))
    return LeftOut(factor=factor, low=values[low], low_without=names[low], high=values[high], high_without=names[high])
