"""Helpers of report tests that look into blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import pandas as pd

from unmask.measures.sections import build_sections, item_tables
from unmask.report.blocks import Block, Cell, KeyFigure, Section, Table, Text
from unmask.report.comparison import ComparisonSection
from unmask.report.default_blocks import MeasureSection, audit_page
from unmask.report.html import render_page as render_html
from unmask.report.terminal import capture_text, show_audit, show_comparison
from unmask.results import AuditResult, ComparisonResult, Measurement, ModelInfo

B = TypeVar("B", bound=Block)


def audit_text(result: AuditResult, audit_sections: Sequence[MeasureSection], width: int = 100) -> str:
    """What the terminal shows of an audit."""
    return capture_text(lambda console: show_audit(result, audit_sections, console), width)


def comparison_text(result: ComparisonResult, sections: Sequence[ComparisonSection], width: int = 100) -> str:
    """What the terminal shows of a comparison."""
    return capture_text(lambda console: show_comparison(result, sections, console), width)


def walk(blocks: Iterable[Block]) -> Iterator[Block]:
    """All blocks in order; those of a section follow it."""
    for block in blocks:
        yield block
        if isinstance(block, Section):
            yield from walk(block.blocks)


def of_type(blocks: Iterable[Block], block_type: type[B]) -> list[B]:
    """All blocks of a type, in order."""
    return [block for block in walk(blocks) if isinstance(block, block_type)]


def key_figures(blocks: Iterable[Block]) -> dict[str, KeyFigure]:
    """The key figures by title."""
    return {figure.title: figure for figure in of_type(blocks, KeyFigure)}


def find_table(blocks: Iterable[Block], title: str) -> Table:
    """The table whose title starts with `title`."""
    (table,) = (table for table in of_type(blocks, Table) if table.title.startswith(title))
    return table


def table_rows(table: Table) -> dict[str, list[str]]:
    """What the rows of a table show, by the text of their first cell."""
    return {row[0].text: [show(cell) for cell in row[1:]] for row in table.rows}


def show(cell: Cell) -> str:
    """A cell as plain text: its text, bounds and note."""
    return " ".join(filter(None, (cell.text, cell.bounds, cell.note))).replace("\N{NO-BREAK SPACE}", " ")


def lines(blocks: Iterable[Block]) -> list[str]:
    """The lines of all texts."""
    return [line for text in of_type(blocks, Text) for line in text.lines]


def sections(blocks: Iterable[Block]) -> list[str]:
    """The titles of the sections on the first level."""
    return [block.title for block in blocks if isinstance(block, Section)]


def render_page(measurement: Measurement, items: pd.DataFrame | None = None) -> str:
    """The page of an audit with one measurement."""
    result, frames = _audit(measurement), {} if items is None else {measurement.name: items}
    return render_html(audit_page(result, build_sections(result.measurements, frames), item_tables(frames)))


def terminal_text(measurement: Measurement, width: int = 80) -> str:
    """What a terminal shows of an audit with one measurement."""
    result = _audit(measurement)
    return audit_text(result, build_sections(result.measurements), width)


def _audit(measurement: Measurement) -> AuditResult:
    return AuditResult(
        unmask_version="0.0.7",
        created="2020-02-02T02:02:02+00:00",
        model=ModelInfo(name="model-x", architecture="BertModel"),
        configuration={},
        libraries={},
        seed=4711,
        measurements=[measurement],
    )
