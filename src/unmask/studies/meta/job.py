"""Run a meta-evaluation and gather what it found; the scores of all models are written beside them as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import unmask
from unmask.studies.engine import Engine, Finished, carry_out, failures, keep, noted
from unmask.studies.execution import Watch
from unmask.studies.meta.findings import Findings, findings
from unmask.studies.meta.inference import PlantedInference
from unmask.studies.meta.options import PlantingOptions
from unmask.studies.meta.published_inference import PublishedInference
from unmask.studies.meta.study import Plan, plan, table

if TYPE_CHECKING:
    import pandas as pd

SCORES = "scores.csv"


def run(
    request: PlantingOptions,
    out: Path,
    engine: Engine | None = None,
    *,
    planned: Callable[[Plan], None] | None = None,
    watch: Watch | None = None,
) -> Finished[Findings]:
    """Do all cells that are not done under `out`, and gather those that are; the same call goes on after a stop.

    `planned` is told what there is to do before it begins.
    """
    todo, outcomes = carry_out(request.name, lambda: plan(request), out, engine, planned=planned, watch=watch)
    scores = table(todo.scored, outcomes)
    keep(scores, out / SCORES)
    if not len(scores):
        return Finished(outcomes, None)
    return Finished(outcomes, findings(scores, described(request, todo, scores), failures(outcomes)))


def described(request: PlantingOptions, todo: Plan, scores: pd.DataFrame) -> dict[str, str]:
    """How it was set up, in words, and how much was really trained on."""
    first = {one.planted.experiment.measure: one.planted for one in todo.scored}
    found = {
        "protocol": request.protocol,
        "rates": ", ".join(f"{rate:g}" for rate in sorted(set(request.rates))),
        "seeds": ", ".join(map(str, request.seeds)),
        "unmask": unmask.__version__,
    }
    for measure, cell in first.items():
        found[measure] = (
            f"{cell.base}, {cell.epochs} epoch{'' if cell.epochs == 1 else 's'}, learning rate {cell.learning_rate:g},"
            f" batches of {cell.batch_size}, {cell.max_length} tokens"
        )
    for cell in (one.planted for one in todo.scored):
        if isinstance(cell.experiment, PlantedInference | PublishedInference):
            file, name = cell.experiment.captions, f"sentences to train on, {cell.experiment.language}"
            found[name] = "the package's own" if file is None else f"made of {file.name}"
    for name, language in scores[["measure", "language"]].drop_duplicates().itertuples(index=False):
        of = scores[(scores["measure"] == name) & (scores["language"] == language)]
        fewest, most = int(of["examples"].min()), int(of["examples"].max())
        used = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        if name == "inference":
            rest = "" if fewest == most == request.rows else f"; {request.rows:,} were asked for"
            found[f"pairs to train on, {language}"] = used + rest
        elif name == "sentiment":
            found["texts to train on"] = f"{used}; {request.texts:,} reviews at most, each in two versions"
    return found | noted(todo)
