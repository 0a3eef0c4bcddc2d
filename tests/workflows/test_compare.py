"""Two models on the same items: changes, uncertainty, verdicts and the cost in usefulness."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import unmask
from planted import PlantedModel
from unmask.cli import app
from unmask.errors import UnmaskError
from unmask.measures.association.compare import compare, correlation_change, judge_change, judge_comparison
from unmask.measures.association.data import build_rows
from unmask.measures.association.details import AssociationChanges, AssociationDetails
from unmask.measures.association.table import AssociationTable, estimate_mean
from unmask.measures.base import ComparedModel
from unmask.results import Change, ComparisonResult, Estimate, Measurement, ModelInfo, Usefulness, UsefulnessChange
from unmask.results.storage import Folder, load, read_items, save
from unmask.statistics.corrections import holm
from unmask.workflows.audit import run_audit
from unmask.workflows.audit_options import audit_options, options_of
from unmask.workflows.usefulness import judge_cost

GOLDEN = "golden/becpro_en_bert_association.tsv"
TABLE_4 = {  # Bartl et al. 2020, Table 4, column pre: female and male person words
    "balanced": (-0.35, 0.05),
    "female": (0.50, -0.68),
    "male": (-0.83, 0.16),
}
GROUP_SHARES = {"female": (90, 95, 88, 92), "male": (3, 8, 5, 10), "balanced": (48, 50, 52, 47)}


class OtherTastes(PlantedModel):
    """The same bias with different word preferences."""

    def _taste(self, person: str, profession: str) -> float:
        return super()._taste(f"{person}!", profession)


Audited = Callable[..., unmask.Audit]


@pytest.fixture(scope="module")
def audit_with_bias(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    """Make audits of models with a planted bias, on one template."""
    file = tmp_path_factory.mktemp("words") / "templates.csv"
    file.write_text("template\n{person} used to be {a} {profession}.\n")
    rows = build_rows("en", templates_file=file)

    @cache
    def make_audit(bias: float, *, other: bool = False, noise: float = 0.1) -> unmask.Audit:
        model_class = OtherTastes if other else PlantedModel
        return unmask.audit(model_class(rows, bias=bias, noise=noise), templates=file)

    return make_audit


def _compare(before: Any, *after: Any, **settings: Any) -> unmask.Compared:
    return unmask.compare(before, *after, usefulness=False, **settings)


def _build_items(values: Callable[[str, int, int, str], float], pairs: int = 3) -> pd.DataFrame:
    """Build a small table with the scores `values(group, profession, pair, gender)`."""
    return pd.DataFrame(
        [
            {
                "language": "en",
                "corpus": "recorded",
                "template": "t",
                "person": f"{gender} {pair}",
                "gender": gender,
                "pair": pair,
                "profession": f"{group} {number}",
                "form": f"{group} {number}",
                "group": group,
                "workforce_share": share,
                "association": values(group, number, pair, gender),
            }
            for group, shares in GROUP_SHARES.items()
            for number, share in enumerate(shares)
            for pair, gender in product(range(pairs), ("female", "male"))
        ]
    )


def _analyse_items(items: pd.DataFrame, folder: Path, name: str, protocol: str = "sound") -> unmask.Audit:
    items.to_csv(folder / f"{name}.csv", index=False)
    return unmask.analyse(folder / f"{name}.csv", protocol=protocol)


def _draw_scores(seed: int) -> Callable[[str, int, int, str], float]:
    """Draw noise with random effects of professions and pairs."""
    rng = np.random.default_rng(seed)
    profession_effects = {(group, number): rng.normal() for group in GROUP_SHARES for number in range(4)}
    pair_effects = rng.normal(size=9)
    return lambda group, number, pair, gender: (
        (gender == "female") * (profession_effects[group, number] + pair_effects[pair]) + rng.normal()
    )


# Estimates


def test_table_4_is_that_of_an_independent_computation(data: Path) -> None:
    frame = pd.read_csv(data / GOLDEN, sep="\t")
    sides = [
        unmask.analyse(data / GOLDEN, protocol="published", score_column=column)
        for column in ("Pre_Assoc", "Post_Assoc")
    ]
    comparison = _compare(*sides).comparisons[0]
    assert [row.group for row in comparison.read_details(AssociationChanges).table] == ["male", "female", "balanced"]
    for row in comparison.read_details(AssociationChanges).table:
        group_rows = frame[frame["Prof_Gender"] == row.group]
        female, male = (group_rows[group_rows["Gender"] == gender] for gender in ("female", "male"))
        assert (row.female_before, row.male_before) == pytest.approx(TABLE_4[row.group], abs=0.0051)
        assert row.female_after == pytest.approx(female["Post_Assoc"].mean())
        assert row.male_change == pytest.approx((male["Post_Assoc"] - male["Pre_Assoc"]).mean())
        change = [(side["Post_Assoc"] - side["Pre_Assoc"]).to_numpy() for side in (female, male)]
        difference = change[0] - change[1]
        ranks = stats.rankdata(np.abs(difference))
        assert (row.n, row.w) == (900, ranks[difference > 0].sum())
        expected = stats.wilcoxon(change[0], change[1], correction=True, method="approx")
        z = abs(row.w - 202725) - 0.5
        assert row.r == pytest.approx(-z / 7800.7 / np.sqrt(1800), abs=1e-5)
        assert row.p_value == pytest.approx(expected.pvalue)
        test = comparison.changes[f"female minus male, {row.group} professions"]
        assert test.change.p_value == test.change.p_adjusted == row.p_value
        assert test.change.value == pytest.approx(difference.mean())
        assert test.change.interval is None
    assert comparison.changes["male professions, male persons"].change.p_value is None
    assert {
        hypothesis.name: (hypothesis.before, hypothesis.after)
        for hypothesis in comparison.read_details(AssociationChanges).hypotheses
    }["H2"] == (
        "supported",
        "contradicted",
    )
    assert comparison.verdict == "overshot"


def test_the_real_mitigation_shrank_the_stereotype(data: Path) -> None:
    """Next to balanced professions the model now prefers women, but not clearly so in other templates than these."""
    sides = [unmask.analyse(data / GOLDEN, score_column=column) for column in ("Pre_Assoc", "Post_Assoc")]
    comparison = _compare(*sides).comparisons[0]
    assert comparison.changes["stereotype"].verdict == "improved"
    balanced = comparison.changes["female minus male, balanced professions"]
    assert balanced.values == pytest.approx((-0.40, 0.33), abs=0.005)
    assert balanced.verdict == "no reliable change"
    assert comparison.verdict == "improved"
    assert comparison.headline_text.startswith("The stereotype shrank")
    assert "8.73 times" in comparison.headline_text
    assert "the preference" not in comparison.headline_text
    assert len(comparison.read_details(AssociationChanges).professions) == 60
    sizes = [abs(profession.change or 0) for profession in comparison.read_details(AssociationChanges).professions]
    assert sizes == sorted(sizes, reverse=True)


def test_the_interval_of_a_change_is_worked_by_hand(tmp_path: Path) -> None:
    """Changes of female − male by profession (rows) and pair (columns): means 1, 2, 3, 6 and 2, 3, 4."""
    rows, columns = (1, 2, 3, 6), (-1, 0, 1)

    def score_after(_: str, index: int, pair: int, gender: str) -> float:
        return 5.0 + (rows[index] + columns[pair] if gender == "female" else 0)

    before = _analyse_items(_build_items(lambda *_: 5.0), tmp_path, "before")
    comparison = _compare(before, _analyse_items(_build_items(score_after), tmp_path, "after")).comparisons[0]
    change = comparison.changes["female minus male, balanced professions"]
    assert (*change.values, change.change.value) == (0, 3, 3)
    estimate = change.change
    # the variance of the mean: s²/n over professions (14/3/4) plus s²/n over pairs (1/3)
    row_variance, column_variance = 14 / 3 / 4, 1 / 3
    error = np.sqrt(row_variance + column_variance)
    df = (row_variance + column_variance) ** 2 / (row_variance**2 / 3 + column_variance**2 / 2)
    assert estimate.df == pytest.approx(df)
    assert estimate.statistic == pytest.approx(3 / error)
    assert estimate.p_value == pytest.approx(2 * stats.t.sf(3 / error, df))
    assert estimate.p_value is not None
    assert estimate.p_adjusted is not None
    reach = stats.t.isf(0.025 * estimate.p_value / estimate.p_adjusted, df) * error  # as Holm judges it
    assert estimate.interval == pytest.approx((3 - reach, 3 + reach))
    assert estimate.p_sign_flip == 2 / 8  # all three pairs rose; 2 of the 8 sign patterns are as extreme
    assert comparison.changes["stereotype"].change.value == 0
    assert comparison.changes["female professions, male persons"].change.value == 0


def test_the_change_of_a_correlation_is_that_of_two_correlations(audit_with_bias: Audited) -> None:
    before, after = audit_with_bias(1.0, noise=1.0), audit_with_bias(0.3, other=True, noise=1.0)
    change = _compare(before, after).comparisons[0].changes["workforce share, pearson"]
    r = [audit.measurements[0].tests["workforce share, pearson"].value or 0.0 for audit in (before, after)]
    assert change.values == pytest.approx(r)
    assert change.change.value == pytest.approx(r[1] - r[0])
    assert change.change.effect_size == pytest.approx(np.arctanh(r[1]) - np.arctanh(r[0]))
    assert change.change.interval is not None
    assert change.change.interval[0] < r[1] - r[0] < change.change.interval[1]


def test_sides_are_those_of_their_audits(audit_with_bias: Audited) -> None:
    before, after = audit_with_bias(3.0), audit_with_bias(0.5, other=True)
    comparison = _compare(before, after).comparisons[0]
    for name, change in comparison.changes.items():
        before_test, after_test = (audit.measurements[0].tests[name] for audit in (before, after))
        for side, test in ((change.before, before_test), (change.after, after_test)):
            assert side is not None
            assert side.value == test.value
            assert side.interval == test.interval or name != "stereotype"  # of other tests, an audit corrects it
    hypotheses = before.measurements[0].read_details(AssociationDetails).hypotheses
    assert [hypothesis.before for hypothesis in comparison.read_details(AssociationChanges).hypotheses] == [
        hypothesis.answer for hypothesis in hypotheses
    ]


def test_without_a_change_5_percent_are_found_changed() -> None:
    """Compare two draws of noise 300 times: rejections occur, and not more than a 5 % test allows (99.9 % limit)."""
    tables, rng = 300, np.random.default_rng(5)
    shares = np.array([share for group_shares in GROUP_SHARES.values() for share in group_shares], dtype=float)
    groups = np.repeat(list(GROUP_SHARES), 4)
    rejected = {"mean": 0, "correlation": 0}

    def draw_table() -> AssociationTable:
        female = rng.normal(size=(12, 1, 1)) + rng.normal(size=(1, 6, 1)) + rng.normal(size=(12, 6, 2))
        return AssociationTable(
            [], groups, shares, {"female": female + shares[:, None, None] / 50, "male": np.zeros((12, 6, 2))}
        )

    for _ in range(tables):
        before, after = draw_table(), draw_table()
        mean = estimate_mean(before.rows_of("balanced"), after.difference - before.difference)
        for name, estimate in (("mean", mean), ("correlation", correlation_change(before, after))):
            assert estimate.p_value is not None
            rejected[name] += estimate.p_value < 0.05
    assert max(rejected.values()) <= stats.binom.isf(0.001, tables, 0.05), rejected
    assert min(rejected.values()) > 0


def test_the_stereotype_stands_alone_and_the_other_questions_are_corrected_together(audit_with_bias: Audited) -> None:
    before, *after = audit_with_bias(1.0, noise=1.0), audit_with_bias(0.9, other=True, noise=1.0), audit_with_bias(0.5)
    compared = _compare(before, *after)
    comparisons = compared.comparisons
    assert [comparison.after for comparison in comparisons] == ["OtherTastes", "PlantedModel-2"]
    for comparison in comparisons:
        by_contrast: dict[str, list[Change]] = {}
        for change in comparison.changes.values():
            contrast = change.labels["contrast"]
            by_contrast.setdefault(contrast if contrast == "stereotype" else "others", []).append(change)
        assert [change.change.p_adjusted for change in by_contrast["stereotype"]] == [
            by_contrast["stereotype"][0].change.p_value
        ]
        tests = [change.change for change in by_contrast["others"]]
        assert [test.p_adjusted for test in tests] == pytest.approx(holm([test.p_value for test in tests]))
        assert len(tests) == 10
        for test in tests:
            assert test.interval is not None
            assert test.p_adjusted is not None
            assert (test.p_adjusted < 0.05) == (not test.interval[0] <= 0 <= test.interval[1])
    assert comparisons[1] == _compare(before, after[1]).comparisons[0].model_copy(update={"after": "PlantedModel-2"})
    assert "several-models" in {caveat.code for caveat in compared.result.caveats}


# Degenerate input


def test_the_same_scores_have_not_changed(tmp_path: Path) -> None:
    before, after = (_analyse_items(_build_items(_draw_scores(1)), tmp_path, name) for name in ("one", "other"))
    comparison = _compare(before, after).comparisons[0]
    assert comparison.verdict == "negligible change"
    assert {change.change.value for change in comparison.changes.values()} == {0.0}
    assert {change.change.p_adjusted for change in comparison.changes.values()} == {1.0}
    assert {(row.w, row.r, row.p_value) for row in comparison.read_details(AssociationChanges).table} == {
        (0.0, None, 1.0)
    }


def test_a_single_profession_and_pair_have_no_test(tmp_path: Path) -> None:
    def analyse_profession(name: str, seed: int) -> unmask.Audit:
        items = _build_items(_draw_scores(seed), pairs=1)
        return _analyse_items(items[items["profession"] == "female 0"], tmp_path, name)

    comparison = _compare(analyse_profession("a", 1), analyse_profession("b", 2)).comparisons[0]
    change = comparison.changes["female minus male, female professions"]
    assert change.change.value is not None
    assert (change.change.interval, change.change.p_adjusted, change.verdict) == (None, None, "no reliable change")
    assert comparison.verdict == "no reliable change"


@pytest.mark.parametrize("protocol", ["sound", "published"])
def test_items_that_only_one_has_are_left_out(protocol: str, tmp_path: Path) -> None:
    items = _build_items(_draw_scores(1)), _build_items(_draw_scores(2))
    whole = _analyse_items(items[0], tmp_path, "whole", protocol)
    lacking = items[1][items[1]["profession"] != "male 0"]
    both = _compare(whole, _analyse_items(lacking, tmp_path, "lacking", protocol)).comparisons[0]
    assert (both.items, both.unpaired) == (66, 6)
    assert "unpaired-items" in {caveat.code for caveat in both.caveats}
    same = items[0][items[0]["profession"] != "male 0"]
    alone = _compare(
        _analyse_items(same, tmp_path, "same", protocol), _analyse_items(lacking, tmp_path, "again", protocol)
    ).comparisons[0]
    assert both.changes == alone.changes
    assert both.read_details(AssociationChanges).hypotheses == alone.read_details(AssociationChanges).hypotheses
    assert both.read_details(AssociationChanges).table == alone.read_details(AssociationChanges).table


def test_a_row_without_its_counterpart_leaves_the_published_table(tmp_path: Path) -> None:
    before, after = _build_items(_draw_scores(1)), _build_items(_draw_scores(2))
    published = [_analyse_items(items, tmp_path, name, "published") for items, name in ((before, "a"), (after, "b"))]
    models = [
        ComparedModel(str(index), audit.measurements[0], audit.items["association"])
        for index, audit in enumerate(published)
    ]
    short = ComparedModel("1", models[1].measurement, models[1].items.drop(index=0))
    comparison, items = compare(models[0], short, seed=1)
    assert (comparison.items, comparison.unpaired, len(items)) == (70, 3, 70)
    assert [row.n for row in comparison.read_details(AssociationChanges).table] == [11, 12, 12]


def test_what_cannot_be_compared_is_left_out_and_named(tmp_path: Path) -> None:
    before, after = (
        _analyse_items(_build_items(_draw_scores(seed)), tmp_path, name) for seed, name in ((1, "one"), (2, "other"))
    )
    plugin_measurement = before.measurements[0].model_copy(update={"name": "pronouns"})

    def with_measurements(*measurements: Measurement) -> unmask.Audit:
        result = before.result.model_copy(update={"measurements": [*measurements]})
        return unmask.Audit(result, before.items)

    both = with_measurements(plugin_measurement, *before.measurements)
    save(tmp_path / "both", Folder(both.result, before.items))
    plain = _compare(before, after).result
    for source in (both, tmp_path / "both"):
        result = _compare(source, after).result
        assert [item.changes for item in result.comparisons] == [item.changes for item in plain.comparisons]
        assert result.configuration["measures"] == ["association"]
        (caveat,) = [entry for entry in result.caveats if entry not in plain.caveats]
        text = "pronouns cannot be compared: the package that brings it is not installed."
        assert (caveat.code, caveat.text) == ("measure-left-out", text)
    with pytest.raises(UnmaskError, match=r"one: pronouns cannot be compared: the package"):
        _compare(with_measurements(plugin_measurement), after)


def test_what_does_not_match_is_refused(tmp_path: Path) -> None:
    before = _analyse_items(_build_items(_draw_scores(1)), tmp_path, "one")
    published = _analyse_items(_build_items(_draw_scores(2)), tmp_path, "published", "published")
    with pytest.raises(UnmaskError, match="one was measured with the 'sound' protocol, published with 'published'"):
        _compare(before, published)
    german = _analyse_items(_build_items(_draw_scores(2)).assign(language="de"), tmp_path, "german")
    with pytest.raises(
        UnmaskError, match="'association en recorded', german on 'association de recorded': nothing in common"
    ):
        _compare(before, german)
    after = _analyse_items(_build_items(_draw_scores(2)).assign(template="u"), tmp_path, "other")
    with pytest.raises(UnmaskError, match="no sentence in common"):
        _compare(before, after)
    with pytest.raises(UnmaskError, match="nothing to compare with"):
        _compare(before)
    with pytest.raises(UnmaskError, match="a corpus 'recorded' that is not ours"):
        _compare(before, PlantedModel(build_rows("en"), bias=1.0))
    with pytest.raises(UnmaskError, match="unmask analyse"):
        _compare(before, tmp_path / "one.csv")
    with pytest.raises(UnmaskError, match="belong to a task"):
        _compare(before, after, data="imdb")


# Verdicts


@pytest.mark.parametrize(
    ("before", "after", "verdict", "pattern"),
    [
        (3.0, 0.5, "improved", "The stereotype shrank: .* A moderate stereotype remains"),
        (3.0, 0.0, "improved", "What remains is negligible"),
        (3.0, -3.0, "overshot", "The stereotype was reversed"),
        (0.5, 3.0, "worse", "The stereotype grew"),
        (0.5, -3.0, "overshot", "reversed"),
        (0.0, 1.0, "worse", "grew"),
        (1.0, 1.0, "negligible change", "The change of the stereotype is negligible"),
        (-0.5, -3.0, "worse", "The model now goes against stereotypes more than before"),
        (
            -3.0,
            -0.5,
            "improved",
            "against stereotypes less than before: .* association against stereotypes remains",
        ),
    ],
)
def test_what_was_planted_is_judged_rightly(
    audit_with_bias: Audited, before: float, after: float, verdict: str, pattern: str
) -> None:
    compared = _compare(audit_with_bias(before), audit_with_bias(after, other=True))
    assert compared.verdict == verdict
    assert pd.Series([compared.comparisons[0].headline_text]).str.contains(pattern).all()


def _change(before: float, after: float, /, p: float | None = 0.001, **changes: Any) -> Change:
    return Change(
        labels={"contrast": "difference", "group": "female"},
        question="",
        before=Estimate(n=9, value=before, interval=(before - 0.1, before + 0.1)),
        after=Estimate(n=9, value=after, interval=(after - 0.1, after + 0.1)),
        change=Estimate(n=9, value=after - before, p_value=p, p_adjusted=p),
    ).model_copy(update=changes)


def _estimate(value: float, p: float | None = None) -> Estimate:
    """Make an estimate without an interval."""
    return Estimate(n=9, value=value, p_value=p)


@pytest.mark.parametrize(
    ("change", "floor", "verdict"),
    [
        (_change(1, 0.5), 0.0, "improved"),
        (_change(1, 0.5, p=0.05), 0.0, "no reliable change"),
        (_change(1, 0.5, p=None), 0.0, "no reliable change"),
        (_change(1, 0.5), 0.6, "no reliable change"),  # smaller than the noise of the computation
        (_change(1, -0.05), 0.0, "improved"),  # past zero, but not significantly
        (_change(1, -0.2), 0.0, "overshot"),
        (_change(-1, 0.2), 0.0, "overshot"),
        (_change(1, -2), 0.0, "overshot"),
        (_change(0.05, -0.9), 0.0, "worse"),  # there was no preference to reverse
        (_change(0.5, 1), 0.0, "worse"),
        (_change(1, -0.2, before=_estimate(1), after=_estimate(-0.2, 0.2)), None, "improved"),
        (_change(1, -0.2, before=_estimate(1, 0.01), after=_estimate(-0.2, 0.01)), None, "overshot"),
        (_change(1, 0.5, labels={"contrast": "mean", "group": "female", "gender": "male"}), 0.0, None),
        (_change(0.05, 0.5, labels={"contrast": "workforce", "correlation": "pearson"}), 0.0, None),
        (_change(0.8, 0.5, labels={"contrast": "workforce", "correlation": "pearson"}), 9.0, "improved"),
    ],
)
def test_one_rule_for_every_figure(change: Change, floor: float | None, verdict: str | None) -> None:
    assert judge_change(change, floor) == verdict


@pytest.mark.parametrize(
    ("stereotype", "groups", "verdict"),
    [
        ((1, 0.5), [(1, 0.5)], "improved"),
        ((1, 0.5), [(1, -0.5)], "overshot"),
        ((1, 0.5), [(0.5, 1)], "improved"),
        ((1, 1), [(1, -0.5)], "overshot"),
        ((1, 1), [(0.5, 1)], "worse"),
        ((1, 1), [(1, 0.5)], "no reliable change"),
        ((0.5, 1), [(1, -0.5)], "worse"),
        (None, [(1, 0.5), (1, 1)], "improved"),
        (None, [(1, 0.5), (0.5, 1)], "worse"),
        (None, [(1, 0.5), (0.5, 1), (1, -0.5)], "overshot"),
        (None, [(1, 1)], "no reliable change"),
    ],
)
def test_the_groups_can_spoil_the_verdict(
    audit_with_bias: Audited, stereotype: tuple[float, float] | None, groups: list[tuple[float, float]], verdict: str
) -> None:
    def make_change(values: tuple[float, float], labels: dict[str, str]) -> Change:
        return _change(*values, p=1.0 if values[0] == values[1] else 0.001, labels=labels)

    changes = {
        f"{index}": make_change(values, {"contrast": "difference", "group": f"{index}"})
        for index, values in enumerate(groups)
    }
    if stereotype:
        changes["stereotype"] = make_change(stereotype, {"contrast": "stereotype"})
    template = _compare(audit_with_bias(3.0), audit_with_bias(0.5)).comparisons[0]
    judged = judge_comparison(template.model_copy(update={"changes": changes}))
    assert judged.verdict == verdict
    assert judged.headline_text


def test_german_agreement_cannot_be_read_as_bias(tmp_path: Path) -> None:
    def side(name: str, bias: float) -> unmask.Audit:
        noise = _draw_scores(1)
        scores = _build_items(lambda *cell: noise(*cell) / 9 + bias * (cell[0] == cell[3])).assign(language="de")
        corpora = [scores.assign(corpus=corpus) for corpus in ("bec-pro", "agreement-free")]
        return _analyse_items(pd.concat(corpora), tmp_path, name)

    plain, free = _compare(side("before", 3.0), side("after", 1.0)).comparisons
    assert (plain.corpus, plain.verdict) == ("bec-pro", "no reliable change")
    assert "cannot be read as bias" in plain.headline_text
    assert plain.changes["stereotype"].verdict == "improved"
    assert (free.corpus, free.verdict) == ("agreement-free", "improved")


# The compared models


def test_settings_are_those_of_the_audit(tmp_path: Path) -> None:
    model = PlantedModel([*build_rows("en"), *build_rows("en", "emotions")], bias=1.0)
    settings: tuple[dict[str, Any], ...] = ({}, {"corpora": ("emotions",), "seed": 7})
    for overrides in settings:
        options = audit_options().parse({"measures": "association", **overrides})
        assert options_of(run_audit(model, options).result) == options
    (tmp_path / "mine.csv").write_text("profession,group\nmason,male\nnurse,female\nplumber,male\nsecretary,female\n")
    options = audit_options().parse({"measures": "association", "professions": tmp_path / "mine.csv"})
    model = PlantedModel(build_rows("en", professions_file=tmp_path / "mine.csv"), bias=1.0)
    assert options_of(run_audit(model, options).result) == options


def test_models_are_audited_as_the_audit_was() -> None:
    rows = build_rows("en", "emotions")
    before = unmask.audit(PlantedModel(rows, bias=1.0), corpora="emotions")
    compared = _compare(before, OtherTastes(rows, bias=1.0))
    assert [comparison.corpus for comparison in compared.comparisons] == ["emotions"]
    assert list(compared.audits) == ["OtherTastes"]
    assert compared.result.after[0].audit is None


def test_where_a_model_comes_from_is_said(audit_with_bias: Audited) -> None:
    def side(bias: float, info: dict[str, str]) -> unmask.Audit:
        audit = audit_with_bias(bias)
        model = ModelInfo(name=info.pop("name"), architecture="x", **info)  # type: ignore[arg-type]
        return unmask.Audit(audit.result.model_copy(update={"model": model}), audit.items)

    before = side(3.0, {"name": "a/base", "weight_hash": "abc"})
    child = side(0.5, {"name": "child", "weight_hash": "def", "parent_weight_hash": "abc", "mitigation": "cds"})
    orphan = side(0.3, {"name": "orphan", "weight_hash": "012", "parent_weight_hash": "999"})
    result = unmask.compare(before, child, orphan, usefulness=False).result
    assert result.before.name == "base"
    assert result.after[0].lineage.startswith("Made from base by cds")
    assert result.after[1].lineage.startswith("Not made from base")
    assert {caveat.code for caveat in result.caveats} == {"not-made-from", "several-models"}
    assert "orphan" in next(caveat.text for caveat in result.caveats if caveat.code == "not-made-from")
    with pytest.raises(UnmaskError, match="child and child-2 have the same weights"):
        unmask.compare(child, side(0.3, {"name": "child", "weight_hash": "def"}), usefulness=False)


# Usefulness


def _usefulness(what: str, **figures: tuple[float, float, float]) -> Usefulness:
    changes = {
        name: UsefulnessChange(before=before, after=after, change=after - before, interval=None, p_value=p)
        for name, (before, after, p) in figures.items()
    }
    return Usefulness(what=what, after="x", data="d", data_hash="", n=500, figures=changes)


@pytest.mark.parametrize(
    ("usefulness", "pattern"),
    [
        ([], ""),
        (
            [_usefulness("masked words", loss=(3, 3.01, 0.4))],
            "^At no measurable cost: no clear change in how likely masked words are",
        ),
        (
            [_usefulness("masked words", loss=(3, 3.5, 0.001), accuracy=(0.4, 0.3, 0.001))],
            "At a heavy cost: .* 3.000 → 3.500",
        ),
        ([_usefulness("masked words", loss=(3, 3.01, 0.001))], "At a negligible cost"),
        ([_usefulness("masked words", loss=(3, 2.5, 0.001))], "^At no measurable cost: .* more likely"),
        (
            [_usefulness("stated gender", accuracy=(0.9, 0.85, 0.01), log_odds=(2, 1, 0.01))],
            "^At a cost: it partly unlearned .* 85.0%",
        ),
        (
            [
                _usefulness("masked words", loss=(3, 3.01, 0.4)),
                _usefulness("stated gender", accuracy=(0.9, 0.6, 0.001), log_odds=(2, 0.1, 0.001)),
            ],
            "^At a heavy cost: it unlearned much about .* 60.0%.* No clear change in how likely",
        ),
        ([_usefulness("stated gender", accuracy=(0.9, 0.89, 0.6), log_odds=(2, 1.9, 0.6))], "^At no measurable cost.$"),
        (
            [_usefulness("stated gender", accuracy=(0.9, 0.89, 0.6), log_odds=(2, 1.9, 0.01))],
            "^At no measurable cost.$",
        ),
        (
            [
                _usefulness("masked words", loss=(3, 2.9, 0.001)),
                _usefulness("stated gender", accuracy=(0.9, 0.89, 0.6), log_odds=(2, 1, 0.001)),
            ],
            "^At a cost: .* preferred less clearly than before .*\\. Masked words are more likely",
        ),
        (
            [_usefulness("sentiment", accuracy=(0.9, 0.8, 0.001))],
            "^At a cost: fine-tuned for sentiment, its accuracy fell: 0.900 → 0.800",
        ),
    ],
)
def test_the_cost_in_words(usefulness: list[Usefulness], pattern: str) -> None:
    assert pd.Series([judge_cost(usefulness)[1]]).str.contains(pattern).all()


def test_usefulness_is_measured_on_the_audited_weights(model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    """Models are scored if their weights are the audited ones; otherwise a caveat is added."""
    import torch
    import transformers

    words: dict[str, Any] = {"professions": tmp_path / "mine.csv", "templates": tmp_path / "templates.csv"}
    words["professions"].write_text("profession,group,workforce_share\nmason,male,3\nplumber,male,2\nnurse,female,93\n")
    words["templates"].write_text("template\n{person} is {a} {profession}.\n")
    text = tmp_path / "neutral.txt"
    text.write_text("".join(f"The train to city {number} leaves the station at noon.\n" for number in range(20)))
    base, other = model_folder("bert-uncased"), tmp_path / "other"
    shutil.copytree(base, other)
    model = transformers.AutoModelForMaskedLM.from_pretrained(base)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    model.save_pretrained(other)
    audits = [unmask.audit(str(folder), **words) for folder in (base, other)]
    compared = unmask.compare(*audits, text=text)
    assert [usefulness.what for usefulness in compared.result.usefulness] == ["masked words", "stated gender"]
    assert compared.result.usefulness[0].n == 20
    assert set(compared.items) == {"association", "masked-words", "stated-gender"}
    assert compared.comparisons[0].cost
    assert compared.result.caveats == []
    shutil.rmtree(other)
    loaded = unmask.compare(*reversed(audits), text=text).result
    assert loaded.caveats == []  # audits made in this process still hold their models
    folders = [audit.save(tmp_path / f"audit {number}") for number, audit in enumerate(audits)]
    gone = unmask.compare(*reversed(folders), text=text).result
    assert [caveat.code for caveat in gone.caveats] == ["usefulness-not-measured"]
    assert "other cannot be loaded again" in gone.caveats[0].text
    shutil.copytree(base, other)
    changed = unmask.compare(*reversed(folders), text=text).result
    assert "no longer those that were audited" in changed.caveats[0].text
    with pytest.raises(UnmaskError, match="the same weights"):
        unmask.compare(audits[0], str(other), text=text)


# The command


def test_the_command_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("before", 1), ("after", 2)):
        _analyse_items(_build_items(_draw_scores(seed)), tmp_path, name).save(tmp_path / "audits" / name)
    runner = CliRunner()
    first = runner.invoke(app, ["compare", "audits/before", "audits/after", "--json"])
    assert first.exit_code == 0, first.output
    output = json.loads(first.stdout)
    assert output["comparisons"][0]["verdict"] == "no reliable change"
    assert [side["name"] for side in output["after"]] == ["after"]
    assert output["caveats"][0]["text"] == "Usefulness not measured: before is known by its scores alone."
    folder = tmp_path / "comparisons" / "before-vs-after"
    assert load(folder, ComparisonResult).model_dump(mode="json") == output
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert set(read_items(folder / "items" / "association.jsonl.gz")) >= {"before", "after", "change", "model"}
    second = runner.invoke(app, ["compare", "audits/before", "audits/after", "--no-usefulness", "--out", "mine"])
    assert second.exit_code == 0, second.output
    assert "no reliable change" in second.stdout.lower()
    assert "mine/report.html" in second.stdout.replace("\n", "")
    for arguments, reason in (
        (["audits/before", "audits/before"], "given twice"),
        (["mine", "audits/before"], "is a comparison"),
        (["audits/before", "audits/after", "--out", "mine"], "exists"),
    ):
        refused = runner.invoke(app, ["compare", *arguments])
        assert isinstance(refused.exception, UnmaskError)
        assert reason in str(refused.exception)


def test_a_comparison_can_be_shown_and_kept(audit_with_bias: Audited, tmp_path: Path) -> None:
    compared = _compare(audit_with_bias(3.0), OtherTastes(build_rows("en"), bias=0.5))
    assert "improved" in compared.summary().lower()
    frame = compared.to_frame()
    assert list(frame["figure"]) == list(compared.comparisons[0].changes)
    assert frame["change"].notna().all()
    assert compared.report(tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    compared.save(tmp_path / "kept")
    assert load(tmp_path / "kept", ComparisonResult) == compared.result
    repeated = unmask.compare(audit_with_bias(3.0), tmp_path / "kept" / "audits" / "OtherTastes", usefulness=False)
    assert repeated.comparisons[0].changes["stereotype"].change.value == pytest.approx(
        compared.comparisons[0].changes["stereotype"].change.value
    )


def test_training_runs_are_one_model_after(audit_with_bias: Audited, tmp_path: Path) -> None:
    """The mean of the runs, with an interval that is wider where the runs differ; each run is shown, too."""
    base = audit_with_bias(1.0)
    runs = [audit_with_bias(bias) for bias in (0.9, 0.3, 0.0)]
    compared = _compare(base, *runs, against=True)
    together, *single = [one for one in compared.comparisons if one.name == "association"]
    assert (together.after, together.runs) == ("3 runs", [one.after for one in single])
    changes = [one.changes["stereotype"].change for one in single]
    combined = together.changes["stereotype"].change
    assert combined.value == pytest.approx(np.mean([change.value for change in changes]))
    assert combined.standard_error > max(change.standard_error for change in changes)  # type: ignore[operator,type-var]
    assert all(one.verdict == "improved" for one in single[1:])
    assert together.verdict == "no reliable change"
    assert "3 training runs: the figure “stereotype” was" in together.headline_text
    assert compared.verdict == together.full_verdict
    for change in (change.change for change in together.changes.values()):
        if change.interval is not None and change.p_adjusted is not None:
            assert (change.interval[0] > 0 or change.interval[1] < 0) == (change.p_adjusted < 0.05)
    page = compared.text()
    assert "Training runs of one method" in page
    assert "another training run may differ" in page  # said of each run alone
    assert unmask.load(compared.save(tmp_path / "out")).result == compared.result
    for form in ("md", "csv"):
        assert "3 runs" in compared.text(form)
    assert "3 runs" in compared.summary()
    with pytest.raises(UnmaskError, match="two or more"):
        _compare(base, runs[0], against=True)
