"""Numbers → one self-contained HTML page: no network, one script of our own, all text from outside escaped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unmask.report import association
from unmask.report.items import tables
from unmask.report.limits import limits
from unmask.report.pages import fill
from unmask.results import AuditResult, Measurement

if TYPE_CHECKING:
    import pandas as pd


def render(result: AuditResult, items: Mapping[str, pd.DataFrame], *, beside: bool = False) -> str:
    """The report of an audit as the text of an HTML page; `beside`: it stands in the audit's folder, by the items."""
    ordered = sorted(result.measurements, key=association.is_agreement)  # what can be read as bias comes first
    views = [_view(one, items.get(one.name)) for one in ordered]
    measures = dict.fromkeys(view["measure"] for view in views)
    return fill(
        "page.html.j2",
        result=result,
        views=views,
        measures=list(measures),
        limits=limits(result.measurements) if views else [],
        tables=tables(items),
        beside=beside,
    )


def _view(measurement: Measurement, items: pd.DataFrame | None) -> dict[str, Any]:
    """A measurement as the template of its measure wants it."""
    if measurement.plugin is not None:
        from unmask.report import generic

        return {"measure": "generic"} | generic.view(measurement)
    if measurement.name == "sentiment":
        from unmask.report import sentiment

        return {"measure": "sentiment"} | sentiment.view(measurement, items)
    if measurement.name == "inference":
        from unmask.report import inference

        return {"measure": "inference"} | inference.view(measurement, items)
    if measurement.name == "geometry":
        from unmask.report import geometry

        return {"measure": "geometry"} | geometry.view(measurement, items)
    if measurement.name == "crows-pairs":
        from unmask.report import crows_pairs

        return {"measure": "crows_pairs"} | crows_pairs.view(measurement, items)
    return {"measure": "association"} | association.view(measurement, items)
