"""The options of an audit: what every audit has, and what the measures declare for themselves.

The command line, TOML files, Python keywords and `result.json` all have one flat list of options. An option that two
measures declare under one name is one option, and each of them gets its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import create_model

from unmask.embedded import DEFAULT, MODELS
from unmask.errors import UnmaskError, check_choice
from unmask.measures import registry
from unmask.measures.base import PROTOCOLS, SEED, Context, Measure
from unmask.options import EngineOptions, LoadOptions, Options, option

B = TypeVar("B", bound="AuditOptions")


def _language_names() -> list[str]:
    return list(dict.fromkeys(name for measure in registry.built_in() for name in measure.languages))


def _corpus_names() -> list[str]:
    return list(dict.fromkeys(name for measure in registry.built_in() for name in measure.corpora))


class AuditOptions(LoadOptions):
    """What to measure and how. The class that `audit_options` returns has the options of the measures as well."""

    measures: tuple[str, ...] = option(
        (),
        "A measure to run (unmask list measures describes them); can be given several times. Default: all that fit the"
        " model, but for crows-pairs and plug-ins.",
        key="measure",
        suggestions=registry.measure_names,
    )
    languages: tuple[str, ...] = option(
        ("en",),
        "en or de (association), en, ja or zh (inference), en (geometry, crows-pairs); can be given several times.",
        key="language",
        suggestions=_language_names,
    )
    protocol: str = option(
        "sound",
        "sound: corrected method. published: exact reproduction of the paper, errors included.",
        choices=PROTOCOLS,
    )
    corpora: tuple[str, ...] = option(
        (),
        "Association: bec-pro (people and professions), emotions (English), agreement-free (German, without"
        " grammatical agreement). Sentiment: imdb (25,000 film reviews; the default where they are on this machine),"
        " reviews (240 short ones, in the package). Inference: sentences (in the package), nli-coal (the released"
        " sets). Geometry, for encoders: nouns (in the package), word2vec or glove (the papers' vocabularies).",
        key="corpus",
        suggestions=_corpus_names,
    )
    seed: int = option(SEED, "Seed of random samples, permutations and the noise floor.", minimum=0, last=True)
    workspace: Path | None = option(
        None, "A folder for partial results, from which an interrupted audit continues.", cli=False
    )

    @property
    def given_names(self) -> set[str]:
        """The options of measures that differ from their default."""
        own = set(type(self).model_fields) - set(AuditCommand.model_fields)
        defaults = {name: type(self).model_fields[name].default for name in own}
        return {name for name in own if getattr(self, name) != defaults[name]}

    def given(self, name: str) -> Any:
        """The value of a measure's option, or None where no measure has it or it is the default."""
        return getattr(self, name) if name in self.given_names else None

    def for_measure(self, measure: Measure) -> Options:
        """The options that a measure declares."""
        return measure.Options(**{name: getattr(self, name) for name in measure.Options.model_fields})

    def context(self, **changes: Any) -> Context:
        """What measures are told beside their own options."""
        context = Context(protocol=self.protocol, seed=self.seed, offline=self.offline, workspace=self.workspace)
        return replace(context, **changes)

    def check(self, measures: Sequence[Measure]) -> None:
        """Refuse options and corpora that none of the measures to run has: they would be ignored."""
        for measure in measures:
            if problem := _unusable_option(measure):
                raise UnmaskError(problem)
        names = " and ".join(measure.name for measure in measures)
        known = {name for measure in measures for name in measure.Options.model_fields}
        if strange := sorted(self.given_names - known):
            owner = next(one.name for one in registry.installed() if strange[0] in one.Options.model_fields)
            raise UnmaskError(
                f"--{strange[0].replace('_', '-')} is for {owner}, and this model is measured for {names}; leave it"
                " out, or give another model"
            )
        corpora = [corpus for measure in measures for corpus in measure.corpora]
        for corpus in self.corpora:
            owner = next((one.name for one in registry.installed() if corpus in one.corpora), "")
            if corpus in corpora:
                continue
            if owner:
                raise UnmaskError(
                    f"--corpus {corpus} is for {owner}, and this model is measured for {names}; leave it out"
                )
            check_choice(corpus, corpora or _corpus_names(), "corpus")
        for measure in measures:
            if self.protocol not in measure.protocols:
                raise UnmaskError(
                    f"{measure.name} has no {self.protocol} protocol; leave out --protocol {self.protocol}"
                )


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
    as_json: bool = option(False, "Print the result as JSON in place of the table.", key="json", last=True)

    OUTPUT: ClassVar[tuple[str, ...]] = ("out", "as_json")
    """What the command does with an audit, as opposed to what the audit is."""

    ENGINE_OPTIONS: ClassVar[tuple[str, ...]] = tuple(EngineOptions.model_fields)

    @property
    def engine_options(self) -> dict[str, Any]:
        """What runs the audits of several models."""
        return {name: getattr(self, name) for name in self.ENGINE_OPTIONS}


def audit_options() -> type[AuditOptions]:
    """The class of options of an audit, with those of every measure that is installed."""
    return _combine(AuditOptions, _usable())


def audit_command() -> type[AuditCommand]:
    """The class of options of the command, with those of every measure that is installed."""
    return _combine(AuditCommand, _usable())


def _usable() -> tuple[Measure, ...]:
    """The measures whose options can be offered; others are refused when they are asked for."""
    return tuple(measure for measure in registry.installed() if not _unusable_option(measure))


def _unusable_option(measure: Measure) -> str:
    """What is wrong with the options that a measure declares; empty if nothing is."""
    for name, declared in measure.Options.model_fields.items():
        extra = declared.json_schema_extra
        if name in AuditCommand.model_fields:
            return f"{measure.source}: the option {name!r} of {measure.name} is one that every audit has; rename it"
        if not isinstance(extra, dict) or "option" not in extra:
            return f"{measure.source}: the option {name!r} of {measure.name} is not declared with option()"
    return ""


@cache
def _combine(base: type[B], measures: tuple[Measure, ...]) -> type[B]:
    fields: dict[str, Any] = {}
    for measure in measures:
        for name, declared in measure.Options.model_fields.items():
            owners = [one.heading for one in measures if name in one.Options.model_fields]
            extra: Any = declared.json_schema_extra
            panel = " and ".join([owners[0], *(owner.lower() for owner in owners[1:])])
            shown = {"option": extra["option"] | {"panel": panel}}
            fields.setdefault(name, (declared.annotation, _with_extra(declared, shown)))
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


def _with_extra(declared: Any, extra: dict[str, Any]) -> Any:
    from copy import copy

    field = copy(declared)
    field.json_schema_extra = extra
    return field
