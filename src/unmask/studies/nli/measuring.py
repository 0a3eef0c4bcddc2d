"""A measured cell of the study: what one classifier infers from occupations, in one language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unmask
from unmask.measures.base import Context
from unmask.measures.inference import DEFAULT_CORPUS, InferenceOptions
from unmask.measures.inference.data import build_pairs
from unmask.measures.registry import get_measure
from unmask.models.handle import ModelHandle
from unmask.models.sources import LoadOptions
from unmask.probes.inference import data_hash
from unmask.results import SCHEMA_VERSION, Measurement, ModelInfo
from unmask.studies.cells import Say
from unmask.studies.nli.models import Base
from unmask.studies.nli.training import MODEL
from unmask.studies.tuning import tokens_of

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
    return data_hash(build_pairs(InferenceOptions(limit=sentences), context))


def read(folder: Path) -> tuple[Measurement, ModelInfo]:
    """What a finished cell holds: the measurement, and which model it was."""
    texts = [(folder / name).read_text(encoding="utf-8") for name in (RESULT, WHICH)]
    return Measurement.model_validate_json(texts[0]), ModelInfo.model_validate_json(texts[1])
