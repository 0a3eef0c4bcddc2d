"""Numbers → a compact table in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.measures.association.details import AssociationDetails
from unmask.measures.association.verdict import is_agreement
from unmask.report.comparison import main_line
from unmask.report.comparison_terminal import geometry_changes, show_agreement
from unmask.report.figures import UNREADABLE, change_line, figure_line, loss_line, measured, stated_line
from unmask.report.pages import p
from unmask.report.tables import table
from unmask.results import AuditResult, Measurement
from unmask.results.comparison import Change, Comparison, ComparisonResult
from unmask.results.numbers import interval, number, p_value

STYLES = {"improved": "bold green", "overshot": "bold yellow", "worse": "bold red"}
MOST_DIGITS = 3
"""More would not leave room for the verdict in 80 columns."""


def show(result: AuditResult, console: Console) -> None:
    """Print the headline, the means and the tests of every measurement."""
    for measurement in result.measurements:
        of = f", {measurement.variant}" if measurement.variant else ""
        title = f"{measurement.name}, {measurement.language}, {measurement.corpus}{of} ({measurement.protocol})"
        console.print(Text(f"\n{result.model.name}: {title}", style="bold"))
        console.print(Text(measurement.headline) if measurement.headline else Text("No finding."))
        if measurement.plugin is not None:
            from unmask.report import generic_terminal

            generic_terminal.show(measurement, console)
        elif measurement.name == "sentiment":
            from unmask.report import rating_terminal

            rating_terminal.show(measurement, console)
        elif measurement.name == "inference":
            from unmask.report import inference_terminal

            inference_terminal.show(measurement, console)
        elif measurement.name == "geometry":
            from unmask.report import geometry_terminal

            geometry_terminal.show(measurement, console)
        elif measurement.name == "crows-pairs":
            from unmask.report import crows_pairs_terminal

            crows_pairs_terminal.show(measurement, console)
        else:
            _show_association(measurement, console)
        codes = ", ".join(caveat.code for caveat in measurement.caveats)
        console.print(Text(f"Caveats: {codes or 'none'}", style="dim"))


def _show_association(measurement: Measurement, console: Console) -> None:
    console.print(_means(measurement))
    contrasts = _contrasts(measurement)
    if contrasts.row_count:
        console.print(contrasts)
    if several_pieces := measurement.read_details(AssociationDetails).several_pieces:
        console.print(Text(f"Scored as whole words of several tokens: {', '.join(several_pieces)}"))


def text(result: AuditResult, width: int = 100) -> str:
    """What `show` prints, as plain text."""
    page = StringIO()
    show(result, Console(file=page, width=width, color_system=None))
    return page.getvalue()


def show_comparison(result: ComparisonResult, console: Console) -> None:
    """Print the verdict, what changed and at what cost; of several models, first an overview."""
    if len(result.comparisons) > 1:
        console.print(_overview(result))
    if result.agreement:
        show_agreement(result.agreement, console)
    for at, comparison in enumerate(result.comparisons):
        title = f"{comparison.name}, {comparison.language}, {comparison.corpus} ({comparison.protocol})"
        console.print(Text(f"\n{comparison.before} → {comparison.after}: {title}", style="bold"))
        console.print(_verdict(comparison))
        console.print(Text(" ".join(filter(None, [comparison.headline, comparison.cost])) or "No finding."))
        console.print(geometry_changes(comparison) if comparison.name == "geometry" else _changes(comparison))
        if all(one.after != comparison.after for one in result.comparisons[:at]):
            for line in _usefulness(result, comparison.after):
                console.print(Text(line))
        side = next(side for side in result.after if side.name == comparison.after)
        if side.lineage:
            console.print(Text(side.lineage))
        codes = [caveat.code for caveat in (*comparison.caveats, *result.caveats)]
        console.print(Text(f"Caveats: {', '.join(dict.fromkeys(codes)) or 'none'}", style="dim"))


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
    rows = table("after", "verdict", "stereotype, odds" if alike else "main figure", "loss", "stated gender")
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
    rows = table("contrast", "before → after", "change" if published else "change, 95 % interval", "p")
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


def _means(measurement: Measurement) -> Table:
    published = measurement.protocol == "published"
    spread = "V, r" if published else "95 % interval"
    rows = table("mean association", "female", "male", "f − m", spread, "p" if published else "p (Holm)")
    for kind in measurement.kinds():
        test = measurement.test("difference", group=kind)
        female, male = (measurement.mean_of(kind, gender) for gender in ("female", "male"))
        if test is None or female is None or male is None:
            continue
        between = f"{number(test.statistic, 0)}, {number(test.effect_size)}" if published else interval(test.interval)
        name = escape(f"{kind} {measurement.attributes}")
        row = (number(female.value), number(male.value), number(test.value), between, p(test.p_adjusted))
        rows.add_row(name, *row)
    return rows


def _contrasts(measurement: Measurement) -> Table:
    rows = table("contrast", "estimate", "95 % interval", "p (Holm)")
    for name in ("stereotype", "workforce share, pearson", "workforce share, spearman"):
        if test := measurement.tests.get(name):
            rows.add_row(name, number(test.value), interval(test.interval), p(test.p_adjusted))
    return rows
