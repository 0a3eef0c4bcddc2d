"""CSV for people: no text runs as a formula, no number changes, and every text is read back unchanged."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pandas as pd
import pytest

import unmask
from unmask.errors import UnmaskError
from unmask.measures.inference.details import Inference
from unmask.measures.recorded import read_table
from unmask.spreadsheets import guarded, plain, read_xlsx, to_csv


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


SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="s"><v>1</v></c><c r="C1"><v>2.5</v></c></row>
<row r="3"><c r="B3" t="inlineStr"><is><t>in </t><t>line</t></is></c><c r="AA3"><v>9</v></c></row>
</sheetData></worksheet>"""
STRINGS = """<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<si><t>unused</t></si><si><r><t>two </t></r><r><t>runs &amp; more</t></r></si></sst>"""


def test_a_sheet_is_read(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "book.xlsx", "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", SHEET)
        book.writestr("xl/sharedStrings.xml", STRINGS)
    rows = read_xlsx(tmp_path / "book.xlsx")
    assert [row.cells for row in rows] == [{"A": "two runs & more", "C": "2.5"}, {"B": "in line", "AA": "9"}]


def test_what_is_no_sheet(tmp_path: Path) -> None:
    (tmp_path / "text.xlsx").write_text("a,b")
    with ZipFile(tmp_path / "empty.xlsx", "w") as book:
        book.writestr("other", "")
    messages = {"text": "is not an Excel file", "empty": "has no first sheet", "missing": "does not exist"}
    for name, message in messages.items():
        with pytest.raises(UnmaskError, match=f"{name}.xlsx {message}"):
            read_xlsx(tmp_path / f"{name}.xlsx")
