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
from unmask.auditing.sentiment import measure as run_sentiment
from unmask.auditing.settings import LANGUAGES, MEASURES, SEED, Settings, Value
from unmask.errors import UnmaskError, one_of
from unmask.measures import association, sentiment
from unmask.models.kinds import kind_of
from unmask.probes import recorded, recorded_ratings
from unmask.results import AuditResult, Measurement, ModelInfo
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "pandas")
FOR = {"masked-lm": "association", "classifier": "sentiment"}
"""Which measure fits which kind of model."""
RUN = {"association": run_association, "sentiment": run_sentiment}
INTERPRET = {"association": association.interpret, "sentiment": sentiment.interpret}


@dataclass(frozen=True)
class Findings:
    """A result and the items behind it, by measure."""

    result: AuditResult
    items: dict[str, pd.DataFrame]


def run(model: Any, settings: Settings, *, progress: Progress | None = None) -> Findings:
    """Audit a model: a hub id, a folder, loaded `transformers` objects, or any object with the methods of one."""
    import pandas as pd

    settings.check()
    fits = FOR[kind_of(model, settings.loading)]
    if wrong := [measure for measure in settings.measures if measure != fits]:
        raise UnmaskError(_misfit(wrong[0], model))
    settings.refuse_foreign(fits)
    found = RUN[fits](model, settings, progress=progress)
    if not isinstance(model, str | PathLike):
        found.configuration["device"] = "as loaded"
    return Findings(
        _result(found.info, found.configuration, settings.seed, found.measurements),
        {fits: pd.concat(found.items, ignore_index=True)},
    )


def _misfit(measure: str, model: Any) -> str:
    name = str(model) if isinstance(model, str | PathLike) else f"the {type(model).__name__}"
    if measure == "association":
        return f"{name} is a classifier; association needs a masked language model such as BERT"
    return (
        f"{name} has no classification head; sentiment needs a classifier of texts: fine-tune one with"
        " unmask finetune sentiment"
    )


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
    if measure == "sentiment" and score_column is not None:
        raise UnmaskError("--score-column is for association; sentiment needs the columns p_female and p_male")
    path, name = recorded.locate(path, measure)
    analysis: Callable[[pd.DataFrame, int], Measurement]
    if measure == "association":
        items, analysis = recorded.read(path, language, score_column), association.PROTOCOLS[protocol].analyse
        apart = ["language", "corpus"]
    else:
        items, analysis = recorded_ratings.read(path, language), sentiment.PROTOCOLS[protocol].analyse
        apart = ["language", "corpus", "terms"]
    measurements = [
        analysis(of_corpus.reset_index(drop=True), seed).model_copy(
            update={"data_hash": hashlib.sha256(path.read_bytes()).hexdigest()}
        )
        for _, of_corpus in items.groupby(apart, sort=False)
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
