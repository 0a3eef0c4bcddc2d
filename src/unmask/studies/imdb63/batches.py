"""Does the batch size move the bias? The same cells trained with several batch sizes, paired.

    mean over cells of (bias at a batch size − bias at the largest), clustered by training (`statistics.clustered`)

The paper retrained 21 conditions with 32, 16 and 8, and reports in words that it saw no difference.

S. Jentzsch and C. Turan (2022), section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.results.numbers import interval, p_value
from unmask.statistics import clustered
from unmask.studies.imdb63.measured import KEY, basis, ordered
from unmask.studies.imdb63.table import Table, figure

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05


def batch_sizes(cells: pd.DataFrame) -> Table:
    """The bias of each cell at every batch size, and the mean difference from the largest with its interval."""
    cells = ordered(cells, by=("batch_size",))
    means = basis(cells)
    sizes = sorted({int(size) for size in cells["batch_size"]}, reverse=True)
    by = {
        (str(row["model"]), str(row["condition"]), str(row["terms"]), int(row["batch_size"])): row
        for _, row in cells.iterrows()
    }
    keys = list(dict.fromkeys(key[:3] for key in by))
    ways = {"abs": means.absolute, "tot": means.total}
    rows = []
    for model, condition, terms in keys:
        found = [by.get((model, condition, terms, size)) for _ in ways for size in sizes]
        columns = [column for column in ways.values() for _ in sizes]
        texts = [figure(None if row is None else row[name]) for row, name in zip(found, columns, strict=True)]
        rows.append((model, f"{condition.split('-')[0]}-{terms}", *texts))
    said = []
    for name, column in ways.items():
        for size in sizes[1:]:
            pairs = {
                key: float(by[*key, size][column]) - float(by[*key, sizes[0]][column])
                for key in keys
                if (*key, size) in by and (*key, sizes[0]) in by
            }
            if pairs:
                said.append(f"{name}, {size} − {sizes[0]}: {_compared(pairs)}.")
    return Table(
        "batch-sizes",
        "Bias by batch size",
        ("Model", "Condition", *(f"{name}, {size}" for name in ways for size in sizes)),
        tuple(rows),
        f"Means over {means.words}. Paired by cell, with 95 % intervals over trainings: "
        + (" ".join(said) or "nothing to pair.")
        + " They hold for these models, and for one training a cell.",
        cells[[*KEY, "batch_size", means.absolute, means.total, "low", "high", "p", "p_adjusted", "accuracy", "f1"]],
        headings=2,
    )


def _compared(pairs: dict[tuple[str, str, str], float]) -> str:
    trainings = [f"{model}/{condition}" for model, condition, _ in pairs]
    change = clustered.mean(list(pairs.values()), trainings)
    p = change.p_value
    verdict = "not tested" if p is None else "a reliable difference" if p < LEVEL else "no reliable difference"
    figures = f"{figure(change.value)} {interval(change.interval, 4)}".strip()
    return f"{figures}{'' if p is None else f', p {p_value(p)}'} ({verdict}; {len(set(trainings))} trainings)"
