"""The tests of the most biased words, compared with unrelated contrasts: figures and tables for the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from unmask.measures.geometry.details import Geometry, WordTest
from unmask.measures.geometry.plots import draw_strips
from unmask.report.blocks import Block, Cell, Column, Figure, Legend, Section, Table, Text
from unmask.report.pages import count, p, percent
from unmask.results import Interval, Measurement
from unmask.results.numbers import number

NO_BREAK = "\N{NO-BREAK SPACE}"
SPACES = {False: "Original", True: "Gender direction removed"}
"""The two spaces, by whether the gender direction is removed."""
TESTS = {
    "clustering": "Two clusters",
    "probe": "Linear probe",
    "classification": "Classifier",
    "neighbours": "Neighbours, r",
}
STRIP_LEGEND = Legend(
    [("diamond", "gender"), ("open", "an unrelated contrast"), ("stroke", "mean of the unrelated contrasts")]
)


def word_tests(measurement: Measurement, geometry: Geometry) -> Iterator[Section]:
    """What gender gives in each test, compared with unrelated contrasts."""
    tests = {removed: _own_tests(geometry, removed=removed) for removed in SPACES}
    values = [test for own in tests.values() for test in own]
    if measurement.protocol != "sound" or not values:
        return
    contrasts = max((test.reference.contrasts for test in geometry.tests if test.reference), default=0)
    examples = "; ".join(geometry.contrasts[:2]).replace("_", " ")
    shown = _CONTRASTS.format(count(contrasts), f" ({examples})" if examples else "") if contrasts else _NOT_COMPARED
    content: list[Block] = [Text([f"{_CHOSEN} {shown}"], "note")]
    if contrasts:
        named = {removed: [(TESTS[test.name], test) for test in own] for removed, own in tests.items()}
        figures = [
            Figure(
                space,
                partial(draw_strips, drawn, values, correlations=correlations),
                f"Strip plot: the value of gender in each test among those of unrelated contrasts. {space}. The table"
                " has the numbers.",
            )
            for correlations in (False, True)
            for removed, space in SPACES.items()
            if (drawn := [one for one in named[removed] if (one[1].name == "neighbours") == correlations])
        ]
        content.append(Section("", [STRIP_LEGEND, *figures], "two columns"))
    content += [_test_table(measurement, own, removed=removed) for removed, own in tests.items() if own]
    note = _TEST_NOTE
    if contrasts:
        note += f" {_P_VALUE.format(count(contrasts), number(1 / (1 + contrasts), 3))}"
    yield Section("Gender compared with unrelated contrasts", [*content, Text([note], "note")])


def _own_tests(geometry: Geometry, *, removed: bool) -> list[WordTest]:
    """The tests of the model's own words in one space, in the order of `TESTS`."""
    tests = (geometry.test(name, removed=removed) for name in TESTS)
    return [test for test in tests if test is not None]


def _test_table(measurement: Measurement, tests: Sequence[WordTest], *, removed: bool) -> Table:
    columns = [
        Column("Test", numeric=False),
        Column("n"),
        Column("Gender"),
        Column("95 % interval", narrow=False),
        Column("Random labels", narrow=False),
        Column("Unrelated contrasts"),
        Column("p"),
    ]
    rows = []
    for test in tests:
        reference, adjusted = test.reference, measurement.tests.get(test.name)
        chance = show_value(test, test.chance)
        if test.chance_high is not None:
            chance += f", up to {show_value(test, test.chance_high)}"
        row = [
            Cell(TESTS[test.name]),
            Cell(count(test.n)),
            Cell(show_value(test, test.value)),
            Cell(show_bounds(test, test.interval) or "–"),
            Cell(chance),
            Cell(show_value(test, reference.mean), show_bounds(test, (reference.low, reference.high)))
            if reference
            else Cell("–"),
            Cell(p(reference.p_value) if reference else "–"),
        ]
        rows.append([*row, Cell(p(adjusted.p_adjusted) if adjusted else "–")] if removed else row)
    if removed:
        columns.append(Column("p (Holm)"))
    return Table(f"Word tests, {SPACES[removed].lower()}", columns, rows, terminal=True)


def show_value(test: WordTest, value: float | None) -> str:
    """A value of a test: a correlation, or a share in percent."""
    return number(value) if test.name == "neighbours" else percent(value)


def show_bounds(test: WordTest, bounds: Interval | None) -> str:
    """An interval of such values."""
    if bounds is None:
        return ""
    if test.name == "neighbours":
        return " to ".join(number(bound) for bound in bounds)
    low, high = (f"{100 * bound:.1f}" for bound in bounds)
    return f"{low} to {high}{NO_BREAK}%"


_CHOSEN = "The words are chosen by the direction that is then tested, so any direction gives high values."
_CONTRASTS = (
    "{} contrasts between other groups of words, about as similar to each other as male and female words, show how"
    " high{}. Gender is special only where it lies to the right of nearly all of them."
)
_NOT_COMPARED = "This result has no unrelated contrasts to compare with, so these values say little."
_TEST_NOTE = (
    "Clusters, probe and classifier: the share of words on the correct side. Neighbours: over professions, the"
    " correlation of their bias with the share of male words around them. Unrelated contrasts: their mean, and the"
    " range of 95 % of them."
)
_P_VALUE = (
    "p: the share of contrasts, including gender, that reach the value of gender; with {} unrelated contrasts it"
    " cannot be below {}."
)
