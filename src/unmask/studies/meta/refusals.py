"""What cannot work is said once, before the work, and not cell by cell."""

from __future__ import annotations

from unmask.errors import UnmaskError
from unmask.models.kinds import kind_of, labels_of
from unmask.models.sources import LoadOptions
from unmask.studies.meta.experiment import Experiment
from unmask.studies.meta.others import OtherMeasure
from unmask.training import examples

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
    kind, labels = kind_of(base, loading), labels_of(base, loading)
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
    return [] if task == "mlm" else examples.labels_of(task, [*made.train, *made.validation])
