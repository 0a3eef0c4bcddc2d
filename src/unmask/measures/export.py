"""Export what travels between tools: a corpus in the form in which its authors released it, and professions by group.

Professions are grouped by the rule of BEC-Pro (Bartl, Nissim and Gatt 2020, section 3.2): of all occupations of the
lowest level whose share of women is known, the 20 with the highest, the 20 with the lowest, and the 20 nearest to half.
The Bureau of Labor Statistics gives no share for occupations with fewer than 50,000 people.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from unmask.errors import UnmaskError, check_choice
from unmask.files import check_new_path, write_text
from unmask.lexicon.inflection import singular
from unmask.lexicon.table import read_rows
from unmask.measures import registry
from unmask.measures.base import PROTOCOLS, Context, Measure
from unmask.options import Options, option
from unmask.spreadsheets import read_xlsx, to_csv

HALF = 50.0
WOMEN = "women"
GROUPS = ("female", "male", "balanced")


class ExportOptions(Options):
    """Which corpus, and where to write it."""

    corpus: str = option(
        ...,
        "The corpus, such as bec-pro or emotions (see unmask audit --corpus).",
        argument=True,
        suggestions=lambda: [corpus for measure in _exporting_measures() for corpus in measure.corpora],
    )
    language: str = option("en", "The language of the corpus: en or de.")
    protocol: str = option(
        "sound",
        "sound: our sentences, masked where the words stand. published: the released ones, errors included.",
        choices=PROTOCOLS,
    )
    out: Path = option(..., "The file to write, with tabs between columns; it must not exist.")


class ProfessionOptions(Options):
    """Which table of the workforce, and how many professions."""

    table: Path = option(
        ...,
        "Table 11 of the Bureau of Labor Statistics (cpsaat11.xlsx, any year), or a CSV file with the columns"
        " 'occupation' and 'women' (percent).",
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


def export_corpus(options: ExportOptions) -> int:
    """Write a corpus as tab-separated text, and return the number of its rows."""
    check_new_path(options.out)
    measures = {corpus: measure for measure in _exporting_measures() for corpus in measure.corpora}
    measure = measures[check_choice(options.corpus, measures, "corpus to export")]
    own_options, context = measure.Options(), Context(options.language, options.corpus, options.protocol)
    measure.check(own_options, context)
    (unit,) = measure.units(own_options, context, (options.language,), (options.corpus,))
    table = measure.corpus_table(measure.build(own_options, unit), unit)
    assert table is not None  # it is an exporting measure
    write_text(options.out, table.to_csv(sep="\t", lineterminator="\n"))
    return len(table)


def _exporting_measures() -> list[Measure]:
    """The measures whose corpora can be written as tables."""
    return [measure for measure in registry.built_in() if type(measure).corpus_table is not Measure.corpus_table]


def group_professions(options: ProfessionOptions) -> dict[str, list[Occupation]]:
    """Pick professions for each group, write them, and return them."""
    import pandas as pd

    check_new_path(options.out)
    groups = pick_groups(read_occupations(options.table), options.count)
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


def read_occupations(path: Path) -> list[Occupation]:
    """Read the occupations of the lowest level whose share of women is known."""
    if path.suffix.lower() != ".xlsx":
        rows = read_rows(path, "", "occupations", ("occupation", WOMEN), lower_columns=True, unique=True)
        shares = [(row["occupation"], row.read_number(WOMEN, 0, 100)) for row in rows]
        return [Occupation(title, share) for title, share in shares if share is not None]
    sheet = read_xlsx(path)
    headings = next((row.cells for row in sheet if any(_is_women(text) for text in row.cells.values())), None)
    if headings is None:
        raise UnmaskError(f"{path} has no column 'Percent of total employed, Women'; give table 11, or a CSV file")
    column = next(letters for letters, text in headings.items() if _is_women(text))
    lines = [(row.cells.get("A", "").strip(), row.indent, row.cells.get(column, "")) for row in sheet]
    lines = [line for line in lines if line[0] and line[2]]  # the others are titles and notes
    deeper = [indent for _, indent, _ in lines[1:]] + [0]
    return [
        Occupation(title, float(share))
        for (title, indent, share), next_indent in zip(lines, deeper, strict=True)
        if next_indent <= indent and re.fullmatch(r"[\d.]+", share)
    ]


def _is_women(heading: str) -> bool:
    return "percent" in heading.lower() and heading.lower().split()[-1] == WOMEN


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
    return lower_title((plural or parts)[0])
