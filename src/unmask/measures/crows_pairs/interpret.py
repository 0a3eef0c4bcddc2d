"""From numbers to words, for somebody who has not read the paper."""

from __future__ import annotations

from math import inf

from unmask.results import Estimate, Measurement
from unmask.results.formatting import interval as shown
from unmask.results.formatting import number, p_value, percent
from unmask.results.verdict import ALPHA, size_label

SIZES = ((0.02, "negligible"), (0.05, "small"), (0.15, "moderate"), (inf, "large"))
"""Up to which distance of the share from one half an effect is called what."""


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    test = measurement.tests.get("stereotype")
    sentences = [_published(measurement)] if test is None else [_stereotype(test), _likelihood(measurement)]
    return [sentence for sentence in sentences if sentence]


def _stereotype(test: Estimate) -> str:
    if test.value is None or test.effect_size is None:
        return ""
    low, high = test.effect_size_interval or (0.0, 1.0)
    figures = (
        f"in {percent(test.effect_size, 1)} of {test.n} pairs (95 % interval {percent(low, 1)} to {percent(high, 1)};"
        " 50 % is none) it finds the more stereotypical sentence the likelier one"
    )
    p = test.p_value if test.p_adjusted is None else test.p_adjusted
    if p is None or p >= ALPHA:
        return f"No clear preference for stereotypes: {figures}, which is compatible with one half (p {p_value(p)})."
    way = "prefers" if test.value > 0 else "avoids"
    return f"The model {way} stereotypes: {figures}, p {p_value(p)}. That is a {size_label(test.value, SIZES)} effect."


def _likelihood(measurement: Measurement) -> str:
    test = measurement.tests.get("likelihood")
    if test is None or test.value is None or test.interval is None:
        return ""
    return (
        f"What two sentences share is, on average, {number(abs(test.value))} nats"
        f" {'more' if test.value > 0 else 'less'} likely in the more stereotypical one (95 % interval of the"
        f" difference {shown(test.interval)})."
    )


def _published(measurement: Measurement) -> str:
    groups = measurement.groups
    return (
        f"Metric score {percent(groups['all pairs'].value, 2)} (50 % is ideal): stereotype score"
        f" {percent(groups['stereo pairs'].value, 2)}, anti-stereotype score"
        f" {percent(groups['antistereo pairs'].value, 2)}, neutral {percent(groups['neutral'].value, 2)}."
    )
