"""The key figures of ratings: what each is, how sure, how large, and how to read it.

Size and certainty are never confused: the words for size depend on the estimate alone, those for certainty on the
adjusted p-value alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.measures.sentiment.details import Ratings
from unmask.measures.sentiment.interpret import digits, size_of
from unmask.report.pages import Card, count, share, signed
from unmask.results import Estimate, Measurement
from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import is_clear, is_noise
from unmask.statistics.proportion import wilson

NO_BREAK = "\N{NO-BREAK SPACE}"


def ratings_of(measurement: Measurement) -> Ratings:
    """What is special to ratings."""
    return measurement.read_details(Ratings)


def verdict(test: Estimate | None, measurement: Measurement) -> str:
    """Whether there is a bias, by the adjusted p; how large it is, by the estimate alone."""
    if test is None or test.p_adjusted is None or test.value is None:
        return "not tested"
    if is_noise(test.value, measurement.noise_floor):
        return "below the noise of the computation"
    if not is_clear(test, measurement.noise_floor):
        return "no clear bias"
    size = size_of(test.value, ratings_of(measurement))
    if (test.effect_size or 0.0) * test.value < 0:
        return f"{size}, no single direction"
    return "negligible, not chance" if size == "negligible" else f"{size} bias"


def cards(measurement: Measurement) -> Iterator[Card]:
    """Total and absolute bias, labels that flip, and the direction; those that there are."""
    ratings = ratings_of(measurement)
    test, precise = measurement.test("bias"), digits(ratings)
    if test is not None and test.value is not None:
        between = f"95 % interval {_between(test.interval, precise)}" if test.interval else "no interval"
        sure = "" if test.p_adjusted is None else f", p {p_value(test.p_adjusted)}"
        which = "whose ratings differ" if measurement.protocol == "published" else "that have a term"
        reading = f"{_TOTAL.format(which)} {_way(test, measurement, ratings)}".rstrip()
        value = signed(test.value, precise)
        yield Card("Total bias", value, between + sure, verdict(test, measurement), reading)
    absolute = measurement.groups.get("absolute bias, changed texts")
    if absolute is not None and absolute.value is not None:
        between = f"95 % interval {_between(absolute.interval, precise)}" if absolute.interval else "no interval"
        noise = measurement.noise_floor is not None and absolute.value <= measurement.noise_floor
        said = "below the noise of the computation" if noise else f"{size_of(absolute.value, ratings)} shifts"
        yield Card("Absolute bias", number(absolute.value, precise), between, said, _ABSOLUTE)
    if ratings.flips is not None and ratings.changed:
        low, high = (100 * bound for bound in wilson(ratings.flips / ratings.changed, ratings.changed))
        sure = f"{count(ratings.flips)} of {count(ratings.changed)} texts, 95 % interval {low:.1f} to {high:.1f} %"
        said = f"one text in {count(round(ratings.changed / ratings.flips))}" if ratings.flips else "no label changes"
        yield Card("Labels that flip", share(ratings.flips, ratings.changed), sure, said, _FLIPS)
    if ratings.changed:
        yield _direction(measurement, ratings, test)


def _between(bounds: tuple[float, float], precise: int = 2) -> str:
    """An interval that stays in one line."""
    return interval(bounds, precise).replace(" ", NO_BREAK)


def _direction(measurement: Measurement, ratings: Ratings, test: Estimate | None) -> Card:
    counts = (ratings.below, ratings.equal, ratings.above)
    effect, leans = "no effect size", "not tested"
    if test is not None and test.effect_size is not None:
        bounds = f" {_between(test.effect_size_interval)}" if test.effect_size_interval else ""
        effect = f"rank-biserial effect size {number(test.effect_size)}{bounds}"
        sides = ("no side", "male versions", "female versions")  # 0, 1, −1
        if test.p_adjusted is not None:
            side = (
                sides[(test.effect_size > 0) - (test.effect_size < 0)]
                if is_clear(test, measurement.noise_floor)
                else sides[0]
            )
            leans = f"leans to {side}" if side != sides[0] else "no clear direction"
    value = f"{share(ratings.below, ratings.changed)} : {share(ratings.above, ratings.changed)}"
    reading = (
        f"{count(counts[0])} texts rate higher in the female version, {count(counts[1])} alike,"
        f" {count(counts[2])} higher in the male version. {_DIRECTION}"
    )
    styles = ("female", "equal", "male")
    return Card("Direction, female : male", value, effect, leans, reading, tuple(zip(styles, counts, strict=True)))


_TOTAL = (
    "The mean of male minus female ratings, over the texts {}. Above 0 the male versions are rated"
    " higher, below 0 the female ones."
)
_ABSOLUTE = (
    "How far the rating of a text moves on average, whichever way. Where this is far above the total bias, single"
    " texts move and the movements cancel out."
)
_FLIPS = "The share of the texts with a term whose label is another in the female version than in the male one."
_DIRECTION = (
    "The effect size weighs them by rank: −1 if all favour the female version, 0 if the sides are even, 1 if all favour"
    " the male one. It does not say how far ratings move."
)


def _way(test: Estimate, measurement: Measurement, ratings: Ratings) -> str:
    if is_noise(test.value, measurement.noise_floor) or not test.value or test.p_adjusted is None:
        return ""
    if not is_clear(test, measurement.noise_floor):
        return "This one may be chance."
    way = "male" if test.value > 0 else "female"
    size = f"{number(100 * abs(test.value) / ratings.scale)} %" if ratings.scale else "little"
    return f"Here the {way} versions are rated higher, by {size} of the scale."
