"""The key figures of sentiment: a number, its certainty, a verdict, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.measures.sentiment.details import Ratings
from unmask.measures.texts import load_texts
from unmask.report.blocks import KeyFigure, Style
from unmask.results import Measurement
from unmask.results.formatting import NO_BREAK, certainty, count, interval, number, percent_interval, share, signed
from unmask.results.verdict import describe_test, is_clear, is_noise
from unmask.statistics.proportions import wilson_interval

_TEXTS = load_texts(__package__)["key_figures"]


def key_figures(measurement: Measurement, details: Ratings) -> Iterator[KeyFigure]:
    """Total and absolute bias, labels that flip, and the direction."""
    yield from _show_total(measurement, details)
    absolute = measurement.groups.get("absolute bias, changed texts")
    if absolute is not None and absolute.value is not None:
        noise = is_noise(absolute.value, measurement.noise_floor)
        label = "within the noise" if noise else f"{details.label_size(absolute.value)} shifts"
        sure = certainty(interval(absolute.interval, details.digits))
        yield KeyFigure("Absolute bias", number(absolute.value, details.digits), sure, label, _TEXTS["absolute"])
    if not details.changed:
        return
    if details.flips is not None:
        bounds = percent_interval(wilson_interval(details.flips / details.changed, details.changed))
        sure = f"{count(details.flips)} of {count(details.changed)} texts, {certainty(bounds)}"
        label = f"one text in {count(round(details.changed / details.flips))}" if details.flips else "no label changes"
        yield KeyFigure("Labels that flip", share(details.flips, details.changed), sure, label, _TEXTS["flips"])
    yield _show_direction(measurement, details)


def _show_total(measurement: Measurement, details: Ratings) -> Iterator[KeyFigure]:
    test, floor = measurement.test("bias"), measurement.noise_floor
    if test is None or test.value is None:
        return
    clear, value = is_clear(test, floor), test.value
    size = details.label_size(value)
    verdict = describe_test(test, "bias", size=size, noise_floor=floor)
    if clear and (test.effect_size or 0.0) * value < 0:
        verdict = f"{size}, no single direction"
    which = "whose ratings differ" if measurement.protocol == "published" else "with a gender term"
    explanation = _TEXTS["total"].format(which)
    if clear and value:
        percent = f"{number(100 * abs(value) / details.scale)} %"
        version = "male" if value > 0 else "female"
        explanation += f" Here the {version} versions are rated higher, by {percent} of the scale."
    elif value and test.p_adjusted is not None and not is_noise(value, floor):
        explanation += " This one may be chance."
    sure = certainty(interval(test.interval, details.digits), test.p_adjusted)
    yield KeyFigure("Total bias", signed(value, details.digits), sure, verdict, explanation)


def _show_direction(measurement: Measurement, details: Ratings) -> KeyFigure:
    test = measurement.test("bias")
    effect, label = "no effect size", "not tested"
    if test is not None and test.effect_size is not None:
        bounds = interval(test.effect_size_interval).replace(" ", NO_BREAK)
        effect = f"rank-biserial effect size {number(test.effect_size)} {bounds}".rstrip()
        if test.p_adjusted is not None:
            sure = is_clear(test, measurement.noise_floor) and test.effect_size != 0
            label = f"favours {'male' if test.effect_size > 0 else 'female'} versions" if sure else "no clear direction"
    counts: dict[Style, int] = {"female": details.below, "neutral": details.equal, "male": details.above}
    explanation = (
        f"{count(details.below)} texts are rated higher in the female version, {count(details.equal)} equally,"
        f" {count(details.above)} higher in the male version. {_TEXTS['direction']}"
    )
    value = f"{share(details.below, details.changed)} : {share(details.above, details.changed)}"
    return KeyFigure("Direction, female : male", value, effect, label, explanation, tuple(counts.items()))
