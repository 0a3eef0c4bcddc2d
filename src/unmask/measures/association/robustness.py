"""How much the findings depend on single professions, pairs of person words and templates.

- the stereotype of each template alone, for other professions and pairs
- the stereotype without each profession, pair and template in turn: how far it goes down and up
- reliability: do the pairs, or the templates, agree on which professions go with female person words? Cronbach's α of
  the female − male differences, professions being the cases, and pairs or templates the items of the test
- simulated associations: how often its tests reject where professions, pairs and templates differ by chance, and how
  often other tests would, which treat fewer of them as samples
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from unmask.measures.association.data import build_rows
from unmask.measures.association.details import LeftOut, TemplateValue
from unmask.measures.association.table import (
    STEREOTYPED,
    AssociationTable,
    StereotypeStatistic,
    estimate_mean,
    fixed_factors,
    mean,
    tabulate_items,
)
from unmask.statistics.correlation import cronbach_alpha
from unmask.statistics.jackknife import jackknife, leave_one_out
from unmask.statistics.simulation import RandomEffects, Simulation, Spreads

FACTORS = ("profession", "pair", "template")
FEW = 3
"""Female professions in a simulation with groups of unequal size."""
RESAMPLES = 1000


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
        estimates = [estimate_mean(rows[~np.isnan(part).all(axis=(1, 2))], part) for part in by_template]
    return [
        TemplateValue(template=name, value=estimate.value, interval=estimate.interval)
        for name, estimate in zip(table.templates, estimates, strict=True)
    ]


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


def simulations() -> list[Simulation]:
    """Associations in the sentences of an audit: words, professions and templates vary at random, and so does noise."""
    items = pd.DataFrame([asdict(row) for row in build_rows("en")])
    words: Spreads = {("gender", "pair"): 1.0, ("gender", "pair", "group"): 0.5}
    professions: Spreads = {("gender", "profession"): 0.5}
    templates: Spreads = {("gender", "template"): 1.0, ("gender", "template", "group"): 0.5}
    is_female = (items["group"] == "female").to_numpy()
    others = list(dict.fromkeys(items["profession"][is_female]))[FEW:]
    unequal = items[~items["profession"].isin(others)].reset_index(drop=True)
    spread = np.where(unequal["group"] == "female", 1.0, 0.3)
    return [
        _simulate("words vary", items, words),
        _simulate("professions vary", items, professions),
        _simulate("templates vary", items, templates),
        _simulate("all three vary", items, {**words, **professions, **templates}, (1.0, 2.0)),
        _simulate(f"{FEW} female professions", unequal, {**words, **templates, ("gender", "profession"): spread}),
        _simulate("noise alone", items, {}),
    ]


def _simulate(name: str, items: pd.DataFrame, spreads: Spreads, effects: tuple[float, ...] = ()) -> Simulation:
    random = RandomEffects(items, spreads, noise=1.0)
    sign = np.where(items["gender"] == "female", 0.25, -0.25) * items["group"].map({"female": 1, "male": -1}).fillna(0)

    def draw(generator: np.random.Generator, effect: float) -> pd.DataFrame:
        return items.assign(association=effect * sign + random.draw(generator))

    return Simulation(name, draw, effects, _test_otherwise)


def _test_otherwise(items: pd.DataFrame) -> Mapping[str, float | None]:
    """The p-values of tests of the stereotype that treat fewer things as samples; of the bootstrap, 0 or 1."""
    stereotype = StereotypeStatistic.of(tabulate_items(items))
    fixed = StereotypeStatistic(mean(stereotype.values, axis=2)[:, :, None], stereotype.groups)
    values, generator = fixed.values[:, :, 0], np.random.default_rng(0)
    groups = [values[stereotype.groups == group] for group in STEREOTYPED]
    pairs = generator.multinomial(values.shape[1], np.full(values.shape[1], 1 / values.shape[1]), size=RESAMPLES)
    means = []
    for group in groups:
        rows = generator.multinomial(len(group), np.full(len(group), 1 / len(group)), size=RESAMPLES)
        means.append(np.einsum("bp,pw,bw->b", rows, group, pairs) / group.size)
    low, high = np.quantile(means[0] - means[1], (0.025, 0.975))
    by_profession = [group.mean(axis=1) for group in groups]
    return {
        "stereotype, templates fixed": fixed.estimate().p_value,
        "stereotype, one sample of professions": jackknife(stereotype.values.shape, stereotype.contrast).p_value,
        "stereotype, bootstrap over professions and words": float(low <= 0 <= high),
        "stereotype, t test over professions": float(stats.ttest_ind(*by_profession, equal_var=False).pvalue),
    }
