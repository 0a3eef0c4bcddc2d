"""Results as rows for CSV: one row per test or group of an audit, change of a comparison, or model of a ranking."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from unmask.results import AuditResult
from unmask.results.comparison import ComparisonResult
from unmask.spreadsheets import guarded

COMPARISON = (
    *("before_model", "after_model", "measure", "language", "corpus", "variant", "protocol", "kind", "name", "n"),
    *("before", "after", "change", "correlation", "low", "high", "p_value", "p_adjusted", "verdict"),
)
"""The columns of a comparison; `kind` is change, usefulness (its measure is what was tried), or agreement."""


def audit_rows(result: AuditResult) -> Iterator[dict[str, Any]]:
    """Every test and every group."""
    for one in result.measurements:
        common = {
            "model": result.model.name,
            "measure": one.name,
            "language": one.language,
            "corpus": one.corpus,
            "protocol": one.protocol,
            "variant": one.variant,
        }
        for name, test in one.tests.items():
            yield (
                common
                | _make_row("test", name, test.n, test.value, test.interval)
                | {
                    "p_value": test.p_value,
                    "p_adjusted": test.p_adjusted,
                    "effect_size": test.effect_size,
                    "effect_size_name": test.effect_size_name,
                }
            )
        for name, group in one.groups.items():
            blank = dict.fromkeys(("p_value", "p_adjusted", "effect_size", "effect_size_name"))
            yield common | _make_row("group", name, group.n, group.value, group.interval) | blank


def comparison_rows(result: ComparisonResult) -> Iterator[dict[str, Any]]:
    """Every change, every figure of usefulness, and every correlation of two figures over the models."""
    blank = dict.fromkeys(COMPARISON)
    for one in result.comparisons:
        models = {"before_model": one.before, "after_model": one.after}
        what = one.model_dump(include={"language", "corpus", "variant", "protocol"}) | {"measure": one.name}
        for name, change in one.changes.items():
            row = {key: value for key, value in change.to_row().items() if key in COMPARISON}
            yield (blank | models | what | {"kind": "change", "name": name} | row | _low_high(change.change.interval))
    for useful in result.usefulness:
        models = {"before_model": result.before.name, "after_model": useful.after}
        what = {"measure": useful.what, "corpus": useful.data, "kind": "usefulness"}
        for name, figure in useful.figures.items():
            figures = {"n": useful.n} | figure.model_dump(include={"before", "after", "change", "p_value"})
            yield blank | models | what | {"name": name} | figures | _low_high(figure.interval)
    for pair in result.agreement.correlations if result.agreement else ():
        common = blank | {"kind": "agreement", "n": pair.n}
        names = f"{pair.first}, {pair.second}"
        pearson = {"correlation": pair.pearson, "p_value": pair.pearson_p_value, "p_adjusted": pair.p_adjusted}
        spearman = {"correlation": pair.spearman, "p_value": pair.spearman_p_value}
        yield common | {"name": f"{names}: pearson"} | pearson | _low_high(pair.pearson_interval)
        yield common | {"name": f"{names}: spearman"} | spearman | _low_high(pair.spearman_interval)


def to_csv(rows: Iterable[Mapping[str, Any]], head: Sequence[str] = ()) -> str:
    """Rows as CSV for people, with a head; where there are none, the head that is given, or nothing."""
    every = list(rows)
    names = list(every[0]) if every else head
    if not names:
        return ""
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: guarded(cell) for name, cell in row.items()} for row in every)
    return text.getvalue()


def _low_high(interval: tuple[float, float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"low": low, "high": high}


def _make_row(kind: str, name: str, n: int, value: float | None, bounds: tuple[float, float] | None) -> dict[str, Any]:
    return {"kind": kind, "name": name, "n": n, "value": value} | _low_high(bounds)
