"""A cell that debiases: a model, or word vectors, by one method."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unmask
from unmask.mitigations import MitigateOptions, corpus, run
from unmask.mitigations.registry import method_named
from unmask.models.sources import LoadOptions
from unmask.studies.bases import hash_model
from unmask.studies.cells import Say
from unmask.studies.lipstick.subjects import Subject

MADE = "made"
"""The folder of what was made, in the cell's."""


@dataclass(frozen=True)
class Debiasing:
    """A cell: the model as a method leaves it."""

    subject: Subject
    base: str
    """What is debiased."""
    corpus: Sequence[str] = ()
    settings: Sequence[tuple[str, Any]] = ()
    protocol: str = "sound"
    seed: int = 42
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "debiasing"
    needs_gpu = True
    needs = ()

    @property
    def name(self) -> str:
        """What is debiased, and how."""
        return self.subject.made

    def inputs(self) -> dict[str, Any]:
        """The model, the text, and how."""
        text = corpus.read(self.sources, offline=self.loading.offline).hash if self.sources else ""
        return {
            "model": hash_model(self.base, self.loading),
            "method": self.subject.method,
            "text": text,
            "settings": sorted((name, str(value)) for name, value in self.settings),
            "protocol": self.protocol,
            "seed": self.seed,
            "unmask": unmask.__version__,
        }

    @property
    def sources(self) -> tuple[str, ...]:
        """The text that is learned from."""
        if not method_named(self.subject.method).needs_text:
            return ()
        return tuple(self.corpus) or (corpus.DEFAULT,)

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Debias; what was interrupted goes on from the workspace."""
        del before
        out = workspace / MADE
        if not out.is_dir():
            run(
                MitigateOptions(
                    model=self.base,
                    method=self.subject.method,
                    out=out,
                    corpus=self.sources,
                    settings=dict(self.settings),
                    protocol=self.protocol,
                    seed=self.seed,
                    **dict(self.loading),
                ),
                say=say,
                progress=lambda done, of: say(f"{done:,} of {of:,}"),
            )
        shutil.copytree(out, draft / MADE)
