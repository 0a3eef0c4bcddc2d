"""Recorded associations: items under our column names, or under those of the released BEC-Pro files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, quote
from unmask.lexicon import GENDERS, Person, attributes, persons
from unmask.measures.base import Context
from unmask.measures.recorded import (
    CORPUS,
    OPTIONAL,
    REQUIRED,
    RecordedColumn,
    complete_columns,
    read_scores,
    read_table,
)

if TYPE_CHECKING:
    import pandas as pd

RELEASED = (
    RecordedColumn("Person", "text"),
    RecordedColumn("Gender", "text", choices=GENDERS),
    RecordedColumn("Profession", "text"),
    RecordedColumn("Prof_Gender", "text"),
)
RELEASED_SCORE = "Pre_Assoc"
COLUMNS = (
    CORPUS,
    RecordedColumn("template", "text"),
    RecordedColumn("person", "text"),
    RecordedColumn("gender", "text", choices=GENDERS),
    RecordedColumn("profession", "text"),
    RecordedColumn("group", "text"),
    RecordedColumn("form", default=lambda items: items["profession"], nullable=True),
    RecordedColumn("workforce_share", "number", default=float("nan"), nullable=True),
    RecordedColumn("sentence", default="", nullable=True),
    RecordedColumn("pair", default=OPTIONAL),
)
NEEDS = (
    "association needs template, person, gender, profession, group and a score, or the released"
    f" {', '.join(column.name for column in RELEASED)} and {RELEASED_SCORE}"
)


def read_items(path: Path, context: Context, *, language: str | None, score_column: str | None) -> pd.DataFrame:
    """Read recorded associations."""
    del context
    table = read_table(path)
    needed = {column.name for column in COLUMNS if column.default is REQUIRED}
    is_released = not needed <= set(table) and {column.name for column in RELEASED} <= set(table)
    items = _convert_released(table, language or "en", path) if is_released else table
    items = complete_columns(items, COLUMNS, path, language=language, needs=NEEDS)
    if "pair" not in items:
        words = {
            (person.gender, person.phrase.lower()): [person]
            for code in sorted({"en", "de"} & set(items["language"]))
            for person in persons(code)
        }
        items["pair"] = [phrases[0].pair for phrases in _match_persons(items["gender"], items["person"], words, path)]
    score_column = score_column or (RELEASED_SCORE if is_released else "association")
    items["association"] = read_scores(table, score_column, path)
    _check_items(items, path)
    return items


def _convert_released(frame: pd.DataFrame, language: str, path: Path) -> pd.DataFrame:
    """Our columns, from the released ones.

    A person word determines its pair. `Frau` occurs in two of the German pairs (*diese Frau*, *meine Frau*), which are
    told apart by their order. Without a column `Template`, the rows of a person word and profession count as one
    template each.
    """
    import pandas as pd

    frame = complete_columns(frame, RELEASED, path, language=language)
    words: dict[tuple[str, str], list[Person]] = {}
    for person in persons(language):
        words.setdefault((person.gender, person.target.lower()), []).append(person)
    profession = (frame["Profession_EN"] if "Profession_EN" in frame else frame["Profession"]).astype(object).fillna("")
    phrases = _match_persons(frame["Gender"], frame["Person"], words, path)
    senses = pd.Series([len(options) for options in phrases], index=frame.index)
    if "Template" in frame:
        template = frame["Template"].astype(str).str.replace(", die <", ", der <", regex=False)
        nth = frame.groupby([template, profession, frame["Gender"], frame["Person"]]).cumcount()
    else:
        count = frame.groupby([profession, frame["Gender"], frame["Person"]]).cumcount()
        template = (count // senses).map(lambda number: f"template {number + 1}")
        nth = count % senses
    people = [options[min(index, len(options) - 1)] for options, index in zip(phrases, nth, strict=True)]
    shares = {attribute.name: attribute.workforce_share for attribute in attributes(language)}
    return pd.DataFrame(
        {
            "language": language,
            "corpus": "bec-pro",
            "template": template,
            "person": [person.phrase for person in people],
            "target": frame["Person"],
            "gender": frame["Gender"],
            "pair": [person.pair for person in people],
            "profession": profession,
            "form": frame["Profession"],
            "group": frame["Prof_Gender"],
            "workforce_share": profession.map(shares).astype(float),
            "sentence": frame.get("Sentence", ""),
        }
    )


def _match_persons(
    genders: pd.Series[str], phrases: pd.Series[str], words: dict[tuple[str, str], list[Person]], path: Path
) -> list[list[Person]]:
    """The persons of the lexicon that each word may stand for; an unknown word is an error."""
    keys = [(gender, phrase.lower()) for gender, phrase in zip(genders, phrases, strict=True)]
    unknown = [phrase for gender, phrase in keys if (gender, phrase) not in words]
    if unknown:
        raise UnmaskError(
            f"{path}: {unknown[0]!r} is not a known person word, so its counterpart is unknown; add a column 'pair'"
        )
    return [words[key] for key in keys]


def _check_items(items: pd.DataFrame, path: Path) -> None:
    """Raise an error for a profession in two groups, an impossible workforce share, or an item that occurs twice."""
    groups = items.groupby("profession")["group"].unique()
    ambiguous = groups[groups.map(len) > 1]
    if len(ambiguous):
        profession, names = ambiguous.index[0], [str(name) for name in ambiguous.iloc[0]]
        raise UnmaskError(f"{path}: {profession!r} is in the groups {quote(names)}; give every profession one group")
    shares = items["workforce_share"].dropna()
    outside = shares[(shares < 0) | (shares > 100)]
    if len(outside):
        raise UnmaskError(f"{path}: the workforce_share {outside.iloc[0]:g} is not a percentage between 0 and 100")
    duplicates = items.duplicated(["language", "corpus", "template", "profession", "gender", "pair"]).to_numpy()
    if duplicates.any():
        row = int(duplicates.argmax())
        first = items.iloc[row]
        raise UnmaskError(
            f"{path}, row {row + 1}: {first['person']!r} with {first['profession']!r} occurs twice for one template;"
            " give every item once"
        )
