"""Does the batch size move the bias? The same cells trained with several batch sizes, paired.

    total bias:     mean over cells of (bias at a batch size − bias at the largest)
    absolute bias:  exp mean (ln bias at a batch size − ln bias at the largest)

clustered by training (`answer.paired`, df = trainings − 1), p-values adjusted by Holm's method over both biases and all
sizes.

The paper retrained 21 conditions with 32, 16 and 8, and reports in words that it saw no difference.

S. Jentzsch and C. Turan (2022), section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.studies.imdb63.answer import corrected, paired
from unmask.studies.imdb63.measured import KEY, basis, ordered
from unmask.studies.table import Table, figure

if TYPE_CHECKING:
    import pandas as pd


def batch_sizes(cells: pd.DataFrame) -> Table:
    """The bias of each cell at every batch size, and how it compares with the largest, with intervals."""
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
    known = cells.assign(training=cells["model"] + "/" + cells["condition"])
    evidence = corrected(
        [
            paired(
                known,
                column,
                "batch_size",
                size,
                sizes[0],
                on="terms",
                name=f"{name}, {size} {'/' if name == 'abs' else '−'} {sizes[0]}",
                as_ratio=name == "abs",
                cluster="training",
            )
            for name, column in ways.items()
            for size in sizes[1:]
        ]
    )
    said = [f"{one.words.removesuffix('.')}; trainings: {one.clusters}." for one in evidence if one.n + one.left_out]
    return Table(
        "batch-sizes",
        "Bias by batch size",
        ("Model", "Condition", *(f"{name}, {size}" for name in ways for size in sizes)),
        tuple(rows),
        f"Means over {means.words}. Paired by cell, with 95 % intervals over trainings; p-values are adjusted by"
        " Holm's method for all comparisons here. "
        + (" ".join(said) or "There is nothing to pair.")
        + " They hold for these models, and for one training a cell.",
        cells[[*KEY, "batch_size", means.absolute, means.total, "low", "high", "p", "p_adjusted", "accuracy", "f1"]],
        headings=2,
    )
