"""Run an audit, or analyse recorded scores; every test is corrected for all the others."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unmask
from unmask.auditing.association import measure as run_association
from unmask.auditing.inference import measure as run_inference
from unmask.auditing.sentiment import measure as run_sentiment
from unmask.auditing.settings import LANGUAGES, MEASURES, SEED, Settings, Value
from unmask.errors import UnmaskError, one_of
from unmask.measures import association, inference, sentiment
from unmask.models.kinds import kind_of, labels_of
from unmask.probes import recorded, recorded_inference, recorded_ratings
from unmask.results import AuditResult, Measurement, ModelInfo
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "pandas")
RUN = {"association": run_association, "sentiment": run_sentiment, "inference": run_inference}
INTERPRET = {
    "association": association.interpret,
    "sentiment": sentiment.interpret,
    "inference": inference.interpret,
}
ANALYSES = {
    "association": {name: one.analyse for name, one in association.PROTOCOLS.items()},
    "sentiment": {name: one.analyse for name, one in sentiment.PROTOCOLS.items()},
    "inference": {name: one.analyse for name, one in inference.PROTOCOLS.items()},
}
APART = {
    "association": ["language", "corpus"],
    "sentiment": ["language", "corpus", "terms"],
    "inference": ["language", "corpus"],
}
"""What items are told apart by; each kind is analysed by itself."""


@dataclass(frozen=True)
class Findings:
    """A result and the items behind it, by measure."""

    result: AuditResult
    items: dict[str, pd.DataFrame]


def run(model: Any, settings: Settings, *, progress: Progress | None = None) -> Findings:
    """Audit a model: a hub id, a folder, loaded `transformers` objects, or any object with the methods of one."""
    import pandas as pd

    settings.check()
    fits = fitting(model, settings)
    if wrong := [measure for measure in settings.measures if measure != fits]:
        raise UnmaskError(_misfit(wrong[0], model, fits))
    settings.refuse_foreign(fits)
    found = RUN[fits](model, settings, progress=progress)
    if not isinstance(model, str | PathLike):
        found.configuration["device"] = "as loaded"
    return Findings(
        _result(found.info, found.configuration, settings.seed, found.measurements),
        {fits: pd.concat(found.items, ignore_index=True)},
    )


def fitting(model: Any, settings: Settings) -> str:
    """Which measure fits a model: by its kind, and by what its labels say or the user says of them."""
    if kind_of(model, settings.loading) == "masked-lm":
        return "association"
    if settings.labels or inference.is_inference(labels_of(model, settings.loading)):
        return "inference"
    return "inference" if list(settings.measures) == ["inference"] else "sentiment"


def _misfit(measure: str, model: Any, fits: str) -> str:
    name = str(model) if isinstance(model, str | PathLike) else f"the {type(model).__name__}"
    if measure == "association":
        return f"{name} is a classifier; association needs a masked language model such as BERT"
    if fits == "inference":
        return (
            f"{name} tells entailment from contradiction and rates nothing; sentiment needs a classifier of texts, and"
            " inference fits this one"
        )
    task, needs = ("nli", "a classifier of pairs") if measure == "inference" else ("sentiment", "a classifier of texts")
    if fits == "sentiment":
        return f"{name} has labels that are not of inference; inference needs entailment, neutral and contradiction"
    return f"{name} has no classification head; {measure} needs {needs}: fine-tune one with unmask finetune {task}"


def analyse(
    path: Path,
    *,
    measure: str | None = None,
    language: str | None = None,
    protocol: str = "sound",
    score_column: str | None = None,
    seed: int = SEED,
) -> Findings:
    """Analyse recorded scores, without the model that gave them; the measure is found from what is there."""
    measure = recorded.measure_of(path) if measure is None else one_of(measure, MEASURES, "measure")
    if language is not None:
        one_of(language, LANGUAGES, "language")
    one_of(protocol, association.PROTOCOLS, "protocol")
    if measure != "association" and score_column is not None:
        raise UnmaskError(f"--score-column is for association; {measure} needs the columns {NEEDED[measure]}")
    path, name = recorded.locate(path, measure)
    items = _items(path, measure, language, score_column)
    analysis: Callable[[pd.DataFrame, int], Measurement] = ANALYSES[measure][protocol]
    measurements = [
        analysis(of_corpus.reset_index(drop=True), seed).model_copy(
            update={"data_hash": hashlib.sha256(path.read_bytes()).hexdigest()}
        )
        for _, of_corpus in items.groupby(APART[measure], sort=False)
    ]
    configuration: dict[str, Value] = {
        "items": str(path),
        "measures": [measure],
        "languages": sorted({measurement.language for measurement in measurements}),
        "protocol": protocol,
        "score_column": score_column,
    }
    info = ModelInfo(name=name, architecture="recorded scores")
    return Findings(_result(info, configuration, seed, measurements), {measure: items})


NEEDED = {"sentiment": "p_female and p_male", "inference": "p_entailment, p_neutral and p_contradiction"}


def _items(path: Path, measure: str, language: str | None, score_column: str | None) -> pd.DataFrame:
    if measure == "association":
        return recorded.read(path, language, score_column)
    return recorded_ratings.read(path, language) if measure == "sentiment" else recorded_inference.read(path, language)


def _result(
    info: ModelInfo,
    configuration: dict[str, Value],
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
        measurements=[INTERPRET[one.name](one) for one in _adjusted(measurements)],
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
