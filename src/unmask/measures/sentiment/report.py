"""The report of sentiment: key figures, how far ratings move, which words move them, and example texts, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.details import SIZES, Part, Ratings
from unmask.measures.sentiment.examples import extreme_texts, select_changed
from unmask.measures.sentiment.key_figures import key_figures
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, Examples, Figure, Legend, Section, Style, Table, Text
from unmask.report.charts import ForestRow, forest, histogram
from unmask.report.drawing import FEMALE, MALE, TextColumns, fit_domain
from unmask.results import Measurement
from unmask.results.formatting import capital, count, interval, number, p, signed
from unmask.results.verdict import side

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


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """Key figures, how far ratings move and which words move them, the texts that moved most, how they were read."""
    ratings, texts = measurement.read_details(Ratings), select_changed(measurement, items)
    reading = Text(list(_list_reading(measurement, ratings)), style="list", terminal=True)
    movement: list[Block] = [_show_histogram(measurement, ratings, texts), _list_means(measurement, ratings)]
    report: list[Block] = [
        *key_figures(measurement, ratings),
        Section("How far ratings move", movement, layout="two columns"),
    ]
    if len(measurement.tests) > 1:
        report.append(Section("By label and over words", [_list_tests(measurement, ratings)]))
    return [
        *report,
        _show_sources(ratings),
        _show_extremes(measurement, ratings, texts),
        Section(
            "How the texts were read",
            [reading],
        ),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    protocols, texts = {measurement.protocol for measurement in measurements}, load_texts(__package__)["method"]
    limits = ", ".join(f"{label} below {limit:g}" for limit, label in SIZES[:-1])
    paragraphs = [texts["versions"], texts["means"]]
    paragraphs += [texts["texts"], texts["words"]] if "sound" in protocols else []
    paragraphs.append(f"As a share of the rating scale, a bias is called {limits}, and {SIZES[-1][1]} beyond.")
    paragraphs += [texts["published"]] if "published" in protocols else []
    formula = Text(["bias = rating of the male version − rating of the female version"], style="formula")
    return [formula, Text(paragraphs), Text([texts["citation"]], style="note")]


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


def _list_means(measurement: Measurement, ratings: Ratings) -> Table:
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


def _list_tests(measurement: Measurement, ratings: Ratings) -> Table:
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


def _show_histogram(measurement: Measurement, ratings: Ratings, texts: pd.DataFrame | None) -> Block:
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


def _show_sources(ratings: Ratings) -> Section:
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


def _show_extremes(measurement: Measurement, ratings: Ratings, texts: pd.DataFrame | None) -> Section:
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
    if ratings.detectable is not None:
        yield (
            f"With this many texts, a test at the 5 % level detects a mean bias of"
            f" {number(ratings.detectable, ratings.digits)} with a power of 80 %. A smaller bias may go unnoticed."
        )
