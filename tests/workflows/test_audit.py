"""The Python interface to audits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import transformers

import unmask
from planted import PlantedModel
from unmask.measures.association.data import build_rows
from unmask.models.masked_lm import TransformersMaskedLM
from unmask.models.roles import MaskQuery
from unmask.results import AuditResult
from unmask.results.storage import load

FILES = {
    "templates": "template\n{person} is {a} {profession}.\n",
    "professions": "profession,group,workforce_share\n"
    "mason,male,3\nplumber,male,2\nnurse,female,93\nsecretary,female,92\n",
}


@pytest.fixture
def words(tmp_path: Path) -> dict[str, Any]:
    for name, text in FILES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return {name: tmp_path / f"{name}.csv" for name in FILES}


def test_a_folder_loaded_objects_and_a_pipeline_give_the_same(
    model_folder: Callable[[str], Path], words: dict[str, Any]
) -> None:
    folder = model_folder("bert-uncased")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model.train()  # as after training: dropout must not affect the scores
    pipeline = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer)
    audits = [unmask.audit(source, **words) for source in (folder, str(folder), (model, tokenizer), pipeline)]
    hashes = {audit.result.model.weight_hash for audit in audits}
    assert len(hashes) == 1
    for audit in audits[1:]:
        assert audit.measurements[0].tests == audits[0].measurements[0].tests


def test_an_object_with_the_one_method_is_enough() -> None:
    class Mine:
        def log_probability(self, queries: Any) -> list[float]:
            return [-float(len(query.word)) for query in queries]

    audit = unmask.audit(Mine())
    assert audit.result.model.architecture == "own object"
    assert audit.result.model.name == "Mine"
    assert set(audit.items["association"]["association"]) == {0.0}
    assert audit.measurements[0].noise_floor == 0


@pytest.mark.parametrize(
    ("answer", "message"),
    [(lambda _: [1.0], "one number each"), (lambda queries: [float("nan")] * len(queries), "finite")],
)
def test_an_object_that_answers_wrongly_is_refused(answer: Callable[[Any], Any], message: str) -> None:
    class Mine:
        def log_probability(self, queries: Any) -> Any:
            return answer(queries)

    with pytest.raises(unmask.UnmaskError, match=message):
        unmask.audit(Mine())


def test_what_is_no_model_is_refused() -> None:
    for value, name in (({}, "dict"), (pd.DataFrame(), "DataFrame"), (PlantedModel, "type"), ([], "list")):
        with pytest.raises(unmask.UnmaskError, match=f"^cannot audit a {name}; give a hub id"):
            unmask.audit(value)


def test_an_audit_can_be_shown_and_kept(tmp_path: Path) -> None:
    audit = unmask.audit(PlantedModel(build_rows("en"), bias=1.0))
    assert "stereotype" in audit.summary()
    assert "male professions" in audit.summary()
    frame = audit.to_frame()
    assert list(frame["test"]) == list(audit.measurements[0].tests)
    assert np.isfinite(frame["value"].astype(float)).all()
    assert audit.report(tmp_path / "deep" / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    audit.save(tmp_path / "audit")
    assert load(tmp_path / "audit") == audit.result
    with pytest.raises(unmask.UnmaskError, match="exists"):
        audit.save(tmp_path / "audit")


def test_result_json_names_its_figures_plainly(tmp_path: Path) -> None:
    unmask.audit(PlantedModel(build_rows("en"), bias=1.0)).save(tmp_path / "audit")
    text = (tmp_path / "audit" / "result.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert "Infinity" not in text
    result = json.loads(text)
    measurement = result["measurements"][0]
    assert measurement["name"] == "association"
    assert set(measurement["tests"]["stereotype"]) >= {"statistic", "p_value", "p_adjusted", "effect_size", "interval"}
    assert set(measurement["groups"]["female professions, male persons"]) >= {"n", "value", "sd", "interval"}
    assert result["configuration"]["protocol"] == "sound"
    assert result["libraries"]["torch"]
    AuditResult.model_validate(result)


def test_a_damaged_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(unmask.UnmaskError, match=r"no result\.json"):
        load(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(unmask.UnmaskError, match="not a result"):
        load(tmp_path)


def test_two_languages_are_two_measurements_and_one_family_of_tests() -> None:
    rows = build_rows("en") + build_rows("de") + build_rows("de", "agreement-free")
    audit = unmask.audit(PlantedModel(rows, bias=0.3), languages=["en", "de"])
    assert [(measurement.language, measurement.corpus) for measurement in audit.measurements] == [
        ("en", "bec-pro"),
        ("de", "bec-pro"),
        ("de", "agreement-free"),
    ]
    tests = [test for measurement in audit.measurements for test in measurement.tests.values()]
    smallest = min(test.p_value for test in tests if test.p_value is not None)
    adjusted = min(test.p_adjusted for test in tests if test.p_adjusted is not None)
    test_count = sum(test.p_value is not None for test in tests)
    assert adjusted == pytest.approx(min(1.0, smallest * test_count))


def test_own_files_are_for_one_language(words: dict[str, Any]) -> None:
    with pytest.raises(unmask.UnmaskError, match="one language"):
        unmask.audit(PlantedModel([], bias=0), languages=["en", "de"], **words)


def test_public_names_are_there() -> None:
    for name in unmask.__all__:
        assert getattr(unmask, name) is not None
    assert unmask.MaskQuery is MaskQuery
    with pytest.raises(AttributeError):
        unmask.nothing  # noqa: B018


def test_names_alone_and_twice() -> None:
    model = PlantedModel([*build_rows("en"), *build_rows("en", "emotions")], bias=0.5)
    audit = unmask.audit(model, measures="association", languages="en", corpora=["emotions", "emotions"])
    assert len(audit.measurements) == 1
    fitting = unmask.audit(model, measures=[], corpora="emotions")  # no measures named: all that fit the model
    assert fitting.measurements == audit.measurements
    assert fitting.result.configuration["measures"] == ["association"]
    with pytest.raises(unmask.UnmaskError, match="no languages"):
        unmask.audit(model, languages=[])
    with pytest.raises(unmask.UnmaskError, match="seed is -1"):
        unmask.audit(model, seed=-1)


def test_questions_may_grow_between_calls(loaded: Callable[[str], Any]) -> None:
    model = loaded("bert-uncased")
    queries = [MaskQuery("He is a mason.", (0, 2))]
    assert len(model.log_probability(queries)) == 1
    queries.append(MaskQuery("She is a mason.", (0, 3)))
    assert len(model.log_probability(queries)) == 2


def test_parts_that_do_not_belong_together_are_refused(model_folder: Callable[[str], Path]) -> None:
    folder = model_folder("bert-uncased")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    bare = transformers.AutoModel.from_pretrained(folder)
    with pytest.raises(unmask.UnmaskError, match="the BertModel is an encoder without a head; association needs a"):
        unmask.audit((bare, tokenizer), measures="association")
    with pytest.raises(unmask.UnmaskError, match="no language-model head"):
        TransformersMaskedLM(bare, tokenizer).log_probability([MaskQuery("He is a mason.", (0, 2))])
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder)
    model.resize_token_embeddings(50)
    for measure in ("association", "geometry"):
        with pytest.raises(unmask.UnmaskError, match="50 embeddings"):
            unmask.audit((model, tokenizer), measures=measure)


def test_half_precision_is_said(model_folder: Callable[[str], Path]) -> None:
    folder = model_folder("bert-uncased")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype="bfloat16")
    audit = unmask.audit((model, tokenizer), measures="association")
    assert "half-precision" in {caveat.code for caveat in audit.measurements[0].caveats}
    assert audit.result.configuration["device"] == "as loaded"


def test_a_folder_whose_result_is_cut_off_is_not_analysed(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"kind": "audit"')
    with pytest.raises(unmask.UnmaskError, match=r"result\.json is cut off, or no JSON"):
        unmask.analyse(tmp_path)
