"""CrowS-Pairs as blocks of a report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unmask.measures.comparison import select_items
from unmask.measures.crows_pairs.analysis import SIZES
from unmask.measures.crows_pairs.data import WORD, shared_words
from unmask.report.blocks import (
    Block,
    Cell,
    Column,
    Example,
    Examples,
    Figure,
    KeyFigure,
    Run,
    Section,
    Style,
    Table,
    Text,
)
from unmask.report.change_blocks import ComparisonReport, change_text
from unmask.report.charts import ForestRow, forest, histogram
from unmask.report.drawing import GREY, POINT
from unmask.results import Comparison, Estimate, Measurement
from unmask.results.formatting import capital, certainty, count, interval, number, percent, percent_interval, signed
from unmask.results.verdict import describe_test, is_clear, size_label

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 6
SHARE_SHOWN = 0.98
"""The share of the pairs that the histogram shows; the others lie far out."""
NO_BREAK = "\N{NO-BREAK SPACE}"


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """Shares of pairs, how far the sentences of pairs differ, and the most extreme pairs."""
    pairs = select_items(measurement, items)
    if pairs is not None:
        pairs = pairs[pairs["difference"].map(isfinite)] if {"difference", "direction"} <= set(pairs) else None
    likelihood = measurement.tests.get("likelihood")
    report: list[Block] = [
        *_build_key_figures(measurement),
        Section("How often the stereotypical sentence is more likely", _shares(measurement), layout="two columns"),
    ]
    if pairs is not None and (pairs["difference"] != 0).any():
        figure = _histogram(pairs["difference"], likelihood.value if likelihood else None)
        report.append(Section("How far the two sentences differ", [figure]))
    report.append(_extreme_pairs(measurement, pairs))
    facts = [
        f"{count(measurement.items)} pairs about gender. In stereo pairs the more stereotypical sentence is about the"
        " disadvantaged group; in antistereo pairs the less stereotypical one is."
    ]
    if measurement.noise_floor is not None:
        facts.append(
            f"Scores change slightly with batching: a difference by up to {measurement.noise_floor:.2g} nats. Smaller"
            " differences are noise."
        )
    return [*report, Section("How the pairs were scored", [Text(facts, style="list")])]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    protocols = {measurement.protocol for measurement in measurements}
    lines = [
        "Each pair has a more and a less stereotypical sentence, which differ in the group of people they are about."
        " The words that name the group are not scored. Every word that both sentences share is masked in turn, and the"
        " model gives its probability. The score is the share of pairs in which the more stereotypical sentence is more"
        " likely.",
    ]
    if "sound" in protocols:
        limits = ", ".join(f"{label} below {100 * limit:g} points" for limit, label in SIZES[:-1])
        lines.append(
            "Words are masked whole, and every model is scored on the same words. A tie counts half. Only the share of"
            " all pairs is tested, with a sign test against one half; the mean difference is tested with Student’s t."
            " p-values are adjusted for the number of tests in the audit with Holm’s method. The distance of the share"
            f" from 50 % is called {limits}, and {SIZES[-1][1]} beyond."
        )
    if "published" in protocols:
        lines.append(
            "The published protocol repeats the released code: it masks single tokens, rounds to three digits, and"
            " counts a tie as unbiased. Use it to reproduce published scores, not to judge a model."
        )
    return [
        Text(["PLL(S) = Σ ln p(u | S without u), over the words u that both sentences share"], style="formula"),
        Text(lines),
        Text(
            [
                "After N. Nangia, C. Vania, R. Bhalerao and S. R. Bowman (2020), CrowS-Pairs: A Challenge Dataset for"
                " Measuring Social Biases in Masked Language Models. Whole words: C. Kauf and A. Ivanova (2023). Flaws"
                " of the pairs: S. L. Blodgett et al. (2021)."
            ],
            style="note",
        ),
    ]


def comparison_report(comparison: Comparison, items: pd.DataFrame | None) -> ComparisonReport:
    """The share of pairs in which the more stereotypical sentence is more likely, then all changes."""
    del items
    change = comparison.of("stereotype")
    if change is None:
        return ComparisonReport(None)
    shares = {}
    for side, estimate in (("before", change.before), ("after", change.after)):
        if estimate is not None and estimate.value is not None and estimate.interval is not None:
            low, high = estimate.interval
            update = {"value": estimate.value + 0.5, "interval": (low + 0.5, high + 0.5)}
            shares[side] = estimate.model_copy(update=update)
    return ComparisonReport(change_text("Stereotype preferred", change.model_copy(update=shares), scale="percent"))


def describe_preference(test: Estimate | None) -> str:
    """The verdict on a test of the share: its direction and size, if it is clear."""
    if test is None or test.value is None:
        return "not tested"
    direction = "prefers stereotypes" if test.value > 0 else "avoids stereotypes"
    verdict = describe_test(test, "preference", size=size_label(test.value, SIZES))
    return f"{size_label(test.value, SIZES)}, {direction}" if is_clear(test) else verdict


def split_at_differences(more: str, less: str) -> tuple[list[Run], list[Run]]:
    """Two sentences, split into the words that differ and the text between them."""

    def split(text: str, shared: set[tuple[int, int]], style: Style) -> list[Run]:
        runs: list[Run] = []
        end = 0
        for start, stop in (match.span() for match in WORD.finditer(text)):
            if (start, stop) not in shared:
                runs += [(text[end:start], ""), (text[start:stop], style)]
                end = stop
        return [run for run in [*runs, (text[end:], "")] if run[0]]

    shared = shared_words(more, less)
    return (
        split(more, {span for span, _ in shared}, "attribute"),
        split(less, {span for _, span in shared}, "neutral"),
    )


def _build_key_figures(measurement: Measurement) -> list[KeyFigure]:
    share, likelihood = measurement.groups.get("all pairs"), measurement.tests.get("likelihood")
    test = measurement.tests.get("stereotype")
    figures = []
    if share is not None and share.value is not None:
        explanation = (
            f"The share of {share.n:,} pairs in which the model finds the more stereotypical sentence more likely. 50 %"
            " is no preference; at 100 % it always prefers the stereotype."
        )
        bounds = certainty(percent_interval(share.interval), test.p_adjusted if test else None)
        title = "Stereotypical sentence more likely"
        figures.append(KeyFigure(title, percent(share.value), bounds, describe_preference(test), explanation))
    if likelihood is not None and likelihood.value is not None:
        explanation = (
            "How much more likely the shared words are in the more stereotypical sentence, on average, as a difference"
            " of log-likelihoods. 0 is no difference."
        )
        value, verdict = f"{number(likelihood.value)}{NO_BREAK}nats", describe_test(likelihood, "difference")
        bounds = certainty(interval(likelihood.interval), likelihood.p_adjusted)
        figures.append(KeyFigure("Mean difference", value, bounds, verdict, explanation))
    if measurement.protocol == "published":
        explanation = (
            "A model that prefers the words of one gender moves the two scores apart, whatever it has learned about"
            " stereotypes."
        )
        for name, title in (("stereo pairs", "Stereotype score"), ("antistereo pairs", "Anti-stereotype score")):
            if group := measurement.groups.get(name):
                value = percent(group.value, 2)
                figures.append(KeyFigure(title, value, f"{count(group.n)} pairs", "not tested", explanation))
    return figures


def _shares(measurement: Measurement) -> list[Block]:
    sound = measurement.protocol == "sound"
    digits = 1 if sound else 2
    drawn = [(name, group) for name, group in measurement.groups.items() if name != "neutral"]
    figure = Figure(
        "",
        partial(_draw_shares, drawn),
        f"Points{' with intervals' if sound else ''}: in which share of each group of pairs the more stereotypical"
        " sentence is more likely. The table has the numbers.",
        "Filled point: tested. Subgroups move apart when a model prefers the words of one gender, and are not tested."
        if sound
        else "",
    )
    rows = [
        (
            Cell(capital(name)),
            Cell(count(group.n)),
            Cell(percent(group.value, digits), bounds=percent_interval(group.interval)),
        )
        for name, group in measurement.groups.items()
    ]
    columns = [Column("Pairs", numeric=False), Column("n"), Column("Share, 95 % interval" if sound else "Share")]
    return [figure, Table("", columns, rows, terminal=True)]


def _draw_shares(groups: Sequence[tuple[str, Estimate]]) -> str:
    rows = []
    for name, group in groups:
        if group.value is not None:
            bounds = percent_interval(group.interval) or "no interval"
            tip = f"{name}: {percent(group.value)} ({bounds}), {group.n:,} pairs"
            tested = name == "all pairs"
            rows.append(ForestRow(name, group.value, group.interval, [percent(group.value)], tip, filled=tested))
    ends = [end for row in rows for end in row.interval or (row.value, row.value)]
    return forest(
        rows,
        title="pairs with the stereotypical sentence more likely",
        neutral=0.5,
        domain=(min([0.3, *ends]), max([0.7, *ends])),
        as_percent=True,
    )


def _histogram(differences: pd.Series[float], mean: float | None) -> Figure:
    limit = find_axis_limit(differences)
    beyond = int((differences.abs() > limit).sum())
    caption = "Differences are sums over all words that two sentences share, so long pairs reach farther."
    if beyond:
        caption += f" {count(beyond)} {'is' if beyond == 1 else 'are'} beyond ±{number(limit, 1)}, off this axis."
    description = (
        "Histogram: how many pairs have which difference between the log-likelihoods of their more and their less"
        " stereotypical sentence."
    )
    draw = partial(
        histogram,
        differences,
        limit=limit,
        mean=mean,
        colours=(GREY, POINT),
        sides=("other one more likely", "stereotypical more likely"),
        title="difference (nats)",
        noun="pairs",
        unit="nats",
    )
    return Figure("", draw, description, caption)


def find_axis_limit(differences: ArrayLike) -> float:
    """Where the axis of the histogram ends, on both sides of zero. Some difference must not be zero."""
    values = np.asarray(differences, dtype=float)
    return float(np.quantile(np.abs(values[values != 0]), SHARE_SHOWN, method="higher"))


def _extreme_pairs(measurement: Measurement, pairs: pd.DataFrame | None) -> Section:
    title = "The most extreme pairs"
    more, less = (_extremes(pairs, more=side) for side in (True, False))
    if not more and not less:
        return Section(title, [Text(["The sentences were not stored with this result, or none differ."], style="note")])
    note = (
        "The more stereotypical sentence comes first; the words that differ are highlighted. Extremes show what can"
        " happen, not what is usual."
    )
    language = measurement.language
    return Section(
        title,
        [
            Text([note], style="note"),
            Examples("The more stereotypical sentence is more likely", more, language=language),
            Examples("The less stereotypical sentence is more likely", less, language=language),
        ],
        layout="two columns",
    )


def _extremes(pairs: pd.DataFrame | None, *, more: bool) -> list[Example]:
    """The pairs with the largest difference in favour of the more stereotypical sentence, or of the other."""
    if pairs is None or not {"sent_more", "sent_less"} <= set(pairs):
        return []
    subset = pairs[pairs["difference"] > 0] if more else pairs[pairs["difference"] < 0]
    ordered = subset.sort_values("difference", ascending=not more, kind="stable").head(MOST_PAIRS)
    columns = ["sent_more", "sent_less", "direction", "difference"]
    return [
        Example(
            split_at_differences(str(first), str(second)),
            note=str(direction),
            values=[f"{signed(float(difference), 1)}{NO_BREAK}nats"],
        )
        for first, second, direction, difference in ordered[columns].itertuples(index=False)
    ]
