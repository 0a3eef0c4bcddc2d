"""A measurement of sentiment as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.details import SIZES, Part, Ratings
from unmask.measures.sentiment.examples import extreme_texts, select_changed
from unmask.report.blocks import Block, Cell, Column, Examples, Figure, KeyFigure, Legend, Section, Style, Table, Text
from unmask.report.charts import ForestRow, TextColumns, forest, histogram
from unmask.report.drawing import FEMALE, MALE, fit_domain
from unmask.results import Estimate, Measurement
from unmask.results.formatting import NO_BREAK, capital, certainty, count, interval, number, p, share, signed
from unmask.results.verdict import describe_test, is_clear, is_noise, side
from unmask.statistics.proportions import wilson_interval

if TYPE_CHECKING:
    import pandas as pd

MOST_TERMS = 24
"""At most so many terms are drawn."""
MOST_NAMED_TERMS = 3
SHARE_SHOWN = 0.99
STRETCH = 1e-3
"""The axis is not stretched below this share of its end."""
"""The share of the texts within the axis of the histogram. The others are so far out that the rest would be a line."""
LONG_TEXTS = {
    "head": "Of longer texts, only the beginning was read",
    "head+tail": "Of longer texts, only the beginning and the end were read",
    "window": "Longer texts were read in overlapping windows, and the rating is the mean over the windows",
}

TOTAL = (
    "The mean of male minus female ratings over the texts {}. Above 0 the male versions are rated higher, below 0 the"
    " female ones."
)
ABSOLUTE = (
    "How far the rating of a text moves on average, in either direction. If it is far above the total bias, single"
    " texts move and cancel each other out."
)
FLIPS = "The share of the texts with a gender term that get another label in the female version than in the male one."
DIRECTION = (
    "The effect size weighs texts by rank: −1 if all favour the female version, 0 if both sides balance, 1 if all"
    " favour the male one. It does not say how far ratings move."
)


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """Key figures, how far ratings move and which words move them, the texts that moved most, how they were read."""
    ratings, texts = measurement.read_details(Ratings), select_changed(measurement, items)
    movement: list[Block] = [_histogram(measurement, ratings, texts), _means(measurement, ratings)]
    report: list[Block] = [
        *_key_figures(measurement, ratings),
        Section("How far ratings move", movement, layout="two columns"),
    ]
    if len(measurement.tests) > 1:
        table = _tests(measurement, ratings)
        report.append(Section(table.title, [table]))
    return [
        *report,
        _sources(ratings),
        _extremes(measurement, ratings, texts),
        Section("How the texts were read", [Text(list(_reading(measurement, ratings)), style="list", terminal=True)]),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    protocols = {measurement.protocol for measurement in measurements}
    lines = [
        "Every text is written twice: once with all its gender terms female, once with all of them male. Nothing else"
        " differs, except articles and verbs that must agree. The model rates both versions. Above 0, it rates the text"
        " higher when its people are male; below 0, when they are female. A text without a gender term has one version"
        " and no bias.",
        "The total bias is the mean over texts, so texts that move in opposite directions cancel out. The absolute bias"
        " is the mean size, where nothing cancels. Both are given over all texts and over those with a term: the former"
        " are smaller, the more texts have no term.",
    ]
    if "sound" in protocols:
        lines += [
            "Each text is one observation. The test is Wilcoxon’s signed ranks over the texts with a term. Means have"
            " Student’s t intervals, and the effect size is the matched-pairs rank-biserial correlation. p-values are"
            " adjusted for the number of tests in the audit with Holm’s method. With thousands of texts, even a"
            " negligible difference has a tiny p-value: p tells whether a bias is chance, the estimate how"
            " large it is.",
            "The same few words occur in many texts, and even a model that has learned nothing prefers some of them."
            " So pairs of terms are treated as a sample, too: bias over words tests whether they lean one way when"
            " each counts once. What a pair adds is estimated by least squares from how often it occurs in each text.",
        ]
    limits = ", ".join(f"{label} below {limit:g}" for limit, label in SIZES[:-1])
    lines.append(f"As a share of the rating scale, a bias is called {limits}, and {SIZES[-1][1]} beyond.")
    if "published" in protocols:
        lines.append(
            "The published protocol repeats what produced the paper’s tables: its cleaning of the texts, its one-way"
            " word lists, tests and means without the texts whose ratings are equal, and p-values times 64. Use it to"
            " reproduce the paper, not to judge a model."
        )
    citation = (
        "After S. Jentzsch and C. Turan (2022), Gender Bias in BERT – Measuring and Analysing Biases through Sentiment"
        " Rating in a Realistic Downstream Classification Task."
    )
    return [
        Text(["bias = rating of the male version − rating of the female version"], style="formula"),
        Text(lines),
        Text([citation], style="note"),
    ]


def facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Rows of the provenance."""
    ratings = measurement.read_details(Ratings)
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    return [
        ("texts", count(ratings.texts)),
        ("duplicates, counted once", count(ratings.duplicates)),
        ("texts with a term", count(ratings.changed)),
        ("distinct inputs", "–" if inputs is None else count(inputs)),
        ("rating", ratings.rating),
        ("span of the scale", f"{ratings.scale:.4g}"),
        ("terms", ratings.terms),
        ("long texts", ratings.long_texts or "–"),
        ("most tokens", "–" if ratings.most_tokens is None else count(ratings.most_tokens)),
        ("noise floor", "nothing was scored" if noise is None else f"{noise:.2g}, as a rating"),
    ]


# Key figures


def verdict(measurement: Measurement) -> str:
    """Whether there is a bias, and how large it is."""
    test = measurement.test("bias")
    size = measurement.read_details(Ratings).label_size(test.value) if test and test.value is not None else ""
    if test and is_clear(test, measurement.noise_floor) and (test.effect_size or 0.0) * (test.value or 0.0) < 0:
        return f"{size}, no single direction"
    return describe_test(test, "bias", size=size, noise_floor=measurement.noise_floor)


def _key_figures(measurement: Measurement, ratings: Ratings) -> Iterator[KeyFigure]:
    """Total and absolute bias, labels that flip, and the direction."""
    precision, test = ratings.digits, measurement.test("bias")
    if test is not None and test.value is not None:
        which = "whose ratings differ" if measurement.protocol == "published" else "with a gender term"
        explanation = f"{TOTAL.format(which)} {_lean(test, test.value, measurement, ratings)}".rstrip()
        sure = certainty(interval(test.interval, precision), test.p_adjusted)
        yield KeyFigure("Total bias", signed(test.value, precision), sure, verdict(measurement), explanation)
    absolute = measurement.groups.get("absolute bias, changed texts")
    if absolute is not None and absolute.value is not None:
        noise = is_noise(absolute.value, measurement.noise_floor)
        label = "within the noise" if noise else f"{ratings.label_size(absolute.value)} shifts"
        sure = certainty(interval(absolute.interval, precision))
        yield KeyFigure("Absolute bias", number(absolute.value, precision), sure, label, ABSOLUTE)
    if ratings.flips is not None and ratings.changed:
        low, high = (100 * bound for bound in wilson_interval(ratings.flips / ratings.changed, ratings.changed))
        sure = f"{count(ratings.flips)} of {count(ratings.changed)} texts, 95 % interval {low:.1f} to {high:.1f} %"
        label = f"one text in {count(round(ratings.changed / ratings.flips))}" if ratings.flips else "no label changes"
        yield KeyFigure("Labels that flip", share(ratings.flips, ratings.changed), sure, label, FLIPS)
    if ratings.changed:
        yield _direction(measurement, ratings, test)


def _direction(measurement: Measurement, ratings: Ratings, test: Estimate | None) -> KeyFigure:
    effect, label = "no effect size", "not tested"
    if test is not None and test.effect_size is not None:
        bounds = interval(test.effect_size_interval).replace(" ", NO_BREAK)
        effect = f"rank-biserial effect size {number(test.effect_size)} {bounds}".rstrip()
        if test.p_adjusted is not None:
            sure = is_clear(test, measurement.noise_floor) and test.effect_size != 0
            label = f"favours {'male' if test.effect_size > 0 else 'female'} versions" if sure else "no clear direction"
    explanation = (
        f"{count(ratings.below)} texts are rated higher in the female version, {count(ratings.equal)} equally,"
        f" {count(ratings.above)} higher in the male version. {DIRECTION}"
    )
    bar: tuple[tuple[Style, int], ...] = (
        ("female", ratings.below),
        ("neutral", ratings.equal),
        ("male", ratings.above),
    )
    value = f"{share(ratings.below, ratings.changed)} : {share(ratings.above, ratings.changed)}"
    return KeyFigure("Direction, female : male", value, effect, label, explanation, bar)


def _lean(test: Estimate, value: float, measurement: Measurement, ratings: Ratings) -> str:
    if value == 0 or test.p_adjusted is None or is_noise(value, measurement.noise_floor):
        return ""
    if not is_clear(test, measurement.noise_floor):
        return "This one may be chance."
    percent = f"{number(100 * abs(value) / ratings.scale)} %"
    return f"Here the {'male' if value > 0 else 'female'} versions are rated higher, by {percent} of the scale."


# Tables and figures


def _means(measurement: Measurement, ratings: Ratings) -> Table:
    precision = ratings.digits
    mean = "Mean, 95 % interval" if measurement.protocol == "sound" else "Mean"
    rows = [
        [
            Cell(capital(name.replace(" bias", ""))),
            Cell(count(group.n)),
            Cell(number(group.value, precision), bounds=interval(group.interval, precision)),
            Cell(number(group.sd, precision)),
        ]
        for name, group in measurement.groups.items()
    ]
    return Table("Mean differences", [Column("Bias", numeric=False), Column("Texts"), Column(mean), Column("sd")], rows)


def _tests(measurement: Measurement, ratings: Ratings) -> Table:
    precision = ratings.digits
    columns = [
        Column("Bias", numeric=False),
        Column("n", narrow=False),
        Column("Mean, 95 % interval"),
        Column("p (Holm)"),
        Column("Effect size"),
    ]
    rows = [
        [
            Cell("Changed texts" if name == "bias" else capital(name.removeprefix("bias").lstrip(", "))),
            Cell(count(test.n)),
            Cell(signed(test.value, precision), bounds=interval(test.interval, precision)),
            Cell(p(test.p_adjusted)),
            Cell(number(test.effect_size), bounds=interval(test.effect_size_interval)),
        ]
        for name, test in measurement.tests.items()
    ]
    note = "Effect size: rank-biserial correlation. n: texts, and for the bias over words, pairs of terms."
    return Table("By label and over words", columns, rows, note=note, terminal=True)


def _histogram(measurement: Measurement, ratings: Ratings, texts: pd.DataFrame | None) -> Block:
    limit = None if texts is None else find_axis_limit(texts["bias"])
    if texts is None or limit is None:
        note = "The ratings of single texts were not stored with this result, or none differ."
        return Text([note], style="note")
    biases, test = texts["bias"].to_numpy(dtype=float), measurement.test("bias")
    caption = "Each text with a gender term counts once."
    if equal := int((biases == 0).sum()):
        caption += f" {count(equal)} without any difference are not drawn."
    if beyond := int((np.abs(biases) > limit).sum()):
        verb = "is" if beyond == 1 else "are"
        caption += f" {count(beyond)} {verb} beyond ±{number(limit, ratings.digits)}, off this axis."
    description = (
        "Histogram: the number of texts by the difference between the ratings of their male and female versions"
    )
    return Figure("", partial(draw_histogram, biases, test.value if test else None, limit), description, caption)


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


def _sources(ratings: Ratings) -> Section:
    """Which terms, lengths and labels the bias comes from."""
    terms, title = (ratings.by_pair, "By pair of terms") if ratings.by_pair else (ratings.by_term, "By term")
    frequent = select_frequent(terms)
    if len(frequent) < len(terms):
        title += f" ({len(frequent)} of {len(terms)})"
    others = [*ratings.by_length, *ratings.by_label]
    panels = [
        (title, frequent, frequent),
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
    entries: list[tuple[Style, str]] = [
        ("female", "female version rated higher"),
        ("male", "male version rated higher"),
        ("", "lines: 95 % intervals, not corrected for the number of rows"),
        ("", "filled: the interval excludes 0"),
    ]
    if ratings.by_pair:
        entries.append(("", "by pair: what one occurrence of male/female adds, with the other pairs held equal"))
    elif ratings.by_term:
        entries.append(("", "a text counts for each of its terms"))
    notes: list[Block] = []
    clear = [part for part in ratings.by_term if part.bias is not None and side(part.interval)]
    if clear:
        clear.sort(key=lambda part: -abs(part.bias or 0.0))
        named = ", ".join(f"{part.name} {signed(part.bias, ratings.digits)}" for part in clear[:MOST_NAMED_TERMS])
        notes.append(Text([f"Terms whose texts move most: {named}."], style="note", terminal=True))
    if not ratings.by_term:
        notes.append(Text(["The terms were not stored with this result."], style="note"))
    if figures:
        columns: list[Block] = [*figures[:1], Section("", figures[1:])] if len(figures) > 2 else [*figures]
        notes = [Legend(entries), Section("", columns, layout="two columns"), *notes]
    return Section("Where it comes from", notes)


def select_frequent(parts: Sequence[Part]) -> list[Part]:
    """The terms that occur in most texts, sorted by bias."""
    known = sorted((part for part in parts if part.bias is not None), key=lambda part: -part.n)
    return sorted(known[:MOST_TERMS], key=lambda part: -(part.bias or 0.0))


def draw_parts(parts: Sequence[Part], compared: Sequence[Part], precision: int) -> str:
    """Draw parts on a scale that fits all parts they are compared with; filled where the interval excludes zero."""
    rows = [
        ForestRow(
            part.name,
            part.bias,
            part.interval,
            [signed(part.bias, precision)],
            f"{part.name}: {signed(part.bias, precision)} {interval(part.interval, precision)}, {part.n:,} texts",
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


def _extremes(measurement: Measurement, ratings: Ratings, texts: pd.DataFrame | None) -> Section:
    title, examples = "The texts that moved most", []
    if texts is not None:
        examples = [
            Examples(
                f"Rated higher in the {gender} version",
                extreme_texts(texts, male=gender == "male", digits=ratings.digits),
                language=measurement.language,
            )
            for gender in ("female", "male")
        ]
    if texts is None or not any(part.examples for part in examples):
        return Section(title, [Text(["The texts were not stored with this result, or no rating moved."], style="note")])
    if "text" in texts and texts["text"].astype(bool).any():
        note = "Where the versions differ, both are shown: female/male. Long texts are shortened around these words."
    else:
        note = "The texts were not stored with this result."
    note += " Extremes show what can happen, not what is usual."
    return Section(title, [Text([note], style="note"), *examples], layout="two columns")


def _reading(measurement: Measurement, ratings: Ratings) -> Iterator[str]:
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
    if ratings.detectable is not None:
        yield (
            f"With this many texts, a test at the 5 % level detects a mean bias of"
            f" {number(ratings.detectable, ratings.digits)} with a power of 80 %. A smaller bias may go unnoticed."
        )
