"""The page of a comparison: its sections, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.report.blocks import Banner, Block, Cell, Column, Facts, KeyFigure, Page, Section, Table, Text
from unmask.report.change_blocks import ChangeText, list_change_tests, list_usefulness, usefulness_text
from unmask.report.default_blocks import describe_model, describe_run, items_section
from unmask.report.items import ItemsTable
from unmask.results.comparison import Agreement, Comparison, ComparisonResult, Side, Usefulness
from unmask.results.formatting import capital, count, interval, moment, number, p
from unmask.results.verdict import NOT_INTERPRETABLE

RULES = {
    "inconclusive": "One of the models cannot do what the measure relies on.",
    "negligible change": "The whole 95\u00a0% interval of the change is within what the measure calls negligible, or"
    " the change is clear and its estimate is negligible.",
    "no reliable change": "The change may be chance (p ≥ 0.05 after correction) or noise of the computation.",
    "overshot": "The bias was reversed: the figure was clearly on one side of zero before, and is clearly on the other"
    " side after, by more than a negligible amount. Clearly means that the 95\u00a0% interval excludes zero, or"
    " p < 0.05 where there is no interval.",
    "improved": "The figure is closer to zero than before.",
    "worse": "The figure is as far from zero as before, or further.",
}
"""When a change gets which verdict; the first rule that fits applies."""
MEANINGS = {
    "improved": "The bias is smaller than before, by more than chance explains.",
    "no reliable change": "Any change may be chance. This does not show that nothing changed.",
    "overshot": "The bias was reversed instead of reduced.",
    "worse": "The bias is larger than before, by more than chance explains.",
    "negligible change": "The change is too small to matter. If its interval reaches beyond what is negligible, it may"
    " be larger.",
    "inconclusive": "Nothing can be concluded about bias.",
    NOT_INTERPRETABLE: "These items cannot show bias.",
}
ONE_RUN = "This is about this checkpoint; another training run may differ."
HASH_LETTERS = 12
"""How many letters of a hash are shown. The provenance has all of them."""
MOST_NAMES = 2
"""A heading names so many models."""
MOST_UNFOLDED = 3
"""With more comparisons than this, a page folds all but the key figures of each."""
FOOTER = "The numbers describe a model on these sentences or words. A smaller bias here does not make a model fair."
STATED_GENDER = "stated gender"
"""The task of usefulness that an overview shows."""


@dataclass(frozen=True)
class ComparisonSection:
    """One comparison of a report. The measure provides the blocks; reports only render them."""

    comparison: Comparison
    title: str
    """What was measured, on which items, in which language."""
    measure: str
    """The title of the measure. The method is shown once for all sections with the same one."""
    blocks: Sequence[Block]
    main: ChangeText | None = None
    """The change that stands for the comparison in an overview."""
    items: str = "items scored by both models"
    """What the models have in common, in words."""
    warning: str = ""
    """Why the numbers must not be read as bias; empty if they may."""
    explanation: str = ""
    """What the verdict means, if the measure says it better than the general sentence."""
    method: Sequence[Block] = ()
    source: str = ""
    """The package of a plug-in's measure."""

    @property
    def verdict(self) -> str:
        """The verdict, or that there cannot be one."""
        is_unreadable = self.warning and not self.comparison.inconclusive
        return NOT_INTERPRETABLE if is_unreadable else self.comparison.verdict

    @property
    def short_verdict(self) -> str:
        """The verdict for a table, with the cost of an improvement that was not worth it."""
        is_costly = self.verdict == "improved" and not self.comparison.is_good
        return self.comparison.full_verdict if is_costly else self.verdict

    @property
    def meaning(self) -> str:
        """What the verdict means."""
        meaning = self.warning or self.explanation or MEANINGS[self.verdict]
        return f"{meaning} {ONE_RUN}" if self.is_about_one_run else meaning

    @property
    def is_about_one_run(self) -> bool:
        """Whether there is a change, and it was seen in a single training run."""
        return self.verdict in ("improved", "worse", "overshot") and not self.comparison.runs

    @property
    def headline(self) -> str:
        """The finding in words."""
        return self.comparison.headline_text or "No finding."

    @property
    def note(self) -> str:
        """How many items were paired, by which protocol, and whose measure it is."""
        comparison = self.comparison
        unpaired = f", {comparison.unpaired:,} of only one model left out" if comparison.unpaired else ""
        plugin = f" · measure of the package {self.source}, which Unmask ran but did not check" if self.source else ""
        return f"{comparison.items:,} {self.items}{unpaired} · {comparison.protocol} protocol{plugin}"

    @property
    def key_figures(self) -> list[Block]:
        """The blocks that are never folded."""
        return [block for block in self.blocks if isinstance(block, KeyFigure)]

    @property
    def other_blocks(self) -> list[Block]:
        """All blocks but the key figures."""
        return [block for block in self.blocks if not isinstance(block, KeyFigure)]


def heading(result: ComparisonResult) -> str:
    """The models compared, in a line."""
    together = {comparison.after: None for comparison in result.comparisons if comparison.runs}
    names = list(together) or [side.name for side in result.after]
    after = ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} models"
    return f"{result.before.name} → {after}"


def comparison_page(
    result: ComparisonResult,
    sections: Sequence[ComparisonSection],
    items: Sequence[ItemsTable] = (),
    *,
    link_files: bool = False,
) -> Page:
    """The report of a comparison.

    Args:
        result: The comparison.
        sections: Its comparisons with their blocks, in the order of the page.
        items: The items of each measure.
        link_files: Whether the page is in the comparison's folder, so that it can link to the files of the items.
    """
    parts = opening_blocks(result, sections)
    parts += [_page_section(result, sections, index) for index in range(len(sections))]
    if not sections:
        parts.append(Section("There is nothing to compare", []))
    if result.caveats and len(sections) != 1:
        caveats = Text([caveat.text for caveat in result.caveats], "list")
        parts.append(Section("Before you rely on any of this", [caveats]))
    parts += items_section(items, link_files=link_files)
    parts.append(Section("Method", method_blocks(sections)))
    provenance = []
    for side in (result.before, *result.after):
        facts = describe_model(side.model, f"{'Before' if side is result.before else 'After'}: {side.name}")
        audit = [("audit", side.audit or "made for this comparison"), ("audited", side.created)]
        provenance.append(Facts(facts.title, [*facts.values, *audit]))
    data = dict.fromkeys((task.what, f"{task.data}, SHA-256 {task.data_hash}") for task in result.usefulness)
    provenance += [Facts("Data for usefulness", list(data))] if data else []
    provenance += describe_run(result)
    parts.append(Section("Provenance", [Section("Models, data, configuration, versions", provenance, folded=True)]))
    eyebrow = "Gender bias before and after"
    return Page(heading(result), parts, eyebrow, moment(result.created), footer=FOOTER, version=result.unmask_version)


def _page_section(result: ComparisonResult, sections: Sequence[ComparisonSection], index: int) -> Section:
    """Everything that a page shows of one comparison."""
    section, comparison = sections[index], sections[index].comparison
    models = f"{comparison.before} → {comparison.after}: " if len(sections) > 1 else ""
    title = f"{models}{section.title}"
    blocks: list[Block] = [
        Text([section.note], "note"),
        Banner(section.verdict, section.meaning, comparison.short_cost, comparison.is_good),
        Text([section.headline], "lead"),
        *([Text([comparison.cost], "lead", label="Cost.")] if comparison.cost else []),
        Text([describe_origin(result.before, find_side(result, section))], "note"),
        *section.key_figures,
    ]
    details = [*section.other_blocks, *closing_blocks(result, sections, index)]
    if len(sections) > MOST_UNFOLDED:
        details = [Section(f"Figures, tables, usefulness and caveats: {title}", details, folded=True)]
    return Section(title, [*blocks, *details], anchor=f"comparison-{index + 1}")


def opening_blocks(result: ComparisonResult, sections: Sequence[ComparisonSection]) -> list[Section]:
    """An overview of several comparisons, and whether the measures agree."""
    blocks: list[Section] = []
    if len(sections) > 1:
        blocks.append(Section("Overview", [_summarise_sections(result, sections)]))
    if result.agreement:
        blocks.append(Section("Do the measures agree?", agreement_blocks(result.agreement)))
    return blocks


def closing_blocks(result: ComparisonResult, sections: Sequence[ComparisonSection], index: int) -> list[Block]:
    """What every comparison ends with: usefulness, caveats, and a folded table of the tests.

    Usefulness is that of a model, so only the first comparison of each model has it.
    """
    comparison = sections[index].comparison
    blocks: list[Block] = []
    if all(section.comparison.after != comparison.after for section in sections[:index]):
        usefulness = _select_usefulness(result, comparison.after)
        if usefulness:
            blocks.append(Section("Is it still useful?", [list_usefulness(usefulness)]))
    caveats = [*comparison.caveats, *([] if len(sections) > 1 else result.caveats)]
    if caveats:
        texts = list(dict.fromkeys(caveat.text for caveat in caveats))
        blocks.append(Section("Before you rely on this", [Text(texts, style="list")]))
    if comparison.changes:
        blocks.append(list_change_tests(comparison))
    return blocks


def method_blocks(sections: Sequence[ComparisonSection]) -> list[Block]:
    """How each measure compares models, and when a change gets which verdict."""
    methods = {section.measure: section.method for section in sections if section.method}
    blocks: list[Block] = [Section(measure, method) for measure, method in methods.items()]
    columns = [Column("Verdict", numeric=False), Column("When (the first that fits)", numeric=False)]
    rows = [[Cell(verdict, is_verdict=True), Cell(rule)] for verdict, rule in RULES.items()]
    return [*blocks, Table("Verdicts", columns, rows)]


def find_side(result: ComparisonResult, section: ComparisonSection) -> Side:
    """The model after."""
    return next(side for side in result.after if side.name == section.comparison.after)


def describe_origin(before: Side, after: Side) -> str:
    """Where the model after comes from, and the weights of both."""
    hashes = before.model.weight_hash, after.model.weight_hash
    unknown = "The weights of both models are not known, so nothing proves which models these are."
    unrecorded = "There is no record that one model was made from the other."
    origin = after.lineage or (unknown if None in hashes else unrecorded)
    if not any(hashes):
        return origin
    first, second = ("unknown" if weights is None else weights[:HASH_LETTERS] for weights in hashes)
    return f"{origin} Weights before {first}, after {second}."


def _select_usefulness(result: ComparisonResult, after: str) -> list[Usefulness]:
    return [task for task in result.usefulness if task.after == after]


def _summarise_sections(result: ComparisonResult, sections: Sequence[ComparisonSection]) -> Table:
    """The verdict, main change and usefulness of each comparison."""
    names = {section.main.name for section in sections if section.main}
    same = names.pop() if len(names) == 1 else ""
    is_same_title = len({section.title for section in sections}) == 1
    columns = [
        Column("Model after", numeric=False),
        Column("Verdict", numeric=False),
        Column(same or "Main figure"),
        Column("Change", narrow=False),
        Column("Loss", narrow_bounds=False),
        Column("Stated gender", narrow_bounds=False),
    ]
    rows = []
    for index, section in enumerate(sections, 1):
        comparison, main = section.comparison, section.main
        mitigation = find_side(result, section).model.mitigation
        tasks = _select_usefulness(result, comparison.after)
        losses = [usefulness_text("loss", task.figures["loss"]) for task in tasks if "loss" in task.figures]
        stated = [usefulness_text("accuracy", task.figures["accuracy"]) for task in tasks if task.what == STATED_GENDER]
        name = comparison.after if is_same_title else f"{comparison.after} ({_label_section(section, sections)})"
        rows.append(
            [
                Cell(name, note=" · ".join(filter(None, (section.title, mitigation))), link=f"#comparison-{index}"),
                Cell(section.short_verdict, is_verdict=True),
                Cell(main.values, note="" if same else main.name) if main else Cell("–"),
                Cell(main.change, main.interval) if main else Cell("–"),
                Cell(losses[0].change, losses[0].interval) if losses else Cell("–"),
                Cell(stated[0].after, f"({stated[0].before} before)") if stated else Cell("–"),
            ]
        )
    note = "Figures before → after. Loss: its change on masked words. Stated gender: correct pronouns after."
    return Table("Overview", columns, rows, note=note, terminal=True)


def _label_section(section: ComparisonSection, sections: Sequence[ComparisonSection]) -> str:
    """What tells the comparisons of a model apart: the measure, or the corpus and language."""
    comparison = section.comparison
    if len({other.measure for other in sections}) == len({other.title for other in sections}):
        return comparison.name
    return ", ".join(filter(None, (comparison.name, comparison.corpus, comparison.language, comparison.variant)))


# Agreement of measures over models


def agreement_blocks(agreement: Agreement) -> list[Block]:
    """The finding, a matrix of correlations, all correlations, and the figures of each model."""
    blocks: list[Block] = [Text([agreement.headline], terminal=True)]
    if not agreement.models:
        return blocks
    names = _compared_figures(agreement)
    if len(names) > 1:
        blocks.append(_correlation_matrix(agreement, names))
    if agreement.correlations:
        blocks.append(_all_correlations(agreement))
    figures = [Column(figure.name) for figure in agreement.figures]
    rows = [
        [Cell(model.model), *(Cell(number(model.figures.get(figure.name), 3)) for figure in agreement.figures)]
        for model in agreement.models
    ]
    meanings = [f"{capital(figure.name)}: {figure.what}" for figure in agreement.figures if figure.what]
    note = f"{'; '.join(meanings)}." if meanings else ""
    blocks.append(Table("The figures of each model", [Column("Model", numeric=False), *figures], rows, note=note))
    reasons = [f"{capital(name)} is not compared: {reason}." for name, reason in agreement.left_out.items()]
    return [*blocks, Text(reasons, style="note", terminal=True)] if reasons else blocks


def pearson_matrix(agreement: Agreement) -> list[Table]:
    """Pearson's r alone with numbered figures, for a terminal; empty for fewer than two figures."""
    names = _compared_figures(agreement)
    if len(names) < 2:
        return []
    columns = [Column("Pearson’s r", numeric=False), *(Column(str(index)) for index in range(1, len(names)))]
    rows = []
    for down, name in enumerate(names):
        pairs = [agreement.correlation(name, other) for other in names[:down]]
        texts = [number(pair.pearson) if pair else "–" for pair in pairs]
        blank = [""] * (len(names) - 1 - len(texts))
        rows.append([Cell(f"{down + 1} {name}"), *map(Cell, (texts + blank)[: len(names) - 1])])
    return [Table("", columns, rows, terminal=True)]


def _compared_figures(agreement: Agreement) -> list[str]:
    return [figure.name for figure in agreement.figures if figure.name not in agreement.left_out]


def _correlation_matrix(agreement: Agreement, names: list[str]) -> Table:
    most = max((pair.n for pair in agreement.correlations), default=0)

    def cell(down: int, across: int) -> Cell:
        pair = agreement.correlation(names[down], names[across]) if down != across else None
        if pair is None:
            return Cell("")
        value, bounds = (
            (pair.pearson, pair.pearson_interval) if across < down else (pair.spearman, pair.spearman_interval)
        )
        note = f"n = {pair.n}" if pair.n < most else ""
        return Cell(number(value), interval(bounds), note, shade=value)

    rows = [[Cell(name), *(cell(down, across) for across in range(len(names)))] for down, name in enumerate(names)]
    note = "Below the diagonal: Pearson’s r. Above it: Spearman’s ρ. In brackets: 95 % intervals."
    return Table("Correlations between measures", [Column("Figure", numeric=False), *map(Column, names)], rows, note)


def _all_correlations(agreement: Agreement) -> Table:
    titles = ("Models", "Pearson’s r", "p, adjusted", "Spearman’s ρ", "p")
    rows = [
        [
            Cell(f"{pair.first}, {pair.second}"),
            Cell(count(pair.n)),
            Cell(number(pair.pearson), interval(pair.pearson_interval)),
            Cell(p(pair.p_adjusted)),
            Cell(number(pair.spearman), interval(pair.spearman_interval)),
            Cell(p(pair.spearman_p_value)),
        ]
        for pair in agreement.correlations
    ]
    return Table("All correlations", [Column("Figures", numeric=False), *map(Column, titles)], rows, folded=True)
