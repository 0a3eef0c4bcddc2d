"""From items to numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unmask
from planted import PlantedModel
from unmask.errors import UnmaskError
from unmask.measures.association.analysis import analyse
from unmask.measures.association.data import build_rows
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.interpretation import interpret
from unmask.measures.base import Context
from unmask.results import Measurement


def _measure(bias: float, noise: float = 0.1) -> Measurement:
    return unmask.audit(PlantedModel(build_rows("en"), bias=bias, noise=noise)).measurements[0]


def test_a_planted_bias_is_found_at_its_size() -> None:
    measurement = _measure(1.0)
    rows = build_rows("en")
    share = {
        group: np.mean([row.workforce_share for row in rows if row.group == group]) for group in ("female", "male")
    }
    planted = (
        share["female"] - share["male"]
    ) / 50  # log-odds between the groups, and the odds are what F − M compares
    test = measurement.tests["stereotype"]
    assert test.value == pytest.approx(planted, abs=0.1)
    assert test.interval is not None
    assert test.interval[0] < planted < test.interval[1]
    assert test.p_adjusted is not None
    assert test.p_adjusted < 0.001
    assert measurement.tests["workforce share, pearson"].value == pytest.approx(1, abs=0.05)
    answers = {
        hypothesis.name: hypothesis.answer for hypothesis in measurement.read_details(AssociationDetails).hypotheses
    }
    assert answers == {"H1": "supported", "H2": "supported", "H3": "supported"}
    assert "clearly" in measurement.headline_text or "strongly" in measurement.headline_text


def test_a_reversed_bias_is_said_to_be_reversed() -> None:
    measurement = _measure(-1.0)
    assert "against gender stereotypes" in measurement.headline_text
    assert [hypothesis.answer for hypothesis in measurement.read_details(AssociationDetails).hypotheses[:2]] == [
        "contradicted",
        "contradicted",
    ]


def test_no_bias_is_no_finding() -> None:
    measurement = _measure(0.0)
    assert measurement.headline_text.startswith("No stereotype beyond a factor of 1.1")
    assert all(test.p_adjusted is None or test.p_adjusted > 0.05 for test in measurement.tests.values())
    assert measurement.read_details(AssociationDetails).hypotheses[2].answer == "supported"


def test_a_constant_model_has_defined_answers() -> None:
    measurement = _measure(0.0, noise=0.0)
    assert {test.p_value for name, test in measurement.tests.items() if "share" not in name} == {1.0}
    assert measurement.tests["workforce share, pearson"].value is None
    assert "No stereotype beyond a factor of 1.1" in measurement.headline_text


def test_means_and_differences_are_those_of_the_items(items: pd.DataFrame) -> None:
    measurement = analyse(items, Context())
    for group in ("female", "male", "balanced"):
        group_items = items[items["group"] == group]
        for gender in ("female", "male"):
            values = group_items.loc[group_items["gender"] == gender, "association"]
            estimate = measurement.groups[f"{group} professions, {gender} persons"]
            assert estimate.n == 1800
            assert [estimate.value, estimate.sd] == pytest.approx([values.mean(), values.std()])
        wide = group_items.pivot_table(index=["template", "pair", "profession"], columns="gender", values="association")
        test = measurement.tests[f"female minus male, {group} professions"]
        assert test.value == pytest.approx((wide["female"] - wide["male"]).mean())
        assert test.wilcoxon is not None
        expected = stats.wilcoxon(wide["female"], wide["male"], correction=True, method="approx")
        assert (test.wilcoxon.n, test.wilcoxon.w) == (1800, expected.statistic)
        assert test.wilcoxon.p_value == pytest.approx(expected.pvalue)
    professions = {
        profession.profession: profession for profession in measurement.read_details(AssociationDetails).professions
    }
    nurse = items[items["profession"] == "registered nurse"]
    means = nurse.groupby("gender")["association"].mean()
    assert professions["registered nurse"].female == pytest.approx(means["female"])
    assert professions["registered nurse"].difference == pytest.approx(means["female"] - means["male"])
    assert professions["registered nurse"].workforce_share == 88.9


def test_missing_items_do_not_break_the_analysis(items: pd.DataFrame) -> None:
    expected = analyse(items, Context()).tests["stereotype"].value
    sample = analyse(items.sample(frac=0.8, random_state=1).sort_index(), Context())
    assert sample.tests["stereotype"].value == pytest.approx(expected, abs=0.05)
    mason = analyse(items[items["profession"] == "mason"], Context())
    assert mason.groups["male professions, male persons"].n == 90
    assert "stereotype" not in mason.tests
    interpret(mason)
    single = analyse(items.iloc[:1], Context())
    assert single.tests["female minus male, male professions"].value is None
    assert interpret(single).headline_text


def test_published_refuses_what_it_cannot_pair(items: pd.DataFrame) -> None:
    with pytest.raises(UnmaskError, match="row by row"):
        analyse(items.iloc[:-1], Context(protocol="published"))


def test_published_needs_token_ids() -> None:
    with pytest.raises(UnmaskError, match="transformers model"):
        unmask.audit(PlantedModel(build_rows("en"), bias=0.5), protocol="published")


def test_emotions_run_through_the_same_code() -> None:
    measurement = unmask.audit(PlantedModel(build_rows("en", "emotions"), bias=0.5), corpora="emotions").measurements[0]
    assert measurement.items == 4000
    assert [name for name in measurement.tests if name.startswith("female minus male")] == [
        f"female minus male, {emotion} emotion words" for emotion in ("anger", "fear", "joy", "sadness")
    ]
    assert not measurement.read_details(AssociationDetails).hypotheses
    assert "stereotype" not in measurement.tests
    assert not any("share" in name for name in measurement.tests)


def test_effect_sizes_and_sign_flips_are_what_they_say(items: pd.DataFrame) -> None:
    """Computed again from the items, step by step."""
    draw = np.random.default_rng(5)
    items["association"] += draw.normal(scale=0.3, size=len(items))
    tests = analyse(items, Context()).tests
    mean = items.groupby(["profession", "group", "gender"])["association"].mean().unstack()
    gap = (mean["female"] - mean["male"]).reset_index(name="gap")
    female, male = (gap[gap["group"] == group]["gap"] for group in ("female", "male"))
    spread = np.sqrt((female.var() + male.var()) / 2)
    stereotype, share = tests["stereotype"], tests["workforce share, pearson"]
    assert stereotype.effect_size == pytest.approx((female.mean() - male.mean()) / spread)
    assert stereotype.p_sign_flip == pytest.approx(2 / 2**9)  # all nine pairs point one way
    assert share.p_sign_flip == pytest.approx(2 / 2**9)
    assert share.interval is not None
    assert share.value is not None
    middle = np.tanh((np.arctanh(share.interval[0]) + np.arctanh(share.interval[1])) / 2)
    assert middle == pytest.approx(share.value)  # symmetric on Fisher's scale, so not on the plain one
    assert sum(share.interval) / 2 != pytest.approx(share.value, abs=1e-4)


def test_professions_carry_intervals_over_person_words_and_templates(items: pd.DataFrame) -> None:
    items["association"] += np.random.default_rng(5).normal(scale=0.3, size=len(items))
    profession = analyse(items, Context()).read_details(AssociationDetails).professions[0]
    mine = items[items["profession"] == profession.profession]
    parts, mean = [], 0.0
    for factor in ("pair", "template"):
        means = mine.groupby([factor, "gender"])["association"].mean().unstack()
        gaps = means["female"] - means["male"]
        mean = gaps.mean()
        parts.append((stats.sem(gaps) ** 2, len(gaps) - 1))
    variance = sum(part for part, _ in parts)
    df = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    assert profession.difference == pytest.approx(mean)
    assert profession.difference_interval == pytest.approx(stats.t.interval(0.95, df, mean, np.sqrt(variance)))
