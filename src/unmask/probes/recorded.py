"""Recorded scores: items under our column names, or under those of the released BEC-Pro files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, quote
from unmask.lexicon import GENDERS, Person, attributes, persons
from unmask.spreadsheets import plain_frame

if TYPE_CHECKING:
    import pandas as pd

OURS = ("template", "person", "gender", "profession", "group")
RELEASED = ("Person", "Gender", "Profession", "Prof_Gender")
RELEASED_SCORE = "Pre_Assoc"


def locate(path: Path, measure: str) -> tuple[Path, str]:
    """The file of recorded scores, and a name for what they belong to; an audit folder stands for its items."""
    folder = path.parent.parent if path.parent.name == "items" else path
    file = folder / "items" / f"{measure}.parquet" if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise UnmaskError(
            f"{path} is a folder without items/{measure}.parquet; give an audit folder or a file of scores"
        )
    return file, folder.name if folder != path or path.is_dir() else path.stem


def read(path: Path, language: str | None, score_column: str | None = None) -> pd.DataFrame:
    """Items from Parquet, CSV or TSV; in our columns the language is among them, in the released ones it is not."""
    import pandas as pd

    frame = frame_of(path)
    if all(column in frame for column in OURS):
        items = _from_ours(frame, language, path).assign(
            association=scores_of(frame, score_column or "association", path)
        )
    elif all(column in frame for column in RELEASED):
        items = _from_released(frame, language or "en", path).assign(
            association=scores_of(frame, score_column or RELEASED_SCORE, path)
        )
    else:
        missing = [column for column in OURS if column not in frame]
        raise UnmaskError(
            f"{path} lacks the columns {quote(missing)}; association needs {', '.join(OURS)} and a score,"
            f" or the released {', '.join(RELEASED)} and {RELEASED_SCORE}"
        )
    _check(items, path)
    items["workforce_share"] = pd.to_numeric(items["workforce_share"], errors="coerce")
    return items


def _check(items: pd.DataFrame, path: Path) -> None:
    import pandas as pd

    for column in ("language", *OURS, "pair"):
        empty = items[column].isna() | items[column].astype(str).str.strip().eq("")
        if empty.any():
            raise UnmaskError(f"{path}: {column!r} is empty in row {int(empty.to_numpy().argmax()) + 1}; fill it in")
    groups = items.groupby("profession")["group"].nunique()
    if (groups > 1).any():
        raise UnmaskError(f"{path}: {groups.idxmax()!r} stands in {groups.max()} groups; give every profession one")
    given = items["workforce_share"].dropna()
    shares = pd.to_numeric(given, errors="coerce")
    strange = shares.isna() | (shares < 0) | (shares > 100)
    if strange.any():
        raise UnmaskError(
            f"{path}: workforce_share {str(given[strange].iloc[0])!r} is not a percentage between 0 and 100"
        )
    double = items.duplicated(["language", "corpus", "template", "profession", "gender", "pair"])
    if double.any():
        row = int(double.to_numpy().argmax())
        first = items.iloc[row]
        raise UnmaskError(
            f"{path}, row {row + 1}: {first['person']!r} with {first['profession']!r} stands there twice"
            " for one template; give every item once"
        )


def _from_ours(frame: pd.DataFrame, language: str | None, path: Path) -> pd.DataFrame:
    """Our columns; those that an analysis can do without are filled in."""
    recorded = set(frame["language"]) if "language" in frame else {language or "en"}
    if language and recorded != {language}:
        raise UnmaskError(f"{path} holds scores for {quote(sorted(map(str, recorded)))}, not for {language!r}")
    items = frame.copy()
    defaults: dict[str, Any] = {
        "language": language or "en",
        "corpus": "recorded",
        "form": items["profession"],
        "workforce_share": float("nan"),
        "sentence": "",
    }
    items = items.assign(**{column: value for column, value in defaults.items() if column not in items})
    _refuse_other_genders(items["gender"], path)
    if "pair" not in items:
        known = {
            (person.gender, person.phrase.lower()): person.pair
            for each in recorded & {"en", "de"}
            for person in persons(str(each))
        }
        items["pair"] = _by_word(items["gender"], items["person"], known, path)
    return items


def _refuse_other_genders(genders: pd.Series[str], path: Path) -> None:
    bad = set(genders.astype(str)) - set(GENDERS)
    if bad:
        raise UnmaskError(f"{path}: gender {quote(sorted(bad))} is unknown; give 'female' or 'male'")


def _by_word(
    genders: pd.Series[str], words: pd.Series[str], known: Mapping[tuple[str, str], int], path: Path
) -> list[int]:
    """The pair of each person word, where every word is known."""
    keys = [(str(gender), str(word).lower()) for gender, word in zip(genders, words, strict=True)]
    strange = [word for gender, word in keys if (gender, word) not in known]
    if strange:
        raise UnmaskError(
            f"{path}: {strange[0]!r} is no person word of ours, so its counterpart is unknown; add a column 'pair'"
        )
    return [known[key] for key in keys]


def frame_of(path: Path) -> pd.DataFrame:
    """A table from Parquet, CSV or TSV."""
    import pandas as pd

    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".parquet": pd.read_parquet,
        ".csv": lambda file: plain_frame(pd.read_csv(file)),
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


def scores_of(frame: pd.DataFrame, column: str, path: Path) -> pd.Series[float]:
    """A column of numbers, every one of them there."""
    import pandas as pd

    if column not in frame:
        raise UnmaskError(
            f"{path} has no column {column!r}; choose one with --score-column: {', '.join(map(str, frame))}"
        )
    scores = pd.to_numeric(frame[column], errors="coerce")
    bad = (scores.isna() | scores.abs().eq(float("inf"))).to_numpy()
    if bad.any():
        raise UnmaskError(
            f"{path}: column {column!r} has values that are not numbers (first in row {int(bad.argmax()) + 1});"
            " every item needs one"
        )
    return scores


def _from_released(frame: pd.DataFrame, language: str, path: Path) -> pd.DataFrame:
    """Our columns, from the released ones.

    A person word tells which pair it belongs to, wherever its row stands. `Frau` stands for two of the German ones
    (*diese Frau*, *meine Frau*), which are told apart by their order. Without a column `Template`, the rows of a person
    word and profession are taken as one template each.
    """
    import pandas as pd

    shares = {attribute.name: attribute.workforce_share for attribute in attributes(language)}
    phrases: dict[tuple[str, str], list[Person]] = {}
    for person in persons(language):
        phrases.setdefault((person.gender, person.target.lower()), []).append(person)
    _refuse_other_genders(frame["Gender"], path)
    profession = (frame["Profession_EN"] if "Profession_EN" in frame else frame["Profession"]).astype(object).fillna("")
    keys = list(zip(frame["Gender"].astype(str), frame["Person"].astype(str).str.lower(), strict=True))
    first = {key: found[0].pair for key, found in phrases.items()}
    _by_word(frame["Gender"], frame["Person"], first, path)  # refuses words that are unknown
    senses = pd.Series([len(phrases[key]) for key in keys], index=frame.index)
    if "Template" in frame:
        template = frame["Template"].astype(str).str.replace(", die <", ", der <", regex=False)
        nth = frame.groupby([template, profession, frame["Gender"], frame["Person"]]).cumcount()
    else:
        count = frame.groupby([profession, frame["Gender"], frame["Person"]]).cumcount()
        template = (count // senses).map(lambda number: f"template {number + 1}")
        nth = count % senses
    chosen = [phrases[key][min(at, len(phrases[key]) - 1)] for key, at in zip(keys, nth, strict=True)]
    return pd.DataFrame(
        {
            "language": language,
            "corpus": "bec-pro",
            "template": template,
            "person": [person.phrase for person in chosen],
            "target": frame["Person"],
            "gender": frame["Gender"],
            "pair": [person.pair for person in chosen],
            "profession": profession,
            "form": frame["Profession"],
            "group": frame["Prof_Gender"],
            "workforce_share": profession.map(shares).astype(float),
            "sentence": frame.get("Sentence", ""),
        }
    )
