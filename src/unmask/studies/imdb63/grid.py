"""The grid of Jentzsch and Turan (2022): seven base models × seven training conditions, 63 measured cells.

A classifier of the condition *original* is measured with all three term sets, the others with the set that their
training data was made with: 7 × (3 + 6) = 63. The measured cells are one table, nine rows per model; a cell that failed
is not there, and leaves a gap.

`sound` trains and tests as is common practice. `published` repeats the paper's code: architectures that are not the
checkpoints' own, no warm-up, an epoch chosen by hand, a validation set that shares reviews with the training set, and
accuracies of test reviews made like the training ones and cut to 64 tokens, with figures of the negative label. How
texts are made and rated is the sentiment measure's choice.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, check_choice, quote
from unmask.studies.base_models import known_base, named

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Protocol:
    """One way to train and test the classifiers."""

    name: str
    own_architecture: bool
    """Whether a base keeps its architecture, or gets what the paper's code made of it."""
    warmup: float
    weight_decay: float
    keep: str
    """Which weights are kept: the best by validation, or the last."""
    holds_out_reviews: bool
    """Whether all versions of a review are held out together, or single rows."""
    tests_originals: bool
    """Whether all are tested on the same reviews as they are, or each on reviews made like those it was trained on."""
    test_tokens: int | None
    """To how many tokens test reviews are cut for the accuracy; None: as in training."""
    label: str
    """The one of which recall, precision and F1 are given."""


PROTOCOLS = {
    "sound": Protocol("sound", True, 0.1, 0.01, "best", True, True, None, "positive"),
    "published": Protocol("published", False, 0.0, 0.0, "last", False, False, 64, "negative"),
}


TERMS = ("pro", "weat", "all")
KINDS = ("original", "R", "mix")
COLUMNS = tuple((terms, kind) for terms in TERMS for kind in KINDS)
"""The nine cells of a model, in the order of the paper's tables."""
CONDITIONS = ("original", *(f"{kind}-{terms}" for kind in KINDS[1:] for terms in TERMS))
KEY = ["model", "condition", "terms"]
NUMBERS = (
    "batch_size learning_rate epochs size n below equal above abs_nonzero tot_nonzero abs_all tot_all abs_changed"
    " tot_changed low high effect p p_adjusted flips noise accuracy recall precision f1 terms_per_text"
    " words_n words_p"
).split()
"""Columns with a number; one that is not there is a column of gaps."""


@dataclass(frozen=True)
class Basis:
    """Over which texts a protocol takes its means."""

    absolute: str
    total: str
    words: str


BASES = {
    "sound": Basis("abs_changed", "tot_changed", "the texts that the terms change"),
    "published": Basis("abs_nonzero", "tot_nonzero", "the texts whose bias is not zero"),
}


def basis(cells: pd.DataFrame) -> Basis:
    """The columns of absolute and total bias that the cells' protocol goes by."""
    return BASES[str(cells["protocol"].iloc[0])]


def ordered(cells: pd.DataFrame, *, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """The cells in the order of the paper's tables, every known column there; models stay in the order they came in.

    `by` names what tells cells apart besides model, condition and terms, such as the batch size.
    """
    import pandas as pd

    if cells.empty:
        raise UnmaskError("the table of cells has 0 rows, so there is nothing to report; run the study first")
    if missing := [name for name in (*KEY, "protocol", *by) if name not in cells.columns]:
        raise UnmaskError(f"the table of cells has no column {quote(missing)}; give the table that the study wrote")
    if len(found := sorted(map(str, cells["protocol"].unique()))) > 1 or found[0] not in BASES:
        raise UnmaskError(
            f"the cells are of the protocol {quote(found)}; give cells of one protocol: sound or published"
        )
    for name, known in (("terms", TERMS), ("condition", CONDITIONS)):
        if wrong := sorted(set(map(str, cells[name])) - set(known)):
            raise UnmaskError(f"unknown {name} {quote(wrong)} in the table of cells; known are: {', '.join(known)}")
    if (twice := cells.duplicated([*KEY, *by])).any():
        first = "/".join(str(cells.loc[twice, name].iloc[0]) for name in [*KEY, *by])
        raise UnmaskError(f"the cell {first} is there twice; give each cell once")
    kinds = [str(name).split("-")[0] for name in cells["condition"]]
    kept = cells.assign(model=cells["model"].astype(str), kind=kinds)
    models = list(dict.fromkeys(kept["model"]))
    ranks = [
        (models.index(model), COLUMNS.index((terms, kind)))
        for model, terms, kind in zip(kept["model"], kept["terms"], kept["kind"], strict=True)
    ]
    kept = kept.iloc[sorted(range(len(kept)), key=ranks.__getitem__)].reset_index(drop=True)
    absent = {name: float("nan") for name in NUMBERS if name not in kept.columns}
    kept = kept.assign(**absent, stars=kept["stars"] if "stars" in kept.columns else "-")
    return kept.assign(**{name: pd.to_numeric(kept[name]) for name in NUMBERS})


def models_of(cells: pd.DataFrame) -> list[str]:
    """The base models, in order."""
    return list(dict.fromkeys(cells["model"].astype(str)))


def found(row: pd.Series) -> str:
    """How sure a cell's bias is: stars, `-` for none, or `noise` where it is within the noise of the computation.

    The paper knows no such noise, so `published` never says it.
    """
    if row["protocol"] == "sound" and float(row["noise"]) >= abs(float(row["tot_changed"])):
        return "noise"
    stars = row["stars"]
    return stars if isinstance(stars, str) and stars.strip("* ") == "" and stars.strip() else "-"


TERM_SETS = {"pro": "pronouns", "weat": "family", "all": "all"}
"""What the paper calls its term sets, and what we do."""
FORMS = {"R": ("remove",), "mix": ("male", "female")}
"""What a condition's training texts are made of: versions of every review, one after the other."""
PAPER_EPOCHS = 20
"""The learning rate falls over so many, although an earlier checkpoint was chosen."""


@dataclass(frozen=True)
class BaseModel:
    """A pretrained model that classifiers are made from."""

    name: str
    """Short, as tables call it."""
    model: str
    """A hub id, a folder, or an embedded model."""
    batch_size: int = 32
    published: Mapping[str, Any] = field(default_factory=dict)
    """What the paper's code made of its architecture, unlike the checkpoint's own."""


LARGE = {"num_hidden_layers": 12}
ROBERTA = {"layer_norm_eps": 1e-12}
ALBERT = {"num_attention_heads": 64, "num_hidden_layers": 12}
MODELS = (
    BaseModel("distbase", "distilbert-base-uncased", 32, {"dropout": 0.5}),
    BaseModel("bertbase", "bert-base-uncased", 32, {"hidden_dropout_prob": 0.5}),
    BaseModel("bertlarge", "bert-large-uncased", 16, {"hidden_dropout_prob": 0.5, **LARGE}),
    BaseModel("robertabase", "roberta-base", 32, {"hidden_dropout_prob": 0.5, **ROBERTA}),
    BaseModel("robertalarge", "roberta-large", 16, {"hidden_dropout_prob": 0.5, **LARGE, **ROBERTA}),
    BaseModel("albertbase", "albert-base-v2", 16, {"hidden_dropout_prob": 0.5, **ALBERT}),
    BaseModel("albertlarge", "albert-large-v2", 8, {"hidden_dropout_prob": 0.5, **ALBERT}),
)
"""The paper's seven. Its code built fresh configurations, so the large ones had 12 layers, and ALBERT 64 heads."""


@dataclass(frozen=True)
class HyperParameters:
    """How one classifier is trained."""

    learning_rate: float = 2e-5
    epochs: int = 3
    batch_size: int = 32
    planned_epochs: int = 0
    """Over how many the learning rate falls; 0: over those that are trained."""


def term_sets_of(condition: str) -> tuple[str, ...]:
    """The term sets that a condition's classifier is measured with."""
    _, _, terms = condition.partition("-")
    return (terms,) if terms else TERMS


def forms_of(condition: str) -> tuple[tuple[str, str], ...]:
    """What a condition's texts are made of: pairs of a term set and a form; the original has no term set."""
    kind, _, terms = condition.partition("-")
    return tuple((terms, form) for form in FORMS[kind]) if terms else (("", "original"),)


def chosen_models(given: Sequence[str]) -> tuple[BaseModel, ...]:
    """The base models: the paper's seven; some of them by name; or others as NAME=MODEL."""
    if not given:
        return MODELS
    known = {model.name: model for model in MODELS}
    found: list[BaseModel] = []
    for name, model in named(given):
        if not model:
            found.append(known_base(name, known))
        else:
            published = known[name].published if name in known else {}
            batch_size = known[name].batch_size if name in known else 32
            found.append(BaseModel(name, model, batch_size, published))
    return tuple(found)


def chosen_conditions(given: Sequence[str]) -> tuple[str, ...]:
    """The training conditions: all seven, or some of them, in the order of the tables."""
    for one in given:
        check_choice(one, CONDITIONS, "training condition")
    return tuple(condition for condition in CONDITIONS if not given or condition in given)


def read_hyper_parameters(path: Path) -> dict[tuple[str, str], HyperParameters]:
    """A CSV file of model, condition, learning_rate, epochs (or the paper's epoch_index_from_0) and batch_size."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text with commas"
        raise UnmaskError(f"{path} cannot be read ({why}); give a CSV file of hyper-parameters") from None
    if not rows:
        raise UnmaskError(f"{path} has no lines below its header; give one for each model and condition")
    found: dict[tuple[str, str], HyperParameters] = {}
    for number, row in enumerate(rows, 2):
        key, settings = _line(row, f"{path}, line {number}")
        if key in found:
            raise UnmaskError(f"{path}, line {number}: {' and '.join(key)} are there already; give one line for each")
        found[key] = settings
    return found


def _line(row: dict[str, str], where: str) -> tuple[tuple[str, str], HyperParameters]:
    try:
        model, condition = row["model"], row["condition"]
        planned = PAPER_EPOCHS if "epoch_index_from_0" in row else 0
        epochs = int(row["epoch_index_from_0"]) + 1 if planned else int(row["epochs"])
        found = HyperParameters(float(row["learning_rate"]), epochs, int(row["batch_size"]), planned)
    except (KeyError, ValueError, TypeError):
        raise UnmaskError(
            f"{where}: give model, condition, learning_rate, epochs and batch_size in every line"
        ) from None
    if condition not in CONDITIONS:
        raise UnmaskError(f"{where}: unknown training condition {condition!r}; choose from: {', '.join(CONDITIONS)}")
    if not 0 < found.learning_rate < 1 or found.batch_size < 1 or not 1 <= epochs <= (planned or epochs):
        most = f", {planned} epochs at most" if planned else ""
        raise UnmaskError(
            f"{where}: nobody can train with learning rate {found.learning_rate:g}, {epochs} epochs and batch size"
            f" {found.batch_size}; give a rate below 1, and whole numbers from 1 on{most}"
        )
    return (model, condition), found
