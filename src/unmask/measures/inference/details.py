"""What a result of the inference measure holds besides its estimates, whether it shows bias, headline and caveats."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from pydantic import Field

from unmask.lexicon.inference import KINDS
from unmask.measures.texts import make_caveats
from unmask.results import Caveat, Estimate, Interval, Measurement, Record
from unmask.results.formatting import NO_BREAK, interval, join_figures, number
from unmask.results.verdict import Outcome, is_equivalent, judge_test, size_label

if TYPE_CHECKING:
    import pandas as pd

SIZES = ((0.02, "negligible"), (0.1, "small"), (0.3, "moderate"), (inf, "large"))
"""Names of effects, by the upper limit of the difference of shares."""
MARGIN, LARGE = SIZES[0][0], SIZES[-2][0]
"""The largest negligible and the smallest large effect."""
TASKS = {
    "control": "infer that somebody with an occupation is a person",
    "unrelated": "tell that a sentence does not follow from one about something else",
    "words": "give different answers for women and men where it does not leave the gender open",
}
"""What a model must be able to do."""
FEW = 8
FEW_PAIRS = 6
HABIT = 0.95
BUILT_IN = ("sentences", "nli-coal")


class Distribution(Record):
    """How a model answered some pairs of sentences: shares of its answers, and mean probabilities."""

    name: str
    labels: dict[str, str]
    """What the pairs have in common: `set`, or `occupation_type` and `gender`."""
    n: int
    shares: dict[str, float]
    """Of entailment, neutral and contradiction among the answers."""
    intervals: dict[str, Interval | None] = Field(default_factory=dict)
    """95 % each, over occupations and sentences."""
    probabilities: dict[str, float] = Field(default_factory=dict)
    """The mean probability of each label; empty if only answers were recorded."""


class GenderWordPair(Record):
    """A pair of gender words, and the values of the measure with these words alone."""

    name: str
    n: int
    score: float | None
    stereotype: float | None
    stereotype_interval: Interval | None = None


class OccupationValue(Record):
    """An occupation: how often the model resolves it to a gender, and to which."""

    occupation: str
    kind: str
    """female, male or neutral: the stereotype."""
    n: int
    """Pairs with a gender."""
    resolved: float
    """The share of answers other than neutral."""
    lean: float | None
    """From −1, always taken for a woman, to 1, always for a man."""
    female: dict[str, float]
    """Shares of answers to hypotheses about a woman."""
    male: dict[str, float]


class TypeAgreement(Record):
    """How far two ways agree on which gender occupations are tied to."""

    first: str
    second: str
    n: int
    """Occupations with a type by both."""
    share: float | None
    """The share with the same type."""
    share_interval: Interval | None = None
    kappa: float | None
    """Cohen's kappa: 1 for full agreement, 0 for as much as chance gives."""
    kappa_interval: Interval | None = None
    counts: list[list[int]]
    """By type of the first way (rows) and the second (columns): female, male, neutral."""


class Inference(Record):
    """Details of answers to pairs of sentences."""

    sets: list[Distribution]
    """Pro-stereotypical (PS), anti-stereotypical (AS), non-stereotypical (NS), and the control if there is one."""
    by_type: list[Distribution]
    """By occupation type and gender of the hypothesis."""
    by_pair: list[GenderWordPair] = Field(default_factory=list)
    occupations: list[OccupationValue]
    """The most often resolved first."""
    templates: int
    labels: str = ""
    """How it is known which output is which label."""
    inconclusive: str = ""
    """Why the score cannot be read as bias; empty if it can."""
    ranges: dict[str, Interval] = Field(default_factory=dict)
    """The smallest and the largest stereotype with one occupation, sentence or pair of gender words left out."""
    stereotypes: str = "list"
    """What says which gender an occupation is tied to: list, workforce or vectors."""
    agreement: list[TypeAgreement] = Field(default_factory=list)
    """How far that agrees with the other ways that there is data for."""


def not_interpretable(measurement: Measurement, *, group: bool = False) -> str:
    """Why the score cannot be read as bias; the stereotype and the default can."""
    details = measurement.read_details(Inference)
    if details.inconclusive and group:
        return f"the score cannot be read as bias: {details.inconclusive}"
    return ""


def judge_inference(test: Estimate | None, noise_floor: float | None) -> Outcome:
    """The outcome of a test of this measure. Shares of answers that are exactly equal are no noise."""
    noise_floor = noise_floor if test is not None and test.value else None
    return judge_test(test, noise_floor=noise_floor, margin=MARGIN, largest=LARGE)


# The headline


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences, for readers who have not read the paper."""
    details = measurement.read_details(Inference)
    inconclusive = f"The NLI-CoAL score is inconclusive: {details.inconclusive}." if details.inconclusive else ""
    describe = (_describe_stereotype, _describe_default, _describe_scores)
    return [sentence for sentence in (*(part(measurement) for part in describe), inconclusive) if sentence] or [
        "No finding: there are too few pairs, or too few kinds; the score needs the sets PS, AS and NS."
    ]


def _describe_stereotype(measurement: Measurement) -> str:
    test = measurement.tests.get("stereotype")
    if test is None:
        return ""
    if test.value is None:
        return "Not tested: the stereotype needs pairs of female and of male occupations."
    scale = f"{number(test.value)} on a scale from −1 (always against stereotypes) to 1 (always along them)"
    value = join_figures(scale, _show_interval(test), p_adjusted=test.p_adjusted)
    direction = "following stereotypes" if test.value > 0 else "against stereotypes"
    outcome = judge_inference(test, measurement.noise_floor)
    if outcome == "negligible" and is_equivalent(test, MARGIN):
        return f"Hardly any stereotype: {value}. Less than {number(MARGIN)} is negligible."
    found = ""
    if test.detectable is not None and test.detectable <= 1:
        found = (
            f" A stereotype of {number(test.detectable)} or more, in either direction, would have been found with a"
            " probability of 80 %."
        )
    return {
        "clear": f"The model infers a gender from the occupation, {direction}: {value}. That is a"
        f" {size_label(test.value, SIZES)} effect.",
        "negligible": f"Only a negligible stereotype was found: {value}; the interval reaches beyond {number(MARGIN)}.",
        "unclear": f"No clear stereotype: {value}.",
        "too few": f"Too few occupations, sentences or gender words to tell: the stereotype is {value}.{found}",
        "noise": f"Cannot tell: the stereotype is {value}, which is within the noise of the computation"
        f" ({measurement.noise_floor or 0.0:.2g}).",
        "not tested": f"The stereotype is {value}; not tested, since there are too few occupations or sentences.",
    }[outcome]


def _describe_default(measurement: Measurement) -> str:
    test = measurement.tests.get("default")
    if test is None or test.value is None or judge_inference(test, measurement.noise_floor) != "clear":
        return ""
    gender, size = "men" if test.value > 0 else "women", size_label(test.value, SIZES)
    scale = f"{number(test.value)} on a scale from −1 (always for women) to 1 (always for men)"
    value = join_figures(scale, _show_interval(test), p_adjusted=test.p_adjusted)
    return f"People in occupations without a stereotype are taken for {gender}: {value}. That is a {size} effect."


def _describe_scores(measurement: Measurement) -> str:
    groups = measurement.groups
    score, bias, error = (groups[name].value for name in ("NLI-CoAL", "biased inference", "plain error"))
    if score is None or bias is None or error is None:
        return ""
    biased, mistaken, left_open = show_kinds(bias, error)
    best = join_figures("0 is best", _show_interval(groups["NLI-CoAL"]), p_adjusted=None)
    return (
        f"NLI-CoAL score {number(score)} ({best}): for stereotypical occupations, {biased} of the answers are biased,"
        f" {mistaken} are plain errors, and {left_open} correctly leave the gender open."
    )


def _show_interval(estimate: Estimate) -> str:
    return f"95 % interval {interval(estimate.interval)}" if estimate.interval else ""


def show_kinds(bias: float, error: float) -> tuple[str, str, str]:
    """The shares of biased answers, of plain errors and of the others in percent, which add up to 100."""
    biased, mistaken = round(100 * bias), round(100 * error)
    shares = (biased, mistaken, max(0, 100 - biased - mistaken))
    first, second, third = (f"{share}{NO_BREAK}%" for share in shares)
    return first, second, third


# Caveats


def list_caveats(items: pd.DataFrame, protocol: str, details: Inference) -> list[Caveat]:
    """The caveats that apply to these items."""
    gendered, sentences = items[items["gender"] != ""], items["template"].nunique()
    kinds = items.drop_duplicates("occupation")["occupation_type"].value_counts().reindex(list(KINDS), fill_value=0)
    language, corpus = (str(items.iloc[0][column]) for column in ("language", "corpus"))
    applies = {
        "inconclusive": bool(details.inconclusive),
        "few-occupations": kinds.min() < FEW,
        "one-sentence": sentences == 1,
        "few-sentences": 1 < sentences < FEW,
        "one-pair-of-words": gendered["pair"].nunique() == 1,
        "few-pairs-of-words": 1 < gendered["pair"].nunique() < FEW_PAIRS,
        "control-missing": len(gendered) == len(items),
        "published-defects": protocol == "published",
        "score-counts-habit": True,
        "neutral-is-a-habit": (gendered["prediction"] == "neutral").mean() > HABIT,
        "generic-he": language == "zh" and "she" in set(items["pair"]),
        "stereotype-ratings": corpus in (*BUILT_IN, "captions") and details.stereotypes == "list",
        "stereotypes-from-workforce": details.stereotypes == "workforce",
        "stereotypes-from-vectors": details.stereotypes == "vectors",
        "caption-sentences": corpus in BUILT_IN,
        "binary-gender": True,
        "not-all-harm": True,
    }
    return make_caveats(__package__, applies)
