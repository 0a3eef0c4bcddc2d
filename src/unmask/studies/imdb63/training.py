"""A classifier of the study: a base model fine-tuned in one of the training conditions, and how good it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask.models.interfaces import Classifier
from unmask.models.loading import load_classifier
from unmask.models.sources import LoadOptions
from unmask.statistics.confusion import confusion, quality
from unmask.studies.cells import Say
from unmask.studies.imdb63 import texts
from unmask.studies.imdb63.grid import BaseModel, HyperParameters, forms_of
from unmask.studies.imdb63.protocol import PROTOCOLS, Protocol
from unmask.studies.tuning import METRICS, tokens_of, tune
from unmask.training.examples import Example, Splits
from unmask.training.options import FinetuneOptions, TrainingOptions

MODEL = "model"
HELD_OUT = 0.1


@dataclass(frozen=True)
class Training:
    """A cell: one base model, one condition."""

    base: BaseModel
    condition: str
    protocol: str
    settings: HyperParameters
    max_length: int = 512
    seed: int = 42
    weights: str = ""
    """What the base model is, exactly (`bases.weights_of`)."""
    variant: str = ""
    """Set where only a hyper-parameter differs, such as the batch size."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "training"
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which model, which condition."""
        return name_of(self.base.name, self.condition, self.variant)

    @property
    def needs(self) -> tuple[str, ...]:
        """The texts to learn from, and to be tested with."""
        train = [texts.name_of("train", *form) for form in forms_of(self.condition)]
        return (*train, *self._test)

    @property
    def _way(self) -> Protocol:
        return PROTOCOLS[self.protocol]

    @property
    def _test(self) -> list[str]:
        forms = (("", texts.ORIGINAL),) if self._way.tests_originals else forms_of(self.condition)
        return [texts.name_of("test", *form) for form in forms]

    def inputs(self) -> dict[str, Any]:
        """What decides the weights."""
        return {
            "weights": self.weights,
            "architecture": self._architecture,
            "protocol": self.protocol,
            "settings": asdict(self.settings),
            "max_length": self.max_length,
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    @property
    def _architecture(self) -> dict[str, Any]:
        return {} if self._way.own_architecture else dict(self.base.published)

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, going on where an earlier attempt stopped; then test."""
        made = workspace / MODEL
        if not (made / METRICS).is_file():
            self._train(made, before, say)
        length = tokens_of(made)
        tokens = min(self._way.test_tokens or length, length)
        classifier = load_classifier(str(made), self.loading, most_tokens=tokens)
        test = [(one.text, label) for name in self._test for one, label in texts.read(before[name])]
        assert isinstance(classifier, Classifier)
        say(f"testing on {len(test):,} reviews")
        report = evaluate(classifier, test)
        record = json.loads((made / METRICS).read_text(encoding="utf-8"))
        report |= {"parameters": record["parameters"], "seconds_of_training": record["seconds"]}
        (draft / METRICS).write_text(json.dumps(report, indent=2), encoding="utf-8")
        shutil.copytree(made, draft / MODEL)

    def _train(self, made: Path, before: Mapping[str, Path], say: Say) -> None:
        request = FinetuneOptions(
            task="sentiment",
            model=self.base.model,
            out=made,
            max_length=self.max_length,
            held_out=HELD_OUT,
            architecture=self._architecture,
            **dict(self._settings()),
            **dict(self.loading),
        )
        tune(request, self._examples(before), say)

    def _settings(self) -> TrainingOptions:
        own, way = self.settings, self._way
        return TrainingOptions(
            epochs=own.epochs,
            planned_epochs=own.planned_epochs,
            learning_rate=own.learning_rate,
            batch_size=own.batch_size,
            warmup=way.warmup,
            weight_decay=way.weight_decay,
            seed=self.seed,
            keep=way.keep,
        )

    def _examples(self, before: Mapping[str, Path]) -> Splits:
        """All versions of the training reviews; those of a review are held out together, or (the paper) row by row."""
        versions = [list(texts.read(before[texts.name_of("train", *form)])) for form in forms_of(self.condition)]
        count = len(versions[0])
        rows = [Example(one.text, label=label) for version in versions for one, label in version]
        drawn = np.random.default_rng(self.seed)
        if not self._way.holds_out_reviews:
            out = set(drawn.permutation(len(rows))[: max(1, round(HELD_OUT * len(rows)))].tolist())
        else:
            held = drawn.permutation(count)[: max(1, round(HELD_OUT * count))].tolist()
            out = {at + count * version for at in held for version in range(len(versions))}
        train = [row for at, row in enumerate(rows) if at not in out]
        return Splits(train, [rows[at] for at in sorted(out)], ())


def name_of(base: str, condition: str, variant: str = "") -> str:
    """The name of the cell that trains a classifier."""
    return "-".join(filter(None, ("training", base, condition, variant)))


def evaluate(classifier: Classifier, test: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """How good a classifier is on texts whose label is known."""
    labels = [str(label) for label in classifier.labels]
    chosen = classifier.probabilities([text for text, _ in test]).argmax(axis=1)
    truth = [labels.index(label) for _, label in test]
    return quality(confusion(truth, chosen, len(labels)), labels)
