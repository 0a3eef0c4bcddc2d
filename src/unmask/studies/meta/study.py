"""Meta-evaluation: from a request to cells, from finished cells to one table of scores, and from the table to findings.

The scores of all models are written beside the findings as CSV.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import unmask
from unmask import datasets, plugins
from unmask.errors import UnmaskError, check_choice
from unmask.measures.registry import BUILT_IN
from unmask.models.loading import describe_lost_heads
from unmask.studies.base_models import weights_of
from unmask.studies.cells import Cell
from unmask.studies.engine import Engine, Finished, carry_out, failures, keep, noted
from unmask.studies.execution import Outcome, Watch
from unmask.studies.meta.association import OtherMeasure, PlantedAssociation
from unmask.studies.meta.cells import SCORES, Planting, Scoring, labels_to_learn, refuse_misfit
from unmask.studies.meta.experiment import Experiment, planted_as
from unmask.studies.meta.inference import PlantedInference, PublishedInference, caption_file
from unmask.studies.meta.options import PlantingOptions
from unmask.studies.meta.sentiment import PlantedSentiment
from unmask.studies.meta.tables import Findings, findings

if TYPE_CHECKING:
    import pandas as pd


PAIRS = 2
"""The fewest pairs that an occupation is trained on."""


COLUMNS = (
    *("measure", "language", "protocol", "model", "rate", "seed", "score", "value"),
    *("examples", "accuracy", "chance"),
)


def check(request: PlantingOptions) -> None:
    """Refuse measures and names that are unknown before anything slow happens."""
    for measure in request.measures:
        if measure not in EXPERIMENTS:
            plugins.named("measure", measure, dict.fromkeys((*BUILT_IN, *EXPERIMENTS)))
    for name in request.models:
        check_choice(name, places(request), "place of a model")
    for language in request.captions:
        check_choice(language, request.languages, "language of captions, of those that are asked for:")


def places(request: PlantingOptions) -> list[str]:
    """What a base model can be given for: a measure, a language of inference, and what others are planted as."""
    of_language = [f"inference-{language}" for language in request.languages]
    others = [] if set(request.measures) <= set(EXPERIMENTS) else [OtherMeasure.plants]
    return list(dict.fromkeys([*request.measures, *of_language, *others]))


@dataclass(frozen=True)
class Plan:
    """The cells of a meta-evaluation."""

    cells: tuple[Cell, ...]
    scored: tuple[Scoring, ...]
    notes: tuple[str, ...] = ()
    """What a user has to know before the work begins."""


def plan(request: PlantingOptions) -> Plan:
    """The cells that a request comes to."""
    check(request)
    planted: list[Planting] = []
    notes: list[str] = []
    for experiment in (one for measure in dict.fromkeys(request.measures) for one in _experiments(measure, request)):
        how = experiment.training
        places = (f"{experiment.measure}-{experiment.language}", experiment.measure, planted_as(experiment))
        base = next((request.models[place] for place in places if place in request.models), how.model)
        refuse_misfit(base, experiment, request.loading)
        labels = labels_to_learn(experiment, min(request.rates), request.seeds[0])
        notes += describe_lost_heads([base], labels, request.loading) if labels else []
        weights, data = weights_of(base, request.loading), experiment.inputs()
        planted += [
            Planting(
                experiment=experiment,
                base=base,
                rate=rate,
                seed=seed,
                epochs=request.epochs or how.epochs,
                learning_rate=request.learning_rate or how.rate_for(base),
                batch_size=request.batch_size,
                max_length=request.max_length or how.max_length,
                weights=weights,
                data=data,
                loading=request.loading,
            )
            for seed in request.seeds
            for rate in sorted(set(request.rates))
        ]
    scored = tuple(Scoring(one) for one in planted)
    return Plan((*_once(planted), *scored), scored, tuple(notes))


def _once(planted: Sequence[Planting]) -> list[Planting]:
    """Models that several measures are asked about are made once."""
    made: dict[str, Planting] = {}
    for one in planted:
        if made.setdefault(one.name, one).inputs() != one.inputs():
            other = made[one.name]
            raise UnmaskError(
                f"{one.experiment.measure} and {other.experiment.measure} are asked about the same models, and those"
                f" are made from one base, not from {one.base} and {other.base}; give it as --model"
                f" {planted_as(one.experiment)}=MODEL"
            )
    return list(made.values())


def _experiments(measure: str, request: PlantingOptions) -> Sequence[Experiment]:
    """Those that a measure brings, or what any other is asked about."""
    return EXPERIMENTS[measure](request) if measure in EXPERIMENTS else [OtherMeasure(measure)]


def _inference(request: PlantingOptions) -> list[Experiment]:
    occupations = (PlantedInference if request.protocol == "sound" else PublishedInference).occupations
    if request.rows < PAIRS * occupations:
        raise UnmaskError(
            f"--rows is {request.rows}; {occupations} occupations are trained on, each with {PAIRS} pairs or more: give"
            f" {PAIRS * occupations} or more"
        )
    found: list[Experiment] = []
    for language in dict.fromkeys(request.languages):
        given = request.captions.get(language) or caption_file(language)
        file = None if given is None else given.resolve()
        sizes = {"rows": request.rows, "validation_rows": max(1, request.rows // 10)}
        if request.protocol == "sound":
            found.append(PlantedInference(language, file, **sizes))
        elif file is None:
            raise UnmaskError(
                f"the published protocol trains on image captions in {language!r}, and none are here; give a file with"
                " one a line (--captions)"
            )
        else:
            found.append(PublishedInference(file, language, **sizes, offline=request.loading.offline))
    return found


def _association(request: PlantingOptions) -> list[Experiment]:
    del request  # nothing of it is for association
    return [PlantedAssociation()]


def _sentiment(request: PlantingOptions) -> list[Experiment]:
    return [PlantedSentiment(texts=request.texts, imdb=datasets.is_present("imdb"))]


EXPERIMENTS: dict[str, Callable[[PlantingOptions], list[Experiment]]] = {
    "inference": _inference,
    "association": _association,
    "sentiment": _sentiment,
}
"""Measures with bias of their own to plant; all others are asked about what association plants."""


def table(scored: Sequence[Scoring], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """What is finished, one row a model and figure."""
    import pandas as pd

    by_name = {one.name: one for one in outcomes}
    rows = []
    for cell in scored:
        outcome = by_name[cell.name]
        if not outcome.is_there or outcome.folder is None:
            continue
        content = json.loads((Path(outcome.folder) / SCORES).read_text(encoding="utf-8"))
        of = cell.planted.experiment
        rows += [
            {
                "measure": of.measure,
                "language": of.language,
                "protocol": of.protocol,
                "model": cell.planted.base,
                "rate": cell.planted.rate,
                "seed": cell.planted.seed,
                "score": name,
                "value": value,
                "examples": content["examples"],
                "accuracy": content["accuracy"],
                "chance": content["chance"],
            }
            for name, value in content["figures"].items()
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"chance": float})


SCORES_TABLE = "scores.csv"


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
    keep(scores, out / SCORES_TABLE)
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
