"""What the pages share: the templates, how they are filled, and what things are called in them."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from unmask.results import numbers
from unmask.results.markdown import escaped, plain
from unmask.results.naming import short_name
from unmask.results.numbers import interval, number, p_value

STRONGEST_SHADE = 0.55
"""How opaque the strongest background is: text must stay legible on it."""


@dataclass(frozen=True)
class Card:
    """A key figure: what it is, its value, how sure, how large, and how to read it."""

    title: str
    value: str
    certainty: str
    verdict: str
    reading: str
    bar: tuple[tuple[str, int], ...] = ()
    """Counts to draw as one bar, each with the style of its part."""


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
        "escaped": escaped,
        "plain": plain,
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


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]


def signed(value: float | None, digits: int = 2) -> str:
    """A change, with its sign."""
    return ("+" if (value or 0) > 0 else "") + number(value, digits)


def moment(stamp: str) -> str:
    """A time stamp as people write it: `2 February 2020, 02:02 UTC`; what is none stays as it is."""
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    when = when.astimezone(UTC) if when.tzinfo else when
    return f"{when.day} {when:%B %Y, %H:%M} UTC"


def setting(value: object) -> str:
    """A setting in words: a list with commas, yes and no, and a dash for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None else str(value)


def count(value: int) -> str:
    """A whole number, its thousands apart."""
    return f"{value:,}"


def share(part: int, whole: int) -> str:
    """A part in percent."""
    percent = 100 * part / whole if whole else 0.0
    return f"{number(percent, 1 if percent < 10 else 0)} %"


def percent(value: float | None, digits: int = 1) -> str:
    """A share from 0 to 1 in percent, in one line."""
    return numbers.percent(value, digits).replace(" ", "\N{NO-BREAK SPACE}")


def p(value: float | None) -> str:
    """A p-value as it stands in a column: `0.012`, or `< 0.001`."""
    return p_value(value).removeprefix("= ")


def svg_width(drawing: str) -> int:
    """The width of an SVG in pixels, as it was drawn."""
    width = re.search(r'<svg[^>]* width="(\d+)', drawing)
    return int(width[1]) if width else 0


def shade(value: float) -> str:
    """The background of a relation: green where it is positive, orange where negative, stronger the closer it is."""
    colour = "27 158 119" if value > 0 else "217 95 2"
    return f"rgb({colour} / {STRONGEST_SHADE * abs(value):.2f})"
