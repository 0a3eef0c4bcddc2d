"""Audits and comparisons as Markdown: the blocks of a report without figures, for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from unmask.report.blocks import Block, Cell, Examples, Figure, KeyFigure, Section, Table, Text
from unmask.report.comparison import (
    ComparisonSection,
    closing_blocks,
    describe_origin,
    find_side,
    heading,
    method_blocks,
    opening_blocks,
    section_title,
)
from unmask.report.default_blocks import MeasureSection
from unmask.results import AuditResult, ComparisonResult
from unmask.results.formatting import capital, moment, setting, short_name


def audit_markdown(result: AuditResult, sections: Sequence[MeasureSection], limits: Sequence[str] = ()) -> str:
    """The report of an audit."""
    model = result.model
    size = f", {model.parameters:,} parameters" if model.parameters else ""
    lines = [
        f"# Gender bias audit of {escape_markdown(short_name(model.name))}",
        "",
        f"{escape_markdown(model.architecture)}{size}, {escape_markdown(moment(result.created))}",
        "",
    ]
    for section in sections:
        lines += [f"## {escape_markdown(section.title)}", "", escape_markdown(section.note), ""]
        if section.warning:
            lines += [f"**Do not read this as bias.** {escape_markdown(section.warning)}", ""]
        lines += [escape_markdown(section.headline), "", *block_lines(section.blocks, 3)]
        lines += block_lines(section.closing_blocks(), 3)
    if sections:
        lines += list_lines("What this does not say", limits)
        lines += ["## Method", ""]
    methods = {section.measure: section.method for section in sections}
    for measure, method in methods.items():
        lines += [f"### {escape_markdown(measure)}", "", *block_lines(method, 4)]
    facts: dict[str, object] = {"model": model.name, "weights (SHA-256)": model.weight_hash, "seed": result.seed}
    facts |= {name.replace("_", " "): value for name, value in result.configuration.items() if value is not None}
    facts |= {"unmask": result.unmask_version} | dict(result.libraries)
    lines += list_lines("Provenance", [f"{name}: {setting(value)}" for name, value in facts.items()])
    for section in sections:
        values = [*section.facts, ("data hash (SHA-256)", section.measurement.data_hash or "–")]
        lines += list_lines(section.title, [f"{name}: {value}" for name, value in values], level=3)
    return join_lines(lines)


def comparison_markdown(result: ComparisonResult, sections: Sequence[ComparisonSection]) -> str:
    """The report of a comparison."""
    lines = [f"# {escape_markdown(heading(result))}", "", escape_markdown(moment(result.created)), ""]
    lines += block_lines(opening_blocks(result, sections), 2)
    for index, section in enumerate(sections):
        title, finding = (
            section_title(section, several=len(sections) > 1),
            f"{section.headline} {section.comparison.cost}",
        )
        lines += [f"## {escape_markdown(title)}", "", escape_markdown(section.note), ""]
        lines += [
            f"**{', '.join(filter(None, (capital(section.verdict), section.comparison.short_cost)))}.**"
            f" {escape_markdown(section.meaning)}",
            "",
            escape_markdown(finding.rstrip()),
            "",
        ]
        lines += [escape_markdown(describe_origin(result.before, find_side(result, section))), ""]
        lines += block_lines([*section.blocks, *closing_blocks(result, sections, index)], 3)
    if len(sections) != 1:
        lines += list_lines("Before you rely on any of this", [caveat.text for caveat in result.caveats])
    lines += ["## Method", "", *block_lines(method_blocks(sections), 3)]
    facts: dict[str, object] = {
        f"{side.name} (SHA-256 of the weights)": side.model.weight_hash for side in (result.before, *result.after)
    }
    facts |= {"seed": result.seed, "unmask": result.unmask_version} | dict(result.libraries)
    return join_lines(lines + list_lines("Provenance", [f"{name}: {setting(value)}" for name, value in facts.items()]))


def block_lines(blocks: Sequence[Block], level: int) -> Iterator[str]:
    """Blocks as lines; figures are left out. `level` is that of the headings."""
    for is_key_figure, members in groupby(blocks, lambda block: isinstance(block, KeyFigure)):
        for block in members:
            yield from _lines_of(block, level)
        if is_key_figure:
            yield ""


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table whose first column is text and whose others are numbers."""
    yield f"| {' | '.join(heads)} |"
    yield f"|---|{'---:|' * (len(heads) - 1)}"
    for row in rows:
        yield f"| {' | '.join(escape_markdown(cell) for cell in row)} |"


def list_lines(heading: str, lines: Sequence[str], *, level: int = 2) -> list[str]:
    """A list under a heading; nothing where it is empty."""
    if not lines:
        return []
    return [f"{'#' * level} {escape_markdown(heading)}", "", *(f"- {escape_markdown(line)}" for line in lines), ""]


def join_lines(lines: Iterable[str]) -> str:
    """The lines as the text of a file."""
    return "\n".join(lines).rstrip() + "\n"


def _lines_of(block: Block, level: int) -> Iterator[str]:
    if isinstance(block, KeyFigure):
        parts = (block.title, block.value, block.certainty, block.verdict, block.explanation)
        title, value, certainty, verdict, explanation = map(escape_markdown, parts)
        yield f"- **{title}: {value}** ({certainty}){': ' if verdict else ''}{verdict}. {explanation}".rstrip()
    elif isinstance(block, Section):
        inner = [_drop_title(inner, block.title) for inner in block.blocks]
        content = list(block_lines(inner, level + 1))
        if content:
            yield from _add_summary(block.title, content) if block.folded else _add_heading(block.title, content, level)
    elif isinstance(block, Table):
        heads = [f"{column.group}: {column.title}" if column.group else column.title for column in block.columns]
        content = [
            *table_lines(list(map(escape_markdown, heads)), ([_cell_text(cell) for cell in row] for row in block.rows))
        ]
        content += ["", *([escape_markdown(block.note), ""] if block.note else [])]
        yield from _add_summary(block.title, content) if block.folded else _add_heading(block.title, content, level)
    elif isinstance(block, Examples):
        content = [escape_markdown(block.note), ""] if block.note else []
        for example in block.examples:
            sentences = " / ".join("".join(text for text, _ in sentence) for sentence in example.sentences)
            names = block.columns or [""] * len(example.values)
            values = [f"{name} {value}".strip() for name, value in zip(names, example.values, strict=True)]
            note = "; ".join(filter(None, [*values, example.note]))
            content.append(f"- {escape_markdown(sentences)}" + (f" ({escape_markdown(note)})" if note else ""))
        yield from _add_heading(block.title, [*content, ""] if block.examples else [*content, "None.", ""], level)
    elif isinstance(block, Text):
        if block.style == "formula":
            yield from (*(f"    {flatten_markdown(line)}" for line in block.lines), "")
        elif block.style == "list":
            yield from (*(f"- {escape_markdown(line)}" for line in block.lines), "")
        else:
            for line in block.lines:
                yield from (escape_markdown(line), "")
    elif isinstance(block, Figure) and block.file:
        yield from (f"![{escape_markdown(block.description)}]({block.file})", "")


def _drop_title(block: Block, title: str) -> Block:
    """A table without its title, if that is the title of the section above it."""
    return replace(block, title="") if isinstance(block, Table) and block.title == title else block


def _add_heading(title: str, content: Sequence[str], level: int) -> Iterator[str]:
    if title:
        yield from (f"{'#' * min(level, 6)} {escape_markdown(title)}", "")
    yield from content


def _add_summary(title: str, content: Sequence[str]) -> Iterator[str]:
    yield from ("<details>", f"<summary>{escape_markdown(title)}</summary>", "", *content, "</details>", "")


def _cell_text(cell: Cell) -> str:
    note = f"({cell.note})" if cell.note else ""
    return " ".join(filter(None, (cell.text, cell.bounds, note)))


def flatten_markdown(text: str) -> str:
    """For code and cells of tables: one line without backticks, bars and what cannot be seen."""
    line = " ".join(text.replace("`", "'").replace("|", "/").split())
    return "".join(letter for letter in line if letter.isprintable())


def escape_markdown(text: str) -> str:
    """For a sentence, in one line: nothing in it is a tag, a link, a heading or emphasis; `p < 0.05` stays as it is."""
    line = "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
    line = re.sub(r"^>", "&gt;", re.sub(r"<(?=[A-Za-z/!?])", "&lt;", re.sub(r"&(?=[A-Za-z#])", "&amp;", line)))
    return re.sub(r"\](?=[(\[:])", r"\]", re.sub(r"([\\`*_|#~])", r"\\\1", line))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table; cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" if any(line) else "|" + " |" * len(line) for line in lines]
