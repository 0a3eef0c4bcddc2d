"""The cells of the study: fine-tune a base model on inference, test a classifier, and measure it in one language."""

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
from unmask.measures.base import Context
from unmask.measures.inference import DEFAULT_CORPUS, InferenceOptions
from unmask.measures.inference.data import build
from unmask.measures.inference.pairs import LABELS
from unmask.measures.inference.pairs import hash_pairs as hash_sentences
from unmask.measures.inference.scoring import find_order
from unmask.measures.registry import get_measure
from unmask.models.handle import ModelHandle
from unmask.models.loading import load_classifier
from unmask.models.roles import Classifier
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION, Measurement, ModelInfo
from unmask.statistics.proportions import classification_quality, confusion_matrix
from unmask.studies.cells import Say
from unmask.studies.nli.inputs import HELD_OUT, Base, Source
from unmask.studies.nli.options import HyperParameters
from unmask.studies.tuning import METRICS, tokens_of, tune
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
    """What the base model is, exactly (`base_models.weights_of`)."""
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
    return classification_quality(
        confusion_matrix([LABELS.index(str(one.label)) for one in pairs], chosen, len(LABELS)), LABELS
    )


ITEMS, RESULT, WHICH = "items.parquet", "measurement.json", "model.json"


@dataclass(frozen=True)
class Measuring:
    """A cell: a classifier, asked about occupations."""

    base: Base
    protocol: str
    trained: str = ""
    """The cell that trained it; empty for a classifier that is taken as it is."""
    weights: str = ""
    """What the latter is, exactly."""
    pairs: str = ""
    """A hash of what is asked."""
    sentences: int | None = None
    """How many sentences to ask about; None for all."""
    seed: int = 42
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "measuring"
    needs_gpu = True

    @property
    def name(self) -> str:
        """Which classifier, in which language."""
        return f"measuring-{self.base.language}-{self.base.name}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The training, where there is one."""
        return (self.trained,) if self.trained else ()

    def inputs(self) -> dict[str, Any]:
        """What is asked, and of whom."""
        return {
            "weights": "" if self.trained else self.weights,
            "pairs": self.pairs,
            "protocol": self.protocol,
            "seed": self.seed,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Ask about every pair."""
        del workspace
        made = before[self.trained] / MODEL if self.trained else None
        model = ModelHandle(self.base.model if made is None else str(made), self.loading)
        options = InferenceOptions(limit=self.sentences, most_tokens=None if made is None else tokens_of(made))
        context = Context(
            self.base.language,
            DEFAULT_CORPUS[self.protocol],
            self.protocol,
            self.seed,
            self.loading.offline,
            progress=lambda done, total: say(f"{done:,} of {total:,} pairs"),
        )
        ((items, measurement),) = get_measure("inference").measure(model, options, [context])
        items.to_parquet(draft / ITEMS, index=False)
        (draft / RESULT).write_text(measurement.model_dump_json(indent=2), encoding="utf-8")
        (draft / WHICH).write_text(model.info().model_dump_json(indent=2), encoding="utf-8")


def hash_of_pairs(language: str, protocol: str, sentences: int | None, seed: int, loading: LoadOptions) -> str:
    """A hash of all that is asked in a language."""
    context = Context(language, DEFAULT_CORPUS[protocol], protocol, seed, loading.offline)
    return hash_sentences(build(InferenceOptions(limit=sentences), context))


def read(folder: Path) -> tuple[Measurement, ModelInfo]:
    """What a finished cell holds: the measurement, and which model it was."""
    texts = [(folder / name).read_text(encoding="utf-8") for name in (RESULT, WHICH)]
    return Measurement.model_validate_json(texts[0]), ModelInfo.model_validate_json(texts[1])
