"""Whether measures agree, as the template wants it: a matrix in colours, and the figures behind it."""

from __future__ import annotations

from typing import Any

from unmask.results import Agreement
from unmask.results.numbers import interval, number

POSITIVE, NEGATIVE = "27 158 119", "217 95 2"
STRONGEST = 0.55
"""How opaque the colour of r = 1 is; text must stay legible on it."""


def view(agreement: Agreement) -> dict[str, Any]:
    """The matrix: Pearson's r below the diagonal, Spearman's ρ above."""
    names = [one.name for one in agreement.figures if one.name not in agreement.left_out]
    most = max((one.n for one in agreement.correlations), default=0)
    rows = [
        {"name": first, "cells": [_cell(agreement, down, across, names, most) for across in range(len(names))]}
        for down, first in enumerate(names)
    ]
    return {
        "headline": agreement.headline,
        "rows": rows if len(names) > 1 else [],
        "figures": agreement.figures,
        "models": [
            (one.model, [number(one.figures.get(each.name), 3) for each in agreement.figures])
            for one in agreement.models
        ],
        "left_out": agreement.left_out,
    }


def _cell(agreement: Agreement, down: int, across: int, names: list[str], most: int) -> dict[str, Any]:
    found = agreement.correlation(names[down], names[across]) if down != across else None
    if found is None:
        return {"value": "", "between": "", "n": None, "colour": ""}
    below = across < down
    value, bounds = (found.pearson, found.pearson_interval) if below else (found.spearman, found.spearman_interval)
    return {
        "value": number(value),
        "between": interval(bounds),
        "n": found.n if found.n < most else None,
        "colour": colour(value),
    }


def colour(value: float | None) -> str:
    """Green for measures that go together, orange for those that go apart, the stronger the closer."""
    if value is None:
        return ""
    return f"rgb({POSITIVE if value > 0 else NEGATIVE} / {STRONGEST * abs(value):.2f})"
