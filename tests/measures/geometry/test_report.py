"""The report of geometry: the numbers of the result, and a map that shows its words."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pages import (
    EVIL,
    assert_a_browser_shows,
    assert_accessible,
    assert_loads_nothing,
    assert_plots_are_described,
    needs_chromium,
)
from report_blocks import find_table, key_figures, lines, of_type, render_page, sections, table_rows, terminal_text
from unmask.measures.base import ComparedModel, Context
from unmask.measures.geometry import Geometry, Neighbourhood, WordTest
from unmask.measures.geometry.analysis import TITLES, analyse_space, estimate_main, interpret
from unmask.measures.geometry.compare import compare
from unmask.measures.geometry.contrasts import compare_value
from unmask.measures.geometry.plots import (
    MAP_SIZE,
    PROFESSIONS_SIZE,
    draw_cluster_counts,
    draw_effect_sizes,
    draw_professions,
    draw_word_map,
    find_astray,
)
from unmask.measures.geometry.report import SPACES, blocks, method
from unmask.measures.geometry.scoring import measure_space
from unmask.measures.geometry.space import Space, make_space
from unmask.measures.geometry.word_tests import AssociationTests
from unmask.report.blocks import Block, Figure, Legend, Table, Text
from unmask.report.drawing import FEMALE, MALE
from unmask.results import Caveat, Estimate, Measurement
from unmask.results.formatting import interval, number, signed
from unmask.results.formatting import p as format_p

WORDS, SIZE, PROFESSIONS = 260, 12, 30
NO_BREAK = "\N{NO-BREAK SPACE}"


def _space(*names: str) -> Space:
    """Random words; some have these names, the most male first."""
    matrix = np.random.default_rng(3).normal(size=(WORDS, SIZE))
    matrix = matrix[np.argsort(-matrix[:, 0] / np.linalg.norm(matrix, axis=1))]
    words = [*names, *(f"word{index}" for index in range(WORDS - len(names)))]
    male, female = np.zeros((2, SIZE)) + 0.5
    male[0], female[0] = 1.0, -1.0
    left_out = {"mean a gender": 3, "have digits": 4}
    options: dict[str, Any] = {"vectors": "made up", "direction": "he − she", "left_out": left_out, "is_static": True}
    return make_space(words, matrix, male, female, missing=["absentee", "truant"], **options)


def _association(name: str, d: float, p: float) -> Estimate:
    return Estimate(
        labels={"contrast": "association", "test": name},
        question="Do male names go with career?",
        n=16,
        value=d,
        interval=(d - 0.5, d + 0.25),
        statistic=0.3,
        statistic_name="sum of associations",
        p_value=p,
        effect_size=d,
        effect_size_name="d",
        effect_size_interval=(d - 0.5, d + 0.25),
    )


def _measure(protocol: str = "sound", names: Sequence[str] = ()) -> tuple[Measurement, pd.DataFrame]:
    """The measurement of these words without correction of p-values, and its items."""
    space = _space(*names)
    stereotypes = {
        word: (-1.0) ** index * index / 40 for index, word in enumerate(space.words[:: WORDS // PROFESSIONS])
    }
    tests = {"WEAT 6": _association("WEAT 6", 1.25, 0.001), "WEAT 7": _association("WEAT 7", -0.5, 0.4)}
    context = Context("en", "vectors", protocol, seed=1)
    items, measurement = measure_space(space, stereotypes, context, contrasts=5, associations=AssociationTests(tests))
    return _adjust_and_interpret(measurement), items


def _adjust_and_interpret(measurement: Measurement) -> Measurement:
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in measurement.tests.items()}
    return interpret(measurement.model_copy(update={"tests": tests, "data_hash": "d47a"}))


@pytest.fixture(scope="module")
def measurement_and_items() -> tuple[Measurement, pd.DataFrame]:
    return _measure()


@pytest.fixture(scope="module")
def report(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> list[Block]:
    return blocks(*measurement_and_items)


@pytest.fixture(scope="module")
def published() -> tuple[Measurement, pd.DataFrame]:
    return _measure("published")


def _update(measurement: Measurement, **changes: Any) -> Measurement:
    """Change fields of the geometry of a measurement."""
    details = measurement.read_details(Geometry).model_copy(update=changes)
    return measurement.model_copy(update={"details": details.model_dump()})


def _plain(text: str) -> str:
    return text.replace(NO_BREAK, " ")


def _circles(drawn: str) -> list[tuple[float, float, str]]:
    circles = re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)" r="[\d.]+"[^>]*><title>(.*?)</title></circle>', drawn)
    return [(float(x), float(y), unescape(name)) for x, y, name in circles]


# The blocks


def test_every_section_is_there(report: list[Block]) -> None:
    assert sections(report) == [
        "Gender compared with unrelated contrasts",
        "Professions and the words around them",
        "Association tests",
        "Map of the most biased words",
        "More than two clusters",
        "Words and vectors",
    ]
    text = " ".join(lines(report))
    for fact in (
        "Vectors: made up; 12 dimensions.",
        "Gender direction: he − she.",
        "260 words were measured",
        "7 words were left out (mean a gender: 3; have digits: 4).",
        "Without a vector (2): absentee, truant.",
        "Reached by: how many of 5 contrasts are at least as high.",
    ):
        assert fact in text, fact
    figures = of_type(report, Figure)
    assert len(figures) == 9
    assert all(figure.draw().startswith("<svg") and figure.description for figure in figures)


def test_key_figures_are_the_numbers_of_the_result(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    figures, stereotype = key_figures(report), measurement_and_items[0].tests["stereotype"]
    figure = figures["Stereotype of professions"]
    assert figure.value == f"r = {number(stereotype.value)}"
    assert _plain(figure.certainty).startswith(f"95 % interval {interval(stereotype.interval)}, p ")
    strongest = figures["Strongest association"]
    assert (strongest.value, _plain(strongest.certainty)) == ("d = 1.25", "95 % interval [0.75, 1.50], p = 0.001")
    assert strongest.verdict == "clear, follows stereotypes"
    assert strongest.explanation.startswith("WEAT 6, the strongest of 2. Do male names go with career?")
    classifier = measurement_and_items[0].read_details(Geometry).test("classification", removed=True)
    assert classifier
    assert classifier.value is not None
    assert _plain(figures["Classifier, direction removed"].value) == f"{100 * classifier.value:.1f} %"
    assert list(figures)[:2] == ["Stereotype of professions", "Classifier, direction removed"]


def test_word_tests_are_beside_unrelated_contrasts(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    measurement = measurement_and_items[0]
    geometry = measurement.read_details(Geometry)
    tables = {
        removed: table_rows(find_table(report, f"Word tests, {SPACES[removed].lower()}")) for removed in (False, True)
    }
    assert sum(len(rows) for rows in tables.values()) == len(geometry.tests) == 8
    for test in geometry.tests:
        assert test.value is not None
        assert test.reference
        bounds = (test.reference.low, test.reference.high)
        if test.name == "neighbours":
            value, mean = number(test.value), number(test.reference.mean)
            interval_text, reference_text = (
                " to ".join(map(number, ends)) if ends else "–" for ends in (test.interval, bounds)
            )
        else:
            value, mean = (f"{100 * share:.1f} %" for share in (test.value, test.reference.mean))
            interval_text, reference_text = (
                f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f} %" if ends else "–" for ends in (test.interval, bounds)
            )
        assert (test.interval is None) == (test.name == "clustering"), "all words form the clusters together"
        row = tables[test.removed][TITLES[test.name]]
        assert row[:3] == [str(test.n), value, interval_text]
        assert row[4:6] == [f"{mean} {reference_text}", f"{test.reference.reached} of 5"]
        tested = measurement.tests.get(test.name)
        assert row[6:] == ([format_p(tested.p_adjusted) if tested else "–"] if test.removed else [])
        assert (tested is not None) == (test.name == "classification")


def test_tables_have_the_numbers_of_the_result(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    measurement, items = measurement_and_items
    geometry = measurement.read_details(Geometry)
    counts = table_rows(find_table(report, "Words sorted correctly"))
    for scanned in geometry.scan:
        start = 4 if scanned.removed else 0
        shares = [f"{100 * share:.1f} %" for share in (scanned.accuracy, scanned.chance_high)]
        expected = [*shares, number(scanned.v_measure), format_p(scanned.p_chance)]
        assert counts[str(scanned.clusters)][start : start + 4] == expected
    professions = find_table(report, f"All {len(geometry.professions)} professions")
    assert professions.folded
    for near, row in zip(geometry.professions, professions.rows, strict=True):
        texts = [row[0].text, row[1].text, _plain(row[2].text)]
        assert texts == [near.profession, signed(near.bias, 3), f"{100 * near.male:.0f} %"]
    words = find_table(report, "Most biased words")
    assert [cell.text for cell in words.rows[0]] == [
        "1",
        geometry.most_male[0].word,
        signed(geometry.most_male[0].bias, 3),
        geometry.most_female[0].word,
        signed(geometry.most_female[0].bias, 3),
    ]
    assert len(words.rows) == len(geometry.most_male)
    assert table_rows(find_table(report, "Association tests")) == {
        name: ["16", estimate, "sum of associations = 0.30", p, p, effect]
        for name, estimate, p, effect in (
            ("WEAT 6", "+1.250 [0.750, 1.500]", "0.001", "1.25 [0.75, 1.50] d"),
            ("WEAT 7", "−0.500 [−1.000, −0.250]", "0.400", "−0.50 [−1.00, −0.25] d"),
        )
    }
    drawn = items[np.isfinite(items["x"])]
    astray = (drawn["side"] != drawn["cluster"]).sum()
    entries = [text for legend in of_type(report, Legend) for _, text in legend.entries]
    assert f"in the cluster of the other side ({astray} of {len(drawn)})" in entries


def test_the_terminal_gets_tests_associations_and_words(report: list[Block]) -> None:
    tables = {table.title: table for table in of_type(report, Table) if table.terminal}
    assert list(tables) == [
        "Word tests, original",
        "Word tests, gender direction removed",
        "Association tests",
        "Most biased words",
    ]
    assert [column.title for column in tables["Word tests, original"].columns if column.narrow] == [
        "Test",
        "n",
        "Gender",
        "Unrelated contrasts",
        "Reached by",
    ]
    assert tables["Most biased words"].terminal_rows == 6
    texts = [line for text in of_type(report, Text) if text.terminal for line in text.lines]
    assert "Vectors: made up; 12 dimensions." in texts
    assert not [line for line in texts if "absentee" in line]


@pytest.mark.parametrize(
    ("values", "comparable", "verdict", "words"),
    [
        ([0.69, 0.70, 0.71], True, "more than unrelated contrasts", "more is left of gender than is usual"),
        ([0.99, 1.0, 0.99], True, "less than unrelated contrasts", "less is left of gender than is usual"),
        ([0.80, 0.90, 0.99], True, "not clearly unusual", "gender is not clearly unusual"),
        ([], True, "not compared", "There are no unrelated contrasts to compare with"),
        ([], False, "cannot be judged: no contrasts like gender", "this cannot be judged"),
    ],
)
def test_a_value_is_judged_by_unrelated_contrasts(
    measurement_and_items: tuple[Measurement, pd.DataFrame],
    values: list[float],
    comparable: bool,
    verdict: str,
    words: str,
) -> None:
    """Headline, key figure and p-value agree."""
    reference = compare_value(values, 0.9)
    test = WordTest(name="classification", words="own", removed=True, n=40, value=0.9, reference=reference)
    matching = measurement_and_items[0].read_details(Geometry).matching
    assert matching is not None
    matching = matching.model_copy(update={"comparable": comparable})
    measurement = _update(measurement_and_items[0], tests=[test], matching=matching)
    measurement = measurement.model_copy(update={"tests": estimate_main([test])})
    measurement = _adjust_and_interpret(measurement)
    (figure,) = key_figures(blocks(measurement, None)).values()
    assert figure.verdict == verdict
    assert "40 most biased words" in figure.explanation
    assert words in measurement.headline_text
    tested = measurement.tests.get("classification")
    assert (tested is not None) == bool(values)
    is_significant = tested is not None and tested.p_adjusted is not None and tested.p_adjusted < 0.05
    assert is_significant == ("is left of gender than" in words)
    if tested is not None:
        assert tested.interval is not None
        assert is_significant == (not tested.interval[0] <= 0 <= tested.interval[1])


def test_without_contrasts_it_says_so_and_draws_none(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    tests = measurement_and_items[0].read_details(Geometry).tests
    uncompared = [test.model_copy(update={"reference": None}) for test in tests]
    report = blocks(_update(measurement_and_items[0], tests=uncompared), None)
    assert any("no unrelated contrasts to compare with" in line for line in lines(report))
    assert not [figure for figure in of_type(report, Figure) if "Strip plot" in figure.description]
    assert table_rows(find_table(report, "Word tests, original"))["Linear probe"][4:] == ["–", "–"]


def test_recorded_items_may_lack_the_map(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    items = measurement_and_items[1].drop(columns=["x", "y"])
    measurement = _adjust_and_interpret(analyse_space(items, "sound"))
    report = blocks(measurement, items)
    assert "This result was stored without the positions of the words." in lines(report)
    assert find_table(report, "Most biased words").rows[0][1].text == "word0"
    assert "Strongest association" not in key_figures(report)
    assert "Association tests" not in sections(report)
    nothing = interpret(_update(measurement, tests=[]).model_copy(update={"tests": {}}))
    assert nothing.headline_text == "No finding: there are too few words with vectors."
    assert key_figures(blocks(nothing, None)) == {}


def test_published_has_three_numbers_and_no_more(published: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = published
    report = blocks(measurement, items)
    geometry = measurement.read_details(Geometry)
    figures = key_figures(report)
    assert list(figures) == ["K-means accuracy", "Correlation of professions", "Classification accuracy"]
    for name, title in (("clustering", "K-means accuracy"), ("classification", "Classification accuracy")):
        test, figure = geometry.test(name), figures[title]
        assert test
        assert test.accuracy is not None
        assert _plain(figure.value) == f"{100 * test.accuracy:.1f} %"
        assert (figure.certainty, figure.verdict) == (f"{test.n} words, no interval", "not compared")
    assert "Gender compared with unrelated contrasts" not in sections(report)
    assert len(of_type(report, Figure)) == 2
    explained = " ".join(lines(method([measurement])))
    assert "clusters are compared with labels by their number" in explained
    assert "Holm" not in explained
    assert "Holm" in " ".join(lines(method([measurement.model_copy(update={"protocol": "sound"})])))


def test_clusters_by_number_are_shown_by_what_they_sort(published: tuple[Measurement, pd.DataFrame]) -> None:
    """.1 % by number means 99.9 %: in the figure, the headline, the map and a comparison."""
    measurement, items = published
    is_clustered = items["side"] != ""
    reverse = items["side"].map({"male": "female", "female": "male"})
    items = items.assign(cluster=reverse.where(items.index != items.index[is_clustered][0], items["side"]).fillna(""))
    measurement = interpret(analyse_space(items, "published"))
    test = measurement.read_details(Geometry).test("clustering")
    assert test is not None
    assert test.value is not None
    assert test.accuracy is not None
    assert test.value == 1 / is_clustered.sum()
    assert test.accuracy == 1 - test.value
    shown = f"{100 * test.accuracy:.1f} %"
    assert _plain(key_figures(blocks(measurement, items))["K-means accuracy"].value) == shown
    assert f"K-means accuracy {shown}" in _plain(measurement.headline_text)
    assert find_astray(items[is_clustered]).sum() == 1
    model = ComparedModel("model", measurement, items)
    change = compare(model, model, seed=0)[0].changes["clustering, own words"]
    assert change.values == (test.accuracy, test.accuracy)


# The map


def _mapping(rows: Sequence[tuple[str, float, str, str, float, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["word", "bias", "side", "cluster", "x", "y"])


def test_a_map_has_every_word_in_its_place_and_colour() -> None:
    nowhere = ("lost", 0.0, "", "", np.nan, np.nan)
    rows = [("nurse", -0.5, "female", "female", 0, 10), ("boss", 0.5, "male", "female", 20, 0), nowhere]
    drawn = draw_word_map(_mapping(rows))
    assert sorted(_circles(drawn)) == [(0, 0, "nurse −0.500"), (*MAP_SIZE, "boss +0.500")]
    (female,) = re.findall(rf'<circle [^>]*fill="{FEMALE}"[^>]*>', drawn)
    (male,) = re.findall(rf'<circle [^>]*fill="{MALE}"[^>]*>', drawn)
    assert "stroke=" not in female
    assert 'stroke="currentColor"' in male  # in the other cluster
    assert len(re.findall("<text", drawn)) == 2


def test_the_most_biased_third_is_the_strongest() -> None:
    rows = [(f"w{index}", 0.1 + index / 100, "male", "male", index, index) for index in range(6)]
    marks = re.findall(r'fill-opacity="([\d.]+)"[^>]*><title>(w\d)', draw_word_map(_mapping(rows)))
    strengths = {word: float(opacity) for opacity, word in marks}
    assert strengths == {"w0": 0.35, "w1": 0.35, "w2": 0.65, "w3": 0.65, "w4": 1.0, "w5": 1.0}


def test_a_map_of_one_word_or_none() -> None:
    word_map = _mapping([("nurse", -0.5, "female", "female", 3, 3)])
    assert _circles(draw_word_map(word_map)) == [(MAP_SIZE[0] / 2, MAP_SIZE[1] / 2, "nurse −0.500")]
    assert _circles(draw_word_map(word_map.drop(columns="cluster")))
    assert draw_word_map(word_map[:0]) == ""


def test_a_map_of_a_thousand_words_stays_small() -> None:
    rng = np.random.default_rng(0)
    sides = [("female", -1.0), ("male", 1.0)] * 500
    rows = [
        (f"counterrevolutionary{index}", sign, side, side, *rng.normal(size=2))
        for index, (side, sign) in enumerate(sides)
    ]
    drawn = draw_word_map(_mapping(rows))
    assert len(_circles(drawn)) == 1000
    assert len(drawn) < 150_000


def test_only_words_of_the_measurement_are_on_its_map(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = measurement_and_items
    other_items = [items.assign(corpus="nouns"), items.assign(words="the model before")]
    description = f"Map of the {items['x'].notna().sum()} most biased words"
    for stored, is_drawn in (
        (pd.concat([*other_items, items]), True),
        (other_items[0], False),
        (other_items[1], False),
        (None, False),
    ):
        figures = of_type(blocks(measurement, stored), Figure)
        assert any(figure.description.startswith(description) for figure in figures) == is_drawn


# Plots


def _profession(name: str, bias: float, male: float, removed: float | None = None) -> Neighbourhood:
    return Neighbourhood(profession=name, bias=bias, male=male, male_removed=removed, stereotype=bias)


def test_professions_stand_by_bias_and_neighbours() -> None:
    professions = [_profession("nurse", -1, 0.2, 0.4), _profession("boss", 1, 0.8), _profession("clerk", 0, 0.5, 0.5)]
    positions = {name.split(":")[0]: (x, y) for x, y, name in _circles(draw_professions(professions))}
    assert positions["clerk"] == (PROFESSIONS_SIZE[0] / 2, PROFESSIONS_SIZE[1] / 2)
    assert positions["nurse"][0] < positions["clerk"][0] < positions["boss"][0]
    assert positions["nurse"][1] > positions["clerk"][1] > positions["boss"][1]
    removed = _circles(draw_professions(professions, removed=True))
    assert sorted(name for _, _, name in removed) == [
        f"clerk: bias 0, 50{NO_BREAK}% male",
        f"nurse: bias −1.000, 40{NO_BREAK}% male",
    ]
    assert _circles(draw_professions(professions[2:], compared=professions)) == [
        (PROFESSIONS_SIZE[0] / 2, PROFESSIONS_SIZE[1] / 2, f"clerk: bias 0, 50{NO_BREAK}% male")
    ]
    assert draw_professions([]) == draw_professions(professions[1:2], removed=True) == ""


def test_nothing_to_draw_is_no_plot() -> None:
    assert draw_cluster_counts([]) == draw_effect_sizes([]) == ""


# The page


def test_hostile_words_are_escaped_everywhere() -> None:
    measurement, items = _measure(names=[EVIL])
    tests = measurement.tests | {EVIL: _association(EVIL, 0.5, 0.01).model_copy(update={"question": EVIL})}
    hostile = _update(measurement, missing=[EVIL], left_out={EVIL: 1}, vectors=EVIL, direction=EVIL).model_copy(
        update={"tests": tests, "headline": [EVIL], "corpus": EVIL, "caveats": [Caveat(code="x", text=EVIL)]}
    )
    page = render_page(hostile, items.assign(corpus=EVIL))
    assert_loads_nothing(page)
    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 10
    assert measurement.read_details(Geometry).professions[0].profession == EVIL
    assert any(name.startswith("<script>") for _, _, name in _circles(page))
    assert EVIL.replace(" ", "") in re.sub(r"\s|│", "", terminal_text(hostile))


def test_the_terminal_has_the_tests_and_fits(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    text = terminal_text(measurement_and_items[0])
    assert max(map(len, text.splitlines())) <= 80
    terminal_lines = [" ".join(_plain(line).split()) for line in text.splitlines()]
    for removed in (False, True):
        test = measurement_and_items[0].read_details(Geometry).test("probe", removed=removed)
        assert test
        assert test.reference
        start = f"Linear probe {test.n} {100 * (test.value or 0):.1f} % {100 * test.reference.mean:.1f} % "
        assert any(line.startswith(start) and f" {test.reference.reached} of 5" in line for line in terminal_lines)
    assert any(line.startswith("WEAT 7 16 −0.500 [−1.000, −0.250] 0.400") for line in terminal_lines)
    assert any(line.startswith("1 word0 +") for line in terminal_lines)


UNDER_A_POINTER = """() => {
    const marks = [...document.querySelectorAll('[aria-label^="Map of"] circle')];
    marks[0].scrollIntoView({block: 'center'});
    return marks.map(mark => {
        const box = mark.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return hit && hit.dataset.tip ? hit.dataset.tip : String(hit && hit.tagName);
    });
}"""


@needs_chromium
def test_a_browser_shows_it_and_a_pointer_the_word(
    measurement_and_items: tuple[Measurement, pd.DataFrame], tmp_path: Path
) -> None:
    from playwright.sync_api import sync_playwright

    file, page = tmp_path / "report.html", render_page(*measurement_and_items)
    assert_plots_are_described(page, 9)
    assert_a_browser_shows(page, file)
    assert_accessible(file)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1200, "height": 1000})
        tab.goto(file.as_uri())
        tips = tab.evaluate(UNDER_A_POINTER)
        browser.close()
    assert tips
    assert all(re.fullmatch(r"word\d+ [+−][\d.]+", tip) for tip in tips)
