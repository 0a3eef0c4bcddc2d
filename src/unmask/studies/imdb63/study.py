"""The study of 63 classifiers: from a request to cells, from finished cells to a table, and from the table to findings.

The tables of cells are written beside the findings as CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask.errors import UnmaskError, check_choice
from unmask.models.loading import describe_lost_heads
from unmask.statistics.corrections import holm
from unmask.statistics.jentzsch_turan import stars
from unmask.studies.base_models import weights_of
from unmask.studies.cells import Cell
from unmask.studies.engine import Engine, Finished, carry_out, failures, keep, noted
from unmask.studies.execution import Outcome, Watch
from unmask.studies.imdb63 import cells as measuring
from unmask.studies.imdb63 import cells as training
from unmask.studies.imdb63 import grid, texts
from unmask.studies.imdb63.findings import Findings, findings
from unmask.studies.imdb63.grid import PROTOCOLS, BaseModel, HyperParameters, chosen_models
from unmask.studies.imdb63.options import ReviewStudyOptions
from unmask.studies.imdb63.tables import name_of
from unmask.studies.imdb63.texts import LABELS
from unmask.studies.tuning import METRICS

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Plan:
    """The cells of a study, and which of them are its tables."""

    cells: tuple[Cell, ...]
    measured: tuple[measuring.Measuring, ...]
    batches: tuple[measuring.Measuring, ...]
    """The comparison of batch sizes: cells of the grid and others that differ in the batch size alone."""
    notes: tuple[str, ...] = ()
    """What a user has to know before the work begins."""


def plan(request: ReviewStudyOptions) -> Plan:
    """The cells that a request comes to."""
    bases, conditions = grid.chosen_models(request.models), grid.chosen_conditions(request.conditions)
    reviews = texts.source(request.files, request.limit, offline=request.loading.offline, seed=request.seed)
    lists = texts.lists_of(request.lists, offline=request.loading.offline) if request.protocol == "published" else None
    given = grid.read_hyper_parameters(request.hyper_parameters) if request.hyper_parameters else {}
    weights = {base.name: weights_of(base.model, request.loading) for base in bases}
    trainings = [
        training.Training(
            base=base,
            condition=condition,
            protocol=request.protocol,
            settings=_settings(request, base, condition, given),
            max_length=request.max_length,
            seed=request.seed,
            weights=weights[base.name],
            loading=request.loading,
        )
        for base in bases
        for condition in conditions
    ]
    measured = [
        measuring.Measuring(one, terms, request.loading, reviews.corpus)
        for one in trainings
        for terms in grid.term_sets_of(one.condition)
    ]
    batches = _batches(request, bases, trainings, reviews.corpus)
    extra = [one.trained for one in batches if one.trained.variant]
    every = [*measured, *(one for one in batches if one.trained.variant)]
    rest: list[Cell] = [*trainings, *extra, *every]
    needed = dict.fromkeys(name for one in rest for name in one.needs if name.startswith("texts-"))
    forms = {texts.name_of(*form): form for form in _forms(conditions)}
    cells: list[Cell] = [texts.Texts(reviews, *forms[name], request.protocol, lists) for name in needed]
    return Plan((*cells, *rest), tuple(measured), tuple(batches))


def _forms(conditions: Sequence[str]) -> list[tuple[str, str, str]]:
    """All texts that the conditions can need: split, terms and form."""
    wanted = {(terms, form) for condition in conditions for terms, form in grid.forms_of(condition)}
    tested = {(terms, form) for one in conditions for terms in grid.term_sets_of(one) for form in ("female", "male")}
    pairs = sorted({("", texts.ORIGINAL), *wanted, *tested})
    return [(split, *pair) for split in texts.SPLITS for pair in pairs]


def _settings(
    request: ReviewStudyOptions, base: BaseModel, condition: str, given: Mapping[tuple[str, str], HyperParameters]
) -> HyperParameters:
    if given:
        if (base.name, condition) not in given:
            raise UnmaskError(
                f"{request.hyper_parameters} has no line for {base.name} and {condition}; add one, or leave out"
                " --hyper-parameters for the same settings everywhere"
            )
        return given[base.name, condition]
    return HyperParameters(request.learning_rate, request.epochs, request.batch_size or base.batch_size)


def _batches(
    request: ReviewStudyOptions, bases: Sequence[BaseModel], trainings: Sequence[training.Training], corpus: str
) -> list[measuring.Measuring]:
    if not request.batch_sizes:
        return []
    names = list(request.batch_models) or [base.name for base in bases[:3]]
    for name in names:
        check_choice(name, [base.name for base in bases], "base model")
    found = []
    for one in trainings:
        if one.base.name not in names:
            continue
        for size in dict.fromkeys(request.batch_sizes):
            same = size == one.settings.batch_size
            other = (
                one if same else replace(one, settings=replace(one.settings, batch_size=size), variant=f"batch{size}")
            )
            found.append(measuring.Measuring(other, grid.term_sets_of(one.condition)[-1], request.loading, corpus))
    return found


def table(cells: Sequence[measuring.Measuring], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """The finished ones of measured cells as a table, one row each, p-values corrected for all of them."""
    import pandas as pd

    by_name = {one.name: one for one in outcomes}
    rows = []
    for cell in cells:
        outcome, trained = by_name[cell.name], by_name[cell.trained.name]
        if not outcome.is_there or outcome.folder is None or trained.folder is None:
            continue
        one = cell.trained
        metrics: dict[str, Any] = json.loads((Path(trained.folder) / METRICS).read_text(encoding="utf-8"))
        of_label = metrics["labels"][PROTOCOLS[one.protocol].label]
        rows.append(
            {
                "model": one.base.name,
                "condition": one.condition,
                "terms": cell.terms,
                "kind": one.condition.partition("-")[0],
                "protocol": one.protocol,
                "batch_size": one.settings.batch_size,
                "learning_rate": one.settings.learning_rate,
                "epochs": one.settings.epochs,
                "size": metrics["parameters"],
                **measuring.figures(Path(outcome.folder)),
                "accuracy": metrics["accuracy"],
                **{name: of_label[name] for name in ("recall", "precision", "f1")},
            }
        )
    found = pd.DataFrame(rows)
    if len(found) and found["protocol"].iloc[0] == "sound":
        found["p_adjusted"] = holm([None if pd.isna(p) else float(p) for p in found["p"]])
        found["stars"] = [stars(p, 1) or "-" for p in found["p_adjusted"]]
    return found


NAME = "imdb-63"
CELLS, BATCHES = "cells.csv", "batches.csv"


def run(
    request: ReviewStudyOptions,
    out: Path,
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: Watch | None = None,
) -> Finished[Findings]:
    """Do all cells that are not done under `out`, and gather those that are; the same call goes on after a stop.

    `planned` is told what there is to do before it begins.
    """
    todo, outcomes = carry_out(NAME, lambda: _plan(request), out, engine, planned=planned, watch=watch)
    cells, batches = table(todo.measured, outcomes), table(todo.batches, outcomes)
    keep(cells, out / CELLS)
    keep(batches, out / BATCHES)
    if not len(cells):
        return Finished(outcomes, None)
    found = findings(
        cells,
        batches=batches if len(batches) else None,
        settings_of_all=described(request, todo),
        failures=failures(outcomes),
        asked=[
            name_of(one.trained.base.name, one.terms, one.trained.condition.partition("-")[0]) for one in todo.measured
        ],
        seed=request.seed,
    )
    return Finished(outcomes, found)


def _plan(request: ReviewStudyOptions) -> Plan:
    todo = plan(request)
    models = [base.model for base in chosen_models(request.models)]
    notes = describe_lost_heads(models, LABELS, request.loading)  # a wrong name is said before the work, too
    return replace(todo, notes=tuple(notes))


def described(request: ReviewStudyOptions, todo: Plan) -> dict[str, str]:
    """How the study was set up, in words."""
    data = "IMDB" if not request.files else " and ".join(path.name for path in request.files)
    return {
        "protocol": request.protocol,
        "reviews": data + ("" if request.limit is None else f", {request.limit:,} of each split, drawn at random"),
        "longest text": f"{request.max_length} tokens",
        **noted(todo),
        "seed": str(request.seed),
        "unmask": unmask.__version__,
    }
