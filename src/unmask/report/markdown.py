"""Audits and comparisons as Markdown: the blocks of a report without figures, for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from unmask.report.blocks import Banner, Block, Cell, Examples, Facts, Figure, KeyFigure, Page, Section, Table, Text
from unmask.results.formatting import capital


def page_markdown(page: Page) -> str:
    """A report as the text of a Markdown file."""
    title = f"{page.eyebrow}: {page.title}" if page.eyebrow else page.title
    lines = [f"# {escape_markdown(title)}", ""]
    for text in filter(None, (page.note, page.lead)):
        lines += [escape_markdown(text), ""]
    lines += block_lines(page.sections, 2)
    return join_lines([*lines, escape_markdown(f"Made with Unmask {page.version}. {page.footer}")])


def block_lines(blocks: Sequence[Block], level: int) -> Iterator[str]:
    """Blocks as lines; figures are left out. `level` is that of the headings."""
    for is_key_figure, members in groupby(blocks, lambda block: isinstance(block, KeyFigure)):
        for block in members:
            yield from _lines_of(block, level)
        if is_key_figure:
            yield ""


def join_lines(lines: Iterable[str]) -> str:
    """The lines as the text of a file."""
    return "\n".join(lines).rstrip() + "\n"


def _lines_of(block: Block, level: int) -> Iterator[str]:
    if isinstance(block, KeyFigure):
        parts = (block.title, block.value, block.certainty, block.verdict, block.explanation)
        title, value, certainty, verdict, explanation = map(escape_markdown, parts)
        sure = (f" ({certainty})" if certainty else "") + (f": {verdict}" if verdict else "")
        yield f"- **{title}: {value}**{sure}. {explanation}".rstrip()
    elif isinstance(block, Section):
        inner = [_drop_title(inner, block.title) for inner in block.blocks]
        content = list(block_lines(inner, level + 1))
        if content:
            yield from _add_summary(block.title, content) if block.folded else _add_heading(block.title, content, level)
    elif isinstance(block, Table):
        heads = [escape_markdown(column.full_title) for column in block.columns]
        aligned = ["---:" if index and column.numeric else "---" for index, column in enumerate(block.columns)]
        rows = [[escape_markdown(_cell_text(cell)) for cell in row] for row in block.rows]
        content = [*markdown_table(heads, rows, aligned), ""]
        content += [escape_markdown(block.note), ""] if block.note else []
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
        label = f"**{escape_markdown(block.label)}** " if block.label else ""
        if block.style == "formula":
            yield from (*(f"    {flatten_markdown(line)}" for line in block.lines), "")
        elif block.style == "list":
            yield from (*(f"- {escape_markdown(line)}" for line in block.lines), "")
        else:
            for line in block.lines:
                yield from (f"{label}{escape_markdown(line)}", "")
    elif isinstance(block, Banner):
        verdict = ", ".join(filter(None, (capital(block.verdict), block.cost)))
        yield from (f"**{escape_markdown(verdict)}.** {escape_markdown(block.meaning)}", "")
    elif isinstance(block, Facts):
        content = [*(f"- {escape_markdown(f'{name}: {value}')}" for name, value in block.values), ""]
        yield from _add_heading(block.title, content, level)
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


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], aligned: Sequence[str] = ()) -> list[str]:
    """The lines of a table; cells are Markdown already. `aligned` is `---` or `---:` for each column."""
    lines = [head, aligned or ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" if any(line) else "|" + " |" * len(line) for line in lines]
