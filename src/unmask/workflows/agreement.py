"""Across measures: over several models, do they agree on which is the more biased?

Each measure gives one figure per model, or two. For every two figures, Pearson's r with Fisher's interval and
Spearman's ρ with that of Bonett and Wright (2000) are computed over the models that have both; Pearson's p-values are
corrected together (Holm).

Over fewer than eight models nothing is correlated: of two unrelated figures of four models, |r| exceeds .9 in one case
of ten. Nor is the bias of a classifier that has not learned its task: it is what training began with. Models that were
made from one another are no sample of all models, which a caveat says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.measures import registry
from unmask.measures.base import KeyEstimate, Measure
from unmask.models.handle import make_handle
from unmask.options import LoadOptions
from unmask.results import Agreement, Caveat, Comparison, Correlation, MeasureFigure, Measurement, ModelFigures
from unmask.results.formatting import number, percent
from unmask.results.verdict import is_significant
from unmask.statistics.corrections import holm
from unmask.statistics.correlation import ROUNDING, evaluate_ranking
from unmask.workflows.audit import Audit, choose_measures, run_audit
from unmask.workflows.audit_options import audit_options

if TYPE_CHECKING:
    from unmask.models.roles import Progress
    from unmask.workflows.compared_models import Subject

FEWEST_MODELS = 8
"""Models that a correlation needs."""


@dataclass(frozen=True)
class ModelEvidence:
    """What is known of a model: its measurements, those of classifiers made of it, and its comparisons."""

    model: str
    measurements: Sequence[Measurement]
    comparisons: Sequence[Comparison] = ()

    def find_value(self, measure: Measure, figure: KeyEstimate) -> float | None:
        """A figure of the first measurement that has it."""
        comparison = next((comparison for comparison in self.comparisons if comparison.name == measure.name), None)
        measurements = (
            measurement
            for measurement in self.measurements
            if measurement.name == measure.name and not measurement.explain_incompetence()
        )
        values = (measure.key_estimate_value(figure, measurement, comparison) for measurement in measurements)
        return next((value for value in values if value is not None), None)

    def figures(self) -> dict[str, float | None]:
        """All figures of the model, by name."""
        return {figure.name: self.find_value(measure, figure) for measure, figure in _declared_estimates()}


def _declared_estimates() -> list[tuple[Measure, KeyEstimate]]:
    measures = sorted(registry.installed(), key=lambda measure: measure.of_classifiers)
    return [(measure, figure) for measure in measures for figure in measure.key_estimates if figure.name]


@dataclass
class Evidence:
    """What was measured of each model, the audits that were made for it, and why something is missing."""

    models: list[ModelEvidence] = field(default_factory=list)
    audits: dict[str, Audit] = field(default_factory=dict)
    caveats: list[Caveat] = field(default_factory=list)


def gather_evidence(
    subjects: Sequence[Subject],
    comparisons: Sequence[Comparison],
    classifiers: Mapping[str, Mapping[str, Path]],
    *,
    seed: int,
    loading: LoadOptions,
    progress: Progress | None = None,
) -> Evidence:
    """All measurements of each model; `classifiers` are those made of them, by task and by the name of the model."""
    text = (
        f"Measures are compared over {len(subjects)} models. So few, made from one another or chosen by hand, are"
        " no sample of models: the correlation describes these models, and says little about others."
    )
    evidence = Evidence(caveats=[Caveat(code="few-models", text=text)])
    for subject in subjects:
        measurements = list(subject.result.measurements)
        for measure in _further_measures(measurements):
            measurements += _audit_again(subject, measure, evidence, seed=seed, loading=loading)
        for task, folders in classifiers.items():
            if subject.name in folders:
                if reason := explain_failure(folders[subject.name]):
                    text = f"{subject.name}, {task}: {reason}, so the bias of the classifier is not compared."
                    evidence.caveats.append(Caveat(code="task-not-learned", text=text))
                    continue
                audit = _audit_classifier(folders[subject.name], seed=seed, loading=loading, progress=progress)
                evidence.audits[f"{subject.name}-{task}"] = audit
                measurements += audit.result.measurements
        own_comparisons = [comparison for comparison in comparisons if comparison.after == subject.name]
        evidence.models.append(ModelEvidence(subject.name, measurements, own_comparisons))
    return evidence


def explain_failure(classifier: Path) -> str:
    """Why a fine-tuned classifier has not learned its task, by its `metrics.json`; empty if it has.

    It has if the lower end of the interval of its accuracy exceeds the share of the most frequent label.
    """
    metrics = json.loads((classifier / "metrics.json").read_text(encoding="utf-8"))["metrics"]
    tested = metrics.get("test") or metrics["validation"]
    most = max(label["count"] for label in tested["labels"].values()) / tested["examples"]
    if tested["accuracy_interval"][0] > most:
        return ""
    return (
        f"with an accuracy of {percent(tested['accuracy'])}, the task was not learned (always the most frequent label:"
        f" {percent(most)})"
    )


def refuse_few_models(models: int) -> Agreement:
    """What is said of fewer than `FEWEST_MODELS` models."""
    headline = (
        f"Whether the measures agree was not tested: over {models} models, unrelated figures correlate strongly by"
        f" chance. It takes {FEWEST_MODELS} models."
    )
    return Agreement(figures=[], models=[], correlations=[], headline=headline)


def _audit_classifier(folder: Path, *, seed: int, loading: LoadOptions, progress: Progress | None) -> Audit:
    """Audit a classifier on corpora of the package, which are few items and the same on every machine."""
    options = audit_options()(seed=seed, **dict(loading))
    handle = make_handle(str(folder), loading, progress=progress)
    measures = choose_measures(handle, options)
    packaged = [[corpus for corpus in measure.corpora if corpus not in datasets.built_in()] for measure in measures]
    corpora = tuple(names[0] for names in packaged if names)
    return run_audit(handle, options.replace(corpora=corpora), progress=progress)


def _further_measures(measurements: Sequence[Measurement]) -> list[Measure]:
    """Measures with a dataset of their own that ask the same role of a model, and were not run."""
    run = [registry.get_measure(measurement.name) for measurement in measurements]
    roles = {measure.roles for measure in run if measure.main}
    return [
        measure
        for measure in registry.built_in()
        if measure.dataset and measure.roles in roles and measure not in run
        if any(figure.name for figure in measure.key_estimates)
    ]


def _audit_again(
    subject: Subject, measure: Measure, evidence: Evidence, *, seed: int, loading: LoadOptions
) -> list[Measurement]:
    """Measure a model with one more measure; a caveat where that cannot be done."""
    try:
        if not datasets.is_present(measure.dataset):
            raise UnmaskError(f"it is not on this machine; {datasets.FOLDER_VARIABLE} names the folder of datasets")
        if not isinstance(subject.model, str | PathLike):
            raise UnmaskError(f"{subject.name} is not a folder or name that can be loaded again")
        subject.masked_lm()
    except UnmaskError as error:
        text = f"{measure.heading} not measured: {str(error).rstrip('.')}."
        caveat = Caveat(code=f"{measure.name}-not-measured", text=text)
        evidence.caveats += [] if caveat in evidence.caveats else [caveat]
        return []
    audit = run_audit(subject.reload(), audit_options()(measures=(measure.name,), seed=seed, **dict(loading)))
    evidence.audits[f"{subject.name}-{measure.name}"] = audit
    return audit.result.measurements


def compare_measures(evidence: Sequence[ModelEvidence]) -> Agreement:
    """The figures of each model, and how they correlate."""
    figures = [
        MeasureFigure(name=figure.name, measure=measure.name, extrinsic=measure.of_classifiers, what=figure.what)
        for measure, figure in _declared_estimates()
    ]
    return correlate_figures([ModelFigures(model=model.model, figures=model.figures()) for model in evidence], figures)


def correlate_figures(models: Sequence[ModelFigures], figures: Sequence[MeasureFigure]) -> Agreement:
    """How figures correlate over models; those that too few have, or that are the same for all, are left out."""
    columns = {
        figure.name: np.array([model.figures.get(figure.name, np.nan) for model in models], dtype=float)
        for figure in figures
    }
    columns = {name: values for name, values in columns.items() if np.isfinite(values).any()}
    left_out = {name: reason for name, values in columns.items() if (reason := _reason_to_leave_out(values))}
    compared = [name for name in columns if name not in left_out]
    pairs = [_correlate(first, second, columns) for first, second in combinations(compared, 2)]
    corrected = holm([pair.pearson_p_value for pair in pairs])
    pairs = [pair.model_copy(update={"p_adjusted": p}) for pair, p in zip(pairs, corrected, strict=True)]
    return Agreement(
        figures=[figure for figure in figures if figure.name in columns],
        models=[
            ModelFigures(model=model.model, figures={name: model.figures.get(name) for name in columns})
            for model in models
        ],
        correlations=pairs,
        headline=_write_headline(pairs, {figure.name: figure for figure in figures}, len(models)),
        left_out=left_out,
    )


def _reason_to_leave_out(values: NDArray[np.float64]) -> str:
    finite = values[np.isfinite(values)]
    if finite.size < FEWEST_MODELS:
        return f"{finite.size} models have it, and {FEWEST_MODELS} are needed"
    return "the same for all models" if np.ptp(finite) <= ROUNDING * np.abs(finite).max() else ""


def _correlate(first: str, second: str, columns: Mapping[str, NDArray[np.float64]]) -> Correlation:
    ranking = evaluate_ranking(columns[first], columns[second])
    if ranking.n < FEWEST_MODELS:
        return Correlation(first=first, second=second, n=ranking.n, pearson=None, spearman=None)
    return Correlation(
        first=first,
        second=second,
        n=ranking.n,
        pearson=ranking.pearson.value,
        pearson_interval=ranking.pearson.interval,
        pearson_p_value=ranking.pearson.p_value,
        spearman=ranking.spearman.value,
        spearman_interval=ranking.spearman.interval,
        spearman_p_value=ranking.spearman.p_value,
    )


def _write_headline(pairs: Sequence[Correlation], figures: Mapping[str, MeasureFigure], models: int) -> str:
    correlated = [(pair, pair.pearson) for pair in pairs if pair.pearson is not None]
    if not correlated:
        return f"Over {models} models no two figures can be compared."
    clear = [
        f"{pair.first} and {pair.second} (r = {number(r)})" for pair, r in correlated if is_significant(pair.p_adjusted)
    ]
    share = f"{len(clear)} of {len(correlated)} pairs of figures"
    headline = f"Over {models} models, {share} correlate beyond chance after correction"
    headline += f": {'; '.join(clear)}." if clear else "."
    between = [r for pair, r in correlated if figures[pair.first].extrinsic != figures[pair.second].extrinsic]
    if between:
        headline += (
            f" Between figures of the models and figures of the classifiers made of them, r lies between"
            f" {number(min(between))} and {number(max(between))} ({len(between)} pairs)."
        )
    return headline
