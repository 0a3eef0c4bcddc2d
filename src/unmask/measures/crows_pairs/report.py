"""CrowS-Pairs as blocks of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from unmask.measures.comparison import select_items
from unmask.measures.crows_pairs import CrowsPairsMeasure
from unmask.measures.crows_pairs.analysis import LARGE, SIZES, judge_preference
from unmask.measures.crows_pairs.data import WORD, shared_words
from unmask.measures.texts import load_texts
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
from unmask.results.formatting import (
    NO_BREAK,
    capital,
    certainty,
    count,
    interval,
    number,
    percent,
    percent_interval,
    signed,
)
from unmask.results.verdict import describe_test, size_label

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 6
SHARE_SHOWN = 0.98
"""The share of the pairs that the histogram shows; the others lie far out."""
_TEXTS = load_texts(__package__)["report"]


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
    bias_type = CrowsPairsMeasure.other_corpora.get(measurement.corpus)
    facts = [_TEXTS["pairs"].format(count(measurement.items), f" about {bias_type}" if bias_type else "")]
    if measurement.noise_floor is not None:
        facts.append(_TEXTS["noise"].format(measurement.noise_floor))
    return [*report, Section("How the pairs were scored", [Text(facts, style="list")])]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    protocols, texts = {measurement.protocol for measurement in measurements}, load_texts(__package__)["method"]
    paragraphs = [texts["pairs"]]
    if "sound" in protocols:
        limits = ", ".join(f"{label} below {100 * limit:g} points" for limit, label in SIZES[:-1])
        size = f"The distance of the share from 50 % is called {limits}, and {SIZES[-1][1]} beyond."
        paragraphs.append(f"{texts['sound']} {size}")
    if "published" in protocols:
        paragraphs.append(texts["published"])
    formula = "PLL(S) = Σ ln p(u | S without u), over the words u that both sentences share"
    return [Text([formula], style="formula"), Text(paragraphs), Text([texts["citation"]], style="note")]


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
    if test is not None and test.value is not None and judge_preference(test) == "clear":
        return f"{size_label(test.value, SIZES)}, {'prefers' if test.value > 0 else 'avoids'} stereotypes"
    return describe_test(test, "preference", margin=CrowsPairsMeasure.margin, largest=LARGE, sample="pairs")


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
    share, test = measurement.groups.get("all pairs"), measurement.tests.get("stereotype")
    figures = []
    if share is not None and share.value is not None:
        interval_shown = test.effect_size_interval if test else share.interval
        bounds = certainty(percent_interval(interval_shown), test.p_adjusted if test else None)
        title, explanation = "Stereotypical sentence more likely", _TEXTS["share"].format(count(share.n))
        figures.append(KeyFigure(title, percent(share.value), bounds, describe_preference(test), explanation))
    likelihood = measurement.tests.get("likelihood")
    if likelihood is not None and likelihood.value is not None:
        value, verdict = (
            f"{number(likelihood.value)}{NO_BREAK}nats",
            describe_test(likelihood, "difference", noise_floor=measurement.noise_floor),
        )
        bounds = certainty(interval(likelihood.interval), likelihood.p_adjusted)
        figures.append(KeyFigure("Mean difference", value, bounds, verdict, _TEXTS["likelihood"]))
    if measurement.protocol == "published":
        for name, title in (("stereo pairs", "Stereotype score"), ("antistereo pairs", "Anti-stereotype score")):
            if group := measurement.groups.get(name):
                value = percent(group.value, 2)
                figures.append(KeyFigure(title, value, f"{count(group.n)} pairs", "not tested", _TEXTS["halves"]))
    return figures


def _shares(measurement: Measurement) -> list[Block]:
    """A plot and a table of the share in each group of pairs."""
    is_sound = measurement.protocol == "sound"
    groups = {name: group for name, group in measurement.groups.items() if name != "neutral"}
    caption = _TEXTS["shares_caption"] if is_sound else ""
    figure = Figure("", partial(_draw_shares, groups), _TEXTS["shares_plot"], caption)
    rows = [
        [
            Cell(capital(name)),
            Cell(count(group.n)),
            Cell(percent(group.value, 1 if is_sound else 2), bounds=percent_interval(group.interval)),
        ]
        for name, group in measurement.groups.items()
    ]
    columns = [Column("Pairs", numeric=False), Column("n"), Column("Share, 95 % interval" if is_sound else "Share")]
    return [figure, Table("", columns, rows, terminal=True)]


def _draw_shares(groups: Mapping[str, Estimate]) -> str:
    rows = []
    for name, group in groups.items():
        if group.value is not None:
            bounds = percent_interval(group.interval) or "no interval"
            tip = f"{name}: {percent(group.value)} ({bounds}), {group.n:,} pairs"
            is_tested = name == "all pairs"
            rows.append(ForestRow(name, group.value, group.interval, [percent(group.value)], tip, filled=is_tested))
    ends = [end for row in rows for end in row.interval or (row.value, row.value)]
    return forest(
        rows,
        title="pairs with the stereotypical sentence more likely",
        neutral=0.5,
        domain=(min([0.3, *ends]), max([0.7, *ends])),
        as_percent=True,
    )


def _histogram(differences: pd.Series[float], mean: float | None) -> Figure:
    limit, caption = find_axis_limit(differences), _TEXTS["histogram_caption"]
    if beyond := int((differences.abs() > limit).sum()):
        caption += f" {count(beyond)} {'is' if beyond == 1 else 'are'} beyond ±{number(limit, 1)}, off this axis."
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
    return Figure("", draw, _TEXTS["histogram_plot"], caption)


def find_axis_limit(differences: ArrayLike) -> float:
    """Where the axis of the histogram ends, on both sides of zero. Some difference must not be zero."""
    values = np.asarray(differences, dtype=float)
    return float(np.quantile(np.abs(values[values != 0]), SHARE_SHOWN, method="higher"))


def _extreme_pairs(measurement: Measurement, pairs: pd.DataFrame | None) -> Section:
    """The pairs with the largest difference in favour of the more stereotypical sentence, and of the other."""
    title, language = "The most extreme pairs", measurement.language
    groups: list[Examples] = []
    if pairs is not None and {"sent_more", "sent_less"} <= set(pairs):
        more = pairs[pairs["difference"] > 0].nlargest(MOST_PAIRS, "difference")
        less = pairs[pairs["difference"] < 0].nsmallest(MOST_PAIRS, "difference")
        groups = [
            Examples(f"The {side} stereotypical sentence is more likely", _list_examples(subset), language=language)
            for side, subset in (("more", more), ("less", less))
        ]
    if not any(group.examples for group in groups):
        return Section(title, [Text([_TEXTS["no_extremes"]], style="note")])
    return Section(title, [Text([_TEXTS["extremes"]], style="note"), *groups], layout="two columns")


def _list_examples(pairs: pd.DataFrame) -> list[Example]:
    return [
        Example(
            split_at_differences(str(more), str(less)),
            note=str(direction),
            values=[f"{signed(float(difference), 1)}{NO_BREAK}nats"],
        )
        for more, less, direction, difference in pairs[
            ["sent_more", "sent_less", "direction", "difference"]
        ].itertuples(index=False)
    ]
