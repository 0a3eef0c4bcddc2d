"""The headline of a comparison of two models, and its blocks in a report."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from unmask.measures.geometry import OWN, GeometryChange, Reference, WordTestChange
from unmask.measures.geometry.plots import draw_professions, draw_word_map
from unmask.measures.geometry.report import PROFESSION_LEGEND, show_value
from unmask.report.blocks import Block, Cell, Column, Figure, Legend, Section, Table
from unmask.report.change_blocks import ChangeText, ComparisonReport, change_figure, change_text, list_changes
from unmask.results import Change, Comparison
from unmask.results.formatting import NO_BREAK, count, interval, number, p, p_value, percent, signed
from unmask.results.verdict import is_reliable

if TYPE_CHECKING:
    import pandas as pd

MAIN = "classification"
"""The test that decides the verdict."""
NEIGHBOURS = "neighbours"
TITLES = {
    "clustering": ("Two clusters", "words in the cluster of their side"),
    "probe": ("Linear probe", "words on the correct side of a straight cut"),
    MAIN: ("Classifier", "words on the correct side by a support-vector machine"),
    NEIGHBOURS: ("Neighbours, r", "correlation of the bias of professions with the words around them"),
}
"""The names of tests, and what their values are."""
SLIGHT = 0.05
"""A smaller change of the share of words is called slight, however certain it is."""


def comparison_report(comparison: Comparison, items: pd.DataFrame | None) -> ComparisonReport:
    """What a report shows of a comparison."""
    explanation = {
        "improved": "Words that were biased are harder to separate, by more than chance explains. The tables below show"
        " how much is left, and whether removing a direction would leave as much.",
        "worse": "Words that were biased are easier to separate, by more than chance explains.",
        "overshot": "Professions now lie among words of the other gender.",
    }.get(comparison.verdict, "")
    main, blocks = find_main_change(comparison), comparison_blocks(comparison, items)
    return ComparisonReport(main, blocks, explanation=explanation, method=_METHOD)


def is_unusual(lost: Reference | None, change: float) -> bool:
    """Whether a change is outside the range of 95 % of unrelated contrasts; true if that is unknown."""
    return lost is None or not lost.low <= change <= lost.high


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
        "no reliable change": "No detectable change",
    }[comparison.verdict]
    if comparison.verdict == "no reliable change" and estimate.value is not None and is_reliable(change):
        direction = "harder" if estimate.value < 0 else "easier"
        head = f"Words that were biased are {direction} to separate than before, but so are those of other contrasts"
    figures = f"{percent(before)} before"
    if estimate.value is not None:
        bounds = f" {interval(_scale(estimate.interval), 1)}" if estimate.interval else ""
        figures += f"; change {number(100 * estimate.value, 1)} points{bounds}"
    return (
        f"{head}: a classifier puts {percent(after)} of {estimate.n:,} words on their side before"
        f" ({figures}, p {p_value(estimate.p_adjusted)})."
    )


def _summarise_losses(test: WordTestChange | None) -> str:
    if test is None or test.lost is None or test.before is None or test.after is None:
        return ""
    low, high = (number(100 * bound, 1) for bound in (test.lost.low, test.lost.high))
    head = "more" if is_unusual(test.lost, test.after - test.before) else "no more"
    return (
        f"That is {head} than in unrelated contrasts, which changed by {number(100 * test.lost.mean, 1)} points"
        f" ({low} to {high}; p {p_value(test.lost.p_value)})."
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
            names[amount].append(TITLES[test.name][0].removesuffix(", r").lower())
    amounts = [f"{amount} ({', '.join(tests)})" for amount, tests in names.items() if tests]
    return f"Compared with plain removal of unrelated directions, it leaves {' and '.join(amounts)}." if amounts else ""


def _summarise_stereotype(change: Change | None) -> str:
    if change is None or change.values[0] is None:
        return ""
    (before, after), estimate = change.values, change.change
    if after is None or estimate.value is None:
        return f"Nothing but rounding is left of the professions' own bias (before: r = {number(before)})."
    bounds = f" {interval(estimate.interval)}" if estimate.interval else ""
    figures = f"r = {number(before)} → {number(after)}, change {number(estimate.value)}{bounds}"
    verb = {
        "improved": "follow stereotypes less than before",
        "worse": "follow stereotypes more than before",
        "overshot": "go against stereotypes",
        "no reliable change": "follow stereotypes with no reliable change",
    }[change.verdict or "no reliable change"]
    return f"By their own bias, professions {verb} ({figures}, p {p_value(estimate.p_adjusted)})."


def comparison_blocks(comparison: Comparison, items: pd.DataFrame | None) -> list[Block]:
    """Key figure, word tests, unrelated contrasts, map, professions and all other changes."""
    geometry, main = comparison.read_details(GeometryChange), find_main_change(comparison)
    report: list[Block] = []
    if main is not None and "–" not in (main.before, main.after):
        report.append(change_figure(main, _MAIN))
    if geometry.tests:
        report.append(Section(_TITLE, [_list_tests(comparison, geometry.tests), _list_references(geometry.tests)]))
    if maps := _draw_maps(comparison, items):
        report.append(Section("The most biased words on a map", [MAP_LEGEND, *maps], "two columns"))
    if figures := _draw_all_professions(geometry, comparison.language):
        report.append(Section("Professions and the words around them", [PROFESSION_LEGEND, *figures], "two columns"))
    names = {test.name for test in geometry.tests}
    others = {name: change for name, change in comparison.changes.items() if name not in names}
    if others:
        report.append(Section("Other figures", [_list_others(comparison, others)]))
    return report


def find_main_change(comparison: Comparison) -> ChangeText | None:
    """The share of words that a classifier separates, among the words that were most biased before."""
    test = comparison.read_details(GeometryChange).test(MAIN)
    return _describe_change("Classifier, words on their side", comparison, test) if test else None


def _describe_change(name: str, comparison: Comparison, test: WordTestChange) -> ChangeText:
    change = comparison.changes.get(test.name)
    if change is None:
        before, after = show_value(test, test.before), show_value(test, test.after)
        return ChangeText(name, before, after, "–", verdict="not tested")
    return change_text(name, change, scale="" if test.name == NEIGHBOURS else "percent")


def _scale(bounds: tuple[float, float]) -> tuple[float, float]:
    return 100 * bounds[0], 100 * bounds[1]


def _list_tests(comparison: Comparison, tests: Sequence[WordTestChange]) -> Table:
    """The tests with the words of before."""
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
        name, meaning = TITLES[test.name]
        text, change = _describe_change(name, comparison, test), comparison.changes.get(test.name)
        row = [
            Cell(text.name, note=meaning),
            Cell(count(test.n)),
            Cell(text.before, text.before_interval),
            Cell(text.after, text.after_interval, strong=True),
            Cell(text.change, text.interval),
            Cell(text.p),
            Cell(text.verdict, is_verdict=bool(change and change.verdict)),
        ]
        rows.append(row)
    return Table(_TITLE, columns, rows, note=_WORDS_OF_BEFORE, terminal=True)


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
        row = [Cell(TITLES[test.name][0]), Cell(show_value(test, test.after))]
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
    return Table("Compared with unrelated contrasts", columns, rows, note=_REFERENCES, terminal=True)


def _draw_maps(comparison: Comparison, items: pd.DataFrame | None) -> list[Block]:
    """The words that were most biased before, where they lie before and after."""
    if items is None or not {"compared", "model", "side", "x", "y"} <= set(items):
        return []
    items = items[(items["compared"] == comparison.after) & (items["corpus"] == comparison.corpus)]
    figures: list[Block] = []
    for when, model in (("before", comparison.before), ("after", comparison.after)):
        words = items[items["model"] == model]
        if words["side"].isin(["female", "male"]).any() and words[["x", "y"]].notna().all(axis=1).any():
            description = f"Map (t-SNE) of the words that were most biased before, coloured by their side, {when}"
            figures.append(
                Figure(when.capitalize(), partial(draw_word_map, words), description, language=comparison.language)
            )
    return figures


def _draw_all_professions(geometry: GeometryChange, language: str) -> list[Block]:
    """The bias of professions before, and the share of male words around them before and after."""
    both = [*geometry.professions_before, *geometry.professions_after]
    return [
        Figure(
            when,
            partial(draw_professions, professions, compared=both),
            "Scatter plot: the bias of each profession before, and the share of male words among the nearest words,"
            f" {when.lower()}",
            language=language,
        )
        for when, professions in (("Before", geometry.professions_before), ("After", geometry.professions_after))
        if professions
    ]


def _list_others(comparison: Comparison, changes: dict[str, Change]) -> Table:
    """The stereotype and association tests, then tests of own words, which a terminal leaves out."""
    named = sorted(changes.items(), key=lambda item: item[1].labels.get("words") == OWN)
    shares = set(TITLES) - {NEIGHBOURS}
    texts = [
        (change_text(name, change, scale="percent" if change.labels["contrast"] in shares else ""), change)
        for name, change in named
    ]
    rows = sum(change.labels.get("words") != OWN for change in changes.values())
    published = comparison.protocol == "published"
    return list_changes(texts, "Other figures", published=published, note=_OTHERS, terminal_rows=rows)


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
