"""`unmask report`: HTML, Markdown and CSV from existing folders; rankings; items that exceed the page's limit."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sample_audits
import sample_comparisons
import unmask
from commands import unmask as run
from pages import EVIL, assert_loads_nothing, seen
from unmask.cli.report import ReportOptions, report_command
from unmask.errors import UnmaskError
from unmask.measures.association import AGREEMENT
from unmask.measures.inference.details import Inference
from unmask.measures.sections import build_comparison_sections, build_sections, item_tables, limits, study_limits
from unmask.report import markdown, rows
from unmask.report.comparison import comparison_page
from unmask.report.default_blocks import audit_page
from unmask.report.items import ItemColumn, ItemsTable, browse_items
from unmask.report.markdown import escape_markdown
from unmask.results import (
    AuditResult,
    Caveat,
    Competence,
    Estimate,
    MeasureFigure,
    Measurement,
    ModelFigures,
    Origin,
    storage,
)
from unmask.statistics.correlation import rank_ranges
from unmask.workflows import ranking
from unmask.workflows.agreement import correlate_figures


def command(folders: Sequence[Path], form: str, out: Path | None) -> None:
    """Run `unmask report`."""
    report_command(ReportOptions(folders=tuple(folders), format=form, out=out))


def _audit(name: str, estimate: float, half: float | None = 0.2, **changes: Any) -> AuditResult:
    bounds = None if half is None else (estimate - half, estimate + half)
    test = Estimate(
        labels={"contrast": "stereotype"},
        question="Is there one?",
        n=90,
        value=estimate,
        interval=bounds,
        statistic=1.0,
        statistic_name="t",
        p_value=0.01,
    )
    return sample_audits.sample_audit(sample_audits.sound_measurement(tests={"stereotype": test}, **changes), name=name)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audits of three models, and a comparison."""
    root = tmp_path_factory.mktemp("audits")
    for name, estimate in (("one", 1.5), ("two", -0.3), ("three", 1.45)):
        content = storage.Folder(_audit(name, estimate), sample_audits.sample_items(), {"report.html": "old"})
        storage.save(root / name, content)
    result = sample_comparisons.comparison_result(sample_comparisons.sample_comparison())
    storage.save(root / "before-after", storage.Folder(result))
    return root


def test_a_folder_s_report_is_written_anew(folders: Path) -> None:
    done = run("report", "one", cwd=folders)
    assert (done.returncode, done.stdout) == (0, "Report: one/report.html\n")
    page = (folders / "one" / "report.html").read_text(encoding="utf-8")
    assert_loads_nothing(page)
    assert 'href="items/association.jsonl.gz"' in page
    assert "All 80 items" in seen(page)
    assert 'href="items' not in unmask.load(folders / "one").text()


def test_csv_has_every_test_and_group(folders: Path, tmp_path: Path) -> None:
    command([folders / "one"], "csv", tmp_path / "one.csv")
    with (tmp_path / "one.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["test"] + ["group"] * 6
    test = rows[0]
    assert (test["name"], float(test["value"]), float(test["low"]), test["p_value"]) == (
        "stereotype",
        1.5,
        1.3,
        "0.01",
    )
    assert float(rows[1]["value"]) == -1.234


def test_a_name_is_no_formula_in_csv_and_a_number_stays() -> None:
    text = rows.to_csv(rows.audit_rows(_audit('=cmd|" /C calc"', -1.5)))
    row = next(csv.DictReader(text.splitlines()))
    assert (row["model"], row["value"]) == ('\'=cmd|" /C calc"', "-1.5")
    ranked = list(
        csv.DictReader(rows.to_csv(ranking.ranking_rows([_audit("@one", 1.0), _audit("two", -2.0)])).splitlines())
    )
    assert [(row["model"], row["value"]) for row in ranked] == [("two", "-2.0"), ("'@one", "1.0")]


def test_markdown_has_the_facts_and_no_markup_of_others(folders: Path, tmp_path: Path) -> None:
    unmask.load(folders / "one").report(tmp_path / "one.md")
    text = (tmp_path / "one.md").read_text(encoding="utf-8")
    assert "| Stereotype (Is there one?) | 90 | +1.500 [1.300, 1.700] | t = 1 | 0.010 | – |" in text
    for fact in (
        "# Gender bias audit: one",
        "The model links people",
        "made from templates",
        "binary",
        "Bartl",
        "ab12",
    ):
        assert fact in text
    audit = _audit(f"{EVIL} | [a](b)\n# c", 1.0)
    hostile = markdown.page_markdown(audit_page(audit, build_sections(audit.measurements)))
    assert hostile.startswith('# Gender bias audit: &lt;script>alert("x")&lt;/script>&lt;img src=x')
    assert "\\](b) \\# c\n" in hostile
    assert escape_markdown("p < 0.05 > 0, R&D &lt; <b> [a]: b") == "p < 0.05 > 0, R&amp;D &amp;lt; &lt;b> [a\\]: b"


def test_markdown_names_the_package_of_a_plug_in() -> None:
    origin = Origin(package="their-package", version="1.0", about="What is there.", citation="Them (2020)")
    audit = sample_audits.sample_audit(
        sample_audits.sound_measurement(name="theirs", plugin=origin), sample_audits.sound_measurement()
    )
    text = markdown.page_markdown(audit_page(audit, build_sections(audit.measurements)))
    assert "540 items · measure of the package their-package 1.0" in text
    method = text[text.index("## Method") :]
    assert method.index("### Theirs") < method.index("What is there. After Them (2020).") < method.index("Bartl")


def test_a_comparison_s_report_is_written_anew(folders: Path) -> None:
    for form, fact in (
        ("html", "Gender bias before and after"),
        ("md", "| Figure | n | Before |"),
        ("csv", "before_model,"),
    ):
        command([folders / "before-after"], form, None)
        assert fact in (folders / "before-after" / f"report.{form}").read_text(encoding="utf-8")


def test_markdown_and_csv_of_a_comparison_have_its_cost_and_whether_measures_agree() -> None:
    across = correlate_figures(
        [ModelFigures(model=f"m{number}", figures={"a": number, "b": number * number}) for number in range(8)],
        [MeasureFigure(name=name, measure=name, extrinsic=False, what="") for name in "ab"],
    )
    result = sample_comparisons.comparison_result(sample_comparisons.sample_comparison(), agreement=across)
    text = markdown.page_markdown(comparison_page(result, build_comparison_sections(result)))
    cost = "| Masked words, loss (neutral sentences) | 312 | 2.311 | 2.352 | +0.041 [0.021, 0.061] | < 0.001 |"
    for fact in (cost, "| a, b | 8 | 0.96 [", "| m2 | 2.000 | 4.000 |", across.headline):
        assert fact in text
    table = list(csv.DictReader(rows.to_csv(rows.comparison_rows(result)).splitlines()))
    (loss,) = (row for row in table if row["name"] == "loss")
    assert [loss[name] for name in ("kind", "n", "change", "low", "correlation")] == [
        *("usefulness", "312", "0.0411", "0.0212", "")
    ]
    correlations = {row["name"]: row["correlation"] for row in table if row["kind"] == "agreement"}
    assert {name: float(value) for name, value in correlations.items()} == {
        "a, b: pearson": pytest.approx(0.9615, abs=1e-4),
        "a, b: spearman": pytest.approx(1),
    }
    assert table[0]["kind"] == "change"


def test_a_ranking_of_nothing_in_common_says_so(
    folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    emotions_audit = _audit("other", 1.0, corpus="emotions")
    storage.save(tmp_path / "other", storage.Folder(emotions_audit, sample_audits.sample_items()))
    command([folders / "one", tmp_path / "other"], "csv", tmp_path / "none.csv")
    assert (
        (tmp_path / "none.csv").read_text(encoding="utf-8").startswith("measure,language,corpus,protocol,variant,test")
    )
    assert "No two of these models were measured alike" in capsys.readouterr().err
    assert "No two of these models were measured alike" in unmask.ranking([folders / "one", tmp_path / "other"], "md")


def test_files_of_recorded_scores_are_not_said_to_ask_other_items() -> None:
    audits = [_audit("a", 1.0), _audit("b", 2.0, data_hash="the file")]
    assert not ranking.rankings(audits)[0].alike
    audits[1] = audits[1].model_copy(update={"configuration": {"items": "scores.csv"}})
    assert ranking.rankings(audits)[0].alike


def test_what_is_not_ranked_is_told_apart_by_protocol() -> None:
    audits = [_audit("a", 1.0), _audit("b", 2.0), _audit("c", 3.0, protocol="published")]
    line = "Association: BEC-Pro, English, published protocol (c): there is no other model to rank it with"
    assert ranking.not_ranked(audits) == [line]


def test_several_audits_are_ranked_with_the_ranks_that_intervals_allow(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [folders / name for name in ("one", "two", "three")]
    monkeypatch.chdir(tmp_path)
    command(names, "html", None)
    page = (tmp_path / "ranking.html").read_text(encoding="utf-8")
    assert_loads_nothing(page)
    text = seen(page)
    assert "one 1 to 2 1.50 [1.30, 1.70]" in text
    assert "three 1 to 2 1.45 [1.25, 1.65]" in text
    assert "two 3 −0.30 [−0.50, −0.10]" in text
    assert "No single model is clearly the most biased: one or three." in text
    assert "10,000 draws" in text
    with pytest.raises(UnmaskError, match=r"ranking\.html exists"):
        command(names, "html", None)
    audits = [unmask.load(name) for name in names]
    frame = pd.DataFrame(csv.DictReader(unmask.ranking(audits, "csv").splitlines()))
    assert frame[["model", "first_rank", "last_rank"]].to_numpy().tolist() == [
        ["one", "1", "2"],
        ["three", "1", "2"],
        ["two", "3", "3"],
    ]
    assert "| two | 3 | −0.30 [−0.50, −0.10] | " in unmask.ranking(audits, "md")


@pytest.mark.parametrize(
    ("names", "form", "out", "message"),
    [
        (
            ["nothing"],
            "html",
            None,
            "nothing has no result.json; give a folder that unmask audit or unmask compare has written",
        ),
        (["one"], "pdf", None, "format is 'pdf'; choose from: html, md, csv"),
        (["one", "one"], "md", None, "a folder was given twice; give each once"),
        (["one", "before-after"], "md", None, "before-after is a comparison and cannot be ranked; give audits"),
        (["one"], "md", Path("two"), "two exists; give another name with --out, or remove it first"),
    ],
)
def test_bad_input_is_one_line(
    folders: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], form: str, out: Path | None, message: str
) -> None:
    monkeypatch.chdir(folders)
    with pytest.raises(UnmaskError) as caught:
        command([Path(name) for name in names], form, out)
    assert str(caught.value).startswith(message)


def test_items_that_cannot_be_read_are_named(folders: Path, tmp_path: Path) -> None:
    (tmp_path / "items").mkdir()
    (tmp_path / "result.json").write_text((folders / "one" / "result.json").read_text(encoding="utf-8"))
    (tmp_path / "items" / "association.jsonl.gz").write_text("no")
    with pytest.raises(UnmaskError, match=r"association\.jsonl\.gz cannot be read"):
        unmask.load(tmp_path)


def test_a_result_in_another_encoding_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes("{}".encode("utf-16"))
    with pytest.raises(UnmaskError, match=r"result\.json is cut off, or no JSON"):
        command([tmp_path], "html", None)


def test_ranges_of_ranks_follow_from_intervals() -> None:
    def around(value: float, half: float) -> tuple[float, float]:
        return value - half, value + half

    values = [3.0, -2.0, 1.0]
    assert rank_ranges(values, [around(value, 0.1) for value in values]) == [(1, 1), (2, 2), (3, 3)]
    assert rank_ranges(values, [around(value, 9.0) for value in values]) == [(1, 3)] * 3
    assert rank_ranges([1.0, 1.0], [(1.0, 1.0), (1.0, 1.0)]) == [(1, 2), (1, 2)]
    # two normal estimates that are d apart swap ranks in Φ(−d/(σ√2)) of all draws: 2.5 % where d = 1.96 · √2 σ
    half = 1.959964
    apart = half * 2**0.5
    assert rank_ranges([20 + apart * 1.1, 20], [around(20 + apart * 1.1, half), around(20, half)]) == [(1, 1), (2, 2)]
    assert rank_ranges([20 + apart * 0.9, 20], [around(20 + apart * 0.9, half), around(20, half)]) == [(1, 2), (1, 2)]
    assert rank_ranges([], []) == []


def test_only_what_is_alike_is_ranked() -> None:
    def ranked(*audits: AuditResult) -> list[ranking.MeasureRanking]:
        return ranking.rankings(audits)

    assert ranked(_audit("a", 1.0), _audit("b", 0.5, corpus="emotions")) == []
    (by_name,) = ranked(_audit("a", 1.0), _audit("a", 2.0, data_hash="other"))
    assert [model.name for model in by_name.models] == ["a-2", "a"]
    assert not by_name.alike
    (bare,) = ranked(_audit("a", 1.0, None), _audit("b", 0.5, None))
    assert [model.rank for model in bare.models] == ["–", "–"]
    assert bare.sentence == "Without intervals, nothing can be said of how sure this order is."
    (sure,) = ranked(_audit("a", 1.0), _audit("b", 0.1))
    assert sure.sentence.startswith("a is the most biased here")


def test_a_wide_interval_around_zero_is_not_called_the_most_biased() -> None:
    (measure_ranking,) = ranking.rankings([_audit("wide", 0.5, 5.0), _audit("narrow", 0.05, 0.02)])
    assert measure_ranking.models[0].rank == "1"
    sentence = "No single model is clearly the most biased: wide comes first, but its interval includes zero."
    assert measure_ranking.sentence == sentence


def test_of_many_models_alike_a_few_are_named() -> None:
    few, some, many = (
        ranking.rankings([_audit(f"m{number}", 1.0) for number in range(size)])[0] for size in (6, 45, 60)
    )
    assert few.sentence == "No single model is clearly the most biased: m0, m1, m2 or one of 3 others."
    assert some.sentence.startswith("No single model is clearly the most biased")
    assert "none comes first in more than a few draws, and m" in many.sentence
    assert len(many.sentence) < 160


def _geometry(name: str, stereotype: float | None) -> AuditResult:
    """An audit without a stereotype test, if its direction was removed, but with SEAT."""
    test = _audit(name, stereotype or 0.0, 0.1).measurements[0].tests["stereotype"]
    test = test if stereotype is not None else test.model_copy(update={"value": None, "interval": None})
    seat = sample_audits.sample_test({"test": "SEAT 6"}, 1.33, effect_size=1.33, effect_size_name="d")
    tests = {"stereotype": test, "SEAT 6": seat}
    return sample_audits.sample_audit(
        sample_audits.sound_measurement(name="geometry", corpus="nouns", tests=tests), name=name
    )


def test_models_are_ranked_by_the_same_test_or_named_as_not_ranked() -> None:
    audits = [_geometry("as it was", 0.45), _geometry("another", 0.2), _geometry("taken out", None)]
    (by_stereotype,) = ranking.rankings(audits)
    assert [model.name for model in by_stereotype.models] == ["as it was", "another"]
    assert by_stereotype.unit == "stereotype of professions, r"
    line = "Geometry: frequent nouns, English (taken out): there is no estimate of its stereotype"
    assert ranking.not_ranked(audits) == [line]
    assert line in seen(ranking.render_ranking(audits))
    assert f"- {line}.\n" in ranking.render_markdown(audits)
    (by_seat,) = ranking.rankings([_geometry("a", None), _geometry("b", None)])
    assert (by_seat.test, by_seat.unit) == ("SEAT 6", "SEAT 6, d")


def _inference(name: str, entailed: float) -> AuditResult:
    check = Competence(task="infer", n=9, value=entailed, chance=1 / 3, least=0.8)
    details = Inference(sets=[], by_type=[], occupations=[], templates=1)
    tests = _audit(name, entailed).measurements[0].tests
    return sample_audits.sample_audit(
        sample_audits.sound_measurement(
            name="inference", corpus="sentences", tests=tests, details=details.model_dump(), competence=[check]
        ),
        name=name,
    )


def test_what_cannot_be_read_as_bias_is_not_ranked_and_the_page_says_why() -> None:
    agreement = [Caveat(code=AGREEMENT, text="Words agree.")]
    audits = [_inference("a", 0.9), _inference("b", 0.95), _inference("c", 0.1)]
    audits += [_audit("d", 1.0, language="de", caveats=agreement), _audit("e", 2.0, language="de", caveats=agreement)]
    (measure_ranking,) = ranking.rankings(audits)
    assert [model.name for model in measure_ranking.models] == ["b", "a"]
    lines = [
        "Inference: the built-in sentences, English (c): the model cannot reliably infer (right in"
        " 10\u00a0% of 9; guessing gives 33\u00a0%, and 80\u00a0% are needed)",
        "Association: BEC-Pro, German (d, e): grammatical agreement drowns the measure; judge the corpus without"
        " agreement",
    ]
    assert ranking.not_ranked(audits) == lines
    page = seen(ranking.render_ranking(audits))
    assert all(line.replace("\u00a0", " ") in page.replace("\u00a0", " ") for line in lines)


def test_too_many_items_are_a_sample_the_most_extreme_first() -> None:
    count = 20_000
    frame = pd.DataFrame(
        {
            "sentence": [f"Sentence {index}." for index in range(count)],
            "association": [index / count * (-1) ** index for index in range(count)],
            "language": "en",
            "template": [[index] for index in range(count)],
        }
    )
    columns = [ItemColumn("sentence", spoken=True), ItemColumn("association")]
    (table,) = browse_items([ItemsTable("association", "Association", frame, columns, "association")], room=200_000)
    data = json.loads(table["json"])
    assert len(table["json"].encode()) <= 200_000
    assert 1000 < data["size"] == table["size"] < table["total"] == count
    sentences, scores = data["columns"]
    assert (sentences["language"], sentences["head"]) == ("en", "sentence")
    ordered = [sentences["texts"][index] for index in sentences["at"]]
    half = table["size"] // 2
    assert ordered[:half] == [f"Sentence {count - 1 - index}." for index in range(half)]
    sampled = [int(text[9:-1]) for text in ordered[half:]]
    assert len(set(sampled)) == len(sampled)
    assert min(sampled) < count / 20
    assert scores["numbers"][0] == pytest.approx(-0.99995)
    assert table["first"][0] == ["Sentence 19999.", "−1.000"]


def test_items_of_an_unknown_measure_are_shown_whole_and_missing_values_are_empty() -> None:
    frame = pd.DataFrame({"who": ["<a>", None, "b"], "ok": [True, False, True], "score": [0.5, float("nan"), -2.0]})
    (table,) = browse_items(item_tables({"my-measure": frame, "none": frame[:0]}))
    assert "<" not in table["json"]
    assert table["title"] == "My measure"
    assert table["first"] == [["b", "yes", "−2.000"], ["<a>", "yes", "0.500"], ["", "no", "–"]]


def test_columns_of_lists_are_left_out() -> None:
    frame = pd.DataFrame({"who": ["a", "b"], "score": [0.5, 2.0], "words": [["x"], ["y", "z"]]})
    frame = frame.assign(
        array=pd.Series([np.array(["x"]), np.array([])]),
        pair=pd.Series([("x", []), ("y", [])]),
        set=pd.Series([{"x"}, {"y"}]),
    )
    (table,) = browse_items(item_tables({"mine": frame}))
    assert [column["name"] for column in table["columns"]] == ["who", "score"]


def test_what_is_not_said_depends_on_what_was_measured() -> None:
    def limits_text(*measurements: Measurement) -> str:
        return " ".join(limits(measurements))

    assert "(association 2e-06 nats)" in limits_text(sample_audits.sound_measurement(noise_floor=2e-6))
    assert "noise floor" not in limits_text(sample_audits.sound_measurement(noise_floor=None))
    assert "covers German only" in limits_text(sample_audits.sound_measurement(language="de"))
    assert "templates" not in limits_text(sample_audits.sound_measurement(name="sentiment"))
    assert "not a sample of all models" in " ".join(study_limits(["sentiment"], ["en"]))
