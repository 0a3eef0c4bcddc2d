"""Blocks of comparisons: figures before and after as text, key figures, tables and plots. Nothing knows a measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Literal

from unmask.report.blocks import Block, Cell, Column, Figure, KeyFigure, Legend, Section, Table
from unmask.report.default_blocks import list_tests
from unmask.report.drawing import INK, ChartRow, Mark, Panel, draw_rows, fit_domain, mark_interval
from unmask.results.comparison import Change, Comparison, Usefulness, UsefulnessChange
from unmask.results.formatting import NO_BREAK, capital, count, interval, number, odds, p, percent, signed
from unmask.results.schema import Estimate
from unmask.results.verdict import is_significant

Scale = Literal["", "odds", "percent"]
"""How values are written: as they are, in nats as odds, or shares as percent."""
HIGHER_IS_BETTER = {"accuracy": True, "log_odds": True, "loss": False, "perplexity": False}
"""For figures of usefulness."""
NEGLIGIBLE = {"accuracy": 0.005, "log_odds": 0.1, "loss": log(1.02), "perplexity": 0.0}
"""Changes of these figures up to which they are negligible: for a loss, a factor of 1.02 of the perplexity; for log
odds, a share of those before."""
LEGEND = Legend([("ring", "before"), ("diamond", "after"), ("", "lines: 95 % intervals"), ("", "right: the change")])


@dataclass(frozen=True)
class ChangeText:
    """A figure before and after as text. Empty where there is nothing to show."""

    name: str
    before: str
    after: str
    change: str
    before_interval: str = ""
    after_interval: str = ""
    interval: str = ""
    p: str = "–"
    verdict: str = ""

    @property
    def values(self) -> str:
        """`0.52 → 0.31`."""
        return f"{self.before.replace(' ', NO_BREAK)} → {self.after.replace(' ', NO_BREAK)}"


@dataclass(frozen=True)
class ComparisonReport:
    """What a measure says of a comparison."""

    main: ChangeText | None
    """The change that stands for the comparison in an overview."""
    blocks: Sequence[Block] | None = None
    """None: the main change, a plot and a table of all changes."""
    warning: str = ""
    """Why the numbers must not be read as bias, as a sentence; empty if they may."""
    explanation: str = ""
    """What the verdict means; empty: the general sentence."""
    method: Sequence[str] = ()
    """How the models were compared, where it depends on the comparison."""


def change_text(name: str, change: Change, *, digits: int = 2, scale: Scale = "") -> ChangeText:
    """A change as text."""
    before, after = (_show_value(value, digits, scale) for value in change.values)
    return ChangeText(
        name,
        before,
        after,
        _show_difference(change.change.value, digits, scale),
        _show_bounds(change.before, digits, scale),
        _show_bounds(change.after, digits, scale),
        _show_bounds(change.change, digits, scale),
        p(change.change.p_adjusted),
        change.verdict or describe_significance(change.change.p_adjusted),
    )


def usefulness_text(name: str, figure: UsefulnessChange) -> ChangeText:
    """A figure of usefulness as text. Accuracies are in percent."""
    digits = 1 if name == "accuracy" else 3
    scale: Scale = "percent" if name == "accuracy" else ""
    verdict = describe_significance(figure.p_value)
    if is_significant(figure.p_value) and name in HIGHER_IS_BETTER:
        verdict = "clearly better" if (figure.change > 0) == HIGHER_IS_BETTER[name] else "clearly worse"
        margin = NEGLIGIBLE[name] * (abs(figure.before) if name == "log_odds" else 1.0)
        verdict = "negligible change" if abs(figure.change) <= margin else verdict
    return ChangeText(
        name.replace("_", " "),
        _show_value(figure.before, digits, scale),
        _show_value(figure.after, digits, scale),
        _show_difference(figure.change, digits, scale),
        interval=_show_bounds(figure, digits, scale),
        p=p(figure.p_value),
        verdict=verdict,
    )


def describe_significance(p_value: float | None) -> str:
    """The verdict on a change that is neither good nor bad by itself."""
    if p_value is None:
        return "not tested"
    return "clear change" if is_significant(p_value) else "no clear change"


def first_change(comparison: Comparison) -> ChangeText | None:
    """The first change, which stands for the comparison where the measure names no other."""
    named = next(iter(comparison.changes.items()), None)
    return change_text(named[0], named[1], digits=comparison.digits) if named else None


def change_figure(text: ChangeText, explanation: str = "", *, verdict: str = "") -> KeyFigure:
    """A change as a key figure. `verdict` replaces its own."""
    certainty = []
    if text.before_interval or text.after_interval:
        bounds = (text.before_interval or "none", text.after_interval or "none")
        certainty.append("95 % intervals " + " → ".join(bound.replace(" ", NO_BREAK) for bound in bounds))
    difference = f"change {text.change} {text.interval}".rstrip().replace(" ", NO_BREAK)
    test = "" if text.p == "–" else f", p{NO_BREAK}{text.p if text.p.startswith('<') else f'= {text.p}'}"
    certainty.append(f"{difference}{test}")
    return KeyFigure(capital(text.name), text.values, "; ".join(certainty), verdict or text.verdict, explanation)


def default_comparison_blocks(
    comparison: Comparison, main: ChangeText | None, *, units: Mapping[str, str] | None = None, note: str = ""
) -> list[Block]:
    """The main change, a plot per unit, and a table of all changes.

    Args:
        comparison: The comparison of two models.
        main: The change that stands for the measure.
        units: Units by contrast. A plot shows only changes with the same unit.
        note: What a reader must know about the numbers in the table.
    """
    blocks: list[Block] = []
    if main is not None and "–" not in (main.before, main.after):
        question = next((change.question for change in comparison.changes.values()), "")
        blocks.append(change_figure(main, question))
    plots: dict[str, list[tuple[str, Change]]] = {}
    for name, change in comparison.changes.items():
        if change.values != (None, None):
            unit = (units or {}).get(change.labels.get("contrast", ""), "")
            plots.setdefault(unit, []).append((capital(name), change))
    return [*blocks, changes_section(comparison, list(comparison.changes.items()), plots, note=note)]


def changes_section(
    comparison: Comparison,
    changes: Sequence[tuple[str, Change]],
    plots: Mapping[str, Sequence[tuple[str, Change]]],
    *,
    note: str = "",
    terminal_rows: int | None = None,
) -> Section:
    """Plots and a table of changes.

    Args:
        comparison: The comparison of two models.
        changes: The rows of the table, with their names.
        plots: The changes of each plot by their unit, with their names.
        note: What a reader must know about the numbers in the table.
        terminal_rows: How many rows of the table a terminal shows.
    """
    figures = [plot_changes(drawn, unit) for unit, drawn in plots.items()]
    texts = [(change_text(name, change, digits=comparison.digits), change) for name, change in changes]
    is_published = comparison.protocol == "published"
    table = list_changes(texts, "What changed", published=is_published, note=note, terminal_rows=terminal_rows)
    return Section("What changed", [*([Section("", [LEGEND, *figures], "two columns")] if figures else []), table])


def plot_changes(changes: Sequence[tuple[str, Change]], unit: str = "", title: str = "") -> Figure:
    """Each figure before and after with its interval, on one scale."""
    unit_text = f", in {unit}" if unit else ""
    return Figure(
        title,
        partial(_draw_changes, changes, unit),
        f"Points with intervals{unit_text}: each figure before and after. The table has the numbers.",
    )


def list_changes(
    changes: Iterable[tuple[ChangeText, Change]],
    title: str,
    *,
    published: bool,
    note: str = "",
    terminal_rows: int | None = None,
) -> Table:
    """Changes before and after, with intervals, p-value and verdict."""
    rows = [
        _make_row(Cell(capital(text.name)), change.change.n, text, is_verdict=change.verdict is not None)
        for text, change in changes
    ]
    note = " ".join(filter(None, (note, "" if published else "In brackets: 95 % intervals.")))
    columns = _list_columns("Figure", "p" if published else "p, adjusted")
    return Table(title, columns, rows, note=note, terminal=True, terminal_rows=terminal_rows)


def list_change_tests(comparison: Comparison) -> Table:
    """The tests behind the changes, folded."""
    tests = {
        name: change.change.model_copy(update={"question": change.question})
        for name, change in comparison.changes.items()
    }
    return list_tests(tests, "The tests behind these changes", folded=True)


def list_usefulness(usefulness: Sequence[Usefulness]) -> Table:
    """What a model can still do, before and after."""
    rows = []
    for task in usefulness:
        for name, figure in task.figures.items():
            text = usefulness_text(name, figure)
            title = Cell(f"{capital(task.what)}, {text.name}", note=task.data)
            rows.append(_make_row(title, task.n, text, is_verdict=True))
    return Table("Is it still useful?", _list_columns("Task", "p"), rows, note=_USEFULNESS, terminal=True)


def _list_columns(title: str, p_title: str) -> list[Column]:
    """The columns of a table of changes."""
    return [
        Column(title, numeric=False),
        Column("n", narrow=False),
        Column("Before", narrow_bounds=False),
        Column("After", narrow_bounds=False),
        Column("Change"),
        Column(p_title),
        Column("Verdict", numeric=False),
    ]


def _make_row(title: Cell, n: int, text: ChangeText, *, is_verdict: bool) -> list[Cell]:
    return [
        title,
        Cell(count(n)),
        Cell(text.before, text.before_interval),
        Cell(text.after, text.after_interval),
        Cell(text.change, text.interval, strong=True),
        Cell(text.p),
        Cell(text.verdict, is_verdict=is_verdict),
    ]


def _show_value(value: float | None, digits: int, scale: Scale) -> str:
    if value is None:
        return "–"
    if scale == "percent":
        return percent(value)
    return f"{odds(value)}{NO_BREAK}×" if scale == "odds" else number(value, digits)


def _show_difference(value: float | None, digits: int, scale: Scale) -> str:
    if value is None:
        return "–"
    if scale == "percent":
        return f"{signed(100 * value, 1)}{NO_BREAK}points"
    return f"×{NO_BREAK}{odds(value)}" if scale == "odds" else signed(value, digits)


def _show_bounds(estimate: Estimate | UsefulnessChange | None, digits: int, scale: Scale) -> str:
    bounds = None if estimate is None else estimate.interval
    if bounds is None:
        return ""
    if scale == "percent":
        return interval((100 * bounds[0], 100 * bounds[1]), 1)
    return f"[{odds(bounds[0])}, {odds(bounds[1])}]" if scale == "odds" else interval(bounds, digits)


def _draw_changes(changes: Sequence[tuple[str, Change]], unit: str) -> str:
    rows: list[ChartRow] = []
    ends: list[float] = []
    for name, change in changes:
        marks: list[Mark] = []
        for when, estimate in (("before", change.before), ("after", change.after)):
            if estimate is not None and estimate.value is not None:
                tip = f"{name}, {when}: {signed(estimate.value)} {interval(estimate.interval)}"
                point = Mark("circle", estimate.value, colour=INK, tip=tip, filled=False, lane=0.54)
                if when == "after":
                    point = Mark("diamond", estimate.value, tip=tip, lane=0.78)
                marks += mark_interval(point, estimate.interval)
                ends += estimate.interval or (estimate.value,)
        rows.append(ChartRow(name, marks, right=[f"{signed(change.change.value)} {interval(change.change.interval)}"]))
    panel = Panel(fit_domain(ends), 340, title=unit, ticks=6)
    return draw_rows(rows, [panel], row_height=58, names_above=True) if ends else ""


_USEFULNESS = (
    "Tests are paired over the same sentences or examples; p-values are not corrected. Loss: nats per masked token,"
    " lower is better. Stated gender: pronouns that agree with a stated gender. Accuracy of tasks: after the same"
    " fine-tuning of both models. In brackets: 95 % intervals."
)
