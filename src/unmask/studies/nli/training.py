"""Cells that make an inference classifier of a base model, and that test one which is a classifier already."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import unmask
from unmask.errors import UnmaskError
from unmask.measures.inference.labels import find_order
from unmask.models.interfaces import Classifier
from unmask.models.loading import load_classifier
from unmask.models.sources import LoadOptions
from unmask.probes.inference import LABELS
from unmask.statistics.confusion import confusion, quality
from unmask.studies.cells import Say
from unmask.studies.nli.data import HELD_OUT, Source
from unmask.studies.nli.models import Base
from unmask.studies.nli.options import HyperParameters
from unmask.studies.tuning import METRICS, tune
from unmask.training.examples import Example, Splits
from unmask.training.options import FinetuneOptions

MODEL = "model"


@dataclass(frozen=True)
class Training:
    """A cell: a base model, fine-tuned on pairs of sentences."""

    base: Base
    source: Source
    settings: HyperParameters = field(default_factory=HyperParameters)
    seed: int = 42
    weights: str = ""
    """What the base model is, exactly (`bases.weights_of`)."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "training"
    needs: tuple[str, ...] = ()
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which model, which pairs."""
        return f"training-{self.base.name}-{self.source.name}"

    def inputs(self) -> dict[str, Any]:
        """What decides the weights, and what they are tested with."""
        return {
            "weights": self.weights,
            "pairs": dict(self.source.digests),
            "settings": self.settings.model_dump(),
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Train, going on where an earlier attempt stopped; testing is a part of it."""
        del before
        made = workspace / MODEL
        if not (made / METRICS).is_file():
            tune(self._request(made), self.source.read(), say)
        shutil.copytree(made, draft / MODEL)

    def _request(self, made: Path) -> FinetuneOptions:
        return FinetuneOptions(
            task="nli",
            model=self.base.model,
            out=made,
            data=self.source.data,
            held_out=HELD_OUT,
            **dict(self.settings),
            seed=self.seed,
            **dict(self.loading),
        )


@dataclass(frozen=True)
class Testing:
    """A cell: how good a classifier is that is taken as it is."""

    base: Base
    source: Source
    weights: str = ""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "testing"
    needs: tuple[str, ...] = ()
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which model, in which language, on which pairs."""
        return f"testing-{self.base.language}-{self.base.name}-{self.source.name}"

    def inputs(self) -> dict[str, Any]:
        """The classifier, the pairs, and the language of the questions that may tell the order of its labels."""
        pairs = dict(self.source.digests)
        language = self.base.language
        return {"weights": self.weights, "pairs": pairs, "language": language, "unmask": unmask.__version__}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Answer the test pairs."""
        del before, workspace
        split, pairs = tested(self.source.read())
        say(f"testing on {len(pairs):,} pairs")
        found = evaluate(load_classifier(self.base.model, self.loading), pairs, self.base.language)
        (draft / METRICS).write_text(json.dumps({"metrics": {split: found}}, indent=2), encoding="utf-8")


def tested(splits: Splits) -> tuple[str, Sequence[Example]]:
    """The pairs to test with: the test split, or where there is none, what is there to validate with."""
    return ("test", splits.test) if splits.test else ("validation", splits.validation)


def evaluate(classifier: object, pairs: Sequence[Example], language: str) -> dict[str, Any]:
    """How good a classifier is on pairs whose label is known, whatever the order of its own labels."""
    if not isinstance(classifier, Classifier):
        raise UnmaskError("the model gives numbers, not labels; inference needs a classifier")
    order, _ = find_order(classifier, language=language)
    given = classifier.probabilities([(one.text, str(one.pair)) for one in pairs])
    chosen = np.asarray(given)[:, list(order)].argmax(axis=1)
    return quality(confusion([LABELS.index(str(one.label)) for one in pairs], chosen, len(LABELS)), LABELS)
