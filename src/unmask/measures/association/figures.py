"""The figures of association: bars by profession, of one model or of two, and professions against the workforce."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from unmask.measures.association import REAL
from unmask.measures.association.details import ProfessionChange, ProfessionValue
from unmask.measures.texts import load_texts
from unmask.report.blocks import Figure, Legend, Section, Style, Text
from unmask.report.charts import Axis, BarRow, Dot, bars, scatter
from unmask.report.drawing import GENDER_COLOURS, Domain, TextColumns, fit_domain, shorten
from unmask.results import Estimate, Measurement
from unmask.results.formatting import capital, interval, number, percent, signed

USUAL_ORDER = ("male", "female", "balanced")
MOST_BARS, MOST_LABELS = 40, 18
"""How many professions are drawn in a panel, and labelled in a scatter plot."""


@dataclass(frozen=True)
class ProfessionBars:
    """A profession of a bar chart."""

    name: str
    group: str
    values: Sequence[tuple[float | None, float | None]]
    """Female and male value, for each panel."""
    difference: float | None
    """By which professions are sorted."""
    share: float | None = None
    """Women's share of the workforce."""


def build_profession_figures(attributes: str, professions: Sequence[ProfessionValue]) -> Section:
    """Bars for each group of professions, sorted by difference; of a long list, both ends."""
    members = [
        ProfessionBars(
            value.profession, value.group, [(value.female, value.male)], value.difference, value.workforce_share
        )
        for value in professions
    ]
    members.sort(key=lambda member: (member.difference is None, -(member.difference or 0.0)))
    legend = ["f − m: the difference, by which the rows are sorted"]
    legend += ["%: women in the workforce"] if any(member.share is not None for member in members) else []
    return _build_section(attributes, members, ("",), "in nats, sorted by difference", legend)


def build_change_figures(attributes: str, professions: Sequence[ProfessionChange]) -> Section:
    """Bars before and after for each group of professions; of a long list, the largest changes."""
    members = [
        ProfessionBars(
            value.profession,
            value.group,
            [(value.female_before, value.male_before), (value.female_after, value.male_after)],
            value.change,
        )
        for value in professions
    ]
    members.sort(key=lambda member: (member.difference is None, -abs(member.difference or 0.0)))
    legend = ["change: of the female − male difference; the largest come first"]
    what = "before and after, in nats, sorted by the size of the change"
    return _build_section(attributes, members, ("before", "after"), what, legend)


def _build_section(
    attributes: str, members: Sequence[ProfessionBars], panels: Sequence[str], what: str, legend: Iterable[str]
) -> Section:
    noun, is_change = attributes.removesuffix("s"), len(panels) > 1
    longest_name = max((len(member.name) for member in members), default=0)
    domain = fit_domain(value for member in members for pair in member.values for value in pair)
    figures = []
    groups = sorted(
        {member.group for member in members}, key=lambda group: (*(group != name for name in USUAL_ORDER), group)
    )
    for group in groups:
        in_group = [member for member in members if member.group == group]
        selected = [member for member in in_group if any(value is not None for pair in member.values for value in pair)]
        if not selected:
            continue
        if len(selected) > MOST_BARS:
            ends = selected[: MOST_BARS // 2] + selected[-MOST_BARS // 2 :]
            selected = selected[:MOST_BARS] if is_change else ends
        which = "the largest changes" if is_change else "the highest and the lowest"
        part = f" ({len(selected)} of {len(in_group)}: {which})" if len(selected) < len(in_group) else ""
        description = (
            f"Bars: mean association of female and male person words with each {noun} of the group {group}, {what}"
        )
        draw = partial(_draw_bars, selected, panels, domain, longest_name)
        figures.append(Figure(capital(f"{group} {attributes}{part}"), draw, description))
    if not figures:
        return Section(f"By {noun}", [Text([f"There are no values by {noun}."], style="note")])
    entries: list[tuple[Style, str]] = [("female", "female person words"), ("male", "male person words")]
    entries += [("", text) for text in ("scale in nats", *legend)]
    return Section(f"By {noun}", [Legend(entries), Section("", figures, layout="panels")])


def _draw_bars(members: Sequence[ProfessionBars], panels: Sequence[str], domain: Domain, longest_name: int) -> str:
    has_shares = any(member.share is not None for member in members)
    rows = [
        BarRow(member.name, member.values, signed(member.difference), _format_share(member.share) if has_shares else "")
        for member in members
    ]
    right, head, width = (44, "change", 74) if len(panels) > 1 else (42, "f − m", 116)
    columns = TextColumns([right], [head], "women" if has_shares else "", longest_name)
    return bars(rows, GENDER_COLOURS, domain, columns, panels=panels, unit="nats", width=width)


def list_correlations(measurement: Measurement) -> dict[str, Estimate]:
    """Correlations of the female − male difference with the share of women, by name."""
    names = {"pearson": "Pearson’s r", "spearman": "Spearman’s ρ"}
    tests = {title: measurement.test("workforce", correlation=name) for name, title in names.items()}
    return {title: test for title, test in tests.items() if test is not None}


def build_workforce_figure(measurement: Measurement, professions: Sequence[ProfessionValue]) -> Section:
    """Professions by women's share of their workforce and their female − male difference."""
    title = "Against the workforce"
    dots = []
    for profession in professions:
        share, difference = profession.workforce_share, profession.difference
        if share is not None and difference is not None:
            gap = f"{signed(difference)} {interval(profession.difference_interval)} nats"
            tip = f"{shorten(profession.profession)}: {gap}, {_format_share(share)} women"
            dots.append(Dot(share, difference, profession.profession, tip, interval=profession.difference_interval))
    if not dots:
        return Section(title, [Text(["No profession has both a workforce share and a difference."], style="note")])
    caption = load_texts(__package__)["report"]["scatter_sentences" if measurement.corpus == REAL else "scatter"]
    for name, test in list_correlations(measurement).items():
        if test.value is not None:
            caption += f" {name} = {number(test.value)} {interval(test.interval)} over {test.n} professions."
    description = "Scatter plot: the share of women in each profession against its female minus male association"
    return Section(title, [Figure("", partial(_draw_scatter, dots), description, caption)])


def _draw_scatter(dots: Sequence[Dot]) -> str:
    shares = [dot.x for dot in dots]
    across = Axis((min(0, *shares), max(100, *shares)), "Women in the workforce (%)", ticks=10)
    heights = fit_domain(end for dot in dots for end in dot.interval or (dot.y, dot.y))
    up = Axis(heights, "Female − male association (nats)", ticks=7, lines=[0])
    # labels in turn for the highest, the lowest, and those ranked most differently by association and by share
    by_value = sorted(range(len(dots)), key=lambda index: dots[index].y)
    by_share = sorted(range(len(dots)), key=lambda index: dots[index].x)
    value_rank, share_rank = ({index: rank for rank, index in enumerate(order)} for order in (by_value, by_share))
    odd = sorted(by_value, key=lambda index: -abs(value_rank[index] - share_rank[index]))
    trios = zip(reversed(by_value), by_value, odd, strict=True)
    order = list(dict.fromkeys(index for trio in trios for index in trio))[: 5 * MOST_LABELS]
    return scatter(dots, across, up, size=(740, 400), radius=3.8, order=order, labels=MOST_LABELS, right=126)


def _format_share(share: float | None) -> str:
    """A share of the workforce that is given in percent."""
    return "–" if share is None else percent(share / 100, 1 if share < 10 else 0)
