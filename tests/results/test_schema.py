"""Result models are frozen and always validated, and files say what they contain."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

import unmask
from unmask.errors import UnmaskError
from unmask.measures.inference.details import Inference
from unmask.measures.sentiment.details import Part, Ratings
from unmask.results import SCHEMA_VERSION, AuditResult, ComparisonResult, Estimate, Measurement, ModelInfo, Side
from unmask.results.storage import Folder, is_comparison, load, read, save

TEST = Estimate(question="?", n=3, value=0.5, interval=(0.1, 0.9), statistic=1.0, statistic_name="t", p_value=0.2)


def result() -> AuditResult:
    """An audit without measurements."""
    info = ModelInfo(name="m", architecture="a")
    return AuditResult(
        unmask_version="0", created="", model=info, configuration={}, libraries={}, seed=1, measurements=[]
    )


@pytest.mark.parametrize(
    "update",
    [{"p_adjusted": float("nan")}, {"interval": (0.0, float("inf"))}, {"p_ajusted": 0.1}, {"n": "many"}],
)
def test_a_copy_is_validated(update: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TEST.model_copy(update=update)


def test_a_copy_differs_in_the_fields_that_are_given() -> None:
    copy = TEST.model_copy(update={"p_adjusted": 0.4})
    assert copy.p_adjusted == 0.4
    assert copy.model_dump(exclude={"p_adjusted"}) == TEST.model_dump(exclude={"p_adjusted"})
    assert TEST.model_copy() == TEST


def test_a_result_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TEST.n = 4


def test_details_are_the_same_after_writing_and_reading() -> None:
    part = Part(name="she", n=3, bias=0.1, interval=(0.05, 0.15))
    ratings = Ratings(
        terms="all", rating="p", scale=1, texts=9, duplicates=0, changed=9, below=1, equal=1, above=7, by_term=[part]
    )
    fields: dict[str, Any] = {"name": "sentiment", "language": "en", "corpus": "reviews", "items": 9}
    measurement = Measurement(groups={}, tests={"bias": TEST}, details=ratings.model_dump(), **fields)
    assert Measurement.model_validate_json(measurement.model_dump_json()) == measurement
    assert measurement.read_details(Ratings) == ratings
    with pytest.raises(UnmaskError, match="this result of sentiment has no valid sets"):
        measurement.read_details(Inference)


def test_a_file_says_what_it_is(tmp_path: Path) -> None:
    save(tmp_path / "audit", Folder(result()))
    content = json.loads((tmp_path / "audit" / "result.json").read_text())
    assert (content["kind"], content["schema_version"]) == ("audit", SCHEMA_VERSION) == ("audit", 4)
    assert not is_comparison(tmp_path / "audit")
    with pytest.raises(UnmaskError, match="not a result of this version"):
        load(tmp_path / "audit", ComparisonResult)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 99}, "was written by a newer version of Unmask; update Unmask, or repeat the audit"),
        ({"kind": "comparison"}, "is a comparison, not an audit"),
        ({"kind": None, "comparisons": []}, "is a comparison, not an audit"),
        ({"seed": "x"}, "is not a result of this version"),
    ],
)
def test_another_file_is_one_clear_line(tmp_path: Path, change: dict[str, object], message: str) -> None:
    save(tmp_path / "audit", Folder(result()))
    path = tmp_path / "audit" / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UnmaskError, match=message):
        load(tmp_path / "audit")


def make_old(folder: Path) -> Path:
    """Turn the result in a folder into one of schema 1; return the path."""
    path = folder / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": 1, "hypotheses": []}))
    return path


def test_an_audit_of_schema_1_is_refused_with_a_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    save(folder, Folder(result()))
    path = make_old(folder)
    message = f"{re.escape(str(path))} was written by an earlier version of Unmask \\(schema 1\\); run the audit again$"
    with pytest.raises(UnmaskError, match=message):
        load(folder)
    with pytest.raises(UnmaskError, match=message):
        read(path)


def test_items_of_schema_1_can_be_analysed_again(tmp_path: Path) -> None:
    folder = tmp_path / "audit"
    pairs = pd.DataFrame(
        {"id": range(12), "direction": "stereo", "pll_more": np.linspace(-9, -8, 12), "pll_less": -8.7}
    )
    pairs = pairs.assign(difference=pairs["pll_more"] - pairs["pll_less"], language="en", corpus="crows-pairs")
    save(folder, Folder(result(), {"crows-pairs": pairs}))
    path = make_old(folder)
    with pytest.raises(UnmaskError) as refused:
        load(folder)
    remedy = f"run unmask analyse {folder}, or the audit again"
    assert str(refused.value) == f"{path} was written by an earlier version of Unmask (schema 1); {remedy}"
    unmask.analyse(folder).save(tmp_path / "again")
    assert load(tmp_path / "again").measurements[0].items == 12


def test_a_comparison_of_schema_1_is_refused_with_a_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "comparison"
    side = Side(name="m", model=result().model, created="")
    content = result().model_dump(exclude={"kind", "model", "measurements"})
    save(folder, Folder(ComparisonResult(before=side, after=[side], comparisons=[], **content)))
    assert load(folder, ComparisonResult).before == side
    make_old(folder)
    with pytest.raises(UnmaskError, match=r"Unmask \(schema 1\); run unmask compare again$"):
        load(folder, ComparisonResult)
