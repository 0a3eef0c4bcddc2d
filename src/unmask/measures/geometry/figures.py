"""Numbers of a geometry result by which models are correlated over measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.geometry.details import Geometry, GeometryChange

if TYPE_CHECKING:
    from unmask.results import Comparison, Measurement

WORD_TESTS = {"told apart": "classification", "neighbours": "neighbours"}


def figure_value(name: str, measurement: Measurement, comparison: Comparison | None) -> float | None:
    """A word test, or the mean of the association tests.

    Word tests of a model after are those with the words of the model before; those with its own words cannot be
    compared.
    """
    if name in WORD_TESTS and comparison is not None:
        change = comparison.read_details(GeometryChange).test(WORD_TESTS[name])
        return change.after if change else None
    if name in WORD_TESTS:
        test = measurement.read_details(Geometry).test(WORD_TESTS[name])
        return test.value if test else None
    tests = [test for test in measurement.tests.values() if test.labels.get("contrast") == "association"]
    values = [test.value for test in tests if test.value is not None]
    return float(np.mean(values)) if values else None
