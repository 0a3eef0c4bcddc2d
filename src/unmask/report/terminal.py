"""Audits and comparisons in the terminal: key figures, and the tables and sentences that blocks mark for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from io import StringIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText

from unmask.report.blocks import Block, KeyFigure, Section, Table, Text
from unmask.report.comparison import (
    ONE_RUN,
    ComparisonSection,
    closing_blocks,
    find_side,
    opening_blocks,
    pearson_matrix,
)
from unmask.report.default_blocks import NOT_BIAS, MeasureSection
from unmask.results import AuditResult, Caveat, ComparisonResult

VERDICT_STYLES = {"improved": "bold green", "overshot": "bold yellow", "worse": "bold red"}
FIRST_COLUMN = 13
"""The narrowest that the first column of a table may become."""


def show_audit(result: AuditResult, sections: Sequence[MeasureSection], console: Console) -> None:
    """Print the headline, key figures, tables and caveats of every measurement."""
    for section in sections:
        measurement = section.measurement
        _show_heading(f"{result.model.name}: {section.title} ({measurement.protocol})", console)
        _show_finding(section.warning, section.headline, console)
        show_blocks(section.blocks, console)
        if measurement.plugin:
            console.print(RichText(section.note))
        show_caveats(measurement.caveats, console)


def show_comparison(result: ComparisonResult, sections: Sequence[ComparisonSection], console: Console) -> None:
    """Print the verdict, finding, tables and caveats of every comparison; before several, an overview."""
    for block in opening_blocks(result, sections):
        show_blocks([block], console)
    if result.agreement:
        show_blocks(pearson_matrix(result.agreement), console)
    for index, section in enumerate(sections):
        comparison = section.comparison
        title = f"{comparison.before} → {comparison.after}: {section.title} ({comparison.protocol})"
        _show_heading(title, console)
        is_costly = section.verdict == "improved" and not comparison.is_good
        style = "bold yellow" if is_costly else VERDICT_STYLES.get(section.verdict, "bold")
        verdict = RichText(section.verdict, style=style)
        if comparison.short_cost:
            verdict.append(f", {comparison.short_cost}", style="bold yellow")
        console.print(verdict)
        if section.is_about_one_run:
            console.print(RichText(ONE_RUN, style="dim"))
        _show_finding(section.warning, f"{section.headline} {comparison.cost}".rstrip(), console)
        show_blocks([*section.key_figures[:1], *section.other_blocks], console)
        show_blocks(closing_blocks(result, sections, index), console)
        notes = (find_side(result, section).lineage, section.note if section.source else "")
        for note in filter(None, notes):
            console.print(RichText(note))
        show_caveats([*comparison.caveats, *(result.caveats if len(sections) == 1 else [])], console)
    if len(sections) > 1 and result.caveats:
        console.print()
        show_caveats(result.caveats, console)


def capture_text(show: Callable[[Console], None], width: int) -> str:
    """What a function prints to a console without colours."""
    page = StringIO()
    show(Console(file=page, width=width, color_system=None))
    return page.getvalue()


def _show_heading(title: str, console: Console) -> None:
    console.print(RichText(f"\n{title}", style="bold"))


def _show_finding(warning: str, finding: str, console: Console) -> None:
    if warning:
        console.print(RichText(f"{NOT_BIAS} {warning}", style="yellow"))
    console.print(RichText(finding))


def show_blocks(blocks: Sequence[Block], console: Console) -> None:
    """Print key figures, and the tables and sentences that are marked for the terminal."""
    flat = list(_flatten_sections(blocks))
    if any(isinstance(block, KeyFigure) for block in flat):
        console.print()
    for block in flat:
        if isinstance(block, KeyFigure):
            console.print(RichText.assemble(f"{block.title}: ", (block.value, "bold")))
            certainty = "; ".join(filter(None, (block.verdict, block.certainty)))
            console.print(Padding(RichText(certainty), (0, 0, 0, 2)))
        elif isinstance(block, Text) and block.terminal:
            for line in block.lines:
                console.print(_make_bullet(line) if block.style == "list" else RichText(line))
        elif isinstance(block, Table) and block.terminal and not block.folded:
            if block.title:
                console.print(RichText(f"\n{block.title}", style="italic"))
            console.print(_fit_table(block, console.width))
            if block.note:
                console.print(RichText(block.note))


def show_caveats(caveats: Sequence[Caveat], console: Console) -> None:
    """Print the first sentence of each caveat."""
    if caveats:
        console.print(RichText("Before you rely on this:", style="dim"))
    for text in dict.fromkeys(caveat.text for caveat in caveats):
        console.print(_make_bullet(first_sentence(text)), style="dim")


def make_table(*titles: str) -> RichTable:
    """A table whose first column alone wraps where the terminal is narrow: numbers are never cut."""
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for index, title in enumerate(titles):
        table.add_column(escape(title), justify="right" if index else "left", no_wrap=bool(index), overflow="fold")
    return table


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    end = re.search(r"[.!?](?=\s+[“\"(]?[A-Z])", text)
    return text[: end.end()] if end else text


def _make_bullet(text: str) -> RichTable:
    """A line of a list, indented where it wraps."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_row("-", RichText(text))
    return grid


def _flatten_sections(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks in order, those of sections among them. Folded sections are left out."""
    for block in blocks:
        if isinstance(block, Section):
            if not block.folded:
                yield from _flatten_sections(block.blocks)
        else:
            yield block


def _fit_table(block: Table, width: int) -> RichTable:
    """The widest form of the table that fits: all columns, fewer columns, or intervals below their values."""
    block = replace(block, rows=block.rows[: block.terminal_rows])
    indices = range(len(block.columns))
    narrow = [index for index in indices if block.columns[index].narrow or not index]
    brief = _without_bounds(block)
    for form, columns in ((block, indices), (block, narrow), (brief, narrow)):
        table = _rich_table(form, columns)
        excess = _wrap_text(table, form, columns, Console(width=10 * width).measure(table).maximum - width)
        if excess <= 0:
            return table
    table = _rich_table(brief, narrow, separator="\n")
    for column in table.columns:
        column.no_wrap = False  # at spaces; nothing is cut
    _wrap_text(table, brief, narrow, Console(width=10 * width).measure(table).maximum - width)
    return table


def _without_bounds(block: Table) -> Table:
    """The table without the intervals that a narrow terminal leaves out."""
    rows = [
        [
            cell if column.narrow_bounds else replace(cell, bounds="")
            for cell, column in zip(row, block.columns, strict=True)
        ]
        for row in block.rows
    ]
    return replace(block, rows=rows)


def _wrap_text(table: RichTable, block: Table, indices: Sequence[int], excess: int) -> int:
    """Make columns of text narrower by as much as a table is too wide, and return what remains of that."""
    widths = {}
    for position, index in enumerate(indices):
        if position == 0 or not block.columns[index].numeric:
            texts = [block.columns[index].title, *(row[index].text for row in block.rows)]
            longest_word = max((len(word) for text in texts for word in text.split()), default=0)
            widths[position] = max(map(len, texts)), longest_word if position else FIRST_COLUMN
    for position, (natural, least) in sorted(widths.items(), key=lambda item: item[1][1] - item[1][0]):
        cut = max(0, min(excess, natural - least))
        if cut:
            table.columns[position].width = natural - cut
            excess -= cut
    return excess


def _rich_table(block: Table, indices: Sequence[int], separator: str = " ") -> RichTable:
    columns = [block.columns[index] for index in indices]
    table = make_table(*(column.full_title for column in columns))
    table.columns[0].min_width = FIRST_COLUMN
    for index, column in enumerate(columns):
        if index and not column.numeric:
            table.columns[index].justify, table.columns[index].no_wrap = "left", False
    for row in block.rows:
        table.add_row(*(escape(f"{row[index].text}{separator}{row[index].bounds}".rstrip()) for index in indices))
    return table
