"""Single templates, ranges without single levels, reliability, and samples: templates at random, groups of any size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from unmask.measures.association.analysis import analyse
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.table import StereotypeStatistic, estimate_mean, fixed_factors
from unmask.measures.base import Context

PAIRS, TEMPLATES, SIMULATIONS = 9, 10, 400


def _read(items: pd.DataFrame) -> AssociationDetails:
    return analyse(items, Context()).read_details(AssociationDetails)


def _gap(items: pd.DataFrame) -> float:
    """The stereotype, step by step."""
    means = items.groupby(["profession", "group", "gender"])["association"].mean().unstack()
    by_group = (means["female"] - means["male"]).groupby("group").mean()
    return float(by_group["female"] - by_group["male"])


def test_each_template_has_the_stereotype_of_its_own_sentences(items: pd.DataFrame) -> None:
    values = _read(items).templates
    assert [value.template for value in values] == list(dict.fromkeys(items["template"]))
    for value in values:
        alone = items[items["template"] == value.template].reset_index(drop=True)
        test = analyse(alone, Context()).tests["stereotype"]
        assert value.value == pytest.approx(_gap(alone))
        assert value.interval == pytest.approx(test.interval)


def test_what_is_left_out_is_named(items: pd.DataFrame) -> None:
    items = items[items["group"] != "balanced"].reset_index(drop=True)
    is_female = (items["profession"] == "secretary") & (items["gender"] == "female")
    items.loc[is_female, "association"] += 5
    ranges = {left.factor: left for left in _read(items).left_out}
    assert list(ranges) == ["profession", "pair", "template"]
    assert ranges["profession"].low_without == "secretary"
    assert ranges["profession"].low == pytest.approx(_gap(items[items["profession"] != "secretary"]))
    without = {name: _gap(items[items["template"] != name]) for name in items["template"].unique()}
    assert (ranges["template"].low, ranges["template"].high) == pytest.approx(
        (min(without.values()), max(without.values()))
    )
    assert ranges["template"].high_without == max(without, key=lambda name: without[name])
    assert "/" in ranges["pair"].low_without


def test_one_or_two_templates_are_fixed_and_a_caveat_says_so(items: pd.DataFrame) -> None:
    names = list(dict.fromkeys(items["template"]))
    items["association"] += np.random.default_rng(2).normal(scale=0.2, size=len(items))
    keys = ["profession", "pair", "gender"]
    for count in (1, 2, 3):
        few = items[items["template"].isin(names[:count])].reset_index(drop=True)
        measurement = analyse(few, Context())
        codes = {caveat.code for caveat in measurement.caveats}
        assert ("few-templates" in codes) == (count < 3)
        factors = [left.factor for left in measurement.read_details(AssociationDetails).left_out]
        assert ("template" in factors) == (count == 3)
        means = few.groupby(keys)["association"].mean().rename("association")
        averaged = few.drop_duplicates(keys).drop(columns="association").merge(means, on=keys)
        test = analyse(averaged, Context()).tests["stereotype"]
        same = measurement.tests["stereotype"].interval == pytest.approx(test.interval)
        assert same == (count < 3)


def test_professions_are_welchs_rows() -> None:
    draw = np.random.default_rng(1)
    values = np.concatenate([draw.normal(1, 2, size=4), draw.normal(0, 0.5, size=9)])
    groups = np.repeat(["female", "male"], [4, 9])
    estimate = StereotypeStatistic(values[:, None, None], groups).estimate()
    expected = stats.ttest_ind(values[:4], values[4:], equal_var=False)
    assert estimate.statistic == pytest.approx(expected.statistic)
    assert estimate.df == pytest.approx(expected.df)
    assert estimate.p_value == pytest.approx(expected.pvalue)


def _rejections(p_values: list[float | None]) -> float:
    return float(np.mean([p is not None and p < 0.05 for p in p_values]))


def test_templates_that_differ_by_chance_are_not_a_stereotype() -> None:
    """Templates that favour a gender, or a stereotype, at random: 5 % are rejected with three factors, else more."""
    draw = np.random.default_rng(7)
    found: dict[str, list[float | None]] = {}
    groups = np.repeat(["female", "male"], 20)
    side = np.where(groups == "female", 0.5, -0.5)[:, None, None]
    for _ in range(SIMULATIONS):
        values = 0.5 * draw.normal(size=(40, PAIRS, 5)) + 0.5 * draw.normal(size=(40, 1, 1))
        values += 0.2 * draw.normal(size=(1, PAIRS, 1)) + 0.4 * draw.normal(size=(1, 1, 5))
        values += side * (0.2 * draw.normal(size=(1, PAIRS, 1)) + 0.4 * draw.normal(size=(1, 1, 5)))
        for name, table in (("random", values), ("fixed", values.mean(axis=2, keepdims=True))):
            found.setdefault(f"stereotype, {name}", []).append(StereotypeStatistic(table, groups).estimate().p_value)
            found.setdefault(f"difference, {name}", []).append(estimate_mean(np.arange(20), table).p_value)
    rates = {name: _rejections(values) for name, values in found.items()}
    most = stats.binom.isf(0.001, SIMULATIONS, 0.05) / SIMULATIONS
    assert max(rates["stereotype, random"], rates["difference, random"]) <= most, rates
    assert min(rates["stereotype, fixed"], rates["difference, fixed"]) > 0.12, rates


def test_three_professions_against_thirty_seven_are_rejected_less_often_than_as_one_sample() -> None:
    draw = np.random.default_rng(8)
    groups = np.repeat(["female", "male"], [3, 37])
    welch: list[float | None] = []
    for _ in range(SIMULATIONS):
        values = np.repeat([1.0, 0.3], [3, 37])[:, None, None] * draw.normal(size=(40, 1, 1))
        values = values + 0.5 * draw.normal(size=(40, PAIRS, TEMPLATES))
        welch.append(StereotypeStatistic(values, groups).estimate().p_value)
    assert _rejections(welch) <= stats.binom.isf(0.001, SIMULATIONS, 0.05) / SIMULATIONS


def test_a_table_without_templates_has_no_factor_to_fix() -> None:
    assert fixed_factors(np.zeros((2, 2, 2))) == (2,)
    assert fixed_factors(np.zeros((2, 2, 3))) == ()
    assert estimate_mean(np.array([0]), np.ones((1, 1, 1))).interval is None
