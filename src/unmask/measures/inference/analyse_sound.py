"""Second half, done right: shares and scores with intervals over occupations and sentences, and tests.

The paper's score cannot tell a stereotype from a habit: nine of its ten stereotypical occupations are male, so that a
model that takes everybody for a man scores high. So two questions are put apart. *Stereotype*: do male and female
occupations lean differently? *Default*: are occupations without a stereotype taken for men, or for women? Both are
differences of entailments less contradictions, of answers and of probabilities.

Even a model that has learned nothing prefers *the man* to *the woman*, or the other way round, by the chance of its
first weights. So the default must hold over pairs of gender words, too: they are a third sample beside occupations and
sentences. In the stereotype the words cancel out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.inference import sums
from unmask.measures.inference.caveats import caveats
from unmask.measures.inference.conclusive import alike, why_not
from unmask.measures.inference.details import Inference
from unmask.measures.inference.parts import by_pair, by_type, occupations, of_sets
from unmask.measures.inference.sums import Sums
from unmask.probes.inference import LABELS, has_probabilities
from unmask.results import Estimate, Measurement
from unmask.results.record import Protocol
from unmask.statistics.jackknife import IntervalEstimate

if TYPE_CHECKING:
    import pandas as pd

SCORES = {
    "NLI-CoAL": sums.score,
    "FN": sums.fraction_not_neutral,
    "biased inference": sums.biased,
    "plain error": sums.mistaken,
}
"""Figures that can be had from shares, by name."""


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the sound protocol; adjusted p-values and words come later."""
    del seed  # nothing is drawn
    asked = items[items["gender"] != ""]
    neutral = int((asked["occupation_type"] == "neutral").sum())
    stereotyped = len(asked) - neutral
    groups: dict[str, Estimate] = {}
    tests: dict[str, Estimate] = {}
    answers = Sums(asked)
    for by, suffix in (("answers", ""), ("probabilities", ", probabilities")):
        if by == "probabilities" and not has_probabilities(items):
            continue
        of = answers if by == "answers" else Sums(asked, weighted=True)
        groups |= {f"{name}{suffix}": _group(name, by, len(asked), of.estimate(it)) for name, it in SCORES.items()}
        tests[f"stereotype{suffix}"] = _test(
            of.estimate(sums.stereotype),
            "stereotype",
            by,
            stereotyped,
            "Are male occupations resolved to men more than female ones are?",
        )
        tests[f"default{suffix}"] = _test(
            of.estimate(sums.lean(sums.NEUTRAL), over_pairs=True),
            "default",
            by,
            neutral,
            "Are occupations without a stereotype taken for men, or for women?",
        )
    for label, more, less in (("entailment", "PS", "AS"), ("contradiction", "AS", "PS")):
        tests[f"{label}, {more} − {less}"] = _test(
            answers.estimate(_difference(more, less, 1 + LABELS.index(label))),
            label,
            "answers",
            stereotyped,
            f"Is {label} answered more often in the {_NAMES[more]} set?",
        )
    return measurement(items, "sound", groups, tests)


_NAMES = {"PS": "pro-stereotypical", "AS": "anti-stereotypical"}


def measurement(
    items: pd.DataFrame, protocol: Protocol, groups: dict[str, Estimate], tests: dict[str, Estimate]
) -> Measurement:
    """Scores and tests of a protocol, with the shares that both protocols give."""
    first = items.iloc[0]
    intervals = protocol == "sound"
    inference = Inference(
        sets=of_sets(items, intervals=intervals),
        by_type=by_type(items, intervals=intervals),
        by_pair=by_pair(items),
        occupations=occupations(items),
        templates=items["template"].nunique(),
        inconclusive=why_not(items),
        alike=alike(items),
    )
    return Measurement(
        name="inference",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        protocol=protocol,
        attributes="occupations",
        items=len(items),
        groups=groups,
        tests=tests,
        details=inference.model_dump(),
        caveats=caveats(items, protocol, inference),
    )


def _difference(more: str, less: str, label: int) -> sums.Figure:
    return lambda table: sums.share(more, label)(table) - sums.share(less, label)(table)


def _group(name: str, by: str, n: int, estimate: IntervalEstimate) -> Estimate:
    return Estimate(labels={"score": name, "by": by}, n=n, value=estimate.value, interval=_within(estimate.interval))


def _within(interval: tuple[float, float] | None, lowest: float = 0.0) -> tuple[float, float] | None:
    """An interval of a share, which is between 0 and 1, or of a difference of shares."""
    return None if interval is None else (max(lowest, interval[0]), min(1.0, interval[1]))


def _test(estimate: IntervalEstimate, contrast: str, by: str, n: int, question: str) -> Estimate:
    return Estimate(
        labels={"contrast": contrast, "by": by},
        question=question,
        n=n,
        value=estimate.value,
        interval=_within(estimate.interval, lowest=-1.0),
        statistic=estimate.statistic,
        statistic_name="t",
        df=estimate.df,
        p_value=estimate.p_value,
    )
