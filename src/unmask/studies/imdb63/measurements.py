"""The finished measurements as one table: a row each, nine rows per model. What failed leaves a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import UnmaskError, quote
from unmask.measures.sentiment.details import Ratings
from unmask.results import Measurement
from unmask.statistics.corrections import holm
from unmask.statistics.jentzsch_turan import published_test, stars
from unmask.studies.imdb63.grid import CONDITIONS, PLACES, PROTOCOLS, TERMS
from unmask.studies.imdb63.plan import ITEMS, RESULT, Measuring
from unmask.studies.models import read_metrics
from unmask.studies.study import FinishedSteps

if TYPE_CHECKING:
    import pandas as pd

KEY = ["model", "condition", "terms"]
NUMBERS = (
    "batch_size learning_rate epochs size n below equal above abs_nonzero tot_nonzero abs_all tot_all abs_changed"
    " tot_changed low high effect p p_adjusted flips noise accuracy recall precision f1 terms_per_text"
    " words_n words_p"
).split()
"""Columns of numbers. One that is absent becomes a column of gaps."""


@dataclass(frozen=True)
class Basis:
    """The columns of absolute and total bias of a protocol, and the texts over which it takes means."""

    absolute: str
    total: str
    texts: str


BASES = {
    "sound": Basis("abs_changed", "tot_changed", "the texts that the terms change"),
    "published": Basis("abs_nonzero", "tot_nonzero", "the texts whose bias is not zero"),
}


def get_basis(grid: pd.DataFrame) -> Basis:
    """Return the columns of bias of the protocol of the measurements."""
    return BASES[str(grid["protocol"].iloc[0])]


def is_sound(grid: pd.DataFrame) -> bool:
    """Return whether the measurements are of the sound protocol."""
    return bool(grid["protocol"].iloc[0] == "sound")


def list_models(grid: pd.DataFrame) -> list[str]:
    """Return the base models, in order."""
    return list(dict.fromkeys(grid["model"].astype(str)))


def is_sure(row: pd.Series) -> bool:
    """Whether the total bias is significant and exceeds the noise of the computation."""
    return rate_significance(row) not in ("noise", "-")


def rate_significance(row: pd.Series) -> str:
    """Return stars, `-` for none, or `noise` where the total bias is within the noise of the computation.

    The paper knows no such noise, so `published` never says it.
    """
    if row["protocol"] == "sound" and float(row["noise"]) >= abs(float(row["tot_changed"])):
        return "noise"
    marks = row["stars"]
    return marks if isinstance(marks, str) and marks.strip("* ") == "" and marks.strip() else "-"


def sort_grid(grid: pd.DataFrame, *, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """Sort measurements as in the paper's tables, with every known column. Models keep their order.

    Args:
        grid: The measurements.
        by: What tells measurements apart in addition to model, condition and terms, such as the batch size.
    """
    import pandas as pd

    if grid.empty:
        raise UnmaskError("the table of measurements has 0 rows, so there is nothing to report; run the study first")
    if missing := [name for name in (*KEY, "protocol", *by) if name not in grid.columns]:
        raise UnmaskError(
            f"the table of measurements has no column {quote(missing)}; give the table that the study wrote"
        )
    if len(protocols := sorted(map(str, grid["protocol"].unique()))) > 1 or protocols[0] not in BASES:
        raise UnmaskError(f"the measurements are of the protocol {quote(protocols)}; give one: sound or published")
    for name, known in (("terms", TERMS), ("condition", CONDITIONS)):
        if unknown := sorted(set(map(str, grid[name])) - set(known)):
            raise UnmaskError(
                f"unknown {name} {quote(unknown)} in the table of measurements; known are: {', '.join(known)}"
            )
    if (repeated := grid.duplicated([*KEY, *by])).any():
        first = "/".join(str(grid.loc[repeated, name].iloc[0]) for name in [*KEY, *by])
        raise UnmaskError(f"the measurement {first} is there twice; give each once")
    grid = grid.assign(model=grid["model"].astype(str), kind=[str(name).split("-")[0] for name in grid["condition"]])
    models = list_models(grid)
    ranks = [
        (models.index(model), PLACES.index((terms, kind)))
        for model, terms, kind in zip(grid["model"], grid["terms"], grid["kind"], strict=True)
    ]
    grid = grid.iloc[sorted(range(len(grid)), key=ranks.__getitem__)].reset_index(drop=True)
    absent = {name: float("nan") for name in NUMBERS if name not in grid.columns}
    grid = grid.assign(**absent, stars=grid["stars"] if "stars" in grid.columns else "-")
    return grid.assign(**{name: pd.to_numeric(grid[name]) for name in NUMBERS})


def read_measurements(steps: Sequence[Measuring], finished: FinishedSteps) -> pd.DataFrame:
    """Return those of the measurements that are finished, with p-values corrected for all of them."""
    import pandas as pd

    rows = []
    for step in steps:
        training = step.training
        if step.name not in finished.folders:
            continue
        metrics = read_metrics(finished.folders[training.name])
        quality = metrics["labels"][PROTOCOLS[training.protocol].label]
        rows.append(
            {
                "model": training.base.name,
                "condition": training.condition,
                "terms": step.terms,
                "kind": training.condition.partition("-")[0],
                "protocol": training.protocol,
                "batch_size": training.settings.batch_size,
                "learning_rate": training.settings.learning_rate,
                "epochs": training.settings.epochs,
                "size": metrics["parameters"],
                **read_figures(finished.folders[step.name]),
                "accuracy": metrics["accuracy"],
                **{name: quality[name] for name in ("recall", "precision", "f1")},
            }
        )
    grid = pd.DataFrame(rows)
    if len(grid) and is_sound(grid):
        grid["p_adjusted"] = holm([None if pd.isna(p) else float(p) for p in grid["p"]])
        grid["stars"] = [stars(p, 1) or "-" for p in grid["p_adjusted"]]
    return grid


def read_figures(folder: Path) -> dict[str, float | int | str | None]:
    """Return the figures of a finished measurement that the tables show."""
    import pandas as pd

    items = pd.read_parquet(folder / ITEMS, columns=["p_female", "p_male", "bias", "changed", "changed_terms"])
    measurement = Measurement.model_validate_json((folder / RESULT).read_text(encoding="utf-8"))
    ratings = measurement.read_details(Ratings)
    test, words = measurement.tests["bias"], measurement.tests.get("bias over words")
    row = published_test(items["p_male"].to_numpy(), items["p_female"].to_numpy())
    changed = items[items["changed"]]
    bias = changed["bias"].to_numpy()
    low, high = test.interval or (None, None)
    return {
        "n": row.n,
        "below": row.below,
        "equal": row.zero,
        "above": row.above,
        "abs_nonzero": row.abs_nonzero,
        "tot_nonzero": row.tot_nonzero,
        "abs_all": row.abs_all,
        "tot_all": row.tot_all,
        "abs_changed": float(np.abs(bias).mean()),
        "tot_changed": float(bias.mean()),
        "low": low,
        "high": high,
        "effect": test.effect_size,
        "p": test.p_value,
        "p_adjusted": row.p_adjusted,
        "stars": row.stars or "-",
        "flips": None if ratings.flips is None else ratings.flips / max(ratings.changed, 1),
        "noise": measurement.noise_floor,
        "terms_per_text": float((changed["changed_terms"].str.count("; ") + 1).mean()),
        "words_n": None if words is None else words.n,
        "words_p": None if words is None else words.p_value,
    }
