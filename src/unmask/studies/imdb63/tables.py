"""The paper's tables: biases, correlations, accuracies, and the effect of the batch size.

With b = rating of the male version − rating of the female version of a text:

    absolute bias = mean |b|        total bias = mean b

over all texts, over those whose b is not zero (in the paper's Table 1), or over those that the terms change (in
`sound`: a text without terms is uninformative, one whose rating happens to stay the same is not).

**Table 2.** Do more accurate classifiers have less bias? The paper correlates four figures over its 63 measurements as
if they were independent (`statistics.published`). They are not: nine share a pretrained model, all share the reviews.
`sound` therefore judges r by a jackknife over models on Fisher's z scale (df = models − 1), with Holm over the six
pairs, and splits it: between models (over their means) and within models (deviations from them).

**Batch sizes.** Does the batch size change the bias? The same measurements with several batch sizes, paired:

    total bias:     mean of (bias at a batch size − bias at the largest)
    absolute bias:  exp mean (ln bias at a batch size − ln bias at the largest)

clustered by training (df = trainings − 1), with Holm over both biases and all sizes. The paper retrained 21 conditions
with 32, 16 and 8, and reports in words that it saw no difference (section 3).

S. Jentzsch and C. Turan (2022). Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a
Realistic Downstream Classification Task. GeBNLP 2022, Tables 1 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from unmask.results.formatting import interval
from unmask.results.formatting import p as format_p
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import center_within_groups, pearson_estimate
from unmask.statistics.jackknife import FISHER, IntervalEstimate, jackknife
from unmask.statistics.jentzsch_turan import CORRELATIONS, DECIMALS, published_correlations, stars
from unmask.studies.imdb63.answers import adjust_evidence, compare_levels
from unmask.studies.imdb63.grid import CONDITIONS, PLACES
from unmask.studies.imdb63.measurements import (
    KEY,
    get_basis,
    is_sound,
    is_sure,
    list_models,
    rate_significance,
    sort_grid,
)
from unmask.studies.report import GAP, StudyTable, format_count, format_number, format_percent

if TYPE_CHECKING:
    import pandas as pd

SHORT = {"original": "orig.", "R": "R", "mix": "mix"}
BIASES = ["abs_nonzero", "tot_nonzero", "abs_all", "tot_all", "abs_changed", "tot_changed", "low", "high"]
QUALITIES = {"accuracy": "Accuracy", "recall": "Recall", "precision": "Precision", "f1": "F1"}
SIGNIFICANCE = (
    "***, **, *: p < .001, .01, .05 after correction for the number of measurements (Wilcoxon's signed ranks); -:"
    " not significant; noise: the total bias is within the noise of the computation."
)


def tabulate_biases(grid: pd.DataFrame) -> StudyTable:
    """Table 1: absolute and total bias of every model by term set and training condition."""
    grid = sort_grid(grid)
    basis = get_basis(grid)
    rows = []
    for model, subset in grid.groupby("model", sort=False):
        by_place = {(row["terms"], row["kind"]): row for _, row in subset.iterrows()}
        for name, column in (("abs", basis.absolute), ("tot", basis.total)):
            values = []
            for place in PLACES:
                row = by_place.get(place)
                text = GAP if row is None else format_number(row[column])
                sure = row is None or text == GAP or is_sure(row)
                values.append(text if sure else f"({text})")
            rows.append((str(model), name, *values))
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


def tabulate_all_figures(grid: pd.DataFrame) -> list[StudyTable]:
    """Tables 3 and 4: every figure of every measurement."""
    grid = sort_grid(grid)
    sound = is_sound(grid)
    columns = ["Model", "Condition"]
    columns += ["Changed: abs", "Changed: tot", "95 % interval", "Significance"] if sound else []
    columns += ["Non-zero: abs", "Non-zero: tot", "All: abs", "All: tot", "N < 0", "N = 0", "N > 0"]
    columns += ["Effect", "Flips", "p over words"] if sound else ["Significance"]
    if sound:
        note = (
            "abs: mean |bias|; tot: mean bias; over the texts that the terms change, those whose bias is not zero, or"
            " all. Effect: rank-biserial, from −1 to 1. Flips: changed texts whose two versions get different labels. p"
            " over words: whether pairs of terms lean one way, where those that share a word count as one. Of models"
            " with random weights, 50 to 80 % pass the test over texts and 5 % this one (on the package's short"
            " reviews); random heads on a pretrained model pass it in 60 % of cases, so read it with several trainings."
            " Uncorrected; – with too few pairs."
        )
    else:
        note = (
            "abs: mean |bias|; tot: mean bias; over the texts whose bias is not zero, or all. The paper's header says"
            " N < 0, N = 0, N > 0 above columns that hold N < 0, N > 0, N = 0; here each count is under its own name."
        )
    kept = [*KEY, "n", "below", "equal", "above", *BIASES, "effect", "flips", "noise", "p", "p_adjusted", "stars"]
    kept += ["words_n", "words_p"]
    tables = []
    for number, part, models in _split_models(grid, 3):
        subset = grid[grid["model"].isin(models)]
        rows = []
        for _, row in subset.iterrows():
            texts = [str(row["model"]), f"{row['kind']}-{row['terms']}"]
            if sound:
                bounds = (row["low"], row["high"])
                texts += [format_number(row["abs_changed"]), format_number(row["tot_changed"])]
                texts += [GAP if np.isnan(bounds).any() else interval(bounds, 4), rate_significance(row)]
            texts += [format_number(row[name]) for name in BIASES[:4]]
            texts += [format_count(row[name]) for name in ("below", "equal", "above")]
            if sound:
                texts += [
                    format_number(row["effect"], 2),
                    format_percent(row["flips"]),
                    format_number(row["words_p"], 3),
                ]
            else:
                texts.append(rate_significance(row))
            rows.append(tuple(texts))
        title = f"Table {number}. Biases of all classifiers{part}"
        tables.append(
            StudyTable(f"table-{number}", title, columns, rows, f"{note} {SIGNIFICANCE}", subset[kept], headings=2)
        )
    return tables


def tabulate_quality(grid: pd.DataFrame) -> list[StudyTable]:
    """Tables 5 and 6: how well each classifier does its task."""
    grid = sort_grid(grid)
    note = (
        "All are tested on the same original reviews; recall, precision and F1 are of the positive label."
        if is_sound(grid)
        else "As in the paper's code, each is tested on reviews treated like those of its training, and on their"
        " first 64 tokens; recall, precision and F1 are of the negative label."
    )
    columns = ("Model", "Condition", *QUALITIES.values())
    tables = []
    for number, part, models in _split_models(grid, 5):
        trained = _list_trainings(grid[grid["model"].isin(models)])
        rows = [
            (row["model"], row["condition"], *(format_number(row[name], 3) for name in QUALITIES)) for row in trained
        ]
        numbers = grid[grid["model"].isin(models)].drop_duplicates(["model", "condition"])
        title = f"Table {number}. Accuracy, recall, precision and F1 on the test reviews{part}"
        kept = numbers[["model", "condition", *QUALITIES]]
        tables.append(StudyTable(f"table-{number}", title, columns, rows, note, kept, headings=2))
    return tables


def tabulate_settings(grid: pd.DataFrame) -> StudyTable:
    """The settings of each training."""
    grid = sort_grid(grid)
    rows = [
        (
            str(row["model"]),
            str(row["condition"]),
            format_count(row["size"]),
            format_count(row["batch_size"]),
            format_number(row["learning_rate"], 0),
            format_number(row["epochs"], 0),
        )
        for row in _list_trainings(grid)
    ]
    names = ["model", "condition", "size", "batch_size", "learning_rate", "epochs"]
    return StudyTable(
        "settings",
        "Settings of each training",
        ("Model", "Condition", "Parameters", "Batch size", "Learning rate", "Epochs"),
        rows,
        "One row per training; the classifier trained on the original reviews is measured with all three term sets.",
        grid.drop_duplicates(["model", "condition"])[names],
        headings=2,
    )


def _list_trainings(grid: pd.DataFrame) -> list[pd.Series]:
    """One row for each training, by model and condition."""
    by_training = {(row["model"], row["condition"]): row for _, row in grid.iterrows()}
    places = [(model, condition) for model in list_models(grid) for condition in CONDITIONS]
    return [by_training[place] for place in places if place in by_training]


def _split_models(grid: pd.DataFrame, first: int) -> list[tuple[int, str, list[str]]]:
    """Return the number of a table, what its title adds, and its models: two parts, as in the paper."""
    models = list_models(grid)
    if len(models) < 2:
        return [(first, "", models)]
    half = len(models) // 2
    return [(first, ", part 1", models[:half]), (first + 1, ", part 2", models[half:])]


@dataclass(frozen=True)
class Correlation:
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
    def stars(self) -> str:
        """The paper's marks, by the adjusted p."""
        return stars(self.p_adjusted, 1)


def correlate_figures(grid: pd.DataFrame) -> list[Correlation]:
    """Return the six correlations of absolute bias, total bias, accuracy and F1."""
    grid = sort_grid(grid)
    basis = get_basis(grid)
    columns = {"bias abs": basis.absolute, "bias tot": basis.total, "accuracy": "accuracy", "F1": "f1"}
    pairs = []
    for first, second in combinations(columns, 2):
        known = grid[np.isfinite(grid[[columns[first], columns[second]]]).all(axis=1)]
        x, y = (known[columns[name]].to_numpy(dtype=float) for name in (first, second))
        pairs.append(_correlate(first, second, x, y, known["model"].to_numpy(dtype=str)))
    if not is_sound(grid):
        return pairs
    adjusted = holm([pair.models.p_value for pair in pairs])
    return [replace(pair, p_adjusted=p) for pair, p in zip(pairs, adjusted, strict=True)]


def _correlate(first: str, second: str, x: np.ndarray, y: np.ndarray, models: np.ndarray) -> Correlation:
    """One of the six, with the paper's adjusted p."""
    names = np.unique(models)
    means = [[float(values[models == name].mean()) for name in names] for values in (x, y)]

    def correlate_models(kept: np.ndarray, _: np.ndarray) -> float:
        chosen = np.isin(models, names[kept])
        r = pearson_estimate(x[chosen], y[chosen]).value
        return float("nan") if r is None else r

    within = IntervalEstimate(None)
    if names.size:
        centred = [center_within_groups(values, models) for values in (x, y)]
        within = pearson_estimate(*centred, controls=names.size - 1)
    return Correlation(
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
    pairs = correlate_figures(grid)
    by_names = {frozenset((pair.first, pair.second)): pair for pair in pairs}
    names = list(dict.fromkeys([*(pair.first for pair in pairs), pairs[-1].second]))
    matrix = [
        (row, *("" if row == column else _mark_correlation(by_names[frozenset((row, column))]) for column in names))
        for row in names
    ]
    corrected = (
        "p from a jackknife over models, adjusted by Holm's method for the six pairs."
        if is_sound(grid)
        else f"p over measurements as if they were independent, rounded to {DECIMALS} decimals and times"
        f" {CORRELATIONS}, as in the paper. They are not independent, so it is far too small: see the details."
    )
    details = [
        (
            f"{pair.first}, {pair.second}",
            format_number(pair.independent.value, 3),
            interval(pair.independent.interval) or GAP,
            interval(pair.models.interval) or GAP,
            GAP if pair.p_adjusted is None else format_p(pair.p_adjusted),
            *(
                f"{format_number(part.value, 2)} {interval(part.interval)}".strip()
                for part in (pair.between, pair.within)
            ),
        )
        for pair in pairs
    ]
    numbers = _list_correlations(pairs)
    title = "Table 2. Correlations of biases and quality over the measurements (Pearson)"
    columns = ("Figures", "r", "Interval if independent", "Interval over models", "p, adjusted")
    return [
        StudyTable("table-2", title, ("", *names), matrix, f"***, **, *: p < .001, .01, .05; {corrected}", numbers),
        StudyTable(
            "table-2-details",
            "Table 2 in detail. The same correlations with 95 % intervals",
            (*columns, "r between models", "r within models"),
            details,
            "The measurements of a model share its pretrained weights, and all share the reviews, so the first"
            " interval (Fisher's z over measurements) is too narrow; the second leaves out one model at a time."
            " Between: over the models' means. Within: over deviations from those means, still as if a model's"
            " measurements were independent.",
            numbers,
        ),
    ]


def _mark_correlation(pair: Correlation) -> str:
    r = pair.independent.value
    return GAP if r is None else format_number(r, 3) + pair.stars


def _list_correlations(pairs: Sequence[Correlation]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for pair in pairs:
        row: dict[str, object] = {
            "first": pair.first,
            "second": pair.second,
            "n": pair.n,
            "p_adjusted": pair.p_adjusted,
        }
        estimates = {"cells": pair.independent, "models": pair.models, "between": pair.between, "within": pair.within}
        for name, estimate in estimates.items():
            low, high = estimate.interval or (None, None)
            row |= {
                f"r_{name}": estimate.value,
                f"low_{name}": low,
                f"high_{name}": high,
                f"p_{name}": estimate.p_value,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def tabulate_batch_sizes(grid: pd.DataFrame) -> StudyTable:
    """The bias of each measurement at every batch size, and how it compares with the largest."""
    grid = sort_grid(grid, by=("batch_size",))
    basis = get_basis(grid)
    sizes = sorted({int(size) for size in grid["batch_size"]}, reverse=True)
    columns = {"abs": basis.absolute, "tot": basis.total}
    places = list(dict.fromkeys(zip(grid["model"], grid["condition"], grid["terms"], strict=True)))
    by_place = {(*(row[name] for name in KEY), int(row["batch_size"])): row for _, row in grid.iterrows()}
    rows = []
    for model, condition, terms in places:
        values = []
        for column in columns.values():
            for size in sizes:
                row = by_place.get((model, condition, terms, size))
                values.append(GAP if row is None else format_number(row[column]))
        rows.append((str(model), f"{str(condition).split('-')[0]}-{terms}", *values))
    trained = grid.assign(training=grid["model"] + "/" + grid["condition"])
    evidence = adjust_evidence(
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
    sentences = [
        f"{figure.sentence.removesuffix('.')}; trainings: {figure.clusters}."
        for figure in evidence
        if figure.n + figure.left_out
    ]
    kept = [*KEY, "batch_size", *columns.values(), "low", "high", "p", "p_adjusted", "accuracy", "f1"]
    return StudyTable(
        "batch-sizes",
        "Bias by batch size",
        ("Model", "Condition", *(f"{name}, {size}" for name in columns for size in sizes)),
        rows,
        f"Means over {basis.texts}. Paired by measurement, with 95 % intervals over trainings; p-values are adjusted by"
        f" Holm's method for all comparisons here. {' '.join(sentences) or 'There is nothing to pair.'} They hold for"
        " these models, and for one training each.",
        grid[kept],
        headings=2,
    )
