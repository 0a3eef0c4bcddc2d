"""From measurements to sections of a report: the measure's own blocks, or default ones.

The tables below are attributes of measures, kept here until measures are classes that have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from unmask.measures.readable import unreadable
from unmask.report.default_blocks import default_blocks, default_facts, default_method
from unmask.report.items import ItemColumn, ItemsTable
from unmask.report.pages import capital, measure_name, title
from unmask.report.sections import MeasureSection
from unmask.results import Measurement

if TYPE_CHECKING:
    import pandas as pd

REPORTS = {
    name: f"unmask.measures.{name.replace('-', '_')}.report"
    for name in ("association", "sentiment", "inference", "geometry", "crows-pairs")
}
"""Modules with `blocks`, `method` and `facts` of a measure."""
COLUMNS = {
    "association": "sentence person gender profession group before after change association log_p_target log_p_prior"
    " workforce_share model language corpus",
    "sentiment": "text label changed_terms before after change bias p_female p_male choice_female choice_male words"
    " terms model language corpus id",
    "inference": "premise hypothesis occupation occupation_type gender set before after change prediction"
    " p_entailment p_neutral p_contradiction model language corpus",
    "geometry": "word bias side cluster cluster_removed predicted predicted_removed male_neighbours"
    " male_neighbours_removed stereotype words model compared language corpus",
    "crows-pairs": "sent_more sent_less direction before after difference model language corpus",
}
"""What is shown of the items of a measure, in order."""
SCORES = {"association": "association", "sentiment": "bias", "geometry": "bias", "crows-pairs": "difference"}
"""The column by which an item is extreme."""
TITLES = {
    "log_p_target": "ln p",
    "log_p_prior": "ln prior",
    "workforce_share": "women (%)",
    "occupation_type": "stereotype",
    "p_entailment": "entailment",
    "p_neutral": "neutral",
    "p_contradiction": "contradiction",
    "sent_more": "more stereotypical",
    "sent_less": "less stereotypical",
}
DIGITS = {"workforce_share": 1, "bias": 4, "p_female": 4, "p_male": 4}
SPOKEN = set("sentence text premise hypothesis word person profession occupation sent_more sent_less".split())


def build_sections(
    measurements: Sequence[Measurement], items: Mapping[str, pd.DataFrame] | None = None
) -> list[MeasureSection]:
    """The sections of a report. Measurements that must not be read as bias come last."""
    sections = []
    for measurement in measurements:
        alike = [other for other in measurements if other.name == measurement.name]
        sections.append(section(measurement, (items or {}).get(measurement.name), alike))
    return sorted(sections, key=lambda section: bool(section.warning))


def section(
    measurement: Measurement, items: pd.DataFrame | None = None, alike: Sequence[Measurement] = ()
) -> MeasureSection:
    """The section of a measurement. `alike` are all measurements of the same measure in the report."""
    report = _report_module(measurement)
    alike = alike or [measurement]
    return MeasureSection(
        measurement=measurement,
        title=title(measurement.name, measurement.corpus, measurement.language, measurement.variant),
        measure=measure_name(measurement.name),
        blocks=report.blocks(measurement, items) if report else default_blocks(measurement),
        method=report.method(alike) if report else default_method(alike),
        facts=report.facts(measurement) if report else default_facts(measurement),
        warning=_warning(measurement),
        complete=report is None,
    )


def item_tables(items: Mapping[str, pd.DataFrame]) -> list[ItemsTable]:
    """How the items of each measure are shown on a page."""
    return [
        ItemsTable(
            name,
            measure_name(name) if name in COLUMNS else capital(name.replace("-", " ")),
            frame,
            [
                ItemColumn(column, TITLES.get(column, ""), DIGITS.get(column, 3), column in SPOKEN)
                for column in COLUMNS.get(name, "").split()
            ],
            SCORES.get(name, ""),
            _distance_from_neutral if name == "inference" and "p_neutral" in frame else None,
        )
        for name, frame in items.items()
    ]


def _report_module(measurement: Measurement) -> Any:
    if measurement.plugin is not None or measurement.name not in REPORTS:
        return None
    try:
        return import_module(REPORTS[measurement.name])
    except ModuleNotFoundError as error:
        if error.name != REPORTS[measurement.name]:
            raise
        return None


def _warning(measurement: Measurement) -> str:
    """Why no number of this measurement can be read as bias, as a sentence."""
    reason = unreadable(measurement)
    return f"{capital(reason)}." if reason else ""


def _distance_from_neutral(items: pd.DataFrame) -> pd.Series[float]:
    """How far an answer is from neutral. In the control set neutral is wrong, so its items come last."""
    from unmask.probes.inference import CONTROL

    distance = 1 - items["p_neutral"]
    return distance.where(items["set"] != CONTROL, -1.0) if "set" in items else distance
