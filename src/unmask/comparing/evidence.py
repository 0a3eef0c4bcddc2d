"""What is measured of models beside their audits, where measures are to be compared over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import auditing, datasets
from unmask.comparing.again import load_again
from unmask.comparing.figures import Evidence, change_of
from unmask.comparing.sides import Subject
from unmask.errors import UnmaskError
from unmask.models.sources import LoadOptions
from unmask.results import Caveat, Comparison, Measurement

if TYPE_CHECKING:
    from unmask.models.interfaces import Progress

CROWS = "crows-pairs"
REVIEWS = "reviews"
"""Classifiers of texts are asked about the package's own reviews: few, and the same on every machine."""


@dataclass
class Gathered:
    """What was measured of each model, the audits that were made for it, and why something is missing."""

    evidence: list[Evidence] = field(default_factory=list)
    audits: dict[str, auditing.Findings] = field(default_factory=dict)
    caveats: list[Caveat] = field(default_factory=list)


def gather(
    subjects: Sequence[Subject],
    comparisons: Sequence[Comparison],
    classifiers: Mapping[str, Mapping[str, Path]],
    *,
    seed: int,
    loading: LoadOptions,
    progress: Progress | None = None,
) -> Gathered:
    """All measurements of each model; `classifiers` are those made of them, by task and by the name of the model."""
    found = Gathered()
    asked = any(one.name == "association" for subject in subjects for one in subject.result.measurements)
    has_pairs = datasets.present(CROWS)
    if asked and not has_pairs:
        why = (
            f"CrowS-Pairs is not on this machine, so it was not measured; {datasets.FOLDER_VARIABLE} says where it is."
        )
        found.caveats.append(Caveat(code="crows-pairs-not-measured", text=why))
    for subject in subjects:
        measured = list(subject.result.measurements)
        if has_pairs and {one.name for one in measured} >= {"association"} and CROWS not in {m.name for m in measured}:
            measured += _pairs(subject, found, seed=seed, loading=loading, progress=progress)
        for task, folders in classifiers.items():
            if subject.name in folders:
                measured += _classifier(subject, task, folders[subject.name], found, seed=seed, loading=loading)
        found.evidence.append(Evidence(subject.name, measured, change_of(comparisons, subject.name)))
    return found


def _pairs(
    subject: Subject, found: Gathered, *, seed: int, loading: LoadOptions, progress: Progress | None
) -> list[Measurement]:
    try:
        if not isinstance(subject.model, str | PathLike):
            raise UnmaskError(f"{subject.name} is no folder or name that can be loaded again")
        model = load_again(subject, loading, progress)
    except UnmaskError as error:
        text = f"CrowS-Pairs not measured: {str(error).rstrip('.')}."
        found.caveats.append(Caveat(code="crows-pairs-not-measured", text=text))
        return []
    audit = auditing.run(model, auditing.Settings(measures=(CROWS,), seed=seed, loading=loading))
    found.audits[f"{subject.name}-{CROWS}"] = audit
    return audit.result.measurements


def _classifier(
    subject: Subject, task: str, folder: Path, found: Gathered, *, seed: int, loading: LoadOptions
) -> list[Measurement]:
    settings = auditing.Settings(corpora=(REVIEWS,) if task == "sentiment" else (), seed=seed, loading=loading)
    audit = auditing.run(str(folder), settings)
    found.audits[f"{subject.name}-{task}"] = audit
    return audit.result.measurements
