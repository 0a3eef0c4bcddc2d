"""From numbers to words, for somebody who has not read the paper."""

from __future__ import annotations

from unmask.measures.geometry.caveats import NOTHING_LEFT, caveats
from unmask.measures.geometry.details import Geometry, WordTest
from unmask.results import Caveat, Measurement
from unmask.results.numbers import interval as shown
from unmask.results.numbers import number, p_value, percent
from unmask.results.verdict import ALPHA, is_clear

NOTHING = "No finding: there are too few words with vectors."
STRENGTHS = ((0.1, "hardly any"), (0.3, "a weak"), (0.5, "a moderate"), (1.01, "a strong"))
"""Up to which correlation a relation is called what (Cohen 1988)."""


def interpret(measurement: Measurement) -> Measurement:
    """Add the headline and the caveats to a measurement whose p-values have been adjusted."""
    added = [] if _nothing_left(measurement) else caveats(measurement.read_details(Geometry), measurement.protocol)
    return measurement.model_copy(
        update={"headline": " ".join(headline(measurement)), "caveats": [*measurement.caveats, *added]}
    )


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    if gone := _nothing_left(measurement):
        return [gone.text]
    sentences = _published(measurement) if measurement.protocol == "published" else _sound(measurement)
    return [sentence for sentence in sentences if sentence] or [NOTHING]


def _nothing_left(measurement: Measurement) -> Caveat | None:
    return next((caveat for caveat in measurement.caveats if caveat.code == NOTHING_LEFT), None)


def strength(r: float) -> str:
    """The words for the size of a correlation."""
    return next(words for limit, words in STRENGTHS if abs(r) < limit)


def _sound(measurement: Measurement) -> list[str]:
    return [_stereotype(measurement), _hidden(measurement), _associations(measurement)]


def _stereotype(measurement: Measurement) -> str:
    test = measurement.tests.get("stereotype")
    if test is None or test.value is None:
        return ""
    between = f", 95 % interval {shown(test.interval)}" if test.interval else ""
    figures = f"r = {number(test.value)}{between}, p {p_value(test.p_adjusted)}"
    if not is_clear(test):
        return f"No clear stereotype in where {test.n:,} professions lie between men and women ({figures})."
    if test.value < 0:
        return (
            f"Professions lie against the stereotype: {strength(test.value)} relation to what people say ({figures})."
        )
    return (
        f"Professions lie on the side of the gender that people think of: {strength(test.value)} relation over"
        f" {test.n:,} of them ({figures})."
    )


def _hidden(measurement: Measurement) -> str:
    """What is left of gender once its direction is gone."""
    geometry = measurement.read_details(Geometry)
    one = geometry.test("clustering", removed=True)
    if one is None or one.value is None:
        return ""
    names = {
        "clustering": "clusters",
        "probe": "a linear probe",
        "classification": "a classifier",
        "neighbours": "neighbours",
    }
    beyond = [name for key, name in names.items() if is_clear(measurement.tests.get(key))]
    before = geometry.test("clustering")
    was = f" (with it: {percent(before.value)})" if before and before.value is not None else ""
    said = (
        f"With the gender direction taken out, two clusters still sort {percent(one.value)} of the {one.n:,} most"
        f" biased words by gender{was}{_beside(one)}."
    )
    if beyond:
        return f"{said} Gender leaves more behind than other contrasts do: {', '.join(beyond)}."
    if one.reference is None:
        return f"{said} There is nothing to compare that with."
    if 4 / (one.reference.contrasts + 1) > ALPHA:
        return f"{said} {one.reference.contrasts} contrasts are too few for a test."
    return f"{said} No test shows clearly that gender leaves more behind than other contrasts do."


def _beside(one: WordTest) -> str:
    found = one.reference
    if found is None:
        return ""
    return (
        f"; for {found.contrasts} contrasts that have nothing to do with gender it is {percent(found.mean)}"
        f" ({percent(found.low)} to {percent(found.high)})"
    )


def _associations(measurement: Measurement) -> str:
    tests = {name: one for name, one in measurement.tests.items() if one.labels.get("contrast") == "association"}
    found = [name for name, one in tests.items() if is_clear(one)]
    if not tests:
        return ""
    count = f"{len(tests)} association test{'' if len(tests) == 1 else 's'}"
    if not found:
        return f"None of {count} (WEAT) is clear."
    return f"Clear of {count}: {', '.join(found)}."


def _published(measurement: Measurement) -> list[str]:
    geometry = measurement.read_details(Geometry)
    clustering, neighbours, classification = (
        geometry.test(name) for name in ("clustering", "neighbours", "classification")
    )
    said = []
    if clustering and clustering.value is not None:
        said.append(f"K-means accuracy {percent(clustering.value)}")
    if neighbours and neighbours.value is not None:
        said.append(f"correlation of professions {number(neighbours.value)}")
    if classification and classification.value is not None:
        said.append(f"classification accuracy {percent(classification.value)}")
    return [f"{', '.join(said)}."] if said else []
