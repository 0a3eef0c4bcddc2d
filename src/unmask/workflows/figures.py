"""The figures by which models are correlated over measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.measures import registry
from unmask.measures.base import Figure, Measure
from unmask.results import Comparison, MeasureFigure, Measurement


@dataclass(frozen=True)
class Evidence:
    """What is known of a model: its measurements, those of classifiers made of it, and its comparisons."""

    model: str
    measurements: Sequence[Measurement]
    comparisons: Sequence[Comparison] = ()

    def value(self, measure: Measure, figure: Figure) -> float | None:
        """A figure of the first measurement that has it."""
        comparison = next((one for one in self.comparisons if one.name == measure.name), None)
        own = (one for one in self.measurements if one.name == measure.name)
        values = (measure.figure_value(figure, measurement, comparison) for measurement in own)
        return next((value for value in values if value is not None), None)


def model_figures(evidence: Evidence) -> dict[str, float | None]:
    """All figures of a model, by name."""
    return {figure.name: evidence.value(measure, figure) for measure, figure in _declared()}


def described_figures() -> list[MeasureFigure]:
    """What the figures are."""
    return [
        MeasureFigure(name=figure.name, measure=measure.name, extrinsic=measure.of_classifiers, what=figure.what)
        for measure, figure in _declared()
    ]


def _declared() -> list[tuple[Measure, Figure]]:
    measures = sorted(registry.installed(), key=lambda measure: measure.of_classifiers)
    return [(measure, figure) for measure in measures for figure in measure.figures]
