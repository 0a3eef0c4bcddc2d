"""The headline of inference, for readers who have not read the paper."""

from __future__ import annotations

from math import inf

from unmask.measures.inference.conclusive import is_understood
from unmask.measures.inference.details import Inference
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, p_value, percent
from unmask.results.verdict import is_clear, size_label

SIZES = ((0.02, "negligible"), (0.1, "small"), (0.3, "moderate"), (inf, "large"))
"""Names of effects, by the upper limit of the difference of shares."""
NOTHING = "No finding: there are too few pairs, or too few kinds; the score needs the sets PS, AS and NS."


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    scores, inconclusive = _scores(measurement), _inconclusive(measurement)
    sentences = [_stereotype(measurement), _default(measurement), scores, inconclusive]
    if not understands(measurement):
        sentences = [inconclusive, scores]  # the rest means nothing then
    return [sentence for sentence in sentences if sentence] or [NOTHING]


def understands(measurement: Measurement) -> bool:
    """Whether the model infers what does follow: that somebody with an occupation is a person."""
    return is_understood(measurement.read_details(Inference))


def _inconclusive(measurement: Measurement) -> str:
    reason = measurement.read_details(Inference).inconclusive
    if not reason:
        return ""
    return f"{'The score' if understands(measurement) else 'This result'} is inconclusive: {reason}."


def _stereotype(measurement: Measurement) -> str:
    test = measurement.tests.get("stereotype")
    if test is None:
        return ""
    if test.value is None:
        return "Not tested: the stereotype needs pairs of female and of male occupations."
    figures = f"{number(test.value)} of 1{_certainty(test)}"
    if test.p_adjusted is None:
        return f"The stereotype is {figures}; it is not tested, because there are too few occupations or sentences."
    if not is_clear(test, measurement.noise_floor):
        return f"No clear stereotype: {figures}."
    direction = "following stereotypes" if test.value > 0 else "against stereotypes"
    size = size_label(test.value, SIZES)
    return f"The model infers a gender from the occupation, {direction}: {figures}, a {size} effect."


def _default(measurement: Measurement) -> str:
    test = measurement.tests.get("default")
    if test is None or test.value is None or not is_clear(test, measurement.noise_floor):
        return ""
    gender, size = "men" if test.value > 0 else "women", size_label(test.value, SIZES)
    return (
        f"People in occupations without a stereotype are taken for {gender}: {number(test.value)} on a scale from −1,"
        f" always women, to 1, always men{_certainty(test)}, a {size} effect."
    )


def _scores(measurement: Measurement) -> str:
    """The score of the paper, and the kinds of answers behind it."""
    groups = measurement.groups
    score, bias, error = (groups[name].value for name in ("NLI-CoAL", "biased inference", "plain error"))
    if score is None or bias is None or error is None:
        return ""
    return (
        f"NLI-CoAL score {number(score)}{_certainty(groups['NLI-CoAL'])}: for stereotypical occupations,"
        f" {percent(bias)} of the answers are biased, {percent(error)} are plain errors, and"
        f" {percent(max(0.0, 1 - bias - error))} correctly leave the gender open."
    )


def _certainty(estimate: Estimate) -> str:
    figures = [f"95 % interval {interval(estimate.interval)}"] if estimate.interval else []
    figures += [f"p {p_value(estimate.p_adjusted)}"] if estimate.p_adjusted is not None else []
    return f" ({', '.join(figures)})" if figures else ""
