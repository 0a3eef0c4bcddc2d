"""Agreement between measures: correlations over models, and figures that cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unmask
from pages import seen
from report_blocks import comparison_text, find_table
from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.measures.geometry import Geometry, GeometryChange, WordTest, WordTestChange
from unmask.measures.sections import build_comparison_sections
from unmask.options import LoadOptions
from unmask.report.comparison import agreement_blocks, comparison_page, pearson_matrix
from unmask.report.html import render_page, shade
from unmask.results import Agreement, Caveat, Comparison, Estimate, MeasureFigure, Measurement, ModelFigures
from unmask.statistics.corrections import holm
from unmask.statistics.proportions import wilson_interval
from unmask.workflows.agreement import ModelEvidence, correlate_figures, explain_failure, gather_evidence
from unmask.workflows.compared_models import Subject

VALUES: dict[str, list[float | None]] = {
    "a": [0.1, 0.4, 0.2, 0.9, 0.5, 0.3, 0.7, 0.6, 0.8],
    "b": [1.0, 3.0, 2.5, 8.0, 4.0, 2.0, 7.0, 5.0, 6.5],
    "c": [0.3, -0.1, 0.2, 0.0, 0.4, -0.2, 0.1, 0.5, None],
}


def _agreement(values: dict[str, list[float | None]], extrinsic: str = "c") -> Agreement:
    models = [
        ModelFigures(model=f"m{index}", figures={name: column[index] for name, column in values.items()})
        for index in range(len(next(iter(values.values()))))
    ]
    figures = [MeasureFigure(name=name, measure=name, extrinsic=name == extrinsic, what="") for name in values]
    return correlate_figures(models, figures)


def test_the_matrix_is_that_of_scipy() -> None:
    agreement = _agreement(VALUES)
    assert [(correlation.first, correlation.second, correlation.n) for correlation in agreement.correlations] == [
        ("a", "b", 9),
        ("a", "c", 8),
        ("b", "c", 8),
    ]
    p = []
    for correlation in agreement.correlations:
        x, y = (
            np.array(VALUES[name][: correlation.n], dtype=float) for name in (correlation.first, correlation.second)
        )
        expected = stats.pearsonr(x, y)
        assert correlation.pearson == pytest.approx(expected.statistic)
        assert correlation.pearson_p_value == pytest.approx(expected.pvalue)
        assert correlation.pearson_interval == pytest.approx(tuple(expected.confidence_interval()))
        assert correlation.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
        p.append(expected.pvalue)
    assert [correlation.p_adjusted for correlation in agreement.correlations] == pytest.approx(holm(p))
    assert agreement.correlation("b", "a") == agreement.correlations[0]
    clear = agreement.correlations[0].p_adjusted or 1.0
    assert clear < 0.05
    assert "1 of 3 pairs of figures correlate beyond chance after correction: a and b (r = " in agreement.headline
    assert "(2 pairs)" in agreement.headline  # a with c and b with c; c is a figure of a classifier


def test_what_is_the_same_for_all_or_of_too_few_models_is_left_out() -> None:
    agreement = _agreement(VALUES | {"same": [0.7] * 9, "few": [*range(7), None, None], "none": [None] * 9})
    assert agreement.left_out == {"same": "the same for all models", "few": "7 models have it, and 8 are needed"}
    assert [figure.name for figure in agreement.figures] == ["a", "b", "c", "same", "few"]
    assert agreement.correlations == _agreement(VALUES).correlations


def test_two_figures_with_too_few_models_in_common_have_no_correlation() -> None:
    agreement = _agreement({"a": [1, 2, 4, 3, 5, 7, 6, 9, None], "b": [None, 2, 5, 1, 7, 3, 8, 4, 6]})
    (correlation,) = agreement.correlations
    assert (correlation.n, correlation.pearson, correlation.spearman, correlation.p_adjusted) == (7, None, None, None)
    assert agreement.headline == "Over 9 models no two figures can be compared."


def test_seven_models_have_nothing_to_compare() -> None:
    agreement = _agreement({name: column[:7] for name, column in VALUES.items()})
    assert set(agreement.left_out) == set(VALUES)
    assert agreement.correlations == []


def test_a_perfect_agreement_has_no_interval_but_an_exact_p() -> None:
    correlation = _agreement({"a": list(range(8)), "b": [2.0 * value for value in range(8)]}).correlations[0]
    assert correlation.pearson == pytest.approx(1.0)
    assert correlation.pearson_interval is None
    assert correlation.pearson_p_value == pytest.approx(2 / 40320)


# Figures


def _measurement(name: str, **changes: Any) -> Measurement:
    defaults: dict[str, Any] = {"name": name, "language": "en", "corpus": "x", "protocol": "sound", "headline": []}
    return Measurement(**(defaults | {"items": 9, "groups": {}, "tests": {}} | changes))


def _test(estimate: float, **labels: str) -> Estimate:
    fields: dict[str, Any] = {"interval": None, "statistic": None, "statistic_name": "", "p_value": None}
    return Estimate(labels=labels, question="", n=9, value=estimate, **fields)


def _read_figures(evidence: ModelEvidence) -> dict[str, float]:
    return {name: value for name, value in evidence.figures().items() if value is not None}


def test_figures_are_read_off_the_measurements() -> None:
    weat = {f"WEAT {number}": _test(float(number), contrast="association", test=f"WEAT {number}") for number in (1, 2)}
    groups = {
        name: Estimate(labels={}, n=9, value=mean)
        for name, mean in (("total bias, changed texts", 0.01), ("absolute bias, changed texts", 0.04))
    }
    measurements = [
        _measurement("association", tests={"stereotype": _test(0.4)}),
        _measurement("geometry", tests={"stereotype": _test(0.6), **weat}),
        _measurement("crows-pairs", groups={"all pairs": Estimate(labels={}, n=9, value=0.55)}),
        _measurement("sentiment", groups=groups, tests={"bias over words": _test(0.02)}),
        _measurement(
            "inference", groups={"NLI-CoAL": Estimate(labels={}, n=9, value=0.3)}, tests={"stereotype": _test(0.2)}
        ),
    ]
    change = GeometryChange(
        words=9, tests=[WordTestChange(name="classification", n=9, before=0.99, after=0.8, own=0.9)]
    )
    neighbours = WordTest(name="neighbours", words="own", removed=False, n=9, value=0.7)
    details = Geometry(vectors="", direction="", likeness=0, dimensions=2, words=9, male_share=0.5, tests=[neighbours])
    measurements[1] = measurements[1].model_copy(update={"details": details.model_dump()})
    comparison = Comparison(
        name="geometry",
        language="en",
        corpus="nouns",
        protocol="sound",
        before="b",
        after="m",
        verdict="no reliable change",
        headline=[],
        items=9,
        changes={},
        details=change.model_dump(),
    )
    expected = {"association": 0.4, "professions": 0.6, "told apart": 0.8, "WEAT/SEAT": 1.5, "CrowS-Pairs": 0.55}
    expected |= {"sentiment": 0.02, "sentiment, mean": 0.01, "sentiment, size": 0.04, "NLI-CoAL": 0.3, "inference": 0.2}
    assert _read_figures(ModelEvidence("m", measurements, [comparison])) == pytest.approx(expected)
    before = expected | {"neighbours": 0.7}
    del before["told apart"]
    assert _read_figures(ModelEvidence("m", measurements)) == pytest.approx(before)
    assert _read_figures(ModelEvidence("m", [])) == {}


def test_what_grammatical_agreement_drowns_is_no_figure() -> None:
    drowned = _measurement(
        "association", tests={"stereotype": _test(2.0)}, caveats=[Caveat(code="grammatical-agreement", text="")]
    )
    free = _measurement("association", tests={"stereotype": _test(0.3)})
    assert _read_figures(ModelEvidence("m", [drowned, free])) == {"association": 0.3}


# In a comparison


def _audit(folder: Path, seed: int) -> unmask.Audit:
    """Analyse random recorded associations that depend on the seed."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "template": "t",
            "person": gender,
            "gender": gender,
            "profession": f"{group} {number}",
            "group": group,
            "pair": 0,
        }
        for group in ("female", "male")
        for number in range(4)
        for gender in ("female", "male")
    ]
    frame = pd.DataFrame(rows).assign(language="en", corpus="recorded", association=rng.normal(size=len(rows)))
    frame.to_csv(folder / f"m{seed}.csv", index=False)
    return unmask.analyse(folder / f"m{seed}.csv")


def test_eight_models_are_compared_across_measures_and_seven_are_not(tmp_path: Path) -> None:
    audits = [_audit(tmp_path, seed) for seed in range(8)]
    assert unmask.compare(*audits[:2], usefulness=False).agreement is None
    refused = unmask.compare(*audits[:7], usefulness=False)
    assert refused.agreement is not None
    assert refused.agreement.correlations == []
    sentence = (
        "Whether the measures agree was not tested: over 7 models, unrelated figures correlate strongly by chance. It"
        " takes 8 models."
    )
    assert sentence in seen(refused.text())
    assert sentence in " ".join(refused.summary().split())
    assert "crows-pairs-not-measured" not in [caveat.code for caveat in refused.result.caveats]
    compared = unmask.compare(*audits, usefulness=False)
    agreement = compared.agreement
    assert agreement is not None
    assert [model.model for model in agreement.models] == [f"m{seed}" for seed in range(8)]
    assert [figure.name for figure in agreement.figures] == ["association"]
    expected = [audit.measurements[0].tests["stereotype"].value for audit in audits]
    assert [model.figures["association"] for model in agreement.models] == expected
    codes = [caveat.code for caveat in compared.result.caveats]
    assert "few-models" in codes
    assert "crows-pairs-not-measured" in codes
    assert "no two figures can be compared" in seen(compared.text())


def test_a_matrix_is_shown_in_the_page_and_in_the_terminal(tmp_path: Path) -> None:
    result = unmask.compare(*(_audit(tmp_path, seed) for seed in range(2)), usefulness=False).result
    result = result.model_copy(update={"agreement": _agreement(VALUES | {"same": [0.7] * 9})})
    sections = build_comparison_sections(result)
    page = seen(render_page(comparison_page(result, sections)))
    assert "Do the measures agree?" in page
    assert "Same is not compared: the same for all models." in page
    text = " ".join(comparison_text(result, sections, 80).split())
    r = (result.agreement or _agreement(VALUES)).correlations[0].pearson
    assert f"2 b {r:.2f}" in text
    matrix = find_table(agreement_blocks(_agreement(VALUES)), "Correlations between measures")
    first, second, third = matrix.rows[:3]
    assert [cell.text for cell in second][1:3] == [f"{r:.2f}", ""]
    assert second[1].shade == r
    assert shade(first[2].shade or 0).startswith("rgb(27 158 119")
    assert shade(third[1].shade or 0).startswith("rgb(217 95 2")
    assert (second[1].note, third[1].note) == ("", "n = 8")
    (numbered,) = pearson_matrix(_agreement(VALUES))
    assert numbered.rows[1][1].text == f"{r:.2f}"
    assert {len(row) for row in numbered.rows} == {len(numbered.columns)}


def test_the_classifiers_made_of_a_model_are_audited(tmp_path: Path) -> None:
    audit = _audit(tmp_path, 0)
    subject = Subject("m0", audit, None)
    classifiers = {"sentiment": {"m0": MODELS["unmask-mini-sentiment"].folder}}
    evidence = gather_evidence([subject], [], classifiers, seed=42, loading=LoadOptions())
    (model,) = evidence.models
    figures = _read_figures(model)
    measurement = evidence.audits["m0-sentiment"].result.measurements[0]
    assert measurement.corpus == "reviews"
    assert figures["sentiment"] == measurement.tests["bias over words"].value
    assert figures["sentiment, mean"] == measurement.groups["total bias, changed texts"].value
    assert figures["sentiment, size"] > 0
    assert [caveat.code for caveat in evidence.caveats] == ["few-models", "crows-pairs-not-measured"]


@pytest.mark.parametrize(
    ("right", "counts", "learned"),
    [(60, (50, 50), True), (59, (50, 50), False), (90, (90, 10), False), (97, (90, 10), True), (0, (50, 50), False)],
)
def test_a_classifier_that_is_no_better_than_one_answer_is_not_compared(
    tmp_path: Path, right: int, counts: tuple[int, int], learned: bool
) -> None:
    """Of 100 examples, the 95 % interval of 60 right begins at .502 and that of 59 at .492 (Wilson)."""
    tested = {
        "accuracy": right / 100,
        "accuracy_interval": wilson_interval(right / 100, 100),
        "labels": {name: {"count": count} for name, count in zip(("no", "yes"), counts, strict=True)},
        "examples": 100,
    }
    (tmp_path / "metrics.json").write_text(json.dumps({"metrics": {"validation": tested}}), encoding="utf-8")
    assert (explain_failure(tmp_path) == "") is learned
    if learned:
        return
    evidence = gather_evidence(
        [Subject("m0", _audit(tmp_path, 0), None)], [], {"nli": {"m0": tmp_path}}, seed=42, loading=LoadOptions()
    )
    assert "m0-nli" not in evidence.audits
    (caveat,) = (caveat for caveat in evidence.caveats if caveat.code == "task-not-learned")
    assert caveat.text.replace("\N{NO-BREAK SPACE}", " ") == (
        f"m0, nli: with an accuracy of {right}.0 %, the task was not learned (always the most frequent label:"
        f" {max(counts)}.0 %), so the bias of the classifier is not compared."
    )


def test_each_task_needs_its_data(tmp_path: Path) -> None:
    audits = [_audit(tmp_path, seed) for seed in range(2)]
    with pytest.raises(UnmaskError, match="2 tasks and 1 data sets were given"):
        unmask.compare(*audits, task=("sentiment", "nli"), data="imdb")
