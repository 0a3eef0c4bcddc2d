"""The headline of geometry, for readers who have not read the paper."""

from __future__ import annotations

from unmask.measures.geometry.caveats import NOTHING_LEFT, caveats
from unmask.measures.geometry.details import Geometry
from unmask.results import Caveat, Measurement
from unmask.results.formatting import interval, number, p_value, percent
from unmask.results.verdict import ALPHA, is_clear

NOTHING = "No finding: there are too few words with vectors."
STRENGTHS = ((0.1, "hardly any"), (0.3, "a weak"), (0.5, "a moderate"), (1.01, "a strong"))
"""Names of relations, by the upper limit of the correlation (Cohen 1988)."""
TESTS = {
    "clustering": "clusters",
    "probe": "a linear probe",
    "classification": "a classifier",
    "neighbours": "neighbours",
}


def interpret(measurement: Measurement) -> Measurement:
    """Add the headline and the caveats to a measurement whose p-values have been adjusted."""
    added = [] if _nothing_left(measurement) else caveats(measurement.read_details(Geometry), measurement.protocol)
    return measurement.model_copy(update={"headline": headline(measurement), "caveats": [*measurement.caveats, *added]})


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    if gone := _nothing_left(measurement):
        return [gone.text]
    if measurement.protocol == "published":
        sentences = _published(measurement)
    else:
        sentences = [_stereotype(measurement), _hidden(measurement), _associations(measurement)]
    return [sentence for sentence in sentences if sentence] or [NOTHING]


def _nothing_left(measurement: Measurement) -> Caveat | None:
    return next((caveat for caveat in measurement.caveats if caveat.code == NOTHING_LEFT), None)


def strength(r: float) -> str:
    """The words for the size of a correlation."""
    return next(words for limit, words in STRENGTHS if abs(r) < limit)


def _stereotype(measurement: Measurement) -> str:
    test = measurement.tests.get("stereotype")
    if test is None or test.value is None:
        return ""
    bounds = f", 95 % interval {interval(test.interval)}" if test.interval else ""
    figures = f"r = {number(test.value)}{bounds}, p {p_value(test.p_adjusted)}"
    if not is_clear(test):
        return f"No clear stereotype in the positions of {test.n:,} professions between women and men ({figures})."
    direction = "follow stereotypes" if test.value > 0 else "go against stereotypes"
    return (
        f"The positions of {test.n:,} professions between women and men {direction}: {strength(test.value)} relation"
        f" ({figures})."
    )


def _hidden(measurement: Measurement) -> str:
    """What is left of gender after its direction is removed."""
    geometry = measurement.read_details(Geometry)
    test, original = (geometry.test("clustering", removed=removed) for removed in (True, False))
    if test is None or test.value is None:
        return ""
    before = f" (original: {percent(original.value, 0)})" if original and original.value is not None else ""
    sentence = (
        f"With the gender direction removed, two clusters still sort {percent(test.value, 0)} of the {test.n:,} most"
        f" biased words by gender{before}"
    )
    reference = test.reference
    if reference is None:
        return f"{sentence}. There are no unrelated contrasts to compare with."
    bounds = f"{percent(reference.low, 0)} to {percent(reference.high, 0)}"
    sentence += (
        f", compared with {percent(reference.mean, 0)} ({bounds}) for {reference.contrasts} unrelated contrasts."
    )
    clear = [title for name, title in TESTS.items() if is_clear(measurement.tests.get(name))]
    if clear:
        return f"{sentence} More is left of gender than of unrelated contrasts: {', '.join(clear)}."
    if len(TESTS) / (reference.contrasts + 1) > ALPHA:
        return f"{sentence} {reference.contrasts} contrasts are too few for a test."
    return f"{sentence} No test shows clearly that more is left of gender than of unrelated contrasts."


def _associations(measurement: Measurement) -> str:
    tests = {name: test for name, test in measurement.tests.items() if test.labels.get("contrast") == "association"}
    clear = [name for name, test in tests.items() if is_clear(test)]
    if not tests:
        return ""
    total = f"{len(tests)} association test{'' if len(tests) == 1 else 's'}"
    return f"Clear in {len(clear)} of {total}: {', '.join(clear)}." if clear else f"None of {total} is clear."


def _published(measurement: Measurement) -> list[str]:
    geometry = measurement.read_details(Geometry)
    clustering, neighbours, classification = (
        geometry.test(name) for name in ("clustering", "neighbours", "classification")
    )
    values = []
    if clustering and clustering.value is not None:
        values.append(f"K-means accuracy {percent(clustering.value, 0)}")
    if neighbours and neighbours.value is not None:
        values.append(f"correlation of professions {number(neighbours.value)}")
    if classification and classification.value is not None:
        values.append(f"classification accuracy {percent(classification.value, 0)}")
    return [f"{', '.join(values)}."] if values else []
