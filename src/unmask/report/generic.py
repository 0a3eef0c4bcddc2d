"""A measurement of which only the schema is known, that of a plug-in, as its section of a page wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unmask.report.pages import Card, capital, count, title
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import ALPHA, side

NO_BREAK = "\N{NO-BREAK SPACE}"
CLEAR, UNCLEAR, UNTESTED = "differs from zero", "no clear difference from zero", "not tested"


def view(measurement: Measurement) -> dict[str, Any]:
    """The cards, plots and tables of a measurement."""
    return {
        "measurement": measurement,
        "title": title(measurement.name, measurement.corpus, measurement.language),
        "agreement": False,
        "source": source(measurement),
        "provenance": list(_provenance(measurement)),
        "cards": [card(name, test) for name, test in measurement.tests.items() if test.value is not None],
        "plots": list(_plots(measurement)),
    }


def verdict(test: Estimate) -> str:
    """Whether an estimate is away from zero beyond chance, after correction, and its interval says the same."""
    p = test.p_value if test.p_adjusted is None else test.p_adjusted
    if p is None or test.value is None:
        return UNTESTED
    return CLEAR if p < ALPHA and (test.interval is None or side(test.interval)) else UNCLEAR


def card(name: str, test: Estimate) -> Card:
    """A test as a key figure."""
    bounds = interval(test.interval).replace(" ", NO_BREAK)
    sure = [f"95 % interval {bounds}" if bounds else "no interval"]
    sure += [f"p {p_value(test.p_adjusted)}"] if test.p_adjusted is not None else []
    return Card(capital(name), with_unit(number(test.value), test), ", ".join(sure), verdict(test), test.question)


def with_unit(text: str, estimate: Estimate) -> str:
    """A number with its unit, if it has one."""
    return f"{text}{NO_BREAK}{estimate.unit}" if estimate.unit else text


def source(measurement: Measurement) -> str:
    """The package that the measure is in."""
    made = measurement.plugin
    return f"{made.package} {made.version}".rstrip() if made else ""


def _plots(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """For each unit, everything that has it: tests first, then groups."""
    from unmask.report import generic_plots

    estimates = [*measurement.tests.values(), *measurement.groups.values()]
    for unit in dict.fromkeys(estimate.unit for estimate in estimates):
        if drawn := generic_plots.forest(measurement.tests, measurement.groups, unit):
            yield unit, drawn


def _provenance(measurement: Measurement) -> Iterator[tuple[str, str]]:
    noise = measurement.noise_floor
    yield "items", count(measurement.items)
    yield "measure of the package", source(measurement)
    yield "noise floor", "not measured" if noise is None else f"{noise:.2g}"
