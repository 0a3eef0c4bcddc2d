"""Numbers → a compact table in the terminal."""

from __future__ import annotations

from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from unmask.results import AuditResult, Measurement
from unmask.results.numbers import interval, number, p_value


def show(result: AuditResult, console: Console) -> None:
    """Print the headline, the means and the tests of every measurement."""
    for measurement in result.measurements:
        title = f"{measurement.name}, {measurement.language}, {measurement.corpus} ({measurement.protocol})"
        console.print(Text(f"\n{result.model.name}: {title}", style="bold"))
        console.print(Text(measurement.headline) if measurement.headline else Text("No finding."))
        console.print(_means(measurement))
        contrasts = _contrasts(measurement)
        if contrasts.row_count:
            console.print(contrasts)
        if measurement.several_pieces:
            console.print(Text(f"Scored as whole words of several pieces: {', '.join(measurement.several_pieces)}"))
        console.print(Text(f"Caveats: {', '.join(caveat.code for caveat in measurement.caveats)}", style="dim"))


def text(result: AuditResult, width: int = 100) -> str:
    """What `show` prints, as plain text."""
    console = Console(file=StringIO(), width=width, color_system=None)
    show(result, console)
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def _means(measurement: Measurement) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    published = measurement.protocol == "published"
    spread = "V, r" if published else "95 % interval"
    for name in ("mean association", "female", "male", "f − m", spread, "p" if published else "p (Holm)"):
        first = name == "mean association"  # it alone gives way where the terminal is narrow: numbers are never cut
        table.add_column(name, justify="left" if first else "right", no_wrap=not first, overflow="fold")
    for kind in measurement.kinds():
        test = measurement.test("difference", group=kind)
        female, male = (measurement.mean_of(kind, gender) for gender in ("female", "male"))
        if test is None or female is None or male is None:
            continue
        between = f"{number(test.statistic, 0)}, {number(test.effect_size)}" if published else interval(test.interval)
        name = escape(f"{kind} {measurement.attributes}")
        p = p_value(test.p_adjusted).removeprefix("= ")
        table.add_row(name, number(female.mean), number(male.mean), number(test.estimate), between, p)
    return table


def _contrasts(measurement: Measurement) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("contrast", "estimate", "95 % interval", "p (Holm)"):
        first = name == "contrast"
        table.add_column(name, justify="left" if first else "right", no_wrap=not first, overflow="fold")
    for name in ("stereotype", "workforce share, pearson", "workforce share, spearman"):
        if test := measurement.tests.get(name):
            p = p_value(test.p_adjusted).removeprefix("= ")
            table.add_row(name, number(test.estimate), interval(test.interval), p)
    return table
