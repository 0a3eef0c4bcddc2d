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
from unmask.auditing import foreign
from unmask.auditing.association import measure as run_association
from unmask.auditing.crows_pairs import measure as run_crows_pairs
from unmask.auditing.geometry import measure as run_geometry
from unmask.auditing.inference import measure as run_inference
from unmask.auditing.measured import Measured
from unmask.auditing.sentiment import measure as run_sentiment
from unmask.auditing.settings import AS_LOADED, CORPORA, LANGUAGES, OF, SEED, Settings, Value
from unmask.errors import UnmaskError, one_of
from unmask.measures import association, crows_pairs, geometry, inference, sentiment
from unmask.models.kinds import encodes, kind_of, labels_of
from unmask.probes import recorded, recorded_inference, recorded_ratings, recorded_words
from unmask.results import AuditResult, Measurement, ModelInfo
from unmask.statistics.corrections import holm
from unmask.steps import step

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

LIBRARIES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "pandas")
RUN = {
    "association": run_association,
    "sentiment": run_sentiment,
    "inference": run_inference,
    "geometry": run_geometry,
    "crows-pairs": run_crows_pairs,
}
INTERPRET = {
    "association": association.interpret,
    "sentiment": sentiment.interpret,
    "inference": inference.interpret,
    "geometry": geometry.interpret,
    "crows-pairs": crows_pairs.interpret,
}
ANALYSES = {
    "association": {name: one.analyse for name, one in association.PROTOCOLS.items()},
    "sentiment": {name: one.analyse for name, one in sentiment.PROTOCOLS.items()},
    "inference": {name: one.analyse for name, one in inference.PROTOCOLS.items()},
    "geometry": {name: one.analyse for name, one in geometry.PROTOCOLS.items()},
    "crows-pairs": {name: one.analyse for name, one in crows_pairs.PROTOCOLS.items()},
}
APART = {
    "association": ["language", "corpus"],
    "sentiment": ["language", "corpus", "terms"],
    "inference": ["language", "corpus"],
    "geometry": ["language", "corpus"],
    "crows-pairs": ["language", "corpus"],
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
    for measure in settings.measures:
        foreign.check(measure, settings.languages, settings.protocol)
    measures = chosen(model, settings)
    settings.refuse_foreign(measures)
    found = [_measured(measure, measures[0], model, settings, progress) for measure in measures]
    configuration = _merged(found)
    if not isinstance(model, str | PathLike):
        configuration["device"] = AS_LOADED
    return Findings(
        _result(found[0].info, configuration, settings.seed, [one for each in found for one in each.measurements]),
        {measure: pd.concat(each.items, ignore_index=True) for measure, each in zip(measures, found, strict=True)},
    )


def _measured(measure: str, main: str, model: Any, settings: Settings, progress: Progress | None) -> Measured:
    """Run one measure; if it was run by default and cannot be, the line says how to do without it."""
    try:
        with step(f"Measuring {measure}"):
            if measure not in RUN:
                return foreign.measure(measure, model, settings, progress=progress)
            return RUN[measure](model, settings, progress=progress)
    except UnmaskError as error:
        if measure == main or measure in settings.measures:
            raise
        raise UnmaskError(f"{error} (or leave out {measure}: --measure {main})") from None


def chosen(model: Any, settings: Settings) -> list[str]:
    """Which measures to run: those asked for, all of which must fit the model, else those that fit by themselves."""
    fits = fitting(model, settings)
    if settings.measures:
        for measure in settings.measures:
            if measure not in fits:
                raise UnmaskError(_misfit(measure, model, fits))
        return list(dict.fromkeys(settings.measures))
    usual = [measure for measure in fits if measure in _usual(settings)] or fits[:1]
    named = [measure for measure in usual if set(settings.corpora) & set(CORPORA.get(measure, settings.corpora))]
    return (named or usual[:1]) if settings.corpora else usual


def _usual(settings: Settings) -> set[str]:
    """What is run where nobody says what: geometry as well, if it can be and nothing is said of the main measure's."""
    about_words = any(getattr(settings, name) for name in OF["association"])
    alone = "en" not in settings.languages or settings.protocol != "sound" or about_words
    return {"association", "sentiment", "inference"} | (set() if alone else {"geometry"})


def fitting(model: Any, settings: Settings) -> list[str]:
    """Which measures fit a model, the main first; of those of other packages, only what is asked for is looked at."""
    others = [measure for measure in settings.measures if measure not in RUN]
    return [*_ours(model, settings), *(one for one in others if foreign.fits(one, model, settings.loading))]


def _ours(model: Any, settings: Settings) -> list[str]:
    """Which of our measures fit: by the kind of model, and by what its labels say or the user says of them."""
    kind = kind_of(model, settings.loading)
    if kind in ("encoder", "vectors"):
        return ["geometry"]
    geometric = ["geometry"] if encodes(model, settings.loading) else []
    if kind == "masked-lm":
        return ["association", *geometric, "crows-pairs"]
    if settings.labels or inference.is_inference(labels_of(model, settings.loading)):
        return ["inference", *(geometric if "geometry" in settings.measures else [])]
    main = "inference" if "inference" in settings.measures else "sentiment"
    return [main, *(geometric if "geometry" in settings.measures else [])]


def _merged(found: list[Measured]) -> dict[str, Value]:
    """The settings of all measures; each says which it is."""
    merged = {name: value for each in reversed(found) for name, value in each.configuration.items()}
    first = list(found[0].configuration)
    ordered = {name: merged[name] for name in (*first, *(name for name in merged if name not in first))}
    measures = [name for each in found if isinstance(names := each.configuration["measures"], list) for name in names]
    return ordered | {"measures": measures}


def _misfit(measure: str, model: Any, fits: list[str]) -> str:
    name = str(model) if isinstance(model, str | PathLike) else f"the {type(model).__name__}"
    if plugin := foreign.named(measure):
        return foreign.misfit(plugin, name)
    if fits == ["geometry"]:
        return f"{name} has vectors of words and nothing else; {measure} needs a model with a head, and geometry fits"
    if measure in ("association", "crows-pairs"):
        return f"{name} is a classifier; {measure} needs a masked language model such as BERT"
    if measure == "geometry":
        return f"{name} has no vectors of words in sentences; geometry needs an encoder such as BERT"
    if fits[0] == "inference":
        return (
            f"{name} tells entailment from contradiction and rates nothing; sentiment needs a classifier of texts, and"
            " inference fits this one"
        )
    task, needs = ("nli", "a classifier of pairs") if measure == "inference" else ("sentiment", "a classifier of texts")
    if fits[0] == "sentiment":
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
    measure = measure or recorded.measure_of(path)
    one_of(protocol, association.PROTOCOLS, "protocol")
    plugin = foreign.check(measure, () if language is None else (language,), protocol)
    if plugin is None and language is not None:
        one_of(language, LANGUAGES, "language")
    if measure != "association" and score_column is not None:
        needed = NEEDED.get(measure, "of its own")
        raise UnmaskError(f"--score-column is for association; {measure} needs the columns {needed}")
    path, name = recorded.locate(path, measure)
    if plugin is not None:
        items, measurements = foreign.analyse_recorded(plugin, path, language, seed)
    else:
        items = _items(path, measure, language, protocol, score_column)
        analysis: Callable[[pd.DataFrame, int], Measurement] = ANALYSES[measure][protocol]
        measurements = [
            analysis(of_corpus.reset_index(drop=True), seed)
            for _, of_corpus in items.groupby(APART[measure], sort=False)
        ]
    data_hash = hashlib.sha256(path.read_bytes()).hexdigest()
    measurements = [one.model_copy(update={"data_hash": data_hash}) for one in measurements]
    configuration: dict[str, Value] = {
        "items": str(path),
        "measures": [measure],
        "languages": sorted({measurement.language for measurement in measurements}),
        "protocol": protocol,
        "score_column": score_column,
    }
    info = ModelInfo(name=name, architecture="recorded scores")
    return Findings(_result(info, configuration, seed, measurements), {measure: items})


NEEDED = {
    "sentiment": "p_female and p_male",
    "inference": "p_entailment, p_neutral and p_contradiction",
    "geometry": "that unmask audit has written",
    "crows-pairs": "pll_more and pll_less",
}
READ = {
    "sentiment": recorded_ratings.read,
    "inference": recorded_inference.read,
    "crows-pairs": recorded_words.read_pairs,
}


def _items(path: Path, measure: str, language: str | None, protocol: str, score_column: str | None) -> pd.DataFrame:
    if measure == "association":
        return recorded.read(path, language, score_column)
    if measure == "geometry":
        return recorded_words.read_words(path, language, protocol)
    return READ[measure](path, language)


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
        measurements=[INTERPRET.get(one.name, foreign.interpret)(one) for one in _adjusted(measurements)],
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
