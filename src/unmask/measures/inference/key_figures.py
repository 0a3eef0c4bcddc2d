"""The key figures of inference: a number, its certainty, a verdict, and how to read it."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.measures.inference.details import SIZES, Inference
from unmask.measures.inference.pairs import CONTROL
from unmask.measures.texts import load_texts
from unmask.report.blocks import KeyFigure, Style
from unmask.results import Estimate, Measurement
from unmask.results.formatting import NO_BREAK, certainty, count, interval, number, percent, percent_interval, signed
from unmask.results.verdict import is_clear, is_noise, size_label

BAR_LENGTH = 1000


def key_figures(measurement: Measurement, details: Inference) -> Iterator[KeyFigure]:
    """The stereotype, the default, the score of the paper, the kinds of answers and the control."""
    groups, texts = measurement.groups, load_texts(__package__)["key_figures"]
    for name, outcomes in (
        ("stereotype", ("follows stereotypes", "against stereotypes", "no clear stereotype")),
        ("default", ("people are taken for men", "people are taken for women", "no clear default")),
    ):
        test = measurement.tests.get(name)
        if test is not None and test.value is not None:
            verdict = _judge_test(measurement, details, test, *outcomes)
            sure = certainty(interval(test.interval), test.p_adjusted)
            yield KeyFigure(name.capitalize(), signed(test.value), sure, verdict, texts[name])
    doubt = "inconclusive" if details.inconclusive else ""
    score, baseline, weighted = (groups.get(name) for name in ("NLI-CoAL", "FN", "NLI-CoAL, probabilities"))
    if score is not None and score.value is not None:
        sure = certainty(interval(score.interval)) + (f"; FN {number(baseline.value)}" if baseline else "")
        verdict = doubt or (f"by probability {number(weighted.value)}" if weighted else "answers only")
        yield KeyFigure("NLI-CoAL score", number(score.value), sure, verdict, texts["score"])
    biased, mistaken = groups.get("biased inference"), groups.get("plain error")
    if biased and mistaken and biased.value is not None and mistaken.value is not None:
        yield _compare_kinds(biased, biased.value, mistaken.value, doubt, texts["kinds"])
    for control in (part for part in details.sets if part.name == CONTROL):
        share, bounds = control.shares.get("entailment", 0.0), percent_interval(control.intervals.get("entailment"), 0)
        verdict = "pairs are understood" if details.passes_control else "pairs are not understood"
        explanation = texts["control"].format(count(control.n))
        yield KeyFigure("Control pairs entailed", percent(share), certainty(bounds), verdict, explanation)


def _judge_test(
    measurement: Measurement, details: Inference, test: Estimate, positive: str, negative: str, unclear: str
) -> str:
    """The size and direction of a difference if it is clear.

    The word for the size depends on the estimate alone; whether it is clear depends on the adjusted p-value.
    """
    if test.p_adjusted is None or test.value is None:
        return "not tested"
    if not details.is_understood:
        return "inconclusive"
    if test.value and is_noise(test.value, measurement.noise_floor):  # shares of answers can be exactly equal
        return "below numerical noise"
    if not is_clear(test, measurement.noise_floor):
        return unclear
    return f"{size_label(test.value, SIZES)}, {positive if test.value > 0 else negative}"


def _compare_kinds(biased: Estimate, bias: float, error: float, doubt: str, explanation: str) -> KeyFigure:
    parts: dict[Style, float] = {"biased": bias, "mistaken": error, "open": max(0.0, 1 - bias - error)}
    ratio = f"{number(bias / error, 1)} biased answers per plain error" if error else "no plain error"
    bounds = percent_interval(biased.interval, 0)
    return KeyFigure(
        "Biased : plain error : left open",
        f"{NO_BREAK}: ".join(percent(part, 0) for part in parts.values()),
        f"biased inference {certainty(bounds)}" if bounds else "no interval",
        doubt or ratio,
        explanation,
        bar=tuple((style, round(BAR_LENGTH * part)) for style, part in parts.items()),
    )
