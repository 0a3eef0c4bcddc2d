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
    found = _measure(1.0)
    rows = build_rows("en")
    share = {kind: np.mean([row.workforce_share for row in rows if row.group == kind]) for kind in ("female", "male")}
    planted = (
        share["female"] - share["male"]
    ) / 50  # log-odds between the groups, and the odds are what F − M compares
    test = found.tests["stereotype"]
    assert test.value == pytest.approx(planted, abs=0.1)
    assert test.interval is not None
    assert test.interval[0] < planted < test.interval[1]
    assert test.p_adjusted is not None
    assert test.p_adjusted < 0.001
    assert found.tests["workforce share, pearson"].value == pytest.approx(1, abs=0.05)
    answers = {hypothesis.name: hypothesis.answer for hypothesis in found.read_details(AssociationDetails).hypotheses}
    assert answers == {"H1": "supported", "H2": "supported", "H3": "no evidence against"}
    assert "clearly" in found.headline_text or "strongly" in found.headline_text


def test_a_reversed_bias_is_said_to_be_reversed() -> None:
    found = _measure(-1.0)
    assert "against the stereotypes" in found.headline_text
    assert [hypothesis.answer for hypothesis in found.read_details(AssociationDetails).hypotheses[:2]] == [
        "contradicted",
        "contradicted",
    ]


def test_no_bias_is_no_finding() -> None:
    found = _measure(0.0)
    assert found.headline_text.startswith("No stereotype found")
    assert all(test.p_adjusted is None or test.p_adjusted > 0.05 for test in found.tests.values())
    assert found.read_details(AssociationDetails).hypotheses[2].answer == "no evidence against"


def test_a_constant_model_has_defined_answers() -> None:
    found = _measure(0.0, noise=0.0)
    assert {test.p_value for name, test in found.tests.items() if "share" not in name} == {1.0}
    assert found.tests["workforce share, pearson"].value is None
    assert "noise" in found.headline_text


def test_means_and_differences_are_those_of_the_items(items: pd.DataFrame) -> None:
    found = analyse(items, Context())
    for kind in ("female", "male", "balanced"):
        of_kind = items[items["group"] == kind]
        for gender in ("female", "male"):
            values = of_kind.loc[of_kind["gender"] == gender, "association"]
            group = found.groups[f"{kind} professions, {gender} persons"]
            assert group.n == 900
            assert [group.value, group.sd] == pytest.approx([values.mean(), values.std()])
        wide = of_kind.pivot_table(index=["template", "pair", "profession"], columns="gender", values="association")
        test = found.tests[f"female minus male, {kind} professions"]
        assert test.value == pytest.approx((wide["female"] - wide["male"]).mean())
        assert test.wilcoxon is not None
        known = stats.wilcoxon(wide["female"], wide["male"], correction=True, method="approx")
        assert (test.wilcoxon.n, test.wilcoxon.w) == (900, known.statistic)
        assert test.wilcoxon.p_value == pytest.approx(known.pvalue)
    by_profession = {one.profession: one for one in found.read_details(AssociationDetails).professions}
    nurse = items[items["profession"] == "registered nurse"]
    means = nurse.groupby("gender")["association"].mean()
    assert by_profession["registered nurse"].female == pytest.approx(means["female"])
    assert by_profession["registered nurse"].difference == pytest.approx(means["female"] - means["male"])
    assert by_profession["registered nurse"].workforce_share == 88.9


def test_missing_items_do_not_break_the_analysis(items: pd.DataFrame) -> None:
    whole = analyse(items, Context()).tests["stereotype"].value
    part = analyse(items.sample(frac=0.8, random_state=1).sort_index(), Context())
    assert part.tests["stereotype"].value == pytest.approx(whole, abs=0.05)
    mason = analyse(items[items["profession"] == "mason"], Context())
    assert mason.groups["male professions, male persons"].n == 45
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
    found = unmask.audit(PlantedModel(build_rows("en", "emotions"), bias=0.5), corpora="emotions").measurements[0]
    assert found.items == 2400
    assert [name for name in found.tests if name.startswith("female minus male")] == [
        f"female minus male, {emotion} emotion words" for emotion in ("anger", "fear", "joy", "sadness")
    ]
    assert not found.read_details(AssociationDetails).hypotheses
    assert "stereotype" not in found.tests
    assert not any("share" in name for name in found.tests)


def test_effect_sizes_and_sign_flips_are_what_they_say(items: pd.DataFrame) -> None:
    """Worked out again from the items, the long way."""
    draw = np.random.default_rng(5)
    items["association"] += draw.normal(scale=0.3, size=len(items))
    tests = analyse(items, Context()).tests
    mean = items.groupby(["profession", "group", "gender"])["association"].mean().unstack()
    gap = (mean["female"] - mean["male"]).reset_index(name="gap")
    female, male = (gap[gap["group"] == kind]["gap"] for kind in ("female", "male"))
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


def test_professions_carry_intervals_over_person_words(items: pd.DataFrame) -> None:
    items["association"] += np.random.default_rng(5).normal(scale=0.3, size=len(items))
    one = analyse(items, Context()).read_details(AssociationDetails).professions[0]
    mine = items[items["profession"] == one.profession].groupby(["pair", "gender"])["association"].mean().unstack()
    gaps = mine["female"] - mine["male"]
    expected = stats.t.interval(0.95, len(gaps) - 1, gaps.mean(), stats.sem(gaps))
    assert one.difference == pytest.approx(gaps.mean())
    assert one.difference_interval == pytest.approx(expected)
