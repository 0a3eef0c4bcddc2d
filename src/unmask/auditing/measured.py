"""What measuring a model came to, before it becomes a result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unmask.auditing.settings import Value
from unmask.results import Measurement, ModelInfo

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Measured:
    """Measurements of a model, and the items of each."""

    info: ModelInfo
    configuration: dict[str, Value]
    measurements: list[Measurement] = field(default_factory=list)
    items: list[pd.DataFrame] = field(default_factory=list)

    def add(self, measurement: Measurement, items: pd.DataFrame) -> None:
        """One more."""
        self.measurements.append(measurement)
        self.items.append(items)


def info_of(subject: Any) -> ModelInfo:
    """Which model it is: as a loaded one says itself, else by its class."""
    if hasattr(subject, "info"):
        found: ModelInfo = subject.info()
        return found
    return ModelInfo(name=type(subject).__name__, architecture="own object")
