"""All that the study found: answers, tables, how it was set up, what is missing, and the effect of the batch size.

**Batch sizes.** Does the batch size change the bias? The same cells trained with several batch sizes, paired:

    total bias:     mean over cells of (bias at a batch size − bias at the largest)
    absolute bias:  exp mean (ln bias at a batch size − ln bias at the largest)

clustered by training (df = trainings − 1), p-values adjusted by Holm's method over both biases and all sizes. The paper
retrained 21 conditions with 32, 16 and 8, and reports in words that it saw no difference (section 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.results.formatting import number
from unmask.results.verdict import ALPHA
from unmask.statistics.corrections import holm
from unmask.studies.imdb63.answers import Answer, answers, corrected, paired
from unmask.studies.imdb63.grid import KEY, basis, found, models_of, ordered
from unmask.studies.imdb63.tables import missing, settings, table_1, table_2, table_2_details, tables_3_4, tables_5_6
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


HARDLY = 0.6
"""An accuracy below this is hardly better than chance, with two labels."""


@dataclass(frozen=True)
class Findings:
    """The study's result, ready to be shown."""

    cells: pd.DataFrame
    headline: str
    answers: tuple[Answer, ...]
    first: Table
    """Table 1, which stands before the figures."""
    tables: tuple[Table, ...]
    """The others."""
    settings: Mapping[str, str]
    missing: tuple[str, ...]
    """Cells of the grid that were not measured."""
    failures: tuple[str, ...]
    """What failed, and why, in a line each."""

    @property
    def protocol(self) -> str:
        """Sound or published."""
        return str(self.cells["protocol"].iloc[0])

    @property
    def answered(self) -> list[tuple[str, str]]:
        """The paper's questions and their answers, in words."""
        return [(one.question, one.answer) for one in self.answers]

    @property
    def printed(self) -> tuple[Table, ...]:
        """All tables, in order."""
        return (self.first, *self.tables)

    @property
    def models(self) -> list[str]:
        """The base models, in order."""
        return models_of(self.cells)


def findings(
    cells: pd.DataFrame,
    *,
    batches: pd.DataFrame | None = None,
    settings_of_all: Mapping[str, str] | None = None,
    failures: Sequence[str] = (),
    asked: Sequence[str] | None = None,
    seed: int = 0,
) -> Findings:
    """Gather all; `batches` holds the cells that were trained again with other batch sizes; of one size
    alone there is nothing to compare, and no table.

    `settings_of_all` says how the study was set up; `failures` are lines that name what failed and why;
    `asked` are the cells that the study was to measure (None: the whole grid of its models).
    """
    tables = [table_2(cells), table_2_details(cells), *tables_3_4(cells), *tables_5_6(cells)]
    if batches is not None and len(batches) and ordered(batches, by=("batch_size",))["batch_size"].nunique() > 1:
        tables.append(batch_sizes(batches))
    kept = ordered(cells)
    return Findings(
        kept,
        headline(kept),
        tuple(answers(cells, seed=seed)),
        table_1(cells),
        (*tables, settings(cells)),
        dict(settings_of_all or {}),
        tuple(missing(cells, asked)),
        tuple(failures),
    )


def evidence_of(answers: Sequence[Answer]) -> pd.DataFrame:
    """The figures behind the answers, unrounded, one a row."""
    import pandas as pd

    rows = []
    for answer in answers:
        for one in answer.evidence:
            low, high = one.estimate.interval or (None, None)
            figures = {
                "estimate": one.estimate.value,
                "low": low,
                "high": high,
                "null": one.null,
                "n": one.n,
                "left_out": one.left_out,
            }
            tests = {"df": one.estimate.df, "p": one.estimate.p_value, "p_adjusted": one.p_adjusted}
            rows.append({"question": answer.question, "figure": one.name, **figures, **tests})
    return pd.DataFrame(rows)


def headline(cells: pd.DataFrame) -> str:
    """How many cells have a bias, which way, and how large it is."""
    means = basis(cells)
    sure = [found(row).startswith("*") for _, row in cells.iterrows()]
    totals, absolutes = cells[means.total], cells[means.absolute]
    male, female = int((totals[sure] > 0).sum()), int((totals[sure] < 0).sum())
    said = (
        f"In {sum(sure)} of {len(cells)} measured cells the ratings of male and female versions differ more than other"
        f" texts would explain: {male} favour male versions, {female} female ones."
    )
    tested = cells["words_p"].dropna()
    if len(tested):
        held = sum(p is not None and p < ALPHA for p in holm(tested.tolist()))
        said += (
            f" Other words would not explain it either in {held} of the {len(tested)} cells with enough pairs of terms."
        )
    if totals.notna().any():
        said += (
            f" A small p does not make a bias large: on a scale from 0 to 1, the total bias lies between"
            f" {number(totals.min(), 4)} and {number(totals.max(), 4)}, and the absolute bias of the median cell is"
            f" {number(absolutes.median(), 4)} (means over {means.words})."
        )
    poor = int((cells["accuracy"] < HARDLY).sum())
    if poor:
        said += (
            f" In {poor} cells the classifier has hardly learned its task (accuracy below {HARDLY}), so that its"
            " biases are those of its first weights."
        )
    return said
