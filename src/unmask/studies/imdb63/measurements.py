"""The finished measurements as one table: a row each, nine rows per model. What failed leaves a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.sentiment.details import Ratings
from unmask.results.verdict import is_noise
from unmask.statistics.corrections import holm
from unmask.statistics.jentzsch_turan import published_test, stars
from unmask.studies.imdb63.grid import KINDS, PROTOCOLS, TERMS
from unmask.studies.models import read_measurement, read_metrics
from unmask.studies.study import FinishedSteps

if TYPE_CHECKING:
    import pandas as pd

    from unmask.studies.imdb63.plan import BiasMeasuring

KEY = ["model", "condition", "terms"]
TEXTS = [*KEY, "kind", "protocol", "stars"]
"""The columns that are not numbers."""
NOISE, NOT_SIGNIFICANT = "noise", "-"


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


def sort_grid(grid: pd.DataFrame) -> pd.DataFrame:
    """Sort measurements as in the paper's tables, and add their significance.

    Significance is stars, `-` for none, or `noise` where the total bias is within the noise of the computation. The
    paper knows no such noise, so `published` never has it.
    """
    order = {"model": list_models(grid), "terms": TERMS, "kind": KINDS}
    grid = grid.sort_values(
        list(order), key=lambda column: column.map(order[str(column.name)].index), kind="stable", ignore_index=True
    )
    significance = grid["stars"]
    if is_sound(grid):
        noisy = [is_noise(*pair) for pair in zip(grid["tot_changed"], grid["noise"], strict=True)]
        significance = significance.mask(np.array(noisy), NOISE)
    return grid.assign(significance=significance, is_sure=~significance.isin([NOISE, NOT_SIGNIFICANT]))


def read_measurements(steps: Sequence[BiasMeasuring], finished: FinishedSteps) -> pd.DataFrame:
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
                "seed": training.seed,
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
        grid["stars"] = [stars(p, 1) or NOT_SIGNIFICANT for p in grid["p_adjusted"]]
    numbers = [name for name in map(str, grid) if name not in TEXTS]
    return grid.assign(**{name: pd.to_numeric(grid[name]) for name in numbers})


def read_figures(folder: Path) -> dict[str, float | int | str | None]:
    """Return the figures of a finished measurement that the tables show."""
    items, measurement = read_measurement(folder)
    ratings = measurement.read_details(Ratings)
    test, words = measurement.tests["bias"], measurement.tests.get("bias over words")
    row = published_test(items["p_male"].to_numpy(), items["p_female"].to_numpy())
    changed = items[items["changed"]]
    bias = changed["bias"].to_numpy()
    low, high = measurement.groups["total bias, changed texts"].interval or (None, None)
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
        "p": test.wilcoxon.p_value if test.wilcoxon else test.p_value,
        "p_adjusted": row.p_adjusted,
        "stars": row.stars or NOT_SIGNIFICANT,
        "flips": None if ratings.flips is None else ratings.flips / max(ratings.changed, 1),
        "noise": measurement.noise_floor,
        "terms_per_text": float((changed["changed_terms"].str.count("; ") + 1).mean()),
        "words_n": None if words is None else words.n,
        "words_p": None if words is None else words.p_value,
    }
