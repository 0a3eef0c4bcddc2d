"""The report of a measurement: key figures, word tests, a map, professions, clusters and associations, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from unmask.measures.comparison import select_items
from unmask.measures.geometry import (
    OWN,
    ClusterCount,
    Geometry,
    Matching,
    Neighbourhood,
    WordTest,
    WordTestChange,
    plots,
)
from unmask.measures.geometry.analysis import (
    LARGEST,
    MAIN,
    MARGIN,
    PUBLISHED_TITLES,
    STRENGTHS,
    TITLES,
    contrast_range,
    describe_mismatch,
    judge_stereotype,
)
from unmask.measures.texts import load_texts
from unmask.report.blocks import Block, Cell, Column, Figure, KeyFigure, Legend, Section, Table, Text
from unmask.report.default_blocks import list_tests
from unmask.results import Estimate, Interval, Measurement
from unmask.results.formatting import (
    NO_BREAK,
    certainty,
    count,
    interval,
    number,
    p,
    p_value,
    percent,
    percent_interval,
    signed,
)
from unmask.results.verdict import describe_test, judge_test, size_label

if TYPE_CHECKING:
    import pandas as pd

SPACES = {False: "Original", True: "Gender direction removed"}
"""The two spaces, by whether the gender direction is removed."""
MOST_MISSING, MOST_WORDS = 60, 6
"""How many words without a vector are named, and how many biased words a terminal shows."""
_TEXTS = load_texts(__package__)["report"]


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """The report of one measurement."""
    geometry = measurement.read_details(Geometry)
    associations = {
        name: test for name, test in measurement.tests.items() if test.labels.get("contrast") == "association"
    }
    if measurement.protocol == "published":
        figures = _build_published_figures(geometry)
    else:
        figures = _build_key_figures(measurement, geometry, associations)
    return [
        *figures,
        *_report_tests(measurement, geometry),
        _report_professions(measurement, geometry),
        *_report_associations(associations),
        _report_map(measurement, geometry, items),
        *_report_cluster_counts(geometry.scan),
        _report_words(geometry),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """How the geometry of words is measured."""
    protocols, texts = {measurement.protocol for measurement in measurements}, load_texts(__package__)["method"]
    paragraphs = [texts["bias"]]
    if "sound" in protocols:
        paragraphs += [texts["word_tests"], texts["reference"], texts["associations"]]
    if "published" in protocols:
        paragraphs.append(texts["published"])
    formula = "bias(w) = w · (male − female) / |male − female|"
    return [Text([formula], "formula"), Text(paragraphs), Text([texts["citation"]], "note")]


def _build_key_figures(
    measurement: Measurement, geometry: Geometry, associations: dict[str, Estimate]
) -> Iterator[KeyFigure]:
    """Stereotype, the classifier without the gender direction, and the strongest association."""
    stereotype = measurement.tests.get("stereotype")
    if stereotype is not None and stereotype.value is not None:
        yield KeyFigure(
            "Stereotype of professions",
            f"r = {number(stereotype.value)}",
            certainty(interval(stereotype.interval), stereotype.p_adjusted),
            describe_stereotype(stereotype),
            _TEXTS["stereotype"].format(count(stereotype.n)) + _describe_detectable(stereotype),
        )
    test, difference = geometry.test(MAIN, removed=True), measurement.tests.get(MAIN)
    if test is not None and test.value is not None:
        compared = "no unrelated contrasts"
        if test.reference is not None:
            judged = contrast_range(test.value, difference) if difference is not None else None
            bounds = show_bounds(test, judged or (test.reference.low, test.reference.high))
            compared = f"unrelated contrasts {show_value(test, test.reference.mean)} ({bounds})"
            if difference is not None and difference.p_adjusted is not None:
                compared += f", p {p_value(difference.p_adjusted)}"
        verdict = describe_difference(difference, geometry.matching)
        explanation = _TEXTS[MAIN].format(count(test.n))
        yield KeyFigure("Classifier, direction removed", show_value(test, test.value), compared, verdict, explanation)
    effects = {name: test for name, test in associations.items() if test.effect_size is not None}
    if effects:
        name, strongest = max(effects.items(), key=lambda named: abs(named[1].effect_size or 0.0))
        verdict = describe_test(strongest, "association")
        if judge_test(strongest) == "clear":
            direction = "follows" if (strongest.effect_size or 0.0) > 0 else "against"
            verdict = f"clear, {direction} stereotypes"
        rank = f", the strongest of {len(effects)}" if len(effects) > 1 else ""
        yield KeyFigure(
            "Strongest association",
            f"d = {number(strongest.effect_size)}",
            certainty(interval(strongest.effect_size_interval), strongest.p_adjusted),
            verdict,
            f"{name}{rank}. {strongest.question} −2: completely the reverse; 0: no association; 2: completely.",
        )


def _describe_detectable(test: Estimate) -> str:
    if test.detectable is None:
        return ""
    return f" An r of {number(test.detectable)} would be found with a probability of 80{NO_BREAK}%."


def describe_stereotype(test: Estimate) -> str:
    """The outcome of the test of professions in a few words; a clear one with its strength and direction."""
    strength = size_label(test.value or 0.0, STRENGTHS).removeprefix("a ")
    if judge_stereotype(test) == "clear":
        return f"{strength} relation, {'follows' if (test.value or 0.0) > 0 else 'against'} stereotypes"
    return describe_test(test, "stereotype", margin=MARGIN, largest=LARGEST, sample="professions")


def _build_published_figures(geometry: Geometry) -> Iterator[KeyFigure]:
    """The three numbers of the papers."""
    for name, title in PUBLISHED_TITLES.items():
        test = geometry.test(name)
        if test is not None and test.value is not None:
            counted = f"{count(test.n)} {'professions' if name == 'neighbours' else 'words'}, no interval"
            explanation = _TEXTS[f"published_{name}"]
            yield KeyFigure(title, show_value(test, test.accuracy), counted, "not compared", explanation)


def describe_difference(difference: Estimate | None, matching: Matching | None) -> str:
    """Whether more or less of gender is left than of unrelated contrasts."""
    if matching is not None and not matching.comparable:
        return "cannot be judged: no contrasts like gender"
    outcome = judge_test(difference)
    if difference is None or outcome == "not tested":
        return "not compared"
    if outcome == "clear":
        return f"{'more' if (difference.value or 0.0) > 0 else 'less'} than unrelated contrasts"
    return "not clearly unusual"


def _report_tests(measurement: Measurement, geometry: Geometry) -> Iterator[Section]:
    """What gender gives in each test, compared with unrelated contrasts."""
    tests = {
        removed: [test for test in (geometry.test(name, removed=removed) for name in TITLES) if test is not None]
        for removed in SPACES
    }
    every = [*tests[False], *tests[True]]
    if measurement.protocol != "sound" or not every:
        return
    matching, contrasts = (
        geometry.matching,
        max((t.reference.contrasts for t in geometry.tests if t.reference), default=0),
    )
    note, figures = f"{_TEXTS['tests']} {_TEXTS['references']}", list[Block]()
    compared = _TEXTS["no_contrasts"]
    if matching is not None and not matching.comparable:
        compared = describe_mismatch(matching)
    elif contrasts:
        examples = "; ".join(matching.examples[:2]).replace("_", " ") if matching else ""
        compared = _TEXTS["contrasts"].format(count(contrasts), f" ({examples})" if examples else "")
        note += f" {_TEXTS['p_value'].format(count(contrasts))}"
        figures = [
            Figure(
                space,
                partial(plots.draw_strips, drawn, every, correlations=correlations),
                _TEXTS["strips_plot"].format(space),
            )
            for correlations in (False, True)
            for removed, space in SPACES.items()
            if (drawn := [(TITLES[t.name], t) for t in tests[removed] if (t.name == "neighbours") == correlations])
        ]
    content: list[Block] = [Text([f"{_TEXTS['selected']} {compared}"], "note")]
    if figures:
        content.append(Section("", [STRIP_LEGEND, *figures], "two columns"))
    if matching is not None:
        content.append(_list_matching(matching))
    content += [_list_tests(measurement, rows, removed=removed) for removed, rows in tests.items() if rows]
    yield Section("Gender compared with unrelated contrasts", [*content, Text([note], "note")])


def _list_matching(matching: Matching) -> Table:
    """How like gender the contrasts are."""
    rows = [
        [Cell(name), Cell(number(gender, 4)), Cell(number(mean, 4), " to ".join(number(bound, 4) for bound in bounds))]
        for name, gender, mean, bounds in (
            ("Spread of all other words", matching.spread, matching.mean_spread, matching.spreads),
            ("Likeness of the two ends", matching.likeness, matching.mean_likeness, matching.likenesses),
        )
    ]
    columns = [Column("Property", numeric=False), Column("Gender"), Column("Unrelated contrasts, mean and range")]
    return Table("Are the contrasts like gender?", columns, rows, note=_TEXTS["matching"])


def _list_tests(measurement: Measurement, tests: Sequence[WordTest], *, removed: bool) -> Table:
    columns = [
        Column("Test", numeric=False),
        Column("n"),
        Column("Gender"),
        Column("95 % interval", narrow=False),
        Column("Random labels", narrow=False),
        Column("Unrelated contrasts"),
        Column("Reached by"),
    ]
    rows = []
    for test in tests:
        reference, adjusted = test.reference, measurement.tests.get(test.name)
        chance = show_value(test, test.chance)
        if test.chance_high is not None:
            chance += f", up to {show_value(test, test.chance_high)}"
        row = [
            Cell(TITLES[test.name]),
            Cell(count(test.n)),
            Cell(show_value(test, test.value)),
            Cell(show_bounds(test, test.interval) or "–"),
            Cell(chance),
            Cell(show_value(test, reference.mean), show_bounds(test, (reference.low, reference.high)))
            if reference
            else Cell("–"),
            Cell(f"{count(reference.reached)} of {count(reference.contrasts)}" if reference else "–"),
        ]
        rows.append([*row, Cell(p(adjusted.p_adjusted) if adjusted else "–")] if removed else row)
    if removed:
        columns.append(Column("p, adjusted", narrow=False))
    return Table(f"Word tests, {SPACES[removed].lower()}", columns, rows, terminal=True)


def show_value(test: WordTest | WordTestChange, value: float | None) -> str:
    """A value of a test: a correlation, or a share in percent."""
    return number(value) if test.name == "neighbours" else percent(value)


def show_bounds(test: WordTest, bounds: Interval | None) -> str:
    """An interval of such values."""
    if bounds is None:
        return ""
    if test.name == "neighbours":
        return " to ".join(number(bound) for bound in bounds)
    return percent_interval(bounds)


def _report_map(measurement: Measurement, geometry: Geometry, items: pd.DataFrame | None) -> Section:
    title, table = "Map of the most biased words", _list_most_biased(geometry, measurement.language)
    words = plots.select_mapped(select_items(measurement, items, words=OWN))
    if words is None:
        return Section(title, [Text([_TEXTS["no_map"]], "note"), table])
    astray = count(int(plots.find_astray(words).sum()))
    legend = Legend(
        [
            ("male", "male side"),
            ("female", "female side"),
            ("", "fainter: less biased"),
            ("ring", f"in the cluster of the other side ({astray} of {count(len(words))})"),
            ("", "point at a mark to see its word"),
        ]
    )
    description = _TEXTS["map_plot"].format(count(len(words)))
    figure = Figure("", partial(plots.draw_word_map, words), description, _TEXTS["map"], measurement.language)
    return Section(title, [legend, figure, table], "two columns")


def _list_most_biased(geometry: Geometry, language: str) -> Table:
    columns = [
        Column("Rank"),
        Column("Word", numeric=False, group="Male", swatch="male"),
        Column("Bias", group="Male"),
        Column("Word", numeric=False, group="Female", swatch="female"),
        Column("Bias", group="Female"),
    ]
    rows = [
        [
            Cell(str(rank)),
            *(cell for word in pair for cell in (Cell(word.word, language=language), Cell(signed(word.bias, 3)))),
        ]
        for rank, pair in enumerate(zip(geometry.most_male, geometry.most_female, strict=True), 1)
    ]
    return Table("Most biased words", columns, rows, terminal=True, terminal_rows=MOST_WORDS)


def _report_professions(measurement: Measurement, geometry: Geometry) -> Section:
    """The bias of professions and the share of male words around them."""
    title, professions = "Professions and the words around them", geometry.professions
    if not professions:
        return Section(title, [Text([_TEXTS["no_professions"]], "note")])
    is_sound = measurement.protocol == "sound"
    figures = []
    for removed, space in SPACES.items() if is_sound else [(False, SPACES[False])]:
        test = geometry.test("neighbours", removed=removed)
        heading = f"{space}: r = {number(test.value)}" if is_sound and test else space
        draw = partial(plots.draw_professions, professions, removed=removed)
        figures.append(Figure(heading, draw, _TEXTS["professions_plot"].format(space), language=measurement.language))
    note = _TEXTS["professions"].format(" (above the median of all words)" if is_sound else "")
    table = _list_professions(professions, measurement.language, is_sound=is_sound)
    return Section(title, [Text([note], "note"), PROFESSION_LEGEND, *figures, table], "two columns")


def _list_professions(professions: Sequence[Neighbourhood], language: str, *, is_sound: bool) -> Table:
    titles = ["Bias", "Male words nearby", *(["… gender direction removed"] if is_sound else [])]
    columns = [Column("Profession", numeric=False), *map(Column, [*titles, "People’s view, −1 female to 1 male"])]
    rows = [
        [
            Cell(near.profession, language=language),
            Cell(signed(near.bias, 3)),
            Cell(percent(near.male, 0)),
            *([Cell(percent(near.male_removed, 0))] if is_sound else []),
            Cell(signed(near.stereotype)),
        ]
        for near in professions
    ]
    return Table(f"All {count(len(professions))} professions", columns, rows, folded=True)


def _report_cluster_counts(counts: Sequence[ClusterCount]) -> Iterator[Section]:
    """How well more than two clusters sort the words."""
    if not counts:
        return
    results = {(result.clusters, result.removed): result for result in counts}

    def cells(result: ClusterCount | None) -> list[Cell]:
        if result is None:
            return [Cell("–")] * 4
        shares = [Cell(percent(result.accuracy)), Cell(percent(result.chance_high))]
        return [*shares, Cell(number(result.v_measure)), Cell(p(result.p_chance))]

    columns = [Column("Clusters")]
    columns += [Column(title, group=space) for space in SPACES.values() for title in ("correct", "chance", "V", "p")]
    rows = [
        [Cell(str(clusters)), *(cell for removed in SPACES for cell in cells(results.get((clusters, removed))))]
        for clusters in sorted({result.clusters for result in counts})
    ]
    figure = Figure("", partial(plots.draw_cluster_counts, counts), _TEXTS["scan_plot"])
    table = Table("Words sorted correctly", columns, rows)
    yield Section("More than two clusters", [Text([_TEXTS["scan"]], "note"), SCAN_LEGEND, figure, table], "two columns")


def _report_associations(associations: dict[str, Estimate]) -> Iterator[Section]:
    if associations:
        title = "Association tests"
        figure = Figure("", partial(plots.draw_effect_sizes, list(associations.items())), _TEXTS["associations_plot"])
        table = list_tests(associations, title, terminal=True)
        yield Section(title, [Text([_TEXTS["associations"]], "note"), figure, table], "two columns")


def _report_words(geometry: Geometry) -> Section:
    """What the vectors are, and which words have none."""
    lines = []
    if geometry.dimensions:
        lines.append(f"Vectors: {geometry.vectors}; {count(geometry.dimensions)} dimensions.")
        cosine = f"The cosine of its two ends is {number(geometry.likeness, 3)}"
        lines.append(f"Gender direction: {geometry.direction}. {cosine}.")
    lines.append(f"{count(geometry.words)} words were measured; {percent(geometry.male_share)} are on the male side.")
    if geometry.left_out:
        reasons = "; ".join(f"{reason}: {count(words)}" for reason, words in geometry.left_out.items())
        lines.append(f"{count(sum(geometry.left_out.values()))} words were left out ({reasons}).")
    missing = geometry.missing
    if not missing:
        lines.append("Every requested word has a vector.")
    content = [Text(lines, "list", terminal=True)]
    if missing:
        more = f", and {count(len(missing) - MOST_MISSING)} more in result.json" if len(missing) > MOST_MISSING else ""
        content.append(Text([f"Without a vector ({count(len(missing))}): {', '.join(missing[:MOST_MISSING])}{more}."]))
    return Section("Words and vectors", content)


STRIP_LEGEND = Legend(
    [("diamond", "gender"), ("open", "an unrelated contrast"), ("stroke", "mean of the unrelated contrasts")]
)
PROFESSION_LEGEND = Legend(
    [("", "people associate it with:"), ("male", "men"), ("female", "women"), ("open", "both, or unknown")]
)
SCAN_LEGEND = Legend(
    [
        ("ring", "original"),
        ("diamond", "gender direction removed"),
        ("", "dashed: 97.5 % of random labels stay below"),
    ]
)
