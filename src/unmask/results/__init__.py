"""What an audit or a comparison says, as data: the schema of `result.json`, where it came from, how it is stored."""

from unmask.results.agreement import Agreement, Correlation, MeasureFigure, ModelFigures
from unmask.results.comparison import (
    Change,
    Comparison,
    ComparisonResult,
    Figure,
    Side,
    Usefulness,
    Verdict,
)
from unmask.results.record import Interval, Record
from unmask.results.schema import (
    SCHEMA_VERSION,
    AuditResult,
    Caveat,
    Effect,
    Estimate,
    Measurement,
    ModelInfo,
    Origin,
)

__all__ = [
    "SCHEMA_VERSION",
    "Agreement",
    "AuditResult",
    "Caveat",
    "Change",
    "Comparison",
    "ComparisonResult",
    "Correlation",
    "Effect",
    "Estimate",
    "Figure",
    "Interval",
    "MeasureFigure",
    "Measurement",
    "ModelFigures",
    "ModelInfo",
    "Origin",
    "Record",
    "Side",
    "Usefulness",
    "Verdict",
]
