"""What a result of the sentiment measure holds besides its estimates, its headline and its caveats.

With 20,000 texts a bias of a thousandth is beyond chance. So the words for size depend on the estimate alone, the words
for certainty on the adjusted p-value alone, and an effect below the noise of the computation is called noise.
"""

from __future__ import annotations

from math import floor, inf, log10
from typing import TYPE_CHECKING

from pydantic import Field

from unmask.measures.texts import make_caveats
from unmask.results import Caveat, Interval, Measurement, Record
from unmask.results.formatting import interval, number, p_value
from unmask.results.verdict import is_clear, is_noise, is_significant, side, size_label

if TYPE_CHECKING:
    import pandas as pd

SIZES = ((0.005, "negligible"), (0.02, "small"), (0.05, "moderate"), (inf, "large"))
"""Names of effects, by the upper limit of the bias as a share of the rating scale."""
MANY = 0.05
"""If at least this share of the texts had no term read, the mean over the others is given, too."""
FEW_TEXTS = 30
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
    detectable: float | None = None
    """The mean bias that a test at the 5 % level detects with a power of 80 %, with this many texts."""
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


# The headline


def headline(measurement: Measurement) -> list[str]:
    """The bias, whether it holds over words, how far single texts move, and what was not read."""
    details = measurement.read_details(Ratings)
    parts = (_describe_bias, _describe_words, _describe_size, _describe_unread)
    return [sentence for describe in parts if (sentence := describe(measurement, details))]


def _describe_bias(measurement: Measurement, details: Ratings) -> str:
    test, digits = measurement.tests["bias"], details.digits
    if test.value is None or not details.changed:
        return "No text changed, so nothing was measured."
    texts = f"{details.changed:,} text{'s' if details.changed > 1 else ''} with a gender term"
    if not details.below and not details.above:
        return f"No rating depends on gender: both versions of the {texts} are rated alike."
    if is_noise(test.value, measurement.noise_floor):
        return (
            f"No bias found: the mean difference of {number(test.value, digits)} is below the noise of the computation."
        )
    version, size = "male" if test.value > 0 else "female", details.label_size(test.value)
    bounds = f" (95 % interval of male − female {interval(test.interval, digits)})" if test.interval else ""
    finding = (
        f"over the {'texts whose ratings differ' if measurement.protocol == 'published' else texts}, the {version}"
        f" version is rated higher by {number(abs(test.value), digits)} on average{bounds}"
    )
    if test.p_adjusted is None:
        return f"Not tested, since there are too few texts: {finding}."
    includes_zero = test.interval is not None and not side(test.interval)
    p = f"p {p_value(test.p_adjusted)}"
    if not is_clear(test, measurement.noise_floor):
        if test.interval is None or includes_zero:
            return f"No clear bias: {finding}, which is compatible with no difference ({p})."
        return (
            f"No clear bias: {finding}, but the typical text does not clearly lean that way ({p}); a few texts may"
            " carry the mean."
        )
    if includes_zero or (test.effect_size or 0.0) * test.value < 0:  # a few texts that move far outweigh many others
        return (
            f"Ratings depend on gender ({p}), but in no single direction: {finding}, while the typical text leans the"
            " other way, or the mean may be 0."
        )
    if size == "negligible":
        return f"Gender hardly changes the ratings: {finding}. That is negligible, although it is not chance ({p})."
    return f"The model rates {version} versions higher: {finding}. That is a {size} effect, and it is not chance ({p})."


def _describe_words(measurement: Measurement, details: Ratings) -> str:
    """Whether it is gender, or a few words."""
    del details
    bias, words = measurement.tests["bias"], measurement.tests.get("bias over words")
    if words is None or words.value is None or not bias.value or not is_clear(bias, measurement.noise_floor):
        return ""
    pairs = f"{words.n} pairs of terms"
    if words.p_adjusted is None:
        return f"With {pairs} that are frequent enough, it cannot be told whether it is gender or these words."
    male = int(words.statistic or 0)
    leaning = male if bias.value > 0 else words.n - male
    p = f"p {p_value(words.p_adjusted)}"
    if not is_significant(words.p_adjusted):
        return (
            f"It may be a matter of some words more than of gender: {leaning} of {pairs} lean that way ({p}), as with a"
            " model that has learned nothing."
        )
    if words.value * bias.value < 0:
        return f"Counted by words it is the other way round: {words.n - leaning} of {pairs} lean against it."
    return f"It holds over words: {leaning} of {pairs} lean that way ({p})."


def _describe_size(measurement: Measurement, details: Ratings) -> str:
    """How far single texts move, which a mean of both directions hides."""
    size = measurement.groups["absolute bias, changed texts"].value
    if size is None or not (details.below or details.above):
        return ""
    text = (
        f"A single text moves by {number(size, details.digits)} on average, one way or the other"
        f" ({details.label_size(size)})"
    )
    if details.flips is None:
        return f"{text}."
    percent = number(100 * details.flips / details.changed, 1)
    return f"{text}; {details.flips:,} of {details.changed:,} ({percent} %) get another label."


def _describe_unread(measurement: Measurement, details: Ratings) -> str:
    if not details.outside:
        return ""
    were = "was" if details.outside == 1 else "were"
    text = f"In {details.outside:,} of them none of the terms {were} read, since the text is too long"
    test, read = measurement.tests["bias"], details.changed - details.outside
    if not test.value or not read or details.outside < MANY * details.changed or measurement.protocol == "published":
        return f"{text}."
    mean = test.value * details.changed / read
    return f"{text}; over the other {read:,} the mean is {number(mean, details.digits)} ({details.label_size(mean)})."


# Caveats


def list_caveats(items: pd.DataFrame, protocol: str, ratings: Ratings) -> list[Caveat]:
    """The caveats that apply to these items."""
    changed, corpus = items[items["changed"]], str(items.iloc[0]["corpus"])
    applies = {
        "few-texts": ratings.changed < FEW_TEXTS,
        "terms-not-read": (ratings.outside or 0) + (ratings.partly_outside or 0) > MANY_CUT * ratings.changed,
        "saturated": _share_saturated(changed) > MANY_SATURATED,
        "published-defects": protocol == "published",
        "short-reviews": corpus == "reviews",
        "same-task": corpus == "imdb",
        "word-list": protocol == "sound",
        "over-texts": True,
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
