"""HTML pages: each is one file without network access and with one script of our own; all text is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from unmask import __version__
from unmask.report.blocks import Block, Section
from unmask.report.comparison import (
    ComparisonSection,
    closing_blocks,
    describe_origin,
    find_side,
    heading,
    method_blocks,
    opening_blocks,
)
from unmask.report.default_blocks import MeasureSection
from unmask.report.items import ItemsTable, browse_items
from unmask.report.markdown import escape_markdown, flatten_markdown
from unmask.results import AuditResult, ComparisonResult
from unmask.results.formatting import (
    capital,
    count,
    interval,
    moment,
    number,
    p,
    percent,
    setting,
    short_name,
    signed,
)

MOST_UNFOLDED = 3
"""With more comparisons than this, a page folds all but the key figures of each."""
STRONGEST_SHADE = 0.55
"""The opacity of the strongest background: text must stay legible on it."""


def render_audit(
    result: AuditResult,
    sections: Sequence[MeasureSection],
    items: Sequence[ItemsTable] = (),
    *,
    limits: Sequence[str] = (),
    beside: bool = False,
) -> str:
    """Render the report of an audit.

    Args:
        result: The audit.
        sections: Its measurements with their blocks, in the order of the page.
        items: The items of each measure, for tables that a reader can search, filter and sort.
        limits: What the audit does not say, in sentences.
        beside: Whether the page is in the audit's folder, so that it can link to the files of the items.

    Returns:
        The text of an HTML page.
    """
    methods: dict[str, Sequence[Block]] = {}
    for section in sections:
        methods.setdefault(section.measure, section.method)
    return fill(
        "audit.html.j2",
        result=result,
        sections=sections,
        methods={measure: blocks for measure, blocks in methods.items() if blocks},
        limits=limits if sections else [],
        tables=browse_items(items),
        beside=beside,
    )


def render_comparison(
    result: ComparisonResult,
    sections: Sequence[ComparisonSection],
    items: Sequence[ItemsTable] = (),
    *,
    beside: bool = False,
) -> str:
    """Render the report of a comparison as the text of an HTML page.

    Args:
        result: The comparison.
        sections: Its comparisons with their blocks, in the order of the page.
        items: The items of each measure, for tables that a reader can search, filter and sort.
        beside: Whether the page is in the comparison's folder, so that it can link to the files of the items.
    """
    return fill(
        "comparison.html.j2",
        result=result,
        sections=sections,
        heading=heading(result),
        opening=opening_blocks(result, sections),
        closing=[closing_blocks(result, sections, index) for index in range(len(sections))],
        origins=[describe_origin(result.before, find_side(result, section)) for section in sections],
        folded=len(sections) > MOST_UNFOLDED,
        method=method_blocks(sections),
        data_sets=list(dict.fromkeys((task.what, task.data, task.data_hash) for task in result.usefulness)),
        tables=browse_items(items),
        beside=beside,
    )


def render_page(
    title: str, sections: Sequence[Section], *, eyebrow: str = "", note: str = "", lead: str = "", footer: str = ""
) -> str:
    """Render any sections as the text of an HTML page.

    Args:
        title: The heading of the page.
        sections: What is below it; each has a title.
        eyebrow: The kind of page, above the heading.
        note: A line below the heading.
        lead: The finding in sentences.
        footer: A sentence at the end.
    """
    texts = {"title": title, "eyebrow": eyebrow, "note": note, "lead": lead, "footer": footer}
    return fill("page.html.j2", sections=sections, version=__version__, **texts)


def fill(template: str, **values: Any) -> str:
    """A template of this folder, filled; all text is escaped, but in Markdown, where a template says what is.

    The one script of all pages is in it.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("unmask.report", ".")
    escape = not template.endswith(".md.j2")
    page = Environment(
        loader=loader, autoescape=escape, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page.filters |= {
        "number": number,
        "interval": interval,
        "signed": signed,
        "p": p,
        "count": count,
        "capital": capital,
        "percent": percent,
        "escaped": escape_markdown,
        "plain": flatten_markdown,
        "moment": moment,
        "short": short_name,
        "setting": setting,
        "svg_width": svg_width,
        "shade": shade,
    }
    code, digest = script()
    return page.get_template(template).render(script=Markup(code), script_hash=digest, **values)


@cache
def script() -> tuple[str, str]:
    """The script of every page, and its hash: nothing else may be run in one."""
    code = files("unmask.report").joinpath("page.js").read_text(encoding="utf-8")
    return code, f"sha256-{b64encode(sha256(code.encode()).digest()).decode()}"


def svg_width(drawing: str) -> int:
    """The width of an SVG in pixels, as it was drawn."""
    width = re.search(r'<svg[^>]* width="(\d+)', drawing)
    return int(width[1]) if width else 0


def shade(value: float) -> str:
    """The background of a relation: green where it is positive, orange where negative, stronger the closer it is."""
    colour = "27 158 119" if value > 0 else "217 95 2"
    return f"rgb({colour} / {STRONGEST_SHADE * abs(value):.2f})"
