"""One figure a measure for each model: what is set side by side over models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.measures.association.caveats import AGREEMENT
from unmask.measures.geometry.details import Geometry, GeometryChange
from unmask.results import Comparison, MeasureFigure, Measurement


@dataclass(frozen=True)
class Evidence:
    """What is known of a model: its measurements, and those of classifiers that were made of it."""

    model: str
    measurements: Sequence[Measurement]
    change: GeometryChange | None = None
    """Of a model after: its geometry with the words of the model before."""

    def of(self, name: str) -> Measurement | None:
        """The first measurement of a measure that can be read as bias."""
        return next((one for one in self.measurements if one.name == name and not _drowned(one)), None)


def _drowned(one: Measurement) -> bool:
    """Whether grammatical agreement drowns the measure."""
    return any(caveat.code == AGREEMENT for caveat in one.caveats)


def change_of(comparisons: Sequence[Comparison], after: str) -> GeometryChange | None:
    """The first geometry that a model after was compared in."""
    changes = (one for one in comparisons if one.after == after and one.name == "geometry")
    return next((one.read_details(GeometryChange) for one in changes), None)


def _test(measure: str, name: str) -> Callable[[Evidence], float | None]:
    def value(of: Evidence) -> float | None:
        found = of.of(measure)
        return found.tests[name].value if found and name in found.tests else None

    return value


def _group(measure: str, name: str) -> Callable[[Evidence], float | None]:
    def value(of: Evidence) -> float | None:
        found = of.of(measure)
        return found.groups[name].value if found and name in found.groups else None

    return value


def _word_test(name: str) -> Callable[[Evidence], float | None]:
    """Of a model after, with the words of the model before; of that, with its own, which are the same."""

    def value(of: Evidence) -> float | None:
        if of.change is not None:
            changed = of.change.test(name)
            return changed.after if changed else None
        found = of.of("geometry")
        own = found.read_details(Geometry).test(name) if found else None
        return own.value if own else None

    return value


def _associations(of: Evidence) -> float | None:
    found = of.of("geometry")
    tests = [one for one in found.tests.values() if one.labels.get("contrast") == "association"] if found else []
    values = [one.value for one in tests if one.value is not None]
    return float(np.mean(values)) if values else None


FIGURES: dict[str, tuple[MeasureFigure, Callable[[Evidence], float | None]]] = {
    name: (MeasureFigure(name=name, measure=measure, extrinsic=extrinsic, what=what), of)
    for name, measure, extrinsic, what, of in (
        ("association", "association", False, "stereotype in nats", _test("association", "stereotype")),
        ("professions", "geometry", False, "r of bias with what people say", _test("geometry", "stereotype")),
        ("told apart", "geometry", False, "share that a classifier of words gets right", _word_test("classification")),
        ("neighbours", "geometry", False, "r of bias with the words around", _word_test("neighbours")),
        ("WEAT/SEAT", "geometry", False, "mean effect size d", _associations),
        ("CrowS-Pairs", "crows-pairs", False, "share of pairs", _group("crows-pairs", "all pairs")),
        (
            "sentiment",
            "sentiment",
            True,
            "mean of male − female ratings",
            _group("sentiment", "total bias, changed texts"),
        ),
        (
            "sentiment, size",
            "sentiment",
            True,
            "mean size of male − female ratings",
            _group("sentiment", "absolute bias, changed texts"),
        ),
        ("NLI-CoAL", "inference", True, "the paper's score", _group("inference", "NLI-CoAL")),
        ("inference", "inference", True, "stereotype, share of answers", _test("inference", "stereotype")),
    )
}
"""By name: what a figure is, and how it is read off a model's measurements."""
