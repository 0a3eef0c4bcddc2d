"""The report of inference: the numbers of the result, bars that add up, example pairs, and no injected markup."""

from __future__ import annotations

import re
import zlib
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
from report_blocks import (
    find_table,
    key_figures,
    lines,
    of_type,
    render_page,
    sections,
    show,
    table_rows,
    terminal_text,
)
from unmask.lexicon.inference import GenderPair, Occupation, People
from unmask.measures.base import Context
from unmask.measures.comparison import select_items
from unmask.measures.inference.analysis import analyse
from unmask.measures.inference.details import Inference, OccupationValue, show_kinds
from unmask.measures.inference.examples import collect_examples, highlight_person
from unmask.measures.inference.pairs import cross_pairs
from unmask.measures.inference.report import (
    blocks,
    draw_lean,
    draw_resolved,
    facts,
    method,
    name_part,
    select_most_resolved,
)
from unmask.measures.inference.scoring import score_pairs
from unmask.measures.registry import get_measure
from unmask.measures.sections import section, unreadable
from unmask.report.blocks import Block, Examples, Figure, KeyFigure, Run, Table, Text
from unmask.results import Caveat, Measurement
from unmask.results.formatting import interval, number, p, p_value, percent

WORDS = {
    "female": ("nurse", "nanny", "dancer", "maid"),
    "male": ("pilot", "boxer", "judge", "miner"),
    "neutral": ("poet", "clerk", "singer", "guide"),
}
TEMPLATES = (
    "{person} is waiting.",
    "In the park, {person} is reading a book.",
    "{person} sings.",
    "There {person} sleeps.",
)
PEOPLE = People(
    "the {occupation}",
    (GenderPair("woman", "the woman", "the man"), GenderPair("she", "she", "he")),
    ("the person",),
)


class Guesser:
    """A classifier that takes people for men, and sometimes follows stereotypes."""

    labels = ("entailment", "neutral", "contradiction")

    def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> np.ndarray:
        return np.array([self._answer(*text) for text in texts])

    def _answer(self, premise: str, hypothesis: str) -> list[float]:
        words = set(re.findall(r"\w+", hypothesis.lower()))
        side = 1 if words & {"man", "he"} else -1 if words & {"woman", "she"} else 0
        lean = 0.5 + any(word in premise for word in WORDS["male"]) - any(word in premise for word in WORDS["female"])
        shift = lean * side + zlib.crc32(f"{premise}{hypothesis}".encode()) % 1000 / 333 - 1.5
        is_same = premise[-5:] == hypothesis[-5:]
        weights = np.exp([shift, 0.6, -shift] if side else [3.0 if is_same else -3.0, 0.0, 0.0])
        return list(weights / weights.sum())


def _occupations(**names: str) -> list[Occupation]:
    return [
        Occupation(names.get(word, word), word, None, None, occupation_type)
        for occupation_type, words in WORDS.items()
        for word in words
    ]


def _measure(
    protocol: str = "sound",
    language: str = "en",
    occupations: list[Occupation] | None = None,
    people: People = PEOPLE,
    templates: Sequence[str] = TEMPLATES,
) -> tuple[Measurement, pd.DataFrame]:
    """The measurement of these pairs without correction of p-values, and its items."""
    rows = cross_pairs(language, "sentences", occupations or _occupations(), people, templates)
    scored = score_pairs(rows, Guesser(), (0, 1, 2), seed=1)
    return _analyse_and_interpret(scored.items, protocol), scored.items


def _analyse_and_interpret(items: pd.DataFrame, protocol: str = "sound") -> Measurement:
    measurement = analyse(items, Context(protocol=protocol))
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in measurement.tests.items()}
    inference = measurement.read_details(Inference).model_copy(update={"labels": "by the labels"})
    update = {"tests": tests, "details": inference.model_dump(), "noise_floor": 3.1e-7, "data_hash": "d47a"}
    return get_measure("inference").interpret(measurement.model_copy(update=update))


@pytest.fixture(scope="module")
def measurement_and_items() -> tuple[Measurement, pd.DataFrame]:
    return _measure()


@pytest.fixture(scope="module")
def report(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> list[Block]:
    return blocks(*measurement_and_items)


def _change(measurement: Measurement, test: str = "stereotype", **changes: Any) -> Measurement:
    """Change fields of a test."""
    tests = measurement.tests | {test: measurement.tests[test].model_copy(update=changes)}
    return measurement.model_copy(update={"tests": tests})


def _key_figures(measurement: Measurement) -> dict[str, KeyFigure]:
    return key_figures(blocks(measurement, None))


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_every_section_is_there(measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]) -> None:
    assert sections(report) == [
        "What the model answered",
        "Scores",
        "Which occupations are resolved to a gender",
        "Example pairs",
        "How the pairs were made",
    ]
    assert [figure.title for figure in of_type(report, KeyFigure)] == [
        "Stereotype",
        "Default",
        "NLI-CoAL score",
        "Biased : plain error : left open",
        "Control pairs entailed",
        "Unrelated pairs not entailed",
        "Women and men told apart",
    ]
    facts_shown = " ".join(lines(report))
    for fact in ("12 occupations", "(4 female, 4 male, 4 neutral) and 4 sentences: 96 pairs", "96 control pairs"):
        assert fact in facts_shown, fact
    for fact in ("Gender words: woman, she.", "by the labels", "3.1e-07"):
        assert fact in facts_shown, fact
    assert dict(facts(measurement_and_items[0])) == {
        "items": "192",
        "noise floor": "3.1e-07",
        "occupations": "4 female, 4 male, 4 neutral",
        "sentences": "4",
        "gender words": "woman, she",
        "label order": "by the labels",
    }


def test_key_figures_are_the_numbers_of_the_result(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    measurement, figures = measurement_and_items[0], key_figures(report)
    for name in ("stereotype", "default"):
        test, figure = measurement.tests[name], figures[name.capitalize()]
        assert test.value
        assert figure.value == f"{'+' if test.value > 0 else ''}{number(test.value)}"
        assert _plain(figure.certainty) == f"95 % interval {interval(test.interval)}, p {p_value(test.p_adjusted)}"
    groups = measurement.groups
    score, baseline, weighted = (groups[name] for name in ("NLI-CoAL", "FN", "NLI-CoAL, probabilities"))
    assert figures["NLI-CoAL score"].value == number(score.value)
    assert (
        _plain(figures["NLI-CoAL score"].certainty)
        == f"95 % interval {interval(score.interval)}; FN {number(baseline.value)}"
    )
    assert figures["NLI-CoAL score"].verdict == f"by probability {number(weighted.value)}"
    parts = [groups[name].value or 0.0 for name in ("biased inference", "plain error")]
    shares = [round(100 * part) for part in parts]
    expected = " : ".join(f"{share} %" for share in (*shares, 100 - sum(shares)))
    answers = figures["Biased : plain error : left open"]
    assert _plain(answers.value) == expected
    assert [style for style, _ in answers.bar] == ["biased", "mistaken", "open"]
    assert sum(part for _, part in answers.bar) == pytest.approx(1000, abs=1)
    for check, title in zip(measurement.competence, list(figures)[-3:], strict=True):
        assert (figures[title].value, figures[title].verdict) == (percent(check.value), "passed")


def test_tables_have_the_numbers_of_the_result(
    measurement_and_items: tuple[Measurement, pd.DataFrame], report: list[Block]
) -> None:
    measurement = measurement_and_items[0]
    inference = measurement.read_details(Inference)
    by_set, by_type = (find_table(report, f"Answers by {grouping}") for grouping in ("set", "stereotype"))
    for table, parts in ((by_set, inference.sets), (by_type, inference.by_type)):
        assert [row[0].text for row in table.rows] == [name_part(part)[0] for part in parts]
        for part, row in zip(parts, table.rows, strict=True):
            assert row[1].text == str(part.n)
            for cell, label in zip(row[2:], ("entailment", "neutral", "contradiction"), strict=True):
                low, high = part.intervals[label] or (0, 0)
                bounds = f"{100 * low:.0f} to {100 * high:.0f} %"
                share, mean = 100 * part.shares[label], number(part.probabilities[label])
                assert show(cell) == f"{share:.1f} % {bounds} p̄ {mean}"
    assert by_set.terminal
    assert not by_type.terminal

    scores = table_rows(find_table(report, "All scores"))
    default, weighted = (measurement.tests[name] for name in ("default", "default, probabilities"))
    assert scores["Default"] == [
        f"+{number(default.value)} {interval(default.interval)}",
        f"+{number(weighted.value)} {interval(weighted.interval)}",
        p(default.p_adjusted),
    ]
    score = measurement.groups["NLI-CoAL"]
    assert scores["NLI-CoAL"][0] == f"{number(score.value)} {interval(score.interval)}"
    assert scores["NLI-CoAL"][2] == "–"
    assert len(scores) == sum(not name.endswith(", probabilities") for name in measurement.tests | measurement.groups)

    pairs = table_rows(find_table(report, "By pair of gender words"))
    assert {name: row[:2] for name, row in pairs.items()} == {
        pair.name: [str(pair.n), number(pair.score)] for pair in inference.by_pair
    }
    occupations = find_table(report, "All 12 occupations")
    assert occupations.folded
    for occupation, row in zip(inference.occupations, occupations.rows, strict=True):
        assert [cell.text for cell in row[:3]] == [
            occupation.occupation,
            "none" if occupation.kind == "neutral" else occupation.kind,
            str(occupation.n),
        ]
        assert _plain(row[3].text) == f"{100 * occupation.resolved:.0f} %"
        assert _plain(row[-1].text) == f"{100 * occupation.male['contradiction']:.0f} %"


def test_figures_are_drawn_and_described(report: list[Block]) -> None:
    figures = of_type(report, Figure)
    assert len(figures) == 4
    assert all(figure.draw().startswith("<svg") and figure.description for figure in figures)


def test_the_most_resolved_come_first_and_those_that_lean_most() -> None:
    def make(name: str, resolved: float, lean: float | None) -> OccupationValue:
        return OccupationValue(occupation=name, kind="male", n=8, resolved=resolved, lean=lean, female={}, male={})

    occupations = [make("a", 0.5, 0.1), make("b", 0.5, -0.4), make("c", 0.9, 0), make("d", 0, 0), make("e", 1, None)]
    assert [occupation.occupation for occupation in select_most_resolved(occupations)] == ["c", "b", "a"]
    assert draw_resolved([]) == draw_lean([]) == ""


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({"value": 0.4, "interval": (0.2, 0.6), "p_adjusted": 0.001}, "large, follows stereotypes"),
        ({"value": 0.01, "interval": (0.001, 0.019), "p_adjusted": 1e-9}, "negligible stereotype"),
        ({"value": 0.015, "interval": (0.001, 0.029), "p_adjusted": 0.04}, "negligible stereotype"),
        ({"value": -0.2, "interval": (-0.3, -0.1), "p_adjusted": 0.01}, "moderate, against stereotypes"),
        ({"value": 0.1, "interval": (-0.1, 0.3), "p_adjusted": 0.3, "detectable": 0.29}, "no clear stereotype"),
        ({"value": 0.1, "interval": (-0.4, 0.6), "p_adjusted": 0.3, "detectable": 0.6}, "too few items to tell"),
        ({"value": 2e-7, "p_adjusted": 1e-9}, "within the noise"),
        ({"value": 0.4, "p_adjusted": None}, "not tested"),
    ],
)
def test_badge_and_headline_follow_from_the_same_outcome(
    measurement_and_items: tuple[Measurement, pd.DataFrame], changes: dict[str, Any], verdict: str
) -> None:
    measurement = _change(measurement_and_items[0], **changes)
    assert _key_figures(measurement)["Stereotype"].verdict == verdict
    sentence = get_measure("inference").headline(measurement)[0]
    scale = " on a scale from −1 (always against stereotypes) to 1 (always along them), "
    beginnings = {
        "large, follows stereotypes": "The model infers a gender from the occupation, following stereotypes: 0.40",
        "moderate, against stereotypes": "The model infers a gender from the occupation, against stereotypes: −0.20",
        "negligible stereotype": "Hardly any stereotype: 0.01",
        "no clear stereotype": "No clear stereotype: 0.10",
        "too few items to tell": "Too few occupations, sentences or gender words to tell: the stereotype is 0.10",
        "within the noise": "Cannot tell: the stereotype is 2e−07",
        "not tested": "The stereotype is 0.40",
    }
    beginning = beginnings[verdict]
    if changes["value"] == 0.015:
        beginning = "Only a negligible stereotype was found: 0.01"
        assert sentence.endswith("p = 0.040; the interval reaches beyond 0.02.")
    if verdict == "too few items to tell":
        assert sentence.endswith(
            "A stereotype of 0.60 or more, in either direction, would have been found with a probability of 80 %."
        )
    assert sentence.startswith(f"{beginning}{scale}95 % interval")


def test_shares_of_answers_add_up_to_a_hundred() -> None:
    assert show_kinds(0.4051, 0.3149) == ("41\N{NO-BREAK SPACE}%", "31\N{NO-BREAK SPACE}%", "28\N{NO-BREAK SPACE}%")
    assert show_kinds(0.334, 0.333) == ("33\N{NO-BREAK SPACE}%", "33\N{NO-BREAK SPACE}%", "34\N{NO-BREAK SPACE}%")
    assert show_kinds(0.5, 0.5)[2] == "0\N{NO-BREAK SPACE}%"


def test_a_default_says_for_whom_people_are_taken(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    for sign, verdict in ((1, "people are taken for men"), (-1, "people are taken for women")):
        bounds = tuple(sorted((sign * 0.1, sign * 0.3)))
        measurement = _change(measurement_and_items[0], "default", value=sign * 0.2, interval=bounds, p_adjusted=0.01)
        assert _key_figures(measurement)["Default"].verdict == f"moderate, {verdict}"


def _make_inconclusive(measurement: Measurement, reason: str, control: float) -> Measurement:
    inference = measurement.read_details(Inference).model_copy(update={"inconclusive": reason})
    check = measurement.competence[0].model_copy(update={"value": control, "interval": None})
    update = {"details": inference.model_dump(), "competence": [check]}
    return get_measure("inference").conclude(measurement.model_copy(update=update))


def _warnings(report: list[Block]) -> list[Text]:
    return [text for text in of_type(report, Text) if text.style == "warning"]


def test_an_inconclusive_score_is_said_first(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    doubtful = _make_inconclusive(measurement_and_items[0], "it errs in 40 of 100 pairs", 0.9)
    report = blocks(doubtful, None)
    assert report[0] in _warnings(report)
    assert [figure.title for figure in of_type(report, KeyFigure) if figure.verdict == "inconclusive"] == [
        "NLI-CoAL score",
        "Biased : plain error : left open",
    ]
    assert "it errs in 40 of 100 pairs" in doubtful.headline_text
    assert _warnings(blocks(measurement_and_items[0], None)) == []


def test_a_model_that_fails_the_control_is_not_judged(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    measurement = _make_inconclusive(measurement_and_items[0], "it fails", 0.4)
    figures = [block for block in section(measurement).blocks if isinstance(block, KeyFigure)]
    assert {figure.verdict for figure in figures} == {"inconclusive"}
    assert "cannot reliably infer" in unreadable(measurement), "so the page warns"


def test_published_has_neither_intervals_nor_tests_nor_a_control() -> None:
    people = People("the {occupation}", PEOPLE.pairs[:1], ())
    measurement, items = _measure("published", people=people)
    report = blocks(measurement, items)
    figures = key_figures(report)
    assert list(figures) == ["NLI-CoAL score", "Biased : plain error : left open", "Women and men told apart"]
    assert figures["NLI-CoAL score"].certainty.startswith("no interval; FN")
    scores = find_table(report, "All scores")
    assert [column.title for column in scores.columns] == ["Score", "From answers"]
    assert all(cell.bounds == "" for row in scores.rows for cell in row)
    assert "By pair of gender words" not in [table.title for table in of_type(report, Table)]
    assert "no control pairs" in " ".join(lines(report))
    assert "published protocol" in " ".join(lines(method([measurement])))
    assert "jackknife" not in " ".join(lines(method([measurement])))


def test_methods_fit_the_protocols(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    method_blocks = method([measurement_and_items[0]])
    assert next(iter(of_type(method_blocks, Text))).lines == ["NLI-CoAL = (e_p + c_a + 1 − n_n) / 3"]
    assert "pairs of gender words as samples" in " ".join(lines(method_blocks))
    assert "published protocol" not in " ".join(lines(method_blocks))
    assert "negligible below 0.02, small below 0.1, moderate below 0.3, and large" in " ".join(lines(method_blocks))


def test_recorded_answers_may_lack_probabilities_and_sentences(
    measurement_and_items: tuple[Measurement, pd.DataFrame],
) -> None:
    answers = measurement_and_items[1].drop(columns=["p_entailment", "p_neutral", "p_contradiction"])
    measurement = _analyse_and_interpret(answers)
    report = blocks(measurement, answers)
    assert not [cell for table in of_type(report, Table) for row in table.rows for cell in row if "p̄" in cell.note]
    assert "From probabilities" not in [column.title for column in find_table(report, "All scores").columns]
    assert key_figures(report)["NLI-CoAL score"].verdict == "answers only"
    examples = [example for group in of_type(report, Examples) for example in group.examples]
    assert examples
    assert not [example for example in examples if "p =" in example.note]
    empty = answers.assign(premise="", hypothesis="", template="", pair="")
    report = blocks(_analyse_and_interpret(empty), empty)
    assert of_type(report, Examples) == []
    assert "This result was stored without its sentences." in lines(report)
    assert "1 known sentence" in " ".join(lines(report))
    assert "Gender words" not in " ".join(lines(report))


def test_answers_that_are_all_neutral_resolve_nothing(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    items = measurement_and_items[1][measurement_and_items[1]["gender"] != ""]
    items = items.assign(p_entailment=0.1, p_neutral=0.8, p_contradiction=0.1, prediction="neutral")
    report = blocks(_analyse_and_interpret(items), items)
    assert "No occupation is ever resolved to a gender: all answers are neutral." in lines(report)
    answers = key_figures(report)["Biased : plain error : left open"]
    assert (_plain(answers.value), answers.verdict) == ("0 % : 0 % : 100 %", "no plain error")
    assert not [line for line in lines(report) if line.startswith("Most often resolved")]
    assert len(of_type(report, Figure)) == 2


def test_sentences_have_their_language_and_highlight_persons() -> None:
    people = People("{occupation}", (GenderPair("woman", "女性", "男性"),), ("人",))
    names = {"nurse": "看護師", "pilot": "操縦士"}
    templates = ("{person}が本を読む。", "庭で{person}が歌う。")
    report = blocks(*_measure("sound", "ja", _occupations(**names), people, templates))
    examples = of_type(report, Examples)
    assert {group.language for group in examples} == {"ja"}
    sentences = [
        run for group in examples for example in group.examples for sentence in example.sentences for run in sentence
    ]
    assert ("看護師", "attribute") in sentences
    assert {run for run in sentences if run[1] in ("female", "male")} == {("女性", "female"), ("男性", "male")}
    occupations = find_table(report, "All 12 occupations")
    assert {row[0].language for row in occupations.rows} == {"ja"}


HIGHLIGHTED: list[tuple[str, str, list[Run]]] = [
    # sentence, template, runs
    ("The nurse is here.", "{person} is here.", [("The nurse", "male"), (" is here.", "")]),
    ("Here is he.", "here is {person}.", [("Here is ", ""), ("he", "male"), (".", "")]),
    ("庭で女性が歌う。", "庭で{person}が歌う。", [("庭で", ""), ("女性", "male"), ("が歌う。", "")]),
    ("The nurse met a nurse.", "the {person} met a {person}.", [("The nurse met a nurse.", "")]),
    ("Something else.", "{person} is here.", [("Something else.", "")]),
    (" is here.", "{person} is here.", [(" is here.", "")]),
    ("The nurse.", "", [("The nurse.", "")]),
    ("", "{person}", [("", "")]),
]


@pytest.mark.parametrize(("text", "template", "runs"), HIGHLIGHTED)
def test_the_person_of_a_sentence(text: str, template: str, runs: list[Run]) -> None:
    assert highlight_person(text, template, "male") == runs


def test_examples_are_the_surest_and_of_different_occupations() -> None:
    rows = [
        ("PS", "entailment", "nurse", "a", 0.9),
        ("PS", "entailment", "nurse", "b", 0.95),
        ("PS", "entailment", "nanny", "b", 0.94),
        ("PS", "entailment", "nanny", "c", 0.6),
        ("AS", "contradiction", "maid", "a", 0.7),
        ("AS", "entailment", "maid", "a", 0.5),
        ("PS", "contradiction", "dancer", "a", 0.8),
        ("NS", "entailment", "poet", "a", 0.99),
        ("NS", "neutral", "poet", "b", 0.4),
        ("control", "neutral", "poet", "b", 0.9),
    ]
    items = pd.DataFrame(rows, columns=["set", "prediction", "occupation", "template", "p"])
    items = items.assign(premise="x", hypothesis="y", occupation_type="female", gender="male")
    items = items.assign(**{f"p_{label}": items["p"] for label in ("entailment", "neutral", "contradiction")})

    def notes(items: pd.DataFrame) -> list[list[str]]:
        return [[example.note for example in group.examples] for group in collect_examples(items, "en")]

    assert notes(items) == [
        [
            "entailment, p = 0.95 · PS · nurse: female stereotype",
            "entailment, p = 0.60 · PS · nanny: female stereotype",
        ],
        ["contradiction, p = 0.70 · AS · maid: female stereotype"],
        [
            "contradiction, p = 0.80 · PS · dancer: female stereotype",
            "entailment, p = 0.50 · AS · maid: female stereotype",
        ],
        ["neutral, p = 0.40 · NS · poet: female stereotype"],
    ]
    counts = [group.title.rpartition("(")[2] for group in collect_examples(items, "en")]
    assert counts == ["4 pairs)", "1 pair)", "2 pairs)", "1 pair)"]
    same_template = notes(items.assign(template="a"))[0]
    assert [note.split(" · ")[0] for note in same_template] == ["entailment, p = 0.95", "entailment, p = 0.94"]
    assert notes(items[:0]) == [[], [], [], []]


def test_only_pairs_of_the_measurement_are_shown(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = measurement_and_items
    custom_items = items.assign(corpus="custom", premise="A stranger.", p_entailment=1.0)
    selected = select_items(measurement, pd.concat([items, custom_items]))
    assert selected is not None
    assert len(selected) == len(items)
    assert select_items(measurement, custom_items) is None
    assert of_type(blocks(measurement, items.drop(columns="premise")), Examples) == []


def test_a_result_without_numbers_has_dashes(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    nothing: dict[str, Any] = dict.fromkeys(("value", "interval", "statistic", "df", "p_value", "p_adjusted"))
    inference = measurement_and_items[0].read_details(Inference)
    inference = inference.model_copy(update={"sets": [], "by_type": [], "by_pair": [], "occupations": []})
    update: dict[str, Any] = {
        "tests": {name: test.model_copy(update=nothing) for name, test in measurement_and_items[0].tests.items()},
        "groups": {
            name: group.model_copy(update={"value": None, "interval": None})
            for name, group in measurement_and_items[0].groups.items()
        },
        "details": inference.model_dump(),
        "competence": [],
        "noise_floor": None,
    }
    report = blocks(measurement_and_items[0].model_copy(update=update), None)
    assert of_type(report, KeyFigure) == []
    assert of_type(report, Figure) == []
    scores = table_rows(find_table(report, "All scores"))
    assert {cell for row in scores.values() for cell in row[:1]} == {"–"}


# The page


def test_hostile_words_are_escaped_everywhere() -> None:
    people = People("{occupation}", (GenderPair(EVIL, EVIL + "f", EVIL + "m"),) * 2, (EVIL,))
    occupations = _occupations(nurse=EVIL)
    measurement, items = _measure(occupations=occupations, people=people, templates=(EVIL + "{person}", "{person}"))
    inference = measurement.read_details(Inference)
    parts = [part.model_copy(update={"name": EVIL, "labels": {"set": EVIL}}) for part in inference.sets]
    by_pair = [pair.model_copy(update={"name": EVIL}) for pair in inference.by_pair * 2]
    changes = {"sets": parts, "by_pair": by_pair, "labels": EVIL, "inconclusive": EVIL}
    tests = {EVIL: measurement.tests["default"].model_copy(update={"question": EVIL})}
    update = {"headline": [EVIL], "language": '"><b>', "caveats": [Caveat(code=f'"{EVIL}', text=EVIL)], "tests": tests}
    update["details"] = inference.model_copy(update=changes).model_dump()
    hostile = measurement.model_copy(update=update)
    page = render_page(hostile, items.assign(language='"><b>'))
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert f">{EVIL}</th>" in unescape(page)
    assert unescape(page).count(EVIL) > 40
    assert EVIL[:8] in terminal_text(hostile)


def test_the_terminal_shows_answers_tests_and_scores(measurement_and_items: tuple[Measurement, pd.DataFrame]) -> None:
    measurement = measurement_and_items[0]
    text = terminal_text(measurement)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(_plain(text).split())
    inference = measurement.read_details(Inference)
    shares = inference.sets[0].shares.values()
    assert f"Pro-stereotypical 32 {' '.join(f'{100 * share:.1f} %' for share in shares)}" in words
    most = select_most_resolved(inference.occupations)[0]
    assert f"Most often resolved to a gender: {most.occupation} {100 * most.resolved:.0f} %" in words
    assert "by up to 3.1e-07" in words


@needs_chromium
def test_a_browser_shows_it(measurement_and_items: tuple[Measurement, pd.DataFrame], tmp_path: Path) -> None:
    page = render_page(*measurement_and_items)
    assert_plots_are_described(page, 4)
    assert_a_browser_shows(page, tmp_path / "report.html")
    assert_accessible(tmp_path / "report.html")
