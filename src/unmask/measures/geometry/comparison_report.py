"""The headline of a comparison of two models, and its blocks in a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unmask.measures.geometry import OWN, GeometryChange, Reference, WordTestChange
from unmask.measures.geometry.analysis import TITLES
from unmask.measures.geometry.plots import draw_professions, draw_word_map, select_mapped
from unmask.measures.geometry.report import PROFESSION_LEGEND, show_value
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, Figure, Legend, Section, Table
from unmask.report.change_blocks import ChangeText, ComparisonReport, change_figure, change_text, list_changes
from unmask.results import Change, Comparison, Estimate
from unmask.results.formatting import NO_BREAK, interval, number, p, p_value, percent, signed
from unmask.results.verdict import is_reliable

if TYPE_CHECKING:
    import pandas as pd

MAIN = "classification"
"""The test that decides the verdict."""
NEIGHBOURS = "neighbours"
SLIGHT = 0.05
"""A smaller change of the share of words is called slight, however certain it is."""
_TEXTS = load_texts(__package__)


def comparison_report(comparison: Comparison, items: pd.DataFrame | None) -> ComparisonReport:
    """What a report shows of a comparison."""
    explanation = _TEXTS["comparison"].get(comparison.verdict, "")
    main, blocks = find_main_change(comparison), comparison_blocks(comparison, items)
    return ComparisonReport(main, blocks, explanation=explanation, method=list(_TEXTS["comparison_method"].values()))


def exceeds_contrasts(lost: Reference | None, change: float) -> bool:
    """Whether a loss is larger than the range expected of unrelated contrasts, or a gain; false if that is unknown."""
    return lost is not None and (change < lost.low if change < 0 else change > lost.high)


def summarise_changes(comparison: Comparison) -> list[str]:
    """The headline of a comparison whose verdicts are known."""
    geometry, stereotype = comparison.read_details(GeometryChange), comparison.changes.get("stereotype")
    main = comparison.changes.get(MAIN)
    if main is None:
        sentences = ["The words most biased before could not be tested in this model, so only own words are compared."]
        if own := comparison.changes.get(f"{MAIN}, own words"):
            before, after = own.values
            sentences.append(f"A classifier separates {percent(after)} of those ({percent(before)} before).")
    else:
        sentences = [
            _summarise_main(comparison, main),
            _summarise_losses(geometry.test(MAIN)),
            _summarise_clusters(geometry.test("clustering")),
            _summarise_removal(geometry.tests),
        ]
    return [sentence for sentence in (*sentences, _summarise_stereotype(stereotype)) if sentence]


def _summarise_main(comparison: Comparison, change: Change) -> str:
    (before, after), estimate = change.values, change.change
    degree = " slightly" if abs(estimate.value or 0.0) < SLIGHT else ""
    head = {
        "improved": f"Words that were biased are{degree} harder to separate than before",
        "worse": f"Words that were biased are{degree} easier to separate than before",
        "overshot": "Professions now lie among words of the other gender",
        "no reliable change": "No reliable change",
        "negligible change": "The change is negligible",
    }[comparison.verdict]
    if comparison.verdict == "no reliable change" and estimate.value is not None and is_reliable(change):
        direction = "harder" if estimate.value < 0 else "easier"
        test = comparison.read_details(GeometryChange).test(MAIN)
        is_known = test is not None and test.lost is not None
        but = f"but {'by no more' if is_known else 'it is not known whether by more'} than those of other contrasts"
        head = f"Words that were biased are {direction} to separate than before, {but}"
    figures = f"{percent(before)} before"
    if estimate.value is not None:
        bounds = f" {interval(_scale(estimate.interval), 1)}" if estimate.interval else ""
        figures += f"; change {number(100 * estimate.value, 1)} points{bounds}"
    if estimate.p_adjusted is not None:
        figures += f", p {p_value(estimate.p_adjusted)}"
    return f"{head}: a classifier puts {percent(after)} of {estimate.n:,} words on their side before ({figures})."


def _summarise_losses(test: WordTestChange | None) -> str:
    if test is None or test.lost is None or test.before is None or test.after is None:
        return ""
    low, high = (number(100 * bound, 1) for bound in (test.lost.low, test.lost.high))
    change = test.after - test.before
    verb, amount = "lost" if change < 0 else "gained", "about as much"
    if not test.lost.low <= change <= test.lost.high:
        amount = "more" if exceeds_contrasts(test.lost, change) else "less"
    return (
        f"Unrelated contrasts changed by {number(100 * test.lost.mean, 1)} points ({low} to {high}; p"
        f" {p_value(test.lost.p_value)}), so gender {verb if amount != 'about as much' else 'changed'} {amount}."
    )


def _summarise_clusters(test: WordTestChange | None) -> str:
    if test is None or test.after is None:
        return ""
    removal = ""
    if test.others is not None:
        low, high = percent(test.others.low, 0), percent(test.others.high, 0)
        removal = f"; plain removal of an unrelated direction leaves {percent(test.others.mean, 0)}, {low} to {high}"
    return (
        f"Two clusters still sort {percent(test.after, 0)} of the {test.n:,} words that were most biased before"
        f" ({percent(test.before, 0)} before{removal})."
    )


def _summarise_removal(tests: Sequence[WordTestChange]) -> str:
    """In which tests more is left than plain removal of an unrelated direction leaves."""
    names: dict[str, list[str]] = {"more": [], "as much": [], "less": []}
    for test in tests:
        if test.others is not None and test.after is not None:
            amount = "more" if test.after > test.others.high else "less" if test.after < test.others.low else "as much"
            names[amount].append(TITLES[test.name].removesuffix(", r").lower())
    amounts = [f"{amount} ({', '.join(tests)})" for amount, tests in names.items() if tests]
    if not amounts:
        return ""
    return f"Compared with plain removal of unrelated directions, the new model keeps {' and '.join(amounts)}."


def _summarise_stereotype(change: Change | None) -> str:
    if change is None or change.values[0] is None:
        return ""
    (before, after), estimate = change.values, change.change
    if after is None or estimate.value is None:
        return f"Nothing but rounding is left of the professions' own bias (before: r = {number(before)})."
    bounds = f" {interval(estimate.interval)}" if estimate.interval else ""
    figures = f"r = {number(before)} → {number(after)}, change {number(estimate.value)}{bounds}"
    if estimate.p_adjusted is not None:
        figures += f", p {p_value(estimate.p_adjusted)}"
    verb, relation = "follow" if after > 0 else "go against", "the relation of professions to stereotypes"
    finding = {
        "improved": "professions are less related to stereotypes than before",
        "worse": f"professions {verb} stereotypes more than before",
        "overshot": f"professions are now on the other side: they {verb} stereotypes",
        "negligible change": f"{relation} changed negligibly",
    }.get(change.verdict or "", f"{relation} did not change reliably")
    return f"By their own bias, {finding} ({figures})."


def comparison_blocks(comparison: Comparison, items: pd.DataFrame | None) -> list[Block]:
    """Key figure, word tests, unrelated contrasts, map, professions and all other changes."""
    geometry, main = comparison.read_details(GeometryChange), find_main_change(comparison)
    report: list[Block] = []
    if main is not None and "–" not in (main.before, main.after):
        report.append(change_figure(main, _TEXTS["comparison"][MAIN]))
    if geometry.tests:
        title, note = "Can words that were biased before still be separated?", _TEXTS["comparison"]["words"]
        changes = {TITLES[test.name]: _find_change(comparison, test) for test in geometry.tests}
        tests = _list_changes(title, changes, comparison, f"{note} {_TEXTS['report']['tests']}")
        report.append(Section(title, [tests, _list_references(geometry.tests)]))
    if maps := _draw_maps(comparison, items):
        report.append(Section("The most biased words on a map", [MAP_LEGEND, *maps], "two columns"))
    if figures := _draw_all_professions(geometry, comparison.language):
        report.append(Section("Professions and the words around them", [PROFESSION_LEGEND, *figures], "two columns"))
    tested = {test.name for test in geometry.tests}
    others = sorted(
        ((name, change) for name, change in comparison.changes.items() if name not in tested),
        key=lambda item: item[1].labels.get("words") == OWN,
    )
    if others:
        title = "Other figures"
        terminal_rows = sum(change.labels.get("words") != OWN for _, change in others)
        table = _list_changes(title, dict(others), comparison, _TEXTS["comparison"]["other_changes"], terminal_rows)
        report.append(Section(title, [table]))
    return report


def find_main_change(comparison: Comparison) -> ChangeText | None:
    """The share of words that a classifier separates, among the words that were most biased before."""
    test = comparison.read_details(GeometryChange).test(MAIN)
    return _describe_change("Classifier, words on their side", _find_change(comparison, test)) if test else None


def _find_change(comparison: Comparison, test: WordTestChange) -> Change:
    """The change of a word test; one without a value where the model after could not be tested again."""
    untested = Change(
        labels={"contrast": test.name},
        question="",
        before=Estimate(n=test.n, value=test.before),
        after=Estimate(n=test.n, value=test.after),
        change=Estimate(n=test.n, value=None),
    )
    return comparison.changes.get(test.name, untested)


def _describe_change(name: str, change: Change) -> ChangeText:
    is_share = change.labels["contrast"] in TITLES and change.labels["contrast"] != NEIGHBOURS
    return change_text(name, change, scale="percent" if is_share else "")


def _scale(bounds: tuple[float, float]) -> tuple[float, float]:
    return 100 * bounds[0], 100 * bounds[1]


def _list_changes(
    title: str, changes: Mapping[str, Change], comparison: Comparison, note: str, terminal_rows: int | None = None
) -> Table:
    texts = [(_describe_change(name, change), change) for name, change in changes.items()]
    is_published = comparison.protocol == "published"
    return list_changes(texts, title, published=is_published, note=note, terminal_rows=terminal_rows)


def _list_references(tests: Sequence[WordTestChange]) -> Table:
    """What plain removal leaves of unrelated contrasts, and how they changed."""
    columns = [
        Column("Test", numeric=False),
        Column("After"),
        Column("Plain removal leaves"),
        Column("p", narrow=False),
        Column("Others changed by"),
        Column("p", narrow=False),
        Column("After, own words", narrow=False),
    ]
    rows = []
    for test in tests:
        row = [Cell(TITLES[test.name]), Cell(show_value(test, test.after))]
        for reference in (test.others, test.lost):
            if reference is None:
                row += [Cell("–"), Cell("–")]
                continue
            mean, bounds = show_value(test, reference.mean), (reference.low, reference.high)
            if reference is test.lost:
                is_share = test.name != NEIGHBOURS
                mean = f"{signed(100 * reference.mean, 1)}{NO_BREAK}points" if is_share else signed(reference.mean)
            text = interval(bounds) if test.name == NEIGHBOURS else interval(_scale(bounds), 1)
            row += [Cell(mean, text), Cell(p(reference.p_value))]
        rows.append([*row, Cell(show_value(test, test.own))])
    note = _TEXTS["comparison"]["references"]
    return Table("Compared with unrelated contrasts", columns, rows, note=note, terminal=True)


def _draw_maps(comparison: Comparison, items: pd.DataFrame | None) -> list[Block]:
    """The words that were most biased before, where they lie before and after."""
    if items is None or not {"compared", "model"} <= set(items):
        return []
    items = items[(items["compared"] == comparison.after) & (items["corpus"] == comparison.corpus)]
    figures: list[Block] = []
    for when, model in (("before", comparison.before), ("after", comparison.after)):
        words = select_mapped(items[items["model"] == model])
        if words is not None:
            description = _TEXTS["comparison"]["map_plot"].format(when)
            draw = partial(draw_word_map, words)
            figures.append(Figure(when.capitalize(), draw, description, language=comparison.language))
    return figures


def _draw_all_professions(geometry: GeometryChange, language: str) -> list[Block]:
    """The bias of professions before, and the share of male words around them before and after."""
    both = [*geometry.professions_before, *geometry.professions_after]
    figures: list[Block] = []
    for when, professions in (("before", geometry.professions_before), ("after", geometry.professions_after)):
        if professions:
            description = _TEXTS["comparison"]["professions_plot"].format(when)
            draw = partial(draw_professions, professions, compared=both)
            figures.append(Figure(when.capitalize(), draw, description, language=language))
    return figures


MAP_LEGEND = Legend(
    [
        ("female", "female before"),
        ("male", "male before"),
        ("", "outlined: in the cluster of the other side"),
        ("", "t-SNE: distances between clusters have no meaning"),
    ]
)
