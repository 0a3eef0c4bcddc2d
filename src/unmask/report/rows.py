"""Results as rows for CSV: one row per test or group of an audit, change of a comparison, or model of a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from unmask import spreadsheets
from unmask.results import AuditResult
from unmask.results.comparison import ComparisonResult

COMPARISON = (
    *("before_model", "after_model", "measure", "language", "corpus", "variant", "protocol", "kind", "name", "n"),
    *("before", "after", "change", "correlation", "low", "high", "p_value", "p_adjusted", "verdict"),
)
"""The columns of a comparison; `kind` is change, usefulness (its measure is the task), or agreement."""
TESTED = {"p_value", "p_adjusted", "effect_size", "effect_size_name"}


def audit_rows(result: AuditResult) -> Iterator[dict[str, Any]]:
    """Every test and every group."""
    for measurement in result.measurements:
        shared = {"model": result.model.name, "measure": measurement.name}
        shared |= {name: getattr(measurement, name) for name in ("language", "corpus", "protocol", "variant")}
        for kind, estimates in (("test", measurement.tests), ("group", measurement.groups)):
            for name, estimate in estimates.items():
                row = shared | {"kind": kind, "name": name, "n": estimate.n, "value": estimate.value}
                tested = estimate.model_dump(include=TESTED) if kind == "test" else {}
                yield row | _low_high(estimate.interval) | tested


def comparison_rows(result: ComparisonResult) -> Iterator[dict[str, Any]]:
    """Every change, every figure of usefulness, and every correlation of two figures over the models."""
    for comparison in result.comparisons:
        shared = {"before_model": comparison.before, "after_model": comparison.after, "measure": comparison.name}
        shared |= comparison.model_dump(include={"language", "corpus", "variant", "protocol"})
        for name, change in comparison.changes.items():
            row = shared | {"kind": "change", "name": name} | change.to_row()
            yield _select_columns(row | _low_high(change.change.interval))
    for task in result.usefulness:
        shared = {"before_model": result.before.name, "after_model": task.after, "measure": task.what}
        shared |= {"corpus": task.data, "kind": "usefulness"}
        for name, figure in task.figures.items():
            yield _select_columns(
                shared | {"name": name, "n": task.n} | figure.model_dump() | _low_high(figure.interval)
            )
    for pair in result.agreement.correlations if result.agreement else ():
        common: dict[str, Any] = {"kind": "agreement", "n": pair.n}
        names = f"{pair.first}, {pair.second}"
        pearson = {"correlation": pair.pearson, "p_value": pair.pearson_p_value, "p_adjusted": pair.p_adjusted}
        spearman = {"correlation": pair.spearman, "p_value": pair.spearman_p_value}
        yield _select_columns(common | {"name": f"{names}: pearson"} | pearson | _low_high(pair.pearson_interval))
        yield _select_columns(common | {"name": f"{names}: spearman"} | spearman | _low_high(pair.spearman_interval))


def to_csv(rows: Iterable[Mapping[str, Any]], head: Sequence[str] = ()) -> str:
    """Rows as CSV for people. Where there are none: `head`, or nothing."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), dtype=object)
    frame = pd.DataFrame(columns=list(head)) if frame.empty else frame
    return spreadsheets.to_csv(frame) if len(frame.columns) else ""


def _select_columns(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in COMPARISON}


def _low_high(interval: tuple[float, float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"low": low, "high": high}
