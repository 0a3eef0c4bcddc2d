"""The study of inference: from a request to cells, from finished cells to one row per model, and from rows to findings.

The rows are written beside the cells as CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import unmask
from unmask.datasets import NotHereError
from unmask.measures.inference.pairs import LABELS
from unmask.models.checkpoints import find_checkpoint
from unmask.models.loading import describe_lost_heads
from unmask.results.formatting import LANGUAGES
from unmask.studies.base_models import weights_of
from unmask.studies.cells import Cell
from unmask.studies.engine import Engine, Finished, carry_out, failures, keep, noted
from unmask.studies.execution import Outcome, Watch
from unmask.studies.nli import cells as measuring
from unmask.studies.nli import inputs
from unmask.studies.nli.cells import MODEL, Testing, Training
from unmask.studies.nli.inputs import DATA, Base, Source, chosen, source
from unmask.studies.nli.options import InferenceStudyOptions
from unmask.studies.nli.tables import Findings, Row, findings, numbers
from unmask.studies.tuning import METRICS


@dataclass(frozen=True)
class Plan:
    """The cells of the study, and which of them are its rows."""

    cells: tuple[Cell, ...]
    measured: tuple[measuring.Measuring, ...]
    makers: tuple[Training | Testing | None, ...]
    """What says how good each of these is; None where there is nothing to test with."""
    notes: tuple[str, ...] = ()
    """What a user has to know before the work begins."""


def plan(request: InferenceStudyOptions) -> Plan:
    """The cells that a request comes to."""
    request.check()
    bases = inputs.chosen(request.models, request.languages)
    weights = {base.model: weights_of(base.model, request.loading) for base in bases}
    finished = {base.model: inputs.is_finished(base.model, request.loading) for base in bases}
    pairs = {
        language: measuring.hash_of_pairs(language, request.protocol, request.sentences, request.seed, request.loading)
        for language in dict.fromkeys(base.language for base in bases)
    }
    sources: dict[tuple[str, bool], Source | None] = {}
    makers: list[Training | Testing | None] = []
    measured = []
    for base in bases:
        data = "" if request.train else request.data or DATA[base.language]
        key = (data, finished[base.model])
        if key not in sources:
            sources[key] = _source(request, *key)
        maker = _maker(request, base, sources[key], weights[base.model], as_it_is=key[1])
        makers.append(maker)
        measured.append(
            measuring.Measuring(
                base,
                request.protocol,
                trained=maker.name if isinstance(maker, Training) else "",
                weights=weights[base.model],
                pairs=pairs[base.language],
                sentences=request.sentences,
                seed=request.seed,
                loading=request.loading,
            )
        )
    made: dict[str, Cell] = {maker.name: maker for maker in makers if maker is not None}
    trained = [maker.base.model for maker in makers if isinstance(maker, Training)]
    notes = describe_lost_heads(trained, LABELS, request.loading)
    return Plan((*made.values(), *measured), tuple(measured), tuple(makers), tuple(notes))


def _maker(
    request: InferenceStudyOptions, base: Base, pairs: Source | None, weights: str, *, as_it_is: bool
) -> Training | Testing | None:
    if pairs is None:
        return None
    if as_it_is:
        return Testing(base, pairs, weights, request.loading)
    return Training(base, pairs, request.settings, request.seed, weights, request.loading)


def _source(request: InferenceStudyOptions, data: str, tests_only: bool) -> Source | None:
    """The pairs; None where a classifier that is taken as it is has none to be tested with."""
    files = (None if tests_only else request.train, request.validation, request.test)
    if tests_only and not data and not (request.test or request.validation):
        return None
    try:
        return source(
            data or None,
            files,
            request.limit,
            seed=request.seed,
            offline=request.loading.offline,
            tests_only=tests_only,
        )
    except NotHereError:
        if not tests_only or request.data or request.test or request.validation:
            raise
        return None


def rows(todo: Plan, outcomes: Sequence[Outcome]) -> list[Row]:
    """The finished ones of the measured models."""
    folders = {one.name: Path(one.folder) for one in outcomes if one.is_there and one.folder}
    found = []
    for cell, maker in zip(todo.measured, todo.makers, strict=True):
        if cell.name not in folders:
            continue
        measurement, info = measuring.read(folders[cell.name])
        tested = _tested(maker, folders[maker.name]) if maker is not None and maker.name in folders else {}
        made = maker.source.words if isinstance(maker, Training) else ""
        found.append(
            Row(cell.base, measurement, info.parameters, f"trained on {made}" if made else "as it is", **tested)
        )
    return found


def _tested(maker: Training | Testing, folder: Path) -> dict[str, Any]:
    place = folder / MODEL if isinstance(maker, Training) else folder
    metrics = json.loads((place / METRICS).read_text(encoding="utf-8"))["metrics"]
    split = "test" if "test" in metrics else "validation"
    low, high = metrics[split]["accuracy_interval"]
    return {
        "tested_on": split,
        "accuracy": metrics[split]["accuracy"],
        "accuracy_interval": (low, high),
        "examples": metrics[split]["examples"],
    }


NAME = "nli-plms"
CELLS = "cells.csv"


def run(
    request: InferenceStudyOptions,
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
    found = rows(todo, outcomes)
    measured = {(row.base.language, row.base.name) for row in found}
    missing = [
        f"{one.base.name} ({LANGUAGES[one.base.language]})"
        for one in todo.measured
        if (one.base.language, one.base.name) not in measured
    ]
    result = None
    if found:
        result = findings(found, settings=described(request, todo), failures=failures(outcomes), missing=missing)
    keep(numbers(result.rows if result else []), out / CELLS)
    return Finished(outcomes, result)


def _plan(request: InferenceStudyOptions) -> Plan:
    request.check()
    for base in chosen(request.models, request.languages):
        find_checkpoint(base.model, request.loading)  # a wrong name is said before the work
    return plan(request)


def described(request: InferenceStudyOptions, todo: Plan) -> dict[str, str]:
    """How the study was set up, in words."""
    own = request.settings
    languages = list(dict.fromkeys(request.languages))
    asked = "the sentences of the package" if request.protocol == "sound" else "the released sets"
    data = request.train.name if request.train else request.data or ", ".join(DATA[one] for one in languages)
    found = {
        "protocol": request.protocol,
        "languages": ", ".join(LANGUAGES[language] for language in languages),
        "asked about": asked + ("" if request.sentences is None else f", {request.sentences:,} drawn at random"),
    }
    if any(one.trained for one in todo.measured):
        some = "" if request.limit is None else f", {request.limit:,} pairs at most, drawn at random"
        found["trained on"] = data + some
        found["training"] = (
            f"{own.epochs} epoch{'' if own.epochs == 1 else 's'}, learning rate {own.learning_rate:g}, batches of"
            f" {own.batch_size}, {own.max_length} tokens"
        )
    return found | noted(todo) | {"seed": str(request.seed), "unmask": unmask.__version__}
