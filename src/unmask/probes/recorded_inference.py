"""Recorded answers to pairs of sentences: one row a pair, with the probability of each label, or the answer alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, quote
from unmask.lexicon.inference import KINDS
from unmask.probes import recorded
from unmask.probes.inference import GENDERS, LABELS, PERSON, PROBABILITIES, SETS, set_of

if TYPE_CHECKING:
    import pandas as pd

NEEDED = ("occupation", "occupation_type", "gender")
APART = ("language", "corpus")
"""What answers are told apart by; each kind is analysed by itself."""
WORDS = (*NEEDED, *APART, "prediction", "pair", "template", "premise", "hypothesis")
FILLED = (*APART, "template")
"""Columns that are there for every row or for none."""
RELEASED = {"female-stereo": "female", "male-stereo": "male", "neutral": "neutral"}
ROUNDING = 1e-3


def read(path: Path, language: str | None) -> pd.DataFrame:
    """Items from Parquet, CSV or TSV; columns that an analysis can do without are filled in."""
    frame = recorded.frame_of(path)
    missing = [column for column in NEEDED if column not in frame]
    if missing:
        raise UnmaskError(
            f"{path} lacks the columns {quote(missing)}; inference needs {', '.join(NEEDED)}, and"
            f" {', '.join(PROBABILITIES)}, or prediction"
        )
    items = _texts(frame, path)
    items["occupation_type"] = items["occupation_type"].str.lower().replace(RELEASED)
    items["gender"] = items["gender"].str.lower()
    _refuse(items, "occupation_type", KINDS, path)
    _refuse(items, "gender", (*GENDERS, ""), path)
    items = _answers(items, path)
    defaults: dict[str, Any] = {
        "language": language or "en",
        "corpus": "recorded",
        "pair": "",
        "premise": "",
        "hypothesis": "",
        "template": _template(items),
    }
    items = items.assign(**{column: value for column, value in defaults.items() if column not in items})
    recorded_languages = sorted(set(items["language"]))
    if language and recorded_languages != [language]:
        raise UnmaskError(f"{path} holds answers for {quote(recorded_languages)}, not {language!r}")
    items["set"] = [
        set_of(kind, gender) for kind, gender in zip(items["occupation_type"], items["gender"], strict=True)
    ]
    _check(items, path)
    return items


def _texts(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Every column of words as text, as an audit writes it; in a CSV file an empty one is no text."""
    import pandas as pd

    items = frame.copy()
    for column in [column for column in WORDS if column in items]:
        cells = ["" if pd.isna(cell) else str(cell).strip() for cell in items[column]]
        items[column] = pd.Series(cells, index=items.index, dtype=object)
        empty = (items[column] == "").to_numpy()
        if column in FILLED and empty.all():
            items = items.drop(columns=column)
        elif column in ("occupation", *FILLED) and empty.any():
            raise UnmaskError(f"{path}: {column!r} is empty in row {int(empty.argmax()) + 1}; fill it in")
    return items


def _check(items: pd.DataFrame, path: Path) -> None:
    """Refuse a corpus without one of the sets, or with an occupation of two types."""
    for (language, corpus), rows in items.groupby(list(APART), sort=False):
        missing = [name for name in SETS if not (rows["set"] == name).any()]
        if missing:
            raise UnmaskError(
                f"{path} has no pair of the set {missing[0]} ({language}, {corpus}); inference needs {', '.join(SETS)}"
            )
        types = rows.groupby("occupation")["occupation_type"].nunique()
        if (types > 1).any():
            raise UnmaskError(f"{path}: {types.idxmax()!r} is of {types.max()} types; give every occupation one")


def _template(items: pd.DataFrame) -> list[str]:
    """The sentence of a pair: the premise without its occupation, where it is there; else all are one sentence."""
    if "premise" not in items:
        return [""] * len(items)
    return [premise.replace(word, PERSON) for premise, word in zip(items["premise"], items["occupation"], strict=True)]


def _answers(items: pd.DataFrame, path: Path) -> pd.DataFrame:
    given = [column for column in PROBABILITIES if column in items]
    if len(given) == len(PROBABILITIES):
        items = items.assign(**{column: recorded.scores_of(items, column, path) for column in PROBABILITIES})
        values = items[list(PROBABILITIES)].to_numpy(dtype=float)
        bad = (values < -ROUNDING).any(axis=1) | (abs(values.sum(axis=1) - 1) > ROUNDING)
        if bad.any():
            raise UnmaskError(
                f"{path}: the probabilities of row {int(bad.argmax()) + 1} do not add up to 1; correct them"
            )
        return items.assign(prediction=[LABELS[at] for at in values.argmax(axis=1)])
    if "prediction" not in items:
        raise UnmaskError(f"{path} has neither {', '.join(PROBABILITIES)} nor prediction; give one of them")
    items = items.assign(prediction=items["prediction"].str.lower())
    _refuse(items, "prediction", LABELS, path)
    return items


def _refuse(items: pd.DataFrame, column: str, known: Sequence[str], path: Path) -> None:
    bad = (~items[column].isin(known)).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise UnmaskError(
            f"{path}: {column} is {items[column].iloc[row]!r} in row {row + 1}; choose from:"
            f" {', '.join(one or '(empty, in the control)' for one in known)}"
        )
