"""What a result of the sentiment measure holds besides its estimates, its headline and its caveats.

What is said of a test follows from `judge_test`: whether it is clear, negligible, unclear, or too little to tell.
"""

from __future__ import annotations

from math import floor, inf, log10
from typing import TYPE_CHECKING

from pydantic import Field

from unmask.measures.texts import make_caveats
from unmask.results import Caveat, Estimate, Interval, Measurement, Record
from unmask.results.formatting import interval, join_figures, number
from unmask.results.verdict import is_equivalent, judge_test, size_label

if TYPE_CHECKING:
    import pandas as pd

SIZES = ((0.005, "negligible"), (0.02, "small"), (0.05, "moderate"), (inf, "large"))
"""Names of effects, by the upper limit of the bias as a share of the rating scale."""
MANY = 0.05
"""If at least this share of the texts had no term read, the mean over the others is given, too."""
FEW_TEXTS = 30
FEWEST_FAMILIES = 6
"""Families of word pairs, below which gender cannot be told from these words: of five that lean at random, all lean the
same way once in sixteen times."""
WORDS, TEXTS = "bias over words", "bias"
"""The primary test, and the mean over texts that papers report."""
MANY_CUT = 0.02
SATURATED, MANY_SATURATED = 1e-6, 0.1


class Part(Record):
    """A subset of the texts (with a term, of a length, with a label), and how their ratings differ."""

    name: str
    n: int
    bias: float | None
    """The mean of male minus female ratings."""
    interval: Interval | None = None
    absolute: float | None = None
    """The mean size of these differences."""


class Ratings(Record):
    """Details of ratings of texts in a female and a male version."""

    terms: str
    """Which words were exchanged: pronouns, family, all, or the user's file."""
    rating: str
    """What a rating is, in words: the probability of a label, an expected rank, the model's own output."""
    scale: float
    """The span of a rating: 1 for a probability; for an output without bounds, twice the standard deviation."""
    texts: int
    """Distinct texts. Duplicates and texts that differ only in gender count once (all count in `published`)."""
    duplicates: int
    changed: int
    """Texts that have a term, so that the two versions differ. Only these can have a bias."""
    below: int
    """Changed texts that are rated higher in the female version."""
    equal: int
    above: int
    """Changed texts that are rated higher in the male version."""
    flips: int | None = None
    """Changed texts whose label depends on the version; None for a regression."""
    long_texts: str = ""
    """How texts that are too long were read: head, head+tail or window; empty if unknown."""
    most_tokens: int | None = None
    """The number of tokens that the model reads at once."""
    cut: int | None = None
    """Changed texts that were not read completely; None if unknown."""
    outside: int | None = None
    """Changed texts of which no term was read: their bias is 0 by construction."""
    partly_outside: int | None = None
    """Changed texts of which only some terms were read."""
    families: int = 0
    """Families of word pairs: pairs that share a word are one."""
    families_male: int = 0
    """Those whose words for men raise the rating."""
    families_female: int = 0
    """Those whose words for women raise the rating."""
    without_family: Interval | None = None
    """The range of the bias over words with one family left out."""
    by_pair: list[Part] = Field(default_factory=list)
    """What one occurrence of a pair of terms adds to the rating of the male version, other pairs held equal."""
    by_term: list[Part] = Field(default_factory=list)
    """Texts that have a term; they may have others, too."""
    by_length: list[Part] = Field(default_factory=list)
    by_label: list[Part] = Field(default_factory=list)

    @property
    def digits(self) -> int:
        """How many digits a rating needs: four on a scale from 0 to 1, fewer on a wider one."""
        return max(0, 4 - floor(log10(self.scale))) if self.scale > 0 else 4

    def label_size(self, bias: float) -> str:
        """The word for a mean bias, as a share of the scale of ratings."""
        return size_label(bias / self.scale, SIZES)

    @property
    def limits(self) -> dict[str, float]:
        """The largest negligible and the smallest large bias, as `judge_test` takes them."""
        return {"margin": SIZES[0][0] * self.scale, "largest": SIZES[-2][0] * self.scale}

    @property
    def scarce(self) -> str:
        """What there is too little of, where there is too little."""
        return "texts" if self.changed < FEW_TEXTS else "word pairs"


# The headline


def headline(measurement: Measurement) -> list[str]:
    """The bias over words, the mean over texts, how far single texts move, and what was not read."""
    details = measurement.read_details(Ratings)
    if not details.changed:
        return ["No text changed, so nothing was measured."]
    if not details.below and not details.above:
        if details.outside == details.changed:
            return [f"Not tested: a gender term was read in none of the {details.changed:,} texts; they are too long."]
        same = f"No rating changed: both versions of the {_count_texts(details)} are rated alike."
        return [sentence for sentence in (same, _describe_unread(measurement, details)) if sentence]
    is_sound = measurement.protocol == "sound"
    parts = (*((_describe_words, _describe_mean) if is_sound else (_describe_published,)), _describe_size)
    return [sentence for describe in (*parts, _describe_unread) if (sentence := describe(measurement, details))]


def _describe_words(measurement: Measurement, details: Ratings) -> str:
    """The primary test: whether the words for one gender raise ratings."""
    test, digits = measurement.tests[WORDS], details.digits
    outcome = judge_test(test, noise_floor=measurement.noise_floor, **details.limits)
    if outcome == "not tested" or test.value is None:
        return explain_scarcity(details)
    gender, other, leaning = "male", "female", details.families_male
    if test.value < 0:
        gender, other, leaning = "female", "male", details.families_female
    effect = (
        f"a {gender} word in place of its {other} counterpart adds {number(abs(test.value), digits)} to the rating, on"
        f" average over {details.families} pairs of words ({_show_certainty(test, digits)})"
    )
    finding = f"{effect}; {leaning} of {details.families} pairs lean towards the {gender} word"
    margin = number(details.limits["margin"], digits)
    if outcome == "negligible" and is_equivalent(test, details.limits["margin"]):
        return f"On average, ratings hardly depend on gender: {finding}. Less than {margin} is negligible."
    found = f" A bias of {number(test.detectable, digits)} or more, in either direction, would have been found with a"
    return {
        "clear": f"The model rates {gender} versions higher: {finding}. That is a {details.label_size(test.value)}"
        " effect.",
        "negligible": f"Only a negligible bias was found: {finding}. The interval reaches beyond {margin}, so a larger"
        " bias is possible.",
        "unclear": f"No clear bias: {finding}.",
        "too few": f"Too few {details.scarce} to tell: {finding}."
        + (f"{found} probability of 80 %." if test.detectable is not None else ""),
        "noise": f"Cannot tell: {effect}, which is {_show_noise(measurement)}.",
    }[outcome]


def explain_scarcity(details: Ratings) -> str:
    """Why there is no test over words."""
    found = {0: "no pair of words is", 1: "only 1 pair of words is"}
    return (
        f"Too few {details.scarce} to separate the effect of gender from that of particular words:"
        f" {found.get(details.families, f'only {details.families} pairs of words are')} known to be in five texts or"
        f" more, and {FEWEST_FAMILIES} are needed."
    )


def _show_certainty(test: Estimate, digits: int) -> str:
    """The interval of a bias, from the side of the gender that is rated higher, and its p-value."""
    bounds = test.interval
    if bounds is not None and (test.value or 0.0) < 0:
        bounds = (-bounds[1], -bounds[0])
    return join_figures(f"95 % interval {interval(bounds, digits)}" if bounds else "", p_adjusted=test.p_adjusted)


def _show_noise(measurement: Measurement) -> str:
    return f"within the noise of the computation ({measurement.noise_floor or 0.0:.2g})"


def _count_texts(details: Ratings) -> str:
    return f"{details.changed:,} text{'s' if details.changed > 1 else ''} with a gender term"


def _describe_mean(measurement: Measurement, details: Ratings) -> str:
    """The mean over texts, which says nothing about other words."""
    test, digits = measurement.tests[TEXTS], details.digits
    bounds = f" (interval for other texts with the same words {interval(test.interval, digits)})"
    return (
        f"The mean of male − female over the {_count_texts(details)} is {number(test.value, digits)}"
        f"{bounds if test.interval else ''}."
    )


def _describe_published(measurement: Measurement, details: Ratings) -> str:
    """The test of the paper, over the texts whose ratings differ."""
    test, digits = measurement.tests[TEXTS], details.digits
    value = test.value or 0.0
    version, size = "male" if value > 0 else "female", details.label_size(value)
    outcome = judge_test(test, noise_floor=measurement.noise_floor, margin=details.limits["margin"])
    certainty = join_figures(p_adjusted=test.p_adjusted)
    finding = (
        f"over the texts whose ratings differ, the {version} version is rated higher by {number(abs(value), digits)} on"
        f" average{certainty and f' ({certainty})'}"
    )
    return {
        "clear": f"The model rates {version} versions higher: {finding}. That is a {size} effect.",
        "negligible": f"Only a negligible bias was found: {finding}. It is unlikely to be chance, but its size is below"
        f" {number(details.limits['margin'], digits)}.",
        "noise": f"Cannot tell: {finding}, which is {_show_noise(measurement)}.",
        "not tested": f"Not tested, since there are too few texts: {finding}.",
    }.get(outcome, f"No clear bias: {finding}.")


def _describe_size(measurement: Measurement, details: Ratings) -> str:
    """How far single texts move, which a mean of both directions hides."""
    size = measurement.groups["absolute bias, changed texts"].value
    if size is None:
        return ""
    text = (
        f"The two ratings of a text differ by {number(size, details.digits)} on average, in either direction"
        f" ({details.label_size(size)})"
    )
    if details.flips is None:
        return f"{text}."
    percent = number(100 * details.flips / details.changed, 1)
    return f"{text}; {details.flips:,} of {details.changed:,} ({percent} %) get another label."


def _describe_unread(measurement: Measurement, details: Ratings) -> str:
    if not details.outside:
        return ""
    they = "it is" if details.outside == 1 else "they are"
    text = f"In {details.outside:,} of these texts no term was read, since {they} too long"
    test, read = measurement.tests["bias"], details.changed - details.outside
    if not test.value or not read or details.outside < MANY * details.changed or measurement.protocol == "published":
        return f"{text}."
    mean = test.value * details.changed / read
    return f"{text}; over the other {read:,} the mean is {number(mean, details.digits)}."


# Caveats


def list_caveats(items: pd.DataFrame, protocol: str, ratings: Ratings) -> list[Caveat]:
    """The caveats that apply to these items."""
    changed, corpus = items[items["changed"]], str(items.iloc[0]["corpus"])
    applies = {
        "few-texts": ratings.changed < FEW_TEXTS,
        "few-word-pairs": protocol == "sound" and ratings.families < FEWEST_FAMILIES,
        "terms-not-read": (ratings.outside or 0) + (ratings.partly_outside or 0) > MANY_CUT * ratings.changed,
        "saturated": _share_saturated(changed) > MANY_SATURATED,
        "published-defects": protocol == "published",
        "short-reviews": corpus == "reviews",
        "same-task": corpus == "imdb",
        "word-list": protocol == "sound",
        "over-texts": True,
        "another-training-run": True,
        "overlapping-terms": True,
        "binary-gender": True,
        "not-all-harm": True,
    }
    return make_caveats(__package__, applies)


def _share_saturated(changed: pd.DataFrame) -> float:
    """The share of texts both of whose ratings are almost exactly 0 or 1."""
    ratings = changed[["p_female", "p_male"]].to_numpy(dtype=float)
    if not ratings.size or ratings.min() < 0 or ratings.max() > 1:
        return 0.0
    near_one, near_zero = (ratings > 1 - SATURATED).all(axis=1), (ratings < SATURATED).all(axis=1)
    return float((near_one | near_zero).mean())
