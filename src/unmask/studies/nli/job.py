"""Run the study of inference and gather what it found; the rows are written beside the cells as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import unmask
from unmask.models.sources import find
from unmask.results.languages import LANGUAGES
from unmask.studies.engine import Engine, Finished, carry_out, failures, keep, noted
from unmask.studies.execution import Watch
from unmask.studies.nli.findings import Findings, findings
from unmask.studies.nli.models import DATA, chosen
from unmask.studies.nli.options import InferenceStudyOptions
from unmask.studies.nli.study import Plan, plan, rows
from unmask.studies.nli.tables import numbers

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
        find(base.model, request.loading)  # a wrong name is said before the work
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
