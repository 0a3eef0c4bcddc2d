"""Recorded answers to pairs of sentences: one row a pair, with the probability of each label, or the answer alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, listed
from unmask.probes import recorded
from unmask.probes.inference import GENDERS, KINDS, PERSON, set_of

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("entailment", "neutral", "contradiction")
PROBABILITIES = tuple(f"p_{label}" for label in LABELS)
NEEDED = ("occupation", "occupation_type", "gender")
RELEASED = {"female-stereo": "female", "male-stereo": "male", "neutral": "neutral"}
ROUNDING = 1e-3


def read(path: Path, language: str | None) -> pd.DataFrame:
    """Items from Parquet, CSV or TSV; columns that an analysis can do without are filled in."""
    frame = recorded.frame_of(path)
    missing = [column for column in NEEDED if column not in frame]
    if missing:
        raise UnmaskError(
            f"{path} lacks the columns {listed(missing)}; inference needs {', '.join(NEEDED)}, and"
            f" {', '.join(PROBABILITIES)}, or prediction"
        )
    items = frame.assign(
        occupation=frame["occupation"].astype(str),
        occupation_type=frame["occupation_type"].astype(str).str.lower().replace(RELEASED),
        gender=frame["gender"].astype(object).where(frame["gender"].notna(), "").astype(str).str.strip().str.lower(),
    )
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
    recorded_languages = sorted(map(str, set(items["language"])))
    if language and recorded_languages != [language]:
        raise UnmaskError(f"{path} holds answers for {listed(recorded_languages)}, not {language!r}")
    items["set"] = [
        set_of(kind, gender) for kind, gender in zip(items["occupation_type"], items["gender"], strict=True)
    ]
    for name in ("PS", "AS", "NS"):
        if not (items["set"] == name).any():
            raise UnmaskError(f"{path} has no pair of the set {name}; inference needs PS, AS and NS")
    return items


def _template(items: pd.DataFrame) -> list[str]:
    """The sentence of a pair: the premise without its occupation, where it is there; else all are one sentence."""
    if "premise" not in items:
        return [""] * len(items)
    pairs = zip(items["premise"].astype(str), items["occupation"], strict=True)
    return [premise.replace(word, PERSON) for premise, word in pairs]


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
    items = items.assign(prediction=items["prediction"].astype(str).str.strip().str.lower())
    _refuse(items, "prediction", LABELS, path)
    return items


def _refuse(items: pd.DataFrame, column: str, known: tuple[str, ...], path: Path) -> None:
    bad = (~items[column].isin(known)).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise UnmaskError(
            f"{path}: {column} is {items[column].iloc[row]!r} in row {row + 1}; choose from:"
            f" {', '.join(one or '(empty, in the control)' for one in known)}"
        )
