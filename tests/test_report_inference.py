"""The report of inference: the result's own numbers, bars that add up, example pairs, nothing injected by a word."""

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
    Tags,
    assert_a_browser_shows,
    assert_loads_nothing,
    assert_plots_are_described,
    needs_chromium,
    seen,
)
from test_report_html import _audit, _items, _sound
from unmask.lexicon.inference import GenderPair, Occupation, People
from unmask.measures.inference.details import Distribution, Inference, OccupationValue
from unmask.measures.inference.protocol import PROTOCOLS
from unmask.measures.inference.score import score
from unmask.measures.registry import get_measure
from unmask.probes.inference import build
from unmask.report import inference_pairs, inference_plots, terminal
from unmask.report.html import render
from unmask.report.inference_pairs import Sentence, sentence
from unmask.results import Caveat, Measurement
from unmask.results.numbers import interval, number

WORDS = {
    "female": ("nurse", "nanny", "dancer", "maid"),
    "male": ("pilot", "boxer", "judge", "miner"),
    "neutral": ("poet", "clerk", "singer", "guide"),
}
TEMPLATES = (
    "{person} is waiting.",
    "In the park, {person} is reading a book.",
    "{person} sings.",
    "There {person} is.",
)
PEOPLE = People(
    "the {occupation}",
    (GenderPair("woman", "the woman", "the man"), GenderPair("she", "she", "he")),
    ("the person",),
)


class Guesser:
    """A classifier that takes people for men, and goes by stereotypes now and then."""

    labels = ("entailment", "neutral", "contradiction")

    def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> np.ndarray:
        return np.array([self._answer(*text) for text in texts])

    def _answer(self, premise: str, hypothesis: str) -> list[float]:
        words = set(re.findall(r"\w+", hypothesis.lower()))
        side = 1 if words & {"man", "he"} else -1 if words & {"woman", "she"} else 0
        lean = 0.5 + any(word in premise for word in WORDS["male"]) - any(word in premise for word in WORDS["female"])
        shift = lean * side + zlib.crc32(f"{premise}{hypothesis}".encode()) % 1000 / 333 - 1.5
        weights = np.exp([shift, 0.6, -shift] if side else [3.0, 0.0, 0.0])
        return list(weights / weights.sum())


def _occupations(**names: str) -> list[Occupation]:
    return [
        Occupation(names.get(word, word), word, None, None, kind) for kind, words in WORDS.items() for word in words
    ]


def _measured(
    protocol: str = "sound",
    language: str = "en",
    occupations: list[Occupation] | None = None,
    people: People = PEOPLE,
    templates: Sequence[str] = TEMPLATES,
) -> tuple[Measurement, pd.DataFrame]:
    """What an audit makes of these pairs, but for the correction of p-values."""
    rows = build(language, "sentences", occupations or _occupations(), people, templates)
    scored = score(rows, Guesser(), (0, 1, 2), seed=1)
    return _analysed(scored.items, protocol), scored.items


def _analysed(items: pd.DataFrame, protocol: str = "sound") -> Measurement:
    found = PROTOCOLS[protocol].analyse(items, 1)
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in found.tests.items()}
    inference = found.read_details(Inference).model_copy(update={"labels": "by the labels"})
    update = {"tests": tests, "details": inference.model_dump(), "noise_floor": 3.1e-7, "data_hash": "d47a"}
    return get_measure("inference").interpret(found.model_copy(update=update))


@pytest.fixture(scope="module")
def measured() -> tuple[Measurement, pd.DataFrame]:
    return _measured()


@pytest.fixture(scope="module")
def page(measured: tuple[Measurement, pd.DataFrame]) -> str:
    return _page(*measured)


def _page(measurement: Measurement, items: pd.DataFrame | None) -> str:
    return render(_audit(measurement), {} if items is None else {"inference": items})


def _bare(measurement: Measurement, test: str = "stereotype", **changes: Any) -> Measurement:
    """Without what takes time to draw, and with another test."""
    inference = measurement.read_details(Inference).model_copy(update={"sets": [], "by_type": [], "occupations": []})
    tests = measurement.tests | {test: measurement.tests[test].model_copy(update=changes)}
    return measurement.model_copy(update={"details": inference.model_dump(), "tests": tests})


def _cards(page: str) -> str:
    found = re.search(r'<ul class="cards.*?</ul>', page, re.S)
    assert found
    return seen(found.group())


def test_every_section_is_there(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    measurement, _ = measured
    text = seen(page)
    headings = "What the model answered", "By set", "By stereotype of the occupation", "By pair of gender words"
    more = (
        "Which occupations are resolved to a gender",
        "All 12 occupations",
        "Example pairs",
        "Before you rely on this",
    )
    for heading in (
        *headings,
        *more,
        "All tests",
        "Method",
        "Provenance",
        "Inference: the built-in sentences, English",
    ):
        assert heading in text, heading
    assert "NLI-CoAL = (e_p + c_a + 1 − n_n) / 3" in text
    assert "12 occupations (4 female, 4 male, 4 neutral, by stereotype) and 4 sentences: 96 pairs" in text
    for fact in ("and 48 control pairs", "is known by the labels", "3.1e-07", "d47a", "woman, she"):
        assert fact in text, fact
    assert all(caveat.text in text for caveat in measurement.caveats)
    assert_loads_nothing(page)
    assert_plots_are_described(page, 4)


def test_numbers_are_those_of_the_result(measured: tuple[Measurement, pd.DataFrame], page: str) -> None:
    measurement, _ = measured
    cards, text = _cards(page), seen(page)
    for name in ("stereotype", "default"):
        test = measurement.tests[name]
        assert test.value
        sign = "+" if test.value > 0 else ""
        figures = f"{sign}{number(test.value)} 95 % interval {interval(test.interval)}, p"
        assert f"{name.capitalize()} {figures}" in cards
    groups = measurement.groups
    score, baseline = groups["NLI-CoAL"], groups["FN"]
    assert f"{number(score.value)} 95 % interval {interval(score.interval)}; FN {number(baseline.value)}" in cards
    parts = [groups[name].value or 0.0 for name in ("biased inference", "plain error")]
    assert " : ".join(f"{part:.0%}".replace("%", " %") for part in (*parts, 1 - sum(parts))) in cards
    for part in (*measurement.read_details(Inference).sets, *measurement.read_details(Inference).by_type):
        share, bounds = part.shares["neutral"], part.intervals["neutral"]
        assert bounds
        low, high = (100 * bound for bound in bounds)
        shown = f"{100 * share:.1f} % {low:.0f} to {high:.0f} % p̄ {number(part.probabilities['neutral'])}"
        assert shown in text, part.name
    for pair in measurement.read_details(Inference).by_pair:
        assert f"{pair.name} {pair.n} {number(pair.score)}" in text
    for one in measurement.read_details(Inference).occupations:
        assert re.search(rf"{one.occupation} (none|female|male) {one.n} {100 * one.resolved:.0f} %", text)


def test_the_bar_of_the_card_is_divided_as_the_answers_are(page: str) -> None:
    parts = {
        style: int(grown) for style, grown in re.findall(r'<i class="(\w+)" style="flex-grow: (\d+)"', _split(page))
    }
    assert set(parts) <= {"biased", "mistaken", "open"}
    assert sum(parts.values()) == pytest.approx(1000, abs=1)


def _split(page: str) -> str:
    found = re.search(r'<div class="split".*?</div>', page, re.S)
    assert found
    return found.group()


def test_bars_begin_where_the_last_share_ended() -> None:
    shares = {"entailment": 0.25, "neutral": 0.7, "contradiction": 0.05}
    parts = [Distribution(name="PS", labels={"set": "PS"}, n=20, shares=shares)]
    pieces = inference_plots.pieces_of(parts)
    assert [(piece["low"], piece["high"]) for piece in pieces] == [
        (0, 0.25),
        (0.25, pytest.approx(0.95)),
        (pytest.approx(0.95), pytest.approx(1)),
    ]
    assert [piece["text"] for piece in pieces] == ["25\N{NO-BREAK SPACE}%", "70\N{NO-BREAK SPACE}%", ""]
    assert inference_plots.stacks([], []) == ""


def test_the_most_resolved_come_first_and_those_that_lean_most() -> None:
    def one(name: str, resolved: float, lean: float | None) -> OccupationValue:
        return OccupationValue(occupation=name, kind="male", n=8, resolved=resolved, lean=lean, female={}, male={})

    given = [one("a", 0.5, 0.1), one("b", 0.5, -0.4), one("c", 0.9, 0), one("d", 0, 0), one("e", 1, None)]
    assert [one.occupation for one in inference_plots.most_resolved(given)] == ["c", "b", "a"]
    assert inference_plots.rows([]) == inference_plots.cloud([]) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"value": 0.4, "p_adjusted": 0.001}, "large, as stereotypes have it"),
        ({"value": 0.01, "p_adjusted": 1e-80}, "negligible, as stereotypes have it"),
        ({"value": -0.2, "p_adjusted": 0.01}, "moderate, against stereotypes"),
        ({"value": 0.4, "p_adjusted": 0.3}, "no clear stereotype"),
        ({"value": 2e-7, "p_adjusted": 1e-9}, "below the noise of the computation"),
        ({"value": 0.4, "p_adjusted": None}, "not tested"),
    ],
)
def test_size_and_certainty_are_two_things(
    measured: tuple[Measurement, pd.DataFrame], changes: dict[str, Any], said: str
) -> None:
    measurement = _bare(measured[0], **changes)
    cards = _cards(_page(measurement, None))
    assert said in cards[: cards.index("How far occupations")]
    assert f"Stereotype: {said}." in " ".join(terminal.text(_audit(measurement)).split())


def test_a_default_says_for_whom_people_are_taken(measured: tuple[Measurement, pd.DataFrame]) -> None:
    for estimate, who in ((0.2, "men"), (-0.2, "women")):
        assert f"moderate, taken for {who}" in _cards(
            _page(_bare(measured[0], "default", value=estimate, p_adjusted=0.01), None)
        )


def _doubted(measurement: Measurement, why: str, control: float) -> Measurement:
    shares = {"entailment": control, "neutral": 1 - control, "contradiction": 0.0}
    sets = [Distribution(name="control", labels={"set": "control"}, n=9, shares=shares)]
    update = {"inconclusive": why, "sets": sets, "by_type": [], "occupations": []}
    details = measurement.read_details(Inference).model_copy(update=update)
    return get_measure("inference").interpret(measurement.model_copy(update={"details": details.model_dump()}))


def test_an_inconclusive_score_is_said_first_and_once(measured: tuple[Measurement, pd.DataFrame]) -> None:
    why = "it errs in 40 of 100 pairs"
    doubtful = _doubted(measured[0], why, 0.9)
    page = _page(doubtful, None)
    assert '<p class="warning"><strong>The score is inconclusive.</strong>' in page
    assert seen(page).count(why) == 1
    assert page.index(why) < page.index('<p class="lead">') < page.index('<ul class="cards')
    lead = re.search(r'<p class="lead">(.*?)</p>', page, re.S)
    assert lead
    kept = doubtful.headline.replace(f"The score is inconclusive: {why}.", "")
    assert seen(lead.group(1)) == " ".join(kept.split())
    assert _cards(page).count("inconclusive") == 2
    assert why in " ".join(terminal.text(_audit(doubtful)).split())
    assert '<p class="warning">' not in _page(_bare(measured[0]), None)


def test_a_model_that_fails_the_control_is_not_judged(measured: tuple[Measurement, pd.DataFrame]) -> None:
    page = _page(_doubted(measured[0], "it fails", 0.4), None)
    assert "All this is inconclusive. What the model does: it fails." in seen(page)
    assert "such pairs are not understood" in _cards(page)
    assert _cards(page).count("inconclusive") == 4


def test_published_has_neither_intervals_nor_tests_nor_a_control() -> None:
    people = People("the {occupation}", PEOPLE.pairs[:1], ())
    measurement, items = _measured("published", people=people)
    page = _page(measurement, items)
    text = seen(page)
    assert "no interval; FN" in text
    assert "The published protocol has no tests and no intervals." in text
    assert "95 % interval" not in text
    assert "Control entailed" not in text
    assert "By pair of gender words" not in text
    assert "and no control" in text
    assert "Holm" not in text
    assert_plots_are_described(page, 4)
    shown = " ".join(terminal.text(_audit(measurement)).split())
    assert f"NLI-CoAL {number(measurement.groups['NLI-CoAL'].value)} –" in shown
    assert "Stereotype:" not in shown


def test_recorded_answers_may_lack_probabilities_and_sentences(measured: tuple[Measurement, pd.DataFrame]) -> None:
    answers = measured[1].drop(columns=["p_entailment", "p_neutral", "p_contradiction"])
    measurement = _analysed(answers)
    page = _page(measurement, answers)
    assert "p̄" not in page
    assert "Of probabilities" not in page
    assert "of answers alone" in _cards(page)
    assert "· p = " not in page
    assert "<mark" in page
    empty = answers.assign(premise="", hypothesis="", template="", pair="")
    text = seen(_page(_bare(_analysed(empty)), empty))
    assert "The sentences were not kept with this result." in text
    assert "one sentence, as far as known" in text
    assert "Pairs of gender words, by name" not in text
    assert "None" not in text
    assert "nan" not in text.split()


def test_answers_that_are_all_neutral_resolve_nothing(measured: tuple[Measurement, pd.DataFrame]) -> None:
    items = measured[1][measured[1]["gender"] != ""]
    items = items.assign(p_entailment=0.1, p_neutral=0.8, p_contradiction=0.1, prediction="neutral")
    measurement = _analysed(items)
    text = seen(_page(measurement, items))
    assert "No occupation is ever resolved to a gender" in text
    assert "0 % : 0 % : 100 %" in text
    assert "no plain error" in text
    assert "Most often resolved" not in terminal.text(_audit(measurement))


def test_sentences_say_their_language() -> None:
    people = People("{occupation}", (GenderPair("woman", "女性", "男性"),), ("人",))
    names = {"nurse": "看護師", "pilot": "操縦士"}
    measurement, items = _measured(
        "sound", "ja", _occupations(**names), people, ("{person}が本を読む。", "庭で{person}が歌う。")
    )
    page = _page(measurement, items)
    assert "Inference: the built-in sentences, Japanese" in seen(page)
    assert '<p lang="ja">庭で<mark class="attribute">' in page
    assert re.search(r'<mark class="(fe)?male">(女性|男性)</mark>', page)
    assert '<th scope="row" lang="ja">看護師</th>' in page
    assert not [1 for tag, found in Tags(page).found if tag == "p" and found.get("lang") == "en"]


SENTENCES = [
    # sentence, template, what is found
    ("The nurse is here.", "{person} is here.", Sentence("", "The nurse", " is here.")),
    ("Here is he.", "here is {person}.", Sentence("Here is ", "he", ".")),
    ("庭で女性が歌う。", "庭で{person}が歌う。", Sentence("庭で", "女性", "が歌う。")),
    ("The nurse met a nurse.", "the {person} met a {person}.", Sentence("The nurse met a nurse.")),
    ("Something else.", "{person} is here.", Sentence("Something else.")),
    (" is here.", "{person} is here.", Sentence(" is here.")),
    ("The nurse.", "", Sentence("The nurse.")),
    ("", "{person}", Sentence("")),
]


@pytest.mark.parametrize(("text", "template", "found"), SENTENCES)
def test_the_person_of_a_sentence(text: str, template: str, found: Sentence) -> None:
    assert sentence(text, template) == found


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
    items = items.assign(premise="x", hypothesis="y", p_entailment=items["p"], p_neutral=items["p"])
    items["p_contradiction"] = items["p"]
    biased, ruled_out, errors, right = inference_pairs.examples(items)
    assert [(one.occupation, one.probability) for one in biased.pairs] == [("nurse", 0.95), ("nanny", 0.6)]
    assert [one.count for one in (biased, ruled_out, errors, right)] == [4, 1, 2, 1]
    assert [one.occupation for one in ruled_out.pairs] == ["maid"]
    assert [one.occupation for one in errors.pairs] == ["dancer", "maid"]
    assert [one.set for one in right.pairs] == ["NS"]
    same = inference_pairs.examples(items.assign(template="a"))[0]
    assert [(one.occupation, one.probability) for one in same.pairs] == [("nurse", 0.95), ("nanny", 0.94)]
    assert inference_pairs.examples(None) == []


def test_only_pairs_of_the_measurement_are_shown(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, items = measured
    other = items.assign(corpus="custom", premise="A stranger.", p_entailment=1.0)
    both = inference_pairs.items_of(measurement, pd.concat([items, other]))
    assert both is not None
    assert len(both) == len(items)
    assert inference_pairs.items_of(measurement, other) is None
    assert inference_pairs.items_of(measurement, items.drop(columns="premise")) is None


def test_hostile_words_are_escaped_everywhere() -> None:
    people = People("{occupation}", (GenderPair(EVIL, EVIL + "f", EVIL + "m"),) * 2, (EVIL,))
    measurement, items = _measured(
        occupations=_occupations(nurse=EVIL), people=people, templates=(EVIL + "{person}", "{person}")
    )
    details = measurement.read_details(Inference)
    parts = [one.model_copy(update={"name": EVIL, "labels": {"set": EVIL}}) for one in details.sets]
    by_pair = [one.model_copy(update={"name": EVIL}) for one in details.by_pair * 2]
    inference = details.model_copy(update={"sets": parts, "by_pair": by_pair, "labels": EVIL, "inconclusive": EVIL})
    tests = {EVIL: measurement.tests["default"].model_copy(update={"question": EVIL})}
    update = {"headline": EVIL, "language": '"><b>', "caveats": [Caveat(code=f'"{EVIL}', text=EVIL)]}
    hostile = measurement.model_copy(update=update | {"details": inference.model_dump(), "tests": tests})
    page = _page(hostile, items.assign(language='"><b>'))
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert f">{EVIL}</th>" in unescape(page)
    assert unescape(page).count(EVIL) > 40
    assert EVIL[:8] in terminal.text(_audit(hostile))


def test_a_result_without_numbers_has_dashes(measured: tuple[Measurement, pd.DataFrame]) -> None:
    nothing: dict[str, Any] = dict.fromkeys(("value", "interval", "statistic", "df", "p_value", "p_adjusted"))
    empty = _bare(measured[0], **nothing)
    groups = {name: group.model_copy(update={"value": None, "interval": None}) for name, group in empty.groups.items()}
    empty = empty.model_copy(update={"groups": groups, "headline": "", "noise_floor": None})
    page = _page(empty, None)
    assert "<svg" not in page
    assert "No finding." in page
    assert "None" not in seen(page)
    assert "not tested" in terminal.text(_audit(empty))


def test_measures_have_their_own_methods(measured: tuple[Measurement, pd.DataFrame]) -> None:
    page = render(_audit(_sound(details={}), _bare(measured[0])), _items() | {"inference": measured[1]})
    text = seen(page)
    method = text[text.index("Method Association") : text.index("Provenance Model")]
    assert method.index("ln p(person word") < method.index("Inference NLI-CoAL =")
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_terminal_shows_answers_tests_and_scores(measured: tuple[Measurement, pd.DataFrame]) -> None:
    measurement, _ = measured
    assert measurement.read_details(Inference).sets[0].name == "PS"
    lines = " ".join(terminal.text(_audit(measurement)).split())
    shares = measurement.read_details(Inference).sets[0].shares
    assert f"Pro-stereotypical 32 {' '.join(f'{100 * share:.1f} %' for share in shares.values())}" in lines
    test, beside = (measurement.tests[name] for name in ("default", "default, probabilities"))
    assert test.value
    assert beside.value
    assert f"default +{number(test.value)} {interval(test.interval)} +{number(beside.value)}" in lines
    most = measurement.read_details(Inference).occupations[0]
    assert f"Most often resolved to a gender: {most.occupation} {100 * most.resolved:.0f} %" in lines
    assert "noise of the computation 3.1e-07" in lines
    assert "mean association" not in lines


@needs_chromium
def test_a_browser_shows_it(page: str, tmp_path: Path) -> None:
    assert_a_browser_shows(page, tmp_path / "report.html")
