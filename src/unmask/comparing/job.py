"""Run a comparison: gather the sides, pair their items, correct for all tests, judge, and count the cost."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask import auditing
from unmask.comparing import downstream, usefulness
from unmask.comparing.cost import cost
from unmask.comparing.sides import Subject, gather
from unmask.errors import UnmaskError
from unmask.measures import association
from unmask.models.sources import LoadOptions
from unmask.results import Caveat, Comparison, ComparisonResult, Measurement, Side
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch


FAMILIES = {"stereotype": 0, "difference": 1, "workforce": 1, "mean": 2}
"""Which questions are corrected together."""


@dataclass(frozen=True)
class Settings:
    """How to compare; the defaults are the sound ones."""

    audit: auditing.Settings | None = None
    """How to audit sides that are models; None: as the first audit was, or the defaults."""
    usefulness: bool = True
    text: Path | None = None
    """Neutral text to measure usefulness on; None: the package's own sentences."""
    task: downstream.Downstream | None = None
    """A task on which the models are fine-tuned and compared, which takes its time."""
    classifiers: Path = Path("comparisons/classifiers")
    """Where the fine-tuned models are kept, to be used again."""
    seed: int = auditing.SEED
    loading: LoadOptions = field(default_factory=LoadOptions)


@dataclass(frozen=True)
class Findings:
    """A comparison, the items behind it, and the audits that were made for it."""

    result: ComparisonResult
    items: dict[str, pd.DataFrame]
    audits: dict[str, auditing.Findings]


def run(
    before: Any,
    afters: Sequence[Any],
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
    say: Say | None = None,
    watch: Watch | None = None,
) -> Findings:
    """Compare a model, or its audit, with one or more others."""
    import pandas as pd

    settings = settings or Settings()
    if not afters:
        raise UnmaskError("there is nothing to compare with; give a model or audit before, and one or more after")
    if settings.seed < 0:
        raise UnmaskError(f"seed {settings.seed} is negative; give 0 or more")
    if settings.task is not None:
        settings.task.examples(offline=settings.loading.offline)  # refuses what is missing before the work
    subjects = gather([before, *afters], settings.audit, settings.loading, progress=progress)
    first, *others = subjects
    found, items = [], []
    caveats: list[Caveat] = []
    for other in others:
        for comparison, paired in _compared(first, other, settings.seed, caveats):
            found.append(comparison)
            items.append(paired.assign(model=other.name))
    cost_of = usefulness.Measured()
    if settings.usefulness:
        cost_of = usefulness.measure(
            subjects, text=settings.text, seed=settings.seed, loading=settings.loading, progress=progress
        )
    if settings.task is not None:
        usefulness.on_task(
            cost_of,
            subjects,
            settings.task,
            folder=settings.classifiers,
            loading=settings.loading,
            say=say,
            watch=watch,
        )
    caveats += [_stranger(first, other) for other in others if _made_from(first, other) is False]
    judged = [association.judge(adjusted(comparison)) for comparison in found]
    if len(others) > 1:
        caveats.append(_several(len(others)))
    result = ComparisonResult(
        unmask_version=unmask.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        configuration=_resolved(settings, subjects),
        libraries={"python": platform.python_version()} | {name: metadata.version(name) for name in auditing.LIBRARIES},
        seed=settings.seed,
        before=_side(first),
        after=[_side(other, first) for other in others],
        comparisons=[
            one.model_copy(update={"cost": cost([each for each in cost_of.found if each.after == one.after])})
            for one in judged
        ],
        usefulness=cost_of.found,
        caveats=[*caveats, *cost_of.caveats],
    )
    made = {subject.name: subject.findings for subject in subjects if subject.audited}
    return Findings(result, {"association": pd.concat(items, ignore_index=True), **cost_of.items}, made)


def adjusted(comparison: Comparison) -> Comparison:
    """Correct for the number of questions, except where a protocol brought its own correction.

    The stereotype is the main question, and stands alone. The differences within groups and
    the relation to the workforce are corrected together (Holm), and so are the means, which only describe. What is
    compared beside it plays no part: a verdict on a model is about that model.
    """
    families: dict[int, list[str]] = {}
    for name, change in comparison.changes.items():
        if change.p_adjusted is None:
            families.setdefault(FAMILIES[change.labels["contrast"]], []).append(name)
    changes = dict(comparison.changes)
    for names in families.values():
        for name, p in zip(names, holm([changes[name].p_value for name in names]), strict=True):
            changes[name] = changes[name].model_copy(update={"p_adjusted": p})
    return comparison.model_copy(update={"changes": changes})


def _compared(
    before: Subject, after: Subject, seed: int, caveats: list[Caveat]
) -> list[tuple[Comparison, pd.DataFrame]]:
    """Every corpus that both were measured on; the others are named in a caveat."""
    found = []
    for one in before.result.measurements:
        other = after.measurement(one.language, one.corpus)
        if other is None:
            caveats.append(_left_out(after, one))
            continue
        sides = (
            association.Measured(side.name, measurement, _items(side, one.language, one.corpus))
            for side, measurement in ((before, one), (after, other))
        )
        found.append(association.compare(*sides, seed=seed))
    for other in after.result.measurements:
        if before.measurement(other.language, other.corpus) is None:
            caveats.append(_left_out(before, other))
    return found


def _left_out(missing: Subject, one: Measurement) -> Caveat:
    text = f"{missing.name} was not measured on {one.corpus} ({one.language}), so that corpus is not compared."
    return Caveat(code="corpus-left-out", text=text)


def _items(subject: Subject, language: str, corpus: str) -> pd.DataFrame:
    items = subject.findings.items["association"]
    return items[(items["language"] == language) & (items["corpus"] == corpus)].reset_index(drop=True)


def _made_from(before: Subject, after: Subject) -> bool | None:
    """Whether its record says that a model was made from the one before; None where that is not known."""
    parent, known = after.result.model.parent_weight_hash, before.result.model.weight_hash
    return None if parent is None or known is None else parent == known


def _several(count: int) -> Caveat:
    return Caveat(
        code="several-models",
        text=f"{count} models were compared, each on its own. Of twenty models that did not change, one or two would be"
        " called changed by chance; do not pick the best of many by its verdict alone.",
    )


def _stranger(before: Subject, after: Subject) -> Caveat:
    return Caveat(
        code="not-made-from",
        text=f"{after.name} was not made from {before.name}: its record names a model with other weights. What differs"
        " between the two need not be the work of the mitigation.",
    )


def _side(subject: Subject, before: Subject | None = None) -> Side:
    made = None if before is None else _made_from(before, subject)
    lineage = ""
    if before is not None and made is not None:
        by = f"by {subject.result.model.mitigation}" if subject.result.model.mitigation else "by a mitigation"
        lineage = (
            f"Made from {before.name} {by}: the weights that its record names are those that were measured before."
            if made
            else f"Not made from {before.name}: its record names a model with other weights."
        )
    return Side(
        name=subject.name,
        model=subject.result.model,
        audit=None if subject.folder is None else str(subject.folder),
        created=subject.result.created,
        lineage=lineage,
    )


def _resolved(
    settings: Settings, subjects: Sequence[Subject]
) -> dict[str, str | int | float | bool | list[str] | None]:
    task = settings.task
    return {
        "protocol": subjects[0].result.measurements[0].protocol,
        "usefulness": settings.usefulness,
        "text": None if settings.text is None else str(settings.text),
        "task": None if task is None else task.task,
        "train": None if task is None or task.train is None else str(task.train),
        "test": None if task is None or task.test is None else str(task.test),
        "data": None if task is None else task.data,
        "device": settings.loading.device,
        "offline": settings.loading.offline,
        "allow_pickle": settings.loading.allow_pickle,
        "allow_remote_code": settings.loading.allow_remote_code,
    }
