"""What a user asks for: pick the measures that fit a model and run them; or analyse recorded scores alone."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask.errors import UnmaskError, one_of
from unmask.measures import association
from unmask.models.loading import load_masked_lm
from unmask.models.sources import LoadOptions
from unmask.probes import association as probe
from unmask.probes import recorded
from unmask.results import AuditResult, Measurement, ModelInfo
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

MEASURES = ("association",)
LANGUAGES = tuple(probe.CORPORA)
LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "pandas")
SEED = 42


@dataclass(frozen=True)
class Settings:
    """What to measure and how; the defaults are the sound ones."""

    measures: Sequence[str] = MEASURES
    languages: Sequence[str] = ("en",)
    protocol: str = "sound"
    corpora: Sequence[str] = ()
    """Empty: BEC-Pro and, in the sound protocol for German, the agreement-free corpus."""
    templates: Path | None = None
    persons: Path | None = None
    professions: Path | None = None
    seed: int = SEED
    loading: LoadOptions = field(default_factory=LoadOptions)

    def check(self) -> None:
        """Refuse what is unknown before anything slow happens."""
        for measure in self.measures:
            one_of(measure, MEASURES, "measure")
        for language in self.languages:
            one_of(language, LANGUAGES, "language")
        one_of(self.protocol, association.PROTOCOLS, "protocol")
        if self.seed < 0:
            raise UnmaskError(f"seed {self.seed} is negative; give 0 or more")
        for what in ("measures", "languages"):
            if not getattr(self, what):
                raise UnmaskError(f"no {what} were given; give at least one, or leave them out for the default")
        if len(self.languages) > 1 and self._custom:
            raise UnmaskError("files of your own are for one language; give one --language with them")
        if self.protocol == "published" and (self._custom or set(self.corpora) - {"bec-pro"}):
            raise UnmaskError(
                "the published protocol repeats the paper's corpus and no other; use --protocol sound for other corpora"
                " and for words of your own"
            )

    @property
    def _custom(self) -> bool:
        return any((self.templates, self.persons, self.professions))

    def corpora_of(self, language: str) -> Sequence[str]:
        """Which corpora to run in a language."""
        if self.corpora:
            return self.corpora
        plain = language != "de" or self._custom or self.protocol != "sound"
        return ("bec-pro",) if plain else ("bec-pro", "agreement-free")

    def resolved(self) -> dict[str, str | int | float | bool | list[str] | None]:
        """Every setting, for the result."""
        return {
            "measures": list(self.measures),
            "languages": list(self.languages),
            "protocol": self.protocol,
            "corpora": [f"{language}/{corpus}" for language in self.languages for corpus in self.corpora_of(language)],
            "templates": _path(self.templates),
            "persons": _path(self.persons),
            "professions": _path(self.professions),
            "device": self.loading.device,
            "offline": self.loading.offline,
            "allow_pickle": self.loading.allow_pickle,
            "allow_remote_code": self.loading.allow_remote_code,
        }


@dataclass(frozen=True)
class Findings:
    """A result and the items behind it, by measure."""

    result: AuditResult
    items: dict[str, pd.DataFrame]


def run(model: Any, settings: Settings, *, progress: Progress | None = None) -> Findings:
    """Audit a model: a hub id, a folder, loaded `transformers` objects, or any object with the `MaskedLM` method."""
    import pandas as pd

    settings.check()
    protocol = association.PROTOCOLS[settings.protocol]
    corpora = [
        probe.build(
            language,
            corpus,
            wording=protocol.wording,
            templates_file=settings.templates,
            persons_file=settings.persons,
            professions_file=settings.professions,
        )
        for language in settings.languages
        for corpus in settings.corpora_of(language)
    ]
    subject = load_masked_lm(model, settings.loading, progress=progress)
    info = (
        subject.info()
        if hasattr(subject, "info")
        else ModelInfo(name=type(subject).__name__, architecture="own object")
    )
    measurements, items = [], []
    for rows in corpora:
        scored = association.score(rows, subject, protocol, seed=settings.seed)
        measurement = protocol.analyse(scored.items, settings.seed)
        measurements.append(
            measurement.model_copy(
                update={
                    "noise_floor": scored.noise_floor,
                    "distinct_inputs": scored.distinct_inputs,
                    "several_pieces": scored.several_pieces,
                    "data_hash": _hash(row.sentence for row in rows),
                    "caveats": [*association.precision_caveats(info.dtype), *measurement.caveats],
                }
            )
        )
        items.append(scored.items)
    configuration = settings.resolved()
    if not isinstance(model, str | PathLike):
        configuration["device"] = "as loaded"
    return Findings(
        _result(info, configuration, settings.seed, measurements),
        {"association": pd.concat(items, ignore_index=True)},
    )


def analyse(
    path: Path,
    *,
    measure: str = "association",
    language: str | None = None,
    protocol: str = "sound",
    score_column: str | None = None,
    seed: int = SEED,
) -> Findings:
    """Analyse recorded scores, without the model that gave them."""
    one_of(measure, MEASURES, "measure")
    if language is not None:
        one_of(language, LANGUAGES, "language")
    chosen = association.PROTOCOLS[one_of(protocol, association.PROTOCOLS, "protocol")]
    path, name = recorded.locate(path, measure)
    items = recorded.read(path, language, score_column)
    measurements = [
        chosen.analyse(of_corpus.reset_index(drop=True), seed).model_copy(
            update={"data_hash": hashlib.sha256(path.read_bytes()).hexdigest()}
        )
        for _, of_corpus in items.groupby(["language", "corpus"], sort=False)
    ]
    configuration: dict[str, str | int | float | bool | list[str] | None] = {
        "items": str(path),
        "measures": [measure],
        "languages": sorted({measurement.language for measurement in measurements}),
        "protocol": protocol,
        "score_column": score_column,
    }
    info = ModelInfo(name=name, architecture="recorded scores")
    return Findings(_result(info, configuration, seed, measurements), {measure: items})


def _result(
    info: ModelInfo,
    configuration: dict[str, str | int | float | bool | list[str] | None],
    seed: int,
    measurements: list[Measurement],
) -> AuditResult:
    return AuditResult(
        unmask_version=unmask.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        model=info,
        configuration=configuration,
        libraries={"python": platform.python_version()} | {name: metadata.version(name) for name in LIBRARIES},
        seed=seed,
        measurements=[association.interpret(measurement) for measurement in _adjusted(measurements)],
    )


def _adjusted(measurements: list[Measurement]) -> list[Measurement]:
    """Holm's correction over all tests of the audit, except where a protocol brought its own."""
    places = [
        (at, name)
        for at, measurement in enumerate(measurements)
        for name, test in measurement.tests.items()
        if test.p_adjusted is None
    ]
    adjusted = holm([measurements[at].tests[name].p_value for at, name in places])
    tests = [dict(measurement.tests) for measurement in measurements]
    for (at, name), p in zip(places, adjusted, strict=True):
        tests[at][name] = tests[at][name].model_copy(update={"p_adjusted": p})
    return [measurement.model_copy(update={"tests": of}) for measurement, of in zip(measurements, tests, strict=True)]


def _hash(sentences: Any) -> str:
    return hashlib.sha256("\n".join(sentences).encode()).hexdigest()


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)
