"""The report of sentiment: key figures, how far ratings move, which words move them, and example texts, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.details import SIZES, TEXTS, WORDS, Part, Ratings
from unmask.measures.sentiment.examples import extreme_texts, select_changed
from unmask.measures.texts import describe_method, load_texts
from unmask.report.blocks import Block, Examples, Figure, KeyFigure, Legend, Section, Style, Text
from unmask.report.charts import ForestRow, forest, histogram
from unmask.report.default_blocks import default_facts, list_groups, list_tests
from unmask.report.drawing import FEMALE, MALE, TextColumns, fit_domain
from unmask.results import Measurement
from unmask.results.formatting import NO_BREAK, certainty, count, interval, number, percent_interval, share, signed
from unmask.results.verdict import describe_test, is_clear, is_noise, side
from unmask.statistics.proportions import wilson_interval

if TYPE_CHECKING:
    import pandas as pd

MOST_TERMS = 24
"""The largest number of terms drawn."""
MOST_NAMED_TERMS = 3
SHARE_SHOWN = 0.99
"""The share of the texts within the axis of the histogram. With the others, the rest would be a line."""
STRETCH = 1e-3
"""The axis is not stretched below this share of its end."""
LONG_TEXTS = {
    "head": "Of longer texts, only the beginning was read",
    "head+tail": "Of longer texts, only the beginning and the end were read",
    "window": "Longer texts were read in overlapping windows, and the rating is the mean over the windows",
}
_EXPLANATIONS = load_texts(__package__)["key_figures"]


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """Key figures, how far ratings move and which words move them, the texts that moved most, how they were read."""
    ratings, texts = measurement.read_details(Ratings), select_changed(measurement, items)
    means = list_groups(measurement.groups, "Mean differences", digits=ratings.digits)
    tests = list_tests(measurement.tests, "Over words and over texts", terminal=True, digits=ratings.digits)
    reading = Text(list(_list_reading(measurement, ratings)), style="list", terminal=True)
    return [
        *_show_key_figures(measurement, ratings),
        Section("How far ratings move", [_show_histogram(measurement, ratings, texts), means], layout="two columns"),
        *([Section("Over words and over texts", [tests])] if len(measurement.tests) > 1 else []),
        _show_sources(ratings),
        _show_extremes(measurement, ratings, texts),
        Section("How the texts were read", [reading]),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    return describe_method(__package__, measurements, SIZES)


def facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Rows of the provenance."""
    ratings = measurement.read_details(Ratings)
    return [
        *default_facts(measurement),
        ("duplicates, counted once", count(ratings.duplicates)),
        ("texts with a term", count(ratings.changed)),
        ("rating", ratings.rating),
        ("span of the scale", f"{ratings.scale:.4g}"),
        ("terms", ratings.terms),
        ("long texts", ratings.long_texts or "–"),
        ("most tokens", "–" if ratings.most_tokens is None else count(ratings.most_tokens)),
    ]


# Key figures


def _show_key_figures(measurement: Measurement, ratings: Ratings) -> Iterator[KeyFigure]:
    """The bias over words and over texts, how far single texts move, labels that flip, and the direction."""
    yield from _show_biases(measurement, ratings)
    absolute = measurement.groups.get("absolute bias, changed texts")
    if absolute is not None and absolute.value is not None:
        noise = is_noise(absolute.value, measurement.noise_floor)
        label = "within the noise" if noise else f"{ratings.label_size(absolute.value)} shifts"
        sure = certainty(interval(absolute.interval, ratings.digits))
        yield KeyFigure("Absolute bias", number(absolute.value, ratings.digits), sure, label, _EXPLANATIONS["absolute"])
    if not ratings.changed:
        return
    if ratings.flips is not None:
        bounds = percent_interval(wilson_interval(ratings.flips / ratings.changed, ratings.changed))
        sure = f"{count(ratings.flips)} of {count(ratings.changed)} texts, {certainty(bounds)}"
        label = f"one text in {count(round(ratings.changed / ratings.flips))}" if ratings.flips else "no label changes"
        value = share(ratings.flips, ratings.changed)
        yield KeyFigure("Labels that flip", value, sure, label, _EXPLANATIONS["flips"])
    yield _show_direction(measurement, ratings)


def _show_biases(measurement: Measurement, ratings: Ratings) -> Iterator[KeyFigure]:
    """The bias over words, which is the primary test, and the mean over texts."""
    titles = {WORDS: "Bias over words", TEXTS: "Mean over texts"}
    nouns = {WORDS: ("bias", ratings.scarce), TEXTS: ("difference", "texts")}
    which = "whose ratings differ" if measurement.protocol == "published" else "with a gender term"
    for name in (name for name in titles if name in measurement.tests):
        test, (noun, sample) = measurement.tests[name], nouns[name]
        if not ratings.changed or (test.value is None and name != WORDS):
            continue
        size = ratings.label_size(test.value or 0.0)
        noise_floor = measurement.noise_floor
        verdict = describe_test(test, noun, size=size, noise_floor=noise_floor, sample=sample, **ratings.limits)
        if is_clear(test, noise_floor, margin=ratings.limits["margin"]):
            verdict = f"{size}, {'male' if (test.value or 0.0) > 0 else 'female'} versions rated higher"
        if name == WORDS and test.p_adjusted is None:
            verdict = f"too few {sample} to tell"
        if ratings.outside == ratings.changed:
            verdict = "not tested"
        explanation = _EXPLANATIONS["words" if name == WORDS else "total"].format(which)
        sure = certainty(interval(test.interval, ratings.digits), test.p_adjusted)
        yield KeyFigure(titles[name], signed(test.value, ratings.digits), sure, verdict, explanation)


def _show_direction(measurement: Measurement, ratings: Ratings) -> KeyFigure:
    test = measurement.tests[TEXTS]
    effect, label = "no effect size", ""
    if test.effect_size is not None:
        bounds = interval(test.effect_size_interval).replace(" ", NO_BREAK)
        effect = f"rank-biserial effect size {number(test.effect_size)} {bounds}".rstrip()
        label = {1: "most favour male versions", -1: "most favour female versions", 0: "neither side prevails"}[
            side(test.effect_size_interval)
        ]
    counts: dict[Style, int] = {"female": ratings.below, "neutral": ratings.equal, "male": ratings.above}
    explanation = (
        f"{count(ratings.below)} texts are rated higher in the female version, {count(ratings.equal)} equally,"
        f" {count(ratings.above)} higher in the male version. {_EXPLANATIONS['direction']}"
    )
    value = f"{share(ratings.below, ratings.changed)} : {share(ratings.above, ratings.changed)}"
    return KeyFigure("Direction, female : male", value, effect, label, explanation, tuple(counts.items()))


# How far ratings move, and why


def _show_histogram(measurement: Measurement, ratings: Ratings, texts: pd.DataFrame | None) -> Block:
    limit = None if texts is None else find_axis_limit(texts["bias"])
    if texts is None or limit is None:
        note = "The ratings of single texts were not stored with this result, or none differ."
        return Text([note], style="note")
    biases, mean = texts["bias"].to_numpy(dtype=float), measurement.tests["bias"].value
    caption = "Each text with a gender term counts once."
    if equal := int((biases == 0).sum()):
        caption += f" {count(equal)} without any difference are not drawn."
    if beyond := int((np.abs(biases) > limit).sum()):
        verb = "is" if beyond == 1 else "are"
        caption += f" {count(beyond)} {verb} beyond ±{number(limit, ratings.digits)}, off this axis."
    description = (
        "Histogram: the number of texts by the difference between the ratings of their male and female versions"
    )
    return Figure("", partial(draw_histogram, biases, mean, limit), description, caption)


def find_axis_limit(biases: ArrayLike) -> float | None:
    """Up to which difference a histogram shows texts; None if no text has a difference."""
    sizes = np.abs(np.asarray(biases, dtype=float))
    sizes = sizes[sizes > 0]
    return float(np.quantile(sizes, SHARE_SHOWN, method="higher")) if sizes.size else None


def draw_histogram(biases: ArrayLike, mean: float | None, limit: float) -> str:
    """Draw the differences of single texts. Most are tiny and a few large, so the axis is stretched near zero."""
    sizes = np.abs(np.asarray(biases, dtype=float))
    return histogram(
        biases,
        limit=limit,
        mean=mean,
        colours=(FEMALE, MALE),
        sides=("female rated higher", "male rated higher"),
        title="male − female rating, stretched near 0",
        noun="texts",
        stretch=max(float(np.median(sizes[sizes > 0])), STRETCH * limit) if sizes.any() else None,
    )


def _show_sources(ratings: Ratings) -> Section:
    """Which terms, lengths and labels the bias comes from."""
    terms, title = (ratings.by_pair, "By pair of terms") if ratings.by_pair else (ratings.by_term, "By term")
    frequent = select_frequent(terms)
    part = f" ({len(frequent)} of {len(terms)})" if len(frequent) < len(terms) else ""
    others = [*ratings.by_length, *ratings.by_label]
    panels = [
        (f"{title}{part}", frequent, frequent),
        ("By length", ratings.by_length, others),
        ("By label", ratings.by_label, others),
    ]
    figures = [
        Figure(
            title,
            partial(draw_parts, parts, compared, ratings.digits),
            f"Points: mean difference of male and female ratings with its interval. {title}",
        )
        for title, parts, compared in panels
        if any(part.bias is not None for part in parts)
    ]
    by_pair = "by pair: what one occurrence of male/female adds, with the other pairs held equal"
    legend = Legend(
        [
            ("female", "female version rated higher"),
            ("male", "male version rated higher"),
            ("", "lines: 95 % intervals, not corrected for the number of rows"),
            ("", "filled: the interval excludes 0"),
            ("", by_pair if ratings.by_pair else "by term: a text counts for each of its terms"),
        ]
    )
    content: list[Block] = []
    if figures:
        columns: list[Block] = [figures[0], *([Section("", figures[1:])] if len(figures) > 1 else [])]
        content += [legend, Section("", columns, layout="two columns")]
    clear = sorted((part for part in ratings.by_term if side(part.interval)), key=lambda part: -abs(part.bias or 0.0))
    if clear:
        named = ", ".join(f"{part.name} {signed(part.bias, ratings.digits)}" for part in clear[:MOST_NAMED_TERMS])
        content.append(Text([f"Terms whose texts move most: {named}."], style="note", terminal=True))
    if not ratings.by_term:
        content.append(Text(["The terms were not stored with this result."], style="note"))
    return Section("Where it comes from", content)


def select_frequent(parts: Sequence[Part]) -> list[Part]:
    """The terms that occur in most texts, sorted by bias."""
    frequent = sorted((part for part in parts if part.bias is not None), key=lambda part: -part.n)
    return sorted(frequent[:MOST_TERMS], key=lambda part: -(part.bias or 0.0))


def draw_parts(parts: Sequence[Part], compared: Sequence[Part], digits: int) -> str:
    """Draw parts on a scale that fits all parts they are compared with; filled where the interval excludes zero."""
    rows = [
        ForestRow(
            part.name,
            part.bias,
            part.interval,
            [signed(part.bias, digits)],
            f"{part.name}: {signed(part.bias, digits)} {interval(part.interval, digits)}, {part.n:,} texts",
            filled=side(part.interval) != 0,
            colour=MALE if part.bias > 0 else FEMALE,
            left=f"{part.n:,}",
        )
        for part in parts
        if part.bias is not None
    ]
    domain = fit_domain(value for part in compared for value in (part.bias, *(part.interval or ())))
    columns = TextColumns([62], ["bias"], "texts")
    return forest(rows, domain=domain, columns=columns, width=170, row_height=24)


# Texts


def _show_extremes(measurement: Measurement, ratings: Ratings, texts: pd.DataFrame | None) -> Section:
    title = "The texts that moved most"
    if texts is None or not texts["bias"].any():
        return Section(title, [Text(["The texts were not stored with this result, or no rating moved."], style="note")])
    examples = [
        Examples(
            f"Rated higher in the {gender} version",
            extreme_texts(texts, male=gender == "male", digits=ratings.digits),
            language=measurement.language,
        )
        for gender in ("female", "male")
    ]
    note = "The texts were not stored with this result."
    if "text" in texts and texts["text"].astype(bool).any():
        note = "Where the versions differ, both are shown: female/male. Long texts are shortened around these words."
    note += " Extremes show what can happen, not what is usual."
    return Section(title, [Text([note], style="note"), *examples], layout="two columns")


def _list_reading(measurement: Measurement, ratings: Ratings) -> Iterator[str]:
    """How these texts were read, in sentences."""
    terms = SentimentMeasure.variants.get(ratings.terms, ratings.terms)
    yield f"Words exchanged: {terms}. A rating is {ratings.rating}."
    counts = (
        f"{count(ratings.changed)} of {count(ratings.texts)} texts have a gender term, so that their female and male"
        " versions differ."
    )
    if ratings.changed < ratings.texts:
        counts += " The others have no bias by construction."
    if ratings.duplicates:
        counts += (
            f" {count(ratings.duplicates)} duplicates (given twice, or different in gender alone) were counted once."
        )
    yield counts
    if ratings.long_texts and ratings.most_tokens:
        reading = LONG_TEXTS.get(ratings.long_texts, "Longer texts were shortened")
        yield f"The model reads {count(ratings.most_tokens)} tokens at once. {reading} ({ratings.long_texts})."
    if ratings.cut == 0:
        yield "No text with a gender term was too long."
    elif ratings.cut is not None:
        line = f"{count(ratings.cut)} of the texts with a gender term were too long to be read whole"
        if ratings.outside is not None and ratings.partly_outside is not None:
            line += (
                f": in {count(ratings.outside)} no term was read, so their bias is 0 by construction, and in"
                f" {count(ratings.partly_outside)} only some"
            )
        yield f"{line}."
    if measurement.noise_floor is not None:
        yield (
            f"Ratings change slightly with batching (by up to {measurement.noise_floor:.2g}). Smaller differences are"
            " noise."
        )
    if ratings.without_family is not None:
        low, high = (number(value, ratings.digits) for value in ratings.without_family)
        yield f"Without one of the {ratings.families} pairs of words, the bias over words is between {low} and {high}."
    detectable = {name: measurement.tests[name].detectable for name in (WORDS, TEXTS) if name in measurement.tests}
    for name, what in ((WORDS, "bias over words"), (TEXTS, "mean over texts")):
        if (least := detectable.get(name)) is not None:
            yield f"The smallest {what} that is found with a probability of 80 % is {number(least, ratings.digits)}."
