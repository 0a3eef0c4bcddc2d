"""What the pages share: the templates, how they are filled, and what things are called in them."""

from __future__ import annotations

from typing import Any

from unmask.results.numbers import interval, number, p_value

LANGUAGES = {"en": "English", "de": "German"}
CORPORA = {
    "bec-pro": "BEC-Pro",
    "agreement-free": "agreement-free sentences",
    "emotions": "emotions",
    "recorded": "recorded scores",
    "custom": "own words",
}


def fill(template: str, **values: Any) -> str:
    """A template of this folder, filled; all text is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("unmask.report", ".")
    page = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page.filters |= {"number": number, "interval": interval, "signed": signed, "p": p, "capital": capital}
    return page.get_template(template).render(**values)


def title(measure: str, corpus: str, language: str) -> str:
    """What was measured, on which sentences, in which language."""
    return f"{capital(measure)}: {CORPORA.get(corpus, corpus)}, {LANGUAGES.get(language, language)}"


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]


def signed(value: float | None, digits: int = 2) -> str:
    """A change, with its sign."""
    return ("+" if (value or 0) > 0 else "") + number(value, digits)


def p(value: float | None) -> str:
    """A p-value as it stands in a column: `0.012`, or `< 0.001`."""
    return p_value(value).removeprefix("= ")
