"""How numbers, times and names are written, in the sentences of results and in every report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from math import exp, log

MINUS = "−"
NO_BREAK = "\N{NO-BREAK SPACE}"
LARGEST_FACTOR = 10_000
LANGUAGES = {"en": "English", "de": "German", "ja": "Japanese", "zh": "Chinese"}
"""Names of languages by code."""


# Numbers


def number(value: float | None, digits: int = 2) -> str:
    """A number with a true minus sign; more digits where it would show as zero."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    text = f"{value:.{digits}f}" if abs(value) >= 0.5 * 10**-digits else f"{value:.1g}"
    return text.replace("-", MINUS)


def signed(value: float | None, digits: int = 2) -> str:
    """A number with its sign, such as a change."""
    return ("+" if (value or 0) > 0 else "") + number(value, digits)


def count(value: int) -> str:
    """A whole number with thousands separators."""
    return f"{value:,}"


def odds(nats: float) -> str:
    """The factor by which a difference in nats changes odds."""
    if nats > log(LARGEST_FACTOR):
        return f"more than {LARGEST_FACTOR:,}"
    return count(round(exp(nats))) if nats >= log(100) else number(exp(nats))


def percent(share: float | None, digits: int = 1) -> str:
    """A share from 0 to 1 in percent, on one line: `48.0 %`."""
    return "–" if share is None else f"{100 * share:.{digits}f}{NO_BREAK}%"


def share(part: int, whole: int) -> str:
    """A part of a whole in percent; small shares have a decimal."""
    fraction = part / whole if whole else 0.0
    return percent(fraction, 1 if fraction < 0.1 else 0)


def interval(bounds: tuple[float, float] | None, digits: int = 2) -> str:
    """`[0.12, 0.34]`; empty without bounds."""
    return "" if bounds is None else f"[{number(bounds[0], digits)}, {number(bounds[1], digits)}]"


def percent_interval(bounds: tuple[float, float] | None, digits: int = 1) -> str:
    """Bounds of a share in percent: `12.0 to 34.0 %`; empty without bounds."""
    if bounds is None:
        return ""
    low, high = (number(100 * bound, digits) for bound in bounds)
    return f"{low} to {high}{NO_BREAK}%"


def p_value(value: float | None) -> str:
    """A p-value in a sentence: `= 0.012` or `< 0.001`."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def p(value: float | None) -> str:
    """A p-value in a column: `0.012` or `< 0.001`."""
    return p_value(value).removeprefix("= ")


def certainty(bounds: str, p_adjusted: float | None = None) -> str:
    """`95 % interval [0.12, 0.34], p = 0.012`; bounds do not break across lines."""
    parts = [f"95 % interval {bounds.replace(' ', NO_BREAK)}" if bounds else "no interval"]
    if p_adjusted is not None:
        parts.append(f"p {p_value(p_adjusted)}")
    return ", ".join(parts)


def join_figures(*figures: str, p_adjusted: float | None) -> str:
    """`0.23, 95 % interval [0.12, 0.34], p = 0.012`; figures that are empty, and a missing p-value, are left out."""
    return ", ".join(filter(None, (*figures, "" if p_adjusted is None else f"p {p_value(p_adjusted)}")))


# Words


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]


def moment(stamp: str) -> str:
    """A time stamp for readers: `2 February 2020, 02:02 UTC`; other text is returned as it is."""
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    time = time.astimezone(UTC) if time.tzinfo else time
    return f"{time.day} {time:%B %Y, %H:%M} UTC"


def setting(value: object) -> str:
    """A setting in words: a list with commas, yes and no, and a dash for nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None else str(value)


def short_name(name: str) -> str:
    """The last part of a path; a hub id, or any other name, as it is."""
    path = name.startswith(("/", "./", "../", "~/")) or name.count("/") > 1 or "\\" in name
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return last if path and last.strip(".") else name


def join_or(names: Sequence[str]) -> str:
    """`en`, `en or de`, `en, ja or zh`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def make_unique(names: Sequence[str]) -> list[str]:
    """The names; one that repeats gets a number."""
    unique: list[str] = []
    for name in names:
        tries = (name if count == 1 else f"{name}-{count}" for count in range(1, len(names) + 2))
        unique.append(next(candidate for candidate in tries if candidate not in unique))
    return unique
