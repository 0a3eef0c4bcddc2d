"""HTML pages: each is one file without network access and with one script of our own; all text is escaped."""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from unmask.report.blocks import Page
from unmask.report.items import browse_items
from unmask.report.markdown import escape_markdown, flatten_markdown
from unmask.results.formatting import capital, count, number

STRONGEST_SHADE = 0.55
"""The opacity of the strongest background: text must stay legible on it."""


def render_page(page: Page) -> str:
    """Render a report as the text of an HTML page."""
    return fill("page.html.j2", page=page)


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
        "browse": browse_items,
        "capital": capital,
        "count": count,
        "escaped": escape_markdown,
        "number": number,
        "plain": flatten_markdown,
        "shade": shade,
        "svg_width": svg_width,
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
