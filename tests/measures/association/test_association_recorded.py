"""Recorded scores, in our columns and in the released ones."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unmask
from planted import PlantedModel
from released_rows import released_rows
from unmask.errors import UnmaskError
from unmask.measures.association.data import build_rows
from unmask.measures.association.details import AssociationDetails
from unmask.measures.registry import built_in

GOLDEN = "golden/becpro_en_bert_association.tsv"
TABLE_4 = {  # Bartl et al. 2020, Table 4, column pre
    ("balanced", "female"): -0.35,
    ("balanced", "male"): 0.05,
    ("female", "female"): 0.50,
    ("female", "male"): -0.68,
    ("male", "female"): -0.83,
    ("male", "male"): 0.16,
}


def test_published_gives_table_4_from_recorded_scores(data: Path) -> None:
    measurement = unmask.analyse(data / GOLDEN, protocol="published").result.measurements[0]
    for (group, gender), mean in TABLE_4.items():
        assert measurement.groups[f"{group} professions, {gender} persons"].value == pytest.approx(mean, abs=0.0051)
    assert all((test.effect_size or 0) < 0 for test in measurement.tests.values())


def test_sound_analysis_of_the_real_bert(data: Path) -> None:
    measurement = unmask.analyse(data / GOLDEN).result.measurements[0]
    share = measurement.tests["workforce share, pearson"]
    assert share.value == pytest.approx(0.67, abs=0.005)
    assert share.interval == pytest.approx((0.48, 0.79), abs=0.01)
    stereotype = measurement.tests["stereotype"]
    assert stereotype.value == pytest.approx((0.496 + 0.683) + (0.832 + 0.155), abs=0.01)
    assert stereotype.p_adjusted == pytest.approx(0.0016, abs=1e-4)
    assert np.exp(stereotype.interval or ()) == pytest.approx((2.7, 27.9), abs=0.05)
    # by 900 "independent" pairs H3 would be refuted at p = 1e-41; with professions, words and templates as samples, not
    details = measurement.read_details(AssociationDetails)
    assert details.hypotheses[2].answer == "no evidence against"
    assert [value.value for value in details.templates] == pytest.approx([2.37, 2.42, 1.29, 3.42, 1.34], abs=0.006)
    profession, pair, template = details.left_out
    assert (profession.low_without, pair.low_without) == ("housekeeper", "this man/this woman")
    assert [profession.low, template.low, template.high] == pytest.approx([1.99, 1.85, 2.39], abs=0.006)
    assert "good day at work" in template.low_without
    assert [details.alpha_pairs, details.alpha_templates] == pytest.approx([0.993, 0.952], abs=1e-3)


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
    audit = unmask.analyse(path, language=language)
    items = audit.items["association"]
    ours = build_rows(language, protocol="published")
    assert list(items["person"]) == [row.person for row in ours]
    assert list(items["pair"]) == [row.pair for row in ours]
    assert list(items["profession"]) == [row.profession for row in ours]
    assert items["workforce_share"].notna().all()
    assert audit.result.measurements[0].tests["female minus male, male professions"].n == 900
    negated = unmask.analyse(path, language=language, score_column="Other").result.measurements[0]
    name = "female minus male, female professions"
    assert negated.tests[name].value == pytest.approx(-(audit.result.measurements[0].tests[name].value or 0))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("without", [[], ["Template"]])
def test_the_order_of_released_rows_does_not_matter(language: str, without: list[str], tmp_path: Path) -> None:
    """Person words are paired by meaning; only `Frau`, which stands for two words, depends on the order."""
    path = _released_scores(language, tmp_path)
    frame = pd.read_csv(path, sep="\t", index_col=0).drop(columns=without)
    frame.to_csv(path, sep="\t")
    expected = unmask.analyse(path, language=language).result.measurements[0].tests
    if language == "en":
        frame = frame.sample(frac=1, random_state=3) if not without else frame.sort_values("Person", kind="stable")
    else:
        frame = frame.sort_values("Person", kind="stable", key=lambda words: words == "Bruder")
    frame.to_csv(path, sep="\t")
    tests = unmask.analyse(path, language=language).result.measurements[0].tests
    for name, test in expected.items():
        assert tests[name].value == pytest.approx(test.value, abs=1e-12)
        assert tests[name].p_value == pytest.approx(test.p_value, abs=1e-9)


def test_items_of_an_audit_can_be_analysed_again(tmp_path: Path) -> None:
    audit = unmask.audit(PlantedModel(build_rows("en"), bias=0.5))
    audit.save(tmp_path / "audit")
    expected = {name: test.value for name, test in audit.measurements[0].tests.items()}
    for source in ("audit", "audit/items/association.jsonl.gz"):
        analysed = unmask.analyse(tmp_path / source)
        assert {name: test.value for name, test in analysed.measurements[0].tests.items()} == expected
        assert analysed.result.model.name == "audit"
    with pytest.raises(UnmaskError, match="holds scores for 'en', not for 'de'"):
        unmask.analyse(tmp_path / "audit", language="de")
    frame = audit.items["association"].drop(columns=["pair", "corpus", "sentence", "form"])
    frame.to_csv(tmp_path / "least.csv", index=False)
    least = unmask.analyse(tmp_path / "least.csv").measurements[0]
    assert {name: test.value for name, test in least.tests.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "does not have the columns of a measure (association: template, person, gender"),
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
def test_bad_recorded_scores_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(UnmaskError, match=re.escape(message)):
        unmask.analyse(path)


def test_a_file_of_no_measure_is_told_the_columns_of_each(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UnmaskError) as error:
        unmask.analyse(tmp_path / "scores.csv")
    for measure in built_in():
        assert f"{measure.name}: {measure.recorded_columns}" in str(error.value)


def test_files_that_are_no_tables_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    (tmp_path / "a.txt").write_text("")
    for name, message in (
        ("a.parquet", "cannot be read"),
        ("a.txt", r"give \.jsonl, \.jsonl\.gz, \.csv, \.tsv, \.parquet"),
        ("none.csv", "does not exist"),
    ):
        with pytest.raises(UnmaskError, match=message):
            unmask.analyse(tmp_path / name)
