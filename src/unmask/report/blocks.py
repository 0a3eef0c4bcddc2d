"""Blocks: what a report shows, as data.

A measure, a comparison or a study returns a list of blocks. One renderer per format turns them into a page
(`report/html.py`), text for a terminal (`report/terminal.py`) or Markdown (`report/markdown.py`). Blocks hold plain
text: renderers escape it. Nothing here knows a measure or a format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from unmask import __version__

if TYPE_CHECKING:
    from unmask.report.items import ItemsTable

Style = Literal[
    "",
    "female",
    "male",
    "attribute",
    "strong",
    "neutral",
    "entailment",
    "contradiction",
    "biased",
    "mistaken",
    "open",
    "ring",
    "diamond",
    "stroke",
]
"""How a part of a text or a swatch of a legend is highlighted."""
Run = tuple[str, Style]
"""A part of a sentence and its style."""


@dataclass(frozen=True)
class KeyFigure:
    """A number that a reader should see first."""

    title: str
    value: str
    certainty: str
    """The interval and the p-value."""
    verdict: str
    explanation: str
    bar: tuple[tuple[Style, int], ...] = ()
    """Counts, drawn as one bar with a part for each."""
    link: str = ""
    """The address that the title links to."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str
    bounds: str = ""
    """Shown smaller beside the text: an interval."""
    note: str = ""
    """Shown smaller below the text."""
    strong: bool = False
    language: str = ""
    """The language of the text, where it is not English."""
    is_verdict: bool = False
    """Whether the text is a verdict, which a page shows as a label."""
    link: str = ""
    """The address that the text links to: a file, or `#` and the id of a part of the page."""
    shade: float | None = None
    """The strength of a relation from −1 to 1, shown as a background colour."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    numeric: bool = True
    group: str = ""
    """A heading above this column and its neighbours with the same group."""
    swatch: Style = ""
    narrow: bool = True
    """Whether a terminal of 80 columns shows it."""
    narrow_bounds: bool = True
    """Whether a terminal of 80 columns shows the intervals in it."""

    @property
    def full_title(self) -> str:
        """The title after that of its group."""
        return f"{self.group}: {self.title}" if self.group else self.title


@dataclass(frozen=True)
class Table:
    """A table. The first column names its row."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    folded: bool = False
    """Whether a page shows it only when a reader opens it. A terminal leaves it out."""
    terminal: bool = False
    """Whether a terminal shows it."""
    terminal_rows: int | None = None
    """How many of the rows a terminal shows; all of them where this is None."""

    def column_groups(self) -> list[tuple[str, list[Column]]]:
        """Neighbouring columns with the same group, in order. A column without a group is alone."""
        numbered = groupby(enumerate(self.columns), lambda pair: pair[1].group or pair[0])
        return [
            (str(group) if isinstance(group, str) else "", [column for _, column in members])
            for group, members in numbered
        ]


@dataclass(frozen=True)
class Figure:
    """A drawing. It is drawn when a page is made: a terminal never draws."""

    title: str
    draw: Callable[[], str]
    """Returns SVG, or an empty string where there is nothing to draw."""
    description: str
    """What the drawing shows, for readers who cannot see it."""
    caption: str = ""
    language: str = ""
    file: str = ""
    """The file of the drawing, for a Markdown text next to it; empty where there is none."""


@dataclass(frozen=True)
class Example:
    """One or more sentences behind a number."""

    sentences: Sequence[Sequence[Run]]
    note: str = ""
    values: Sequence[str] = ()
    """Numbers shown in columns beside the sentences."""


@dataclass(frozen=True)
class Examples:
    """The items behind the numbers."""

    title: str
    examples: Sequence[Example]
    columns: Sequence[str] = ()
    """Headings of the values of each example."""
    note: str = ""
    language: str = ""
    swatch: Style = ""
    """Shown beside the title."""


@dataclass(frozen=True)
class Legend:
    """What the colours and marks of the figures below it mean."""

    entries: Sequence[tuple[str, str]]
    """A style or a colour (`#4477aa`), and its meaning."""


@dataclass(frozen=True)
class Text:
    """Sentences: a paragraph, a note, a warning or a list."""

    lines: Sequence[str]
    style: Literal["paragraph", "lead", "note", "warning", "list", "formula"] = "paragraph"
    terminal: bool = False
    label: str = ""
    """Shown in bold before each paragraph."""


@dataclass(frozen=True)
class Banner:
    """The verdict of a comparison, in large letters."""

    verdict: str
    meaning: str
    cost: str = ""
    """What the change costs, in a few words beside the verdict."""
    is_good: bool = False
    """Whether the model improved, and is as useful as before."""


@dataclass(frozen=True)
class Facts:
    """Names and values: where a result comes from."""

    title: str
    values: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ItemBrowser:
    """The items of all measures, as tables that a reader of a page can search, filter and sort."""

    tables: Sequence[ItemsTable]
    link_files: bool = False
    """Whether the page is next to the folder `items`, so that it can link to the files."""


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    title: str
    """Empty where the section only arranges its blocks."""
    blocks: Sequence[Block]
    layout: Literal["stacked", "two columns", "panels"] = "stacked"
    folded: bool = False
    anchor: str = ""
    """The id of a section of a page, for links to it."""


Block = KeyFigure | Table | Figure | Examples | Legend | Text | Banner | Facts | ItemBrowser | Section


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    sections: Sequence[Section]
    eyebrow: str = ""
    """The kind of page, above the title."""
    note: str = ""
    """A line below the title."""
    lead: str = ""
    """The finding in sentences."""
    footer: str = ""
    """A sentence at the end."""
    version: str = __version__
    """The version of Unmask that measured."""
