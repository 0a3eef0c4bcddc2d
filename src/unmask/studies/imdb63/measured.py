"""The measured cells of the study as one table: what its columns are, in which order, and which bias is meant.

A cell is a classifier and a term set: of a base model, trained in one of seven conditions, measured with one of three
term sets. The classifier of the condition `original` is measured with all three, the others with their own, so that
there are nine cells a model. A cell that failed is not there, and leaves a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, listed

if TYPE_CHECKING:
    import pandas as pd

TERMS = ("pro", "weat", "all")
KINDS = ("original", "R", "mix")
COLUMNS = tuple((terms, kind) for terms in TERMS for kind in KINDS)
"""The nine cells of a model, in the order of the paper's tables."""
CONDITIONS = ("original", *(f"{kind}-{terms}" for kind in KINDS[1:] for terms in TERMS))
KEY = ["model", "condition", "terms"]
NUMBERS = (
    "batch_size learning_rate epochs size n below equal above abs_nonzero tot_nonzero abs_all tot_all abs_changed"
    " tot_changed low high effect p p_adjusted flips noise accuracy recall precision f1 terms_per_text"
    " words_n words_p"
).split()
"""Columns with a number; one that is not there is a column of gaps."""


@dataclass(frozen=True)
class Basis:
    """Over which texts a protocol takes its means."""

    absolute: str
    total: str
    words: str


BASES = {
    "sound": Basis("abs_changed", "tot_changed", "the texts that the terms change"),
    "published": Basis("abs_nonzero", "tot_nonzero", "the texts whose bias is not zero"),
}


def basis(cells: pd.DataFrame) -> Basis:
    """The columns of absolute and total bias that the cells' protocol goes by."""
    return BASES[str(cells["protocol"].iloc[0])]


def ordered(cells: pd.DataFrame, *, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """The cells in the order of the paper's tables, every known column there; models stay in the order they came in.

    `by` names what tells cells apart besides model, condition and terms, such as the batch size.
    """
    import pandas as pd

    if cells.empty:
        raise UnmaskError("the table of cells has 0 rows, so there is nothing to report; run the study first")
    if missing := [name for name in (*KEY, "protocol", *by) if name not in cells.columns]:
        raise UnmaskError(f"the table of cells has no column {listed(missing)}; give the table that the study wrote")
    if len(found := sorted(map(str, cells["protocol"].unique()))) > 1 or found[0] not in BASES:
        raise UnmaskError(
            f"the cells are of the protocol {listed(found)}; give cells of one protocol: sound or published"
        )
    for name, known in (("terms", TERMS), ("condition", CONDITIONS)):
        if wrong := sorted(set(map(str, cells[name])) - set(known)):
            raise UnmaskError(f"unknown {name} {listed(wrong)} in the table of cells; known are: {', '.join(known)}")
    if (twice := cells.duplicated([*KEY, *by])).any():
        first = "/".join(str(cells.loc[twice, name].iloc[0]) for name in [*KEY, *by])
        raise UnmaskError(f"the cell {first} is there twice; give each cell once")
    kinds = [str(name).split("-")[0] for name in cells["condition"]]
    kept = cells.assign(model=cells["model"].astype(str), kind=kinds)
    models = list(dict.fromkeys(kept["model"]))
    ranks = [
        (models.index(model), COLUMNS.index((terms, kind)))
        for model, terms, kind in zip(kept["model"], kept["terms"], kept["kind"], strict=True)
    ]
    kept = kept.iloc[sorted(range(len(kept)), key=ranks.__getitem__)].reset_index(drop=True)
    absent = {name: float("nan") for name in NUMBERS if name not in kept.columns}
    kept = kept.assign(**absent, stars=kept["stars"] if "stars" in kept.columns else "-")
    return kept.assign(**{name: pd.to_numeric(kept[name]) for name in NUMBERS})


def models_of(cells: pd.DataFrame) -> list[str]:
    """The base models, in order."""
    return list(dict.fromkeys(cells["model"].astype(str)))


def found(row: pd.Series) -> str:
    """How sure a cell's bias is: stars, `-` for none, or `noise` where it is within the noise of the computation.

    The paper knows no such noise, so `published` never says it.
    """
    if row["protocol"] == "sound" and float(row["noise"]) >= abs(float(row["tot_changed"])):
        return "noise"
    stars = row["stars"]
    return stars if isinstance(stars, str) and stars.strip("* ") == "" and stars.strip() else "-"
