"""How numbers are written, once, for the result's sentences and every report."""

from __future__ import annotations

from math import exp, log

MINUS = "−"
NO_BREAK = "\N{NO-BREAK SPACE}"
LARGEST_FACTOR = 10_000


def number(value: float | None, digits: int = 2) -> str:
    """A number with a true minus sign; more digits where it would show as zero."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    text = f"{value:.{digits}f}" if abs(value) >= 0.5 * 10**-digits else f"{value:.1g}"
    return text.replace("-", MINUS)


def odds(nats: float) -> str:
    """By what factor so many nats change odds."""
    return f"more than {LARGEST_FACTOR:,}" if nats > log(LARGEST_FACTOR) else number(exp(nats))


def interval(bounds: tuple[float, float] | None, digits: int = 2) -> str:
    """`[0.12, 0.34]`."""
    return "" if bounds is None else f"[{number(bounds[0], digits)}, {number(bounds[1], digits)}]"


def certainty(bounds: str, p_adjusted: float | None = None) -> str:
    """`95 % interval [0.12, 0.34], p = 0.012`; bounds do not break across lines."""
    parts = [f"95 % interval {bounds.replace(' ', NO_BREAK)}" if bounds else "no interval"]
    if p_adjusted is not None:
        parts.append(f"p {p_value(p_adjusted)}")
    return ", ".join(parts)


def percent(share: float | None, digits: int = 0) -> str:
    """A share from 0 to 1 in percent: `48 %`."""
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def p_value(value: float | None) -> str:
    """`= 0.012`, or `< 0.001`."""
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"
