"""Results as rows for CSV: one a test or group of an audit, a change of a comparison, a model of a ranking."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

from unmask.report.ranking import rankings
from unmask.results import AuditResult
from unmask.results.comparison import ComparisonResult


def audit_rows(result: AuditResult) -> Iterator[dict[str, Any]]:
    """Every test and every group."""
    for one in result.measurements:
        common = {
            "model": result.model.name,
            "measure": one.name,
            "language": one.language,
            "corpus": one.corpus,
            "protocol": one.protocol,
            "terms": one.ratings.terms if one.ratings else "",
        }
        for name, test in one.tests.items():
            yield (
                common
                | _row("test", name, test.n, test.estimate, test.interval)
                | {
                    "p_value": test.p_value,
                    "p_adjusted": test.p_adjusted,
                    "effect_size": test.effect_size,
                    "effect_size_name": test.effect_size_name,
                }
            )
        for name, group in one.groups.items():
            blank = dict.fromkeys(("p_value", "p_adjusted", "effect_size", "effect_size_name"))
            yield common | _row("group", name, group.n, group.mean, group.interval) | blank


def comparison_rows(result: ComparisonResult) -> Iterator[dict[str, Any]]:
    """Every change."""
    for one in result.comparisons:
        for name, change in one.changes.items():
            low, high = change.interval or (None, None)
            yield {
                "before_model": one.before,
                "after_model": one.after,
                "measure": one.name,
                "language": one.language,
                "corpus": one.corpus,
                "protocol": one.protocol,
                "name": name,
                "n": change.n,
                "before": change.before,
                "after": change.after,
                "change": change.change,
                "low": low,
                "high": high,
                "p_value": change.p_value,
                "p_adjusted": change.p_adjusted,
                "verdict": change.verdict,
            }


def ranking_rows(audits: Sequence[AuditResult]) -> Iterator[dict[str, Any]]:
    """Every place of a ranking."""
    for one in rankings(audits):
        for place in one.places:
            low, high = place.test.interval or (None, None)
            first, last = place.ranks or (None, None)
            measured = one.measurement
            yield {
                "measure": measured.name,
                "language": measured.language,
                "corpus": measured.corpus,
                "protocol": measured.protocol,
                "terms": measured.ratings.terms if measured.ratings else "",
                "test": one.test,
                "model": place.model,
                "n": place.test.n,
                "estimate": place.test.estimate,
                "low": low,
                "high": high,
                "p_value": place.test.p_value,
                "p_adjusted": place.test.p_adjusted,
                "first_rank": first,
                "last_rank": last,
            }


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV, with a head; nothing where there are none."""
    every = list(rows)
    if not every:
        return ""
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=list(every[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(every)
    return text.getvalue()


def _row(kind: str, name: str, n: int, value: float | None, bounds: tuple[float, float] | None) -> dict[str, Any]:
    low, high = bounds or (None, None)
    return {"kind": kind, "name": name, "n": n, "estimate": value, "low": low, "high": high}
