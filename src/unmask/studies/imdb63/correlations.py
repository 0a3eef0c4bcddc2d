"""Do more accurate classifiers have less bias? The paper's Table 2, and what can be said soundly.

The paper correlates four figures over its 63 cells as if they were independent (`statistics.published`). They are not:
nine cells share a pretrained model, all share the reviews. `sound` therefore judges r by a jackknife over models on
Fisher's z scale (df = models − 1), Holm over the six pairs, and splits it: between models (over their means) and within
models (deviations from them).

S. Jentzsch and C. Turan (2022), Table 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unmask.results.numbers import interval, number, p_value
from unmask.statistics.corrections import holm
from unmask.statistics.crossed import FISHER, IntervalEstimate, jackknife
from unmask.statistics.published import CORRELATIONS, DECIMALS, published_correlations, stars
from unmask.statistics.relation import pearson_estimate, within
from unmask.studies.imdb63.measured import basis, ordered
from unmask.studies.table import GAP, Table, figure

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Correlation:
    """Two figures over the cells: as if cells were independent, left out model by model, between and within models."""

    first: str
    second: str
    n: int
    cells: IntervalEstimate
    models: IntervalEstimate
    between: IntervalEstimate
    within: IntervalEstimate
    p_adjusted: float | None
    """By the protocol: Holm over the jackknife's p, or the paper's factor times the rounded p of the cells."""

    @property
    def stars(self) -> str:
        """The paper's marks, by the adjusted p."""
        return stars(self.p_adjusted, 1)


def correlations(cells: pd.DataFrame) -> list[Correlation]:
    """The six correlations of absolute bias, total bias, accuracy and F1."""
    cells = ordered(cells)
    pairs = [_correlation(cells, first, second) for first, second in combinations(_figures(cells), 2)]
    if cells["protocol"].iloc[0] == "published":
        return pairs
    adjusted = holm([one.models.p_value for one in pairs])
    return [replace(one, p_adjusted=p) for one, p in zip(pairs, adjusted, strict=True)]


def table_2(cells: pd.DataFrame) -> Table:
    """The paper's matrix, with stars by the protocol."""
    pairs = correlations(cells)
    by = {frozenset((one.first, one.second)): one for one in pairs}
    names = list(dict.fromkeys([*(one.first for one in pairs), pairs[-1].second]))
    rows = []
    for row in names:
        texts = ["" if row == column else _starred(by[frozenset((row, column))]) for column in names]
        rows.append((row, *texts))
    published = cells["protocol"].iloc[0] == "published"
    corrected = (
        f"p over cells as if they were independent, rounded to {DECIMALS} decimals and times {CORRELATIONS}, as in the"
        " paper. They are not independent, so it is far too small: see the details."
        if published
        else "p from a jackknife over models, adjusted by Holm's method for the six pairs."
    )
    return Table(
        "table-2",
        "Table 2. Correlations of biases and quality over the cells (Pearson)",
        ("", *names),
        tuple(rows),
        f"***, **, *: p < .001, .01, .05; {corrected}",
        _numbers(pairs),
    )


def table_2_details(cells: pd.DataFrame) -> Table:
    """Each correlation over cells, between models and within models, with intervals."""
    pairs = correlations(cells)
    rows = tuple(
        (
            f"{one.first}, {one.second}",
            figure(one.cells.value, 3),
            interval(one.cells.interval) or GAP,
            interval(one.models.interval) or GAP,
            GAP if one.p_adjusted is None else p_value(one.p_adjusted).removeprefix("= "),
            _value(one.between),
            _value(one.within),
        )
        for one in pairs
    )
    return Table(
        "table-2-details",
        "Table 2 in detail. The same correlations with 95 % intervals",
        (
            "Figures",
            "r over cells",
            "Interval if cells were independent",
            "Interval over models",
            "p, adjusted",
            "r between models",
            "r within models",
        ),
        rows,
        "The cells of a model share its pretrained weights, and all share the reviews, so the first interval (Fisher's"
        " z over cells) is too narrow; the second leaves out one model at a time. Between: over the models' means."
        " Within: over deviations from those means, still as if a model's cells were independent.",
        _numbers(pairs),
    )


def _figures(cells: pd.DataFrame) -> dict[str, str]:
    means = basis(cells)
    return {"bias abs": means.absolute, "bias tot": means.total, "accuracy": "accuracy", "F1": "f1"}


def _correlation(cells: pd.DataFrame, first: str, second: str) -> Correlation:
    """One of the six, with the paper's adjusted p."""
    columns = _figures(cells)
    known = cells[np.isfinite(cells[[columns[first], columns[second]]]).all(axis=1)]
    x, y = (known[columns[name]].to_numpy(dtype=float) for name in (first, second))
    models = known["model"].to_numpy(dtype=str)
    names = np.unique(models)
    mean_x, mean_y = ([float(side[models == name].mean()) for name in names] for side in (x, y))

    def over(kept: np.ndarray, _: np.ndarray) -> float:
        there = np.isin(models, names[kept])
        r = pearson_estimate(x[there], y[there]).value
        return float("nan") if r is None else r

    inside = IntervalEstimate(None)
    if names.size:
        inside = pearson_estimate(within(x, models), within(y, models), controls=names.size - 1)
    return Correlation(
        first,
        second,
        len(known),
        pearson_estimate(x, y),
        jackknife((names.size, 1), over, scale=FISHER),
        pearson_estimate(mean_x, mean_y),
        inside,
        published_correlations({first: x, second: y})[first, second].p_adjusted,
    )


def _starred(one: Correlation) -> str:
    return GAP if one.cells.value is None else number(one.cells.value, 3) + one.stars


def _value(estimate: IntervalEstimate) -> str:
    return f"{figure(estimate.value, 2)} {interval(estimate.interval)}".strip()


def _numbers(pairs: list[Correlation]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for one in pairs:
        row: dict[str, object] = {"first": one.first, "second": one.second, "n": one.n, "p_adjusted": one.p_adjusted}
        for way in ("cells", "models", "between", "within"):
            estimate: IntervalEstimate = getattr(one, way)
            low, high = estimate.interval or (None, None)
            row |= {f"r_{way}": estimate.value, f"low_{way}": low, f"high_{way}": high, f"p_{way}": estimate.p_value}
        rows.append(row)
    return pd.DataFrame(rows)
