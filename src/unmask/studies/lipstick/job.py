"""Run a lipstick study: do what is not done, and gather what was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import unmask
from unmask.studies import engine as running
from unmask.studies.engine import Engine, Finished, failures
from unmask.studies.execution import Watch
from unmask.studies.lipstick.findings import Findings, findings
from unmask.studies.lipstick.options import LipstickOptions
from unmask.studies.lipstick.study import Plan, plan, rows

STATIC, CONTEXTUAL = "lipstick-static", "lipstick-contextual"


def run(
    request: LipstickOptions,
    out: Path,
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: Watch | None = None,
) -> Finished[Findings]:
    """Do all cells that are not done under `out`; the same call goes on where an earlier one stopped."""
    name = STATIC if request.static else CONTEXTUAL
    todo, outcomes = running.carry_out(name, lambda: plan(request), out, engine, planned=planned, watch=watch)
    found = rows(todo, outcomes)
    if not found:
        return Finished(outcomes, None)
    said = described(request, todo)
    return Finished(outcomes, findings(found, static=request.static, settings=said, failures=failures(outcomes)))


def described(request: LipstickOptions, todo: Plan) -> dict[str, str]:
    """How it was set up, in words."""
    bases = [one.subject for one in todo.measured if one.subject.is_base]
    models = dict.fromkeys(f"{one.family} ({Path(one.model).name})" for one in bases)
    found = {
        "protocol": request.protocol,
        "measured": ", ".join(models),
        "debiased": ", ".join(dict.fromkeys(one.subject.name for one in todo.measured if not one.subject.is_base)),
        "words": ", ".join(dict.fromkeys(one.words.vocabulary for one in todo.measured))
        + ("" if request.words is None else f", {request.words:,} at most"),
    }
    if request.protocol == "sound":
        found["other contrasts"] = str(request.contrasts)
    if request.corpus:
        found["text"] = ", ".join(request.corpus)
    return found | {"seed": str(request.seed), "unmask": unmask.__version__}
