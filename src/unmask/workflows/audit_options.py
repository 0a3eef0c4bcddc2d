"""The options of an audit: what every audit has, what the measures declare, and how a file or a result states them.

The command line, TOML files, Python keywords and `result.json` share one flat list of options. An option that two
measures declare under one name is one option, and each of them gets its value.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import create_model

from unmask.embedded import DEFAULT, MODELS
from unmask.errors import UnmaskError, check_choice
from unmask.measures import registry
from unmask.measures.base import PROTOCOLS, SEED, Context, Measure
from unmask.option_files import read_toml
from unmask.options import EngineOptions, LoadOptions, Options, option
from unmask.results import AuditResult, storage
from unmask.results.formatting import join_or

AnyOptions = TypeVar("AnyOptions", bound="AuditOptions")
AS_LOADED = "as loaded"
"""The device of a model that was given as an object."""


PROTOCOL_HELP = "sound: corrected method. published: exact reproduction of the paper, errors included."
SEED_HELP = "Seed of random samples, permutations and the noise floor."


def list_values(attribute: str) -> list[str]:
    """The languages or corpora of all built-in measures."""
    return list(dict.fromkeys(name for measure in registry.built_in() for name in getattr(measure, attribute)))


def _describe_languages() -> str:
    """Help: the languages of the built-in measures."""
    measures: dict[tuple[str, ...], list[str]] = {}
    for measure in registry.built_in():
        measures.setdefault(measure.languages, []).append(measure.name)
    return ", ".join(f"{join_or(languages)} ({', '.join(names)})" for languages, names in measures.items())


def _describe_corpora() -> str:
    """Help: the corpora of the built-in measures."""
    sentences = []
    for measure in registry.built_in():
        corpora = [f"{corpus} ({measure.corpus_descriptions.get(corpus)})" for corpus in measure.corpora]
        sentences += [f"{measure.heading}: {', '.join(corpora)}."] if corpora else []
    return " ".join(sentences)


def describe_recorded_columns() -> str:
    """The columns that recorded scores of each built-in measure need."""
    return "; ".join(f"{measure.name}: {measure.recorded_columns}" for measure in registry.built_in())


class AuditOptions(LoadOptions):
    """What to measure and how. The class that `audit_options` returns has the options of the measures as well."""

    measures: tuple[str, ...] = option(
        (),
        "A measure to run (unmask list measures describes them); can be given several times. Default: all that fit the"
        " model, except"
        f" {', '.join(measure.name for measure in registry.built_in() if not measure.by_default)} and plug-ins.",
        key="measure",
        suggestions=registry.measure_names,
    )
    languages: tuple[str, ...] = option(
        ("en",),
        f"{_describe_languages()}; can be given several times.",
        key="language",
        suggestions=lambda: list_values("languages"),
    )
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    corpora: tuple[str, ...] = option(
        (),
        _describe_corpora(),
        key="corpus",
        suggestions=lambda: list_values("corpora"),
    )
    seed: int = option(SEED, SEED_HELP, minimum=0, last=True)
    workspace: Path | None = option(
        None, "A folder for partial results, from which an interrupted audit continues.", cli=False
    )

    @property
    def given_names(self) -> set[str]:
        """The options of measures that differ from their default."""
        fields = type(self).model_fields
        return {
            name for name in fields.keys() - AuditCommand.model_fields if getattr(self, name) != fields[name].default
        }

    def given(self, name: str) -> Any:
        """The value of a measure's option, or None where no measure has it or it is the default."""
        return getattr(self, name) if name in self.given_names else None

    def for_measure(self, measure: Measure) -> Options:
        """The options that a measure declares."""
        return measure.Options(**{name: getattr(self, name) for name in measure.Options.model_fields})

    def context(self, **changes: Any) -> Context:
        """What measures are told in addition to their own options."""
        context = Context(protocol=self.protocol, seed=self.seed, offline=self.offline, workspace=self.workspace)
        return replace(context, **changes)

    def check_used(self, measures: Sequence[Measure]) -> None:
        """Raise an error for options and corpora that none of the measures has: they would be ignored."""
        for measure in measures:
            if problem := _option_problem(measure):
                raise UnmaskError(problem)
            if self.protocol not in measure.protocols:
                raise UnmaskError(
                    f"{measure.name} has no {self.protocol} protocol; leave out --protocol {self.protocol}"
                )
        names = " and ".join(measure.name for measure in measures)
        used = {name for measure in measures for name in measure.Options.model_fields}
        for name in sorted(self.given_names - used):
            owner = next(measure.name for measure in registry.installed() if name in measure.Options.model_fields)
            raise UnmaskError(
                f"--{name.replace('_', '-')} is for {owner}, and this model is measured for {names}; add --measure"
                f" {owner}, or leave it out"
            )
        corpora = [corpus for measure in measures for corpus in measure.corpora]
        for corpus in self.corpora:
            if corpus in corpora:
                continue
            for measure in registry.installed():
                if corpus in measure.corpora:
                    raise UnmaskError(
                        f"--corpus {corpus} is for {measure.name}, and this model is measured for {names}; leave it out"
                    )
            check_choice(corpus, corpora or list_values("corpora"), "corpus")


class AuditCommand(EngineOptions, AuditOptions):
    """The options of an audit as a command: with the models to audit, and what to do with the results."""

    models: tuple[str, ...] = option(
        (DEFAULT,),
        "A model or adapter folder, a hub id such as bert-base-uncased, an embedded model (unmask models), or a file of"
        " word vectors (word2vec, GloVe, npz, npy).",
        key="model",
        argument=True,
        metavar="MODEL",
        path=True,
        suggestions=MODELS,
    )
    out: Path | None = option(
        None,
        "The folder to write; it must not exist. Default: audits/NAME, numbered if taken. For"
        " several models: the folder of all audits and the ranking, which may exist; default: ranking.",
        last=True,
    )
    as_json: bool = option(False, "Print the result as JSON instead of the table.", key="json", last=True)

    OUTPUT: ClassVar[tuple[str, ...]] = ("out", "as_json")
    """What the command does with an audit, as opposed to what the audit is."""


class AnalyseOptions(Options):
    """How recorded scores are analysed."""

    measure: str | None = option(
        None,
        "The measure that the scores belong to. Default: by the columns. Built-in measures need these columns:"
        f" {describe_recorded_columns()}.",
        suggestions=registry.measure_names,
    )
    language: str | None = option(
        None,
        f"{join_or(list_values('languages'))}, for files that do not state it. Default: en.",
        suggestions=lambda: list_values("languages"),
    )
    protocol: str = option("sound", PROTOCOL_HELP, choices=PROTOCOLS)
    score_column: str | None = option(
        None,
        "The column of the scores, if it has another name; for"
        f" {join_or([measure.name for measure in registry.built_in() if measure.takes_score_column])}.",
    )
    seed: int = option(SEED, SEED_HELP, minimum=0, last=True)


def audit_options() -> type[AuditOptions]:
    """The class of options of an audit, with those of every measure that is installed."""
    return _combine(AuditOptions, tuple(measure for measure in registry.installed() if not _option_problem(measure)))


def audit_command() -> type[AuditCommand]:
    """The class of options of the command, with those of every measure that is installed."""
    return _combine(AuditCommand, tuple(measure for measure in registry.installed() if not _option_problem(measure)))


def _option_problem(measure: Measure) -> str:
    """What is wrong with the options that a measure declares; empty if nothing is."""
    for name, declared in measure.Options.model_fields.items():
        extra = declared.json_schema_extra
        if name in AuditCommand.model_fields:
            return f"{measure.source}: the option {name!r} of {measure.name} is one that every audit has; rename it"
        if not isinstance(extra, dict) or "option" not in extra:
            return f"{measure.source}: the option {name!r} of {measure.name} is not declared with option()"
    return ""


@cache
def _combine(base: type[AnyOptions], measures: tuple[Measure, ...]) -> type[AnyOptions]:
    """A class with the options of a base class and of measures, under headings with the names of the measures."""
    fields: dict[str, Any] = {}
    for measure in measures:
        for name, declared in measure.Options.model_fields.items():
            if name in fields:
                continue
            first, *others = [measure.heading for measure in measures if name in measure.Options.model_fields]
            panel = " and ".join([first, *(heading.lower() for heading in others)])
            field, extra = copy(declared), declared.json_schema_extra
            field.json_schema_extra = {"option": extra["option"] | {"panel": panel}}  # type: ignore[index,operator]
            fields[name] = (declared.annotation, field)
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


# Options from a file: an audit.toml, or the result.json of an audit to repeat.


@dataclass(frozen=True)
class Config:
    """What a file states."""

    values: dict[str, Any]
    """Options by field name."""
    notes: list[str] = field(default_factory=list)
    """What a reader should know, a line each."""
    result: AuditResult | None = None
    """The audit to repeat, if the file is a result."""


def load_config(path: Path) -> Config:
    """Read a file of options: TOML, or the result of an audit."""
    if path.is_dir():
        raise UnmaskError(f"{path} is a folder; give a file such as audit.toml, or the result.json of an audit")
    if not path.is_file():
        raise UnmaskError(f"{path} does not exist; give a file of options, or write one with unmask init {path}")
    if path.suffix.lower() != ".json":
        parameters = audit_command().parameters()
        values = read_toml(path, audit_command())
        return Config({name: parameters[name].convert(value) for name, value in values.items()})
    result = storage.read(path)
    if "items" in result.configuration:
        items = result.configuration["items"]
        raise UnmaskError(f"{path} is of recorded scores, not of a model; repeat it with unmask analyse {items}")
    options = options_of(result)
    stated = options.given_names | AuditCommand.model_fields.keys()
    notes = [
        f"{path} does not state {name.replace('_', '-')}; the default is used"
        + ("" if default is None else f": {default}")
        for name, default in unstated_options(result).items()
    ]
    notes += [
        f"{path} was made with --{name.replace('_', '-')}; give it yourself if you trust the model"
        for name in ("allow_pickle", "allow_remote_code")
        if result.configuration.get(name)
    ]
    values = {name: value for name, value in dict(options).items() if name in stated}
    return Config(values | {"models": (result.model.name,)}, notes, result)


def read_config(path: str | Path) -> dict[str, Any]:
    """Read the arguments for `unmask.audit` from a file.

    `unmask.audit(**unmask.read_config("audit.toml"))` does what `unmask audit --config audit.toml` does. A warning
    names each option that an older result does not state.

    Args:
        path: An `audit.toml`, or the `result.json` of an audit to repeat.

    Returns:
        The arguments by name.
    """
    config = load_config(Path(path))
    for note in config.notes:
        warnings.warn(note, stacklevel=2)
    defaults = {name: parameter.default for name, parameter in audit_command().parameters().items()}
    models = config.values.get("models", defaults["models"])
    left_out = ("models", *AuditCommand.OUTPUT)
    values = {name: value for name, value in config.values.items() if value != defaults[name] and name not in left_out}
    return {"model": models[0] if len(models) == 1 else models} | values


def options_of(result: AuditResult) -> AuditOptions:
    """The options with which a model can be audited as this one was.

    They never allow a model to run code of its author: the result may come from somebody else.
    """
    if not result.measurements:
        raise UnmaskError(f"the audit of {result.model.name} holds no measurement to repeat; audit the model again")
    stated, measures, parameters = result.configuration, _installed_measures(result), audit_options().parameters()
    values: dict[str, Any] = {}
    for name in (name for measure in measures for name in measure.Options.model_fields):
        value = stated.get(name)
        if value is not None:
            values[name] = Path(str(value)) if parameters[name].type is Path else value
    _check_corpora(result, has_files=any(parameters[name].type is Path for name in values))
    languages: Any = stated.get("languages") or dict.fromkeys(
        measurement.language for measurement in result.measurements
    )
    if (device := stated.get("device", AS_LOADED)) != AS_LOADED:
        values["device"] = device
    options = audit_options()(
        measures=tuple(result.measure_names),
        languages=tuple(languages),
        protocol=result.measurements[0].protocol,
        seed=result.seed,
        **values,
    )
    corpora = dict.fromkeys(corpus for measure in measures for corpus in _named_corpora(measure, result, options))
    return options.replace(corpora=tuple(corpora))


def unstated_options(result: AuditResult) -> dict[str, Any]:
    """The options of its measures that a result of another version does not state, and their defaults."""
    has_layers = result.model.tokenizer is not None
    parameters = audit_options().parameters()
    return {
        name: parameters[name].default
        for measure in _installed_measures(result)
        for name in measure.Options.model_fields
        if name not in result.configuration
        and (has_layers or name not in measure.encoder_options)
        and parameters[name].cli
    }


def _installed_measures(result: AuditResult) -> list[Measure]:
    measures = map(registry.find_measure, result.measure_names)
    return [measure for measure in measures if measure is not None]


def _check_corpora(result: AuditResult, *, has_files: bool) -> None:
    """Raise an error for scores that somebody else has recorded: nobody knows what the model was asked."""
    for measurement in result.measurements:
        measure = registry.find_measure(measurement.name)
        if measure is None or has_files:
            continue
        is_known = measurement.corpus in {**measure.corpora, **measure.other_corpora} or not measure.corpora
        if measurement.corpus == "recorded" or not is_known:
            raise UnmaskError(
                f"the scores of {result.model.name} are of a corpus {measurement.corpus!r} that is not ours, so a model"
                " cannot be asked the same; give two audit folders, of unmask audit or unmask analyse"
            )


def _named_corpora(measure: Measure, result: AuditResult, options: AuditOptions) -> Iterable[str]:
    """The corpora of a measure to name, where they are not those that are measured by default."""
    measurements = [measurement for measurement in result.measurements if measurement.name == measure.name]
    measured = list(dict.fromkeys(measure.asked_corpora(measurements, dict(result.configuration))))
    own_options = options.for_measure(measure)
    default = [
        (language, corpus)
        for language in options.languages
        for corpus in measure.default_corpora(own_options, options.context(language=language))
    ]
    return [corpus for _, corpus in measured if corpus in measure.corpora] if measured != default else []


def list_differences(before: AuditResult, now: AuditResult) -> list[str]:
    """What was not the same in two audits with the same options, a line each."""
    lines = []
    versions = [{"unmask": result.unmask_version} | result.libraries for result in (before, now)]
    changed = [name for name in versions[0] if _differ(versions[0][name], versions[1].get(name))]
    if changed:
        changes = ", ".join(f"{name} {versions[0][name]} then, {versions[1][name]} now" for name in changed)
        lines.append(f"another version: {changes}")
    if _differ(before.model.weight_hash, now.model.weight_hash):
        hashes = f"{before.model.weight_hash:.12} then, {now.model.weight_hash:.12} now"
        lines.append(f"another model: the weights of {now.model.name} are not those that were audited ({hashes})")
    devices = [(result.model.device or "").partition(":")[0] for result in (before, now)]
    if _differ(*devices):
        lines.append(f"another device: {devices[0]} then, {devices[1]} now; the last digits may differ")
    data_hashes = {measurement.key: measurement.data_hash for measurement in before.measurements}
    for measurement in now.measurements:
        old, new = data_hashes.get(measurement.key), measurement.data_hash
        if _differ(old, new):
            lines.append(f"other data: {measurement.description} has other items ({old:.12} then, {new:.12} now)")
    return lines


def _differ(first: str | None, second: str | None) -> bool:
    """Whether both are known, and are not the same."""
    return bool(first and second and first != second)
