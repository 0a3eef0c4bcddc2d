"""The key figures of geometry: what each is, how sure, how large, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.measures.geometry.details import Geometry, WordTest
from unmask.measures.geometry.interpret import strength
from unmask.report.pages import Card, count, percent
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import ALPHA, is_clear

NO_BREAK = "\N{NO-BREAK SPACE}"


def geometry_of(measurement: Measurement) -> Geometry:
    """What is special to geometry."""
    return measurement.read_details(Geometry)


def associations_of(measurement: Measurement) -> list[tuple[str, Estimate]]:
    """The tests of WEAT or SEAT, by name."""
    return [(name, test) for name, test in measurement.tests.items() if test.labels.get("contrast") == "association"]


def shown(test: WordTest, value: float | None) -> str:
    """A value of a test: a share in percent, or a correlation."""
    return number(value) if test.name == "neighbours" else percent(value)


def bounds(test: WordTest, ends: tuple[float, float] | None) -> str:
    """The ends of an interval of such values."""
    if ends is None:
        return ""
    if test.name == "neighbours":
        return " to ".join(number(end) for end in ends)
    low, high = (f"{100 * end:.1f}" for end in ends)
    return f"{low} to {high}{NO_BREAK}%"


def beside_verdict(test: Estimate | None, one: WordTest) -> str:
    """Whether gender leaves more behind than other contrasts do."""
    if one.reference is None or test is None or test.p_adjusted is None:
        return "nothing to compare with"
    if is_clear(test):
        return "more than other contrasts"
    few = one.reference.p_value < ALPHA
    return "more than most contrasts, but not clear" if few else "no more than other contrasts"


def cards(measurement: Measurement) -> Iterator[Card]:
    """Stereotype, clusters and the strongest association; of the published protocol, its three numbers."""
    geometry = geometry_of(measurement)
    if measurement.protocol == "published":
        yield from _published(geometry)
        return
    stereotype = measurement.tests.get("stereotype")
    if stereotype is not None and stereotype.value is not None:
        yield _stereotype(stereotype)
    for name, title, reading in (
        ("clustering", "Clusters without the direction", _CLUSTERS),
        ("neighbours", "Neighbours without the direction", _NEIGHBOURS),
    ):
        one = geometry.test(name, removed=True)
        if one is not None and one.value is not None:
            value = ("r = " if name == "neighbours" else "") + shown(one, one.value)
            said = beside_verdict(measurement.tests.get(name), one)
            yield Card(title, value, _beside(one), said, reading.format(count(one.n)))
    tests = [(name, test) for name, test in associations_of(measurement) if test.effect_size is not None]
    if tests:
        yield _strongest(*max(tests, key=lambda named: abs(named[1].effect_size or 0.0)), len(tests))


def _stereotype(test: Estimate) -> Card:
    sure = "" if test.p_adjusted is None else f", {_p(test.p_adjusted)}"
    said = "no clear stereotype"
    if is_clear(test) and test.value is not None:
        way = "as people think" if test.value > 0 else "against what people think"
        said = f"{strength(test.value).removeprefix('a ')} relation, {way}"
    reading = _STEREOTYPE.format(count(test.n))
    return Card("Stereotype of professions", f"r = {number(test.value)}", _between(test.interval) + sure, said, reading)


def _beside(one: WordTest) -> str:
    found = one.reference
    if found is None:
        return "not compared"
    return f"other contrasts {shown(one, found.mean)} ({bounds(one, (found.low, found.high))}), {_p(found.p_value)}"


def _strongest(name: str, test: Estimate, tests: int) -> Card:
    sure = "" if test.p_adjusted is None else f", {_p(test.p_adjusted)}"
    said = "not clear"
    if is_clear(test):
        said = "clear, as stereotypes have it" if (test.effect_size or 0.0) > 0 else "clear, against stereotypes"
    value = f"d = {number(test.effect_size)}"
    reading = f"{name}, the strongest of {tests}. {test.question} −2 is all the other way, 0 none, 2 as far as can be."
    return Card("Strongest association", value, _between(test.effect_size_interval) + sure, said, reading)


def _p(value: float | None) -> str:
    """A p-value that stays in one line."""
    return f"p {p_value(value)}".replace(" ", NO_BREAK)


def _published(geometry: Geometry) -> Iterator[Card]:
    for name, title, reading in (
        ("clustering", "K-means accuracy", "By the numbers of the clusters: 6 % may stand for 94 %."),
        ("neighbours", "Correlation of professions", "Between a bias and the male words among the 100 nearest."),
        ("classification", "Classification accuracy", "Of a support-vector machine that was trained on a fifth."),
    ):
        one = geometry.test(name)
        if one is not None and one.value is not None:
            of = "professions" if name == "neighbours" else "words"
            yield Card(title, shown(one, one.value), f"{count(one.n)} {of}, no interval", "not compared", reading)


def _between(ends: tuple[float, float] | None) -> str:
    """An interval that stays in one line."""
    return f"95 % interval {interval(ends).replace(' ', NO_BREAK)}" if ends else "no interval"


_STEREOTYPE = (
    "Over {} professions: the correlation of their place between women and men in the model with what people say of"
    " them. 0 is no relation, 1 complete agreement."
)
_CLUSTERS = (
    "How many of the {} most biased words two clusters sort by gender once the gender direction is taken out; 50 % is a"
    " coin toss. High values come by themselves: what counts is the distance from other contrasts."
)
_NEIGHBOURS = (
    "Over {} professions: how closely their bias goes with that of the words around them once the gender direction is"
    " taken out. Again, compare with other contrasts."
)
