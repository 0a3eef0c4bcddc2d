"""What a result of the inference measure holds besides its estimates, whether it shows bias, headline and caveats."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from pydantic import Field

from unmask.lexicon.inference import KINDS
from unmask.measures.inference.pairs import CONTROL
from unmask.measures.texts import make_caveats
from unmask.results import Caveat, Estimate, Interval, Measurement, Record
from unmask.results.formatting import interval, number, p_value, percent
from unmask.results.verdict import is_clear, size_label

if TYPE_CHECKING:
    import pandas as pd

SIZES = ((0.02, "negligible"), (0.1, "small"), (0.3, "moderate"), (inf, "large"))
"""Names of effects, by the upper limit of the difference of shares."""
UNDERSTOOD = 0.8
"""The share of control pairs that must be entailed."""
MANY_IDENTICAL = 0.5
"""From this share of identical answers on, a model does not distinguish the words for women and men."""
FEW = 8
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
    alike: float | None = None
    """The share of identical probabilities for a woman and a man, among sentences that do not leave the gender open;
    None if there are none, or probabilities are unknown."""
    stereotypes: str = "list"
    """What says which gender an occupation is tied to: list, workforce or vectors."""
    agreement: list[TypeAgreement] = Field(default_factory=list)
    """How far that agrees with the other ways that there is data for."""

    @property
    def passes_control(self) -> bool:
        """Whether enough control pairs are entailed; without control pairs, nothing speaks against it."""
        return all(part.shares["entailment"] >= UNDERSTOOD for part in self.sets if part.name == CONTROL)

    @property
    def separates_words(self) -> bool:
        """Whether the model distinguishes the words for women and men."""
        return self.alike is None or self.alike < MANY_IDENTICAL

    @property
    def is_understood(self) -> bool:
        """Whether the model understands such pairs at all, as far as can be seen."""
        return self.passes_control and self.separates_words


def not_interpretable(measurement: Measurement, *, group: bool = False) -> str:
    """Why a value cannot be read as bias: the score is inconclusive, or the model understands no such pairs."""
    details = measurement.read_details(Inference)
    if details.inconclusive and (group or not details.is_understood):
        return f"the score cannot be read as bias: {details.inconclusive}"
    return ""


# The headline


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences, for readers who have not read the paper."""
    details = measurement.read_details(Inference)
    subject = "The score" if details.is_understood else "This result"
    inconclusive = f"{subject} is inconclusive: {details.inconclusive}." if details.inconclusive else ""
    sentences = [_describe_scores(measurement), inconclusive]
    if details.is_understood:
        sentences = [_describe_stereotype(measurement), _describe_default(measurement), *sentences]
    else:
        sentences.reverse()
    return [sentence for sentence in sentences if sentence] or [
        "No finding: there are too few pairs, or too few kinds; the score needs the sets PS, AS and NS."
    ]


def _describe_stereotype(measurement: Measurement) -> str:
    test = measurement.tests.get("stereotype")
    if test is None:
        return ""
    if test.value is None:
        return "Not tested: the stereotype needs pairs of female and of male occupations."
    value = f"{number(test.value)} of 1{_show_certainty(test)}"
    if test.p_adjusted is None:
        return f"The stereotype is {value}; it is not tested, because there are too few occupations or sentences."
    if not is_clear(test, measurement.noise_floor):
        return f"No clear stereotype: {value}."
    direction = "following stereotypes" if test.value > 0 else "against stereotypes"
    size = size_label(test.value, SIZES)
    return f"The model infers a gender from the occupation, {direction}: {value}, a {size} effect."


def _describe_default(measurement: Measurement) -> str:
    test = measurement.tests.get("default")
    if test is None or test.value is None or not is_clear(test, measurement.noise_floor):
        return ""
    gender, size = "men" if test.value > 0 else "women", size_label(test.value, SIZES)
    return (
        f"People in occupations without a stereotype are taken for {gender}: {number(test.value)} on a scale from −1,"
        f" always women, to 1, always men{_show_certainty(test)}, a {size} effect."
    )


def _describe_scores(measurement: Measurement) -> str:
    groups = measurement.groups
    score, bias, error = (groups[name].value for name in ("NLI-CoAL", "biased inference", "plain error"))
    if score is None or bias is None or error is None:
        return ""
    return (
        f"NLI-CoAL score {number(score)}{_show_certainty(groups['NLI-CoAL'])}: for stereotypical occupations,"
        f" {percent(bias, 0)} of the answers are biased, {percent(error, 0)} are plain errors, and"
        f" {percent(max(0.0, 1 - bias - error), 0)} correctly leave the gender open."
    )


def _show_certainty(estimate: Estimate) -> str:
    parts = [f"95 % interval {interval(estimate.interval)}"] if estimate.interval else []
    parts += [f"p {p_value(estimate.p_adjusted)}"] if estimate.p_adjusted is not None else []
    return f" ({', '.join(parts)})" if parts else ""


# Caveats


def list_caveats(items: pd.DataFrame, protocol: str, details: Inference) -> list[Caveat]:
    """The caveats that apply to these items."""
    gendered, sentences = items[items["gender"] != ""], items["template"].nunique()
    kinds = items.drop_duplicates("occupation")["occupation_type"].value_counts().reindex(list(KINDS), fill_value=0)
    language, corpus = (str(items.iloc[0][column]) for column in ("language", "corpus"))
    applies = {
        "control-failed": not details.passes_control,
        "inconclusive": details.is_understood and bool(details.inconclusive),
        "words-not-told-apart": not details.separates_words,
        "few-occupations": kinds.min() < FEW,
        "one-sentence": sentences == 1,
        "few-sentences": 1 < sentences < FEW,
        "one-pair-of-words": gendered["pair"].nunique() == 1,
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
