"""Run the study and gather what it found; the tables of cells are written beside them as CSV."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import unmask
from unmask.models.heads import lost_heads
from unmask.studies.engine import Engine, Finished, carry_out, failures, keep, noted
from unmask.studies.execution import Watch
from unmask.studies.imdb63.findings import Findings, findings
from unmask.studies.imdb63.grid import chosen_models
from unmask.studies.imdb63.options import ReviewStudyOptions
from unmask.studies.imdb63.study import Plan, plan, table
from unmask.studies.imdb63.tables import name_of
from unmask.studies.imdb63.texts import LABELS

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
    notes = lost_heads(models, LABELS, request.loading)  # a wrong name is said before the work, too
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
