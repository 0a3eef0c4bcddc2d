"""The study of inference: from what a user asks for to cells, and from finished cells to one row a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unmask.datasets import NotHereError
from unmask.models.heads import lost_heads
from unmask.probes.inference import LABELS
from unmask.results import Measurement
from unmask.studies.bases import weights_of
from unmask.studies.cells import Cell
from unmask.studies.execution import Outcome
from unmask.studies.nli import measuring, models
from unmask.studies.nli.data import Source, source
from unmask.studies.nli.models import DATA, Base
from unmask.studies.nli.options import InferenceStudyOptions
from unmask.studies.nli.training import MODEL, Testing, Training
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


@dataclass(frozen=True)
class Row:
    """A model that has been measured."""

    base: Base
    measurement: Measurement
    parameters: int | None = None
    made: str = ""
    """How it came to tell inferences, in words."""
    tested_on: str = ""
    """test or validation; empty if it was not tested."""
    accuracy: float | None = None
    accuracy_interval: tuple[float, float] | None = None
    examples: int | None = None
    """How many pairs it was tested with."""


def plan(request: InferenceStudyOptions) -> Plan:
    """The cells that a request comes to."""
    request.check()
    bases = models.chosen(request.models, request.languages)
    weights = {base.model: weights_of(base.model, request.loading) for base in bases}
    finished = {base.model: models.is_finished(base.model, request.loading) for base in bases}
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
    notes = lost_heads(trained, LABELS, request.loading)
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
