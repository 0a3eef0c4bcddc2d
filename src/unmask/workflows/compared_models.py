"""The models of a comparison: audits that exist, and models that are audited for it.

Each is an audit folder (of `unmask audit` or `unmask analyse`), an `Audit`, or a model: an embedded name, a folder, a
hub id, loaded objects. A model is audited with the settings of the first audit that is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError, quote
from unmask.measures import registry
from unmask.measures.base import ComparedModel, Context
from unmask.measures.recorded import locate_items
from unmask.models.handle import ModelHandle
from unmask.options import LoadOptions
from unmask.results import AuditResult, Measurement, storage
from unmask.results.formatting import make_unique
from unmask.workflows.audit import Audit, choose_measures, fitting_measures, run_audit
from unmask.workflows.audit_options import AuditOptions, audit_options, options_of

if TYPE_CHECKING:
    from unmask.models.roles import MaskedLM, Progress

SCORE_FILES = (".csv", ".tsv", ".jsonl", storage.ITEMS, ".parquet")


@dataclass(frozen=True)
class Subject:
    """One of the models compared: its audit, and how to ask the model again."""

    name: str
    audit: Audit
    model: Any
    """A name or folder, a loaded object, or None where only its scores are known."""
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
        """The result of its audit."""
        return self.audit.result

    def find(self, measurement: Measurement) -> Measurement | None:
        """The measurement that can be compared with this one of another model."""
        key = comparison_key(measurement)
        return next((candidate for candidate in self.result.measurements if comparison_key(candidate) == key), None)

    def compared(self, measurement: Measurement) -> ComparedModel:
        """This side of the comparison of one measurement."""
        measure = registry.get_measure(measurement.name)
        items = self.audit.items[measurement.name]
        values = {"language": measurement.language, "corpus": measurement.corpus}
        values[measure.variant_column] = measurement.variant
        for column in measure.split:
            if column in items and column in values:
                items = items[items[column] == values[column]]
        return ComparedModel(self.name, measurement, items.reset_index(drop=True), self.result, self.reload)

    def is_made_from(self, before: Subject) -> bool | None:
        """Whether its record says that it was made from another model; None where that is not known."""
        parent, weights = self.result.model.parent_weight_hash, before.result.model.weight_hash
        return None if parent is None or weights is None else parent == weights

    def reload(self) -> ModelHandle:
        """The model: still loaded if it was audited for this comparison, else by the name that its audit states."""
        if self.audit.model is not None:
            return self.audit.model
        if self.model is None:
            raise UnmaskError(f"{self.name} is known by its scores alone")
        loading = self.loading
        if not self.audited:  # the name may come from somebody else's file, which the user's permissions do not cover
            loading = loading.replace(allow_pickle=False, allow_remote_code=False)
        is_named = isinstance(self.model, str | PathLike)
        expected = self.result.model.weight_hash if is_named and not self.audited else None
        self.audit.model = ModelHandle(self.model, loading, progress=self.progress, expected_hash=expected)
        return self.audit.model

    def masked_lm(self) -> MaskedLM:
        """The masked language model."""
        try:
            return self.reload().masked_lm()
        except UnmaskError as error:
            if self.model is None:
                raise
            raise UnmaskError(f"{self.name} cannot be loaded again ({error})") from None


def comparison_key(measurement: Measurement) -> tuple[str, str, str, str]:
    """What two measurements must share to be compared."""
    return measurement.name, measurement.language, measurement.corpus, measurement.variant


def gather_subjects(
    sides: Sequence[Any], options: AuditOptions | None, loading: LoadOptions, *, progress: Progress | None = None
) -> list[Subject]:
    """Read the audits, audit the models, give all different names, and check that they can be compared."""
    _check_different(sides)
    audits = [_read_audit(side) for side in sides]
    if options is None and None in audits:
        first = next((side[0] for side in audits if side is not None), None)
        options = None if first is None else options_of(first.result)
    options = (options or audit_options()()).replace(**dict(loading))
    handles = {
        index: ModelHandle(side, loading, progress=progress)
        for index, side in enumerate(sides)
        if audits[index] is None
    }
    own_options = {index: _fit_options(handle, options) for index, handle in handles.items()}
    subjects = []
    for index, (side, existing) in enumerate(zip(sides, audits, strict=True)):
        if existing is None:
            audit, left_out = _leave_out(run_audit(handles[index], own_options[index], progress=progress))
            subjects.append(Subject("", audit, side, loading, None, True, left_out, progress))
        else:
            audit, left_out = existing
            info = audit.result.model
            folder = Path(side) if isinstance(side, str | PathLike) else None
            model = info.name if info.weight_hash else None
            subjects.append(Subject("", audit, model, loading, folder, False, left_out, progress))
    storage.check_rules(subject.result for subject in subjects)
    subjects = _name_subjects(subjects)
    _check_weights(subjects)
    for after in subjects[1:]:
        _check_comparable(subjects[0], after)
    return subjects


def _fit_options(model: ModelHandle, options: AuditOptions) -> AuditOptions:
    """The options for one model: with those measures that fit it."""
    fitting = [measure.name for measure in fitting_measures(model, options)]
    wanted = options.measures or [measure.name for measure in choose_measures(model, options)]
    measures = tuple(name for name in wanted if name in fitting)
    if not measures:
        raise UnmaskError(
            f"{model.name} can be measured for {quote(fitting)}, not for {quote(wanted)}; give models of one kind"
        )
    return options.replace(measures=measures)


def _read_audit(side: Any) -> tuple[Audit, tuple[str, ...]] | None:
    """The audit that a user names, and why measures of it are left out; None where it is a model."""
    if isinstance(side, Audit):
        return _leave_out(side)
    if not isinstance(side, str | PathLike):
        return None
    path = Path(side)
    if path.is_file() and path.name.endswith(SCORE_FILES):
        raise UnmaskError(f"{path} is a file; make an audit of it first: unmask analyse {path} --out FOLDER")
    if not (path / storage.RESULT).is_file():
        return None
    audit = read_audit(path)
    if not audit.measurements:
        raise UnmaskError(f"{path} holds no measurement; audit the model again")
    return _leave_out(audit)


def read_audit(folder: Path) -> Audit:
    """An audit with its items as its measures read them."""
    result, items = storage.load(folder), {}
    for measurement in result.measurements:
        measure = registry.find_measure(measurement.name)
        if measure is not None and measure.name not in items:
            context = Context(protocol=measurement.protocol)
            file, _ = locate_items(folder, measure.name)
            items[measure.name] = measure.read_items(file, context, language=None, score_column=None)
    return Audit(result, items)


def _leave_out(audit: Audit) -> tuple[Audit, tuple[str, ...]]:
    """An audit with the measures that can be compared, and why others cannot."""
    reasons = {}
    for name in audit.result.measure_names:
        measure = registry.find_measure(name)
        if measure is None:
            reasons[name] = f"{name} cannot be compared: the package that brings it is not installed"
        elif not measure.can_compare:
            reasons[name] = f"{name} cannot be compared: {measure.source} declares no keys and score_column"
    remaining = [measurement for measurement in audit.measurements if measurement.name not in reasons]
    if reasons and not remaining:
        raise UnmaskError(f"{audit.result.model.name}: {'; '.join(reasons.values())}")
    result = audit.result.model_copy(update={"measurements": remaining}) if reasons else audit.result
    return Audit(result, audit.items, audit.model), tuple(reasons.values())


def _check_different(sides: Sequence[Any]) -> None:
    seen = set()
    for side in sides:
        if isinstance(side, str | PathLike):
            name = str(Path(side).resolve()) if Path(side).exists() else str(side)
            if name in seen:
                raise UnmaskError(
                    f"{side} was given twice, so there is nothing to compare; give another model or audit"
                )
            seen.add(name)


def _check_weights(subjects: Sequence[Subject]) -> None:
    seen: dict[str, Subject] = {}
    for subject in subjects:
        weights = subject.result.model.weight_hash
        if weights is None:
            continue
        if weights in seen:
            raise UnmaskError(
                f"{seen[weights].name} and {subject.name} have the same weights ({weights[:12]}…), so there is nothing"
                " to compare; give the audit of another model"
            )
        seen[weights] = subject


def _check_comparable(before: Subject, after: Subject) -> None:
    """Raise an error where two models have nothing in common that was measured with one protocol."""
    sides = [side.result.measurements for side in (before, after)]
    protocols = [{measurement.protocol for measurement in measurements} for measurements in sides]
    if protocols[0] != protocols[1]:
        raise UnmaskError(
            f"{before.name} was measured with the {quote(sorted(protocols[0]))} protocol, {after.name} with"
            f" {quote(sorted(protocols[1]))}; measure both with one"
        )
    keys = [dict.fromkeys(map(comparison_key, measurements)) for measurements in sides]
    if not keys[0].keys() & keys[1].keys():
        names = [quote(" ".join(filter(None, key)) for key in side) for side in keys]
        raise UnmaskError(
            f"{before.name} was measured on {names[0]}, {after.name} on {names[1]}: nothing in common; measure both in"
            " the same language and on the same corpus"
        )


def _name_subjects(subjects: Sequence[Subject]) -> list[Subject]:
    """Short names, all different: the last part of the model's name, else the audit folder's, else numbered."""
    names = [subject.result.model.name for subject in subjects]
    short = [
        Path(name).resolve().name if Path(name).is_dir() else name.rstrip("/").rpartition("/")[2] or name
        for name in names
    ]
    distinct = [
        subject.folder.resolve().name if subject.folder and short.count(name) > 1 else name
        for name, subject in zip(short, subjects, strict=True)
    ]
    return [replace(subject, name=name) for subject, name in zip(subjects, make_unique(distinct), strict=True)]
