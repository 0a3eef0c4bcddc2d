"""The sides of a comparison: audits that are there, and models that are audited for it.

A side is an audit folder (of `unmask audit` or `unmask analyse`), findings in memory, or a model: an embedded name, a
folder, a hub id, loaded objects. A model is audited with the settings of the first audit that is given.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unmask import auditing
from unmask.auditing.repeating import settings_of
from unmask.comparing.alike import MEASURES, fitted
from unmask.errors import UnmaskError, listed
from unmask.models.sources import LoadOptions
from unmask.probes import recorded, recorded_inference, recorded_ratings, recorded_words
from unmask.results import AuditResult, Measurement, storage
from unmask.results.naming import different

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

SCORES = (".csv", ".tsv", ".parquet")
READ = {
    "association": recorded.read,
    "sentiment": recorded_ratings.read,
    "inference": recorded_inference.read,
    "geometry": recorded_words.read_words,
    "crows-pairs": recorded_words.read_pairs,
}


@dataclass(frozen=True)
class Subject:
    """One of the models compared: its audit, and how to get at the model again."""

    name: str
    findings: auditing.Findings
    model: Any
    """A name or folder, a loaded object, or None where it is known by its scores alone."""
    folder: Path | None = None
    """The audit folder, if there was one."""
    audited: bool = False
    """Whether it was audited for this comparison."""
    left_out: tuple[str, ...] = ()
    """Measures of its audit that cannot be compared; `findings` is without them."""

    @property
    def result(self) -> AuditResult:
        """What its audit says."""
        return self.findings.result

    def measurement(self, *wanted: str) -> Measurement | None:
        """What a measure found in a corpus; `wanted` is the `key` of a measurement."""
        return next((one for one in self.result.measurements if key(one) == wanted), None)

    def items(self, one: Measurement) -> pd.DataFrame:
        """The items behind a measurement."""
        found = self.findings.items[one.name]
        belongs = (found["language"] == one.language) & (found["corpus"] == one.corpus)
        if one.variant:
            belongs &= found["terms"] == one.variant
        return found[belongs].reset_index(drop=True)


def key(one: Measurement) -> tuple[str, str, str, str]:
    """What two measurements must share to be compared: measure, language, corpus, and the terms of sentiment."""
    return one.name, one.language, one.corpus, one.variant


def gather(
    given: Sequence[Any], settings: auditing.Settings | None, loading: LoadOptions, *, progress: Progress | None = None
) -> list[Subject]:
    """Read the audits, audit the models, name all differently, and refuse what cannot be compared."""
    _refuse_twice(given)
    read = [_read(one) for one in given]
    audits = [None if audit is None else _comparable(one, audit) for one, audit in zip(given, read, strict=True)]
    if settings is None and None in audits:
        first = next((audit for audit in audits if audit is not None), None)
        settings = auditing.Settings() if first is None else settings_of(first.result)
    settings = dataclasses.replace(settings or auditing.Settings(), loading=loading)
    own = [None if audit else fitted(one, settings) for one, audit in zip(given, audits, strict=True)]
    subjects = []
    for one, whole, audit, to_run in zip(given, read, audits, own, strict=True):
        findings = audit or auditing.run(one, to_run or settings, progress=progress)
        known = findings.result.model
        again = one if audit is None else known.name if known.weight_hash else None
        folder = Path(one) if audit is not None and isinstance(one, str | PathLike) else None
        subjects.append(Subject("", findings, again, folder, audited=audit is None, left_out=_others(whole)))
    subjects = _named(subjects)
    _refuse_same_weights(subjects)
    for after in subjects[1:]:
        _refuse_mismatch(subjects[0], after)
    return subjects


def _read(one: Any) -> auditing.Findings | None:
    """The audit that is meant, or None where it is a model."""
    if isinstance(one, auditing.Findings):
        return one
    if not isinstance(one, str | PathLike):
        return None
    path = Path(one)
    if path.is_file() and path.suffix in SCORES:
        raise UnmaskError(f"{path} is a file; make an audit of it first: unmask analyse {path} --out FOLDER")
    if not (path / storage.RESULT).is_file():
        return None
    result = storage.load(path)
    if not result.measurements:
        raise UnmaskError(f"{path} holds no measurement; audit the model again")
    names = dict.fromkeys(one.name for one in result.measurements if one.name in MEASURES)
    return auditing.Findings(result, {name: READ[name](recorded.locate(path, name)[0], None) for name in names})


def _comparable(given: Any, audit: auditing.Findings) -> auditing.Findings:
    """An audit without the measurements that cannot be compared."""
    result = audit.result
    known = [one for one in result.measurements if one.name in MEASURES]
    if not known and (others := _others(audit)):
        name = given if isinstance(given, str | PathLike) else result.model.name
        raise UnmaskError(f"{name} is an audit of {others[0]}; {listed(MEASURES)} can be compared")
    return dataclasses.replace(audit, result=result.model_copy(update={"measurements": known}))


def _others(audit: auditing.Findings | None) -> tuple[str, ...]:
    """The measures of an audit that cannot be compared."""
    names = dict.fromkeys(one.name for one in audit.result.measurements) if audit else ()
    return tuple(name for name in names if name not in MEASURES)


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
            f"{before.name} was measured with the {listed(sorted(one))} protocol, {after.name} with"
            f" {listed(sorted(other))}; measure both with one"
        )
    ours, theirs = ([key(m) for m in side.result.measurements] for side in (before, after))
    if not set(ours) & set(theirs):
        said = [listed(dict.fromkeys(" ".join(filter(None, each)) for each in side)) for side in (ours, theirs)]
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
