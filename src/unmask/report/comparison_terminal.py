"""A comparison in the terminal: the verdict, what changed and at what cost, and whether the measures agree."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.measures.association.verdict import is_agreement
from unmask.measures.geometry.details import GeometryChange, WordTestChange
from unmask.report.comparison import main_line
from unmask.report.comparison_geometry import SHARES, line
from unmask.report.figures import (
    HARD,
    UNREADABLE,
    change_line,
    figure_line,
    loss_line,
    measured,
    stated_line,
)
from unmask.report.terminal import make_table, show_caveats
from unmask.results import Agreement
from unmask.results.comparison import Change, Comparison, ComparisonResult
from unmask.results.numbers import number, p_value

STYLES = {"improved": "bold green", "overshot": "bold yellow", "worse": "bold red"}
MOST_DIGITS = 3
"""More would not leave room for the verdict in 80 columns."""
SHORT = {
    "clustering": "clusters, %",
    "probe": "probe, %",
    "classification": "classifier, %",
    "neighbours": "neighbours, r",
}


def show_comparison(result: ComparisonResult, console: Console) -> None:
    """Print the verdict, what changed and at what cost; of several models, first an overview."""
    if len(result.comparisons) > 1:
        console.print(_overview(result))
    if result.agreement:
        _show_agreement(result.agreement, console)
    for at, comparison in enumerate(result.comparisons):
        title = f"{comparison.name}, {comparison.language}, {comparison.corpus} ({comparison.protocol})"
        console.print(Text(f"\n{comparison.before} → {comparison.after}: {title}", style="bold"))
        console.print(_verdict(comparison))
        console.print(Text(" ".join(filter(None, [comparison.headline, comparison.cost])) or "No finding."))
        console.print(_geometry_changes(comparison) if comparison.name == "geometry" else _changes(comparison))
        if all(one.after != comparison.after for one in result.comparisons[:at]):
            for line in _usefulness(result, comparison.after):
                console.print(Text(line))
        side = next(side for side in result.after if side.name == comparison.after)
        if side.lineage:
            console.print(Text(side.lineage))
        show_caveats([caveat.text for caveat in (*comparison.caveats, *result.caveats)], console)


def comparison_text(result: ComparisonResult, width: int = 100) -> str:
    """What `show_comparison` prints, as plain text."""
    page = StringIO()
    show_comparison(result, Console(file=page, width=width, color_system=None))
    return page.getvalue()


def _verdict(comparison: Comparison) -> Text:
    word = UNREADABLE if is_agreement(comparison) else comparison.verdict
    return Text(word, style=STYLES.get(word, "bold"))


def _overview(result: ComparisonResult) -> Table:
    alike = {one.name for one in result.comparisons} == {"association"}
    rows = make_table("after", "verdict", "stereotype, odds" if alike else "main figure", "loss", "stated gender")
    rows.columns[0].min_width = 14
    single = len({(one.name, one.corpus, one.language) for one in result.comparisons}) == 1
    for comparison in result.comparisons:
        line = main_line(comparison)
        loss, stated = loss_line(result, comparison.after), stated_line(result, comparison.after)
        of = f"{comparison.corpus}, {comparison.language}" if alike else comparison.name
        rows.add_row(
            escape(comparison.after if single else f"{comparison.after} ({of})"),
            _verdict(comparison),
            f"{line.before} → {line.after}" if line else "–",
            loss.change if loss else "–",
            stated.after if stated else "–",
        )
    return rows


def _changes(comparison: Comparison) -> Table:
    """The contrasts in which zero is no bias, and the workforce; the means are in the report."""
    published = comparison.protocol == "published"
    rows = make_table("contrast", "before → after", "change" if published else "change, 95 % interval", "p")
    rows.add_column("verdict", min_width=10)
    rows.columns[0].min_width = 13
    for name, change in comparison.changes.items():
        if change.labels["contrast"] != "mean":
            line = change_line(_short(name, change), change, digits=min(comparison.digits, MOST_DIGITS))
            by = f"{line.change} {line.interval}".rstrip()
            rows.add_row(escape(line.name), f"{line.before} → {line.after}", by, line.p, line.verdict)
    return rows


def _short(name: str, change: Change) -> str:
    """A name that leaves a line to each contrast."""
    if "group" in change.labels:
        return f"{change.labels['group']}: female − male"
    return f"workforce, {change.labels['correlation']}" if "correlation" in change.labels else name


def _usefulness(result: ComparisonResult, after: str) -> Iterator[str]:
    for one in measured(result, after):
        for name, figure in one.figures.items():
            line = figure_line(f"{one.what}, {name.replace('_', ' ')}", name, figure)
            change = " ".join(filter(None, (line.change, line.interval)))
            sure = "" if figure.p_value is None else f", p {p_value(figure.p_value)}"
            yield f"{line.name}: {line.before} → {line.after} (change {change}{sure})"


def _geometry_changes(comparison: Comparison) -> Table:
    """The tests with the words of before, and what plain removal leaves of others; then the professions and WEAT."""
    geometry = comparison.read_details(GeometryChange)
    rows = make_table("words of before", "before → after", "change [95 %]", "p", "plain leaves")
    rows.columns[0].min_width = 13
    for one in geometry.tests:
        found = line(one.name, comparison.changes.get(one.name), one)
        rows.add_row(
            SHORT.get(one.name, one.name),
            _bare(f"{found.before} → {found.after}"),
            _bare(f"{found.change} {found.interval}".rstrip()),
            found.p,
            _plain(one),
        )
    for name, change in comparison.changes.items():
        if change.labels["contrast"] in ("stereotype", "association"):
            found = change_line(name, change)
            by = f"{found.change} {found.interval}".rstrip()
            rows.add_row(escape(name), f"{found.before} → {found.after}", by, found.p, "")
    return rows


def _bare(text: str) -> str:
    """Numbers without their unit, which the name has: a terminal is narrow."""
    return text.replace(f"{HARD}%", "").replace(f"{HARD}points", "")


def _plain(one: WordTestChange) -> str:
    if one.others is None:
        return "–"
    scale, digits = (100, 0) if one.name in SHARES else (1, 2)
    low, high = (number(scale * end, digits) for end in (one.others.low, one.others.high))
    return f"{low} to {high}"


def _show_agreement(agreement: Agreement, console: Console) -> None:
    """The matrix of Pearson's r, its figures numbered."""
    console.print(Text("\nDo the measures agree?", style="bold"))
    console.print(Text(agreement.headline))
    names = [one.name for one in agreement.figures if one.name not in agreement.left_out]
    if len(names) > 1:
        rows = make_table("Pearson's r", *(str(at) for at in range(1, len(names))))
        rows.columns[0].min_width = 14
        for down, name in enumerate(names):
            found = (agreement.correlation(name, other) for other in names[: min(down, len(names) - 1)])
            cells = [number(one.pearson) if one else "–" for one in found]
            rows.add_row(f"{down + 1} {escape(name)}", *cells)
        console.print(rows)
    for name, why in agreement.left_out.items():
        console.print(Text(f"{name} is not compared: {why}."))
