"""Run a comparison: gather the sides, pair their items, correct for all tests, judge, and count the cost."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import unmask
from unmask import steps
from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.results import Caveat, Comparison, ComparisonResult, Measurement, Usefulness
from unmask.workflows import agreement, downstream, evidence, usefulness
from unmask.workflows.audit import LIBRARIES, Audit
from unmask.workflows.audit_options import AuditOptions, audit_options
from unmask.workflows.compare_options import CompareOptions
from unmask.workflows.compared_models import Subject, gather, key
from unmask.workflows.cost import cost
from unmask.workflows.lineage import made_from, side_of, stranger

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.roles import Progress
    from unmask.training.finetune import Say
    from unmask.training.loop import Watch


@dataclass(frozen=True)
class Findings:
    """A comparison, the items behind it, and the audits that were made for it."""

    result: ComparisonResult
    items: dict[str, pd.DataFrame]
    audits: dict[str, Audit]


def run(
    before: Any,
    afters: Sequence[Any],
    options: CompareOptions | None = None,
    *,
    progress: Progress | None = None,
    say: Say | None = None,
    watch: Watch | None = None,
) -> Findings:
    """Compare a model, or its audit, with one or more others."""
    import pandas as pd

    options = options or CompareOptions()
    if not afters:
        raise UnmaskError("there is nothing to compare with; give a model or audit before, and one or more after")
    tasks, loading = _tasks(options), options.loading
    for task in tasks:
        task.read_examples(offline=loading.offline)  # refuses what is missing before the work
    subjects = gather([before, *afters], _audit_settings(options), loading, progress=progress)
    first, *others = subjects
    found: list[Comparison] = []
    items: dict[str, list[pd.DataFrame]] = {}
    reasons = dict.fromkeys(reason for subject in subjects for reason in subject.left_out)
    caveats = [Caveat(code="measure-left-out", text=f"{reason}.") for reason in reasons]
    for other in others:
        steps.say(f"Comparing {first.name} with {other.name}")
        for comparison, paired in _compare(first, other, caveats, seed=options.seed):
            found.append(comparison)
            items.setdefault(comparison.name, []).append(paired)
    cost_of = usefulness.Measured()
    if options.usefulness:
        with steps.step("Measuring usefulness"):
            cost_of = usefulness.measure(subjects, text=options.text, seed=options.seed, progress=progress)
    classifiers = {
        task.task: usefulness.on_task(
            cost_of,
            subjects,
            task,
            folder=options.classifiers,
            loading=loading,
            say=say,
            watch=watch,
        )
        for task in tasks
    }
    caveats += [stranger(first, other) for other in others if made_from(first, other) is False]
    if len(others) > 1:
        caveats.append(_several(len(others)))
    across, made = None, {subject.name: subject.audit for subject in subjects if subject.audited}
    if len(subjects) >= agreement.FEWEST:
        more = evidence.gather(subjects, found, classifiers, seed=options.seed, loading=loading, progress=progress)
        across, made = agreement.compare(more.evidence), made | more.audits
        caveats += [agreement.caveat(len(subjects)), *more.caveats]
    result = ComparisonResult(
        unmask_version=unmask.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        configuration=_resolved(options, tasks, subjects),
        libraries={"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
        seed=options.seed,
        before=side_of(first),
        after=[side_of(other, first) for other in others],
        comparisons=_with_cost(found, cost_of.found),
        usefulness=cost_of.found,
        agreement=across,
        caveats=[*caveats, *cost_of.caveats],
    )
    frames = {name: pd.concat(some, ignore_index=True) for name, some in items.items()}
    return Findings(result, frames | cost_of.items, made)


def _audit_settings(options: CompareOptions) -> AuditOptions | None:
    """How to audit models; None: as the first audit was, or the defaults."""
    if options.audit is not None or not (options.languages or options.protocol):
        return options.audit  # type: ignore[no-any-return]
    return audit_options()(
        languages=options.languages or ("en",),
        protocol=options.protocol or "sound",
        seed=options.seed,
    )


def _tasks(options: CompareOptions) -> list[downstream.Downstream]:
    """The tasks on which the models are fine-tuned and compared."""
    return [
        downstream.Downstream(task=task, data=data, train=options.train, test=options.test, seed=options.seed)
        for task, data in zip_longest(options.task, options.data)
    ]


def _with_cost(found: Sequence[Comparison], measured: Sequence[Usefulness]) -> list[Comparison]:
    """Comparisons with what the change cost, said with the main measure of each model."""
    main = {one.after: one.name for one in reversed(found)}
    return [
        one.model_copy(update={"cost": cost([each for each in measured if each.after == one.after])})
        if one.name == main[one.after]
        else one
        for one in found
    ]


def _compare(
    before: Subject, after: Subject, caveats: list[Caveat], *, seed: int
) -> list[tuple[Comparison, pd.DataFrame]]:
    """Every corpus that both were measured on; the others are named in a caveat."""
    found = []
    for measurement in before.result.measurements:
        other = after.find(measurement)
        if other is None:
            caveats.append(_left_out(after, measurement))
            continue
        measure = registry.get_measure(measurement.name)
        with measure.blamed():
            comparison, items = measure.compare(before.compared(measurement), after.compared(other), seed=seed)
        column = "compared" if "model" in items else "model"
        found.append((comparison, items.assign(**{column: after.name})))
    caveats += [_left_out(before, one) for one in after.result.measurements if before.find(one) is None]
    return found


def _left_out(missing: Subject, measurement: Measurement) -> Caveat:
    text = (
        f"{missing.name} was not measured for {measurement.name} on {' '.join(filter(None, key(measurement)[2:]))}"
        f" ({measurement.language}), so that corpus is not compared."
    )
    return Caveat(code="corpus-left-out", text=text)


def _several(count: int) -> Caveat:
    return Caveat(
        code="several-models",
        text=f"{count} models were compared, each on its own. Of twenty models that did not change, one or two would be"
        " called changed by chance; do not pick the best of many by its verdict alone.",
    )


def _resolved(
    options: CompareOptions, tasks: Sequence[downstream.Downstream], subjects: Sequence[Subject]
) -> dict[str, str | int | float | bool | list[str] | None]:
    """How it was compared, and how the first was measured, which the others must have been, too."""
    first = subjects[0].result
    measures = list(dict.fromkeys(one.name for one in first.measurements))
    own = [
        name
        for measure in measures
        for name in registry.get_measure(measure).Options.model_fields
        if name in first.configuration
    ]
    return {
        "measures": measures,
        "languages": list(dict.fromkeys(one.language for one in first.measurements)),
        "protocol": first.measurements[0].protocol,
        **{name: first.configuration[name] for name in own},
        "usefulness": options.usefulness,
        "text": None if options.text is None else str(options.text),
        "task": [one.task for one in tasks],
        "train": [str(one.train) for one in tasks if one.train is not None],
        "test": [str(one.test) for one in tasks if one.test is not None],
        "data": [one.data for one in tasks if one.data is not None],
        "device": options.device,
        "offline": options.offline,
        "allow_pickle": options.allow_pickle,
        "allow_remote_code": options.allow_remote_code,
    }
