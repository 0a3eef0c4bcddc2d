"""The figures of association: bars by profession, of one model or of two, and professions against the workforce."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

from unmask.measures.association.details import ProfessionChange, ProfessionValue
from unmask.report.blocks import Figure, Legend, Section, Style, Text
from unmask.report.charts import Axis, BarRow, Dot, bars, scatter
from unmask.report.drawing import GENDER_COLOURS, TextColumns, fit_domain, shorten
from unmask.results import Estimate, Measurement
from unmask.results.formatting import capital, interval, number, percent, signed

USUAL_ORDER = ("male", "female", "balanced")
MOST_BARS, MOST_LABELS = 40, 18
"""How many professions are drawn in a panel, and labelled in a scatter plot."""
Profession = TypeVar("Profession", ProfessionValue, ProfessionChange)


def build_profession_figures(attributes: str, professions: Sequence[ProfessionValue]) -> Section:
    """Bars for each group of professions, sorted by difference; of a long list, both ends."""
    with_shares = any(profession.workforce_share is not None for profession in professions)
    longest_name = max((len(profession.profession) for profession in professions), default=0)

    def select(members: list[ProfessionValue]) -> list[ProfessionValue]:
        known = [member for member in members if member.female is not None or member.male is not None]
        known.sort(key=lambda member: (member.difference is None, -(member.difference or 0.0)))
        return known if len(known) <= MOST_BARS else known[: MOST_BARS // 2] + known[-MOST_BARS // 2 :]

    def draw(members: Sequence[ProfessionValue]) -> str:
        has_shares = any(member.workforce_share is not None for member in members)
        rows = []
        for member in members:
            share = _format_share(member.workforce_share) if has_shares else ""
            rows.append(BarRow(member.profession, [(member.female, member.male)], signed(member.difference), share))
        domain = fit_domain(value for profession in professions for value in (profession.female, profession.male))
        columns = TextColumns([42], ["f − m"], "women" if has_shares else "", longest_name)
        return bars(rows, GENDER_COLOURS, domain, columns, unit="nats", width=116)

    legend = ["f − m: the difference, by which the rows are sorted"]
    legend += ["%: women in the workforce"] if with_shares else []
    what = "in nats, sorted by difference"
    return _build_section(attributes, professions, select, draw, legend, what, "the highest and the lowest")


def build_change_figures(attributes: str, professions: Sequence[ProfessionChange]) -> Section:
    """Bars before and after for each group of professions; of a long list, the largest changes."""
    longest_name = max((len(profession.profession) for profession in professions), default=0)

    def values(profession: ProfessionChange) -> list[tuple[float | None, float | None]]:
        before = profession.female_before, profession.male_before
        return [before, (profession.female_after, profession.male_after)]

    def select(members: list[ProfessionChange]) -> list[ProfessionChange]:
        known = [member for member in members if any(value is not None for pair in values(member) for value in pair)]
        return sorted(known, key=lambda member: (member.change is None, -abs(member.change or 0.0)))[:MOST_BARS]

    def draw(members: Sequence[ProfessionChange]) -> str:
        rows = [BarRow(member.profession, values(member), signed(member.change)) for member in members]
        domain = fit_domain(value for profession in professions for pair in values(profession) for value in pair)
        columns = TextColumns([44], ["change"], longest_name=longest_name)
        return bars(rows, GENDER_COLOURS, domain, columns, panels=("before", "after"), unit="nats", width=74)

    legend = ["change: of the female − male difference; the largest come first"]
    what = "before and after, in nats, sorted by the size of the change"
    return _build_section(attributes, professions, select, draw, legend, what, "the largest changes")


def _build_section(
    attributes: str,
    professions: Sequence[Profession],
    select: Callable[[list[Profession]], list[Profession]],
    draw: Callable[[Sequence[Profession]], str],
    legend: Iterable[str],
    what: str,
    selected: str,
) -> Section:
    noun = attributes.removesuffix("s")
    figures = []
    groups: set[str] = {profession.group for profession in professions}
    for group in [*(name for name in USUAL_ORDER if name in groups), *sorted(groups.difference(USUAL_ORDER))]:
        members = [profession for profession in professions if profession.group == group]
        shown = select(members)
        if shown:
            part = f" ({len(shown)} of {len(members)}: {selected})" if len(shown) < len(members) else ""
            description = (
                f"Bars: mean association of female and male person words with each {noun} of the group {group}, {what}"
            )
            figures.append(Figure(capital(f"{group} {attributes}{part}"), partial(draw, shown), description))
    if not figures:
        return Section(f"By {noun}", [Text([f"There are no values by {noun}."], style="note")])
    entries: list[tuple[Style, str]] = [("female", "female person words"), ("male", "male person words")]
    entries += [("", text) for text in ("scale in nats", *legend)]
    return Section(f"By {noun}", [Legend(entries), Section("", figures, layout="panels")])


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
    caption = (
        "Each point is a profession; its line is the 95 % interval over person words. Above the dashed line the model"
        " prefers female person words, below it male ones."
    )
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
