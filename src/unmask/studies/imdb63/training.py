"""A classifier of the study: a base model fine-tuned in one of the training conditions, and how good it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask.errors import UnmaskError
from unmask.models.interfaces import Classifier
from unmask.models.loading import load_classifier
from unmask.models.sources import LoadOptions
from unmask.statistics.proportion import wilson
from unmask.studies.cells import Say
from unmask.studies.imdb63 import texts
from unmask.studies.imdb63.grid import BaseModel, HyperParameters, forms_of
from unmask.training import finetune
from unmask.training.checkpoints import Workspace
from unmask.training.examples import Example, Splits
from unmask.training.loop import News, Settings

MODEL, METRICS = "model", "metrics.json"
HELD_OUT = 0.1
PUBLISHED_TEST_TOKENS = 64
"""The paper's accuracies are those of reviews cut to so many tokens, although training and rating use 512."""
SMALLEST = 1e-12


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
    """What the base model is, exactly (`grid.weights_of`)."""
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
    def _test(self) -> list[str]:
        """`sound`: the same reviews for every classifier, as they are; the paper: reviews made like its training's."""
        forms = forms_of(self.condition) if self.protocol == "published" else (("", texts.ORIGINAL),)
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
        return dict(self.base.published) if self.protocol == "published" else {}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, going on where an earlier attempt stopped; then test."""
        made = workspace / MODEL
        if not (made / METRICS).is_file():
            self._train(made, before, say)
        length = tokens_of(made)
        tokens = min(PUBLISHED_TEST_TOKENS, length) if self.protocol == "published" else length
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
        """A checkpoint that cannot be used, damaged or of a machine that computes otherwise, is given up."""
        request = finetune.Request(
            task="sentiment",
            model=self.base.model,
            out=made,
            max_length=self.max_length,
            held_out=HELD_OUT,
            architecture=self._architecture,
            settings=self._settings(),
            loading=self.loading,
        )
        data, has_checkpoint, watch = self._examples(before), Workspace(made).has_checkpoint(), _Telling(say)
        try:
            finetune.run(request, data=data, watch=watch, say=say)
        except UnmaskError as error:
            if not has_checkpoint or watch.steps:
                raise
            say(f"beginning again, since it cannot go on: {error}")
            finetune.run(replace(request, restart=True), data=data, watch=watch, say=say)

    def _settings(self) -> Settings:
        own = self.settings
        published = self.protocol == "published"
        return Settings(
            epochs=own.epochs,
            planned_epochs=own.planned_epochs,
            learning_rate=own.learning_rate,
            batch_size=own.batch_size,
            warmup=0.0 if published else 0.1,
            weight_decay=0.0 if published else 0.01,
            seed=self.seed,
            keep="last" if published else "best",  # the paper's epoch is one chosen by hand
        )

    def _examples(self, before: Mapping[str, Path]) -> Splits:
        """All versions of the training reviews; those of a review that is held out are held out together.

        The paper held out rows, so that one version of a review could be learned and the other validated.
        """
        versions = [list(texts.read(before[texts.name_of("train", *form)])) for form in forms_of(self.condition)]
        count = len(versions[0])
        rows = [Example(one.text, label=label) for version in versions for one, label in version]
        drawn = np.random.default_rng(self.seed)
        if self.protocol == "published":
            out = set(drawn.permutation(len(rows))[: max(1, round(HELD_OUT * len(rows)))].tolist())
        else:
            held = drawn.permutation(count)[: max(1, round(HELD_OUT * count))].tolist()
            out = {at + count * version for at in held for version in range(len(versions))}
        train = [row for at, row in enumerate(rows) if at not in out]
        return Splits(train, [rows[at] for at in sorted(out)], ())


def name_of(base: str, condition: str, variant: str = "") -> str:
    """The name of the cell that trains a classifier."""
    return "-".join(filter(None, ("training", base, condition, variant)))


def tokens_of(model: Path) -> int:
    """How many tokens of a text a trained classifier has learned from: what was asked for, or all that it can read."""
    record = json.loads((model / METRICS).read_text(encoding="utf-8"))
    return int(record["settings"]["max_length"])


def evaluate(classifier: Classifier, test: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Accuracy with its interval, and recall, precision and F1 of each label."""
    p = classifier.probabilities([text for text, _ in test])
    chosen = np.array([str(label) for label in classifier.labels])[p.argmax(axis=1)]
    truth = np.array([label for _, label in test])
    accuracy = float((chosen == truth).mean())
    labels = {}
    for label in sorted(set(truth.tolist())):
        right = float(((chosen == label) & (truth == label)).sum())
        of_label, called = float((truth == label).sum()), float((chosen == label).sum())
        labels[label] = {
            "recall": right / max(of_label, SMALLEST),
            "precision": right / max(called, SMALLEST),
            "f1": 2 * right / max(of_label + called, SMALLEST),
        }
    return {
        "examples": len(test),
        "accuracy": accuracy,
        "accuracy_interval": list(wilson(accuracy, len(test))),
        "labels": labels,
    }


class _Telling:
    """Training tells how it goes a few times an epoch, not at every step."""

    def __init__(self, say: Say) -> None:
        self._say, self._tenth, self.steps = say, -1, 0

    def __call__(self, news: News) -> None:
        self.steps += 1
        tenth = 10 * news.step // news.steps
        if tenth != self._tenth or news.evaluation is not None:
            self._tenth = tenth
            checked = f", validation accuracy {news.evaluation['accuracy']:.4f}" if news.evaluation else ""
            self._say(f"step {news.step:,} of {news.steps:,}, loss {news.loss:.3f}{checked}")
