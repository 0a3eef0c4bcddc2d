"""CSV for people: no text runs as a formula, no number changes, and every text is read back unchanged."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import unmask
from unmask.measures.inference.details import Inference
from unmask.measures.recorded import read_table
from unmask.spreadsheets import guarded, plain, to_csv


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *(("=1+1", "'=1+1"), ("+49", "'+49"), ("-5", "'-5"), ("@sum", "'@sum"), ("\tx", "'\tx")),
        *(("'=1", "''=1"), ("''-", "'''-")),
        *(("nurse", "nurse"), ("", ""), ("'s", "'s"), ("a=b", "a=b"), ("−0.5", "−0.5"), ("'", "'")),
    ],
)
def test_texts(text: str, cell: str) -> None:
    assert guarded(text) == cell
    assert plain(cell) == text


def test_numbers_stay() -> None:
    frame = pd.DataFrame({"name": ["-a", None, "b"], "value": [-1.5, float("nan"), 2.0], "n": [-1, 2, 3]})
    mixed = frame.assign(any=pd.Series(["=1", -1, True], dtype=object))
    assert to_csv(mixed) == "name,value,n,any\n'-a,-1.5,-1,'=1\n,,2,-1\nb,2.0,3,True\n"
    assert mixed["name"][0] == "-a"  # the input is not changed


def test_items_that_were_written_so_are_analysed_as_they_were(tmp_path: Path) -> None:
    rows = [
        (word, occupation_type, gender, f"- The {word} sings.", f"- The {gender} sings.", answer)
        for word, occupation_type in (("nurse", "female"), ("=builder", "male"), ("+guest", "neutral"))
        for gender, answer in (("female", "entailment"), ("male", "neutral"))
    ]
    columns = ["occupation", "occupation_type", "gender", "premise", "hypothesis", "prediction"]
    items = pd.DataFrame(rows, columns=columns)
    (tmp_path / "items.csv").write_text(to_csv(items), encoding="utf-8")
    items.to_parquet(tmp_path / "items.parquet")
    assert "'=builder" in (tmp_path / "items.csv").read_text(encoding="utf-8")
    assert read_table(tmp_path / "items.csv").astype(object).equals(items.astype(object))
    details = [
        unmask.analyse(tmp_path / name).measurements[0].read_details(Inference)
        for name in ("items.csv", "items.parquet")
    ]
    assert details[0] is not None
    assert {occupation.occupation for occupation in details[0].occupations} == {"nurse", "=builder", "+guest"}
    assert details[0] == details[1]
