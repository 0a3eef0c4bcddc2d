"""What the paper tried beside its tables: batch sizes, other term sets for measuring; and ours: several trainings.

**Batch sizes.** Does the batch size change the bias? The same measurements with several batch sizes, paired:

    total bias:     mean of (bias at a batch size − bias at the largest)
    absolute bias:  exp mean (ln bias at a batch size − ln bias at the largest)

clustered by training (df = trainings − 1), with Holm over both biases and all sizes. The paper retrained 21 conditions
with 32, 16 and 8, and reports in words that it saw no difference (section 3).

**Cross term sets.** Does it matter that the terms that are taken out of (or balanced in) the training reviews are those
that measure the bias? Each classifier is also measured with the two other sets. For each base model, kind of training
(R, mix) and measuring set, the mean over the classifiers trained with another set is compared with the classifier that
was trained with this one:

    total bias:     mean of (other − same)        absolute bias:  exp mean (ln other − ln same)

clustered by model (df = models − 1), with Holm over both biases and both kinds. The paper reports in words that values
"differed marginally" (section 3).

**Several trainings.** The same classifier trained with other seeds (the head, the order of reviews, what is held out)
has another bias. A measurement's mean over trainings has a t interval (df = trainings − 1), with Holm over the
measurements. The spread between trainings is √(mean of the variances within measurements).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmask.results.formatting import interval
from unmask.results.formatting import p as format_p
from unmask.statistics.corrections import holm
from unmask.statistics.jackknife import clustered_mean
from unmask.studies.imdb63.answers import Finding, adjust_findings, compare_levels
from unmask.studies.imdb63.grid import TERMS
from unmask.studies.imdb63.measurements import KEY, get_basis
from unmask.studies.imdb63.tables import choose_format
from unmask.studies.report import GAP, StudyTable, format_number, tabulate

if TYPE_CHECKING:
    import pandas as pd


def tabulate_batch_sizes(grid: pd.DataFrame) -> StudyTable:
    """The bias of each measurement at every batch size, and how it compares with the largest."""
    basis = get_basis(grid)
    sizes = sorted({int(size) for size in grid["batch_size"]}, reverse=True)
    columns = {"abs": basis.absolute, "tot": basis.total}
    wide = grid.pivot(index=KEY, columns="batch_size", values=list(columns.values()))
    wide = wide.reindex(columns=[(column, size) for column in columns.values() for size in sizes])
    texts = dict(zip(wide.index, wide.map(format_number).to_numpy().tolist(), strict=True))
    rows = [
        (model, f"{condition.partition('-')[0]}-{terms}", *texts[model, condition, terms])
        for model, condition, terms in dict.fromkeys(grid[KEY].itertuples(index=False, name=None))
    ]
    trained = grid.assign(training=grid["model"] + "/" + grid["condition"])
    findings = adjust_findings(
        [
            compare_levels(
                trained,
                column,
                ("batch_size", size, sizes[0]),
                on="terms",
                name=f"{name}, {size} {'/' if name == 'abs' else '−'} {sizes[0]}",
                as_ratio=name == "abs",
                cluster="training",
            )
            for name, column in columns.items()
            for size in sizes[1:]
        ]
    )
    names = [*KEY, "batch_size", *columns.values(), "low", "high", "p", "p_adjusted", "accuracy", "f1"]
    return StudyTable(
        "batch-sizes",
        "Bias by batch size",
        ("Model", "Condition", *(f"{name}, {size}" for name in columns for size in sizes)),
        rows,
        f"Means over {basis.texts}. Paired by measurement, with 95 % intervals over trainings; p-values are adjusted by"
        f" Holm's method for all comparisons here. {_join_findings(findings, 'trainings')} They hold for"
        " these models, and for one training each.",
        grid[names],
        headings=2,
    )


def _join_findings(findings: Sequence[Finding], clusters: str) -> str:
    """The findings that have pairs, as sentences that state the number of clusters."""
    sentences = [
        f"{finding.sentence.removesuffix('.')}; {clusters}: {finding.clusters}."
        for finding in findings
        if finding.n + finding.left_out
    ]
    return " ".join(sentences) or "There is nothing to pair."


def tabulate_cross_terms(grid: pd.DataFrame) -> StudyTable:
    """The bias of each classifier without terms, or with balanced ones, measured with every term set."""
    basis = get_basis(grid)
    columns = {"abs": basis.absolute, "tot": basis.total}
    grid = grid[grid["kind"] != "original"]
    order = list(dict.fromkeys(grid[["model", "condition"]].itertuples(index=False, name=None)))
    wide = grid.pivot(index=["model", "condition"], columns="terms", values=list(columns.values()))
    wide = wide.reindex(index=order, columns=[(column, terms) for column in columns.values() for terms in TERMS])
    rows = [(*key, *map(choose_format(grid), values)) for key, values in zip(order, wide.to_numpy(), strict=True)]
    is_same = grid["condition"].str.partition("-")[2] == grid["terms"]
    paired = grid.assign(match=np.where(is_same, "same", "other"))
    paired = paired.groupby(["model", "kind", "terms", "match"], as_index=False, sort=False)[[*columns.values()]].mean()
    findings = adjust_findings(
        [
            compare_levels(
                paired[paired["kind"] == kind],
                column,
                ("match", "other", "same"),
                on="terms",
                name=f"{kind}, {name}, other {'/' if name == 'abs' else '−'} same set",
                as_ratio=name == "abs",
            )
            for kind in dict.fromkeys(paired["kind"])
            for name, column in columns.items()
        ]
    )
    names = [*KEY, *columns.values(), "low", "high", "p", "p_adjusted"]
    return StudyTable(
        "cross-terms",
        "Bias by the term set of the training reviews and that of the measurement",
        ("Model", "Training", *(f"{name}: {terms}" for name in columns for terms in TERMS)),
        rows,
        f"Means over {basis.texts}; columns: the set that measures. A classifier that was trained with another set is"
        " compared with the one that was trained with the set that measures, with 95 % intervals over models; p-values"
        f" are adjusted by Holm's method. {_join_findings(findings, 'models')}",
        grid[names],
        headings=2,
    )


def average_trainings(grid: pd.DataFrame, trainings: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements of a grid with biases that are means over all trainings."""
    if not len(trainings):
        return grid
    basis = get_basis(grid)
    columns = [basis.absolute, basis.total]
    means = trainings.groupby(KEY)[columns].mean().reindex(grid.set_index(KEY).index)
    return grid.assign(**{column: means[column].to_numpy() for column in columns})


def tabulate_trainings(trainings: pd.DataFrame) -> StudyTable:
    """The bias of each measurement over trainings with several seeds."""
    import pandas as pd

    basis = get_basis(trainings)
    records = []
    for key, group in trainings.groupby(KEY, sort=False):
        row: dict[str, object] = dict(zip(KEY, key, strict=True)) | {"n": len(group)}
        for name, column in {"abs": basis.absolute, "tot": basis.total}.items():
            estimate = clustered_mean(group[column].to_numpy(), group["seed"].to_numpy())
            bounds = estimate.interval
            row |= {name: estimate.value, f"{name}_interval": bounds, f"{name}_p": estimate.p_value}
            row |= {f"{name}_low": bounds and bounds[0], f"{name}_high": bounds and bounds[1]}
            row[f"{name}_deviation"] = float(group[column].std(ddof=1))
        row["to_male"] = int((group[basis.total] > 0).sum())
        row["accuracy"], row["accuracy_deviation"] = group["accuracy"].mean(), group["accuracy"].std(ddof=1)
        records.append(row)
    for row, adjusted in zip(records, holm([row["tot_p"] for row in records]), strict=True):  # type: ignore[misc]
        row["tot_p_adjusted"] = adjusted
    numbers = pd.DataFrame(records).drop(columns=["abs_interval", "tot_interval", "abs_p"])
    steady = (numbers["to_male"].isin([0]) | (numbers["to_male"] == numbers["n"])).sum()
    within = {name: float(np.sqrt((numbers[f"{name}_deviation"] ** 2).mean())) for name in ("abs", "tot")}
    between = {name: float(numbers[name].std(ddof=1)) for name in ("abs", "tot")}
    spreads = "; ".join(
        f"{name}: {format_number(within[name])} between trainings, {format_number(between[name])} between measurements"
        for name in ("abs", "tot")
    )
    return tabulate(
        "trainings",
        "Bias over several trainings",
        records,
        {
            "Model": lambda row: row["model"],
            "Condition": lambda row: f"{row['condition'].partition('-')[0]}-{row['terms']}",
            "Trainings": lambda row: str(row["n"]),
            "abs": lambda row: format_number(row["abs"]),
            "abs, 95 % interval": lambda row: interval(row["abs_interval"], 4) or GAP,
            "tot": lambda row: format_number(row["tot"]),
            "tot, 95 % interval": lambda row: interval(row["tot_interval"], 4) or GAP,
            "p": lambda row: format_p(row["tot_p_adjusted"]),
            "Favour male": lambda row: f"{row['to_male']} of {row['n']}",
            "Accuracy": lambda row: format_number(row["accuracy"], 3),
        },
        f"Means over {basis.texts}, with intervals over trainings with other seeds. p: whether the total bias differs"
        f" from 0 in other trainings, adjusted by Holm's method. All trainings agree on the direction in {steady} of"
        f" {len(records)} measurements. Standard deviations: {spreads}.",
        numbers,
        headings=2,
    )
