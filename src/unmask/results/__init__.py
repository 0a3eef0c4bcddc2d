"""What an audit says, as data: the schema of `result.json`, where it came from, and how it is stored."""

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
    "Effect",
    "Group",
    "Hypothesis",
    "Measurement",
    "ModelInfo",
    "ProfessionValue",
    "Test",
]
