"""A measurement of association as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unmask.measures.association.details import AssociationDetails, Hypothesis, ProfessionValue
from unmask.measures.association.examples import extreme_sentences
from unmask.measures.association.interpretation import effect_label, has_agreement, noise_floor_of
from unmask.report.blocks import Block, Cell, Column, Figure, KeyFigure, Legend, Section, Style, Table, Text
from unmask.report.charts import Axis, BarRow, Dot, TextColumns, bars, scatter
from unmask.report.drawing import GENDER_COLOURS, fit_domain, shorten
from unmask.results import Estimate, Measurement
from unmask.results.formatting import capital, certainty, count, interval, number, odds, p, percent, signed
from unmask.results.verdict import NOT_INTERPRETABLE, describe_test, is_clear, is_noise

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 4
MOST_BARS, MOST_LABELS = 40, 18
"""At most so many professions are drawn in a panel."""

STEREOTYPE = (
    "Next to typically female professions, the odds of a female over a male person word are this many times those next"
    " to typically male professions. 1 means no difference; below 1 goes against the stereotype."
)
WORKFORCE = (
    "Correlation of the model’s preference for female words with the share of women in a profession. 1: it follows the"
    " workforce; 0: no relation; −1: the opposite."
)
DIFFERENCE = "Female minus male association. Above 0 the model prefers female person words, below 0 male ones."
AGREEMENT = "Grammatical agreement determines this number. Do not read it as bias."


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """Key figures, means, values by profession, the relation to the workforce, hypotheses and sentences."""
    details = measurement.read_details(AssociationDetails)
    contrasts = _contrasts(measurement)
    report: list[Block] = [
        *_key_figures(measurement),
        Section("Mean associations", [_means(measurement), *([contrasts] if contrasts else [])]),
        _by_profession(measurement, details.professions),
    ]
    if measurement.attributes == "professions":
        report.append(_workforce(measurement, details.professions))
    if details.hypotheses:
        report.append(Section("The paper’s hypotheses", [_hypotheses(details.hypotheses)]))
    report.append(_sentences(measurement, items))
    if details.several_pieces:
        words = ", ".join(details.several_pieces)
        line = f"The tokenizer splits these person words into several tokens; each was scored as a whole word: {words}."
        report.append(Text([line], style="note", terminal=True))
    return report


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """Formula, procedure and citation."""
    protocols = {measurement.protocol for measurement in measurements}
    words = " or ".join(dict.fromkeys(_noun(measurement) for measurement in measurements))
    lines = [
        "The model is asked twice how likely a person word (“he”, “my sister”) is at its place in a sentence: once with"
        f" the {words}, and once with the {words} masked (the prior). The difference is what the {words} adds. Values"
        " are in nats, differences of natural logarithms: +0.69 doubles the probability, −0.69 halves it, and 0 leaves"
        " it unchanged."
    ]
    if "sound" in protocols:
        lines.append(
            f"Sentences share {words}s and person words, so they are not independent. Intervals come from a crossed"
            f" jackknife: each {words} and each pair of person words is left out in turn, and the two variances are"
            " added. p-values are adjusted for the number of tests in the audit with Holm’s method. A small p-value"
            " means that an effect is not chance; only the estimate tells how large it is."
        )
    if "published" in protocols:
        lines.append(
            "The published protocol repeats the paper’s test: Wilcoxon’s signed ranks over all pairs of sentences, as"
            " if they were independent, with r = −|Z|/√(2n). Its p-values are far too small, and there are no"
            " intervals. Use it to reproduce the paper, not to judge a model."
        )
    masked = f"ln p(person word | sentence with the {words} masked)"
    return [
        Text([f"association = ln p(person word | sentence) − {masked}"], style="formula"),
        Text(lines),
        Text(
            [
                "After M. Bartl, M. Nissim and A. Gatt (2020), Unmasking Contextual Stereotypes: Measuring and"
                " Mitigating BERT’s Gender Bias."
            ],
            style="note",
        ),
    ]


def facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Rows of the provenance."""
    inputs, noise = measurement.distinct_inputs, measurement.noise_floor
    return [
        ("items", count(measurement.items)),
        ("distinct inputs", "–" if inputs is None else count(inputs)),
        ("noise floor", "nothing was scored" if noise is None else f"{noise:.2g} nats"),
    ]


def _noun(measurement: Measurement) -> str:
    """What persons are put next to, in the singular."""
    return measurement.attributes.removesuffix("s")


# Key figures


def _key_figures(measurement: Measurement) -> Iterator[KeyFigure]:
    """Stereotype, workforce and balanced professions. Without such tests, the difference in each group."""
    main = [measurement.test("stereotype"), measurement.test("workforce", correlation="pearson")]
    groups = ["balanced"] if any(main) else measurement.kinds()[:MOST_GROUPS]
    for test in (*main, *(measurement.test("difference", group=group) for group in groups)):
        if test is not None and test.value is not None:
            yield _key_figure(test, test.value, measurement)


def _key_figure(test: Estimate, value: float, measurement: Measurement) -> KeyFigure:
    contrast, noise = test.labels["contrast"], noise_floor_of(test, measurement)
    bounds, size, noun = interval(test.interval), effect_label(value), "difference"
    if contrast == "stereotype":
        title, shown, explanation = "Stereotype", f"{odds(value)} ×", STEREOTYPE
        bounds = " to ".join(odds(bound) for bound in test.interval or ())
    elif contrast == "workforce":
        title, shown, explanation = "Workforce", f"r = {number(value)}", WORKFORCE
        size, noun = "clear", "relation"
    else:
        title = capital(f"{test.labels['group']} {measurement.attributes}")
        shown, explanation = f"{number(value)} nats", f"{DIFFERENCE} {_shift(test, value, noise)}".rstrip()
    verdict = describe_test(test, noun, size=size, noise_floor=noise)
    if has_agreement(measurement):
        verdict, explanation = NOT_INTERPRETABLE, AGREEMENT
    return KeyFigure(title, shown, certainty(bounds, test.p_adjusted), verdict, explanation)


def _shift(test: Estimate, value: float, noise: float | None) -> str:
    if test.p_adjusted is None or is_noise(value, noise):
        return ""
    if not is_clear(test, noise):
        return "This one may be chance."
    return f"The odds shift by a factor of {odds(abs(value))} towards {'female' if value > 0 else 'male'} words."


# Tables


def _means(measurement: Measurement) -> Table:
    published = measurement.protocol == "published"
    spread = [Column("sd", narrow=False)] if published else []
    columns = [
        Column(capital(measurement.attributes), numeric=False),
        Column("n", narrow=False),
        Column("Female", swatch="female"),
        *spread,
        Column("Male", swatch="male"),
        *spread,
        Column("Difference"),
    ]
    note = (
        f"Columns: female and male person words. Above 0, the {measurement.attributes} of a row make them more likely;"
        " below 0, less likely. Difference: female − male. In nats."
    )
    if published:
        columns += [Column("V"), Column("r"), Column("p")]
    else:
        columns += [Column("p (Holm)"), Column("Effect size", narrow=False)]
        note += " Effect size: rank-biserial correlation. In brackets: 95 % intervals."
    rows = [_means_row(measurement, group) for group in measurement.kinds()]
    return Table("Mean associations", columns, rows, note=note, terminal=True)


def _means_row(measurement: Measurement, group: str) -> list[Cell]:
    published = measurement.protocol == "published"
    means = [measurement.mean_of(group, gender) for gender in ("female", "male")]
    sizes = " + ".join(count(mean.n if mean else 0) for mean in means)
    cells = [Cell(capital(group)), Cell(sizes)]
    for mean in means:
        cells.append(_estimate_cell(mean))
        if published:
            cells.append(Cell(number(mean.sd if mean else None)))
    test = measurement.test("difference", group=group)
    if test is None:
        return [*cells, *[Cell("–")] * (4 if published else 3)]
    cells.append(Cell(number(test.value), bounds=interval(test.interval), strong=True))
    effect = Cell(number(test.effect_size), bounds=interval(test.effect_size_interval))
    if published:
        return [*cells, Cell(number(test.statistic, 0)), effect, Cell(p(test.p_value))]
    return [*cells, Cell(p(test.p_adjusted)), effect]


def _contrasts(measurement: Measurement) -> Table | None:
    """The stereotype in nats, and both correlations with the workforce; None if none was tested."""
    stereotype = measurement.test("stereotype")
    tests = {"Stereotype, nats": stereotype} if stereotype else {}
    tests |= {f"Workforce, {name}": test for name, test in _correlations(measurement).items()}
    rows = [
        [Cell(name), Cell(count(test.n)), _estimate_cell(test), Cell(p(test.p_adjusted))]
        for name, test in tests.items()
    ]
    columns = [Column("Contrast", numeric=False), Column("n"), Column("Estimate, 95 % interval"), Column("p (Holm)")]
    return Table("Contrasts between professions", columns, rows, terminal=True) if rows else None


def _correlations(measurement: Measurement) -> dict[str, Estimate]:
    """Correlations of the female − male difference with the share of women, by name."""
    names = {"pearson": "Pearson’s r", "spearman": "Spearman’s ρ"}
    tests = {title: measurement.test("workforce", correlation=name) for name, title in names.items()}
    return {title: test for title, test in tests.items() if test is not None}


def _estimate_cell(estimate: Estimate | None) -> Cell:
    return Cell("–") if estimate is None else Cell(number(estimate.value), bounds=interval(estimate.interval))


def _hypotheses(hypotheses: Sequence[Hypothesis]) -> Table:
    columns = [Column(title, numeric=False) for title in ("Hypothesis", "Answer", "Evidence")]
    rows = [
        [Cell(f"{hypothesis.name}: {hypothesis.statement}"), Cell(hypothesis.answer), Cell(hypothesis.evidence)]
        for hypothesis in hypotheses
    ]
    return Table("The paper’s hypotheses", columns, rows)


# Figures and sentences


def _by_profession(measurement: Measurement, professions: Sequence[ProfessionValue]) -> Section:
    noun, title = _noun(measurement), f"By {_noun(measurement)}"
    figures = []
    for group in dict.fromkeys(profession.group for profession in professions):
        members = [profession for profession in professions if profession.group == group]
        chosen = select_bars(members)
        if chosen:
            part = (
                f" ({len(chosen)} of {len(members)}: the highest and the lowest)" if len(chosen) < len(members) else ""
            )
            description = (
                f"Bars: mean association of female and male person words with each {noun} of the group {group}, in"
                " nats, sorted by difference"
            )
            draw = partial(_draw_bars, chosen, professions)
            figures.append(Figure(capital(f"{group} {measurement.attributes}{part}"), draw, description))
    if not figures:
        return Section(title, [Text([f"There are no values by {noun}."], style="note")])
    entries: list[tuple[Style, str]] = [
        ("female", "female person words"),
        ("male", "male person words"),
        ("", "scale in nats"),
        ("", "f − m: the difference, by which the rows are sorted"),
    ]
    if _has_shares(professions):
        entries.append(("", "%: women in the workforce"))
    return Section(title, [Legend(entries), Section("", figures, layout="panels")])


def select_bars(professions: Sequence[ProfessionValue]) -> list[ProfessionValue]:
    """The professions to draw, sorted by difference: of a long list, those at both ends."""
    known = [one for one in professions if one.female is not None or one.male is not None]
    known.sort(key=lambda one: (one.difference is None, -(one.difference or 0.0)))
    return known if len(known) <= MOST_BARS else known[: MOST_BARS // 2] + known[-MOST_BARS // 2 :]


def _draw_bars(chosen: Sequence[ProfessionValue], professions: Sequence[ProfessionValue]) -> str:
    with_shares = any(one.workforce_share is not None for one in chosen)
    rows = [
        BarRow(
            one.profession,
            [(one.female, one.male)],
            signed(one.difference),
            _show_share(one.workforce_share) if with_shares else "",
        )
        for one in chosen
    ]
    domain = fit_domain(value for one in professions for value in (one.female, one.male))
    columns = TextColumns([42], ["f − m"], "women" if with_shares else "")
    return bars(rows, GENDER_COLOURS, domain, columns, unit="nats")


def _show_share(share: float | None) -> str:
    """A share of the workforce that is given in percent."""
    return "–" if share is None else percent(share / 100, 1 if share < 10 else 0)


def _has_shares(professions: Sequence[ProfessionValue]) -> bool:
    """Whether any profession can be drawn against the workforce."""
    return any(one.workforce_share is not None and one.difference is not None for one in professions)


def _workforce(measurement: Measurement, professions: Sequence[ProfessionValue]) -> Section:
    title = "Against the workforce"
    if not _has_shares(professions):
        return Section(title, [Text(["No profession has both a workforce share and a difference."], style="note")])
    caption = (
        "Each point is a profession; its line is the 95 % interval over person words. Above the dashed line the model"
        " prefers female person words, below it male ones."
    )
    for name, test in _correlations(measurement).items():
        if test.value is not None:
            caption += f" {name} = {number(test.value)} {interval(test.interval)} over {test.n} professions."
    description = "Scatter plot: the share of women in each profession against its female minus male association"
    return Section(title, [Figure("", partial(_draw_scatter, professions), description, caption)])


def _draw_scatter(professions: Sequence[ProfessionValue]) -> str:
    dots = []
    for one in professions:
        if one.workforce_share is not None and one.difference is not None:
            gap = f"{signed(one.difference)} {interval(one.difference_interval)} nats"
            tip = f"{shorten(one.profession)}: {gap}, {_show_share(one.workforce_share)} women"
            dots.append(Dot(one.workforce_share, one.difference, one.profession, tip, interval=one.difference_interval))
    if not dots:
        return ""
    shares = [dot.x for dot in dots]
    across = Axis((min(0, *shares), max(100, *shares)), "Women in the workforce (%)", ticks=10)
    heights = fit_domain(end for dot in dots for end in dot.interval or (dot.y, dot.y))
    up = Axis(heights, "Female − male association (nats)", ticks=7, lines=[0])
    return scatter(
        dots, across, up, size=(740, 400), radius=3.8, order=_rank_labels(dots), labels=MOST_LABELS, right=126
    )


def _rank_labels(dots: Sequence[Dot]) -> list[int]:
    """In turn the highest, the lowest, and those ranked most differently by association and by share."""
    by_value, by_share = (sorted(range(len(dots)), key=key) for key in (lambda at: dots[at].y, lambda at: dots[at].x))
    value_rank, share_rank = ({at: rank for rank, at in enumerate(order)} for order in (by_value, by_share))
    odd = sorted(by_value, key=lambda at: -abs(value_rank[at] - share_rank[at]))
    trios = zip(reversed(by_value), by_value, odd, strict=True)
    return list(dict.fromkeys(index for trio in trios for index in trio))[: 5 * MOST_LABELS]


def _sentences(measurement: Measurement, items: pd.DataFrame | None) -> Section:
    title = "The sentences behind the numbers"
    highest = extreme_sentences(measurement, items, "Person word more likely", highest=True)
    lowest = extreme_sentences(measurement, items, "Person word less likely", highest=False)
    if highest is None or lowest is None:
        return Section(title, [Text(["The sentences were not stored with this result."], style="note")])
    note = (
        f"The most extreme associations: each {_noun(measurement)} at most once per gender, each person word at most"
        " twice. Extremes show what can happen, not what is usual."
    )
    return Section(title, [Text([note], style="note"), highest, lowest], layout="two columns")
