"""A comparison of two models by association as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from unmask.measures.association.details import AssociationChanges, HypothesisChange, TableRow
from unmask.measures.association.figures import build_change_figures
from unmask.measures.association.interpretation import has_agreement
from unmask.measures.association.report import MOST_GROUPS, noun_of, procedure_of
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, KeyFigure, Section, Table
from unmask.report.change_blocks import (
    ChangeText,
    ComparisonReport,
    Scale,
    change_figure,
    change_text,
    changes_section,
)
from unmask.report.comparison import MEANINGS
from unmask.results import Change, Comparison
from unmask.results.formatting import capital, count, number, p, signed
from unmask.results.verdict import NOT_INTERPRETABLE

if TYPE_CHECKING:
    import pandas as pd

PACKAGE = "unmask.measures.association"
MEAN = "mean"
"""The contrast of changes that are neither good nor bad."""
UNITS = {"stereotype": "nats", "difference": "nats", "workforce": "correlation"}
"""The units of the changes that are plotted, by contrast."""


def comparison_report(comparison: Comparison, items: pd.DataFrame | None) -> ComparisonReport:
    """What a report shows of a comparison."""
    del items
    texts = load_texts(PACKAGE)["comparison"]
    is_published = comparison.protocol == "published"
    return ComparisonReport(
        find_main_change(comparison),
        comparison_blocks(comparison),
        warning=texts["agreement"] if has_agreement(comparison) else "",
        explanation=f"{MEANINGS[comparison.verdict]} {texts['dependent']}" if is_published else "",
        method=[
            texts[name].format(noun=noun_of(comparison)) for name in ("asked", procedure_of(comparison), "verdict")
        ],
    )


def comparison_blocks(comparison: Comparison) -> list[Block]:
    """Key figures, all changes, the paper's Table 4, values by profession and the paper's hypotheses."""
    details = comparison.read_details(AssociationChanges)
    report: list[Block] = [*_key_figures(comparison)]
    if comparison.changes:
        report.append(_what_changed(comparison))
    if details.table:
        report.append(_paper_table(details.table, noun_of(comparison)))
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


def _key_figures(comparison: Comparison) -> Iterator[KeyFigure]:
    """Stereotype, workforce and balanced professions. Without such changes, the difference in each group."""
    texts = load_texts(PACKAGE)["key_figures"]
    stereotype, workforce = comparison.of("stereotype"), comparison.of("workforce", correlation="pearson")
    groups = ["balanced"] if stereotype or workforce else comparison.kinds()[:MOST_GROUPS]
    figures: list[tuple[str, Change | None, Scale]] = [
        ("Stereotype", stereotype, "odds"),
        ("Workforce, r", workforce, ""),
        *((f"{group} {comparison.attributes}, nats", comparison.of("difference", group=group), "") for group in groups),
    ]
    for title, change, scale in figures:
        if change is not None and None not in change.values:
            text = change_text(title, change, scale=scale)
            if has_agreement(comparison):
                yield change_figure(text, texts["agreement"], verdict=NOT_INTERPRETABLE)
            else:
                yield change_figure(text, texts[change.labels["contrast"]])


def _what_changed(comparison: Comparison) -> Section:
    """Plots in nats and of correlations, and a table of all changes. A terminal shows it without the means."""
    named = sorted(comparison.changes.items(), key=lambda item: item[1].labels["contrast"] == MEAN)
    plots: dict[str, list[tuple[str, Change]]] = {}
    for name, change in named:
        unit = UNITS.get(change.labels["contrast"])
        if unit and change.values != (None, None):
            plots.setdefault(unit, []).append((_plot_name(name, change, comparison), change))
    note = load_texts(PACKAGE)["comparison"]["changes"]
    note += "" if comparison.protocol == "published" else " The p-value of the stereotype is not corrected."
    tested = sum(change.labels["contrast"] != MEAN for _, change in named)
    rows = [(_short_name(name, change), change) for name, change in named]
    return changes_section(comparison, rows, plots, note=note, terminal_rows=tested)


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
    rows = []
    for row in table:
        female = number(row.female_before), number(row.female_after), signed(row.female_change)
        male = number(row.male_before), number(row.male_after), signed(row.male_change)
        test = count(row.n), number(row.w, 0), number(row.r), p(row.p_value)
        rows.append(list(map(Cell, (capital(row.group), *female, *male, *test))))
    note = load_texts(PACKAGE)["comparison"]["table"].format(noun=noun)
    title = "As in the paper’s Table 4"
    return Section(title, [Table(title, columns, rows, note=note)])


def _hypotheses(hypotheses: Sequence[HypothesisChange]) -> Table:
    columns = [
        Column("Hypothesis", numeric=False),
        *(Column(title, numeric=False, group=when) for when in ("Before", "After") for title in ("Answer", "Evidence")),
    ]
    rows = []
    for hypothesis in hypotheses:
        statement = f"{hypothesis.name}: {hypothesis.statement}"
        before, after = (hypothesis.before, hypothesis.evidence_before), (hypothesis.after, hypothesis.evidence_after)
        rows.append(list(map(Cell, (statement, *before, *after))))
    return Table("The paper’s hypotheses", columns, rows)
