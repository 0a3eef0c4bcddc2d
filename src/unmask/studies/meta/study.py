"""Meta-evaluation: from what a user asks for to cells, and from finished cells to one table of scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import datasets, plugins
from unmask.errors import UnmaskError, one_of
from unmask.lexicon.inference import LANGUAGES
from unmask.measures.registry import BUILT_IN
from unmask.models.heads import lost_heads
from unmask.models.sources import LoadOptions
from unmask.studies.bases import weights_of
from unmask.studies.cells import Cell
from unmask.studies.execution import Outcome
from unmask.studies.meta.association import PlantedAssociation
from unmask.studies.meta.cells import SCORES, Planting, Scoring
from unmask.studies.meta.experiment import Experiment, planted_as
from unmask.studies.meta.inference import PlantedInference
from unmask.studies.meta.others import OtherMeasure
from unmask.studies.meta.pairs import caption_file
from unmask.studies.meta.published_inference import PublishedInference
from unmask.studies.meta.refusals import labels_to_learn, refuse_misfit
from unmask.studies.meta.sentiment import PlantedSentiment
from unmask.training.options import FEWEST_TOKENS

if TYPE_CHECKING:
    import pandas as pd

RATES = tuple(at / 10 for at in range(11))
PROTOCOLS = ("sound", "published")
FEWEST_RATES = 3
ROUNDING = 1e-9
PAIRS = 2
"""The fewest pairs that an occupation is trained on."""


COLUMNS = (
    *("measure", "language", "protocol", "model", "rate", "seed", "score", "value"),
    *("examples", "accuracy", "chance"),
)


@dataclass(frozen=True)
class Request:
    """What to run; the defaults are the paper's meta-evaluation of inference, done right."""

    measures: Sequence[str] = ("inference",)
    languages: Sequence[str] = ("en",)
    """Of inference; the others are in English."""
    protocol: str = "sound"
    models: Mapping[str, str] = field(default_factory=dict)
    """The base model of each measure, and of `inference-ja` and the like for one language; else the embedded ones."""
    rates: Sequence[float] = RATES
    seeds: Sequence[int] = (42,)
    rows: int = 30_000
    """Inference: pairs to train on, as many for each occupation; a tenth of them again to validate."""
    texts: int = 2_000
    """Sentiment: reviews to train on."""
    captions: Mapping[str, Path] = field(default_factory=dict)
    """Inference: a file of captions by language."""
    epochs: int | None = None
    learning_rate: float | None = None
    batch_size: int = 32
    max_length: int | None = None
    loading: LoadOptions = field(default_factory=LoadOptions)
    study: str | None = None
    """The study that its folder is of; None: nli-meta where inference alone is asked for, else meta."""

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.study or ("nli-meta" if list(self.measures) == ["inference"] else "meta")

    def check(self) -> None:
        """Refuse what is unknown before anything slow happens."""
        for measure in self.measures:
            if measure not in EXPERIMENTS:
                plugins.named("measure", measure, dict.fromkeys((*BUILT_IN, *EXPERIMENTS)))
        for language in self.languages:
            one_of(language, LANGUAGES, "language")
        for name in self.models:
            one_of(name, self.places(), "place of a model")
        for language in self.captions:
            one_of(language, self.languages, "language of captions, of those that are asked for:")
        one_of(self.protocol, PROTOCOLS, "protocol")
        if self.protocol == "published" and list(self.measures) != ["inference"]:
            raise UnmaskError("only inference has been meta-evaluated in a paper; use --protocol sound for the others")
        given = ", ".join(f"{rate:g}" for rate in self.rates)
        if len(set(self.rates)) < FEWEST_RATES or not all(0 <= rate <= 1 for rate in self.rates):
            raise UnmaskError(f"the rates are {given}; give at least {FEWEST_RATES} different ones between 0 and 1")
        if any(abs(rate - round(rate, 1)) > ROUNDING for rate in self.rates):
            raise UnmaskError(f"the rates are {given}; bias is planted word by word, so give them in steps of .1")
        if not self.seeds or min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise UnmaskError("give at least one seed, each once, 0 or more")
        for name in ("rows", "texts", "batch_size", "epochs", "max_length"):
            value, least = getattr(self, name), FEWEST_TOKENS if name == "max_length" else 1
            if value is not None and value < least:
                raise UnmaskError(f"--{name.replace('_', '-')} is {value}; give {least} or more")
        if self.learning_rate is not None and not 0 < self.learning_rate < 1:
            raise UnmaskError(f"--learning-rate is {self.learning_rate}; give a number such as 2e-5")

    def places(self) -> list[str]:
        """What a base model can be given for: a measure, a language of inference, and what others are planted as."""
        of_language = [f"inference-{language}" for language in self.languages]
        others = [] if set(self.measures) <= set(EXPERIMENTS) else [OtherMeasure.plants]
        return list(dict.fromkeys([*self.measures, *of_language, *others]))


@dataclass(frozen=True)
class Plan:
    """The cells of a meta-evaluation."""

    cells: tuple[Cell, ...]
    scored: tuple[Scoring, ...]
    notes: tuple[str, ...] = ()
    """What a user has to know before the work begins."""


def plan(request: Request) -> Plan:
    """The cells that a request comes to."""
    request.check()
    planted: list[Planting] = []
    notes: list[str] = []
    for experiment in (one for measure in dict.fromkeys(request.measures) for one in _experiments(measure, request)):
        how = experiment.training
        places = (f"{experiment.measure}-{experiment.language}", experiment.measure, planted_as(experiment))
        base = next((request.models[place] for place in places if place in request.models), how.model)
        refuse_misfit(base, experiment, request.loading)
        labels = labels_to_learn(experiment, min(request.rates), request.seeds[0])
        notes += lost_heads([base], labels, request.loading) if labels else []
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


def _experiments(measure: str, request: Request) -> Sequence[Experiment]:
    """Those that a measure brings, or what any other is asked about."""
    return EXPERIMENTS[measure](request) if measure in EXPERIMENTS else [OtherMeasure(measure)]


def _inference(request: Request) -> list[Experiment]:
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


def _association(request: Request) -> list[Experiment]:
    del request  # nothing of it is for association
    return [PlantedAssociation()]


def _sentiment(request: Request) -> list[Experiment]:
    return [PlantedSentiment(texts=request.texts, imdb=datasets.present("imdb"))]


EXPERIMENTS: dict[str, Callable[[Request], list[Experiment]]] = {
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
