"""What an audit or a comparison says, as data: the schema of `result.json`, where it came from, how it is stored."""

from unmask.results.comparison import (
    Change,
    Comparison,
    ComparisonResult,
    Figure,
    HypothesisChange,
    ProfessionChange,
    Side,
    TableRow,
    Usefulness,
    Verdict,
)
from unmask.results.schema import (
    SCHEMA_VERSION,
    AuditResult,
    Caveat,
    Effect,
    Group,
    Hypothesis,
    Measurement,
    ModelInfo,
    ProfessionValue,
    Test,
)

__all__ = [
    "SCHEMA_VERSION",
    "AuditResult",
    "Caveat",
    "Change",
    "Comparison",
    "ComparisonResult",
    "Effect",
    "Figure",
    "Group",
    "Hypothesis",
    "HypothesisChange",
    "Measurement",
    "ModelInfo",
    "ProfessionChange",
    "ProfessionValue",
    "Side",
    "TableRow",
    "Test",
    "Usefulness",
    "Verdict",
]
