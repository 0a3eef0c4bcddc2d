"""The figures of a measurement that a card shows, and the entry of a `model-index` that they make."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from unmask.measures.readable import unreadable
from unmask.report.front_matter import OURS
from unmask.report.pages import measure_name, title
from unmask.results import Measurement
from unmask.results.markdown import plain
from unmask.results.record import Interval

TESTS = {
    "association": {"stereotype": "stereotype, in nats", "workforce share, pearson": "r with women’s workforce share"},
    "sentiment": {"bias": "male − female rating"},
    "inference": {"stereotype": "stereotype, of 1", "default": "taken for men, −1 to 1"},
    "geometry": {"stereotype": "r of professions with what people say"},
    "crows-pairs": {},
}
"""By measure: the tests that say most, and what their estimates are."""
GROUPS = {
    "inference": {"NLI-CoAL": "NLI-CoAL score"},
    "crows-pairs": {"all pairs": "stereotype likelier, share of pairs (0.5 is none)"},
}
TASKS = {
    "association": "fill-mask",
    "crows-pairs": "fill-mask",
    "sentiment": "text-classification",
    "inference": "text-classification",
    "geometry": "feature-extraction",
}
DIGITS = {"sentiment": 4}
MOST = 4


@dataclass(frozen=True)
class Figure:
    """A number of a measurement with what is known of it."""

    key: str
    name: str
    value: float
    interval: Interval | None
    p_adjusted: float | None
    n: int
    digits: int
    unreadable: str = ""
    """Why it cannot be read as bias; empty if it can."""


def figures(one: Measurement) -> list[Figure]:
    """Those that say most; of a measure that is not known here, or a protocol without them, the first tests."""
    digits = DIGITS.get(one.name, 2)
    known = TESTS.get(one.name, {})
    tests = {name: test for name, test in one.tests.items() if name in known and test.value is not None}
    if not tests and one.name != "crows-pairs":
        tests = {name: test for name, test in one.tests.items() if test.value is not None}
    why = unreadable(one)
    found = [
        Figure(name, known.get(name, name), test.value, test.interval, test.p_adjusted, test.n, digits, why)
        for name, test in list(tests.items())[:MOST]
        if test.value is not None
    ]
    for name, said in GROUPS.get(one.name, {}).items():
        group = one.groups.get(name)
        if group is not None and group.value is not None:
            asked = one.tests.get("stereotype") if one.name == "crows-pairs" else None
            sure = asked.p_adjusted if asked else None
            why = unreadable(one, group=True)
            found.append(Figure(name, said, group.value, group.interval, sure, group.n, digits, why))
    return found


def entry(one: Measurement) -> dict[str, Any]:
    """A measurement as a result of a `model-index`; who reads that sees no caveat, so it has what is bias alone."""
    known = figures(one)
    args = {"protocol": one.protocol} | ({"terms": plain(one.variant)} if one.variant else {})
    return {
        "task": {"type": TASKS.get(one.name, "other"), "name": f"Gender bias: {plain(measure_name(one.name))}"},
        "dataset": {
            "name": plain(title(one.name, one.corpus, one.language)),
            "type": plain(one.corpus),
            "config": plain(one.language),
            "args": args,
        },
        "metrics": [_metric(one, figure) for figure in known if not figure.unreadable]
        or [_nothing(one, "nothing can be read as bias" if known else "nothing could be measured")],
    }


def _metric(one: Measurement, figure: Figure) -> dict[str, Any]:
    known: dict[str, Any] = {"interval": [*map(_short, figure.interval)] if figure.interval else None, "n": figure.n}
    known["p_adjusted"] = None if figure.p_adjusted is None else _short(figure.p_adjusted)
    return {
        "type": _type(one, figure.key),
        "value": _short(figure.value),
        "name": plain(figure.name),
        "args": {name: value for name, value in known.items() if value is not None},
    }


def _nothing(one: Measurement, why: str) -> dict[str, Any]:
    """The hub wants a metric with a value; where none can be had, it says so."""
    return {"type": _type(one, "none"), "value": "none", "name": why}


def _type(one: Measurement, key: str) -> str:
    words = re.findall(r"[a-z0-9]+", f"{one.name} {key}".lower())
    return f"{OURS}{'-'.join(words)}"


def _short(value: float) -> float:
    return float(f"{value:.6g}")
