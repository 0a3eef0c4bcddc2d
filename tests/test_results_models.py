"""Result models: frozen, always validated, and files say what they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from unmask.errors import UnmaskError
from unmask.results import AuditResult, Estimate, ModelInfo
from unmask.results.storage import is_comparison, load, load_comparison, save

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


def test_a_file_says_what_it_is(tmp_path: Path) -> None:
    save(tmp_path / "audit", result(), {}, {})
    written = json.loads((tmp_path / "audit" / "result.json").read_text())
    assert (written["kind"], written["schema_version"]) == ("audit", 1)
    assert not is_comparison(tmp_path / "audit")
    with pytest.raises(UnmaskError, match="not a result of this version"):
        load_comparison(tmp_path / "audit")


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
    save(tmp_path / "audit", result(), {}, {})
    path = tmp_path / "audit" / "result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UnmaskError, match=message):
        load(tmp_path / "audit")


def test_a_file_of_the_first_version_is_read(tmp_path: Path) -> None:
    save(tmp_path / "audit", result(), {}, {})
    path = tmp_path / "audit" / "result.json"
    fields = json.loads(path.read_text())
    del fields["kind"]
    path.write_text(json.dumps(fields))
    assert load(tmp_path / "audit") == result()
