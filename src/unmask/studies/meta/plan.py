"""The steps of a meta-evaluation: a model trained at a rate of planted bias, and a measure's scores of it.

A base model that cannot be trained is reported once, before the work, and not step by step.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unmask
from unmask import datasets, plugins
from unmask.errors import UnmaskError, check_choice
from unmask.measures.association import AssociationMeasure
from unmask.measures.inference import InferenceMeasure
from unmask.measures.registry import BUILT_IN
from unmask.measures.sentiment import SentimentMeasure
from unmask.models.checkpoints import classifier_labels, detect_role
from unmask.options import LoadOptions
from unmask.results import storage
from unmask.results.storage import write_items
from unmask.studies.meta import PlantingOptions
from unmask.studies.meta.association import PLANTED, OtherMeasure
from unmask.studies.meta.experiment import Experiment
from unmask.studies.meta.inference import PlantedInference, PublishedInference, find_captions
from unmask.studies.meta.sentiment import PlantedSentiment
from unmask.studies.models import MODEL, hash_weights, read_metrics, train_model
from unmask.studies.steps import Say, Step
from unmask.training.options import TrainingOptions

PAIRS = 2
"""The fewest pairs that an occupation is trained on."""
SCORES, ITEMS = "scores.json", f"items{storage.ITEMS}"


@dataclass(frozen=True)
class Planting:
    """A step: a base model trained at one rate with one seed."""

    experiment: Experiment
    base: str
    rate: float
    settings: TrainingOptions
    max_length: int
    weights: str = ""
    """The hash of the base model."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The inputs of the experiment when the study was planned."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "planting"
    needs_gpu = True
    needs = ()

    @property
    def seed(self) -> int:
        """The seed of the examples and of the training."""
        return self.settings.seed

    @property
    def suffix(self) -> str:
        """The language, the rate in percent and the seed, for the names of steps."""
        return f"{self.experiment.language}-{round(100 * self.rate):03d}-seed{self.seed}"

    @property
    def name(self) -> str:
        """What is planted, the rate in percent, and the seed."""
        return f"planting-{self.experiment.planted}-{self.suffix}"

    @property
    def new_head(self) -> tuple[str, tuple[str, ...]] | None:
        """The base model and the labels that its head is trained for; None for masked words."""
        return (self.base, self.experiment.labels) if self.experiment.labels else None

    def inputs(self) -> dict[str, Any]:
        """What decides the weights."""
        return {
            "measure": self.experiment.planted,
            "data": dict(self.data),
            "weights": self.weights,
            "rate": self.rate,
            "seed": self.seed,
            "settings": self.settings.model_dump(),
            "max_length": self.max_length,
            "unmask": unmask.__version__,
        }

    def check_data(self) -> None:
        """Raise an error if the data differs from the plan's, so that the result would not match the key."""
        inputs = self.experiment.inputs()
        if changed := [name for name in inputs if inputs[name] != self.data.get(name)]:
            raise UnmaskError(
                f"the {changed[0]} of {self.experiment.measure} differ from those of the plan (a file has changed, or"
                " is not the same on this machine); give the command again"
            )

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, resuming what an earlier attempt has begun."""
        del before
        self.check_data()
        trained = train_model(
            workspace,
            lambda: self.experiment.examples(self.rate, self.seed),
            say,
            task=self.experiment.training.task,
            model=self.base,
            max_length=self.max_length,
            **dict(self.settings),
            **dict(self.loading),
        )
        shutil.copytree(trained, draft / MODEL)


@dataclass(frozen=True)
class Scoring:
    """A step: the scores of a trained model."""

    planting: Planting
    kind = "scoring"
    needs_gpu = True

    @property
    def name(self) -> str:
        """The measure and the model."""
        return f"scoring-{self.planting.experiment.measure}-{self.planting.suffix}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The model."""
        return (self.planting.name,)

    def inputs(self) -> dict[str, Any]:
        """How it is scored. The data of the experiment is in the key of the model."""
        experiment = self.planting.experiment
        data = experiment.data_inputs(self.planting.loading) if isinstance(experiment, OtherMeasure) else {}
        return {"measure": experiment.measure, "unmask": unmask.__version__} | data

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Score the model."""
        del workspace, say
        self.planting.check_data()
        model, experiment = before[self.planting.name] / MODEL, self.planting.experiment
        scores = experiment.scores(model, self.planting.seed, self.planting.loading)
        write_items(draft / ITEMS, scores.items)
        record = read_metrics(model)
        content = {
            "figures": dict(scores.figures),
            "examples": record["examples"]["train"],
            "accuracy": record["metrics"]["validation"]["accuracy"],
            "chance": experiment.training.chance,
        }
        (draft / SCORES).write_text(json.dumps(content, indent=2), encoding="utf-8")


def plan_inference(options: PlantingOptions) -> list[Experiment]:
    """Return the experiments of inference, one for each language."""
    count = (PlantedInference if options.protocol == "sound" else PublishedInference).occupations
    if options.rows < PAIRS * count:
        raise UnmaskError(
            f"--rows is {options.rows}; {count} occupations are trained on, each with {PAIRS} pairs or more: give"
            f" {PAIRS * count} or more"
        )
    sizes = {"rows": options.rows, "validation_rows": max(1, options.rows // 10)}
    experiments: list[Experiment] = []
    for language in dict.fromkeys(options.languages):
        captions = options.captions.get(language) or find_captions(language)
        file = None if captions is None else captions.resolve()
        if options.protocol == "sound":
            experiments.append(PlantedInference(language, file, **sizes))
        elif file is None:
            raise UnmaskError(
                f"the published protocol trains on image captions in {language!r}, and there are none; give a file with"
                " one per line (--captions)"
            )
        else:
            experiments.append(PublishedInference(language, file, **sizes, offline=options.loading.offline))
    return experiments


EXPERIMENTS: dict[str, Callable[[PlantingOptions], Sequence[Experiment]]] = {
    InferenceMeasure.name: plan_inference,
    AssociationMeasure.name: lambda _: [PLANTED],
    SentimentMeasure.name: lambda options: [PlantedSentiment(texts=options.texts, imdb=datasets.is_present("imdb"))],
}
"""Measures with bias of their own to plant. All others are asked about the models of association."""


def steps(options: PlantingOptions) -> list[Step]:
    """Return the steps of the study."""
    for measure in options.measures:
        if measure not in EXPERIMENTS:
            plugins.named("measure", measure, dict.fromkeys((*BUILT_IN, *EXPERIMENTS)))
    for name in options.models:
        check_choice(name, _list_places(options), "place of a model")
    for language in options.captions:
        check_choice(language, options.languages, "language of captions, of those that are asked for:")
    planted: list[Planting] = []
    for measure in dict.fromkeys(options.measures):
        experiments = EXPERIMENTS[measure](options) if measure in EXPERIMENTS else [OtherMeasure(measure)]
        for experiment in experiments:
            planted += _plan_experiment(experiment, options)
    models: dict[str, Planting] = {}
    for step in planted:  # models that several measures are asked about are made once
        first = models.setdefault(step.name, step)
        if first.inputs() != step.inputs():
            raise UnmaskError(
                f"{step.experiment.measure} and {first.experiment.measure} are asked about the same models, which are"
                f" made from one base, not from {step.base} and {first.base}; give it as --model"
                f" {step.experiment.planted}=MODEL"
            )
    return [*models.values(), *map(Scoring, planted)]


def _list_places(options: PlantingOptions) -> list[str]:
    """What a base model can be given for: a measure, a language of inference, or what others are planted as."""
    of_language = [f"{InferenceMeasure.name}-{language}" for language in options.languages]
    others = [] if set(options.measures) <= set(EXPERIMENTS) else [PLANTED.measure]
    return list(dict.fromkeys([*options.measures, *of_language, *others]))


def _plan_experiment(experiment: Experiment, options: PlantingOptions) -> list[Planting]:
    defaults, loading = experiment.training, options.loading
    names = (f"{experiment.measure}-{experiment.language}", experiment.measure, experiment.planted)
    base = next((options.models[name] for name in names if name in options.models), defaults.model)
    experiment.check()
    _check_base(base, experiment, loading)
    weights, data = hash_weights(base, loading), experiment.inputs()
    return [
        Planting(
            experiment,
            base,
            rate,
            TrainingOptions(
                epochs=options.epochs or defaults.epochs,
                learning_rate=options.learning_rate or defaults.learning_rate_for(base),
                batch_size=options.batch_size,
                seed=seed,
                keep="last",
            ),
            options.max_length or defaults.max_length,
            weights,
            data,
            loading,
        )
        for seed in options.seeds
        for rate in sorted(set(options.rates))
    ]


def _check_base(base: str, experiment: Experiment, loading: LoadOptions) -> None:
    """Raise an error if a base model cannot be trained so."""
    if base == experiment.training.model and experiment.language != "en":
        raise UnmaskError(
            f"{base} knows only English; give a model for {experiment.language} with --model"
            f" {experiment.language}=MODEL"
        )
    role, labels = detect_role(base, loading), classifier_labels(base, loading)
    if not experiment.labels and role != "masked-lm":
        raise UnmaskError(f"{base} is a classifier; {experiment.measure} needs a masked language model such as BERT")
    if experiment.labels and labels and role == "classifier" and len(labels) != len(experiment.labels):
        raise UnmaskError(
            f"{base} has {len(labels)} labels; {experiment.measure} needs {len(experiment.labels)}: give another"
        )
    if isinstance(experiment, OtherMeasure):
        experiment.check_model(base, loading)
