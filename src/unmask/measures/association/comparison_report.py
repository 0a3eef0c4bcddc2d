"""A comparison of two models by association as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from unmask.measures.association.details import AssociationChanges, HypothesisChange, TableRow
from unmask.measures.association.figures import build_change_figures
from unmask.measures.association.interpretation import has_agreement
from unmask.measures.association.report import AGREEMENT, DIFFERENCE, MOST_GROUPS, STEREOTYPE, WORKFORCE
from unmask.report.blocks import Block, Cell, Column, KeyFigure, Section, Table
from unmask.report.change_blocks import (
    LEGEND,
    ChangeText,
    ComparisonReport,
    change_figure,
    change_text,
    list_changes,
    plot_changes,
)
from unmask.report.comparison import MEANINGS
from unmask.results import Change, Comparison
from unmask.results.formatting import capital, count, number, p, signed
from unmask.results.verdict import NOT_INTERPRETABLE

if TYPE_CHECKING:
    import pandas as pd

MEAN = "mean"
"""The contrast of changes that are neither good nor bad."""


def comparison_report(comparison: Comparison, items: pd.DataFrame | None) -> ComparisonReport:
    """What a report shows of a comparison."""
    del items
    warning = explanation = ""
    if has_agreement(comparison):
        warning = "Grammatical agreement determines these numbers. Judge the corpus without agreement."
    if comparison.protocol == "published":
        explanation = (
            f"{MEANINGS[comparison.verdict]} This is the paper’s own test, which treats dependent pairs of sentences as"
            " independent and therefore finds too many changes."
        )
    main, blocks = find_main_change(comparison), comparison_blocks(comparison)
    return ComparisonReport(main, blocks, warning, explanation, describe_method(comparison))


def comparison_blocks(comparison: Comparison) -> list[Block]:
    """Key figures, all changes, the paper's Table 4, values by profession and the paper's hypotheses."""
    details = comparison.read_details(AssociationChanges)
    report: list[Block] = [*_key_figures(comparison)]
    if comparison.changes:
        report.append(_what_changed(comparison))
    if details.table:
        report.append(_paper_table(details.table, _noun(comparison)))
    report.append(build_change_figures(comparison.attributes, details.professions))
    if details.hypotheses:
        report.append(Section("The paper’s hypotheses", [_hypotheses(details.hypotheses)]))
    return report


def find_main_change(comparison: Comparison) -> ChangeText | None:
    """The stereotype as odds; without one, the first group."""
    change = comparison.of("stereotype")
    if change is not None:
        return change_text("Stereotype, odds", change, scale="odds")
    differences = [change for change in comparison.changes.values() if change.labels["contrast"] == "difference"]
    return change_text(_short_name("", differences[0]), differences[0]) if differences else None


def describe_method(comparison: Comparison) -> list[str]:
    """How changes are computed and judged in a protocol."""
    words = _noun(comparison)
    lines = [
        f"Both models were asked how much a {words} raises or lowers the probability of a person word in the same"
        " sentences. The answers are paired by sentence, so what the sentences have in common cancels out. Values are"
        " in nats, differences of natural logarithms: +0.69 doubles the odds, −0.69 halves them."
    ]
    if comparison.protocol == "sound":
        lines.append(
            f"Intervals come from a crossed jackknife over the paired changes: each {words} and each pair of person"
            f" words is left out in turn, and the two variances are added. A change must hold for other {words}s and"
            " for other person words. The stereotype is the main question, and its p-value is not corrected. The"
            " p-values of the other contrasts are corrected together by Holm’s method, and so are those of the means."
        )
    else:
        lines.append(
            "The published protocol repeats the paper’s test: Wilcoxon’s signed ranks over all pairs of sentences, as"
            " if they were independent, with r = −|Z|/√(2n). There are no intervals. Use it to reproduce the paper, not"
            " to judge a model."
        )
    lines.append(
        "Contrasts in which zero is no bias get a verdict: the stereotype, female − male in each group, and a"
        " correlation with the workforce that was clear before. A reversal is negligible if it changes odds by a factor"
        " below 1.1. The verdict on the stereotype is that of the comparison, unless a group overshot, or got worse"
        " while the stereotype did not change reliably. Without a stereotype the groups decide: the first of overshot,"
        " worse and improved that any of them has."
    )
    return lines


def _noun(comparison: Comparison) -> str:
    """What persons are put next to, in the singular."""
    return comparison.attributes.removesuffix("s")


def _key_figures(comparison: Comparison) -> Iterator[KeyFigure]:
    """Stereotype, workforce and balanced professions. Without such changes, the difference in each group."""
    stereotype, workforce = comparison.of("stereotype"), comparison.of("workforce", correlation="pearson")
    groups = ["balanced"] if stereotype or workforce else comparison.kinds()[:MOST_GROUPS]
    differences = [(group, comparison.of("difference", group=group)) for group in groups]
    figures: list[tuple[ChangeText, str]] = []
    if _is_known(stereotype):
        figures.append((change_text("Stereotype", stereotype, scale="odds"), STEREOTYPE))
    if _is_known(workforce):
        figures.append((change_text("Workforce, r", workforce), WORKFORCE))
    for group, change in differences:
        if _is_known(change):
            figures.append((change_text(f"{group} {comparison.attributes}, nats", change), DIFFERENCE))
    for text, explanation in figures:
        figure = change_figure(text, explanation)
        yield (
            replace(figure, verdict=NOT_INTERPRETABLE, explanation=AGREEMENT) if has_agreement(comparison) else figure
        )


def _is_known(change: Change | None) -> TypeGuard[Change]:
    return change is not None and None not in change.values


def _what_changed(comparison: Comparison) -> Section:
    """Plots in nats and of correlations, and a table of all changes. A terminal shows it without the means."""
    named = sorted(comparison.changes.items(), key=lambda item: item[1].labels["contrast"] == MEAN)
    plots: list[Block] = []
    for unit, contrasts in (("nats", ("stereotype", "difference")), ("correlation", ("workforce",))):
        drawn = [
            (_plot_name(name, change, comparison), change) for name, change in named if _has_contrast(change, contrasts)
        ]
        if drawn:
            plots.append(plot_changes(drawn, unit))
    texts = [
        (change_text(_short_name(name, change), change, digits=comparison.digits), change) for name, change in named
    ]
    tested = [change for _, change in named if change.labels["contrast"] != MEAN]
    note = (
        "In nats, except correlations. Means get no verdict, nor do correlations that were not clear before: their"
        " change is neither good nor bad by itself."
    )
    published = comparison.protocol == "published"
    note += "" if published else " The p-value of the stereotype is not corrected."
    table = list_changes(texts, "What changed", published=published, note=note, terminal_rows=len(tested))
    return Section("What changed", [*([Section("", [LEGEND, *plots], "two columns")] if plots else []), table])


def _has_contrast(change: Change, contrasts: Sequence[str]) -> bool:
    return change.labels["contrast"] in contrasts and change.values != (None, None)


def _short_name(name: str, change: Change) -> str:
    if change.labels["contrast"] == "difference":
        return f"{change.labels['group']}: female − male"
    return f"workforce, {change.labels['correlation']}" if "correlation" in change.labels else name


def _plot_name(name: str, change: Change, comparison: Comparison) -> str:
    group = change.labels.get("group")
    return capital(f"{group} {comparison.attributes}" if group else _short_name(name, change))


def _paper_table(table: Sequence[TableRow], noun: str) -> Section:
    columns = [
        Column("Group", numeric=False),
        *(Column(title, group="Female person words", swatch="female") for title in ("Pre", "Post", "Diff.")),
        *(Column(title, group="Male person words", swatch="male") for title in ("Pre", "Post", "Diff.")),
        *map(Column, ("n", "W", "r", "p")),
    ]
    rows = [
        [
            Cell(capital(row.group)),
            *(Cell(number(value)) for value in (row.female_before, row.female_after)),
            Cell(signed(row.female_change)),
            *(Cell(number(value)) for value in (row.male_before, row.male_after)),
            Cell(signed(row.male_change)),
            *(Cell(text) for text in (count(row.n), number(row.w, 0), number(row.r), p(row.p_value))),
        ]
        for row in table
    ]
    note = (
        "The paper’s own test, to compare with the paper: did associations of female person words change differently"
        " from those of male ones? Wilcoxon’s signed ranks treat all pairs of sentences as independent, but they share"
        f" {noun}s and person words. The p-values are far too small: do not judge a model by them."
    )
    title = "As in the paper’s Table 4"
    return Section(title, [Table(title, columns, rows, note=note)])


def _hypotheses(hypotheses: Sequence[HypothesisChange]) -> Table:
    columns = [
        Column("Hypothesis", numeric=False),
        *(Column(title, numeric=False, group=when) for when in ("Before", "After") for title in ("Answer", "Evidence")),
    ]
    rows = [
        [
            Cell(f"{hypothesis.name}: {hypothesis.statement}"),
            Cell(hypothesis.before),
            Cell(hypothesis.evidence_before),
            Cell(hypothesis.after),
            Cell(hypothesis.evidence_after),
        ]
        for hypothesis in hypotheses
    ]
    return Table("The paper’s hypotheses", columns, rows)
