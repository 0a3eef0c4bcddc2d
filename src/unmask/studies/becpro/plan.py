"""The steps of the study: audit a model, fine-tune it on swapped text, audit it again, and compare.

    auditing before ─► comparing
    debiasing ─► auditing after ─┘

Audits and comparisons are folders as `unmask audit` and `unmask compare` write them; the model is one of `unmask
mitigate`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unmask
from unmask import datasets, embedded
from unmask.errors import UnmaskError, check_choice
from unmask.files import digest
from unmask.measures.association import AssociationMeasure, AssociationOptions
from unmask.measures.association.data import build_rows
from unmask.mitigations.corpus import GAP, read_corpus
from unmask.mitigations.method import find_method, method_options
from unmask.models.handle import ModelHandle
from unmask.options import LoadOptions
from unmask.results import SCHEMA_VERSION
from unmask.results.formatting import make_unique
from unmask.studies.becpro import ProfessionStudyOptions
from unmask.studies.models import Debiasing, hash_weights
from unmask.studies.steps import Say, Step
from unmask.workflows.audit import choose_measures, run_audit
from unmask.workflows.audit_options import AuditOptions, audit_options

METHOD = "cds"
AUDIT, COMPARISON = "audit", "comparison"
"""The folders in the results of steps."""
CORPORA = {"en": ("bec-pro", "emotions")}
"""What is measured in a language, where that is more than an audit measures: the paper's preliminary corpus, too."""
TEXTS = {"en": GAP}
"""What models of a language are fine-tuned on, where users name no text."""


@dataclass(frozen=True)
class StudiedModel:
    """A model in one language."""

    name: str
    """A short name for tables."""
    model: str
    """A hub id, a folder, or an embedded model."""
    language: str

    @property
    def label(self) -> str:
        """The name and the language."""
        return f"{self.name}-{self.language}"


@dataclass(frozen=True)
class Auditing:
    """A step: the associations of a model."""

    model: StudiedModel
    protocol: str = "sound"
    seed: int = 42
    weights: str = ""
    """The hash of the model; empty where a step makes it."""
    maker: Debiasing | None = None
    """The step that makes the model, if it does not exist."""
    loading: LoadOptions = field(default_factory=LoadOptions)
    kind = "auditing"
    needs_gpu = True

    @property
    def name(self) -> str:
        """The model, and whether it is fine-tuned."""
        return f"auditing-{self.model.label}-{'after' if self.maker else 'before'}"

    @property
    def needs(self) -> tuple[str, ...]:
        """The fine-tuning, if there is one."""
        return (self.maker.name,) if self.maker else ()

    def audit_options(self) -> AuditOptions:
        """Return what is audited."""
        return make_audit_options(self.model.language, self.protocol, self.seed, self.loading)

    def inputs(self) -> dict[str, Any]:
        """The model and the sentences."""
        measure, options = AssociationMeasure(), self.audit_options()
        units = measure.units(AssociationOptions(), options.context(), [self.model.language], options.corpora)
        asked = [
            [row.sentence, row.target, row.form, row.group]
            for unit in units
            for row in build_rows(unit.language, unit.corpus, protocol=unit.protocol)
        ]
        return {
            "weights": self.weights,
            "protocol": self.protocol,
            "sentences": digest(asked),
            "seed": self.seed,
            "unmask": unmask.__version__,
            "schema": SCHEMA_VERSION,
        }

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Audit the model."""
        del workspace
        model = str(before[self.maker.name] / self.maker.folder) if self.maker else self.model.model
        audit = run_audit(model, self.audit_options(), progress=lambda done, total: say(f"{done:,} of {total:,}"))
        audit.save(draft / AUDIT)


@dataclass(frozen=True)
class Comparing:
    """A step: a model before and after fine-tuning, and what it cost."""

    before: Auditing
    after: Auditing
    kind = "comparing"
    needs_gpu = True

    @property
    def name(self) -> str:
        """The model."""
        return f"comparing-{self.before.model.label}"

    @property
    def needs(self) -> tuple[str, ...]:
        """Both audits, and the model, whose usefulness is measured."""
        return self.before.name, self.after.name, *self.after.needs

    def inputs(self) -> dict[str, Any]:
        """What decides the comparison besides the audits."""
        return {"seed": self.before.seed, "unmask": unmask.__version__, "schema": SCHEMA_VERSION}

    def run(self, draft: Path, before: Mapping[str, Path], workspace: Path, say: Say) -> None:
        """Compare the audits; both models are loaded to measure their usefulness."""
        del workspace
        from unmask.workflows.compare import compare

        audits = [before[step.name] / AUDIT for step in (self.before, self.after)]
        compared = compare(
            *audits,
            progress=lambda done, total: say(f"{done:,} of {total:,}"),
            seed=self.before.seed,
            **dict(self.before.loading),
        )
        compared.save(draft / COMPARISON)


def make_audit_options(language: str, protocol: str, seed: int, loading: LoadOptions) -> AuditOptions:
    """Return the options of an audit of associations in one language."""
    return audit_options()(
        measures=(AssociationMeasure.name,),
        languages=(language,),
        corpora=CORPORA.get(language, ()),
        protocol=protocol,
        seed=seed,
        **dict(loading),
    )


def choose_models(options: ProfessionStudyOptions) -> list[StudiedModel]:
    """Return each model in each of its languages, with short names."""
    pairs: list[tuple[str, str]] = []
    for text in options.models:
        language, sign, model = text.partition("=")
        if sign and not model:
            raise UnmaskError(f"--model {text} names no model; give one, or LANGUAGE=MODEL")
        if sign:
            check_choice(language, AssociationMeasure.languages, f"language in --model {text}:")
        if not sign and text in embedded.MODELS and (others := [name for name in options.languages if name != "en"]):
            raise UnmaskError(f"{text} is an English model; give one with --model {others[0]}=MODEL")
        pairs += [(model, language)] if sign else [(text, language) for language in options.languages]
    models = list(dict.fromkeys(model for model, _ in pairs))
    last_parts = [Path(model).resolve().name if Path(model).is_dir() else Path(model).name for model in models]
    short = [re.sub(r"[^A-Za-z0-9.+-]+", "-", part).strip("-.+")[:40] or "model" for part in last_parts]
    names = dict(zip(models, make_unique(short), strict=True))
    return [StudiedModel(names[model], model, language) for model, language in dict.fromkeys(pairs)]


def steps(options: ProfessionStudyOptions) -> list[Step]:
    """Return the steps of the study."""
    models, loading = choose_models(options), options.loading
    if not models:
        raise UnmaskError("no model or no language was given; give at least one of each")
    for language in options.corpora:
        check_choice(language, {model.language: "" for model in models}, "language of --corpus")
    for model in models:  # what cannot work is reported before anything slow
        audited = make_audit_options(model.language, options.protocol, options.seed, loading)
        choose_measures(ModelHandle(model.model, loading), audited)
    makers = {model: maker for model in models if (maker := plan_training(model, options))}
    _check_training(list(makers.values()), options)
    weights = {model.model: hash_weights(model.model, loading) for model in models}
    planned: list[Step] = []
    for model in models:
        before = Auditing(model, options.protocol, options.seed, weights[model.model], None, loading)
        planned.append(before)
        if maker := makers.get(model):
            after = Auditing(model, options.protocol, options.seed, "", maker, loading)
            planned += [maker, after, Comparing(before, after)]
    return planned


def plan_training(model: StudiedModel, options: ProfessionStudyOptions) -> Debiasing | None:
    """Return the step that fine-tunes a model; None where there is no text in its language."""
    text = options.corpora.get(model.language) or TEXTS.get(model.language)
    if text is None:
        return None
    settings = {**({} if model.language == "en" else {"names": "no"}), **options.settings}
    return Debiasing(
        f"{model.label}-{METHOD}",
        model.model,
        METHOD,
        corpus=(text,),
        settings=tuple(settings.items()),
        seed=options.seed,
        loading=options.loading,
        protocol=options.protocol,
        language=model.language,
        limit=options.limit,
        folder=f"{model.name}-{METHOD}",
    )


def _check_training(makers: list[Debiasing], options: ProfessionStudyOptions) -> None:
    """Raise an error for settings, text and word lists that cannot be used."""
    for name in ("limit", "settings"):
        if getattr(options, name) and not makers:
            raise UnmaskError(
                f"--{'set' if name == 'settings' else name} is for fine-tuning, and no model is fine-tuned; leave it"
                " out, or give text with --corpus LANGUAGE=FILE"
            )
    for maker in makers:
        if options.protocol == "published" and maker.language != "en":
            raise UnmaskError(
                f"the published protocol fine-tunes English models only; leave out --corpus {maker.language}=…, or use"
                " --protocol sound"
            )
        own = method_options(find_method(METHOD), dict(maker.settings), options.protocol)
        if options.protocol == "published" and not getattr(own, "lists", None):
            datasets.locate("cds", offline=options.offline)
        read_corpus(maker.sources, offline=options.offline)
