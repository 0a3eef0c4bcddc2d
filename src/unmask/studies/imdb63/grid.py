"""The grid of Jentzsch and Turan (2022), as data: seven base models × seven training conditions, 63 measured cells.

A classifier of the condition *original* is measured with all three term sets, the others with the set that their
training data was made with: 7 × (3 + 6) = 63.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError, one_of
from unmask.studies.bases import known_base, named
from unmask.studies.imdb63.measured import CONDITIONS, TERMS

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
        one_of(one, CONDITIONS, "training condition")
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
