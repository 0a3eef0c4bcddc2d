"""The texts behind ratings: those of a measurement, and those whose rating moved most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from unmask.report.highlights import Piece, edits, pieces, places
from unmask.results import Measurement

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXTS = 5


@dataclass(frozen=True)
class Moved:
    """A text whose rating depends on the gender of its people."""

    id: str
    pieces: list[Piece]
    """The text with its differences; empty if texts were not kept."""
    hidden: int
    """Differences for which there was no room."""
    label: str
    female: float | None
    male: float | None
    bias: float
    choices: tuple[str, str] | None
    """The labels of the female and the male version, if they differ."""


def changed(measurement: Measurement, items: pd.DataFrame | None) -> pd.DataFrame | None:
    """The items of a measurement whose versions differ; None if there are no items."""
    if items is None or items.empty or "bias" not in items:
        return None
    terms = measurement.variant
    mine = items
    for column, value in (("language", measurement.language), ("corpus", measurement.corpus), ("terms", terms)):
        if column in mine and mine[column].notna().any():
            mine = mine[mine[column] == value]
    if "changed" in mine and mine["changed"].notna().any():
        mine = mine[mine["changed"].fillna(False).astype(bool)]
    mine = mine[mine["bias"].map(isfinite)]
    return None if mine.empty else mine


def moved(items: pd.DataFrame | None, *, male: bool) -> list[Moved]:
    """The texts that rate highest in their male version over their female one, or the other way round."""
    if items is None:
        return []
    mine = items[items["bias"] > 0] if male else items[items["bias"] < 0]
    ordered = mine.sort_values("bias", ascending=not male, kind="stable").head(MOST_TEXTS)
    return [_moved(row) for row in ordered.to_dict("records")]


def _moved(row: Mapping[Any, Any]) -> Moved:
    text = _word(row.get("text"))
    found = places(text, *(edits(row.get(f"{gender}_changes"), len(text)) for gender in ("female", "male")))
    shown, hidden = pieces(text, found)
    female, male = (_word(row.get(f"choice_{gender}")) for gender in ("female", "male"))
    return Moved(
        id=_word(row.get("id")),
        pieces=shown,
        hidden=hidden,
        label=_word(row.get("label")),
        female=_number(row.get("p_female")),
        male=_number(row.get("p_male")),
        bias=float(row["bias"]),
        choices=(female, male) if female != male and female and male else None,
    )


def _word(value: Any) -> str:
    """What a file holds as a text; nothing where it is missing."""
    missing = value is None or value != value or type(value).__name__ == "NAType"
    return "" if missing else str(value)


def _number(value: Any) -> float | None:
    return value if isinstance(value, float) and isfinite(value) else None
