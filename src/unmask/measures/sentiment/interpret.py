"""From numbers to words, for somebody who has not read the paper.

With 20,000 texts a bias of a thousandth is beyond chance. So the words for size depend on the estimate alone, the words
for certainty on the adjusted p-value alone, and an effect below the noise of the computation is called noise.
"""

from __future__ import annotations

from math import floor, inf, log10

from unmask.measures.sentiment.details import Ratings
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval as shown
from unmask.results.numbers import number, p_value
from unmask.results.verdict import ALPHA, is_clear, is_noise, size_label

SIZES = ((0.005, "negligible"), (0.02, "small"), (0.05, "moderate"), (inf, "large"))
"""Up to which share of the scale of ratings a bias is called what."""
MANY = 0.05
"""From this share of texts on, those of which nothing was read change what the mean says."""


def headline(measurement: Measurement) -> list[str]:
    """The finding in sentences."""
    sentences = [_bias(measurement), _words(measurement), _spread(measurement), _unread(measurement)]
    return [sentence for sentence in sentences if sentence]


def size_of(bias: float, ratings: Ratings) -> str:
    """The word for a mean bias, as a share of the scale of ratings."""
    return size_label(bias / ratings.scale, SIZES)


def digits(ratings: Ratings) -> int:
    """How many digits a rating needs: four on a scale from 0 to 1, fewer on a wider one."""
    return max(0, 4 - floor(log10(ratings.scale))) if ratings.scale > 0 else 4


def _bias(measurement: Measurement) -> str:
    test, ratings = measurement.tests["bias"], measurement.read_details(Ratings)
    if test.value is None or not ratings.changed:
        return "No text changed, so nothing was measured."
    texts = f"{ratings.changed:,} text{'s' if ratings.changed > 1 else ''} with a gender term"
    if not ratings.below and not ratings.above:
        return f"No rating depends on gender: both versions of the {texts} are rated alike."
    precise = digits(ratings)
    if is_noise(test.value, measurement.noise_floor):
        return (
            f"No bias found: the mean difference of {number(test.value, precise)} is below the noise of the"
            " computation."
        )
    version = "male" if test.value > 0 else "female"
    between = f" (95 % interval of male − female {shown(test.interval, precise)})" if test.interval else ""
    which = "texts whose ratings differ" if measurement.protocol == "published" else texts
    compared = (
        f"over the {which}, the {version} version is rated higher by {number(abs(test.value), precise)} on"
        f" average{between}"
    )
    size = size_of(test.value, ratings)
    if test.p_adjusted is None:
        return f"Not tested, since there are too few texts: {compared}."
    if not is_clear(test, measurement.noise_floor):
        if test.interval is not None and not test.interval[0] <= 0 <= test.interval[1]:
            return (
                f"No clear bias: {compared}, but the typical text does not lean that way, or too many questions were"
                f" asked to be sure (p {p_value(test.p_adjusted)} after correction); a few texts may carry the mean."
            )
        return f"No clear bias: {compared}, which is compatible with no difference (p {p_value(test.p_adjusted)})."
    sure = f"it is not chance (p {p_value(test.p_adjusted)})"
    if _ways_differ(test):
        return (
            f"Ratings depend on gender (p {p_value(test.p_adjusted)}), but in no single direction: {compared}, while"
            " the typical text leans the other way, or the mean may be 0."
        )
    if size == "negligible":
        return f"Gender hardly changes the ratings: {compared}. That is a negligible effect, although {sure}."
    return f"The model rates {version} versions higher: {compared}. That is a {size} effect, and {sure}."


def _words(measurement: Measurement) -> str:
    """Whether it is gender, or a few words."""
    bias, words = measurement.tests["bias"], measurement.tests.get("bias over words")
    if words is None or words.value is None or not is_clear(bias, measurement.noise_floor) or not bias.value:
        return ""
    pairs = f"{words.n} pairs of terms"
    if words.p_adjusted is None:
        return f"With {pairs} that are frequent enough, it cannot be told whether it is gender or these words."
    male = int(words.statistic or 0)
    leaning = male if bias.value > 0 else words.n - male
    if words.p_adjusted >= ALPHA:
        return (
            f"It may be a matter of some words more than of gender: {leaning} of {pairs} lean that way"
            f" (p {p_value(words.p_adjusted)}), as with a model that has learned nothing."
        )
    if words.value * bias.value < 0:
        return f"Counted by words it is the other way round: {words.n - leaning} of {pairs} lean against it."
    return f"It holds over words: {leaning} of {pairs} lean that way (p {p_value(words.p_adjusted)})."


def _ways_differ(test: Estimate) -> bool:
    """Whether mean and ranks disagree: a few texts that move far can outweigh many that move a little."""
    opposite = bool(test.effect_size and test.value and test.effect_size * test.value < 0)
    return opposite or (test.interval is not None and test.interval[0] <= 0 <= test.interval[1])


def _spread(measurement: Measurement) -> str:
    """How far single texts move, which a mean of both directions hides."""
    ratings = measurement.read_details(Ratings)
    group = measurement.groups.get("absolute bias, changed texts")
    if group is None or group.value is None or not (ratings.below or ratings.above):
        return ""
    size = size_of(group.value, ratings)
    said = f"A single text moves by {number(group.value, digits(ratings))} on average, one way or the other ({size})"
    if ratings.flips is None:
        return f"{said}."
    share = number(100 * ratings.flips / ratings.changed, 1) if ratings.flips else "0"
    return f"{said}; {ratings.flips:,} of {ratings.changed:,} ({share} %) get another label."


def _unread(measurement: Measurement) -> str:
    ratings = measurement.read_details(Ratings)
    if not ratings.outside:
        return ""
    were = "was" if ratings.outside == 1 else "were"
    said = f"In {ratings.outside:,} of them none of the terms {were} read, since the text is too long"
    test, read = measurement.tests["bias"], ratings.changed - ratings.outside
    if not test.value or not read or ratings.outside < MANY * ratings.changed or measurement.protocol == "published":
        return f"{said}."
    mean = test.value * ratings.changed / read
    return f"{said}; over the other {read:,} the mean is {number(mean, digits(ratings))} ({size_of(mean, ratings)})."
