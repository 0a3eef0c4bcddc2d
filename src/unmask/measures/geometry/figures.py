"""Numbers of a geometry result by which models are correlated over measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.geometry.details import Geometry, GeometryChange

if TYPE_CHECKING:
    from unmask.results import Comparison, Measurement

WORD_TESTS = {"told apart": "classification", "neighbours": "neighbours"}


def figure_value(name: str, measurement: Measurement) -> float | None:
    """A word test with the model's own words, or the mean of the association tests."""
    if name in WORD_TESTS:
        test = measurement.read_details(Geometry).test(WORD_TESTS[name])
        return test.value if test else None
    tests = [test for test in measurement.tests.values() if test.labels.get("contrast") == "association"]
    values = [test.value for test in tests if test.value is not None]
    return float(np.mean(values)) if values else None


def compared_figure_value(name: str, comparison: Comparison) -> float | None:
    """A word test of the model after, with the words of the model before."""
    test = comparison.read_details(GeometryChange).test(WORD_TESTS.get(name, ""))
    return test.after if test else None
