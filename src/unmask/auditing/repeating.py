"""An audit once more: the settings that it was made with, what its result does not say, and what is not as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unmask.auditing.geometry import OF_ENCODERS
from unmask.auditing.inference import own_words
from unmask.auditing.settings import AS_LOADED, FILES, OF, USUAL, Settings
from unmask.counterfactual.settings import term_set
from unmask.errors import UnmaskError
from unmask.models.sources import LoadOptions
from unmask.probes import asked as vocabularies
from unmask.probes import association as probe
from unmask.probes import reviews
from unmask.results import AuditResult, Measurement


def settings_of(result: AuditResult) -> Settings:
    """The settings with which a model can be audited as this one was.

    What lets a model run code of its author's is not among them: the result may be a stranger's.
    """
    if not result.measurements:
        raise UnmaskError(f"the audit of {result.model.name} holds no measurement to repeat; audit the model again")
    said = result.configuration
    own = {name: _setting(name, said[name]) for name in _names(result) if said.get(name) is not None}
    _refuse_strange_corpora(result, own)
    languages: Any = said.get("languages") or dict.fromkeys(one.language for one in result.measurements)
    device = str(said.get("device", AS_LOADED))
    settings = Settings(
        measures=_measures(result),
        languages=tuple(languages),
        protocol=result.measurements[0].protocol,
        seed=result.seed,
        loading=LoadOptions() if device == AS_LOADED else LoadOptions(device=device),
        **own,
    )
    return dataclasses.replace(settings, corpora=(*_named(result, settings), *_vocabularies(result, settings)))


def unsaid(result: AuditResult) -> dict[str, Any]:
    """The settings of its measures that a result of another version does not say, and their defaults."""
    encoder = result.model.tokenizer is not None
    known = {one.name: one.default for one in dataclasses.fields(Settings)}
    names = [name for name in _names(result) if encoder or name not in OF_ENCODERS]
    return {name: USUAL.get(name, known[name]) for name in names if name not in result.configuration}


def differences(then: AuditResult, now: AuditResult) -> list[str]:
    """What was not the same in two audits with the same settings, a line each."""
    lines = []
    versions = [{"unmask": one.unmask_version} | one.libraries for one in (then, now)]
    if other := [name for name in versions[0] if name in versions[1] and versions[0][name] != versions[1][name]]:
        said = ", ".join(f"{name} {versions[0][name]} then, {versions[1][name]} now" for name in other)
        lines.append(f"another version: {said}")
    if _differ(then.model.weight_hash, now.model.weight_hash):
        hashes = f"{then.model.weight_hash:.12} then, {now.model.weight_hash:.12} now"
        lines.append(f"another model: the weights of {now.model.name} are not those that were audited ({hashes})")
    devices = [(one.model.device or "").partition(":")[0] for one in (then, now)]
    if _differ(*devices):
        lines.append(f"another device: {devices[0]} then, {devices[1]} now; the last digits may differ")
    before = {one.key: one.data_hash for one in then.measurements}
    lines += [
        f"other data: {_called(one)} is not asked what it was ({before[one.key]:.12} then, {one.data_hash:.12} now)"
        for one in now.measurements
        if _differ(before.get(one.key), one.data_hash)
    ]
    return lines


def _differ(one: str | None, other: str | None) -> bool:
    """Whether both are known, and are not the same."""
    return bool(one and other and one != other)


def _called(one: Measurement) -> str:
    """A measurement by what a user has asked for; the protocol is that of the whole audit."""
    terms = [one.ratings.terms] if one.ratings else []
    return " ".join([one.name, one.language, one.corpus, *terms])


def _measures(result: AuditResult) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for one in result.measurements))


def _names(result: AuditResult) -> list[str]:
    """The settings that belong to the measures of a result."""
    return list(dict.fromkeys(name for measure in _measures(result) for name in OF.get(measure, ())))


def _setting(name: str, value: Any) -> Any:
    """A setting, as a result has it."""
    if name in FILES:
        return Path(value)
    if name == "terms":
        return tuple(term_set(one) for one in value)
    return tuple(value) if isinstance(value, list) else value


def _refuse_strange_corpora(result: AuditResult, own: dict[str, Any]) -> None:
    """Refuse scores that somebody else has recorded: nobody knows what was asked."""
    known = [(language, corpus) for language, corpora in probe.CORPORA.items() for corpus in corpora]
    strange = [
        one.corpus
        for one in result.measurements
        if one.corpus == "recorded" or (one.name == "association" and (one.language, one.corpus) not in known)
    ]
    if strange and not own.keys() & set(FILES):
        raise UnmaskError(
            f"the scores of {result.model.name} are of a corpus {strange[0]!r} that is not ours, so a model cannot be"
            " asked the same; give two audit folders, of unmask audit or unmask analyse"
        )


def _named(result: AuditResult, settings: Settings) -> Sequence[str]:
    """The corpora of the main measure, where they are not the usual ones."""
    said = result.configuration.get("corpora")
    named = [str(one) for one in said] if isinstance(said, list) else []
    if "association" in settings.measures:
        asked = [(one.language, one.corpus) for one in result.measurements if one.name == "association"]
        if any(getattr(settings, name) for name in OF["association"]):
            # of words of the user's own, the configuration alone says on which corpus they stand
            asked = [(one.partition("/")[0], one.partition("/")[2]) for one in named]
        usual = [(language, corpus) for language in settings.languages for corpus in settings.corpora_of(language)]
        return () if asked == usual else tuple(dict.fromkeys(corpus for _, corpus in asked))
    if "inference" in settings.measures and own_words(settings):
        return ()  # they take the place of a corpus
    return tuple(one for one in named if one != reviews.CUSTOM)


def _vocabularies(result: AuditResult, settings: Settings) -> list[str]:
    """The corpora of geometry, where they are not the usual ones."""
    found = [one.corpus for one in result.measurements if one.name == "geometry"]
    return [] if settings.full else [corpus for corpus in found if corpus in vocabularies.PUBLISHED]
