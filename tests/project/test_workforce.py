"""Tables of the workforce: reading them, and grouping professions by the rule of BEC-Pro."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from commands import unmask
from unmask.errors import UnmaskError
from unmask.lexicon import attributes
from unmask.measures.association.data import build_rows
from unmask.workforce import (
    Occupation,
    ProfessionOptions,
    group_professions,
    pick_groups,
    read_workforce,
    shorten_title,
)

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
TABLE = (  # title, indent, people in thousands, percentage of women
    ("Total, 16 years and over", 0, "1000", "47"),
    ("Care occupations", 1, "500", "90"),
    ("Registered nurses", 2, "60", "95.5"),
    ("Childcare workers", 2, "70", "90"),
    ("Cooks, head", 2, "20", "–"),
    ("Building occupations", 1, "500", "10"),
    ("Roofers", 2, "80", "2.0000000000000001"),
    ("Cement masons, concrete finishers, and terrazzo workers", 2, "90", "3"),
    ("Other occupations", 1, "90", "50"),
    ("Photographers", 2, "60", "49"),
    ("Judges, magistrates, and other judicial workers", 2, "60", "52"),
    ("Cashiers", 2, "60", "70"),
)


def read_table(path: Path, delimiter: str = "\t") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table of the form of the Bureau of Labor Statistics, with shared and inline texts."""
    path = tmp_path / "table.xlsx"
    heads = ["Occupation", "Total Employed", "Percent of total employed Women"]
    strings = "".join(f"<si><t>{text}</t></si>" for text in heads)
    first = "".join(f'<c r="{letter}4" t="s"><v>{index}</v></c>' for index, letter in enumerate("ABC"))
    lines = "".join(
        f'<row r="{row}"><c r="A{row}" s="{indent}" t="inlineStr"><is><t>{title}</t></is></c>'
        f'<c r="B{row}"><v>{people}</v></c><c r="C{row}"><v>{women}</v></c></row>'
        for row, (title, indent, people, women) in enumerate(TABLE, start=5)
    )
    styles = "".join(f'<xf><alignment indent="{indent}"/></xf>' for indent in range(3))
    parts = {
        "worksheets/sheet1": f'<worksheet xmlns="{SHEET}"><sheetData><row>{first}</row>{lines}</sheetData></worksheet>',
        "sharedStrings": f'<sst xmlns="{SHEET}">{strings}</sst>',
        "styles": f'<styleSheet xmlns="{SHEET}"><cellXfs>{styles}</cellXfs></styleSheet>',
    }
    with ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(f"xl/{name}.xml", text)
    return path


def test_the_groups_of_a_small_table(table: Path, tmp_path: Path) -> None:
    """Headings and occupations without a share are left out."""
    out = tmp_path / "professions.csv"
    group_professions(ProfessionOptions(table=table, count=2, out=out))
    rows = [(row["profession"], row["group"], row["workforce_share"]) for row in read_table(out, ",")]
    assert rows == [
        ("childcare worker", "female", "90.0"),
        ("registered nurse", "female", "95.5"),
        ("roofer", "male", "2.0"),
        ("cement mason", "male", "3.0"),
        ("photographer", "balanced", "49.0"),
        ("judge", "balanced", "52.0"),
    ]
    professions = attributes("en", path=out)
    assert [profession.group for profession in professions] == [group for _, group, _ in rows]
    assert build_rows("en", professions_file=out)[0].sentence == "He has a job as a childcare worker."


def test_a_csv_file_of_another_country(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("occupation,share\nnurses,90\nmidwives,99\nroofers,1\nmasons,2\ncooks,50\nclerks,55\n")
    groups = pick_groups(read_workforce(path), 2)
    assert [one.title for one in groups["female"]] == ["nurses", "midwives"]
    assert [one.title for one in groups["balanced"]] == ["cooks", "clerks"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Secretaries and administrative assistants, except legal, medical, and executive", "secretary"),
        ("Hairdressers, hairstylists, and cosmetologists", "hairdresser"),
        ("Licensed practical and licensed vocational nurses", "licensed vocational nurse"),
        ("Speech-language pathologists", "speech-language pathologist"),
    ],
)
def test_titles_are_shortened(title: str, name: str) -> None:
    assert shorten_title(title) == name


def test_two_occupations_do_not_share_a_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        'occupation,share\n"Clerks, post",90\n"Clerks, mail",91\nroofers,1\nmasons,2\ncooks,50\nbakers,51\n'
    )
    group_professions(ProfessionOptions(table=path, count=2, out=tmp_path / "out.csv"))
    names = [row["profession"] for row in read_table(tmp_path / "out.csv", ",")]
    assert names[:2] == ["clerks post", "clerks mail"]


def test_the_rule_gives_the_papers_groups_on_the_papers_table(data: Path) -> None:
    """Of its own sixty occupations. The table of 2019 from which they were picked is not at hand."""
    rows = read_table(data / "becpro" / "professions_us_de.tsv")
    occupations = [Occupation(row["original_professions"], float(row["percent_us"])) for row in rows]
    groups = pick_groups(occupations, 20)
    for group, members in groups.items():
        assert {one.title for one in members} == {
            row["original_professions"] for row in rows if row["prof_gender"] == group
        }
        assert len(members) == 20


def test_a_later_year_agrees_in_part_with_the_paper(data: Path) -> None:
    """The occupations were classified anew in 2020, and shares change: 27 of 60 are picked again."""
    groups = pick_groups([row for row in read_workforce(data / "workforce" / "cpsaat11.xlsx") if row.is_lowest], 20)
    rows = read_table(data / "becpro" / "professions_us_de.tsv")
    same = {
        group: len(
            {one.title for one in members} & {r["original_professions"] for r in rows if r["prof_gender"] == group}
        )
        for group, members in groups.items()
    }
    assert same == {"female": 12, "male": 10, "balanced": 5}
    assert all(48 <= one.women <= 52 for one in groups["balanced"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.xlsx", "no zip", "not an Excel file"),
        ("t.csv", "occupation,men\na,1\n", "has no column 'share'"),
        (
            "t.csv",
            "occupation,share\na,1\nb,2\n",
            "2 occupations have a share of women, and three groups of 20 need 60",
        ),
        ("t.csv", "occupation,share\na,101\n", "the share of 'a' is not between 0 and 100 %"),
        ("t.csv", "occupation,share\na,1\n,2\n", "line 3 has no occupation"),
        ("t.csv", "share,occupation\n1\n", "line 2 has no occupation"),
        ("t.csv", "occupation,share\na,1\na,2\n", "has the occupation 'a' twice"),
        ("nowhere.xlsx", None, "does not exist"),
    ],
)
def test_tables_that_cannot_be_read(name: str, content: str | None, message: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UnmaskError, match=re.escape(message)):
        group_professions(ProfessionOptions(table=tmp_path / name, out=tmp_path / "out.csv"))


def test_groups_that_run_into_each_other_are_refused() -> None:
    occupations = [Occupation(str(index), 50.0) for index in range(9)]
    with pytest.raises(UnmaskError, match="do not tell three groups of 2 apart"):
        pick_groups(occupations, 2)


def test_the_commands(table: Path, tmp_path: Path) -> None:
    made = unmask("professions", table, "--count", "2", "--out", "own.csv", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "female: 2 professions, 90 to 95.5 % women" in made.stdout


def test_the_table_of_the_bureau_of_labor_statistics(data: Path) -> None:
    rows = {row.title: row for row in read_workforce(data / "workforce" / "cpsaat11.xlsx")}
    assert (rows["Chief executives"].women, rows["Chief executives"].employed) == pytest.approx((29.1, 1664))
    assert "Legislators" not in rows  # too few to have a share
