"""From measurements and comparisons to sections of a report, and what their numbers do not say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unmask.measures import registry
from unmask.measures.base import Measure
from unmask.report.blocks import Block, KeyFigure, Section, Text
from unmask.report.change_blocks import ComparisonReport, default_comparison_blocks, first_change
from unmask.report.comparison import ComparisonSection
from unmask.report.default_blocks import MeasureSection, default_blocks, default_facts, default_method
from unmask.report.items import ItemColumn, ItemsTable
from unmask.results import Comparison, ComparisonResult, Measurement
from unmask.results.formatting import LANGUAGES, capital

if TYPE_CHECKING:
    import pandas as pd


DEFAULT_METHOD = (
    "Both models scored the same items, which are paired. The change of the mean score is tested{}, and zero means no"
    " bias. Other estimates are shown before and after, without a test of their change."
)

CHOSEN = (
    "The models were chosen by hand, and many derive from one another. They are not a sample of all models; results may"
    " differ for others."
)
BINARY = (
    "Gender is treated as binary, female and male, as in the papers. Nothing here covers people of other genders, and a"
    " model with good results may still fail them."
)
INCOMPETENT = "One of the models cannot do what this measure relies on."
OTHER_CULTURES = (
    "It covers {} only. Words, occupations and stereotypes centre on English and the United States, and may differ"
    " elsewhere."
)
OTHER_WORDING = (
    "For {}, the sentences are made from templates. Other wording can give other values; the intervals do not cover"
    " that."
)
NOISE = "Scores change slightly with batching, by up to the noise floor ({}). Smaller effects are noise."
ABSENCE = (
    "“No clear difference” does not mean “no bias”: the interval shows what is still possible, and bias that was not"
    " measured goes unseen.",
    "These numbers describe the model on such words and texts. What it does to people depends on how it is used.",
)


def _comparison_method(measure: Measure) -> str:
    """How two models are compared by a measure, in a sentence."""
    test = f", with a jackknife over {' and '.join(measure.samples)}," if measure.samples else " with a paired t test"
    return measure.comparison_method or DEFAULT_METHOD.format(test)


def measure_name(name: str) -> str:
    """A measure as headings call it."""
    measure = registry.find_measure(name)
    return measure.heading if measure else capital(name)


def corpus_title(name: str, corpus: str, language: str) -> str:
    """On which sentences was measured, in which language."""
    measure = registry.find_measure(name)
    corpora = {**measure.corpora, **measure.other_corpora} if measure else {}
    return f"{corpora.get(corpus, corpus)}, {LANGUAGES.get(language, language)}"


def title(name: str, corpus: str, language: str, variant: str = "") -> str:
    """What was measured, on which sentences, in which language, and which variant of it."""
    measure = registry.find_measure(name)
    variant = measure.variants.get(variant, variant) if measure else variant
    parts = [corpus_title(name, corpus, language), variant]
    return f"{measure_name(name)}: {', '.join(part for part in parts if part)}"


def build_sections(
    measurements: Sequence[Measurement], items: Mapping[str, pd.DataFrame] | None = None
) -> list[MeasureSection]:
    """The sections of a report. Measurements that must not be read as bias come last."""
    sections = []
    for measurement in measurements:
        same_measure = [other for other in measurements if other.name == measurement.name]
        sections.append(section(measurement, (items or {}).get(measurement.name), same_measure))
    return sorted(sections, key=lambda section: bool(section.warning))


def section(
    measurement: Measurement, items: pd.DataFrame | None = None, same_measure: Sequence[Measurement] = ()
) -> MeasureSection:
    """The section of a measurement. `same_measure` are all measurements of its measure in the report."""
    measure = registry.find_measure(measurement.name)
    same_measure = same_measure or [measurement]
    is_incompetent = bool(measurement.explain_incompetence())
    reason = "the model cannot do what this measure relies on" if is_incompetent else unreadable(measurement)
    own_blocks = measure.blocks(measurement, items) if measure else None
    blocks = default_blocks(measurement) if own_blocks is None else own_blocks
    if is_incompetent:
        blocks = _withhold_verdicts(blocks)
    return MeasureSection(
        measurement=measurement,
        title=title(measurement.name, measurement.corpus, measurement.language, measurement.variant),
        measure=measure_name(measurement.name),
        blocks=blocks,
        method=(measure.method(same_measure) if measure else None) or default_method(same_measure),
        facts=(measure.facts(measurement) if measure else None) or default_facts(measurement),
        warning=f"{capital(reason)}." if reason else "",
        complete=own_blocks is None,
    )


def _withhold_verdicts(blocks: Sequence[Block]) -> list[Block]:
    """The blocks of a model about which nothing can be concluded: no key figure has a verdict of its own."""
    withheld: list[Block] = []
    for block in blocks:
        if isinstance(block, KeyFigure):
            block = replace(block, verdict="inconclusive")
        elif isinstance(block, Section):
            block = replace(block, blocks=_withhold_verdicts(block.blocks))
        withheld.append(block)
    return withheld


def build_comparison_sections(
    result: ComparisonResult, items: Mapping[str, pd.DataFrame] | None = None
) -> list[ComparisonSection]:
    """The sections of a comparison, in the order of the models. Those that must not be read as bias come last."""
    order = [side.name for side in result.after]
    frames = items or {}
    sections = [comparison_section(comparison, frames.get(comparison.name)) for comparison in result.comparisons]
    return sorted(sections, key=lambda section: (order.index(section.comparison.after), bool(section.warning)))


def comparison_section(comparison: Comparison, items: pd.DataFrame | None = None) -> ComparisonSection:
    """The section of a comparison."""
    name = comparison.name
    heading = title(name, comparison.corpus, comparison.language, comparison.variant)
    measure = registry.find_measure(name)
    if measure is None:
        main = first_change(comparison)
        return ComparisonSection(
            comparison, heading, measure_name(name), default_comparison_blocks(comparison, main), main
        )
    report = measure.comparison_report(comparison, items)
    if comparison.runs:  # what a measure shows of its details is about one model after
        report = ComparisonReport(first_change(comparison), warning=report.warning)
    blocks = report.blocks
    if blocks is None:
        units, note = measure.change_units, measure.changes_note
        blocks = default_comparison_blocks(comparison, report.main, units=units, note=note)
    citations = [f"After {citation}" for citation in measure.citations]
    return ComparisonSection(
        comparison,
        heading,
        measure_name(name),
        blocks,
        report.main,
        items=measure.compared_items,
        warning=report.warning or (INCOMPETENT if comparison.inconclusive else ""),
        explanation=report.explanation,
        method=[Text(report.method or [_comparison_method(measure)]), Text(citations, style="note")],
        source=measure.source if measure.origin else "",
    )


def item_tables(items: Mapping[str, pd.DataFrame]) -> list[ItemsTable]:
    """How the items of each measure are shown on a page."""
    tables = []
    for name, frame in items.items():
        measure = registry.find_measure(name)
        if measure is None:
            tables.append(ItemsTable(name, capital(name.replace("-", " ")), frame))
            continue
        columns = [
            ItemColumn(
                column,
                measure.column_titles.get(column, ""),
                measure.column_digits.get(column, 3),
                column in measure.spoken_columns,
            )
            for column in measure.shown_columns
        ]
        extremeness = None if measure.extremeness(frame) is None else measure.extremeness
        tables.append(ItemsTable(name, measure.heading, frame, columns, measure.score_column, extremeness))
    return tables


# What the numbers do not say


def unreadable(measurement: Measurement, *, group: bool = False) -> str:
    """Why a test's figure, or a group's, cannot be read as bias; empty if it can."""
    measure = registry.find_measure(measurement.name)
    return measurement.explain_incompetence() or (
        measure.not_interpretable(measurement, group=group) if measure else ""
    )


def limits(measurements: Sequence[Measurement]) -> list[str]:
    """Sentences that apply to these measurements."""
    floors = {}
    for measurement in measurements:
        if measurement.noise_floor is not None:
            unit = getattr(registry.find_measure(measurement.name), "noise_unit", "")
            floor = f"{measure_name(measurement.name).lower()} {measurement.noise_floor:.1g} {unit}"
            floors[measurement.name] = floor.rstrip()
    names = [
        measurement.name
        for measurement in measurements
        if measurement.corpus not in getattr(registry.find_measure(measurement.name), "corpora_of_texts", ())
    ]
    return _list_limits(names, [measurement.language for measurement in measurements], "; ".join(floors.values()))


def study_limits(measures: Iterable[str], languages: Iterable[str], models: str = CHOSEN) -> list[str]:
    """Sentences that apply to a study of several models; `models` says what is to be said of these."""
    return [*_list_limits(measures, languages, ""), models]


def _list_limits(measures: Iterable[str], languages: Iterable[str], noise: str) -> list[str]:
    spoken = " and ".join(LANGUAGES.get(language, language) for language in dict.fromkeys(languages))
    from_templates = " and ".join(
        measure_name(name).lower()
        for name in dict.fromkeys(measures)
        if getattr(registry.find_measure(name), "uses_templates", False)
    )
    sentences = [BINARY]
    sentences += [OTHER_CULTURES.format(spoken)] if spoken else []
    sentences += [OTHER_WORDING.format(from_templates)] if from_templates else []
    sentences += [NOISE.format(noise)] if noise else []
    return [*sentences, *ABSENCE]
