"""Repeat an audit: the options that it was made with, what its result does not state, and what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.measures.base import Measure
from unmask.results import AuditResult, Measurement
from unmask.workflows.audit import AS_LOADED
from unmask.workflows.audit_options import AuditOptions, audit_options


def options_of(result: AuditResult) -> AuditOptions:
    """The options with which a model can be audited as this one was.

    What lets a model run code of its author is not among them: the result may be a stranger's.
    """
    if not result.measurements:
        raise UnmaskError(f"the audit of {result.model.name} holds no measurement to repeat; audit the model again")
    stated = result.configuration
    measures = _measures(result)
    own: dict[str, Any] = {
        name: _read_option(name, stated[name]) for name in _names(measures) if stated.get(name) is not None
    }
    _refuse_unknown_corpora(result, own)
    languages: Any = stated.get("languages") or dict.fromkeys(one.language for one in result.measurements)
    if (device := stated.get("device", AS_LOADED)) != AS_LOADED:
        own["device"] = device
    options = audit_options()(
        measures=tuple(dict.fromkeys(one.name for one in result.measurements)),
        languages=tuple(languages),
        protocol=result.measurements[0].protocol,
        seed=result.seed,
        **own,
    )
    return options.replace(corpora=_named_corpora(result, options))


def unstated_options(result: AuditResult) -> dict[str, Any]:
    """The options of its measures that a result of another version does not state, and their defaults."""
    has_layers = result.model.tokenizer is not None
    defaults = {name: field.default for name, field in audit_options().model_fields.items()}
    return {
        name: defaults[name]
        for measure in _measures(result)
        for name in measure.Options.model_fields
        if name not in result.configuration
        and (has_layers or name not in measure.encoder_options)
        and audit_options().parameters()[name].cli
    }


def differences(then: AuditResult, now: AuditResult) -> list[str]:
    """What was not the same in two audits with the same options, a line each."""
    lines = []
    versions = [{"unmask": one.unmask_version} | one.libraries for one in (then, now)]
    if other := [name for name in versions[0] if name in versions[1] and versions[0][name] != versions[1][name]]:
        changes = ", ".join(f"{name} {versions[0][name]} then, {versions[1][name]} now" for name in other)
        lines.append(f"another version: {changes}")
    if _differ(then.model.weight_hash, now.model.weight_hash):
        hashes = f"{then.model.weight_hash:.12} then, {now.model.weight_hash:.12} now"
        lines.append(f"another model: the weights of {now.model.name} are not those that were audited ({hashes})")
    devices = [(one.model.device or "").partition(":")[0] for one in (then, now)]
    if _differ(*devices):
        lines.append(f"another device: {devices[0]} then, {devices[1]} now; the last digits may differ")
    before = {one.key: one.data_hash for one in then.measurements}
    lines += [
        f"other data: {describe(one)} has other items ({before[one.key]:.12} then, {one.data_hash:.12} now)"
        for one in now.measurements
        if _differ(before.get(one.key), one.data_hash)
    ]
    return lines


def describe(measurement: Measurement) -> str:
    """A measurement by what a user has asked for."""
    parts = (measurement.name, measurement.language, measurement.corpus, measurement.variant)
    return " ".join(part for part in parts if part)


def _differ(one: str | None, other: str | None) -> bool:
    """Whether both are known, and are not the same."""
    return bool(one and other and one != other)


def _measures(result: AuditResult) -> list[Measure]:
    """The measures of an audit that are installed."""
    found = map(registry.find_measure, dict.fromkeys(one.name for one in result.measurements))
    return [measure for measure in found if measure is not None]


def _names(measures: list[Measure]) -> list[str]:
    """The options that belong to measures."""
    return list(dict.fromkeys(name for measure in measures for name in measure.Options.model_fields))


def _read_option(name: str, value: Any) -> Any:
    """An option as a result states it."""
    parameter = audit_options().parameters()[name]
    if parameter.type is Path:
        return Path(value)
    return tuple(value) if isinstance(value, list) else value


def _refuse_unknown_corpora(result: AuditResult, own: Mapping[str, Any]) -> None:
    """Refuse scores that somebody else has recorded: nobody knows what was asked."""
    files = [name for name in own if audit_options().parameters()[name].type is Path]
    for measurement in result.measurements:
        measure = registry.find_measure(measurement.name)
        if measure is None:
            continue
        is_known = measurement.corpus in {**measure.corpora, **measure.other_corpora} or not measure.corpora
        if (measurement.corpus == "recorded" or not is_known) and not files:
            raise UnmaskError(
                f"the scores of {result.model.name} are of a corpus {measurement.corpus!r} that is not ours, so a model"
                " cannot be asked the same; give two audit folders, of unmask audit or unmask analyse"
            )


def _named_corpora(result: AuditResult, options: AuditOptions) -> tuple[str, ...]:
    """The corpora to name, where they are not those that are measured by default."""
    named: list[str] = []
    for measure in _measures(result):
        own = [one for one in result.measurements if one.name == measure.name]
        asked = list(dict.fromkeys(measure.asked_corpora(own, dict(result.configuration))))
        own_options = options.for_measure(measure)
        usual = [
            (language, corpus)
            for language in options.languages
            for corpus in measure.default_corpora(own_options, options.context(language=language))
        ]
        if asked != usual:
            named += [corpus for _, corpus in asked if corpus in measure.corpora]
    return tuple(dict.fromkeys(named))
