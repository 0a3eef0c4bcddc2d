"""The report of a measurement: key figures, word tests, a map, professions, clusters and associations, as blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from unmask.measures.geometry import OWN, BiasedWord, ClusterCount, Geometry, Neighbourhood, WordTest, WordTestChange
from unmask.measures.geometry.analysis import STRENGTHS
from unmask.measures.geometry.plots import (
    draw_cluster_counts,
    draw_effect_sizes,
    draw_professions,
    draw_strips,
    draw_word_map,
    find_astray,
)
from unmask.report.blocks import Block, Cell, Column, Figure, KeyFigure, Legend, Section, Table, Text
from unmask.results import Estimate, Interval, Measurement
from unmask.results.formatting import (
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
from unmask.results.verdict import is_clear, is_significant, size_label

if TYPE_CHECKING:
    import pandas as pd

SPACES = {False: "Original", True: "Gender direction removed"}
"""The two spaces, by whether the gender direction is removed."""
TITLES = {
    "clustering": "Two clusters",
    "probe": "Linear probe",
    "classification": "Classifier",
    "neighbours": "Neighbours, r",
}
"""The names of the word tests, in the order of a table."""
MOST_MISSING, MOST_WORDS = 60, 6
"""How many words without a vector are named, and how many biased words a terminal shows."""


def blocks(measurement: Measurement, items: pd.DataFrame | None) -> list[Block]:
    """The report of one measurement."""
    geometry = measurement.read_details(Geometry)
    associations = {
        name: test for name, test in measurement.tests.items() if test.labels.get("contrast") == "association"
    }
    find_figures = _find_published_figures if measurement.protocol == "published" else _find_key_figures
    return [
        *find_figures(measurement, geometry, associations),
        *_report_tests(measurement, geometry),
        _report_map(measurement, geometry, select_mapped(items, measurement)),
        _report_professions(measurement, geometry),
        *_report_cluster_counts(geometry.scan),
        *_report_associations(associations),
        _report_words(geometry),
    ]


def method(measurements: Sequence[Measurement]) -> list[Block]:
    """How the geometry of words is measured."""
    protocols = {measurement.protocol for measurement in measurements}
    paragraphs = [_BIAS]
    if "sound" in protocols:
        paragraphs += [_WORD_TESTS, _REFERENCE, _ASSOCIATIONS]
    if "published" in protocols:
        paragraphs.append(_PUBLISHED)
    formula = "bias(w) = w · (male − female) / |male − female|"
    return [Text([formula], "formula"), Text(paragraphs), Text([_CITATION], "note")]


def facts(measurement: Measurement) -> list[tuple[str, str]]:
    """Where the numbers come from."""
    geometry, noise = measurement.read_details(Geometry), measurement.noise_floor
    return [
        ("words", count(geometry.words)),
        ("vectors", geometry.vectors),
        ("gender direction", geometry.direction),
        ("dimensions", count(geometry.dimensions)),
        ("without a vector", count(len(geometry.missing))),
        ("noise floor", "not measured" if noise is None else f"{noise:.2g}"),
    ]


def _find_key_figures(
    measurement: Measurement, geometry: Geometry, associations: dict[str, Estimate]
) -> Iterator[KeyFigure]:
    """Stereotype, clusters, neighbours and the strongest association."""
    stereotype = measurement.tests.get("stereotype")
    if stereotype is not None and stereotype.value is not None:
        verdict = "no clear stereotype"
        if is_clear(stereotype):
            direction = "follows stereotypes" if stereotype.value > 0 else "against stereotypes"
            verdict = f"{size_label(stereotype.value, STRENGTHS).removeprefix('a ')} relation, {direction}"
        yield KeyFigure(
            "Stereotype of professions",
            f"r = {number(stereotype.value)}",
            certainty(interval(stereotype.interval), stereotype.p_adjusted),
            verdict,
            _STEREOTYPE.format(count(stereotype.n)),
        )
    for name, title, symbol, explanation in (
        ("clustering", "Clusters, direction removed", "", _CLUSTERS),
        ("neighbours", "Neighbours, direction removed", "r = ", _NEIGHBOURS),
    ):
        test = geometry.test(name, removed=True)
        if test is not None and test.value is not None:
            compared = "no unrelated contrasts"
            if test.reference is not None:
                bounds = show_bounds(test, (test.reference.low, test.reference.high))
                mean = show_value(test, test.reference.mean)
                compared = f"unrelated contrasts {mean} ({bounds}), p {p_value(test.reference.p_value)}"
            value, verdict = f"{symbol}{show_value(test, test.value)}", judge_test(measurement.tests.get(name), test)
            yield KeyFigure(title, value, compared, verdict, explanation.format(count(test.n)))
    effects = {name: test for name, test in associations.items() if test.effect_size is not None}
    if effects:
        name, strongest = max(effects.items(), key=lambda named: abs(named[1].effect_size or 0.0))
        verdict = "not clear"
        if is_clear(strongest):
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


def _find_published_figures(
    measurement: Measurement, geometry: Geometry, associations: dict[str, Estimate]
) -> Iterator[KeyFigure]:
    """The three numbers of the papers."""
    del measurement, associations
    for name, title, unit, explanation in (
        ("clustering", "K-means accuracy", "words", "By the numbers of the clusters: 6 % can mean 94 %."),
        (
            "neighbours",
            "Correlation of professions",
            "professions",
            "Between bias and the number of male words among the 100 nearest.",
        ),
        ("classification", "Classification accuracy", "words", "Of a support-vector machine trained on a fifth."),
    ):
        test = geometry.test(name)
        if test is not None and test.value is not None:
            counted = f"{count(test.n)} {unit}, no interval"
            yield KeyFigure(title, show_value(test, test.value), counted, "not compared", explanation)


def judge_test(test: Estimate | None, word_test: WordTest) -> str:
    """Whether more of gender is left than of unrelated contrasts."""
    if word_test.reference is None or test is None or test.p_adjusted is None:
        return "not compared"
    if is_clear(test):
        return "more than unrelated contrasts"
    if is_significant(word_test.reference.p_value):
        return "more than most unrelated contrasts, but not clear"
    return "no more than unrelated contrasts"


def _report_tests(measurement: Measurement, geometry: Geometry) -> Iterator[Section]:
    """What gender gives in each test, compared with unrelated contrasts."""
    tests = {
        removed: [test for test in (geometry.test(name, removed=removed) for name in TITLES) if test is not None]
        for removed in SPACES
    }
    every = [*tests[False], *tests[True]]
    if measurement.protocol != "sound" or not every:
        return
    contrasts = max((test.reference.contrasts for test in geometry.tests if test.reference), default=0)
    examples = "; ".join(geometry.contrasts[:2]).replace("_", " ")
    shown = _CONTRASTS.format(count(contrasts), f" ({examples})" if examples else "") if contrasts else _NOT_COMPARED
    content: list[Block] = [Text([f"{_CHOSEN} {shown}"], "note")]
    note = _TEST_NOTE
    if contrasts:
        note += f" {_P_VALUE.format(count(contrasts), number(1 / (1 + contrasts), 3))}"
        figures = [
            Figure(
                space,
                partial(draw_strips, drawn, every, correlations=correlations),
                f"Strip plot: the value of gender in each test among those of unrelated contrasts. {space}. The table"
                " has the numbers.",
            )
            for correlations in (False, True)
            for removed, space in SPACES.items()
            if (drawn := [(TITLES[t.name], t) for t in tests[removed] if (t.name == "neighbours") == correlations])
        ]
        content.append(Section("", [STRIP_LEGEND, *figures], "two columns"))
    content += [_list_tests(measurement, own, removed=removed) for removed, own in tests.items() if own]
    yield Section("Gender compared with unrelated contrasts", [*content, Text([note], "note")])


def _list_tests(measurement: Measurement, tests: Sequence[WordTest], *, removed: bool) -> Table:
    columns = [
        Column("Test", numeric=False),
        Column("n"),
        Column("Gender"),
        Column("95 % interval", narrow=False),
        Column("Random labels", narrow=False),
        Column("Unrelated contrasts"),
        Column("p"),
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
            Cell(p(reference.p_value) if reference else "–"),
        ]
        rows.append([*row, Cell(p(adjusted.p_adjusted) if adjusted else "–")] if removed else row)
    if removed:
        columns.append(Column("p (Holm)"))
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


def select_mapped(items: pd.DataFrame | None, measurement: Measurement) -> pd.DataFrame | None:
    """The words of a measurement that have a place on the map; None if there are none."""
    if items is None or not {"word", "bias", "side", "x", "y"} <= set(items):
        return None
    for column, value in (("language", measurement.language), ("corpus", measurement.corpus), ("words", OWN)):
        if column in items:
            items = items[items[column] == value]
    items = items[items["side"].isin(("female", "male")) & items["x"].notna() & items["y"].notna()]
    return None if items.empty else items


def _report_map(measurement: Measurement, geometry: Geometry, items: pd.DataFrame | None) -> Section:
    title, tables = "Map of the most biased words", list(_list_most_biased(geometry, measurement.language))
    if items is None:
        return Section(title, [Text(["This result was stored without the positions of the words."], "note"), *tables])
    astray = count(int(find_astray(items).sum()))
    legend = Legend(
        [
            ("male", "male side"),
            ("female", "female side"),
            ("", "fainter: less biased"),
            ("ring", f"in the cluster of the other side ({astray} of {count(len(items))})"),
            ("", "point at a mark to see its word"),
        ]
    )
    figure = Figure(
        "",
        partial(draw_word_map, items),
        f"Map of the {count(len(items))} most biased words: similar words lie together, coloured by their side. The"
        " table has the most biased.",
        _TSNE,
        measurement.language,
    )
    return Section(title, [legend, figure, *tables], "two columns")


def _list_most_biased(geometry: Geometry, language: str) -> Iterator[Table]:
    def cells(word: BiasedWord | None) -> list[Cell]:
        return [Cell(word.word, language=language), Cell(signed(word.bias, 3))] if word else [Cell(""), Cell("")]

    columns = [
        Column("Rank"),
        Column("Word", numeric=False, group="Male", swatch="male"),
        Column("Bias", group="Male"),
        Column("Word", numeric=False, group="Female", swatch="female"),
        Column("Bias", group="Female"),
    ]
    pairs = list(zip_longest(geometry.most_male, geometry.most_female))
    rows = [[Cell(str(rank)), *cells(male), *cells(female)] for rank, (male, female) in enumerate(pairs, 1)]
    if rows:
        yield Table("Most biased words", columns, rows, terminal=True, terminal_rows=MOST_WORDS)


def _report_professions(measurement: Measurement, geometry: Geometry) -> Section:
    """The bias of professions and the share of male words around them."""
    title, professions = "Professions and the words around them", geometry.professions
    if not professions:
        return Section(title, [Text(["Too few professions, or words around them, have vectors."], "note")])
    sound = measurement.protocol == "sound"
    figures = []
    for removed, space in SPACES.items():
        test = geometry.test("neighbours", removed=removed)
        if any((near.male_removed if removed else near.male) is not None for near in professions):
            figures.append(
                Figure(
                    f"{space}: r = {number(test.value) if test else '–'}" if sound else space,
                    partial(draw_professions, professions, removed=removed),
                    "Scatter plot: the bias of each profession and the share of male words among the nearest words."
                    f" {space}. The table has the numbers.",
                    language=measurement.language,
                )
            )
    note = _PROFESSIONS.format(" (above the median of all words)" if sound else "")
    table = _list_professions(professions, measurement.language, sound=sound)
    return Section(title, [Text([note], "note"), PROFESSION_LEGEND, *figures, table], "two columns")


def _list_professions(professions: Sequence[Neighbourhood], language: str, *, sound: bool) -> Table:
    titles = ["Bias", "Male words nearby", *(["… gender direction removed"] if sound else [])]
    columns = [Column("Profession", numeric=False), *map(Column, [*titles, "People’s view, −1 female to 1 male"])]
    rows = [
        [
            Cell(near.profession, language=language),
            Cell(signed(near.bias, 3)),
            Cell(percent(near.male, 0)),
            *([Cell(percent(near.male_removed, 0))] if sound else []),
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
    figure = Figure(
        "",
        partial(draw_cluster_counts, counts),
        "Lines: the share of words that are sorted correctly by the number of clusters, and what chance gives. The"
        " table has the numbers.",
    )
    table = Table("Words sorted correctly", columns, rows)
    yield Section("More than two clusters", [Text([_SCAN], "note"), SCAN_LEGEND, figure, table], "two columns")


def _report_associations(tests: dict[str, Estimate]) -> Iterator[Section]:
    if not tests:
        return
    columns = [Column("Test", numeric=False), Column("Words"), Column("d, 95 % interval")]
    rows = [
        [
            Cell(name, note=test.question),
            Cell(count(test.n)),
            Cell(number(test.effect_size), interval(test.effect_size_interval)),
            Cell(p(test.p_value)),
            Cell(p(test.p_adjusted)),
        ]
        for name, test in tests.items()
    ]
    figure = Figure(
        "",
        partial(draw_effect_sizes, list(tests.items())),
        "Points with intervals: the effect size of each association test. The table has the numbers.",
    )
    table = Table("Association tests", [*columns, Column("p", narrow=False), Column("p (Holm)")], rows, terminal=True)
    yield Section("Association tests", [Text([_EFFECTS], "note"), figure, table], "two columns")


def _report_words(geometry: Geometry) -> Section:
    """What the vectors are, and which words have none."""
    lines = []
    if geometry.dimensions:
        lines.append(f"Vectors: {geometry.vectors}; {count(geometry.dimensions)} dimensions.")
        cosine = f"The cosine of its two ends is {number(geometry.likeness, 3)}"
        similar = "; the unrelated contrasts are about as similar" if any(t.reference for t in geometry.tests) else ""
        lines.append(f"Gender direction: {geometry.direction}. {cosine}{similar}.")
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
_TSNE = "t-SNE: the map shows which words lie together. Distances between clusters and their sizes have no meaning."
_PROFESSIONS = (
    "Each point is a profession: its bias, and how many of the 100 nearest words are male{}. Where the points rise"
    " from left to right, professions lie among words with the same bias."
)
_SCAN = (
    "More clusters may find what two clusters miss. Each cluster counts as the side of most of its words, so more"
    " clusters also sort more words correctly by chance."
)
_EFFECTS = (
    "Above 0: follows stereotypes. Lines are 95 % intervals, not corrected for the number of tests; a point is filled"
    " where the corrected p-value is below 0.05."
)
_BIAS = (
    "Every word has a vector of length 1: from a file of word vectors or, for an encoder, the mean over sentences that"
    " say almost nothing but the word. The gender direction points from female to male words. The bias of a word is"
    " its position along this direction; above 0 is the male side."
)
_WORD_TESTS = (
    "Removing a direction may only hide a bias: words with the same bias can still lie together. Four tests look for"
    " this among the most biased words of each side. Clusters: do two clusters (k-means) separate them? Linear probe:"
    " does a straight cut separate words it has not seen? Classifier: does a support-vector machine trained on a fifth"
    " of a larger set? Neighbours: is the bias of professions related to the share of male words (above the median of"
    " all words) among the 100 nearest? Each test uses the original vectors and the vectors with the gender direction"
    " removed."
)
_REFERENCE = (
    "Words chosen for lying far along a direction lie apart for any direction. The tests are therefore repeated with"
    " contrasts between other words: a word and its nearest neighbours against another word and its neighbours, or"
    " pairs of words that are close to each other. The contrasts used are those most like gender in how similar their"
    " two groups are and how widely all words spread along them. The p-value of a test is the share of contrasts,"
    " including gender, that reach the value of gender; comparison with chance alone would be too easy. It cannot be"
    " below one divided by the number of contrasts, so with few contrasts no test can be clear. Intervals of shares"
    " are Wilson’s, those of correlations Fisher’s. These four p-values are adjusted among themselves by Holm’s"
    " method, all others for the number of tests in the audit. Clusters have no interval, because all words form them"
    " together."
)
_ASSOCIATIONS = (
    "The stereotype is the correlation, over professions without a gender in their meaning, of their bias with"
    " people’s ratings (Bolukbasi et al. 2016). WEAT and SEAT test whether two sets of words are associated with two"
    " others: d is the difference between the mean associations of the two sets divided by the standard deviation of"
    " all, from −2 to 2; p is the share of divisions of the words that reach it, over all divisions where they are few"
    " enough."
)
_PUBLISHED = (
    "The published protocol repeats the papers’ code. For encoders: clusters are compared with labels by their number,"
    " so 94 % can mean 6 %; each profession is recorded with the bias of its 100th neighbour instead of its own (the"
    " plot above shows its own bias); and rows are shuffled so that about half of them remain, some several times, and"
    " some in both training and test data. For word vectors, only the first applies. There are no unrelated contrasts."
    " Use it to reproduce the papers, not to judge a model."
)
_CITATION = (
    "H. Gonen and Y. Goldberg (2019), Lipstick on a Pig: Debiasing Methods Cover up Systematic Gender Biases in Word"
    " Embeddings But do not Remove Them; Bhang, Kang and Nam, Lipstick on a Pig “Again”. WEAT: A. Caliskan, J. J."
    " Bryson and A. Narayanan (2017). SEAT: C. May et al. (2019)."
)
_STEREOTYPE = (
    "Over {} professions: the correlation between their position between women and men in the model and the gender"
    " that people associate with them. 0: no relation; 1: complete agreement."
)
_CLUSTERS = (
    "How many of the {} most biased words two clusters sort by gender after the gender direction is removed; 50 % is a"
    " coin toss. High values are normal for any direction: what counts is the distance from unrelated contrasts."
)
_NEIGHBOURS = (
    "Over {} professions: the correlation of their bias with the bias of the words around them after the gender"
    " direction is removed. Compare with unrelated contrasts here as well."
)
_CHOSEN = "The words are chosen by the direction that is then tested, so any direction gives high values."
_CONTRASTS = (
    "{} contrasts between other groups of words, about as similar to each other as male and female words, show how"
    " high{}. Gender is special only where it lies to the right of nearly all of them."
)
_NOT_COMPARED = "This result has no unrelated contrasts to compare with, so these values say little."
_TEST_NOTE = (
    "Clusters, probe and classifier: the share of words on the correct side. Neighbours: over professions, the"
    " correlation of their bias with the share of male words around them. Unrelated contrasts: their mean, and the"
    " range of 95 % of them."
)
_P_VALUE = (
    "p: the share of contrasts, including gender, that reach the value of gender; with {} unrelated contrasts it"
    " cannot be below {}."
)
