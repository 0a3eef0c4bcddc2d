"""What is measured of models beside their audits, where measures are to be compared over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.measures.base import Measure
from unmask.options import LoadOptions
from unmask.results import Caveat, Comparison, Measurement
from unmask.workflows.audit import Audit, run_audit
from unmask.workflows.audit_options import audit_options
from unmask.workflows.compared_models import Subject
from unmask.workflows.figures import Evidence

if TYPE_CHECKING:
    from unmask.models.roles import Progress

SMALL_CORPORA = {"sentiment": ("reviews",)}
"""By task: corpora of the package, which are few items and the same on every machine."""


@dataclass
class Gathered:
    """What was measured of each model, the audits that were made for it, and why something is missing."""

    evidence: list[Evidence] = field(default_factory=list)
    audits: dict[str, Audit] = field(default_factory=dict)
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
    for subject in subjects:
        measurements = list(subject.result.measurements)
        for measure in _further_measures(measurements):
            measurements += _audit_again(subject, measure, found, seed=seed, loading=loading)
        for task, folders in classifiers.items():
            if subject.name in folders:
                options = audit_options()(corpora=SMALL_CORPORA.get(task, ()), seed=seed, **dict(loading))
                audit = run_audit(str(folders[subject.name]), options, progress=progress)
                found.audits[f"{subject.name}-{task}"] = audit
                measurements += audit.result.measurements
        own = [comparison for comparison in comparisons if comparison.after == subject.name]
        found.evidence.append(Evidence(subject.name, measurements, own))
    return found


def _further_measures(measurements: Sequence[Measurement]) -> list[Measure]:
    """Measures with a dataset of their own that ask the same role of a model, and were not run."""
    run = [registry.get_measure(one.name) for one in measurements]
    roles = {measure.roles for measure in run if measure.main}
    return [one for one in registry.built_in() if one.dataset and one.roles in roles and one not in run]


def _audit_again(
    subject: Subject, measure: Measure, found: Gathered, *, seed: int, loading: LoadOptions
) -> list[Measurement]:
    """Measure a side with one more measure; a caveat where that cannot be done."""
    try:
        if not datasets.is_present(measure.dataset):
            raise UnmaskError(f"it is not on this machine; {datasets.FOLDER_VARIABLE} names the folder of datasets")
        if not isinstance(subject.model, str | PathLike):
            raise UnmaskError(f"{subject.name} is not a folder or name that can be loaded again")
        subject.masked_lm()
    except UnmaskError as error:
        text = f"{measure.heading} not measured: {str(error).rstrip('.')}."
        caveat = Caveat(code=f"{measure.name}-not-measured", text=text)
        found.caveats += [] if caveat in found.caveats else [caveat]
        return []
    options = audit_options()(measures=(measure.name,), seed=seed, **dict(loading))
    audit = run_audit(subject.reload(), options)
    found.audits[f"{subject.name}-{measure.name}"] = audit
    return audit.result.measurements
