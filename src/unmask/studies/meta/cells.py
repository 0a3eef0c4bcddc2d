"""The cells of a meta-evaluation: a model trained at a rate of planted bias, and a measure's scores of it.

A base model that cannot be trained is reported once, before the work, and not cell by cell.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unmask
from unmask.errors import UnmaskError
from unmask.models.detect import classifier_labels, detect_role
from unmask.options import LoadOptions
from unmask.studies.cells import Say
from unmask.studies.meta.association import OtherMeasure
from unmask.studies.meta.experiment import Experiment, planted_as
from unmask.studies.tuning import METRICS, tune
from unmask.training import examples
from unmask.training.options import FinetuneOptions, TrainingOptions

MODEL, SCORES, ITEMS = "model", "scores.json", "items.parquet"


@dataclass(frozen=True)
class Planting:
    """A cell: a base model trained at one rate with one seed."""

    experiment: Experiment
    base: str
    rate: float
    seed: int
    epochs: int
    learning_rate: float
    batch_size: int
    max_length: int
    weights: str = ""
    """What the base model is, exactly."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What decides the examples: the experiment's inputs, asked for once."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "planting"
    needs_gpu = True
    needs = ()

    @property
    def name(self) -> str:
        """What is planted, the rate in percent, and the seed."""
        return f"planting-{planted_as(self.experiment)}-{_title(self)}"

    def inputs(self) -> dict[str, Any]:
        """What decides the weights."""
        return {
            "measure": planted_as(self.experiment),
            "data": dict(self.data),
            "weights": self.weights,
            "rate": self.rate,
            "seed": self.seed,
            "settings": self._settings().model_dump(),
            "max_length": self.max_length,
            "unmask": unmask.__version__,
        }

    def _settings(self) -> TrainingOptions:
        return TrainingOptions(
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            seed=self.seed,
            keep="last",
        )

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, going on where an earlier attempt stopped."""
        del before
        _refuse_other_data(self)
        made = workspace / MODEL
        if not (made / METRICS).is_file():
            request = FinetuneOptions(
                task=self.experiment.training.task,
                model=self.base,
                out=made,
                max_length=self.max_length,
                **dict(self._settings()),
                **dict(self.loading),
            )
            tune(request, self.experiment.examples(self.rate, self.seed), say)
        shutil.copytree(made, draft / MODEL)


@dataclass(frozen=True)
class Scoring:
    """A cell: what the measure says of a trained model."""

    planted: Planting
    kind = "scoring"
    needs_gpu = True

    @property
    def name(self) -> str:
        """As that of its model."""
        return f"scoring-{self.planted.experiment.measure}-{_title(self.planted)}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The model."""
        return (self.planted.name,)

    def inputs(self) -> dict[str, Any]:
        """How it is scored: all else is in the model, but for what a measure reads that has nothing to plant."""
        of = self.planted.experiment
        read = of.reads(self.planted.loading) if isinstance(of, OtherMeasure) else {}
        return {"measure": of.measure, "unmask": unmask.__version__} | read

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Score the model."""
        del workspace, say
        _refuse_other_data(self.planted)
        model = before[self.planted.name] / MODEL
        found = self.planted.experiment.scores(model, self.planted.seed, self.planted.loading)
        found.items.to_parquet(draft / ITEMS, index=False)
        record = json.loads((model / METRICS).read_text(encoding="utf-8"))
        validation = record["metrics"]["validation"]
        content = {
            "figures": found.figures,
            "examples": record["examples"]["train"],
            "accuracy": validation["accuracy"],
            "chance": self.planted.experiment.training.chance,
        }
        (draft / SCORES).write_text(json.dumps(content, indent=2), encoding="utf-8")


def _refuse_other_data(cell: Planting) -> None:
    """A worker that reads other files than the study was planned with would make another cell than it is known as."""
    now = cell.experiment.inputs()
    if changed := [name for name in now if now[name] != cell.data.get(name)]:
        raise UnmaskError(
            f"the {changed[0]} of {cell.experiment.measure} are others here than where the study was planned (a file"
            " has changed, or is not the same on this machine); give the command again"
        )


def _title(cell: Planting) -> str:
    """What tells a cell from others of its measure."""
    of = cell.experiment
    return f"{of.language}-{round(100 * cell.rate):03d}-seed{cell.seed}"


LABELS = {"nli": 3, "sentiment": 2}
"""How many labels a classifier must have to be trained further."""


def refuse_misfit(base: str, experiment: Experiment, loading: LoadOptions) -> None:
    """Refuse a base that cannot be trained so."""
    task = experiment.training.task
    if base == experiment.training.model and experiment.language != "en":
        raise UnmaskError(
            f"{base} knows English alone; give a model for {experiment.language} with --model"
            f" {experiment.language}=MODEL"
        )
    kind, labels = detect_role(base, loading), classifier_labels(base, loading)
    if task == "mlm" and kind != "masked-lm":
        raise UnmaskError(f"{base} is a classifier; {experiment.measure} needs a masked language model such as BERT")
    if labels and kind == "classifier" and len(labels) != LABELS.get(task, len(labels)):
        raise UnmaskError(f"{base} has {len(labels)} labels; {experiment.measure} needs {LABELS[task]}: give another")
    if isinstance(experiment, OtherMeasure):
        experiment.refuse_misfit(base, loading)


def labels_to_learn(experiment: Experiment, rate: float, seed: int) -> list[str]:
    """The labels of the examples, none for masked words; refused if nothing can be learned from them.

    All rates and seeds have as many examples, but for what a seed draws.
    """
    made, task = experiment.examples(rate, seed), experiment.training.task
    for split, what in ((made.train, "train on"), (made.validation, "validate with")):
        if not split:
            raise UnmaskError(
                f"{experiment.measure} ({experiment.language}) has no examples to {what}; give more texts"
            )
    return [] if task == "mlm" else examples.order_labels(task, [*made.train, *made.validation])
