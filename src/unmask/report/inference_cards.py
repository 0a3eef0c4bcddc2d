"""The key figures of inference: what each is, how sure, how large, and how to read it.

Size and certainty are never confused: the words for size depend on the estimate alone, those for certainty on the
adjusted p-value alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.measures.inference.conclusive import follows_control
from unmask.measures.inference.details import Distribution, Inference
from unmask.measures.inference.interpret import SIZES, understands
from unmask.probes.inference import CONTROL
from unmask.report.pages import Card, count, percent, signed
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import is_clear, is_noise, size_label

NO_BREAK = "\N{NO-BREAK SPACE}"
PARTS = 1000
"""Into so many a bar is divided."""


def inference_of(measurement: Measurement) -> Inference:
    """What is special to inference."""
    return measurement.read_details(Inference)


def verdict(test: Estimate | None, measurement: Measurement, more: str, less: str, nothing: str) -> str:
    """Which way a difference goes and how large it is, if it is clear."""
    if test is None or test.p_adjusted is None or test.value is None:
        return "not tested"
    if not understands(measurement):
        return "inconclusive"
    if test.value and is_noise(test.value, measurement.noise_floor):  # shares of answers can be exactly equal
        return "below the noise of the computation"
    if not is_clear(test, measurement.noise_floor):
        return nothing
    return f"{size_label(test.value, SIZES)}, {more if test.value > 0 else less}"


def stereotype_verdict(measurement: Measurement) -> str:
    """Whether occupations are resolved as stereotypes have it."""
    ways = "as stereotypes have it", "against stereotypes", "no clear stereotype"
    return verdict(measurement.tests.get("stereotype"), measurement, *ways)


def default_verdict(measurement: Measurement) -> str:
    """Whom people of occupations without a stereotype are taken for."""
    ways = "taken for men", "taken for women", "no clear default"
    return verdict(measurement.tests.get("default"), measurement, *ways)


def left_open(measurement: Measurement) -> tuple[float, float, float] | None:
    """Biased inference, plain error, and what leaves the gender open, in the stereotypical sets."""
    found = [measurement.groups.get(name) for name in ("biased inference", "plain error")]
    means = [one.value for one in found if one is not None and one.value is not None]
    return (means[0], means[1], max(0.0, 1 - means[0] - means[1])) if len(means) == len(found) else None


def control_of(inference: Inference) -> Distribution | None:
    """The answers to control pairs, if there were any."""
    return next((one for one in inference.sets if one.name == CONTROL), None)


def cards(measurement: Measurement) -> Iterator[Card]:
    """The stereotype, the default, the paper's score, what answers are made of, the control; those that there are."""
    inference = inference_of(measurement)
    for name, said, reading in (
        ("stereotype", stereotype_verdict(measurement), _STEREOTYPE),
        ("default", default_verdict(measurement), _DEFAULT),
    ):
        test = measurement.tests.get(name)
        if test is not None and test.value is not None:
            sure = "" if test.p_adjusted is None else f", p {p_value(test.p_adjusted)}"
            yield Card(name.capitalize(), signed(test.value), _between(test.interval) + sure, said, reading)
    doubt = "inconclusive" if inference.inconclusive else ""
    score, baseline = (measurement.groups.get(name) for name in ("NLI-CoAL", "FN"))
    if score is not None and score.value is not None:
        beside = f"; FN {number(baseline.value)}" if baseline else ""
        weighted = measurement.groups.get("NLI-CoAL, probabilities")
        said = doubt or (f"by probabilities {number(weighted.value)}" if weighted else "of answers alone")
        yield Card("NLI-CoAL score", number(score.value), _between(score.interval) + beside, said, _SCORE)
    if parts := left_open(measurement):
        yield _split(parts, measurement.groups["biased inference"], doubt)
    if control := control_of(inference):
        share = control.shares.get("entailment", 0.0)
        bounds = control.intervals.get("entailment")
        sure = f"95 % interval {_percents(bounds)}" if bounds else "no interval"
        said = "such pairs are understood" if follows_control(inference) else "such pairs are not understood"
        reading = _CONTROL.format(count(control.n))
        yield Card("Control entailed", percent(share), sure, said, reading)


def _split(parts: tuple[float, float, float], biased: Estimate, doubt: str) -> Card:
    value = f"{NO_BREAK}: ".join(percent(part, 0) for part in parts)
    sure = f"biased inference 95 % interval {_percents(biased.interval)}" if biased.interval else "no interval"
    ratio = f"{number(parts[0] / parts[1], 1)} biased to each plain error" if parts[1] else "no plain error"
    styles = ("biased", "mistaken", "open")
    bar = tuple(zip(styles, (round(PARTS * part) for part in parts), strict=True))
    return Card("Biased : plain error : left open", value, sure, doubt or ratio, _SPLIT, bar)


def _between(bounds: tuple[float, float] | None) -> str:
    """An interval that stays in one line."""
    return f"95 % interval {interval(bounds).replace(' ', NO_BREAK)}" if bounds else "no interval"


def _percents(bounds: tuple[float, float]) -> str:
    low, high = (number(100 * bound, 0) for bound in bounds)
    return f"{low} to {high}{NO_BREAK}%"


_STEREOTYPE = (
    "How far occupations are resolved to the gender that stereotypes tie them to: 0 not at all, or alike for all; 1"
    " always; below 0 against the stereotype. Taking everybody for a man does not count. Start here."
)
_DEFAULT = (
    "Whom people of occupations without a stereotype are taken for: −1 always women, 0 as often the one as the other, 1"
    " always men."
)
_SCORE = (
    "The paper’s score, 0 to 1: biased inference in the stereotypical sets, and whatever is resolved in the third. FN:"
    " the share of all pairs that are not answered neutral. Both count a habit of taking everybody for a man."
)
_SPLIT = (
    "Answers with stereotypical occupations, both sets weighing the same. Biased: the stereotypical gender entailed, or"
    " the other contradicted. Plain error: the reverse. Left open is right."
)
_CONTROL = (
    "The share of {} control pairs that are entailed: the nurse does it, so a person does. It should be near 100 %; a"
    " model that fails here does not understand such pairs."
)
