"""Recorded scores: items under our column names, or under those of the released BEC-Pro files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, listed
from unmask.lexicon import attributes, persons

if TYPE_CHECKING:
    import pandas as pd

OURS = ("template", "person", "gender", "pair", "profession", "group")
RELEASED = ("Template", "Person", "Gender", "Profession", "Prof_Gender")
RELEASED_SCORE = "Pre_Assoc"


def read(path: Path, language: str, score_column: str | None = None) -> pd.DataFrame:
    """Items from Parquet, CSV or TSV."""
    import pandas as pd

    frame = _frame(path)
    if all(column in frame for column in OURS):
        score = _scores(frame, score_column or "association", path)
        items = frame.assign(association=score)
        for column, default in (
            ("language", language),
            ("corpus", "recorded"),
            ("form", items["profession"]),
            ("workforce_share", float("nan")),
            ("sentence", ""),
        ):
            if column not in items:
                items[column] = default
    elif all(column in frame for column in RELEASED):
        items = _from_released(frame, language).assign(association=_scores(frame, score_column or RELEASED_SCORE, path))
    else:
        missing = [column for column in OURS if column not in frame]
        raise UnmaskError(
            f"{path} lacks the columns {listed(missing)}; association needs {', '.join(OURS)} and a score,"
            f" or the released {', '.join(RELEASED)} and {RELEASED_SCORE}"
        )
    bad = set(items["gender"]) - {"female", "male"}
    if bad:
        raise UnmaskError(f"{path}: gender {listed(map(str, bad))} is neither 'female' nor 'male'")
    items["workforce_share"] = pd.to_numeric(items["workforce_share"], errors="coerce")
    return items


def _frame(path: Path) -> pd.DataFrame:
    import pandas as pd

    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".parquet": pd.read_parquet,
        ".csv": pd.read_csv,
        ".tsv": lambda file: pd.read_csv(file, sep="\t"),
    }
    if not path.is_file():
        raise UnmaskError(f"{path} does not exist; give a file of recorded scores (Parquet, CSV or TSV)")
    if path.suffix not in readers:
        raise UnmaskError(f"{path}: cannot read {path.suffix or 'a file without ending'}; give .parquet, .csv or .tsv")
    try:
        frame = readers[path.suffix](path)
    except (ValueError, OSError, UnicodeDecodeError) as error:
        raise UnmaskError(
            f"{path} cannot be read: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        ) from None
    if frame.empty:
        raise UnmaskError(f"{path} has no rows; give at least one item")
    return frame


def _scores(frame: pd.DataFrame, column: str, path: Path) -> pd.Series[float]:
    import pandas as pd

    if column not in frame:
        raise UnmaskError(
            f"{path} has no column {column!r}; choose one with --score-column: {', '.join(map(str, frame))}"
        )
    scores = pd.to_numeric(frame[column], errors="coerce")
    if scores.isna().any() or scores.abs().eq(float("inf")).any():
        row = int(scores.isna().to_numpy().argmax()) + 1
        raise UnmaskError(
            f"{path}: column {column!r} has values that are not numbers (first in row {row}); every item needs one"
        )
    return scores


def _from_released(frame: pd.DataFrame, language: str) -> pd.DataFrame:
    """Our columns, from the released ones.

    Person words are told apart, and paired, by their place among those of one gender for the same template and
    profession, since `Frau` stands for two of the German ones.
    """
    import pandas as pd

    known = {attribute.name: attribute.workforce_share for attribute in attributes(language)}
    people = persons(language)
    by_gender = {gender: [person for person in people if person.gender == gender] for gender in ("male", "female")}
    profession = frame["Profession_EN"] if "Profession_EN" in frame else frame["Profession"]
    template = frame["Template"].astype(str).str.replace(", die <", ", der <", regex=False)
    pair = frame.groupby([template, profession, frame["Gender"]]).cumcount()

    def phrase(gender: str, at: int, word: str) -> str:
        of_gender = by_gender.get(gender, [])
        if at < len(of_gender) and of_gender[at].target.lower() == word.lower():
            return of_gender[at].phrase
        return word

    return pd.DataFrame(
        {
            "language": language,
            "corpus": "bec-pro",
            "template": template,
            "person": [phrase(*row) for row in zip(frame["Gender"], pair, frame["Person"].astype(str), strict=True)],
            "target": frame["Person"],
            "gender": frame["Gender"],
            "pair": pair,
            "profession": profession,
            "form": frame["Profession"],
            "group": frame["Prof_Gender"],
            "workforce_share": profession.map(known).astype(float),
            "sentence": frame.get("Sentence", ""),
        }
    )
