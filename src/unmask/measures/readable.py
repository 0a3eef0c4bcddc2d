"""Whether the figures of a measurement can be read as bias; the gate, rankings and cards ask here."""

from __future__ import annotations

from unmask.measures import registry
from unmask.results import Measurement


def unreadable(measurement: Measurement, *, group: bool = False) -> str:
    """Why a test's figure, or a group's, cannot be read as bias; empty if it can."""
    measure = registry.find_measure(measurement.name)
    return measure.not_interpretable(measurement, group=group) if measure else ""
