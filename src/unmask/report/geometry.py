"""A measurement of geometry as its section of a page wants it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unmask.measures.geometry.details import ClusterCount, Geometry, WordTest
from unmask.report.geometry_cards import associations_of, bounds, cards, geometry_of, shown
from unmask.report.geometry_strips import NAMES
from unmask.report.pages import count, p, percent, title
from unmask.results import Measurement
from unmask.results.numbers import number

if TYPE_CHECKING:
    import pandas as pd

SPACES = {False: "As it is", True: "With the gender direction taken out"}
MOST_MISSING = 60


@dataclass(frozen=True)
class Row:
    """A test in words."""

    name: str
    n: str
    value: str
    bounds: str
    chance: str
    others: str
    range: str
    p: str
    adjusted: str


def view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """The cards, plots and tables of a measurement."""
    from unmask.report import geometry_map, geometry_plots

    geometry, tests = geometry_of(measurement), associations_of(measurement)
    mapped = geometry_map.mapped(items, measurement)
    compared = max((one.reference.contrasts for one in geometry.tests if one.reference), default=0)
    return {
        "measurement": measurement,
        "geometry": geometry,
        "title": title(measurement.name, measurement.corpus, measurement.language),
        "agreement": False,
        "provenance": list(_provenance(measurement, geometry)),
        "cards": list(cards(measurement)),
        "strips": list(_strips(geometry)),
        "rows": [(SPACES[removed], rows) for removed in SPACES if (rows := list(rows_of(measurement, removed)))],
        "compared": compared,
        "least": 1 / (1 + compared),
        "map": "" if mapped is None else geometry_map.word_map(mapped),
        "drawn": 0 if mapped is None else len(mapped),
        "astray": 0 if mapped is None else int(geometry_map.astray(mapped).sum()),
        "professions": list(_professions(geometry)),
        "scan": geometry_plots.scan(geometry.scan),
        "counts": _counts(geometry.scan),
        "associations": tests,
        "ranges": geometry_plots.ranges(tests),
        "facts": list(_facts(geometry, compared=compared > 0)),
        "missing": geometry.missing[:MOST_MISSING],
        "hidden": max(0, len(geometry.missing) - MOST_MISSING),
    }


def rows_of(measurement: Measurement, removed: bool) -> Iterator[Row]:
    """The tests of the model's own words, in one space."""
    geometry = geometry_of(measurement)
    for name, called in NAMES.items():
        one = geometry.test(name, removed=removed)
        if one is None:
            continue
        found, test = one.reference, measurement.tests.get(name)
        yield Row(
            called,
            count(one.n),
            shown(one, one.value),
            bounds(one, one.interval),
            _chance(one),
            shown(one, found.mean) if found else "–",
            bounds(one, (found.low, found.high)) if found else "",
            p(found.p_value) if found else "–",
            p(test.p_adjusted) if test and removed else "–",
        )


def _chance(one: WordTest) -> str:
    if one.chance is None:
        return "–"
    return shown(one, one.chance) + (f", up to {shown(one, one.chance_high)}" if one.chance_high is not None else "")


def _strips(geometry: Geometry) -> Iterator[tuple[str, str]]:
    from unmask.report import geometry_strips

    own = [one for name in NAMES for removed in SPACES if (one := geometry.test(name, removed=removed)) is not None]
    if any(one.reference for one in own):
        scale = geometry_strips.shares_scale(own)
        for removed, name in SPACES.items():
            if drawn := geometry_strips.strips([one for one in own if one.removed == removed], scale):
                yield name, drawn


def _professions(geometry: Geometry) -> Iterator[tuple[str, str, str]]:
    """The scatter plots, with the name of the space and the correlation."""
    from unmask.report import geometry_professions

    for removed, name in SPACES.items():
        one = geometry.test("neighbours", removed=removed)
        if drawn := geometry_professions.professions_plot(geometry.professions, removed=removed):
            yield name, drawn, number(one.value) if one else "–"


def _counts(scan: list[ClusterCount]) -> list[tuple[int, list[ClusterCount | None]]]:
    """Numbers of clusters, and what came of them in each space."""
    found = {(one.clusters, one.removed): one for one in scan}
    return [(k, [found.get((k, removed)) for removed in SPACES]) for k in sorted({one.clusters for one in scan})]


def _facts(geometry: Geometry, *, compared: bool) -> Iterator[str]:
    """What the vectors are and whose they are, in sentences."""
    if geometry.dimensions:
        yield f"Vectors: {geometry.vectors}; {count(geometry.dimensions)} dimensions."
        others = ", and the other contrasts are chosen to be about as like" if compared else ""
        ends = f"Its two ends have a cosine of {number(geometry.likeness, 3)}"
        yield f"Gender direction: {geometry.direction}. {ends}{others}."
    yield (
        f"{count(geometry.words)} words were measured, of which {percent(geometry.male_share)} lie on the male side of"
        " zero."
    )
    if geometry.left_out:
        reasons = "; ".join(f"{reason}: {count(number)}" for reason, number in geometry.left_out.items())
        yield f"{count(sum(geometry.left_out.values()))} words were not asked about ({reasons})."
    if not geometry.missing:
        yield "Every word that was asked for has a vector."


def _provenance(measurement: Measurement, geometry: Geometry) -> Iterator[tuple[str, str]]:
    yield "words", count(geometry.words)
    yield "vectors", geometry.vectors
    yield "gender direction", geometry.direction
    yield "dimensions", count(geometry.dimensions)
    yield "without a vector", count(len(geometry.missing))
    noise = measurement.noise_floor
    yield "noise floor", "not measured" if noise is None else f"{noise:.2g}"
