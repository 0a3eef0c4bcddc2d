"""The second half: from items to numbers and words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unmask
from planted import PlantedModel
from released_rows import released_rows
from unmask.errors import UnmaskError
from unmask.measures.association.analysis import analyse
from unmask.measures.association.data import build_rows
from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.interpretation import effect_label, interpret
from unmask.measures.association.scoring import score
from unmask.measures.base import Context
from unmask.results import Measurement

GOLDEN = "golden/becpro_en_bert_association.tsv"
TABLE_4 = {  # Bartl et al. 2020, Table 4, column pre
    ("balanced", "female"): -0.35,
    ("balanced", "male"): 0.05,
    ("female", "female"): 0.50,
    ("female", "male"): -0.68,
    ("male", "female"): -0.83,
    ("male", "male"): 0.16,
}


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


def test_means_and_differences_are_those_of_the_items() -> None:
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.7), rows, None, Context(seed=1)).items
    found = analyse(items, Context(seed=1))
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


def test_missing_items_do_not_break_the_analysis() -> None:
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.7), rows, None, Context(seed=1)).items
    whole = analyse(items, Context(seed=1)).tests["stereotype"].value
    part = analyse(items.sample(frac=0.8, random_state=1).sort_index(), Context(seed=1))
    assert part.tests["stereotype"].value == pytest.approx(whole, abs=0.05)
    one = analyse(items[items["profession"] == "mason"], Context(seed=1))
    assert one.groups["male professions, male persons"].n == 45
    assert "stereotype" not in one.tests
    interpret(one)
    single = analyse(items.iloc[:1], Context(seed=1))
    assert single.tests["female minus male, male professions"].value is None
    assert interpret(single).headline_text


def test_published_gives_table_4_from_recorded_scores(data: Path) -> None:
    found = unmask.analyse(data / GOLDEN, protocol="published").result.measurements[0]
    for (kind, gender), mean in TABLE_4.items():
        assert found.groups[f"{kind} professions, {gender} persons"].value == pytest.approx(mean, abs=0.0051)
    assert all((test.effect_size or 0) < 0 for test in found.tests.values())


def test_sound_analysis_of_the_real_bert(data: Path) -> None:
    found = unmask.analyse(data / GOLDEN).result.measurements[0]
    share = found.tests["workforce share, pearson"]
    assert share.value == pytest.approx(0.67, abs=0.005)
    assert share.interval is not None
    assert share.interval[0] > 0.5
    stereotype = found.tests["stereotype"]
    assert stereotype.value == pytest.approx((0.496 + 0.683) + (0.832 + 0.155), abs=0.01)
    assert stereotype.p_adjusted is not None
    assert stereotype.p_adjusted < 0.001
    # by 900 "independent" pairs H3 would be refuted at p = 1e-41; over professions and person words it is not clear
    assert found.read_details(AssociationDetails).hypotheses[2].answer == "no evidence against"


def _released_scores(language: str, folder: Path) -> Path:
    frame = pd.DataFrame(released_rows(language))
    draw = np.random.default_rng(0)
    frame["Pre_Assoc"] = draw.normal(size=len(frame)) + np.where(frame["Gender"] == "female", 0.5, 0)
    frame["Other"] = -frame["Pre_Assoc"]
    frame.to_csv(folder / "scores.tsv", sep="\t")
    return folder / "scores.tsv"


@pytest.mark.parametrize("language", ["en", "de"])
def test_released_columns_are_understood(language: str, tmp_path: Path) -> None:
    path = _released_scores(language, tmp_path)
    found = unmask.analyse(path, language=language)
    items = found.items["association"]
    ours = build_rows(language, protocol="published")
    assert list(items["person"]) == [row.person for row in ours]
    assert list(items["pair"]) == [row.pair for row in ours]
    assert list(items["profession"]) == [row.profession for row in ours]
    assert items["workforce_share"].notna().all()
    assert found.result.measurements[0].tests["female minus male, male professions"].n == 900
    turned = unmask.analyse(path, language=language, score_column="Other").result.measurements[0]
    name = "female minus male, female professions"
    assert turned.tests[name].value == pytest.approx(-(found.result.measurements[0].tests[name].value or 0))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("without", [[], ["Template"]])
def test_the_order_of_released_rows_does_not_matter(language: str, without: list[str], tmp_path: Path) -> None:
    """Person words are paired by what they are; only `Frau`, which stands for two, needs its order."""
    path = _released_scores(language, tmp_path)
    frame = pd.read_csv(path, sep="\t", index_col=0).drop(columns=without)
    frame.to_csv(path, sep="\t")
    expected = unmask.analyse(path, language=language).result.measurements[0].tests
    if language == "en":
        frame = frame.sample(frac=1, random_state=3) if not without else frame.sort_values("Person", kind="stable")
    else:
        frame = frame.sort_values("Person", kind="stable", key=lambda words: words == "Bruder")
    frame.to_csv(path, sep="\t")
    found = unmask.analyse(path, language=language).result.measurements[0].tests
    for name, test in expected.items():
        assert found[name].value == pytest.approx(test.value, abs=1e-12)
        assert found[name].p_value == pytest.approx(test.p_value, abs=1e-9)


def test_items_of_an_audit_can_be_analysed_again(tmp_path: Path) -> None:
    audit = unmask.audit(PlantedModel(build_rows("en"), bias=0.5))
    audit.save(tmp_path / "audit")
    of_audit = {name: test.value for name, test in audit.measurements[0].tests.items()}
    for place in ("audit", "audit/items/association.parquet"):
        again = unmask.analyse(tmp_path / place)
        assert {name: test.value for name, test in again.measurements[0].tests.items()} == of_audit
        assert again.result.model.name == "audit"
    with pytest.raises(UnmaskError, match="holds scores for 'en', not for 'de'"):
        unmask.analyse(tmp_path / "audit", language="de")
    frame = audit.items["association"].drop(columns=["pair", "corpus", "sentence", "form"])
    frame.to_csv(tmp_path / "least.csv", index=False)
    least = unmask.analyse(tmp_path / "least.csv").measurements[0]
    assert {name: test.value for name, test in least.tests.items()} == pytest.approx(of_audit)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "lacks the columns"),
        ("Template,Person,Gender,Profession,Prof_Gender\nt,he,male,nurse,female\n", "no column 'Pre_Assoc'"),
        (
            "Template,Person,Gender,Profession,Prof_Gender,Pre_Assoc\nt,he,male,nurse,female,much\n",
            "not numbers",
        ),
        ("Template,Person,Gender,Profession,Prof_Gender,Pre_Assoc\nt,he,man,nurse,female,1\n", "'man'"),
        ("Template,Person,Gender,Profession,Prof_Gender,Pre_Assoc\n", "no rows"),
        ("Person,Gender,Profession,Prof_Gender,Pre_Assoc\nhe,male,nurse,female,1\nhe,male,poet,x,inf\n", "row 2"),
        (
            "Person,Gender,Profession,Prof_Gender,Pre_Assoc\nqueen,female,nurse,female,1\n",
            "'queen' is not a known person word",
        ),
        ("Person,Gender,Profession,Prof_Gender,Pre_Assoc\nhe,male,,female,1\n", "'Profession' is empty in row 1"),
        (
            "Person,Gender,Profession,Prof_Gender,Pre_Assoc\nhe,male,nurse,female,1\nshe,female,nurse,male,1\n",
            "'nurse' is in the groups 'female', 'male'",
        ),
        (
            "Template,Person,Gender,Profession,Prof_Gender,Pre_Assoc\nt,he,male,nurse,f,1\nt,he,male,nurse,f,1\n",
            "occurs twice",
        ),
        (
            "template,person,gender,profession,group,workforce_share,association\nt,he,male,nurse,f,5000,1\n",
            "workforce_share 5000",
        ),
    ],
)
def test_bad_recorded_scores_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(UnmaskError, match=said):
        unmask.analyse(path)


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    (tmp_path / "a.txt").write_text("")
    for name, said in (
        ("a.parquet", "cannot be read"),
        ("a.txt", "give .parquet"),
        ("none.csv", "does not exist"),
    ):
        with pytest.raises(UnmaskError, match=said):
            unmask.analyse(tmp_path / name)


def test_published_refuses_what_it_cannot_pair() -> None:
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.5), rows, None, Context(seed=1)).items
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


def test_words_for_size_go_by_the_estimate() -> None:
    assert [effect_label(nats) for nats in (0.0, 0.09, 0.3, -0.9, 2.0)] == [
        "negligible",
        "negligible",
        "small",
        "moderate",
        "strong",
    ]


def _planted(noise_floor: float | None = None) -> Measurement:
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.7), rows, None, Context(seed=1)).items
    found = analyse(items, Context(seed=1))
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in found.tests.items()}
    return found.model_copy(update={"tests": tests, "noise_floor": noise_floor})


def test_an_effect_below_the_noise_is_called_noise_everywhere() -> None:
    loud, quiet = interpret(_planted(1e-6)), interpret(_planted(100.0))
    assert loud.read_details(AssociationDetails).hypotheses[0].answer == "supported"
    assert [one.answer for one in quiet.read_details(AssociationDetails).hypotheses] == [
        "not supported",
        "not supported",
        "no evidence against",
    ]
    assert "below the noise" in quiet.headline_text
    assert "follows women's share" in quiet.headline_text  # a correlation is not in nats
    other = quiet.model_copy(
        update={"tests": {name: one for name, one in quiet.tests.items() if name.startswith("female minus male")}}
    )
    assert "favours female or male person words clearly" in interpret(other).headline_text


def test_what_could_not_be_tested_is_not_called_compatible_with_nothing() -> None:
    rows = [row for row in build_rows("en") if row.profession in ("mason", "secretary", "judge")]
    found = unmask.audit(PlantedModel(build_rows("en"), bias=0.7)).items["association"]
    few = found[found["profession"].isin({row.profession for row in rows})]
    measured = interpret(analyse(few.reset_index(drop=True), Context(seed=1)))
    assert measured.headline_text.startswith("Not tested")
    assert "compatible" not in measured.headline_text
    assert "few-words" in {caveat.code for caveat in measured.caveats}


def test_effect_sizes_and_sign_flips_are_what_they_say() -> None:
    """Worked out again from the items, the long way."""
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.7), rows, None, Context(seed=1)).items
    draw = np.random.default_rng(5)
    items["association"] += draw.normal(scale=0.3, size=len(items))
    tests = analyse(items, Context(seed=1)).tests
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


def test_professions_carry_intervals_over_person_words() -> None:
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.7), rows, None, Context(seed=1)).items
    items["association"] += np.random.default_rng(5).normal(scale=0.3, size=len(items))
    one = analyse(items, Context(seed=1)).read_details(AssociationDetails).professions[0]
    mine = items[items["profession"] == one.profession].groupby(["pair", "gender"])["association"].mean().unstack()
    gaps = mine["female"] - mine["male"]
    expected = stats.t.interval(0.95, len(gaps) - 1, gaps.mean(), stats.sem(gaps))
    assert one.difference == pytest.approx(gaps.mean())
    assert one.difference_interval == pytest.approx(expected)


def test_caveats_say_what_applies() -> None:
    rows = build_rows("en")
    items = score(PlantedModel(rows, bias=0.7), rows, None, Context(seed=1)).items
    protocols = ("sound", "published")
    codes = {name: {one.code for one in analyse(items, Context(protocol=name)).caveats} for name in protocols}
    assert "published-defects" in codes["published"] - codes["sound"]
    items.loc[(items["profession"] == "mason") & (items["gender"] == "female"), "form"] = "masoness"
    forms = analyse(items, Context(seed=1))
    assert "gendered-forms" in {one.code for one in forms.caveats}
    assert "grammatical-agreement" not in {one.code for one in forms.caveats}
    german = analyse(items.assign(language="de", corpus="custom", form="Pflegekraft"), Context(seed=1))
    assert "grammatical-agreement" in {one.code for one in german.caveats}


def test_chance_alone_and_chance_among_many_are_told_apart() -> None:
    found = _planted()
    test = found.tests["stereotype"].model_copy(update={"p_value": 0.02, "p_adjusted": 0.1})
    headline = interpret(found.model_copy(update={"tests": {**found.tests, "stereotype": test}})).headline_text
    assert headline.startswith("No clear stereotype")
    assert "p = 0.020" in headline
    assert "p = 0.100 after correction" in headline
    assert "compatible" not in headline
