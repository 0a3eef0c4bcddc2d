"""The report of ratings: the result's own numbers, the words that differ, and nothing injected by a text."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from test_report_html import _audit, _items, _sound
from unmask.counterfactual import rewriter
from unmask.measures.registry import get_measure
from unmask.measures.sentiment.details import Part, Ratings
from unmask.measures.sentiment.protocol import PROTOCOLS
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.score import score
from unmask.probes.reviews import Text, pair
from unmask.report import rating_plots, terminal
from unmask.report.highlights import MOST_CHARACTERS, Edit, Piece, edits, pieces, places
from unmask.report.html import render
from unmask.results import Caveat, Measurement
from unmask.results.numbers import interval, number

PEOPLE = ("the woman", "his father", "her sister", "the waiter", "a girl", "the king", "an actress", "her husband")
DEEDS = (
    "made me laugh",
    "never finds her voice",
    "walks through his scenes half asleep",
    "moved me more than she knew",
)
FILMS = ("in a slow first hour", "once he sings", "whenever she is alone", "without a single good line")
ENDS = ("and I loved it", "and I want my money back", "but the ending is fine", "so I left early")


class WordCounter:
    """A classifier that rates by words; some of them are gendered."""

    labels = ("negative", "positive")

    def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> np.ndarray:
        ratings = np.array([sum(map(self._worth, re.findall(r"\w+", str(text).lower()))) for text in texts])
        positive = 1 / (1 + np.exp(-ratings))
        return np.stack([1 - positive, positive], axis=1)

    def _worth(self, word: str) -> float:
        return (zlib.crc32(word.encode()) % 200 - 100) / {"he": 600, "she": 640}.get(word, 400)


def _texts() -> list[Text]:
    made = [f"I saw it twice: {' '.join(parts)}." for parts in product(PEOPLE, DEEDS, FILMS, ENDS)][::2]
    quiet = [f"Scene {at} of this film is too long." for at in range(20)]
    return [Text(str(at), text, ("positive", "negative")[at % 2]) for at, text in enumerate(made + quiet)]


def _measured(terms: str = "all", protocol: str = "sound") -> tuple[Measurement, pd.DataFrame]:
    """What an audit makes of these texts, but for the correction of p-values."""
    pairs = pair(_texts(), *(rewriter(to, terms=terms, quick=True) for to in ("female", "male")))
    scored = score(pairs, Rater(WordCounter(), None), seed=1)
    items = scored.items.assign(language="en", corpus="reviews", terms=terms, rating=scored.rating)
    found = PROTOCOLS[protocol].analyse(items, 1)
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in found.tests.items()}
    read = {"duplicates": 3, "long_texts": "head", "most_tokens": 512, "cut": 41, "outside": 7, "partly_outside": 19}
    ratings = found.read_details(Ratings).model_copy(update=read)
    return get_measure("sentiment").interpret(
        found.model_copy(
            update={"tests": tests, "details": ratings.model_dump(), "noise_floor": 3.1e-7, "data_hash": "d47a"}
        )
    ), items


@pytest.fixture(scope="module")
def measured() -> tuple[Measurement, pd.DataFrame]:
    return _measured()


@pytest.fixture(scope="module")
def page(measured: tuple[Measurement, pd.DataFrame]) -> str:
    return _page(*measured)


def _with(measurement: Measurement, ratings: dict[str, Any] | None = None, **test: Any) -> Measurement:
    """The measurement with other ratings, and another test of the bias."""
    tests = measurement.tests | {"bias": measurement.tests["bias"].model_copy(update=test)}
    details = measurement.read_details(Ratings).model_copy(update=ratings or {})
    return measurement.model_copy(update={"details": details.model_dump(), "tests": tests})


def _bare(measurement: Measurement, ratings: dict[str, Any] | None = None, **test: Any) -> Measurement:
    """Without parts, which take time to draw."""
    return _with(measurement, {"by_term": [], "by_length": [], "by_label": []} | (ratings or {}), **test)


def _page(measurement: Measurement, items: pd.DataFrame | None) -> str:
    return render(_audit(measurement), {} if items is None else {"sentiment": items})


def _cards(page: str) -> str:
    found = re.search(r'<ul class="cards".*?</ul>', page, re.S)
    assert found
    return seen(found.group())


def test_every_section_is_there(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    measurement, _ = measured
    text = seen(page)
    headings = "How far ratings move", "Where it comes from", "The texts that moved most", "Before you rely on this"
    for heading in (*headings, "All tests", "Method", "Provenance", "By pair of terms", "By length", "By label"):
        assert heading in text, heading
    assert "bias = rating of the male version − rating of the female version" in text
    assert "ln p(person word" not in text
    facts = (
        "3 more were given twice, or differ in gender alone",
        "512 tokens",
        "only their beginning was read",
        "41 of the texts with a term",
    )
    for fact in (*facts, "in 7 none of the terms was read", "in 19 only some", "3.1e-07", "d47a", "p(positive)"):
        assert fact in text, fact
    assert measurement.headline in text
    assert all(caveat.text in text for caveat in measurement.caveats)


def test_numbers_are_those_of_the_result(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    measurement, _ = measured
    test, ratings = measurement.tests["bias"], measurement.read_details(Ratings)
    assert ratings
    assert ratings.flips
    assert test.value
    cards = _cards(page)
    sign = "+" if test.value > 0 else ""
    assert f"Total bias {sign}{number(test.value, 4)} 95 % interval {interval(test.interval, 4)}, p < 0.001" in cards
    absolute = measurement.groups["absolute bias, changed texts"]
    assert f"Absolute bias {number(absolute.value, 4)} 95 % interval {interval(absolute.interval, 4)}" in cards
    assert f"{ratings.flips} of {ratings.changed} texts" in cards
    assert f"{ratings.below} texts rate higher in the female version, {ratings.equal} alike, {ratings.above}" in cards
    table = re.search(r'<table class="ratings">.*?</table>', page, re.S)
    assert table
    for name, group in measurement.groups.items():
        row = f"{number(group.value, 4)} {interval(group.interval, 4)} {number(group.sd, 4)}"
        assert f"{name.replace(' bias', '').capitalize()} {group.n} {row}" in seen(table.group())


def test_a_tiny_p_is_no_large_bias(measured: tuple[Measurement, pd.DataFrame]) -> None:
    cards = _cards(_page(_bare(measured[0], value=0.0012, p_adjusted=1e-80, effect_size=0.9), None))
    assert "+0.0012" in cards
    assert "negligible, not chance" in cards
    assert "by 0.12 % of the scale" in cards


def test_a_large_bias_that_may_be_chance_is_none(measured: tuple[Measurement, pd.DataFrame]) -> None:
    cards = _cards(_page(_bare(measured[0], value=0.4, p_adjusted=0.3), None))
    assert "p = 0.300 no clear bias" in cards
    assert "This one may be chance." in cards
    assert "no clear direction" in cards
    assert "large bias" not in cards


def test_a_large_and_sure_bias_is_called_so(measured: tuple[Measurement, pd.DataFrame]) -> None:
    cards = _cards(_page(_bare(measured[0], value=-0.4, p_adjusted=0.001, effect_size=-0.3), None))
    assert "−0.4000" in cards
    assert "large bias" in cards
    assert "Here the female versions are rated higher, by 40.00 % of the scale." in cards
    assert "leans to female versions" in cards


def test_mean_and_ranks_may_point_to_different_sides(measured: tuple[Measurement, pd.DataFrame]) -> None:
    cards = _cards(_page(_bare(measured[0], value=0.4, p_adjusted=0.001, effect_size=-0.3), None))
    assert "large, no single direction" in cards


def test_below_the_noise_there_is_nothing(measured: tuple[Measurement, pd.DataFrame]) -> None:
    cards = _cards(_page(_bare(measured[0], value=2e-7, p_adjusted=1e-9), None))
    assert "below the noise of the computation" in cards


def test_ratings_on_another_scale_need_fewer_digits(measured: tuple[Measurement, pd.DataFrame]) -> None:
    regression = _bare(measured[0], {"scale": 250.0, "flips": None}, value=1.23456, p_adjusted=0.001)
    cards = _cards(_page(regression, None))
    assert "+1.23 " in cards
    assert "by 0.49 % of the scale" in cards
    assert "Labels that flip" not in cards


def test_published_has_no_intervals_and_its_own_groups() -> None:
    measurement, items = _measured(protocol="published")
    text = seen(_page(measurement, items))
    assert "Total, non-zero texts" in text
    assert "no interval, p < 0.001" in text
    assert "over the texts whose ratings differ" in text
    assert "p-values times 64" in text
    assert "Holm" not in text


def test_changed_words_stand_as_pairs(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    _, items = measured
    assert '<mark class="female">She</mark>' not in page
    for female, male in (("she", "he"), ("her", "his")):
        assert f'<mark class="female">{female}</mark>/<mark class="male">{male}</mark>' in page
    most = items.to_dict("records")[int(items["bias"].to_numpy().argmax())]
    assert f"+{number(most['bias'], 4)} · female {number(most['p_female'], 4)}" in seen(page)
    assert page.count('<p lang="en">') == 2 * 5


def test_only_texts_of_the_measurement_are_shown(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = measured
    other = items.assign(terms="pronouns", bias=0.9, text="A stranger.", female_changes="[]", male_changes="[]")
    page = _page(measurement, pd.concat([items, other]))
    assert "stranger" not in page[: page.index('id="items"')]
    assert "not kept" in seen(_page(measurement, other))


def test_recorded_items_may_lack_texts_and_terms(measured: tuple[Measurement, pd.DataFrame]) -> None:
    items = measured[1][["id", "language", "corpus", "terms", "changed", "p_female", "p_male", "bias"]]
    page = _page(_with(measured[0], {"by_pair": [], "by_term": [], "by_length": []}), items)
    text = seen(page)
    assert "The texts were not kept with this result." in text
    assert "The terms were not kept with this result." in text
    assert "By term" not in text
    assert f"text {items['id'].iloc[int(items['bias'].to_numpy().argmax())]}" in text
    assert_plots_are_described(page, 2)


def test_a_result_without_numbers_has_dashes(measured: tuple[Measurement, pd.DataFrame]) -> None:
    nothing: dict[str, Any] = {"value": None, "interval": None, "p_value": None, "p_adjusted": None}
    counts = dict.fromkeys(("changed", "below", "equal", "above", "flips"), 0)
    gone: dict[str, Any] = {
        "by_pair": [],
        "by_term": [],
        "by_length": [],
        "by_label": [],
        "detectable": None,
        "cut": None,
        "long_texts": "",
    }
    empty = _with(measured[0], counts | gone, **nothing, statistic=None, effect_size=None, effect_size_interval=None)
    groups = {
        name: group.model_copy(update={"n": 0, "value": None, "sd": None, "interval": None})
        for name, group in empty.groups.items()
    }
    empty = empty.model_copy(update={"groups": groups, "headline": "", "noise_floor": None})
    page = _page(empty, None)
    assert "<svg" not in page
    assert "No finding." in page
    assert "None" not in seen(page)
    assert "nan" not in seen(page).split()
    assert "not tested" in terminal.text(_audit(empty))


def test_two_measures_have_their_own_methods(measured: tuple[Measurement, pd.DataFrame]) -> None:
    pronouns, more = _measured("pronouns")
    measurement, items = measured
    audit = _audit(_sound(), measurement, pronouns)
    page = render(audit, _items() | {"sentiment": pd.concat([items, more])})
    text = seen(page)
    method = text[text.index("Method Association") : text.index("Provenance Model")]
    assert method.index("ln p(person word") < method.index("Sentiment bias = rating")
    assert "Sentiment: the built-in short reviews, English, all gendered words" in text
    assert "Sentiment: the built-in short reviews, English, pronouns" in text
    assert_loads_nothing(page)
    assert_plots_are_described(page, 4 + 4 + 4)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_hostile_text_is_escaped_everywhere(measured: tuple[Measurement, pd.DataFrame]) -> None:
    parts = [Part(name=EVIL, n=5, bias=0.1, interval=(0.0, 0.2))]
    words = dict.fromkeys(("terms", "rating", "long_texts"), EVIL)
    everywhere = dict.fromkeys(("by_pair", "by_term", "by_length", "by_label"), parts)
    hostile = _with(measured[0], words | everywhere, question=EVIL)
    tests = hostile.tests | {f"bias, {EVIL} texts": hostile.tests["bias"]}
    caveats = [Caveat(code=f'"{EVIL}', text=EVIL)]
    update = {
        "headline": EVIL,
        "corpus": EVIL,
        "variant": EVIL,
        "language": '"><b>',
        "tests": tests,
        "caveats": caveats,
    }
    text = f"{EVIL} he {EVIL}"
    place = [len(EVIL) + 1, len(EVIL) + 3]
    items = measured[1].assign(
        language='"><b>', corpus=EVIL, terms=EVIL, id=EVIL, label=EVIL, text=text, changed=True,
        female_changes=json.dumps([[*place, EVIL]]), male_changes="[]", choice_female=EVIL, choice_male="x",
    )  # fmt: skip
    page = _page(hostile.model_copy(update=update), items)
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert f'<mark class="female">{EVIL}</mark>/<mark class="male">he</mark>' in unescape(page)
    assert unescape(page).count(EVIL) > 40


def test_the_terminal_shows_the_table_and_the_counts(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement = _with(measured[0], {"rating": "[red]p[/red]"})
    test, ratings = measurement.tests["bias"], measurement.read_details(Ratings)
    assert ratings
    lines = " ".join(terminal.text(_audit(measurement)).split())
    figures = f"{number(test.value, 4)} {interval(test.interval, 4)} < 0.001 {number(test.effect_size)}"
    assert figures in lines
    assert f"{ratings.below} rate higher in the female version" in lines
    assert f"The label of {ratings.flips}" in lines
    assert "[red]p[/red]" in lines
    assert "none of the terms read in 7, only some in 19" in lines
    assert "Noise of the computation 3.1e-07" in lines
    assert "Caveats: short-reviews" in lines
    assert "mean association" not in lines


PLACES = [
    # text, female changes, male changes, what is shown
    ("he left", [(0, 2, "she")], [], ["she/he", " left"]),
    ("she left", [], [(0, 3, "he")], ["she/he", " left"]),
    ("an actor", [(3, 8, "actress")], [], ["an ", "actress/actor"]),
    ("a person", [(2, 8, "woman")], [(2, 8, "man")], ["a ", "woman/man"]),
    ("his best man", [(0, 3, "her"), (9, 12, "girl")], [(4, 12, "groom")], ["her/his", " ", "best girl/groom"]),
    ("ab", [(0, 2, "x")], [(1, 2, "y")], ["x/ay"]),
    ("ab", [(1, 1, "-")], [(1, 2, "y")], ["a", "-b/y"]),
    ("one two", [(0, 3, "1")], [(0, 3, "1")], ["1", " two"]),
    ("Ms X", [(0, 3, "")], [], ["∅/Ms ", "X"]),
    ("", [], [], []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "female", "male", "shown"), PLACES)
def test_where_versions_differ(text: str, female: list[Edit], male: list[Edit], shown: list[str]) -> None:
    found, hidden = pieces(text, places(text, female, male))
    written = [one.text or f"{one.female or '∅'}/{one.male or '∅'}" for one in found]
    assert written == shown
    assert hidden == 0


@st.composite
def _versions(draw: st.DrawFn) -> tuple[str, list[Edit], list[Edit]]:
    text = draw(st.text("ab ", max_size=30))
    cuts = st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted)
    both = []
    for _ in range(2):
        marks = draw(cuts)
        spans = list(zip(marks[::2], marks[1::2], strict=False))
        both.append([(low, high, draw(st.text("xy", max_size=3))) for low, high in spans])
    return text, both[0], both[1]


@given(_versions())
def test_the_pieces_are_both_versions(case: tuple[str, list[Edit], list[Edit]]) -> None:
    text, *versions = case
    found, _ = pieces(text, places(text, *versions))
    for name, version in zip(("female", "male"), versions, strict=True):
        whole = text
        for start, end, after in reversed(version):
            whole = whole[:start] + after + whole[end:]
        shown = "".join(one.text or getattr(one, name) for one in found)
        assert shown.replace(" ", "") == whole.replace(" ", "")


def test_long_texts_are_shortened_around_their_changes() -> None:
    words = "word " * 100
    text = f"{words}<br /><br />he {words}{words}his {words}"
    female = [
        (match.start(), match.end(), new)
        for new, match in zip(("she", "her"), re.finditer("he|his", text), strict=True)
    ]
    found, hidden = pieces(text, places(text, female, []))
    assert [one for one in found if one.female] == [Piece("", "she", "he"), Piece("", "her", "his")]
    shown = "".join(one.text or f"{one.female}/{one.male}" for one in found)
    assert 200 < len(shown) <= MOST_CHARACTERS + 10
    assert shown.startswith("… word")
    assert shown.endswith("word …")
    assert shown.count("…") == 3
    assert "<br" not in shown
    assert set(re.findall(r"\w+", shown)) == {"word", "she", "he", "her", "his"}
    assert hidden == 0


def test_of_many_changes_the_first_are_shown() -> None:
    text = "Then he " * 200
    female = [(match.start(), match.end(), "she") for match in re.finditer("he ", text)]
    found, hidden = pieces(text, places(text, female, []))
    shown = sum(bool(one.female) for one in found)
    assert 5 < shown < 100
    assert shown + hidden == len(female)
    assert sum(len(one.text + one.female + one.male) for one in found) <= MOST_CHARACTERS + 10


def test_a_change_is_never_cut() -> None:
    long = "x" * 1000
    found, _ = pieces(f"a {long} b", places(f"a {long} b", [(2, 1002, "y" * 900)], []))
    assert Piece("", "y" * 900, long) in found


def test_a_long_text_without_changes_shows_its_beginning() -> None:
    found, hidden = pieces("word " * 200, [])
    assert len(found[0].text) <= MOST_CHARACTERS
    assert found[-1] == Piece(" …")
    assert hidden == 0


@pytest.mark.parametrize(
    "written", [None, float("nan"), "", "{}x", "[1]", "[[0, 99, 'x']]", "[[0, 99, \"x\"]]", "[[0,3,\"a\"],[1,2,\"b\"]]"]
)  # fmt: skip
def test_changes_that_cannot_be_read_count_as_none(written: Any) -> None:
    assert edits(written, 5) == []


def test_the_histogram_counts_every_text_once() -> None:
    values = np.concatenate([np.linspace(-0.01, -0.001, 50), np.linspace(0.001, 0.03, 149), [0.9], np.zeros(7)])
    spread = rating_plots.spread(values, 0.004)
    assert spread
    assert (spread.zero, spread.beyond) == (7, 1)
    assert spread.limit == pytest.approx(0.03)
    bars = rating_plots.bars_of(values, 0.002, spread.limit)
    counts = {gender: sum(bar["count"] for bar in bars if bar["gender"] == gender) for gender in ("female", "male")}
    assert counts == {"female": 50, "male": 149}
    assert all(bar["low"] * bar["high"] >= 0 for bar in bars)
    assert {-bar["high"] for bar in bars if bar["gender"] == "female"} == {
        bar["high"] for bar in bars if bar["gender"] == "male"
    }


@pytest.mark.parametrize("values", [[], [0.0, 0.0]])
def test_without_differences_there_is_no_histogram(values: list[float]) -> None:
    assert rating_plots.spread(values, 0.0) is None


@pytest.mark.parametrize("values", [[0.3], [-1e-9, 1e-9], [1e-300, 0.5]])
def test_few_or_odd_differences_are_drawn(values: list[float]) -> None:
    spread = rating_plots.spread(values, None)
    assert spread
    assert spread.beyond == 0
    assert "NaN" not in spread.svg


def test_the_terms_of_most_texts_are_drawn_in_order_of_bias() -> None:
    parts = [Part(name=f"t{at}", n=at, bias=(-1.0) ** at * at) for at in range(60)] + [Part(name="x", n=99, bias=None)]
    chosen = rating_plots.most_frequent(parts)
    assert [part.n for part in chosen] == [*range(58, 35, -2), *range(37, 60, 2)]
    assert re.findall(r">(t\d+)</text>", rating_plots.dots(chosen, (-60, 60), 4)) == [part.name for part in chosen]
    assert rating_plots.dots(parts[-1:], (-1, 1), 4) == ""


def test_filled_points_are_those_whose_interval_leaves_zero_out() -> None:
    for bounds, filled in (((0.1, 0.3), True), ((-0.1, 0.5), False)):
        drawn = rating_plots.dots([Part(name="he", n=3, bias=0.2, interval=bounds)], (-1, 1), 4)
        (point,) = re.findall(r'<path [^>]*d="M[\d.]+,0A[^>]*>', drawn)
        assert ('fill="#7570b3"' in point) is filled


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page(measured: tuple[Measurement, pd.DataFrame], tmp_path: Path) -> None:
    measurement, items = measured
    long = items.assign(text=items["text"] + "x" * 300, female_changes=json.dumps([[0, 1, "y" * 300]]))
    page = render(_audit(measurement, _sound(), name=EVIL + "x" * 300), _items() | {"sentiment": long})
    assert_a_browser_shows(page, tmp_path / "report.html")
