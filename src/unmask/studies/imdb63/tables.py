"""The paper's tables of biases and of accuracies.

With b = rating of the male version − rating of the female version of a text:

    absolute bias = mean |b|        total bias = mean b

over all texts, over those whose b is not zero (what the paper prints in its Table 1), or over those that the terms
change (what `sound` goes by: a text without terms says nothing, one whose rating happens to stay the same does).

S. Jentzsch and C. Turan (2022). Gender Bias in BERT – Measuring and Analysing Biases through Sentiment Rating in a
Realistic Downstream Classification Task. GeBNLP 2022, Tables 1 and 3 to 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unmask.results.numbers import interval
from unmask.studies.imdb63.measured import COLUMNS, CONDITIONS, KEY, basis, found, models_of, ordered
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
