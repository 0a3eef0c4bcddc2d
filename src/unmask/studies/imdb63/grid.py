"""The grid of Jentzsch and Turan (2022): seven base models × seven training conditions, and 63 measurements.

A classifier of the condition *original* is measured with all three term sets, the others with the set that their
training data was made with: 7 × (3 + 6) = 63.

`sound` trains and tests as is common practice. `published` repeats the paper's code: architectures that differ from the
checkpoints', no warm-up, an epoch chosen by hand, a validation set that shares reviews with the training set, and
accuracies of test reviews made like the training reviews and cut to 64 tokens, with figures of the negative label.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError, check_choice
from unmask.studies.models import find_paper_model, split_names

TERMS = ("pro", "weat", "all")
TERM_SETS = {"pro": "pronouns", "weat": "family", "all": "all"}
"""The paper's names of term sets, and ours."""
KINDS = ("original", "R", "mix")
FORMS = {"R": ("remove",), "mix": ("male", "female")}
"""The versions of each review that a kind of training texts has."""
PLACES = tuple((terms, kind) for terms in TERMS for kind in KINDS)
"""The nine measurements of a model, in the order of the paper's tables."""
CONDITIONS = ("original", *(f"{kind}-{terms}" for kind in KINDS[1:] for terms in TERMS))
PAPER_EPOCHS = 20
"""The learning rate falls over all of them, although an earlier checkpoint was chosen."""


@dataclass(frozen=True)
class ClassifierProtocol:
    """One way to train and test the classifiers."""

    own_architecture: bool
    """Whether a base model keeps its architecture, or gets that of the paper's code."""
    warmup: float
    weight_decay: float
    keep: str
    """Which weights are kept: the best on validation, or the last."""
    holds_out_reviews: bool
    """Whether all versions of a review are held out together, or single rows."""
    tests_originals: bool
    """Whether all are tested on the same reviews, or each on reviews like those of its training."""
    test_tokens: int | None
    """The length to which test reviews are cut for the accuracy; None: as in training."""
    label: str
    """The label of which recall, precision and F1 are given."""


PROTOCOLS = {
    "sound": ClassifierProtocol(True, 0.1, 0.01, "best", True, True, None, "positive"),
    "published": ClassifierProtocol(False, 0.0, 0.0, "last", False, False, 64, "negative"),
}


@dataclass(frozen=True)
class BaseModel:
    """A pretrained model from which classifiers are made."""

    name: str
    """A short name for tables."""
    model: str
    """A hub id, a folder, or an embedded model."""
    batch_size: int = 32
    published: Mapping[str, Any] = field(default_factory=dict)
    """The architecture in the paper's code, where it differs from the checkpoint's."""


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
"""The paper's seven. Its code built fresh configurations: the large ones had 12 layers, and ALBERT 64 heads."""


@dataclass(frozen=True)
class HyperParameters:
    """How one classifier is trained."""

    learning_rate: float = 2e-5
    epochs: int = 3
    batch_size: int = 32
    planned_epochs: int = 0
    """The epochs over which the learning rate falls; 0: those that are trained."""


def list_term_sets(condition: str) -> tuple[str, ...]:
    """Return the term sets that the classifier of a condition is measured with."""
    terms = condition.partition("-")[2]
    return (terms,) if terms else TERMS


def list_forms(condition: str) -> tuple[tuple[str, str], ...]:
    """Return the texts of a condition: pairs of a term set (empty for the original) and a form."""
    kind, _, terms = condition.partition("-")
    return tuple((terms, form) for form in FORMS[kind]) if terms else (("", "original"),)


def choose_base_models(names: Sequence[str]) -> tuple[BaseModel, ...]:
    """Return the base models: the paper's seven, some of them by name, or others as NAME=MODEL."""
    paper_models = {model.name: model for model in MODELS}
    models: list[BaseModel] = []
    for name, model in split_names(names):
        if not model:
            models.append(find_paper_model(name, paper_models))
        else:
            paper = paper_models.get(name, BaseModel(name, model))
            models.append(BaseModel(name, model, paper.batch_size, paper.published))
    return tuple(models) or MODELS


def choose_conditions(names: Sequence[str]) -> tuple[str, ...]:
    """Return the training conditions, in the order of the tables: all seven, or those named."""
    for condition in names:
        check_choice(condition, CONDITIONS, "training condition")
    return tuple(condition for condition in CONDITIONS if not names or condition in names)


def read_hyper_parameters(path: Path) -> dict[tuple[str, str], HyperParameters]:
    """Read a CSV of model, condition, learning_rate, epochs (or the paper's epoch_index_from_0) and batch_size."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text with commas"
        raise UnmaskError(f"{path} cannot be read ({reason}); give a CSV file of hyper-parameters") from None
    if not rows:
        raise UnmaskError(f"{path} has no lines below its header; give one for each model and condition")
    settings: dict[tuple[str, str], HyperParameters] = {}
    for number, row in enumerate(rows, 2):
        key, values = _read_line(row, f"{path}, line {number}")
        if key in settings:
            raise UnmaskError(f"{path}, line {number}: {' and '.join(key)} occur twice; give one line for each")
        settings[key] = values
    return settings


def _read_line(row: dict[str, str], where: str) -> tuple[tuple[str, str], HyperParameters]:
    try:
        model, condition = row["model"], row["condition"]
        planned = PAPER_EPOCHS if "epoch_index_from_0" in row else 0
        epochs = int(row["epoch_index_from_0"]) + 1 if planned else int(row["epochs"])
        values = HyperParameters(float(row["learning_rate"]), epochs, int(row["batch_size"]), planned)
    except (KeyError, ValueError, TypeError):
        raise UnmaskError(
            f"{where}: give model, condition, learning_rate, epochs and batch_size in every line"
        ) from None
    if condition not in CONDITIONS:
        raise UnmaskError(f"{where}: unknown training condition {condition!r}; choose from: {', '.join(CONDITIONS)}")
    if not 0 < values.learning_rate < 1 or values.batch_size < 1 or not 1 <= epochs <= (planned or epochs):
        most = f", {planned} epochs at most" if planned else ""
        raise UnmaskError(
            f"{where}: cannot train with learning rate {values.learning_rate:g}, {epochs} epochs and batch size"
            f" {values.batch_size}; give a rate below 1, and whole numbers from 1 on{most}"
        )
    return (model, condition), values
