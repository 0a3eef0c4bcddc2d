"""The plots of geometry: a map of words, professions, numbers of clusters, effect sizes, and gender among contrasts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.geometry import ClusterCount, Neighbourhood, WordTest
from unmask.report import charts
from unmask.report.drawing import GENDER_COLOURS, GREY, INK, POINT, TextColumns, fit_domain
from unmask.results import Estimate
from unmask.results.formatting import interval, number, percent, signed
from unmask.results.verdict import is_clear

if TYPE_CHECKING:
    import pandas as pd

MAP_SIZE, MAP_LABELS = (520, 430), 16
STRENGTHS = (0.35, 0.65, 1.0)
"""The opacity of the least, the medium and the most biased third of a side."""
PROFESSIONS_SIZE, PROFESSION_LABELS = (440, 330), 14


def select_mapped(items: pd.DataFrame | None) -> pd.DataFrame | None:
    """The words that have a position on the map; None if there are none."""
    if items is None or not {"word", "bias", "side", "x", "y"} <= set(items):
        return None
    rows = items[items["side"].isin(GENDER_COLOURS) & np.isfinite(items["x"]) & np.isfinite(items["y"])]
    return None if rows.empty else rows


def draw_word_map(items: pd.DataFrame) -> str:
    """Draw the words that have a position on the map.

    The colour is the side by which a word was selected, fainter for less biased words; an outline marks words in the
    cluster of the other side.
    """
    rows = select_mapped(items)
    if rows is None:
        return ""
    outward = rows["bias"].where(rows["side"] == "male", -rows["bias"])
    third = (outward.groupby(rows["side"]).rank(method="first", pct=True) * len(STRENGTHS)).map(ceil).astype(int) - 1
    rows = rows.assign(third=third, astray=find_astray(rows)).sort_values("third", kind="stable")  # the faintest below
    dots = [
        charts.Dot(
            x, y, str(word), f"{word} {signed(bias, 3)}", GENDER_COLOURS[side], STRENGTHS[third], outlined=astray
        )
        for word, bias, side, x, y, third, astray in rows[
            ["word", "bias", "side", "x", "y", "third", "astray"]
        ].itertuples(index=False)
    ]
    ends = [(float(rows[name].min()), float(rows[name].max())) for name in ("x", "y")]
    across, up = (charts.Axis((low, high) if high > low else (low - 1, high + 1), ticks=0) for low, high in ends)
    ordered = rows.reset_index(drop=True).sort_values("bias", kind="stable")
    female, male = (list(ordered.index[ordered["side"] == side]) for side in GENDER_COLOURS)
    order = chain.from_iterable(zip(male[::-1], female, strict=False))  # in turn the most male and the most female
    return charts.scatter(
        dots, across, up, size=MAP_SIZE, radius=3.2, order=order, labels=MAP_LABELS, clear_of_points=False
    )


def find_astray(rows: pd.DataFrame) -> pd.Series[bool]:
    """Whether each word is in the cluster of the other side. Clusters that are mostly reversed are exchanged."""
    if "cluster" not in rows:
        return rows["side"] != rows["side"]
    astray = rows["cluster"].isin(GENDER_COLOURS) & (rows["cluster"] != rows["side"])
    return astray if astray.mean() <= 0.5 else ~astray


def draw_professions(
    professions: Sequence[Neighbourhood], *, removed: bool = False, compared: Iterable[Neighbourhood] = ()
) -> str:
    """Draw the bias of each profession (across) and the share of male words among the words nearest to it (up).

    Args:
        professions: What is drawn. The colour is the stereotype that people have.
        removed: Whether the shares are those without the gender direction.
        compared: What other plots show that must have the same scales.
    """
    every = [*professions, *compared]
    shares = [share for near in every for share in (near.male, near.male_removed) if share is not None] or [0.0, 1.0]
    margin = 0.05 * (max(shares) - min(shares)) or 0.1
    dots = []
    for profession in professions:
        share = profession.male_removed if removed else profession.male
        if share is not None:
            stereotype = profession.stereotype
            colour = GENDER_COLOURS["male" if stereotype > 0 else "female"] if stereotype else GREY
            tip = f"{profession.profession}: bias {signed(profession.bias, 3)}, {percent(share, 0)} male"
            dots.append(charts.Dot(profession.bias, share, profession.profession, tip, colour, 0.8))
    if not dots:
        return ""
    dots.sort(key=lambda dot: dot.colour != GREY)
    x_domain = fit_domain(near.bias for near in every)
    y_domain = max(-0.02, min(shares) - margin), min(1.02, max(shares) + margin)
    x, y = np.array([dot.x for dot in dots]), np.array([dot.y for dot in dots])
    distance = ((x - x.mean()) / np.ptp(x_domain)) ** 2 + ((y - y.mean()) / np.ptp(y_domain)) ** 2
    across = charts.Axis(x_domain, "bias of the profession", lines=[0], ends=("female", "male"))
    up = charts.Axis(y_domain, "male words among the nearest", as_percent=True, lines=[0.5])
    order = np.argsort(-distance, kind="stable").tolist()  # the farthest out first
    return charts.scatter(dots, across, up, size=PROFESSIONS_SIZE, order=order, labels=PROFESSION_LABELS)


def draw_cluster_counts(counts: Sequence[ClusterCount]) -> str:
    """Draw the share of words that clusters sort correctly, by their number, and the upper end of chance."""
    if not counts:
        return ""
    series = []
    for removed, colour in {False: INK, True: POINT}.items():
        subset = [count for count in counts if count.removed == removed]
        where = ", gender direction removed" if removed else ""
        tips = [
            f"{count.clusters} clusters{where}: {percent(count.accuracy)} sorted correctly"
            f" (chance below {percent(count.chance_high)})"
            for count in subset
        ]
        chance = [(count.clusters, count.chance_high, "") for count in subset]
        points = [(count.clusters, count.accuracy, tip) for count, tip in zip(subset, tips, strict=True)]
        series.append(charts.Series(chance, colour, "dashed", ""))
        series.append(charts.Series(points, colour, shape="diamond" if removed else "circle", filled=removed, radius=4))
    shares = [share for count in counts for share in (count.accuracy, count.chance_high)]
    numbers = sorted({count.clusters for count in counts})
    domain = (numbers[0], numbers[-1]) if len(numbers) > 1 else (numbers[0] / 2, numbers[0] * 2)
    across = charts.Axis(domain, "clusters", ticks=numbers, is_log=True)
    up = charts.Axis((min(0.5, *shares) - 0.02, max(shares) + 0.02), "words sorted correctly", as_percent=True)
    return charts.lines(series, across, up)


def draw_effect_sizes(tests: Sequence[tuple[str, Estimate]]) -> str:
    """Draw the effect size of each association test; filled where it is clear."""
    rows = []
    for name, test in tests:
        if test.effect_size is not None:
            tip = f"{name}: d = {number(test.effect_size)} {interval(test.effect_size_interval)}"
            filled, text = is_clear(test), number(test.effect_size)
            rows.append(charts.ForestRow(name, test.effect_size, test.effect_size_interval, [text], tip, filled))
    return charts.forest(rows, title="effect size d", columns=TextColumns([46], ["d"]))


def draw_strips(tests: Sequence[tuple[str, WordTest]], compared: Sequence[WordTest], *, correlations: bool) -> str:
    """Draw gender among unrelated contrasts, on the scale of all tests that are compared."""
    rows = []
    for name, test in tests:
        if test.value is not None:
            others, mean = (test.reference.values, test.reference.mean) if test.reference else ([], None)
            rows.append(charts.Strip(name, test.value, others, mean))
    if correlations:
        return charts.strips(rows, (-1, 1), head="gender")
    shares = [
        value
        for test in compared
        if test.value is not None and test.name != "neighbours"
        for value in (test.value, *(test.reference.values if test.reference else ()))
    ]
    return charts.strips(rows, (min([0.5, *shares]) - 0.01, 1.0), head="gender", as_percent=True)
