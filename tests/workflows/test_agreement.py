"""Across measures: the matrix of correlations over models, and what cannot be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unmask
from pages import seen
from report_blocks import find_table
from unmask.errors import UnmaskError
from unmask.measures.geometry import Geometry, GeometryChange, WordTest, WordTestChange
from unmask.measures.sections import build_comparison_sections
from unmask.options import LoadOptions
from unmask.report.comparison import agreement_blocks, comparison_page, pearson_matrix
from unmask.report.html import render_page, shade
from unmask.report.terminal import comparison_text
from unmask.results import Agreement, Caveat, Comparison, Estimate, MeasureFigure, Measurement, ModelFigures
from unmask.statistics.corrections import holm
from unmask.workflows.agreement import ModelEvidence, correlate_figures, gather_evidence
from unmask.workflows.compared_models import Subject

VALUES: dict[str, list[float | None]] = {
    "a": [0.1, 0.4, 0.2, 0.9, 0.5],
    "b": [1.0, 3.0, 2.5, 8.0, 4.0],
    "c": [0.3, -0.1, 0.2, 0.0, None],
}


def _agreement(values: dict[str, list[float | None]], extrinsic: str = "c") -> Agreement:
    models = [
        ModelFigures(model=f"m{at}", figures={name: column[at] for name, column in values.items()})
        for at in range(len(next(iter(values.values()))))
    ]
    figures = [MeasureFigure(name=name, measure=name, extrinsic=name == extrinsic, what="") for name in values]
    return correlate_figures(models, figures)


def test_the_matrix_is_that_of_scipy() -> None:
    found = _agreement(VALUES)
    assert [(one.first, one.second, one.n) for one in found.correlations] == [
        ("a", "b", 5),
        ("a", "c", 4),
        ("b", "c", 4),
    ]
    p = []
    for one in found.correlations:
        x, y = (np.array(VALUES[name][: one.n], dtype=float) for name in (one.first, one.second))
        known = stats.pearsonr(x, y)
        assert one.pearson == pytest.approx(known.statistic)
        assert one.pearson_p_value == pytest.approx(known.pvalue)
        assert one.pearson_interval == pytest.approx(tuple(known.confidence_interval()))
        assert one.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
        p.append(known.pvalue)
    assert [one.p_adjusted for one in found.correlations] == pytest.approx(holm(p))
    assert found.correlation("b", "a") == found.correlations[0]
    clear = found.correlations[0].p_adjusted or 1.0
    assert clear < 0.05
    assert "1 of 3 pairs of figures correlate beyond chance after correction: a and b (r = " in found.headline
    assert "(2 pairs)" in found.headline  # between a, b and c, which is of a classifier


def test_what_is_the_same_for_all_or_of_too_few_models_is_left_out() -> None:
    found = _agreement(VALUES | {"same": [0.7] * 5, "few": [1.0, 2.0, 3.0, None, None], "none": [None] * 5})
    assert found.left_out == {"same": "the same for all models", "few": "3 models have it, and 4 are needed"}
    assert [one.name for one in found.figures] == ["a", "b", "c", "same", "few"]
    assert found.correlations == _agreement(VALUES).correlations


def test_two_figures_with_too_few_models_in_common_have_no_correlation() -> None:
    found = _agreement({"a": [1.0, 2.0, 4.0, 3.0, None], "b": [None, 2.0, 5.0, 1.0, 7.0]})
    (one,) = found.correlations
    assert (one.n, one.pearson, one.spearman, one.p_adjusted) == (3, None, None, None)
    assert found.headline == "Over 5 models no two figures can be compared."


def test_three_models_have_nothing_to_compare() -> None:
    found = _agreement({name: column[:3] for name, column in VALUES.items()})
    assert set(found.left_out) == set(VALUES)
    assert found.correlations == []


def test_a_perfect_agreement_has_no_interval_but_an_exact_p() -> None:
    one = _agreement({"a": [1.0, 2.0, 3.0, 4.0], "b": [2.0, 4.0, 6.0, 8.0]}).correlations[0]
    assert one.pearson == pytest.approx(1.0)
    assert one.pearson_interval is None
    assert one.pearson_p_value == pytest.approx(2 / 24)


# what a figure is


def _measurement(name: str, **given: Any) -> Measurement:
    whole: dict[str, Any] = {"name": name, "language": "en", "corpus": "x", "protocol": "sound", "headline": []}
    return Measurement(**(whole | {"items": 9, "groups": {}, "tests": {}} | given))


def _test(estimate: float, **labels: str) -> Estimate:
    given: dict[str, Any] = {"interval": None, "statistic": None, "statistic_name": "", "p_value": None}
    return Estimate(labels=labels, question="", n=9, value=estimate, **given)


def _read(of: ModelEvidence) -> dict[str, float]:
    return {name: value for name, value in of.figures().items() if value is not None}


def test_figures_are_read_off_the_measurements() -> None:
    weat = {f"WEAT {at}": _test(float(at), contrast="association", test=f"WEAT {at}") for at in (1, 2)}
    groups = {
        name: Estimate(labels={}, n=9, value=mean)
        for name, mean in (("total bias, changed texts", 0.01), ("absolute bias, changed texts", 0.04))
    }
    measured = [
        _measurement("association", tests={"stereotype": _test(0.4)}),
        _measurement("geometry", tests={"stereotype": _test(0.6), **weat}),
        _measurement("crows-pairs", groups={"all pairs": Estimate(labels={}, n=9, value=0.55)}),
        _measurement("sentiment", groups=groups),
        _measurement(
            "inference", groups={"NLI-CoAL": Estimate(labels={}, n=9, value=0.3)}, tests={"stereotype": _test(0.2)}
        ),
    ]
    change = GeometryChange(
        words=9, tests=[WordTestChange(name="classification", n=9, before=0.99, after=0.8, own=0.9)]
    )
    own = WordTest(name="neighbours", words="own", removed=False, n=9, value=0.7)
    details = Geometry(vectors="", direction="", likeness=0, dimensions=2, words=9, male_share=0.5, tests=[own])
    measured[1] = measured[1].model_copy(update={"details": details.model_dump()})
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
    known = {"association": 0.4, "professions": 0.6, "told apart": 0.8, "WEAT/SEAT": 1.5, "CrowS-Pairs": 0.55}
    known |= {"sentiment": 0.01, "sentiment, size": 0.04, "NLI-CoAL": 0.3, "inference": 0.2}
    assert _read(ModelEvidence("m", measured, [comparison])) == pytest.approx(known)
    before = known | {"neighbours": 0.7}
    del before["told apart"]
    assert _read(ModelEvidence("m", measured)) == pytest.approx(before)
    assert _read(ModelEvidence("m", [])) == {}


def test_what_grammatical_agreement_drowns_is_no_figure() -> None:
    drowned = _measurement(
        "association", tests={"stereotype": _test(2.0)}, caveats=[Caveat(code="grammatical-agreement", text="")]
    )
    free = _measurement("association", tests={"stereotype": _test(0.3)})
    assert _read(ModelEvidence("m", [drowned, free])) == {"association": 0.3}


# in a comparison


def _audit(folder: Path, seed: int) -> unmask.Audit:
    """Recorded associations, which differ by seed."""
    rng = np.random.default_rng(seed)
    rows = [
        {"template": "t", "person": gender, "gender": gender, "profession": f"{kind} {at}", "group": kind, "pair": 0}
        for kind in ("female", "male")
        for at in range(4)
        for gender in ("female", "male")
    ]
    frame = pd.DataFrame(rows).assign(language="en", corpus="recorded", association=rng.normal(size=len(rows)))
    frame.to_csv(folder / f"m{seed}.csv", index=False)
    return unmask.analyse(folder / f"m{seed}.csv")


def test_four_models_are_compared_across_measures_and_three_are_not(tmp_path: Path) -> None:
    audits = [_audit(tmp_path, seed) for seed in range(4)]
    assert unmask.compare(*audits[:3], usefulness=False).agreement is None
    compared = unmask.compare(*audits, usefulness=False)
    found = compared.agreement
    assert found is not None
    assert [one.model for one in found.models] == ["m0", "m1", "m2", "m3"]
    assert [one.name for one in found.figures] == ["association"]
    known = [audit.measurements[0].tests["stereotype"].value for audit in audits]
    assert [one.figures["association"] for one in found.models] == known
    codes = [caveat.code for caveat in compared.result.caveats]
    assert "few-models" in codes
    assert "crows-pairs-not-measured" in codes
    assert "no two figures can be compared" in seen(compared.text())


def test_a_matrix_is_shown_in_the_page_and_in_the_terminal(tmp_path: Path) -> None:
    result = unmask.compare(*(_audit(tmp_path, seed) for seed in range(2)), usefulness=False).result
    result = result.model_copy(update={"agreement": _agreement(VALUES | {"same": [0.7] * 5})})
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
    assert (second[1].note, third[1].note) == ("", "n = 4")
    (numbered,) = pearson_matrix(_agreement(VALUES))
    assert numbered.rows[1][1].text == f"{r:.2f}"
    assert {len(row) for row in numbered.rows} == {len(numbered.columns)}


def test_the_classifiers_made_of_a_model_are_audited(tmp_path: Path) -> None:
    audit = _audit(tmp_path, 0)
    subject = Subject("m0", audit, None)
    made = {"sentiment": {"m0": Path("unmask-mini-sentiment")}}
    found = gather_evidence([subject], [], made, seed=42, loading=LoadOptions())
    (one,) = found.models
    figures = _read(one)
    measured = found.audits["m0-sentiment"].result.measurements[0]
    assert measured.corpus == "reviews"
    assert figures["sentiment"] == measured.groups["total bias, changed texts"].value
    assert figures["sentiment, size"] > 0
    assert [caveat.code for caveat in found.caveats] == ["few-models", "crows-pairs-not-measured"]


def test_each_task_needs_its_data(tmp_path: Path) -> None:
    audits = [_audit(tmp_path, seed) for seed in range(2)]
    with pytest.raises(UnmaskError, match="2 tasks and 1 data sets were given"):
        unmask.compare(*audits, task=("sentiment", "nli"), data="imdb")
