"""Women's share of each occupation: reading tables of the workforce, and grouping professions by them.

Professions are grouped by the rule of BEC-Pro (Bartl, Nissim and Gatt 2020, section 3.2): of all occupations of the
lowest level whose share of women is known, the 20 with the highest, the 20 with the lowest, and the 20 nearest to half.
The Bureau of Labor Statistics gives no share for occupations with fewer than 50,000 people.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.files import check_new_path, write_text
from unmask.lexicon.inflection import singular
from unmask.lexicon.table import read_text
from unmask.options import Options, option
from unmask.spreadsheets import read_xlsx, to_csv

HALF = 50.0
GROUPS = ("female", "male", "balanced")
NO_DATA = ("", "-", "–", "—")


class ProfessionOptions(Options):
    """Which table of the workforce, and how many professions."""

    table: Path = option(
        ...,
        "Table 11 of the Bureau of Labor Statistics (cpsaat11.xlsx, any year), or a CSV file with the columns"
        " 'occupation' and 'share' (of women; of 1, or in percent).",
        argument=True,
    )
    count: int = option(20, "Professions per group.", minimum=2)
    out: Path = option(..., "The CSV file to write, for unmask audit --professions; it must not exist.")


@dataclass(frozen=True)
class Occupation:
    """A line of a table of the workforce."""

    title: str
    women: float
    """Their share of those employed, in percent."""
    employed: float = 1.0
    is_lowest: bool = True
    """Whether no other line of the table is a part of it."""


def group_professions(options: ProfessionOptions) -> dict[str, list[Occupation]]:
    """Pick professions for each group, write them, and return them."""
    import pandas as pd

    check_new_path(options.out)
    lowest = [occupation for occupation in read_workforce(options.table) if occupation.is_lowest]
    groups = pick_groups(lowest, options.count)
    rows = [
        {
            "profession": shorten_title(occupation.title),
            "group": group,
            "workforce_share": occupation.women,
            "occupation": occupation.title,
        }
        for group, occupations in groups.items()
        for occupation in occupations
    ]
    titles: dict[str, list[str]] = {}
    for row in rows:
        titles.setdefault(str(row["profession"]), []).append(str(row["occupation"]))
    for row in rows:  # two occupations must not share a name
        if len(titles[str(row["profession"])]) > 1:
            row["profession"] = lower_title(str(row["occupation"])).replace(",", "")
    write_text(options.out, to_csv(pd.DataFrame(rows)))
    return groups


def read_workforce(path: Path) -> list[Occupation]:
    """Read the occupations whose share of women is known.

    A CSV file has the columns `occupation` and `share` (of 1, or in percent), and `employed` if it is known. An .xlsx
    file is table 11 of the US Bureau of Labor Statistics, or has its headings.
    """
    occupations = _read_sheet(path) if path.suffix.lower() == ".xlsx" else _read_csv(path)
    if not occupations:
        raise UnmaskError(f"{path} has no occupation with a share of women; give a table with names and shares")
    titles = set()
    for occupation in occupations:
        if occupation.title in titles:
            raise UnmaskError(f"{path} has the occupation {occupation.title!r} twice; remove one of the lines")
        titles.add(occupation.title)
        if not 0 <= occupation.women <= 100:
            raise UnmaskError(f"{path}: the share of {occupation.title!r} is not between 0 and 100 %; correct it")
    return occupations


def _read_sheet(path: Path) -> list[Occupation]:
    sheet = read_xlsx(path)
    headings = next((row.cells for row in sheet if any(_is_women(text) for text in row.cells.values())), None)
    if headings is None:
        raise UnmaskError(f"{path} has no column 'Percent of total employed, Women'; give table 11, or a CSV file")
    column = next(letters for letters, text in headings.items() if _is_women(text))
    rows = [row for row in sheet if row.cells.get("A", "").strip() and row.cells.get(column)]  # no titles and notes
    deeper = [row.indent for row in rows[1:]] + [0]
    occupations = []
    for row, next_indent in zip(rows, deeper, strict=True):
        women, employed = _read_number(row.cells[column]), _read_number(row.cells.get("B"))
        if women is not None and employed is not None:
            occupations.append(Occupation(row.cells["A"].strip(), women, employed, next_indent <= row.indent))
    return occupations


def _read_csv(path: Path) -> list[Occupation]:
    reader = csv.DictReader(read_text(path, "a CSV file with occupation and share").splitlines())
    if missing := [name for name in ("occupation", "share") if name not in (reader.fieldnames or ())]:
        raise UnmaskError(f"{path} has no column {missing[0]!r}; give a CSV file with occupation and share")
    occupations = []
    for row in reader:
        title, share = (row["occupation"] or "").strip(), row["share"] or ""
        employed = _read_number(row.get("employed") or "1")
        women = _read_number(share)
        if women is None and share.strip() not in NO_DATA:
            raise UnmaskError(f"{path}: the share {share!r} of {title!r} is not a number; correct it")
        if women is not None and not title:
            raise UnmaskError(f"{path}: line {reader.line_num} has no occupation; name it, or remove the line")
        if women is not None and employed is not None:
            occupations.append(Occupation(title, women, employed))
    if occupations and max(occupation.women for occupation in occupations) <= 1:
        return [replace(occupation, women=100 * occupation.women) for occupation in occupations]
    return occupations


def _read_number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None


def _is_women(heading: str) -> bool:
    return "percent" in heading.lower() and heading.lower().split()[-1] == "women"


def pick_groups(occupations: Sequence[Occupation], count: int) -> dict[str, list[Occupation]]:
    """The occupations with most women, with fewest, and nearest to half, each in ascending order of the share."""
    if len(occupations) < 3 * count:
        raise UnmaskError(
            f"{len(occupations)} occupations have a share of women, and three groups of {count} need {3 * count};"
            " give a smaller --count"
        )
    by_share = sorted(occupations, key=lambda occupation: (occupation.women, occupation.title))
    male, female = by_share[:count], by_share[-count:]
    others = by_share[count:-count]
    nearest = sorted(others, key=lambda occupation: (abs(occupation.women - HALF), occupation.title))[:count]
    balanced = sorted(nearest, key=by_share.index)
    if not male[-1].women < balanced[0].women <= balanced[-1].women < female[0].women:
        raise UnmaskError(f"the shares of women do not tell three groups of {count} apart; give a smaller --count")
    return dict(zip(GROUPS, (female, male, balanced), strict=True))


def lower_title(title: str) -> str:
    """A title in lower case and in the singular, except for words in capitals."""
    words = [word if word.isupper() else word.lower() for word in title.split()]
    return " ".join([*words[:-1], singular(words[-1])])


def shorten_title(title: str) -> str:
    """A short name in the singular: `Cement masons, concrete finishers, and …` becomes `cement mason`.

    That is the first part of the title that ends in a plural, or else its first part.
    """
    parts = [part.strip() for part in re.split(r",|\band\b|\bexcept\b.*|;", title) if part.strip()]
    plural = [part for part in parts if singular(part.split()[-1].lower()) != part.split()[-1].lower()]
    return lower_title((plural or parts or [title])[0])
