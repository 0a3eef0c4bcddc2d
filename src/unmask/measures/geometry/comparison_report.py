"""A comparison of two models by geometry as blocks of a report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from unmask.measures.geometry.details import GeometryChange, Reference, WordTestChange
from unmask.measures.geometry.plots import draw_professions, draw_word_map
from unmask.measures.geometry.report import PROFESSION_LEGEND
from unmask.report.blocks import Block, Cell, Column, Figure, Legend, Section, Table, Text
from unmask.report.change_blocks import ChangeText, Scale, change_figure, change_text, list_changes
from unmask.report.pages import count, p, percent, signed
from unmask.results import Change, Comparison
from unmask.results.numbers import NO_BREAK, interval, number

if TYPE_CHECKING:
    import pandas as pd

MAIN = "classification"
"""The test that decides the verdict."""
NEIGHBOURS = "neighbours"
NAMES = {
    "clustering": ("Two clusters", "words in the cluster of their side"),
    "probe": ("Linear probe", "words on the correct side of a straight cut"),
    MAIN: ("Classifier", "words on the correct side by a support-vector machine"),
    NEIGHBOURS: ("Neighbours, r", "correlation of the bias of professions with the words around them"),
}
"""How tests are called, and what their values are."""
MEANINGS = {
    "improved": "Words that were biased are harder to separate, by more than chance explains. The tables below show how"
    " much is left, and whether removing a direction would leave as much.",
    "worse": "Words that were biased are easier to separate, by more than chance explains.",
    "overshot": "Professions now lie among words of the other gender.",
}


def blocks(comparison: Comparison, items: pd.DataFrame | None) -> list[Block]:
    """Key figure, word tests, unrelated contrasts, map, professions and all other changes."""
    geometry = comparison.read_details(GeometryChange)
    main, report = main_change(comparison), list[Block]()
    if main is not None and "–" not in (main.before, main.after):
        report.append(change_figure(main, _MAIN))
    if geometry.tests:
        report.append(Section(_TITLE, _word_tests(comparison, geometry.tests)))
    if maps := _maps(comparison, items):
        report.append(Section("The most biased words on a map", [MAP_LEGEND, *maps], "two columns"))
    professions = _professions(geometry, comparison.language)
    if professions:
        report.append(
            Section("Professions and the words around them", [PROFESSION_LEGEND, *professions], "two columns")
        )
    shown = {test.name for test in geometry.tests}
    others = {name: change for name, change in comparison.changes.items() if name not in shown}
    if others:
        report.append(Section("Other figures", [_other_figures(comparison, others)]))
    return report


def main_change(comparison: Comparison) -> ChangeText | None:
    """The share of words that a classifier separates, with the words that were most biased before."""
    test = comparison.read_details(GeometryChange).test(MAIN)
    return None if test is None else _text("Classifier, words on their side", comparison.changes.get(MAIN), test)


def method(comparisons: Sequence[Comparison]) -> list[Block]:
    """How changes are computed and judged."""
    del comparisons
    return [Text(_METHOD)]


def _text(name: str, change: Change | None, test: WordTestChange) -> ChangeText:
    if change is not None:
        return change_text(name, change, scale=_scale(test.name))
    return ChangeText(name, _value(test, test.before), _value(test, test.after), "–", verdict="not tested")


def _scale(test: str) -> Scale:
    return "" if test == NEIGHBOURS else "percent"


def _value(test: WordTestChange, value: float | None) -> str:
    return number(value) if test.name == NEIGHBOURS else percent(value)


def _word_tests(comparison: Comparison, tests: Sequence[WordTestChange]) -> list[Block]:
    """The tests with the words of before, and what unrelated contrasts give."""
    columns = [
        Column("Test", numeric=False),
        Column("n", narrow=False),
        Column("Before", narrow_bounds=False),
        Column("After", narrow_bounds=False),
        Column("Change"),
        Column("p, adjusted"),
        Column("Verdict", numeric=False),
    ]
    rows = []
    for test in tests:
        change = comparison.changes.get(test.name)
        name, meaning = NAMES.get(test.name, (test.name, ""))
        text = _text(name, change, test)
        rows.append(
            [
                Cell(text.name, note=meaning),
                Cell(count(test.n)),
                Cell(text.before, text.before_interval),
                Cell(text.after, text.after_interval, strong=True),
                Cell(text.change, text.interval),
                Cell(text.p),
                Cell(text.verdict, is_verdict=bool(change and change.verdict)),
            ]
        )
    report: list[Block] = [Table(_TITLE, columns, rows, note=_WORDS_OF_BEFORE, terminal=True)]
    references = [_reference_row(test) for test in tests]
    columns = [
        Column("Test", numeric=False),
        Column("After"),
        Column("Plain removal leaves"),
        Column("p", narrow=False),
        Column("Others changed by"),
        Column("p", narrow=False),
        Column("After, own words", narrow=False),
    ]
    report.append(Table("Compared with unrelated contrasts", columns, references, note=_REFERENCES, terminal=True))
    return report


def _reference_row(test: WordTestChange) -> list[Cell]:
    """What is left beside plain removal, and what other contrasts lost."""
    return [
        Cell(NAMES.get(test.name, (test.name, ""))[0]),
        Cell(_value(test, test.after)),
        *_reference_cells(test, test.others, is_change=False),
        *_reference_cells(test, test.lost, is_change=True),
        Cell(_value(test, test.own)),
    ]


def _reference_cells(test: WordTestChange, reference: Reference | None, *, is_change: bool) -> list[Cell]:
    if reference is None:
        return [Cell("–"), Cell("–")]
    correlation = test.name == NEIGHBOURS
    scale, digits = (1, 2) if correlation else (100, 1)
    mean = signed(scale * reference.mean, digits) if is_change else _value(test, reference.mean)
    if is_change and not correlation:
        mean += f"{NO_BREAK}points"
    return [
        Cell(mean, interval((scale * reference.low, scale * reference.high), digits)),
        Cell(p(reference.p_value)),
    ]


def _maps(comparison: Comparison, items: pd.DataFrame | None) -> list[Block]:
    """The words that were most biased before, as they lie before and after."""
    if items is None or not {"compared", "model", "side", "x", "y"} <= set(items):
        return []
    own = items[(items["compared"] == comparison.after) & (items["corpus"] == comparison.corpus)]
    figures: list[Block] = []
    for when, model in (("before", comparison.before), ("after", comparison.after)):
        words = own[own["model"] == model]
        if words["side"].isin(["female", "male"]).any() and words[["x", "y"]].notna().all(axis=1).any():
            description = f"Map (t-SNE) of the words that were most biased before, coloured by their side, {when}"
            figures.append(
                Figure(when.capitalize(), partial(draw_word_map, words), description, language=comparison.language)
            )
    return figures


def _professions(geometry: GeometryChange, language: str) -> list[Block]:
    """The bias of professions before, and the share of male words around them before and after."""
    every = [*geometry.professions_before, *geometry.professions_after]
    return [
        Figure(
            when,
            partial(draw_professions, professions, compared=every),
            "Scatter plot: the bias of each profession before, and the share of male words among the nearest words,"
            f" {when.lower()}",
            language=language,
        )
        for when, professions in (("Before", geometry.professions_before), ("After", geometry.professions_after))
        if professions
    ]


def _other_figures(comparison: Comparison, changes: dict[str, Change]) -> Table:
    """The stereotype and association tests, then tests of own words, which a terminal leaves out."""
    named = sorted(changes.items(), key=lambda item: item[1].labels.get("words") == "own")
    texts = [
        (change_text(name, change, scale="percent" if _is_share(change) else ""), change) for name, change in named
    ]
    rows = sum(change.labels.get("words") != "own" for change in changes.values())
    published = comparison.protocol == "published"
    return list_changes(texts, "Other figures", published=published, note=_OTHERS, terminal_rows=rows)


def _is_share(change: Change) -> bool:
    return change.labels["contrast"] in NAMES and change.labels["contrast"] != NEIGHBOURS


MAP_LEGEND = Legend(
    [
        ("female", "female before"),
        ("male", "male before"),
        ("", "outlined: in the cluster of the other side"),
        ("", "t-SNE: distances between clusters have no meaning"),
    ]
)
_TITLE = "Can words that were biased before still be separated?"
_MAIN = (
    "The share of the words most biased before that a support-vector machine puts on the side where they were. 50 %"
    " is chance."
)
_WORDS_OF_BEFORE = (
    "Before and after with the words that were most biased before, and their bias then. In brackets: 95 % intervals."
)
_REFERENCES = (
    "Plain removal: what contrasts unrelated to gender keep in the model before when their own direction is removed."
    " Others: how unrelated contrasts changed from before to after; a change of gender within this range is no reliable"
    " change. In brackets: the range of 95 % of the contrasts. p: the share of contrasts that keep, or change, as much."
)
_OTHERS = (
    "Shares of words, except correlations (neighbours, stereotype) and effect sizes d (WEAT, SEAT). Each model’s own"
    " most biased words are different words, so their changes are not tested, nor are those of d."
)
_METHOD = [
    "Every test uses the words that were most biased in the model before, and their bias there, because a mitigation"
    " may only have turned the direction from which bias is read. The same words are correct or wrong before and"
    " after, so shares are matched (McNemar’s exact test; Agresti and Min’s interval). Correlations over professions"
    " are compared by a jackknife over professions. The four p-values are corrected together by Holm’s method.",
    "The classifier decides the verdict, because it judges words one by one that it has not seen: fewer correct words"
    " than before is improved, more is worse. A model in which professions now lie among words of the other gender has"
    " overshot. Each model’s own most biased words and association tests (WEAT) are shown without a test.",
    "Words that were chosen in one model are harder to separate in any other. A change therefore counts only if it is"
    " outside the range of 95 % of the changes of unrelated contrasts. A model that keeps as much as plain removal of"
    " unrelated directions leaves has hidden gender neither better nor worse than that.",
]
