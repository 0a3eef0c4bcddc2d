"""The sides of a comparison: audits that are there, and models that are audited for it.

A side is an audit folder (of `unmask audit` or `unmask analyse`), findings in memory, or a model: an embedded name, a
folder, a hub id, loaded objects. A model is audited with the settings of the first audit that is given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, quote
from unmask.measures import registry
from unmask.measures.base import ComparedModel, Context
from unmask.measures.recorded import locate_items
from unmask.models.loading import ModelHandle
from unmask.options import LoadOptions
from unmask.results import AuditResult, Measurement, storage
from unmask.results.naming import different
from unmask.workflows.audit import Audit, choose_measures, fitting_measures, run_audit
from unmask.workflows.audit_options import AuditOptions, audit_options
from unmask.workflows.rerun import options_of

if TYPE_CHECKING:
    from unmask.models.roles import MaskedLM, Progress

SCORES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class Subject:
    """One of the models compared: its audit, and how to ask the model again."""

    name: str
    audit: Audit
    model: Any
    """A name or folder, a loaded object, or None where it is known by its scores alone."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    folder: Path | None = None
    """The audit folder, if there was one."""
    audited: bool = False
    """Whether it was audited for this comparison."""
    left_out: tuple[str, ...] = ()
    """Measures of the audit that cannot be compared, and why, a sentence each."""
    progress: Progress | None = None

    @property
    def result(self) -> AuditResult:
        """What its audit says."""
        return self.audit.result

    def find(self, measurement: Measurement) -> Measurement | None:
        """The measurement that can be compared with this one of another model."""
        return next((one for one in self.result.measurements if key(one) == key(measurement)), None)

    def compared(self, measurement: Measurement) -> ComparedModel:
        """This side of the comparison of one measurement."""
        measure = registry.get_measure(measurement.name)
        items = self.audit.items[measurement.name]
        values = dict(zip(("language", "corpus", "terms"), key(measurement)[1:], strict=True))
        for column in measure.split:
            if column in items:
                items = items[items[column] == values[column]]
        return ComparedModel(self.name, measurement, items.reset_index(drop=True), self.result, self.reload)

    def reload(self) -> ModelHandle:
        """The model: still loaded if it was audited for this comparison, else by the name that its audit states."""
        if self.audit.model is not None:
            return self.audit.model
        if self.model is None:
            raise UnmaskError(f"{self.name} is known by its scores alone")
        loading = self.loading
        if not self.audited:  # the name stands in a file that may be a stranger's: what you allow is not for that
            loading = loading.replace(allow_pickle=False, allow_remote_code=False)
        is_named = isinstance(self.model, str | PathLike)
        expected = self.result.model.weight_hash if is_named and not self.audited else None
        handle = ModelHandle(self.model, loading, progress=self.progress, expected_hash=expected)
        object.__setattr__(self.audit, "model", handle)
        return handle

    def masked_lm(self) -> MaskedLM:
        """The masked language model."""
        try:
            return self.reload().masked_lm()
        except UnmaskError as error:
            if self.model is None:
                raise
            raise UnmaskError(f"{self.name} cannot be loaded again ({error})") from None


def key(measurement: Measurement) -> tuple[str, str, str, str]:
    """What two measurements must share to be compared."""
    return measurement.name, measurement.language, measurement.corpus, measurement.variant


def gather(
    given: Sequence[Any], options: AuditOptions | None, loading: LoadOptions, *, progress: Progress | None = None
) -> list[Subject]:
    """Read the audits, audit the models, name all differently, and refuse what cannot be compared."""
    _refuse_twice(given)
    audits, left_out = map(list, zip(*(_leave_out(_read(side)) for side in given), strict=True))
    if options is None and None in audits:
        first = next((audit for audit in audits if audit is not None), None)
        options = audit_options()() if first is None else options_of(first.result)
    options = (options or audit_options()()).replace(**dict(loading))
    handles = [
        None if audit else ModelHandle(side, loading, progress=progress)
        for side, audit in zip(given, audits, strict=True)
    ]
    own = [None if handle is None else _fit_options(handle, options) for handle in handles]
    subjects = []
    for index, (side, audit, handle, to_run) in enumerate(zip(given, audits, handles, own, strict=True)):
        found = audit
        if audit is None:
            found, left_out[index] = _leave_out(run_audit(handle, to_run, progress=progress))
        known = found.result.model
        model = side if audit is None else known.name if known.weight_hash else None
        folder = Path(side) if audit is not None and isinstance(side, str | PathLike) else None
        subjects.append(Subject("", found, model, loading, folder, audit is None, left_out[index], progress))
    subjects = _named(subjects)
    _refuse_same_weights(subjects)
    for after in subjects[1:]:
        _refuse_mismatch(subjects[0], after)
    return subjects


def _fit_options(model: ModelHandle, options: AuditOptions) -> AuditOptions:
    """The options for one model: with those of the measures that fit it."""
    fitting = [measure.name for measure in fitting_measures(model, options)]
    wanted = options.measures or [measure.name for measure in choose_measures(model, options)]
    measures = tuple(name for name in wanted if name in fitting)
    if not measures:
        raise UnmaskError(
            f"{model.name} can be measured for {quote(fitting)}, not for {quote(wanted)}; give models of one kind"
        )
    return options.replace(measures=measures)


def _read(side: Any) -> Audit | None:
    """The audit that is meant, or None where it is a model."""
    if isinstance(side, Audit):
        return side
    if not isinstance(side, str | PathLike):
        return None
    path = Path(side)
    if path.is_file() and path.suffix in SCORES:
        raise UnmaskError(f"{path} is a file; make an audit of it first: unmask analyse {path} --out FOLDER")
    if not (path / storage.RESULT).is_file():
        return None
    result = storage.load(path)
    if not result.measurements:
        raise UnmaskError(f"{path} holds no measurement; audit the model again")
    items = {}
    for measurement in result.measurements:
        measure = registry.find_measure(measurement.name)
        if measure is not None and measure.name not in items:
            context = Context(protocol=measurement.protocol)
            file, _ = locate_items(path, measure.name)
            items[measure.name] = measure.read_items(file, context, language=None, score_column=None)
    return Audit(result, items)


def _leave_out(audit: Audit | None) -> tuple[Audit | None, tuple[str, ...]]:
    """An audit with the measures that can be compared, and why others cannot."""
    if audit is None:
        return None, ()
    reasons = {}
    for name in dict.fromkeys(one.name for one in audit.measurements):
        measure = registry.find_measure(name)
        if measure is None:
            reasons[name] = f"{name} cannot be compared: the package that brings it is not installed"
        elif not measure.can_compare:
            reasons[name] = f"{name} cannot be compared: {measure.source} declares no keys and score_column"
    remaining = [one for one in audit.measurements if one.name not in reasons]
    if reasons and not remaining:
        raise UnmaskError(f"{audit.result.model.name}: {'; '.join(reasons.values())}")
    result = audit.result.model_copy(update={"measurements": remaining}) if reasons else audit.result
    return Audit(result, audit.items, audit.model), tuple(reasons.values())


def _refuse_twice(given: Sequence[Any]) -> None:
    seen: set[str] = set()
    for one in given:
        if isinstance(one, str | PathLike):
            key = str(Path(one).resolve()) if Path(one).exists() else str(one)
            if key in seen:
                raise UnmaskError(f"{one} was given twice, so there is nothing to compare; give another model or audit")
            seen.add(key)


def _refuse_same_weights(subjects: Sequence[Subject]) -> None:
    seen: dict[str, Subject] = {}
    for subject in subjects:
        known = subject.result.model.weight_hash
        if known and known in seen:
            raise UnmaskError(
                f"{seen[known].name} and {subject.name} have the same weights ({known[:12]}…), so there is nothing to"
                " compare; give the audit of another model"
            )
        if known:
            seen[known] = subject


def _refuse_mismatch(before: Subject, after: Subject) -> None:
    one, other = ({m.protocol for m in side.result.measurements} for side in (before, after))
    if one != other:
        raise UnmaskError(
            f"{before.name} was measured with the {quote(sorted(one))} protocol, {after.name} with"
            f" {quote(sorted(other))}; measure both with one"
        )
    ours, theirs = ([key(m) for m in side.result.measurements] for side in (before, after))
    if not set(ours) & set(theirs):
        said = [quote(dict.fromkeys(" ".join(filter(None, each)) for each in side)) for side in (ours, theirs)]
        raise UnmaskError(
            f"{before.name} was measured on {said[0]}, {after.name} on {said[1]}: nothing in common; measure both in"
            " the same language and on the same corpus"
        )


def _named(subjects: Sequence[Subject]) -> list[Subject]:
    """Short names, all different: the last part of the model's name, else the audit folder's, else numbered."""
    short = [_short(subject.result.model.name) for subject in subjects]
    folders = [short[at] if one.folder is None else one.folder.resolve().name for at, one in enumerate(subjects)]
    plain = [folders[at] if short.count(name) > 1 else name for at, name in enumerate(short)]
    return [dataclasses.replace(one, name=name) for one, name in zip(subjects, different(plain), strict=True)]


def _short(name: str) -> str:
    return Path(name).resolve().name if Path(name).is_dir() else name.rstrip("/").rpartition("/")[2] or name
