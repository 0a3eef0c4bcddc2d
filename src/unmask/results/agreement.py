"""The part of a comparison's `result.json` that says whether measures agree over models."""

from __future__ import annotations

from pydantic import Field

from unmask.results.record import Interval, Record


class MeasureFigure(Record):
    """One figure of a measure, the same for every model."""

    name: str
    measure: str
    """association, geometry, crows-pairs, sentiment or inference."""
    extrinsic: bool
    """Whether it is about a classifier that was made of the model, not about the model itself."""
    what: str
    """What the figure is, in words."""


class ModelFigures(Record):
    """The figures of one model, by name; null where it has none."""

    model: str
    figures: dict[str, float | None]


class Correlation(Record):
    """How two figures go together over models."""

    first: str
    second: str
    n: int
    """Models that have both."""
    pearson: float | None
    pearson_interval: Interval | None = None
    pearson_p_value: float | None = None
    p_adjusted: float | None = None
    """Pearson's p after Holm's correction over all pairs of figures."""
    spearman: float | None
    spearman_interval: Interval | None = None
    spearman_p_value: float | None = None


class Agreement(Record):
    """Do the measures agree on which model is the more biased?"""

    figures: list[MeasureFigure]
    models: list[ModelFigures]
    correlations: list[Correlation]
    """Of every two figures, once."""
    headline: str = ""
    left_out: dict[str, str] = Field(default_factory=dict)
    """Figures that cannot be compared, and why: too few models, or the same for all."""

    def correlation(self, first: str, second: str) -> Correlation | None:
        """That of two figures, in whichever order."""
        wanted = {first, second}
        return next((one for one in self.correlations if {one.first, one.second} == wanted), None)
