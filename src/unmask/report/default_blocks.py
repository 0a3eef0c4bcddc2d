"""The page of an audit, and default blocks of a measurement from its tests and groups alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from unmask.report.blocks import (
    Block,
    Cell,
    Column,
    Facts,
    Figure,
    ItemBrowser,
    KeyFigure,
    Page,
    Section,
    Table,
    Text,
)
from unmask.report.charts import ForestRow, forest
from unmask.report.items import ItemsTable
from unmask.results import AuditResult, ComparisonResult, Estimate, Measurement, ModelInfo
from unmask.results.formatting import (
    NO_BREAK,
    capital,
    certainty,
    count,
    interval,
    moment,
    number,
    p,
    setting,
    short_name,
    signed,
)
from unmask.results.verdict import NOT_INTERPRETABLE, describe_test, is_clear

EstimateColumn = tuple[Column, Callable[[Estimate], Cell]]
"""A column of a table of estimates, and the function that makes its cells."""
MOST_KEY_FIGURES = 4
NOT_BIAS = "Do not read this as bias."


@dataclass(frozen=True)
class MeasureSection:
    """One measurement of a report. The measure provides the blocks; reports only render them."""

    measurement: Measurement
    title: str
    """What was measured, on which sentences, in which language."""
    measure: str
    """The title of the measure. The method is shown once for all sections with the same one."""
    blocks: Sequence[Block]
    method: Sequence[Block] = ()
    facts: Sequence[tuple[str, str]] = ()
    """Names and values, shown under provenance."""
    warning: str = ""
    """Why the numbers must not be read as bias; empty if they may."""
    complete: bool = False
    """Whether the blocks already show every test and group."""

    @property
    def headline(self) -> str:
        """The finding in words."""
        return self.measurement.headline_text or "No finding."

    @property
    def key_figure(self) -> KeyFigure | None:
        """The number that stands for the measurement in a summary."""
        return next((block for block in self.blocks if isinstance(block, KeyFigure)), None)

    @property
    def note(self) -> str:
        """How many items there are, by which protocol, and whose measure it is."""
        measurement = self.measurement
        size = f"{measurement.items:,} {'item' if measurement.items == 1 else 'items'}"
        if measurement.plugin is None:
            return f"{size} · {measurement.protocol} protocol"
        return f"{size} · measure of the package {source(measurement)}, which Unmask ran but did not check"

    def page_blocks(self) -> list[Block]:
        """Everything that a page shows of the measurement."""
        warning = [Text([self.warning], "warning", label=NOT_BIAS)] if self.warning else []
        finding = Text([self.headline], "lead")
        return [Text([self.note], "note"), *warning, finding, *self.blocks, *self.closing_blocks()]

    def closing_blocks(self) -> list[Block]:
        """What every measurement ends with: caveats, and folded tables of all tests and groups."""
        measurement = self.measurement
        blocks: list[Block] = []
        if measurement.caveats:
            caveats = Text([caveat.text for caveat in measurement.caveats], style="list")
            blocks.append(Section("Before you rely on this", [caveats]))
        if self.complete:
            return blocks
        if measurement.tests:
            blocks.append(list_tests(measurement.tests, "All tests", folded=True))
        elif measurement.protocol == "published":
            blocks.append(Text(["The published protocol has no tests and no intervals."], style="note"))
        if measurement.groups:
            blocks.append(list_groups(measurement.groups, "All means of groups", folded=True))
        return blocks


def audit_page(
    result: AuditResult,
    sections: Sequence[MeasureSection],
    items: Sequence[ItemsTable] = (),
    *,
    limits: Sequence[str] = (),
    link_files: bool = False,
) -> Page:
    """The report of an audit.

    Args:
        result: The audit.
        sections: Its measurements with their blocks, in the order of the page.
        items: The items of each measure.
        limits: What the audit does not say, in sentences.
        link_files: Whether the page is in the audit's folder, so that it can link to the files of the items.
    """
    model = result.model
    size = f"{count(model.parameters)} parameters" if model.parameters else ""
    methods = {section.measure: section.method for section in sections}
    parts = [
        Section(section.title, section.page_blocks(), anchor=f"measurement-{index}")
        for index, section in enumerate(sections, 1)
    ]
    if len(sections) > 1:
        summary = [_summarise(section, f"#{part.anchor}") for section, part in zip(sections, parts, strict=True)]
        parts.insert(0, Section("In short", summary))
    if sections and limits:
        parts.append(Section("What this does not say", [Text(limits, "list")]))
    parts += items_section(items, link_files=link_files)
    if any(methods.values()):
        parts.append(Section("Method", [Section(measure, blocks) for measure, blocks in methods.items() if blocks]))
    provenance = [describe_model(model, "Model")]
    for section in sections:
        data_hash = ("data hash (SHA-256)", section.measurement.data_hash or "–")
        provenance.append(Facts(section.title, [*section.facts, data_hash]))
    provenance += describe_run(result)
    parts.append(Section("Provenance", [Section("Model, configuration, versions", provenance, folded=True)]))
    note = " · ".join(filter(None, (model.architecture, size, moment(result.created))))
    return Page(short_name(model.name), parts, "Gender bias audit", note, version=result.unmask_version)


def items_section(tables: Sequence[ItemsTable], *, link_files: bool) -> list[Section]:
    """The items behind the numbers; nothing where there are none."""
    if not any(len(table.items) for table in tables):
        return []
    return [Section("The items behind the numbers", [ItemBrowser(tables, link_files)], anchor="items")]


def describe_model(model: ModelInfo, title: str) -> Facts:
    """Everything that is known of a model."""
    values = [(name.replace("_", " "), value) for name, value in model if value is not None]
    return Facts(title, [(name, count(value) if isinstance(value, int) else value) for name, value in values])


def describe_run(result: AuditResult | ComparisonResult) -> list[Facts]:
    """The configuration and the versions behind a result."""
    settings = [(name.replace("_", " "), setting(value)) for name, value in result.configuration.items()]
    versions = {"unmask": result.unmask_version, "schema": str(result.schema_version)} | result.libraries
    return [
        Facts("Configuration", [*settings, ("seed", str(result.seed))]),
        Facts("Versions", [*versions.items(), ("created", result.created)]),
    ]


def _summarise(section: MeasureSection, link: str) -> KeyFigure:
    """The first key figure of a measurement, under the title of its section."""
    figure = section.key_figure or KeyFigure("", "–", "", "", section.headline)
    certainty = ", ".join(filter(None, (figure.title, figure.certainty)))
    warning = NOT_BIAS if section.warning and figure.verdict != NOT_INTERPRETABLE else ""
    explanation = f"{warning} {figure.explanation}".strip()
    return replace(figure, title=section.title, certainty=certainty, explanation=explanation, bar=(), link=link)


def default_blocks(measurement: Measurement) -> list[Block]:
    """Key figures of the first tests, a plot per unit, and tables of all tests and groups."""
    tests = [(name, test) for name, test in measurement.tests.items() if test.value is not None]
    blocks: list[Block] = [key_figure(name, test, measurement.noise_floor) for name, test in tests[:MOST_KEY_FIGURES]]
    values: list[Block] = [*_draw_units(measurement)]
    if measurement.groups:
        values.append(list_groups(measurement.groups, "Means of groups", terminal=True))
    if values:
        blocks.append(Section("Values and their intervals", values, layout="two columns"))
    if measurement.tests:
        several = len(tests) > MOST_KEY_FIGURES
        blocks.append(Section("Tests", [list_tests(measurement.tests, "Tests", terminal=several)]))
    return blocks


def default_method(measurements: Sequence[Measurement]) -> list[Block]:
    """What a plug-in says about its measures."""
    lines = []
    for measurement in {measurement.name: measurement for measurement in measurements}.values():
        if plugin := measurement.plugin:
            citation = f" After {plugin.citation}." if plugin.citation else ""
            lines.append(f"{plugin.about}{citation} The package {source(measurement)} says how it is scored.")
    return [Text([*lines, "The primary test of a measurement is not corrected; the others are, by Holm’s method."])]


def default_facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Items, inputs and noise floor of a measurement."""
    noise, inputs = measurement.noise_floor, measurement.distinct_inputs
    facts = [("items", count(measurement.items))]
    if measurement.plugin:
        facts.append(("package", source(measurement)))
    if inputs is not None:
        facts.append(("distinct inputs", count(inputs)))
    return [*facts, ("noise floor", "not measured" if noise is None else f"{noise:.2g}")]


def key_figure(name: str, test: Estimate, noise_floor: float | None = None) -> KeyFigure:
    """A test as a key figure."""
    sure = certainty(interval(test.interval), test.p_adjusted)
    verdict = describe_test(test, "difference from zero", noise_floor=noise_floor)
    verdict = "differs from zero" if is_clear(test, noise_floor) else verdict
    return KeyFigure(capital(name), _with_unit(number(test.value), test), sure, verdict, test.question)


def source(measurement: Measurement) -> str:
    """The package of a plug-in's measure, with its version."""
    plugin = measurement.plugin
    return f"{plugin.package} {plugin.version}".rstrip() if plugin else ""


def list_tests(
    tests: Mapping[str, Estimate], title: str, *, folded: bool = False, terminal: bool = False, digits: int = 3
) -> Table:
    """Tests by name. Columns that no test fills are left out."""
    columns: list[EstimateColumn] = [
        (Column("n"), _count_cell),
        (Column("Estimate, 95 % interval"), partial(_value_cell, digits=digits)),
        (Column("Statistic", narrow=False), _statistic_cell),
        (Column("p", narrow=False), lambda test: Cell(p(test.p_value))),
        (Column("p, adjusted"), lambda test: Cell(p(test.p_adjusted))),
    ]
    if any(test.p_sign_flip is not None for test in tests.values()):
        columns.append((Column("p, sign flip", narrow=False), lambda test: Cell(p(test.p_sign_flip))))
    if any(test.effect_size is not None for test in tests.values()):
        columns.append((Column("Effect size", narrow=False), _effect_size_cell))
    return Table(title, *_tabulate(tests, "Test", columns), folded=folded, terminal=terminal)


def list_groups(
    groups: Mapping[str, Estimate], title: str, *, folded: bool = False, terminal: bool = False, digits: int = 2
) -> Table:
    """Groups by name."""
    value = Column("Mean, 95 % interval"), partial(_value_cell, digits=digits)
    columns: list[EstimateColumn] = [(Column("n"), _count_cell), value]
    if any(group.sd is not None for group in groups.values()):
        columns.append((Column("sd"), lambda group: Cell(number(group.sd, digits))))
    return Table(title, *_tabulate(groups, "Group", columns), folded=folded, terminal=terminal)


def _tabulate(
    estimates: Mapping[str, Estimate], title: str, columns: Sequence[EstimateColumn]
) -> tuple[list[Column], list[list[Cell]]]:
    """The columns and rows of a table; a function makes the cells of each column."""
    rows = [
        [Cell(capital(name), note=estimate.question), *(make_cell(estimate) for _, make_cell in columns)]
        for name, estimate in estimates.items()
    ]
    return [Column(title, numeric=False), *(column for column, _ in columns)], rows


def _count_cell(estimate: Estimate) -> Cell:
    return Cell(count(estimate.n))


def _value_cell(estimate: Estimate, digits: int) -> Cell:
    return Cell(_with_unit(signed(estimate.value, digits), estimate), bounds=interval(estimate.interval, digits))


def _statistic_cell(test: Estimate) -> Cell:
    if test.statistic is None:
        return Cell("–")
    degrees = "" if test.df is None else f"({number(test.df, 0 if test.df == round(test.df) else 1)})"
    digits = 0 if test.statistic == round(test.statistic) else 2
    return Cell(f"{test.statistic_name}{degrees} = {number(test.statistic, digits)}".removeprefix(" = "))


def _effect_size_cell(test: Estimate) -> Cell:
    lines = [test.effect_size_name] if test.effect_size_name else []
    if wilcoxon := test.wilcoxon:
        lines.append(f"Wilcoxon over pairs: V = {number(wilcoxon.v, 0)}, r = {number(wilcoxon.r)}")
    return Cell(number(test.effect_size), bounds=interval(test.effect_size_interval), note="; ".join(lines))


def _with_unit(text: str, estimate: Estimate) -> str:
    return f"{text}{NO_BREAK}{estimate.unit}" if estimate.unit else text


def _draw_units(measurement: Measurement) -> list[Figure]:
    """For each unit, a plot of the tests and groups that have it."""
    rows: dict[str, list[ForestRow]] = {}
    for estimates, is_tested in ((measurement.tests, True), (measurement.groups, False)):
        for name, estimate in estimates.items():
            if estimate.value is not None:
                text, bounds = number(estimate.value), interval(estimate.interval) or "(no interval)"
                tip = f"{name}: {text} {bounds}, n = {estimate.n:,}"
                row = ForestRow(name, estimate.value, estimate.interval, [text], tip, filled=is_tested)
                rows.setdefault(estimate.unit, []).append(row)
    caption = (
        "Filled points are tested against zero (vertical line). Hollow points are means of groups and are not tested."
        " Lines are 95 % intervals."
    )
    figures = []
    for unit, drawn in rows.items():
        unit_text = f", in {unit}" if unit else ""
        description = f"Points with intervals{unit_text}: tests and groups. The tables have the numbers."
        figures.append(Figure("", partial(forest, drawn, title=unit), description, caption))
    return figures
