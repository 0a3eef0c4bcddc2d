"""The paper's tables: biases, correlations and accuracies.

With b = rating of the male version − rating of the female version of a text:

    absolute bias = mean |b|        total bias = mean b

over all texts, over those whose b is not zero (what the paper prints in its Table 1), or over those that the terms
change (what `sound` uses: a text without terms is uninformative, one whose rating happens to stay the same is not).

**Table 2.** Do more accurate classifiers have less bias? The paper correlates four figures over its 63 cells as if they
were independent (`statistics.jentzsch_turan`). They are not: nine cells share a model, all share the reviews.
`sound` therefore judges r by a jackknife over models on Fisher's z scale (df = models − 1), Holm over the six pairs,
and splits it: between models (over their means) and within models (deviations from them).

S. Jentzsch and C. Turan (2022). Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a
Realistic Downstream Classification Task. GeBNLP 2022, Tables 1 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unmask.results.formatting import interval, p_value
from unmask.results.formatting import number as format_number
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import center_within_groups, pearson_estimate
from unmask.statistics.jackknife import FISHER, IntervalEstimate, jackknife
from unmask.statistics.jentzsch_turan import CORRELATIONS, DECIMALS, published_correlations, stars
from unmask.studies.imdb63.grid import COLUMNS, CONDITIONS, KEY, basis, found, models_of, ordered
from unmask.studies.table import GAP, Table, count, figure, percent

if TYPE_CHECKING:
    import pandas as pd


SHORT = {"original": "orig.", "R": "R", "mix": "mix"}
BIASES = ["abs_nonzero", "tot_nonzero", "abs_all", "tot_all", "abs_changed", "tot_changed", "low", "high"]
QUALITIES = {"accuracy": "Accuracy", "recall": "Recall", "precision": "Precision", "f1": "F1"}
SIGNIFICANCE = (
    "***, **, *: p < .001, .01, .05 after correction for the number of cells (Wilcoxon's signed ranks); -:"
    " not significant; noise: the total bias is within the noise of the computation."
)


def table_1(cells: pd.DataFrame) -> Table:
    """Absolute and total bias of every model by term set and training condition."""
    cells = ordered(cells)
    means = basis(cells)
    noise = ", or within the noise of the computation" if cells["protocol"].iloc[0] == "sound" else ""
    rows = []
    for model, mine in cells.groupby("model", sort=False):
        by = {(row["terms"], row["kind"]): row for _, row in mine.iterrows()}
        for name, column in (("abs", means.absolute), ("tot", means.total)):
            shown = []
            for place in COLUMNS:
                text = figure(by[place][column]) if place in by else GAP
                sure = place not in by or found(by[place]).startswith("*")
                shown.append(text if sure or text == GAP else f"({text})")
            rows.append((str(model), name, *shown))
    return Table(
        "table-1",
        "Table 1. Absolute (abs) and total (tot) bias of every classifier",
        ("Model", "Bias", *(f"{terms}: {SHORT[kind]}" for terms, kind in COLUMNS)),
        tuple(rows),
        f"Means over {means.words}. Above zero, male versions are rated higher; below zero, female versions. In"
        f" brackets: not significant (p ≥ .05 after correction){noise}. pro, weat, all: the term set; orig.: trained on"
        " the reviews as they are, R: on reviews without the terms, mix: on a male and a female version of each.",
        cells[[*KEY, "kind", means.absolute, means.total, "p", "p_adjusted", "stars", "words_n", "words_p"]],
        headings=2,
    )


def tables_3_4(cells: pd.DataFrame) -> list[Table]:
    """Every figure of every cell; as in the paper in two parts, the second with the larger half of the models."""
    cells = ordered(cells)
    sound = cells["protocol"].iloc[0] == "sound"
    columns = [
        "Model",
        "Condition",
        *(["Changed: abs", "Changed: tot", "95 % interval", "Significance"] if sound else []),
    ]
    columns += ["Non-zero: abs", "Non-zero: tot", "All: abs", "All: tot", "N < 0", "N = 0", "N > 0"]
    columns += ["Effect", "Flips", "p over words"] if sound else ["Significance"]
    note = (
        "abs: mean |bias|; tot: mean bias; over the texts that the terms change, those whose bias is not zero, or all."
        if sound
        else "abs: mean |bias|; tot: mean bias; over the texts whose bias is not zero, or all. The paper's header says"
        " N < 0, N = 0, N > 0 above columns that hold N < 0, N > 0, N = 0; here each count stands under its own name."
    )
    flips = (
        " Effect: rank-biserial, from −1 to 1. Flips: changed texts whose two versions get different labels. p over"
        " words: whether pairs of terms lean one way, those that share a word taken as one. Of models with random"
        " weights, 50 to 80 % pass the test over texts and 5 % this one (on the package's short reviews); random heads"
        " on a pretrained model pass it in 60 % of cases, so read it with several trainings. Uncorrected; – with too"
        " few pairs."
        if sound
        else ""
    )
    tables = []
    for number, part, models in _parts(cells, 3):
        rows = []
        for _, row in cells[cells["model"].isin(models)].iterrows():
            texts = [str(row["model"]), _condition(row)]
            if sound:
                texts += [figure(row["abs_changed"]), figure(row["tot_changed"]), _bounds(row["low"], row["high"])]
                texts.append(found(row))
            texts += [figure(row[name]) for name in BIASES[:4]]
            texts += [count(row[name]) for name in ("below", "equal", "above")]
            texts += (
                [figure(row["effect"], 2), percent(row["flips"]), figure(row["words_p"], 3)] if sound else [found(row)]
            )
            rows.append(tuple(texts))
        kept = [*KEY, "n", "below", "equal", "above", *BIASES, "effect", "flips", "noise", "p", "p_adjusted", "stars"]
        kept += ["words_n", "words_p"]
        title = f"Table {number}. Biases of all classifiers{part}"
        numbers = cells.loc[cells["model"].isin(models), kept]
        tables.append(
            Table(f"table-{number}", title, tuple(columns), tuple(rows), f"{note}{flips} {SIGNIFICANCE}", numbers, 2)
        )
    return tables


def tables_5_6(cells: pd.DataFrame) -> list[Table]:
    """How well each classifier does its task."""
    cells = ordered(cells)
    tables = []
    for number, part, models in _parts(cells, 5):
        trained = cells[cells["model"].isin(models)].drop_duplicates(["model", "condition"])
        by = {(row["model"], row["condition"]): row for _, row in trained.iterrows()}
        rows = tuple(
            (model, condition, *(figure(by[model, condition][name], 3) for name in QUALITIES))
            for model in models
            for condition in CONDITIONS
            if (model, condition) in by
        )
        numbers = trained[["model", "condition", *QUALITIES]]
        title = f"Table {number}. Accuracy, recall, precision and F1 on the test reviews{part}"
        note = (
            "All are tested on the same reviews, as they are; recall, precision and F1 are of the positive ones."
            if cells["protocol"].iloc[0] == "sound"
            else "As in the paper's code, each is tested on reviews treated like those of its training, and on their"
            " first 64 tokens; recall, precision and F1 are of the negative ones."
        )
        columns = ("Model", "Condition", *QUALITIES.values())
        tables.append(Table(f"table-{number}", title, columns, rows, note, numbers, 2))
    return tables


def settings(cells: pd.DataFrame) -> Table:
    """With what each classifier was trained."""
    cells = ordered(cells)
    by = {(row["model"], row["condition"]): row for _, row in cells.iterrows()}
    trained = [
        by[model, condition] for model in models_of(cells) for condition in CONDITIONS if (model, condition) in by
    ]
    rows = tuple(
        (
            str(row["model"]),
            str(row["condition"]),
            count(row["size"]),
            count(row["batch_size"]),
            figure(row["learning_rate"], 0),
            figure(row["epochs"], 0),
        )
        for row in trained
    )
    names = ["model", "condition", "size", "batch_size", "learning_rate", "epochs"]
    return Table(
        "settings",
        "Settings of each training",
        ("Model", "Condition", "Parameters", "Batch size", "Learning rate", "Epochs"),
        rows,
        "One training a row; the classifier trained on the reviews as they are is measured with all three term sets.",
        cells.drop_duplicates(["model", "condition"])[names],
        headings=2,
    )


def missing(cells: pd.DataFrame, asked: Sequence[str] | None = None) -> list[str]:
    """The cells that are not there, by name, of those that were asked for or of the grid of all models."""
    cells = ordered(cells)
    known = {name_of(*cell) for cell in zip(cells["model"], cells["terms"], cells["kind"], strict=True)}
    whole = [name_of(model, terms, kind) for model in models_of(cells) for terms, kind in COLUMNS]
    return [name for name in (whole if asked is None else asked) if name not in known]


def name_of(model: str, terms: str, kind: str) -> str:
    """What a measured cell is called where it is missing."""
    return f"{model} {kind}-{terms}"


def _parts(cells: pd.DataFrame, first: int) -> list[tuple[int, str, list[str]]]:
    """The number of a table, what its title adds, and its models: two parts, as on the paper's pages."""
    models = models_of(cells)
    if len(models) < 2:
        return [(first, "", models)]
    half = len(models) // 2
    return [(first, ", part 1", models[:half]), (first + 1, ", part 2", models[half:])]


def _condition(row: pd.Series) -> str:
    return f"{row['kind']}-{row['terms']}"


def _bounds(low: float, high: float) -> str:
    return GAP if low != low or high != high else interval((low, high), 4)


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
        inside = pearson_estimate(
            center_within_groups(x, models), center_within_groups(y, models), controls=names.size - 1
        )
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
    return GAP if one.cells.value is None else format_number(one.cells.value, 3) + one.stars


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
