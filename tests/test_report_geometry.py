"""The report of geometry: the result's own numbers, a map that shows its words, nothing injected by one."""

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

import test_report_crows_pairs
from pages import (
    EVIL,
    assert_a_browser_shows,
    assert_loads_nothing,
    assert_plots_are_described,
    needs_chromium,
    seen,
)
from test_report_html import _audit
from unmask.measures.geometry import PROTOCOLS, interpret
from unmask.measures.geometry.associations import Associations
from unmask.measures.geometry.details import Geometry, Neighbourhood, Reference, WordTest
from unmask.measures.geometry.protocol import Run
from unmask.measures.geometry.space import Space, make
from unmask.report import geometry_marks, geometry_plots, geometry_professions, geometry_strips, terminal
from unmask.report.drawing import FEMALE, MALE
from unmask.report.geometry_map import MAP_HEIGHT, MAP_WIDTH, mapped, word_map
from unmask.report.geometry_marks import Mark
from unmask.report.geometry_professions import HEIGHT, WIDTH, professions_plot
from unmask.report.html import render
from unmask.report.pages import p as p_shown
from unmask.results import Caveat, Estimate, Measurement
from unmask.results.numbers import interval, number

WORDS, SIZE, PROFESSIONS = 260, 12, 30
NO_BREAK = "\N{NO-BREAK SPACE}"


def _space(*names: str) -> Space:
    """Words at random; some are called by these names, the most male first."""
    matrix = np.random.default_rng(3).normal(size=(WORDS, SIZE))
    matrix = matrix[np.argsort(-matrix[:, 0] / np.linalg.norm(matrix, axis=1))]
    words = [*names, *(f"word{at}" for at in range(WORDS - len(names)))]
    male, female = np.zeros((2, SIZE)) + 0.5
    male[0], female[0] = 1.0, -1.0
    left_out = {"mean a gender": 3, "have digits": 4}
    given: dict[str, Any] = {"vectors": "made up", "direction": "he − she", "left_out": left_out}
    return make(words, matrix, male, female, missing=["absentee", "truant"], **given)


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


def _measured(protocol: str = "sound", names: Sequence[str] = ()) -> tuple[Measurement, pd.DataFrame]:
    """What an audit makes of these words, but for the correction of p-values."""
    space = _space(*names)
    stereotypes = {word: (-1.0) ** at * at / 40 for at, word in enumerate(space.words[:: WORDS // PROFESSIONS])}
    tests = {"WEAT 6": _association("WEAT 6", 1.25, 0.001), "WEAT 7": _association("WEAT 7", -0.5, 0.4)}
    run = Run("en", "vectors", 1, contrasts=5, associations=Associations(tests, 2, [], []), static=True)
    items, found = PROTOCOLS[protocol].measure(space, stereotypes, run)
    return _interpreted(found), items


def _interpreted(found: Measurement) -> Measurement:
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in found.tests.items()}
    return interpret(found.model_copy(update={"tests": tests, "data_hash": "d47a"}))


@pytest.fixture(scope="module")
def measured() -> tuple[Measurement, pd.DataFrame]:
    return _measured()


@pytest.fixture(scope="module")
def page(measured: tuple[Measurement, pd.DataFrame]) -> str:
    return _page(*measured)


@pytest.fixture(scope="module")
def published() -> tuple[Measurement, pd.DataFrame]:
    return _measured("published")


def _page(measurement: Measurement, items: pd.DataFrame | None = None) -> str:
    return render(_audit(measurement), {} if items is None else {"geometry": items})


def _with(measurement: Measurement, **changes: Any) -> Measurement:
    """The measurement with another geometry."""
    details = measurement.read_details(Geometry).model_copy(update=changes)
    return measurement.model_copy(update={"details": details.model_dump()})


def _bare(measurement: Measurement) -> Measurement:
    """Without what takes time to draw."""
    return _with(measurement, scan=[], professions=[], most_male=[], most_female=[])


def _cards(page: str) -> str:
    found = re.search(r'<ul class="cards.*?</ul>', page, re.S)
    assert found
    return seen(found.group())


def _circles(drawn: str) -> list[tuple[float, float, str]]:
    found = re.findall(r'<circle cx="([-\d.]+)" cy="([-\d.]+)" r="[\d.]+"><title>(.*?)</title></circle>', drawn)
    return [(float(x), float(y), unescape(name)) for x, y, name in found]


# The page


def test_every_section_is_there(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    text = seen(page)
    for heading in (
        "Geometry: the words of the file, English",
        "Gender beside other contrasts",
        "A map of the most biased words",
        "Professions and the words around them",
        "More than two clusters",
        "Association tests",
        "Before you rely on this",
        "Words and vectors",
        "All tests",
        "Method",
        "Provenance",
    ):
        assert heading in text, heading
    for fact in (
        "Vectors: made up; 12 dimensions.",
        "7 words were not asked about (mean a gender: 3; have digits: 4).",
        "Without a vector (2): absentee, truant .",
        "with 5 contrasts it cannot be below 0.167",
        "d47a",
    ):
        assert fact in text, fact
    assert all(caveat.text in text for caveat in measured[0].caveats)
    assert_loads_nothing(page)
    assert_plots_are_described(page, 7)


def test_numbers_are_those_of_the_result(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    measurement, items = measured
    assert measurement.read_details(Geometry)
    cards, text = _cards(page), seen(page)
    stereotype = measurement.tests["stereotype"]
    assert f"r = {number(stereotype.value)} 95 % interval {interval(stereotype.interval)}" in cards
    assert "d = 1.25 95 % interval [0.75, 1.50], p = 0.001 clear, as stereotypes have it WEAT 6, the strongest" in cards
    for one in measurement.read_details(Geometry).tests:
        assert one.value is not None
        assert one.reference
        name = geometry_strips.NAMES[one.name]
        if one.name == "clustering":
            assert one.interval is None, "all words make the clusters together"
            assert f"{name[0].upper()}{name[1:]} {one.n} {100 * one.value:.1f} %" in text
            continue
        assert one.interval
        if one.name == "neighbours":
            value, mean = (number(each) for each in (one.value, one.reference.mean))
            bounds, others = (
                f"{number(low)} to {number(high)}"
                for low, high in (one.interval, (one.reference.low, one.reference.high))
            )
        else:
            value, mean = (f"{100 * each:.1f} %" for each in (one.value, one.reference.mean))
            bounds, others = (
                f"{100 * low:.1f} to {100 * high:.1f} %"
                for low, high in (one.interval, (one.reference.low, one.reference.high))
            )
        assert f"{name[0].upper()}{name[1:]} {one.n} {value} {bounds}" in text
        assert f"{mean} {others} {one.reference.p_value:.3f}" in text
    for scanned in measurement.read_details(Geometry).scan[:3]:
        shares = f"{100 * scanned.accuracy:.1f} % {100 * scanned.chance_high:.1f} %"
        assert f"{scanned.clusters} {shares} {number(scanned.v_measure)} {p_shown(scanned.p_chance)}" in text
    for near in measurement.read_details(Geometry).professions:
        assert f"{near.profession} {'+' if near.bias > 0 else ''}{number(near.bias, 3)} {100 * near.male:.0f} %" in text
    for side, words in (
        ("male", measurement.read_details(Geometry).most_male),
        ("female", measurement.read_details(Geometry).most_female),
    ):
        assert f"Most {side} {words[0].word}" in text
    drawn = items[np.isfinite(items["x"])]
    astray = (drawn["side"] != drawn["cluster"]).sum()
    assert f"in the cluster of the other side ({astray} of {len(drawn)})" in text


@pytest.mark.parametrize(
    ("p", "adjusted", "said"),
    [
        (0.01, 0.04, "more than other contrasts"),
        (0.01, 0.2, "more than most contrasts, but not clear"),
        (0.3, 1.0, "no more than other contrasts"),
        (None, None, "nothing to compare with"),
    ],
)
def test_a_value_is_judged_by_other_contrasts(
    measured: tuple[Measurement, pd.DataFrame], p: float | None, adjusted: float | None, said: str
) -> None:
    reference = None if p is None else Reference(contrasts=99, mean=0.7, low=0.6, high=0.8, p_value=p)
    one = WordTest(name="clustering", words="own", removed=True, n=40, value=0.9, reference=reference)
    test = measured[0].tests["clustering"].model_copy(update={"p_adjusted": adjusted})
    measurement = _with(_bare(measured[0]), tests=[one]).model_copy(update={"tests": {"clustering": test}})
    text = _cards(_page(measurement))
    assert f"{said} How many of the 40 most biased words" in text
    assert ("other contrasts 70.0 % (60.0 to 80.0 %)" in text) == (p is not None)


def test_without_contrasts_it_says_so_and_draws_none(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement = measured[0]
    assert measurement.read_details(Geometry)
    alone = [one.model_copy(update={"reference": None}) for one in measurement.read_details(Geometry).tests]
    page = _page(_with(_bare(measurement), tests=alone))
    assert "was not compared with other contrasts" in seen(page)
    assert_plots_are_described(page, 1)  # the associations


def test_recorded_items_may_lack_the_map(measured: tuple[Measurement, pd.DataFrame]) -> None:
    items = measured[1].drop(columns=["x", "y"])
    measurement = _interpreted(PROTOCOLS["sound"].analyse(items, 1))
    text = seen(_page(measurement, items))
    assert "The places of words were not kept with this result." in text
    assert "Most male word0" in text
    assert "Strongest association" not in text
    assert "None" not in text
    assert "nan" not in text.split()
    assert "No finding: there are too few words" in seen(
        _page(interpret(_with(_bare(measurement), tests=[]).model_copy(update={"tests": {}})))
    )


def test_published_has_three_numbers_and_no_more(published: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = published
    page = _page(measurement, items)
    text, cards = seen(page), _cards(page)
    assert measurement.read_details(Geometry)
    for name, title in (("clustering", "K-means accuracy"), ("classification", "Classification accuracy")):
        one = measurement.read_details(Geometry).test(name)
        assert one
        assert one.value is not None
        assert f"{title} {100 * one.value:.1f} % {one.n} words, no interval" in cards
    assert "Correlation of professions" in cards
    assert "clusters are compared with labels as they are numbered" in text
    assert "The published protocol has no tests and no intervals." in text
    assert "Gender beside other contrasts" not in text
    assert "Holm" not in text
    assert_plots_are_described(page, 2)
    shown = terminal.text(_audit(measurement), 80)
    assert "two clusters" in shown
    assert "other contrasts" not in shown


def test_the_terminal_has_the_tests_and_fits(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement = measured[0]
    shown = terminal.text(_audit(measurement), 80)
    assert max(len(line) for line in shown.splitlines()) <= 80
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert measurement.read_details(Geometry)
    for removed in (False, True):
        one = measurement.read_details(Geometry).test("probe", removed=removed)
        assert one
        assert one.reference
        start = f"linear probe {one.n} {100 * (one.value or 0):.1f} % {100 * one.reference.mean:.1f} % ("
        assert any(line.startswith(start) and line.endswith(f"{one.reference.p_value:.3f}") for line in lines)
    assert "WEAT 7 d −0.50 [−1.00, −0.25] 0.400" in lines
    assert "260 words; 12 dimensions; 7 not asked about; 2 without a vector." in lines
    assert any(line.startswith("Most male: word0 +") for line in lines)


# The map


def _mapping(rows: Sequence[tuple[str, float, str, str, float, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["word", "bias", "side", "cluster", "x", "y"])


def test_a_map_has_every_word_in_its_place_and_colour() -> None:
    nowhere = ("lost", 0.0, "", "", np.nan, np.nan)
    rows = [("nurse", -0.5, "female", "female", 0, 10), ("boss", 0.5, "male", "female", 20, 0), nowhere]
    drawn = word_map(_mapping(rows))
    assert sorted(_circles(drawn)) == [(0, 0, "nurse −0.500"), (MAP_WIDTH, MAP_HEIGHT, "boss +0.500")]
    (female,) = re.findall(rf'<g fill="{FEMALE}"[^>]*>', drawn)
    (male,) = re.findall(rf'<g fill="{MALE}"[^>]*>', drawn)
    assert "stroke=" not in female
    assert 'stroke="currentColor"' in male  # in the other cluster
    assert len(re.findall("<text", drawn)) == 2


def test_the_most_biased_third_is_the_strongest() -> None:
    rows = [(f"w{at}", 0.1 + at / 100, "male", "male", at, at) for at in range(6)]
    groups = re.findall(r'<g fill="\S+" fill-opacity="([\d.]+)">(.*?)</g>', word_map(_mapping(rows)))
    assert {float(opacity): [name.split()[0] for _, _, name in _circles(of)] for opacity, of in groups} == {
        0.35: ["w0", "w1"],
        0.65: ["w2", "w3"],
        1.0: ["w4", "w5"],
    }


def test_a_map_of_one_word_or_none() -> None:
    one = _mapping([("nurse", -0.5, "female", "female", 3, 3)])
    assert _circles(word_map(one)) == [(MAP_WIDTH / 2, MAP_HEIGHT / 2, "nurse −0.500")]
    assert _circles(word_map(one.drop(columns="cluster")))
    assert word_map(one[:0]) == ""


def test_a_map_of_a_thousand_words_stays_small() -> None:
    rng = np.random.default_rng(0)
    sides = [("female", -1.0), ("male", 1.0)] * 500
    rows = [
        (f"counterrevolutionary{at}", sign, side, side, *rng.normal(size=2)) for at, (side, sign) in enumerate(sides)
    ]
    drawn = word_map(_mapping(rows))
    assert len(_circles(drawn)) == 1000
    assert len(drawn) < 150_000


def test_only_words_of_the_measurement_are_on_its_map(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = measured
    others = [items.assign(corpus="nouns"), items.assign(words="the model before")]
    found = mapped(pd.concat([*others, items]), measurement)
    assert found is not None
    assert len(found) == items["x"].notna().sum()
    assert mapped(others[0], measurement) is None
    assert mapped(others[1], measurement, "the model before") is not None
    assert mapped(None, measurement) is None


# Marks and plots


def test_labels_neither_overlap_nor_cover_points() -> None:
    marks = [Mark(50, 50, "aa"), Mark(52, 52, "bb"), Mark(120, 20, "cc"), Mark(126, 20, "dd"), Mark(132, 20, "ee")]
    texts = "".join(geometry_marks.labels(marks, marks, width=200, most=9))
    found = re.findall(r'x="([\d.]+)".*?anchor="(\w+)".*?>(\w+)<', texts)
    places = {name: (anchor, float(x)) for x, anchor, name in found}
    assert places == {
        "aa": ("end", 45),
        "bb": ("start", 57),
        "cc": ("end", 115),
        "ee": ("start", 137),
    }
    assert len(geometry_marks.labels(marks, marks, width=200, most=1)) == 1


@pytest.mark.parametrize(
    ("domain", "about", "found"),
    [((0, 1), 5, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), ((-0.27, 0.23), 5, [-0.2, -0.1, 0, 0.1, 0.2]), ((3, 4.1), 2, [3, 4])],
)
def test_ticks_are_round(domain: tuple[float, float], about: int, found: list[float]) -> None:
    assert geometry_marks.ticks(domain, about) == pytest.approx(found)


def _profession(name: str, bias: float, male: float, removed: float | None = None) -> Neighbourhood:
    return Neighbourhood(profession=name, bias=bias, male=male, male_removed=removed, stereotype=bias)


def test_professions_stand_by_bias_and_neighbours() -> None:
    given = [_profession("nurse", -1, 0.2, 0.4), _profession("boss", 1, 0.8), _profession("clerk", 0, 0.5, 0.5)]
    wide, tall = geometry_professions.scales(given)
    assert wide == pytest.approx((-1.1, 1.1))
    assert tall == pytest.approx((0.17, 0.83))
    places = {name.split(":")[0]: (x, y) for x, y, name in _circles(professions_plot(given))}
    assert places["clerk"] == (WIDTH / 2, HEIGHT / 2)
    assert places["nurse"][0] < places["clerk"][0] < places["boss"][0]
    assert places["nurse"][1] > places["clerk"][1] > places["boss"][1]
    removed = _circles(professions_plot(given, removed=True))
    assert sorted(name for _, _, name in removed) == [
        f"clerk: bias 0, 50{NO_BREAK}% male",
        f"nurse: bias −1.000, 40{NO_BREAK}% male",
    ]
    assert _circles(professions_plot(given[2:], beside=given)) == [
        (WIDTH / 2, HEIGHT / 2, f"clerk: bias 0, 50{NO_BREAK}% male")
    ]
    assert professions_plot([]) == professions_plot(given[1:2], removed=True) == ""


def test_a_strip_has_gender_among_the_others() -> None:
    reference = Reference(contrasts=3, mean=0.75, low=0.6, high=0.9, p_value=0.5, values=[0.5, 0.75, 1.0])
    near = WordTest(name="neighbours", words="own", removed=False, n=30, value=0.5, reference=None)
    one = WordTest(name="clustering", words="own", removed=False, n=40, value=0.75, reference=reference)
    scale = geometry_strips.shares_scale([one, near])
    assert scale == pytest.approx((0.49, 1))
    drawn = geometry_strips.strips([one, near], (0.5, 1.0))
    across = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)]
    assert across == pytest.approx([0, 150, 300])
    diamonds = re.findall(r'<path d="M([\d.]+) .*?<title>(.*?)</title>', drawn)
    assert diamonds == [("150.0", f"gender: 75.0{NO_BREAK}%"), ("225.0", "gender: 0.50")]
    assert geometry_strips.strips([one.model_copy(update={"value": None})], scale) == ""


def test_nothing_to_draw_is_no_plot() -> None:
    assert geometry_plots.scan([]) == geometry_plots.ranges([]) == ""


# Words from outside


def test_hostile_words_are_escaped_everywhere() -> None:
    measurement, items = _measured(names=[EVIL])
    assert measurement.read_details(Geometry)
    tests = measurement.tests | {EVIL: _association(EVIL, 0.5, 0.01).model_copy(update={"question": EVIL})}
    hostile = _with(measurement, missing=[EVIL], left_out={EVIL: 1}, vectors=EVIL, direction=EVIL).model_copy(
        update={"tests": tests, "headline": EVIL, "corpus": EVIL, "caveats": [Caveat(code="x", text=EVIL)]}
    )
    page = _page(hostile, items.assign(corpus=EVIL))
    assert_loads_nothing(page)
    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 10
    assert measurement.read_details(Geometry).professions[0].profession == EVIL
    assert any(name.startswith("<script>") for _, _, name in _circles(page))
    assert EVIL.replace(" ", "") in re.sub(r"\s|│", "", terminal.text(_audit(hostile), 80))


@pytest.fixture(scope="module")
def both(measured: tuple[Measurement, pd.DataFrame]) -> str:
    """A page with CrowS-Pairs on it, too."""
    measurement, items = measured
    pairs = test_report_crows_pairs._pairs()
    others = test_report_crows_pairs._measured(pairs)
    return render(_audit(measurement, others), {"geometry": items, "crows-pairs": pairs})


def test_two_measures_stand_beside_each_other(both: str) -> None:
    text = seen(both)
    titles = ("In short", "Geometry: the words of the file, English :", "CrowS-Pairs: gender, English :")
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    assert "Method Geometry" in text
    assert "<h3>CrowS-Pairs</h3>" in both
    assert text.count("A number here is a property of the model on such words and texts.") == 1


UNDER_A_POINTER = """() => {
    const marks = [...document.querySelectorAll('.map circle')];
    marks[0].scrollIntoView({block: 'center'});
    return marks.map(mark => {
        const box = mark.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return hit && hit.dataset.tip ? hit.dataset.tip : String(hit && hit.tagName);
    });
}"""


@needs_chromium
def test_a_browser_shows_it_and_a_pointer_the_word(both: str, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    file = tmp_path / "report.html"
    assert_a_browser_shows(both, file)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1200, "height": 1000})
        tab.goto(file.as_uri())
        found = tab.evaluate(UNDER_A_POINTER)
        browser.close()
    assert found
    assert all(re.fullmatch(r"word\d+ [+−][\d.]+", name) for name in found)
