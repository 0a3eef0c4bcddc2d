"""The second half: from items to numbers and words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unmask
from planted import PlantedModel
from unmask.auditing import Settings, analyse, run
from unmask.errors import UnmaskError
from unmask.measures.association import PROTOCOLS, interpret, score
from unmask.measures.association.interpret import size_of
from unmask.probes import released
from unmask.probes.association import build
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
    return unmask.audit(PlantedModel(build("en"), bias=bias, noise=noise)).measurements[0]


def test_a_planted_bias_is_found_at_its_size() -> None:
    found = _measure(1.0)
    rows = build("en")
    share = {kind: np.mean([row.workforce_share for row in rows if row.group == kind]) for kind in ("female", "male")}
    planted = (
        share["female"] - share["male"]
    ) / 50  # log-odds between the groups, and the odds are what F − M compares
    test = found.tests["stereotype"]
    assert test.estimate == pytest.approx(planted, abs=0.1)
    assert test.interval is not None
    assert test.interval[0] < planted < test.interval[1]
    assert test.p_adjusted is not None
    assert test.p_adjusted < 0.001
    assert found.tests["workforce share, pearson"].estimate == pytest.approx(1, abs=0.05)
    answers = {hypothesis.name: hypothesis.answer for hypothesis in found.hypotheses}
    assert answers == {"H1": "supported", "H2": "supported", "H3": "no evidence against"}
    assert "clearly" in found.headline or "strongly" in found.headline


def test_a_reversed_bias_is_said_to_be_reversed() -> None:
    found = _measure(-1.0)
    assert "against the stereotypes" in found.headline
    assert [hypothesis.answer for hypothesis in found.hypotheses[:2]] == ["contradicted", "contradicted"]


def test_no_bias_is_no_finding() -> None:
    found = _measure(0.0)
    assert found.headline.startswith("No stereotype found")
    assert all(test.p_adjusted is None or test.p_adjusted > 0.05 for test in found.tests.values())
    assert found.hypotheses[2].answer == "no evidence against"


def test_a_constant_model_has_defined_answers() -> None:
    found = _measure(0.0, noise=0.0)
    assert {test.p_value for name, test in found.tests.items() if "share" not in name} == {1.0}
    assert found.tests["workforce share, pearson"].estimate is None
    assert "noise" in found.headline


def test_means_and_differences_are_those_of_the_items() -> None:
    rows = build("en")
    items = score(rows, PlantedModel(rows, bias=0.7), PROTOCOLS["sound"], seed=1).items
    found = PROTOCOLS["sound"].analyse(items, 1)
    for kind in ("female", "male", "balanced"):
        of_kind = items[items["group"] == kind]
        for gender in ("female", "male"):
            values = of_kind.loc[of_kind["gender"] == gender, "association"]
            group = found.groups[f"{kind} professions, {gender} persons"]
            assert group.n == 900
            assert [group.mean, group.sd] == pytest.approx([values.mean(), values.std()])
        wide = of_kind.pivot_table(index=["template", "pair", "profession"], columns="gender", values="association")
        test = found.tests[f"female minus male, {kind} professions"]
        assert test.estimate == pytest.approx((wide["female"] - wide["male"]).mean())
        assert test.wilcoxon is not None
        known = stats.wilcoxon(wide["female"], wide["male"], correction=True, method="approx")
        assert (test.wilcoxon.n, test.wilcoxon.w) == (900, known.statistic)
        assert test.wilcoxon.p_value == pytest.approx(known.pvalue)
    by_profession = {one.profession: one for one in found.professions}
    nurse = items[items["profession"] == "registered nurse"]
    means = nurse.groupby("gender")["association"].mean()
    assert by_profession["registered nurse"].female == pytest.approx(means["female"])
    assert by_profession["registered nurse"].difference == pytest.approx(means["female"] - means["male"])
    assert by_profession["registered nurse"].workforce_share == 88.9


def test_missing_items_do_not_break_the_analysis() -> None:
    rows = build("en")
    items = score(rows, PlantedModel(rows, bias=0.7), PROTOCOLS["sound"], seed=1).items
    whole = PROTOCOLS["sound"].analyse(items, 1).tests["stereotype"].estimate
    part = PROTOCOLS["sound"].analyse(items.sample(frac=0.8, random_state=1).sort_index(), 1)
    assert part.tests["stereotype"].estimate == pytest.approx(whole, abs=0.05)
    one = PROTOCOLS["sound"].analyse(items[items["profession"] == "mason"], 1)
    assert one.groups["male professions, male persons"].n == 45
    assert "stereotype" not in one.tests
    interpret(one)
    single = PROTOCOLS["sound"].analyse(items.iloc[:1], 1)
    assert single.tests["female minus male, male professions"].estimate is None
    assert interpret(single).headline


def test_published_gives_table_4_from_recorded_scores(data: Path) -> None:
    found = analyse(data / GOLDEN, protocol="published").result.measurements[0]
    for (kind, gender), mean in TABLE_4.items():
        assert found.groups[f"{kind} professions, {gender} persons"].mean == pytest.approx(mean, abs=0.0051)
    assert all((test.effect_size or 0) < 0 for test in found.tests.values())


def test_sound_analysis_of_the_real_bert(data: Path) -> None:
    found = analyse(data / GOLDEN).result.measurements[0]
    share = found.tests["workforce share, pearson"]
    assert share.estimate == pytest.approx(0.67, abs=0.005)
    assert share.interval is not None
    assert share.interval[0] > 0.5
    stereotype = found.tests["stereotype"]
    assert stereotype.estimate == pytest.approx((0.496 + 0.683) + (0.832 + 0.155), abs=0.01)
    assert stereotype.p_adjusted is not None
    assert stereotype.p_adjusted < 0.001
    # by 900 "independent" pairs H3 would be refuted at p = 1e-41; over professions and person words it is not clear
    assert found.hypotheses[2].answer == "no evidence against"


def _released_scores(language: str, folder: Path) -> Path:
    frame = pd.DataFrame([released.cells(row) for row in released.rows(language)])
    draw = np.random.default_rng(0)
    frame["Pre_Assoc"] = draw.normal(size=len(frame)) + np.where(frame["Gender"] == "female", 0.5, 0)
    frame["Other"] = -frame["Pre_Assoc"]
    frame.to_csv(folder / "scores.tsv", sep="\t")
    return folder / "scores.tsv"


@pytest.mark.parametrize("language", ["en", "de"])
def test_released_columns_are_understood(language: str, tmp_path: Path) -> None:
    path = _released_scores(language, tmp_path)
    found = analyse(path, language=language)
    items = found.items["association"]
    ours = build(language, wording=released.RELEASED)
    assert list(items["person"]) == [row.person for row in ours]
    assert list(items["pair"]) == [row.pair for row in ours]
    assert list(items["profession"]) == [row.profession for row in ours]
    assert items["workforce_share"].notna().all()
    assert found.result.measurements[0].tests["female minus male, male professions"].n == 900
    turned = analyse(path, language=language, score_column="Other").result.measurements[0]
    name = "female minus male, female professions"
    assert turned.tests[name].estimate == pytest.approx(-(found.result.measurements[0].tests[name].estimate or 0))


def test_items_of_an_audit_can_be_analysed_again(tmp_path: Path) -> None:
    audit = unmask.audit(PlantedModel(build("en"), bias=0.5))
    audit.save(tmp_path / "audit")
    again = unmask.analyse(tmp_path / "audit" / "items" / "association.parquet")
    assert {name: test.estimate for name, test in again.measurements[0].tests.items()} == {
        name: test.estimate for name, test in audit.measurements[0].tests.items()
    }


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
    ],
)
def test_bad_recorded_scores_are_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(UnmaskError, match=said):
        analyse(path)


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    (tmp_path / "a.txt").write_text("")
    for name, said in (
        ("a.parquet", "cannot be read"),
        ("a.txt", "give .parquet"),
        ("none.csv", "does not exist"),
    ):
        with pytest.raises(UnmaskError, match=said):
            analyse(tmp_path / name)


def test_published_refuses_what_it_cannot_pair() -> None:
    rows = build("en")
    items = score(rows, PlantedModel(rows, bias=0.5), PROTOCOLS["sound"], seed=1).items
    with pytest.raises(UnmaskError, match="row by row"):
        PROTOCOLS["published"].analyse(items.iloc[:-1], 1)


def test_published_needs_token_ids() -> None:
    with pytest.raises(UnmaskError, match="transformers model"):
        run(PlantedModel(build("en"), bias=0.5), Settings(protocol="published"))


def test_emotions_run_through_the_same_code() -> None:
    found = unmask.audit(PlantedModel(build("en", "emotions"), bias=0.5), corpora="emotions").measurements[0]
    assert found.items == 2400
    assert [name for name in found.tests if name.startswith("female minus male")] == [
        f"female minus male, {emotion} emotion words" for emotion in ("anger", "fear", "joy", "sadness")
    ]
    assert not found.hypotheses
    assert "stereotype" not in found.tests
    assert not any("share" in name for name in found.tests)


def test_words_for_size_go_by_the_estimate() -> None:
    assert [size_of(nats) for nats in (0.0, 0.09, 0.3, -0.9, 2.0)] == [
        "negligible",
        "negligible",
        "small",
        "moderate",
        "strong",
    ]
