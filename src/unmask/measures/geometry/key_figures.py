"""The key figures of geometry: a number, its certainty, a verdict, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.measures.geometry.details import Geometry, WordTest
from unmask.measures.geometry.interpret import strength
from unmask.measures.geometry.report_word_tests import NO_BREAK, show_bounds, show_value
from unmask.report.blocks import KeyFigure
from unmask.results import Estimate, Interval, Measurement
from unmask.results.formatting import count, interval, number, p_value
from unmask.results.verdict import is_clear, is_significant


def key_figures(measurement: Measurement) -> Iterator[KeyFigure]:
    """Stereotype, clusters, neighbours and the strongest association; in the published protocol, its three numbers."""
    geometry = measurement.read_details(Geometry)
    if measurement.protocol == "published":
        yield from _published(geometry)
        return
    stereotype = measurement.tests.get("stereotype")
    if stereotype is not None and stereotype.value is not None:
        yield _stereotype(stereotype, stereotype.value)
    for name, title, symbol, explanation in (
        ("clustering", "Clusters, direction removed", "", _CLUSTERS),
        ("neighbours", "Neighbours, direction removed", "r = ", _NEIGHBOURS),
    ):
        test = geometry.test(name, removed=True)
        if test is not None and test.value is not None:
            verdict = judge_test(measurement.tests.get(name), test)
            value = f"{symbol}{show_value(test, test.value)}"
            yield KeyFigure(title, value, _contrasts(test), verdict, explanation.format(count(test.n)))
    tests = {name: test for name, test in associations(measurement).items() if test.effect_size is not None}
    if tests:
        yield _strongest(tests)


def associations(measurement: Measurement) -> dict[str, Estimate]:
    """The association tests (WEAT or SEAT) by name."""
    return {name: test for name, test in measurement.tests.items() if test.labels.get("contrast") == "association"}


def judge_test(test: Estimate | None, word_test: WordTest) -> str:
    """Whether more of gender is left than of unrelated contrasts."""
    if word_test.reference is None or test is None or test.p_adjusted is None:
        return "not compared"
    if is_clear(test):
        return "more than unrelated contrasts"
    if is_significant(word_test.reference.p_value):
        return "more than most unrelated contrasts, but not clear"
    return "no more than unrelated contrasts"


def _stereotype(test: Estimate, value: float) -> KeyFigure:
    verdict = "no clear stereotype"
    if is_clear(test):
        direction = "follows stereotypes" if value > 0 else "against stereotypes"
        verdict = f"{strength(value).removeprefix('a ')} relation, {direction}"
    certainty, explanation = _certainty(test.interval, test.p_adjusted), _STEREOTYPE.format(count(test.n))
    return KeyFigure("Stereotype of professions", f"r = {number(value)}", certainty, verdict, explanation)


def _contrasts(test: WordTest) -> str:
    reference = test.reference
    if reference is None:
        return "no unrelated contrasts"
    bounds = show_bounds(test, (reference.low, reference.high))
    return f"unrelated contrasts {show_value(test, reference.mean)} ({bounds}), {_show_p(reference.p_value)}"


def _strongest(tests: dict[str, Estimate]) -> KeyFigure:
    name, test = max(tests.items(), key=lambda named: abs(named[1].effect_size or 0.0))
    verdict = "not clear"
    if is_clear(test):
        verdict = "clear, follows stereotypes" if (test.effect_size or 0.0) > 0 else "clear, against stereotypes"
    rank = f", the strongest of {len(tests)}" if len(tests) > 1 else ""
    explanation = f"{name}{rank}. {test.question} −2: completely the reverse; 0: no association; 2: completely."
    certainty = _certainty(test.effect_size_interval, test.p_adjusted)
    return KeyFigure("Strongest association", f"d = {number(test.effect_size)}", certainty, verdict, explanation)


def _published(geometry: Geometry) -> Iterator[KeyFigure]:
    for name, title, unit, explanation in (
        ("clustering", "K-means accuracy", "words", "By the numbers of the clusters: 6 % can mean 94 %."),
        (
            "neighbours",
            "Correlation of professions",
            "professions",
            "Between bias and the number of male words among the 100 nearest.",
        ),
        ("classification", "Classification accuracy", "words", "Of a support-vector machine trained on a fifth."),
    ):
        test = geometry.test(name)
        if test is not None and test.value is not None:
            certainty = f"{count(test.n)} {unit}, no interval"
            yield KeyFigure(title, show_value(test, test.value), certainty, "not compared", explanation)


def _certainty(bounds: Interval | None, p_adjusted: float | None) -> str:
    certainty = f"95 % interval {interval(bounds).replace(' ', NO_BREAK)}" if bounds else "no interval"
    return certainty if p_adjusted is None else f"{certainty}, {_show_p(p_adjusted)}"


def _show_p(value: float) -> str:
    return f"p {p_value(value)}".replace(" ", NO_BREAK)


_STEREOTYPE = (
    "Over {} professions: the correlation between their position between women and men in the model and the gender"
    " that people associate with them. 0: no relation; 1: complete agreement."
)
_CLUSTERS = (
    "How many of the {} most biased words two clusters sort by gender after the gender direction is removed; 50 % is a"
    " coin toss. High values are normal for any direction: what counts is the distance from unrelated contrasts."
)
_NEIGHBOURS = (
    "Over {} professions: the correlation of their bias with the bias of the words around them after the gender"
    " direction is removed. Compare with unrelated contrasts here as well."
)
