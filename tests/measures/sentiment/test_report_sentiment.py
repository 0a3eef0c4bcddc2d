"""The report of sentiment: the numbers of the result, the words that differ, and no injected markup."""

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
from report_blocks import find_table, key_figures, lines, of_type, sections, table_rows
from sample_audits import render_audit_page, sample_audit, sample_items, sound_measurement
from unmask.measures.base import Context
from unmask.measures.registry import get_measure
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.data import rewrite_both_ways
from unmask.measures.sentiment.details import Part, Ratings
from unmask.measures.sentiment.examples import (
    MOST_CHARACTERS,
    Edit,
    find_differences,
    highlight_differences,
    parse_edits,
)
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.report import (
    blocks,
    draw_histogram,
    draw_parts,
    facts,
    find_axis_limit,
    method,
    select_frequent,
)
from unmask.measures.sentiment.scoring import score_pairs
from unmask.report.blocks import Block, Examples, Figure, KeyFigure, Run
from unmask.report.charts import count_bins
from unmask.results import Caveat, Measurement
from unmask.results.formatting import interval, number, p_value, signed
from unmask.rewriting import rewriter
from unmask.training.examples import TextExample

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


def _texts() -> list[TextExample]:
    gendered = [f"I saw it twice: {' '.join(parts)}." for parts in product(PEOPLE, DEEDS, FILMS, ENDS)][::2]
    quiet = [f"Scene {index} of this film is too long." for index in range(20)]
    return [
        TextExample(text, label=("positive", "negative")[index % 2], id=str(index))
        for index, text in enumerate(gendered + quiet)
    ]


def _measure(terms: str = "all", protocol: str = "sound") -> tuple[Measurement, pd.DataFrame]:
    """The measurement of these texts without correction of p-values, and its items."""
    pairs = rewrite_both_ways(_texts(), *(rewriter(to, terms=terms, quick=True) for to in ("female", "male")))
    scored = score_pairs(pairs, Rater(WordCounter(), None), seed=1)
    items = scored.items.assign(language="en", corpus="reviews", terms=terms)
    measurement = analyse(items, Context(protocol=protocol, seed=1))
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in measurement.tests.items()}
    reading = {"duplicates": 3, "long_texts": "head", "most_tokens": 512, "cut": 41, "outside": 7, "partly_outside": 19}
    ratings = measurement.read_details(Ratings).model_copy(update=reading)
    return get_measure("sentiment").interpret(
        measurement.model_copy(
            update={"tests": tests, "details": ratings.model_dump(), "noise_floor": 3.1e-7, "data_hash": "d47a"}
        )
    ), items


@pytest.fixture(scope="module")
def measurement_and_items() -> tuple[Measurement, pd.DataFrame]:
    return _measure()


def _update(
    measurement: Measurement, ratings: dict[str, Any] | None = None, name: str = "bias over words", **test: Any
) -> Measurement:
    """Change fields of the ratings and of a test."""
    tests = measurement.tests | {name: measurement.tests[name].model_copy(update=test)}
    details = measurement.read_details(Ratings).model_copy(update=ratings or {})
    return measurement.model_copy(update={"details": details.model_dump(), "tests": tests})


def _key_figures(measurement: Measurement, ratings: dict[str, Any] | None = None, **test: Any) -> dict[str, KeyFigure]:
    return key_figures(blocks(_update(measurement, ratings, **test), None))


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture(scope="module")
def report(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> list[Block]:
    return blocks(*measurement_and_items)


def test_sections_are_in_order(report: list[Block]) -> None:
    assert sections(report) == [
        "How far ratings move",
        "Over words and over texts",
        "Where it comes from",
        "The texts that moved most",
        "How the texts were read",
    ]


# Key figures


def test_key_figures_are_those_of_the_result(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    measurement, _ = measurement_and_items
    ratings = measurement.read_details(Ratings)
    absolute = measurement.groups["absolute bias, changed texts"]
    figures = key_figures(report)
    titles = {"bias over words": "Bias over words", "bias": "Mean over texts"}
    assert list(figures) == [*titles.values(), "Absolute bias", "Labels that flip", "Direction, female : male"]
    for name, title in titles.items():
        test = measurement.tests[name]
        assert figures[title].value.lstrip("+") == number(test.value, 4)
        bounds = f"95 % interval {interval(test.interval, 4)}, p {p_value(test.p_adjusted)}"
        assert _plain(figures[title].certainty) == bounds
    assert figures["Absolute bias"].value == number(absolute.value, 4)
    assert _plain(figures["Absolute bias"].certainty) == f"95 % interval {interval(absolute.interval, 4)}"
    assert ratings.flips
    assert figures["Labels that flip"].certainty.startswith(f"{ratings.flips} of {ratings.changed} texts")
    counts = (("female", ratings.below), ("neutral", ratings.equal), ("male", ratings.above))
    assert figures["Direction, female : male"].bar == counts


@pytest.mark.parametrize(
    ("test", "verdict", "sentence"),
    [
        (
            {"value": 0.0012, "interval": (0.0002, 0.0022), "p_adjusted": 1e-8},
            "negligible bias",
            "On average, ratings hardly depend on gender: a male word",
        ),
        (
            {"value": 0.01, "interval": (-0.01, 0.03), "p_adjusted": 0.3, "detectable": 0.03},
            "no clear bias",
            "No clear bias: a male word",
        ),
        (
            {"value": 0.004, "interval": (0.001, 0.007), "p_adjusted": 0.02},
            "negligible bias",
            "Only a negligible bias was found: a male word",
        ),
        (
            {"value": 0.4, "interval": (-0.2, 1.0), "p_adjusted": 0.3, "detectable": 0.9},
            "too few word pairs to tell",
            "Too few word pairs to tell: a male word",
        ),
        (
            {"value": -0.4, "interval": (-0.6, -0.2), "p_adjusted": 0.001},
            "large, female versions rated higher",
            "The model rates female versions higher: a female word",
        ),
        ({"value": 2e-7, "p_adjusted": 1e-9}, "within the noise", "Cannot tell: a male word"),
        (
            {"value": 0.4, "interval": None, "p_adjusted": None},
            "too few word pairs to tell",
            "Too few word pairs to separate the effect of gender from that of particular words",
        ),
    ],
)
def test_badge_and_headline_follow_from_the_same_outcome(
    measurement_and_items: tuple[Measurement, pd.DataFrame], test: dict[str, Any], verdict: str, sentence: str
) -> None:
    measurement = _update(measurement_and_items[0], **test)
    assert key_figures(blocks(measurement, None))["Bias over words"].verdict == verdict
    assert get_measure("sentiment").headline(measurement)[0].startswith(sentence)


def test_the_interval_is_that_of_the_gender_that_is_named(
    measurement_and_items: tuple[Measurement, pd.DataFrame],
) -> None:
    headline = get_measure("sentiment").headline
    fields: dict[str, Any] = {"value": -0.0534, "interval": (-0.062, -0.0448), "p_adjusted": 1e-5}
    ratings = {"families": 9, "families_male": 2, "families_female": 6}  # one is exactly 0
    female = headline(_update(measurement_and_items[0], ratings, **fields))[0]
    assert "a female word in place of its male counterpart adds 0.0534 to the rating" in female
    assert "(95 % interval [0.0448, 0.0620], p < 0.001); 6 of 9 pairs lean towards the female word." in female
    wide: dict[str, Any] = {"value": -0.01, "interval": (-0.2, 0.18), "p_adjusted": 0.9}
    for detectable in (0.3, None):
        few = headline(_update(measurement_and_items[0], **wide, detectable=detectable))[0]
        found = "A bias of 0.3000 or more, in either direction, would have been found with a probability of 80 %."
        assert (found in few, "nothing" in few) == (detectable is not None, False)


def test_ratings_that_do_not_change(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    headline = get_measure("sentiment").headline
    same = {"changed": 40, "below": 0, "above": 0, "equal": 40}
    read, unread = (
        _update(measurement_and_items[0], same | {"outside": outside}, "bias", value=0.0) for outside in (5, 40)
    )
    some, none = (" ".join(headline(measurement)) for measurement in (read, unread))
    assert {key_figures(blocks(unread, None))[title].verdict for title in ("Bias over words", "Mean over texts")} == {
        "not tested"
    }
    assert some == (
        "No rating changed: both versions of the 40 texts with a gender term are rated alike. In 5 of these texts no"
        " term was read, since they are too long."
    )
    assert none == "Not tested: a gender term was read in none of the 40 texts; they are too long."


@pytest.mark.parametrize(
    ("effect", "verdict"),
    [((0.1, 0.4), "most favour male versions"), ((-0.4, -0.1), "most favour female versions"), (None, "")],
)
def test_the_direction_follows_from_the_effect_size(
    measurement_and_items: tuple[Measurement, pd.DataFrame], effect: tuple[float, float] | None, verdict: str
) -> None:
    fields: dict[str, Any] = {
        "effect_size": None if effect is None else sum(effect) / 2,
        "effect_size_interval": effect,
    }
    figures = key_figures(blocks(_update(measurement_and_items[0], name="bias", **fields), None))
    assert figures["Direction, female : male"].verdict == verdict


def test_ratings_on_another_scale_need_fewer_digits(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    figures = _key_figures(measurement_and_items[0], {"scale": 250.0, "flips": None}, value=1.23456, p_adjusted=0.001)
    assert figures["Bias over words"].value == "+1.23"
    assert "Labels that flip" not in figures


def test_published_has_no_intervals_and_its_own_groups() -> None:
    measurement, items = _measure(protocol="published")
    report = blocks(measurement, items)
    assert "Bias over words" not in key_figures(report)
    total = key_figures(report)["Mean over texts"]
    assert total.certainty == "no interval, p < 0.001"
    assert "over the texts whose ratings differ" in total.explanation
    assert "Total bias, non-zero texts" in table_rows(find_table(report, "Mean differences"))
    assert "Over words and over texts" not in sections(report)
    text = " ".join(lines(method([measurement])))
    assert ("times 64" in text, "Holm" in text) == (True, False)


# Tables, figures and texts


def test_means_are_those_of_the_result(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    rows = table_rows(find_table(report, "Mean differences"))
    for name, group in measurement_and_items[0].groups.items():
        expected = f"{signed(group.value, 4)} {interval(group.interval, 4)}"
        assert rows[name.capitalize()] == [str(group.n), expected, number(group.sd, 4)]


def test_tests_are_shown_with_all_digits(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    table = find_table(report, "Over words and over texts")
    assert table.terminal
    rows = table_rows(table)
    assert list(rows) == ["Bias over words", "Bias", "Bias, negative texts", "Bias, positive texts"]
    test = measurement_and_items[0].tests["bias"]
    size, bias, *_, effect = rows["Bias"]
    p = rows["Bias"][[column.title for column in table.columns].index("p, adjusted") - 1]
    assert (size, bias, p) == (str(test.n), f"{signed(test.value, 4)} {interval(test.interval, 4)}", "< 0.001")
    assert effect.startswith(f"{number(test.effect_size)} {interval(test.effect_size_interval)}")


def test_figures_are_drawn(report: list[Block]) -> None:
    figures = of_type(report, Figure)
    assert [figure.title for figure in figures] == ["", "By pair of terms", "By length", "By label"]
    assert all("<svg" in figure.draw() for figure in figures)
    assert all(figure.description for figure in figures)


def test_a_text_shows_both_versions(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    female, male = of_type(report, Examples)
    assert (len(female.examples), len(male.examples)) == (5, 5)
    assert female.language == "en"
    runs = [run for example in male.examples for run in example.sentences[0]]
    pairs = {
        (first[0], last[0])
        for first, slash, last in zip(runs, runs[1:], runs[2:], strict=False)
        if (first[1], slash, last[1]) == ("female", ("/", ""), "male")
    }
    assert {("she", "he"), ("her", "his")} & pairs
    items = measurement_and_items[1]
    most = items.to_dict("records")[int(items["bias"].to_numpy().argmax())]
    assert male.examples[0].values == [f"+{number(most['bias'], 4)}"]
    assert male.examples[0].note.startswith(f"female {number(most['p_female'], 4)} · male {number(most['p_male'], 4)}")
    assert male.examples[0].note.endswith(f"text {most['id']}")


def test_only_texts_of_the_measurement_are_shown(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = measurement_and_items
    other_items = items.assign(terms="pronouns", bias=0.9, text="A stranger.", female_changes="[]", male_changes="[]")
    runs = [
        run
        for examples in of_type(blocks(measurement, pd.concat([items, other_items])), Examples)
        for example in examples.examples
        for run in example.sentences[0]
    ]
    assert "stranger" not in "".join(text for text, _ in runs)
    assert of_type(blocks(measurement, other_items), Examples) == []


def test_recorded_items_may_lack_texts_and_terms(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    items = measurement_and_items[1][["id", "language", "corpus", "terms", "changed", "p_female", "p_male", "bias"]]
    report = blocks(_update(measurement_and_items[0], {"by_pair": [], "by_term": [], "by_length": []}), items)
    assert [figure.title for figure in of_type(report, Figure)] == ["", "By label"]
    assert [line for line in lines(report) if "not stored" in line] != []
    _, male = of_type(report, Examples)
    assert male.examples[0].sentences == []
    assert male.examples[0].note.endswith(f"text {items['id'].iloc[int(items['bias'].to_numpy().argmax())]}")


def test_how_the_texts_were_read(measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]) -> None:
    text = " ".join(lines(report[-1:]))
    ratings = measurement_and_items[0].read_details(Ratings)
    numbers = (f"{ratings.changed} of {ratings.texts} texts", "3 duplicates", "512 tokens", "(head)", "41 of the texts")
    tests = measurement_and_items[0].tests
    estimates = [*(tests[name].detectable for name in ("bias over words", "bias")), *(ratings.without_family or ())]
    for part in (
        *numbers,
        *(number(value, 4) for value in estimates),
        "in 7 no term",
        "in 19 only some",
        "3.1e-07",
        "p(positive)",
    ):
        assert part in text, part


def test_facts_are_those_of_the_result(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    rows = dict(facts(measurement_and_items[0]))
    assert rows["rating"] == "p(positive)"
    assert (rows["duplicates, counted once"], rows["most tokens"]) == ("3", "512")
    assert rows["noise floor"] == "3.1e-07"


def test_a_result_without_numbers_has_dashes(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    nothing: dict[str, Any] = {"value": None, "interval": None, "p_value": None, "p_adjusted": None}
    counts = dict.fromkeys(("changed", "below", "equal", "above", "flips"), 0)
    parts: dict[str, Any] = {name: [] for name in ("by_pair", "by_term", "by_length", "by_label")}
    unknown = {"without_family": None, "cut": None, "long_texts": ""}
    empty = _update(measurement_and_items[0], counts | parts | unknown, **nothing, statistic=None, detectable=None)
    nothing |= {"statistic": None, "effect_size": None, "effect_size_interval": None, "detectable": None}
    empty = _update(empty, name="bias", **nothing)
    groups = {
        name: group.model_copy(update={"n": 0, "value": None, "sd": None, "interval": None})
        for name, group in empty.groups.items()
    }
    empty = empty.model_copy(update={"groups": groups, "headline": [], "noise_floor": None})
    report = blocks(empty, None)
    assert key_figures(report) == {}
    assert of_type(report, Figure) == []
    assert table_rows(find_table(report, "Mean differences"))["Total bias, all texts"] == ["0", "–"]
    text = seen(render_audit_page(sample_audit(empty), {}))
    assert "No finding." in text
    assert "None" not in text
    assert "nan" not in text.split()


# The page


def test_two_measures_have_their_own_methods(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    pronouns, pronoun_items = _measure("pronouns")
    measurement, items = measurement_and_items
    audit = sample_audit(sound_measurement(), measurement, pronouns)
    page = render_audit_page(audit, sample_items() | {"sentiment": pd.concat([items, pronoun_items])})
    text = seen(page)
    method = text[text.index("Method Association") : text.index("Provenance Model")]
    assert method.index("ln p(person word") < method.index("Sentiment bias = rating")
    assert "Sentiment: the built-in short reviews, English, all gendered words" in text
    assert "Sentiment: the built-in short reviews, English, pronouns" in text
    assert_loads_nothing(page)
    assert_plots_are_described(page, 4 + 4 + 4)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_hostile_text_is_escaped_everywhere(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    parts = [Part(name=EVIL, n=5, bias=0.1, interval=(0.0, 0.2))]
    words = dict.fromkeys(("terms", "rating", "long_texts"), EVIL)
    everywhere = dict.fromkeys(("by_pair", "by_term", "by_length", "by_label"), parts)
    hostile = _update(measurement_and_items[0], words | everywhere, question=EVIL)
    tests = hostile.tests | {f"bias, {EVIL} texts": hostile.tests["bias"]}
    caveats = [Caveat(code=f'"{EVIL}', text=EVIL)]
    update = {
        "headline": [EVIL],
        "corpus": EVIL,
        "variant": EVIL,
        "language": '"><b>',
        "tests": tests,
        "caveats": caveats,
    }
    text = f"{EVIL} he {EVIL}"
    span = [len(EVIL) + 1, len(EVIL) + 3]
    items = measurement_and_items[1].assign(
        language='"><b>', corpus=EVIL, terms=EVIL, id=EVIL, label=EVIL, text=text, changed=True,
        female_changes=json.dumps([[*span, EVIL]]), male_changes="[]", choice_female=EVIL, choice_male="x",
    )  # fmt: skip
    page = render_audit_page(sample_audit(hostile.model_copy(update=update)), {"sentiment": items})
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert f'<mark class="female">{EVIL}</mark>/<mark class="male">he</mark>' in unescape(page)
    assert unescape(page).count(EVIL) > 40


# Where versions differ

DIFFERENCES = [
    # text, female changes, male changes, parts that are shown
    ("he left", [(0, 2, "she")], [], ["she/he", " left"]),
    ("she left", [], [(0, 3, "he")], ["she/he", " left"]),
    ("an actor", [(3, 8, "actress")], [], ["an ", "actress/actor"]),
    ("a person", [(2, 8, "woman")], [(2, 8, "man")], ["a ", "woman/man"]),
    ("his best man", [(0, 3, "her"), (9, 12, "girl")], [(4, 12, "groom")], ["her/his", " ", "best girl/groom"]),
    ("ab", [(0, 2, "x")], [(1, 2, "y")], ["x/ay"]),
    ("ab", [(1, 1, "-")], [(1, 2, "y")], ["a", "-b/y"]),
    ("one two", [(0, 3, "1")], [(0, 3, "1")], ["1 two"]),
    ("Ms X", [(0, 3, "")], [], ["∅/Ms ", "X"]),
    ("", [], [], []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "female", "male", "parts"), DIFFERENCES)
def test_where_versions_differ(text: str, female: list[Edit], male: list[Edit], parts: list[str]) -> None:
    runs, hidden = highlight_differences(text, find_differences(text, female, male))
    assert "".join(part for part, _ in runs) == "".join(parts)
    styles = [style for part, style in runs if part != "/"]
    assert styles == [style for part in parts for style in (("female", "male") if "/" in part else ("",))]
    assert hidden == 0


@st.composite
def _versions(draw: st.DrawFn) -> tuple[str, list[Edit], list[Edit]]:
    text = draw(st.text("ab ", max_size=30))
    cuts = st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted)
    versions = []
    for _ in range(2):
        marks = draw(cuts)
        spans = list(zip(marks[::2], marks[1::2], strict=False))
        versions.append([(low, high, draw(st.text("xy", max_size=3))) for low, high in spans])
    return text, versions[0], versions[1]


@given(_versions())
def test_the_runs_are_both_versions(case: tuple[str, list[Edit], list[Edit]]) -> None:
    text, *versions = case
    runs, _ = highlight_differences(text, find_differences(text, *versions))
    for name, version in zip(("female", "male"), versions, strict=True):
        expected = text
        for start, end, after in reversed(version):
            expected = expected[:start] + after + expected[end:]
        visible = "".join(part for part, style in runs if style in ("", name) and part not in ("/", "∅"))
        assert visible.replace(" ", "") == expected.replace(" ", "")


def test_long_texts_are_shortened_around_their_changes() -> None:
    words = "word " * 100
    text = f"{words}<br /><br />he {words}{words}his {words}"
    female = [
        (match.start(), match.end(), new)
        for new, match in zip(("she", "her"), re.finditer("he|his", text), strict=True)
    ]
    runs, hidden = highlight_differences(text, find_differences(text, female, []))
    assert [run for run in runs if run[1]] == [("she", "female"), ("he", "male"), ("her", "female"), ("his", "male")]
    visible = "".join(part for part, _ in runs)
    assert 200 < len(visible) <= MOST_CHARACTERS + 10
    assert visible.startswith("… word")
    assert visible.endswith("word …")
    assert visible.count("…") == 3
    assert "<br" not in visible
    assert set(re.findall(r"\w+", visible)) == {"word", "she", "he", "her", "his"}
    assert hidden == 0


def test_of_many_changes_the_first_are_shown() -> None:
    text = "Then he " * 200
    female = [(match.start(), match.end(), "she") for match in re.finditer("he ", text)]
    runs, hidden = highlight_differences(text, find_differences(text, female, []))
    count = sum(style == "female" for _, style in runs)
    assert 5 < count < 100
    assert count + hidden == len(female)
    assert sum(len(part) for part, _ in runs) <= MOST_CHARACTERS + 10


def test_a_change_is_never_cut() -> None:
    long = "x" * 1000
    text = f"a {long} b"
    runs, _ = highlight_differences(text, find_differences(text, [(2, 1002, "y" * 900)], []))
    difference: list[Run] = [("y" * 900, "female"), ("/", ""), (long, "male")]
    assert [run for run in runs if run in difference] == difference


def test_a_long_text_without_changes_shows_its_beginning() -> None:
    runs, hidden = highlight_differences("word " * 200, [])
    assert len(runs[0][0]) <= MOST_CHARACTERS
    assert runs[0][0].endswith(" …")
    assert hidden == 0


@pytest.mark.parametrize(
    "stored", [None, float("nan"), "", "{}x", "[1]", "[[0, 99, 'x']]", "[[0, 99, \"x\"]]", "[[0,3,\"a\"],[1,2,\"b\"]]"]
)  # fmt: skip
def test_changes_that_cannot_be_read_count_as_none(stored: Any) -> None:
    assert parse_edits(stored, 5) == []


def test_the_histogram_counts_every_text_once(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    values = np.concatenate([np.linspace(-0.01, -0.001, 50), np.linspace(0.001, 0.03, 149), [0.9], np.zeros(7)])
    limit = find_axis_limit(values)
    assert limit == pytest.approx(0.03)
    assert limit is not None
    bins = count_bins(values, limit, 0.002)
    assert sum(number for low, _, number in bins if low < 0) == 50
    assert sum(number for _, high, number in bins if high > 0) == 149
    assert all(low * high >= 0 for low, high, _ in bins)
    assert sorted(-high for low, high, _ in bins if low < 0) == sorted(low for low, high, _ in bins if high > 0)
    items = pd.DataFrame({"bias": values})
    caption = of_type(blocks(_update(measurement_and_items[0], {"by_pair": []}), items), Figure)[0].caption
    assert " 7 without any difference" in caption
    assert " 1 is beyond ±0.0300" in caption


@pytest.mark.parametrize("values", [[], [0.0, 0.0]])
def test_without_differences_there_is_no_histogram(values: list[float]) -> None:
    assert find_axis_limit(values) is None
    assert draw_histogram(values, 0.0, 1.0) == ""


@pytest.mark.parametrize("values", [[0.3], [-1e-9, 1e-9], [1e-300, 0.5]])
def test_few_or_odd_differences_are_drawn(values: list[float]) -> None:
    limit = find_axis_limit(values)
    assert limit == max(values)
    drawn = draw_histogram(values, None, limit)
    assert "<svg" in drawn
    assert "NaN" not in drawn


def test_the_terms_of_most_texts_are_drawn_in_order_of_bias() -> None:
    parts = [Part(name=f"t{index}", n=index, bias=(-1.0) ** index * index) for index in range(60)] + [
        Part(name="x", n=99, bias=None)
    ]
    frequent = select_frequent(parts)
    assert [part.n for part in frequent] == [*range(58, 35, -2), *range(37, 60, 2)]
    assert re.findall(r">(t\d+)</text>", draw_parts(frequent, frequent, 4)) == [part.name for part in frequent]
    assert draw_parts(parts[-1:], [], 4) == ""


def test_filled_points_are_those_whose_interval_leaves_zero_out() -> None:
    for bounds, filled in (((0.1, 0.3), True), ((-0.1, 0.5), False)):
        part = Part(name="he", n=3, bias=0.2, interval=bounds)
        (opacity,) = re.findall(r'<circle [^>]*fill="#7570b3" fill-opacity="(\d)"', draw_parts([part], [part], 4))
        assert (opacity == "1") is filled


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page(measurement_and_items: tuple[Measurement, pd.DataFrame], tmp_path: Path) -> None:
    measurement, items = measurement_and_items
    long = items.assign(text=items["text"] + "x" * 300, female_changes=json.dumps([[0, 1, "y" * 300]]))
    page = render_audit_page(
        sample_audit(measurement, sound_measurement(), name=EVIL + "x" * 300), sample_items() | {"sentiment": long}
    )
    assert_a_browser_shows(page, tmp_path / "report.html")
