"""Items are stored as JSON lines: what is read is what was written."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import unmask
from unmask.errors import UnmaskError
from unmask.results.storage import ITEMS, read_items, write_items


@pytest.fixture
def items() -> pd.DataFrame:
    """Cells that other formats change: numbers with all digits, texts that look like numbers or like nothing."""
    return pd.DataFrame(
        {
            "text": ["NA", "", "=1+1 \u2028 ü\n\t'"],
            "id": ["007", "1", "null"],
            "group": ["a", None, "b"],
            "score": [0.1 + 0.2, np.nan, -1e-300],
            "single": np.array([0.1, 1, 2], dtype=np.float32),
            "count": [1, 2, 3],
            "is_changed": [True, False, True],
            "spans": [[[0, 2, "He"]], [], [[1, 2, "x"]]],
        }
    )


def test_items_keep_their_values_and_types(items: pd.DataFrame, tmp_path: Path) -> None:
    write_items(tmp_path / "a.jsonl.gz", items)
    reloaded = read_items(tmp_path / "a.jsonl.gz")
    pd.testing.assert_frame_equal(reloaded, items.astype({"single": float}), check_exact=True)
    (tmp_path / "a.jsonl").write_bytes(gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()))
    pd.testing.assert_frame_equal(read_items(tmp_path / "a.jsonl"), reloaded)


def test_items_without_rows_or_values(tmp_path: Path) -> None:
    items = pd.DataFrame({"score": [np.nan, np.nan], "text": ["a", "b"]})
    write_items(tmp_path / "a.jsonl.gz", items)
    pd.testing.assert_frame_equal(read_items(tmp_path / "a.jsonl.gz"), items)
    write_items(tmp_path / "b.jsonl.gz", items[:0])
    assert len(read_items(tmp_path / "b.jsonl.gz")) == 0


def test_lines_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert list(read_items(path)["a"]) == [1, 2]
    for line, message in (("[1, 2]", "line 2 is not a JSON object"), ("{", "line 2 is not JSON")):
        path.write_text(f'{{"a": 1}}\n{line}\n')
        with pytest.raises(ValueError, match=message):
            read_items(path)


def test_missing_values_are_null_and_arrays_are_lists(tmp_path: Path) -> None:
    items = pd.DataFrame(
        {
            "tokens": pd.array([3, None], dtype="Int64"),
            "cut": pd.array([None, True], dtype="boolean"),
            "array": pd.Series([np.array([1, 2]), np.array(["x"])]),
            "number": pd.Series([np.float64(0.5), None], dtype=object),
        }
    )
    write_items(tmp_path / "a.jsonl.gz", items)
    lines = gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).splitlines()
    assert list(map(json.loads, lines)) == [
        {"tokens": 3, "cut": None, "array": [1, 2], "number": 0.5},
        {"tokens": None, "cut": True, "array": ["x"], "number": None},
    ]


def test_the_same_items_give_the_same_file(items: pd.DataFrame, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_items(tmp_path / name / "a.jsonl.gz", items)
    assert (tmp_path / "one/a.jsonl.gz").read_bytes() == (tmp_path / "two/a.jsonl.gz").read_bytes()


@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: data[:30] + b"\0" * 9 + data[39:]])
def test_a_damaged_file_is_an_error_of_the_user(items: pd.DataFrame, tmp_path: Path, damage: object) -> None:
    path = tmp_path / f"association{ITEMS}"
    write_items(path, items)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(UnmaskError, match="cannot be read"):
        unmask.analyse(path)


def test_items_of_earlier_versions_are_read_from_parquet(tmp_path: Path) -> None:
    rows = [(word, number) for number, word in enumerate(("nurse", "mason"))]
    frame = pd.DataFrame(
        [
            {"template": "t", "person": person, "gender": gender, "profession": profession, "group": "all"}
            | {"association": number}
            for profession, number in rows
            for person, gender in (("she", "female"), ("he", "male"))
        ]
    )
    (tmp_path / "items").mkdir()
    frame.to_parquet(tmp_path / "items" / "association.parquet")
    assert len(unmask.analyse(tmp_path).items["association"]) == 4
