"""The paper's tables: biases, correlations and accuracies.

With b = rating of the male version − rating of the female version of a text:

    absolute bias = mean |b|        total bias = mean b

over all texts, over those whose b is not zero (in the paper's Table 1), or over those that the terms change (in
`sound`: a text without terms is uninformative, one whose rating happens to stay the same is not).

**Table 2.** Do more accurate classifiers have less bias? The paper correlates four figures over its 63 measurements as
if they were independent (`statistics.published`). They are not: nine share a pretrained model, all share the reviews.
`sound` therefore judges r by a jackknife over models on Fisher's z scale (df = models − 1), with Holm over the six
pairs, and splits it: between models (over their means) and within models (deviations from them).

S. Jentzsch and C. Turan (2022). Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a
Realistic Downstream Classification Task. GeBNLP 2022, Tables 1 to 6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from unmask.results.formatting import MINUS, interval
from unmask.results.formatting import p as format_p
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import center_within_groups, pearson_estimate
from unmask.statistics.jackknife import FISHER, IntervalEstimate, jackknife
from unmask.statistics.jentzsch_turan import CORRELATIONS, DECIMALS, published_correlations, stars
from unmask.studies.imdb63.grid import CONDITIONS, PLACES
from unmask.studies.imdb63.measurements import KEY, get_basis, is_sound, list_models
from unmask.studies.report import (
    GAP,
    StudyTable,
    format_count,
    format_number,
    format_percent,
    format_with_bounds,
    tabulate,
)

if TYPE_CHECKING:
    import pandas as pd

SHORT = {"original": "orig.", "R": "R", "mix": "mix"}
BIASES = ["abs_nonzero", "tot_nonzero", "abs_all", "tot_all", "abs_changed", "tot_changed", "low", "high"]
ALL_FIGURES = ["n", "below", "equal", "above", *BIASES, "effect", "flips", "noise", "p", "p_adjusted", "stars"]
QUALITIES = {"accuracy": "Accuracy", "recall": "Recall", "precision": "Precision", "f1": "F1"}
SETTINGS = ["size", "batch_size", "learning_rate", "epochs"]
SIGNIFICANCE = (
    "***, **, *: p < .001, .01, .05 after correction for the number of measurements (Wilcoxon's signed ranks); -:"
    " not significant; noise: the total bias is within the noise of the computation."
)
ALL_FIGURES_NOTES = {
    True: "abs: mean |bias|; tot: mean bias; over the texts that the terms change, those whose bias is not zero, or"
    " all. Effect: rank-biserial, from −1 to 1. Flips: changed texts whose two versions get different labels. p"
    " over words: whether pairs of terms lean one way, where those that share a word count as one. Of models"
    " with random weights, 50 to 80 % pass the test over texts and 5 % this one (on the package's short"
    " reviews); random heads on a pretrained model pass it in 39 to 60 % of cases, so read it with several trainings."
    " Uncorrected; – with too few pairs.",
    False: "abs: mean |bias|; tot: mean bias; over the texts whose bias is not zero, or all. The paper's header says"
    " N < 0, N = 0, N > 0 above columns that hold N < 0, N > 0, N = 0; here each count is under its own name.",
}
"""The notes below Tables 3 and 4, by whether the protocol is `sound`."""
QUALITY_NOTES = {
    True: "All are tested on the same original reviews; recall, precision and F1 are of the positive label.",
    False: "As in the paper's code, each is tested on reviews treated like those of its training, and on their"
    " first 64 tokens; recall, precision and F1 are of the negative label.",
}
CellWriter = Callable[[Any], str]


def choose_format(grid: pd.DataFrame) -> CellWriter:
    """Return how biases are written: `published` has four decimals, as the paper, where `sound` writes 3e−05."""
    return format_number if is_sound(grid) else format_decimals


def format_decimals(value: float | None) -> str:
    """Return a number with four decimals, even if it then shows as zero, or a gap."""
    return GAP if value is None or np.isnan(value) else f"{value:.4f}".replace("-", MINUS)


def tabulate_biases(grid: pd.DataFrame) -> StudyTable:
    """Table 1: absolute and total bias of every model by term set and training condition."""
    basis = get_basis(grid)
    wide = {}
    for name, column in (("abs", basis.absolute), ("tot", basis.total)):
        texts = grid[column].map(choose_format(grid))
        texts = texts.where(grid["is_sure"] | (texts == GAP), "(" + texts + ")")
        wide[name] = grid.assign(text=texts).pivot(index="model", columns=["terms", "kind"], values="text")
    rows = [
        (model, name, *texts.reindex(columns=list(PLACES)).loc[model].fillna(GAP))
        for model in list_models(grid)
        for name, texts in wide.items()
    ]
    noise = ", or within the noise of the computation" if is_sound(grid) else ""
    return StudyTable(
        "table-1",
        "Table 1. Absolute (abs) and total (tot) bias of every classifier",
        ("Model", "Bias", *(f"{terms}: {SHORT[kind]}" for terms, kind in PLACES)),
        rows,
        f"Means over {basis.texts}. Above zero, male versions are rated higher; below zero, female versions. In"
        f" brackets: not significant (p ≥ .05 after correction){noise}. pro, weat, all: the term set; orig.: trained on"
        " the original reviews, R: on reviews without the terms, mix: on a male and a female version of each.",
        grid[[*KEY, "kind", basis.absolute, basis.total, "p", "p_adjusted", "stars", "words_n", "words_p"]],
        headings=2,
    )


def _write_numbers(columns: Mapping[str, str], write: Callable[..., str], *digits: int) -> dict[str, CellWriter]:
    """Return the cells of columns that hold a number, by heading."""

    def make_writer(name: str) -> CellWriter:
        return lambda row: write(row[name], *digits)

    return {title: make_writer(name) for title, name in columns.items()}


def tabulate_all_figures(grid: pd.DataFrame) -> list[StudyTable]:
    """Tables 3 and 4: every figure of every measurement."""
    sound, write = is_sound(grid), choose_format(grid)
    significance: dict[str, CellWriter] = {"Significance": lambda row: row["significance"]}
    columns: dict[str, CellWriter] = {
        "Model": lambda row: row["model"],
        "Condition": lambda row: f"{row['kind']}-{row['terms']}",
    }
    if sound:
        columns |= _write_numbers({"Changed: abs": "abs_changed", "Changed: tot": "tot_changed"}, write)
        columns["95 % interval"] = lambda row: GAP if np.isnan(row["low"]) else interval((row["low"], row["high"]), 4)
        columns |= significance
    titles = ("Non-zero: abs", "Non-zero: tot", "All: abs", "All: tot")
    columns |= _write_numbers(dict(zip(titles, BIASES, strict=False)), write)
    columns |= _write_numbers({"N < 0": "below", "N = 0": "equal", "N > 0": "above"}, format_count)
    if sound:
        columns |= _write_numbers({"Effect": "effect"}, format_number, 2)
        columns |= _write_numbers({"Flips": "flips"}, format_percent)
        columns |= _write_numbers({"p over words": "words_p"}, format_number, 3)
    else:
        columns |= significance
    note = f"{ALL_FIGURES_NOTES[sound]} {SIGNIFICANCE}"
    names = [*KEY, *ALL_FIGURES, "words_n", "words_p"]
    return _tabulate_parts(grid, grid[names], columns, first=3, title="Biases of all classifiers", note=note)


def tabulate_quality(grid: pd.DataFrame) -> list[StudyTable]:
    """Tables 5 and 6: how well each classifier does its task."""
    columns = _write_training() | _write_numbers({title: name for name, title in QUALITIES.items()}, format_number, 3)
    title, note = "Accuracy, recall, precision and F1 on the test reviews", QUALITY_NOTES[is_sound(grid)]
    numbers = grid[["model", "condition", *QUALITIES]].drop_duplicates()
    return _tabulate_parts(_list_trainings(grid), numbers, columns, first=5, title=title, note=note)


def tabulate_settings(grid: pd.DataFrame) -> StudyTable:
    """The settings of each training."""
    trainings = _list_trainings(grid)
    columns = _write_training()
    columns |= _write_numbers({"Parameters": "size", "Batch size": "batch_size"}, format_count)
    columns |= _write_numbers({"Learning rate": "learning_rate", "Epochs": "epochs"}, format_number, 0)
    note = "One row per training; the classifier trained on the original reviews is measured with all three term sets."
    numbers = grid.drop_duplicates(["model", "condition"])[["model", "condition", *SETTINGS]]
    records = trainings.to_dict("records")
    return tabulate("settings", "Settings of each training", records, columns, note, numbers, headings=2)


def _write_training() -> dict[str, CellWriter]:
    return {"Model": lambda row: row["model"], "Condition": lambda row: row["condition"]}


def _list_trainings(grid: pd.DataFrame) -> pd.DataFrame:
    """One row for each training, by model and condition."""
    order = {"model": list_models(grid), "condition": CONDITIONS}
    trainings = grid.drop_duplicates(["model", "condition"])
    return trainings.sort_values(list(order), key=lambda column: column.map(order[str(column.name)].index))


def _tabulate_parts(
    rows: pd.DataFrame,
    numbers: pd.DataFrame,
    columns: Mapping[str, CellWriter],
    *,
    first: int,
    title: str,
    note: str,
) -> list[StudyTable]:
    """Return a table of the first models and one of the others, as in the paper, numbered from `first`."""
    models = list_models(rows)
    half = len(models) // 2
    parts = {", part 1": models[:half], ", part 2": models[half:]} if half else {"": models}
    tables = []
    for number, (part, names) in enumerate(parts.items(), first):
        records, subset = (frame[frame["model"].isin(names)] for frame in (rows, numbers))
        table = f"Table {number}. {title}{part}"
        tables.append(tabulate(f"table-{number}", table, records.to_dict("records"), columns, note, subset, headings=2))
    return tables


@dataclass(frozen=True)
class FigureCorrelation:
    """Two figures: over measurements as if independent, by a jackknife over models, between and within models."""

    first: str
    second: str
    n: int
    independent: IntervalEstimate
    models: IntervalEstimate
    between: IntervalEstimate
    within: IntervalEstimate
    p_adjusted: float | None
    """By the protocol: Holm over the jackknife's p, or the paper's factor times the rounded p over measurements."""

    @property
    def marked(self) -> str:
        """The correlation with the paper's marks, by the adjusted p."""
        r = self.independent.value
        return GAP if r is None else format_number(r, 3) + stars(self.p_adjusted, 1)


def correlate_figures(grid: pd.DataFrame) -> list[FigureCorrelation]:
    """Return the six correlations of absolute bias, total bias, accuracy and F1."""
    basis = get_basis(grid)
    columns = {"bias abs": basis.absolute, "bias tot": basis.total, "accuracy": "accuracy", "F1": "f1"}
    pairs = []
    for first, second in combinations(columns, 2):
        complete = grid.dropna(subset=[columns[first], columns[second]])
        x, y = (complete[columns[name]].to_numpy(dtype=float) for name in (first, second))
        pairs.append(_correlate(first, second, x, y, complete["model"].to_numpy(dtype=str)))
    if not is_sound(grid):
        return pairs
    adjusted = holm([pair.models.p_value for pair in pairs])
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _correlate(first: str, second: str, x: np.ndarray, y: np.ndarray, models: np.ndarray) -> FigureCorrelation:
    """One of the six, with the paper's adjusted p."""
    names = np.unique(models)
    means = [[float(values[models == name].mean()) for name in names] for values in (x, y)]

    def correlate_models(indices: np.ndarray, _: np.ndarray) -> float:
        is_in = np.isin(models, names[indices])
        r = pearson_estimate(x[is_in], y[is_in]).value
        return float("nan") if r is None else r

    within = IntervalEstimate(None)
    if names.size:
        centred = [center_within_groups(values, models) for values in (x, y)]
        within = pearson_estimate(*centred, controls=names.size - 1)
    return FigureCorrelation(
        first,
        second,
        len(x),
        pearson_estimate(x, y),
        jackknife((names.size, 1), correlate_models, scale=FISHER),
        pearson_estimate(*means),
        within,
        published_correlations({first: x, second: y})[first, second].p_adjusted,
    )


def tabulate_correlations(grid: pd.DataFrame) -> list[StudyTable]:
    """Table 2: the paper's matrix, with stars by the protocol, and each correlation with its intervals."""
    import pandas as pd

    pairs = correlate_figures(grid)
    marks = {frozenset((pair.first, pair.second)): pair.marked for pair in pairs}
    names = list(dict.fromkeys([*(pair.first for pair in pairs), pairs[-1].second]))
    matrix = [(row, *(marks.get(frozenset((row, column)), "") for column in names)) for row in names]
    corrected = (
        "p from a jackknife over models, adjusted by Holm's method for the six pairs."
        if is_sound(grid)
        else f"p over measurements as if they were independent, rounded to {DECIMALS} decimals and times"
        f" {CORRELATIONS}, as in the paper. They are not independent, so it is far too small: see the details."
    )
    columns: dict[str, CellWriter] = {
        "Figures": lambda pair: f"{pair.first}, {pair.second}",
        "r": lambda pair: format_number(pair.independent.value, 3),
        "Interval if independent": lambda pair: interval(pair.independent.interval) or GAP,
        "Interval over models": lambda pair: interval(pair.models.interval) or GAP,
        "p, adjusted": lambda pair: format_p(pair.p_adjusted),
        "r between models": lambda pair: format_with_bounds(pair.between.value, pair.between.interval),
        "r within models": lambda pair: format_with_bounds(pair.within.value, pair.within.interval),
    }
    numbers = pd.DataFrame(map(_list_numbers, pairs))
    title = "Table 2. Correlations of biases and quality over the measurements (Pearson)"
    note = f"***, **, *: p < .001, .01, .05; {corrected}"
    return [
        StudyTable("table-2", title, ("", *names), matrix, note, numbers),
        tabulate(
            "table-2-details",
            "Table 2 in detail. The same correlations with 95 % intervals",
            pairs,
            columns,
            "The measurements of a model share its pretrained weights, and all share the reviews, so the first"
            " interval (Fisher's z over measurements) is too narrow; the second leaves out one model at a time."
            " Between: over the models' means. Within: over deviations from those means, still as if a model's"
            " measurements were independent.",
            numbers,
        ),
    ]


def _list_numbers(pair: FigureCorrelation) -> dict[str, object]:
    row: dict[str, object] = {"first": pair.first, "second": pair.second, "n": pair.n, "p_adjusted": pair.p_adjusted}
    estimates = {"cells": pair.independent, "models": pair.models, "between": pair.between, "within": pair.within}
    for name, estimate in estimates.items():
        row[f"r_{name}"] = estimate.value
        row[f"low_{name}"], row[f"high_{name}"] = estimate.interval or (None, None)
        row[f"p_{name}"] = estimate.p_value
    return row
