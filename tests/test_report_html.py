"""The HTML report: every section, the result's own numbers, nothing loaded, nothing injected by a name."""

from __future__ import annotations

import re
from html import unescape
from math import exp
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from unmask.measures.association.details import AssociationDetails, Hypothesis, ProfessionValue
from unmask.report.html import render
from unmask.results import AuditResult, Caveat, Estimate, Measurement, ModelInfo
from unmask.results.numbers import interval, number

GROUPS = ("male", "female", "balanced")


STEREOTYPE = {"contrast": "stereotype"}
WORKFORCE = {"contrast": "workforce", "correlation": "pearson"}


def _difference(kind: str) -> dict[str, str]:
    return {"contrast": "difference", "group": kind}


def _test(labels: dict[str, str], estimate: float | None, p: float | None = 0.2, **changes: Any) -> Estimate:
    bounds = None if estimate is None else (estimate - 0.37, estimate + 0.41)
    given: dict[str, Any] = {
        "labels": labels,
        "question": "Is there a difference?",
        "n": 90,
        "value": estimate,
        "interval": bounds,
    }
    given |= {"statistic": 1.5, "statistic_name": "t", "p_value": p, "p_adjusted": p, "effect_size": 0.44}
    return Estimate(**(given | changes))


def _groups(kinds: tuple[str, ...], noun: str, **changes: Any) -> dict[str, Estimate]:
    groups = {}
    for at, (kind, gender) in enumerate((kind, gender) for kind in kinds for gender in ("female", "male")):
        given: dict[str, Any] = {"n": 45, "value": -1.234 + at, "interval": (-2.345 + at, -0.111 + at)}
        labels = {"group": kind, "gender": gender}
        groups[f"{kind} {noun}, {gender} persons"] = Estimate(labels=labels, **(given | changes))
    return groups


def _professions(count: int = 4) -> list[ProfessionValue]:
    return [
        ProfessionValue(
            profession=f"{group} job {at}",
            group=group,
            workforce_share=10.0 + 5 * at,
            female=0.5 * at,
            male=-0.25,
            difference=0.5 * at + 0.25,
            difference_interval=(0.5 * at, 0.5 * at + 0.5),
        )
        for group in GROUPS
        for at in range(count)
    ]


def _details(professions: list[ProfessionValue]) -> dict[str, Any]:
    hypothesis = Hypothesis(name="H1", statement="It is so.", answer="partly supported", evidence="0.77 of it")
    return AssociationDetails(
        hypotheses=[hypothesis], professions=professions, several_pieces=["godmother"]
    ).model_dump()


def _sound(**changes: Any) -> Measurement:
    tests = {"stereotype": _test(STEREOTYPE, 1.5, 0.001), "workforce share, pearson": _test(WORKFORCE, 0.31)}
    tests |= {
        f"female minus male, {kind} professions": _test(_difference(kind), 0.612 + at) for at, kind in enumerate(GROUPS)
    }
    given: dict[str, Any] = {
        "name": "association",
        "language": "en",
        "corpus": "bec-pro",
        "protocol": "sound",
        "headline": "The model links people to professions.",
        "items": 540,
        "groups": _groups(GROUPS, "professions"),
        "tests": tests,
        "details": _details(_professions()),
        "caveats": [Caveat(code="template-sentences", text="The sentences are made from templates.")],
        "noise_floor": 1.5e-6,
        "distinct_inputs": 97,
        "data_hash": "d47a",
    }
    return Measurement(**(given | changes))


def _published() -> Measurement:
    tests = {
        f"female minus male, {kind} professions": _test(
            _difference(kind), 0.02, 1e-40, interval=None, statistic=16633.0, statistic_name="V", effect_size=-0.56
        )
        for kind in GROUPS
    }
    groups = _groups(GROUPS, "professions", interval=None, sd=1.987)
    return _sound(protocol="published", tests=tests, groups=groups, noise_floor=None)


def _emotions() -> Measurement:
    kinds = ("anger", "joy")
    words = [
        ProfessionValue(profession=f"{kind} word", group=kind, workforce_share=None, female=1, male=0.5, difference=0.5)
        for kind in kinds
    ]
    tests = {f"female minus male, {kind} emotion words": _test(_difference(kind), 0.1) for kind in kinds}
    groups = _groups(kinds, "emotion words")
    details = AssociationDetails(professions=words, several_pieces=["godmother"]).model_dump()
    return _sound(corpus="emotions", attributes="emotion words", tests=tests, groups=groups, details=details)


def _audit(*measurements: Measurement, name: str = "bert-x") -> AuditResult:
    return AuditResult(
        unmask_version="0.0.7",
        created="2020-02-02T02:02:02+00:00",
        model=ModelInfo(
            name=name, architecture="BertForMaskedLM", parameters=1234567, weight_hash="ab12", dtype="float32"
        ),
        configuration={"languages": ["en"], "offline": True, "templates": None},
        libraries={"numpy": "9.9.9"},
        seed=4711,
        measurements=list(measurements),
    )


def _items(**changes: Any) -> dict[str, pd.DataFrame]:
    rows = [
        {
            "language": "en",
            "corpus": "bec-pro",
            "person": person,
            "target": target,
            "gender": gender,
            "profession": f"job {at}",
            "form": f"job {at}",
            "sentence": f"My {target} is a job {at}.",
            "association": sign * (1 + at / 100),
            "log_p_target": -2.5,
            "log_p_prior": -3.625,
        }
        for sign in (1, -1)
        for at in range(20)
        for person, target, gender in ((f"my son {at}", "son", "male"), (f"my aunt {at}", "aunt", "female"))
    ]
    return {"association": pd.DataFrame(rows).assign(**changes)}


def test_every_section_is_there() -> None:
    text = seen(render(_audit(_sound()), _items()))
    for heading in (
        "Mean associations",
        "By profession",
        "Against the workforce",
        "hypotheses",
        "sentences behind",
    ):
        assert heading in text
    for part in ("All tests", "Method", "Provenance", "jackknife", "Holm", "nats"):
        assert part in text
    facts = (
        "bert-x",
        "The model links people",
        "H1",
        "partly supported",
        "0.77 of it",
        "made from templates",
        "godmother",
    )
    provenance = (
        "1,234,567",
        "ab12",
        "float32",
        "4711",
        "9.9.9",
        "0.0.7",
        "d47a",
        "97",
        "1.5e-06",
        "2020-02-02T02:02:02",
    )
    for fact in facts + provenance:
        assert fact in text, fact


def test_numbers_in_the_table_are_those_of_the_result() -> None:
    measurement = _sound()
    table = re.search(r'<table class="means">.*?</table>', render(_audit(measurement), {}), re.S)
    assert table
    text = seen(table.group())
    for kind in GROUPS:
        test = measurement.tests[f"female minus male, {kind} professions"]
        groups = [measurement.groups[f"{kind} professions, {gender} persons"] for gender in ("female", "male")]
        means = " ".join(f"{number(group.value)} {interval(group.interval)}" for group in groups)
        difference = f"{number(test.value)} {interval(test.interval)}"
        assert f"{kind.capitalize()} professions 45 + 45 {means} {difference} 0.200 0.44" in text


def test_the_stereotype_card_shows_a_factor_with_its_interval() -> None:
    text = seen(render(_audit(_sound()), {}))
    assert f"{number(exp(1.5))} × 95 % interval {number(exp(1.13))} to {number(exp(1.91))} strong effect" in text


def test_a_tiny_p_is_no_large_effect() -> None:
    text = seen(render(_audit(_published()), {}))
    assert "negligible effect" in text
    assert "strong effect" not in text
    assert "e-40" not in text


def test_a_large_estimate_that_may_be_chance_is_no_effect() -> None:
    text = seen(render(_audit(_sound(tests={"stereotype": _test(STEREOTYPE, 3.0, 0.4)})), {}))
    assert "no clear difference" in text
    assert "strong effect" not in text


def test_published_has_v_r_and_sd() -> None:
    text = seen(render(_audit(_published()), _items()))
    for figure in ("V r p", "16633", "−0.56", "1.99", "< 0.001", "signed ranks"):
        assert figure in text
    assert "95 % interval −" not in text


def test_emotions_have_no_workforce_and_no_hypotheses() -> None:
    page = render(_audit(_emotions()), {})
    text = seen(page)
    assert "Anger emotion words" in text
    assert "By emotion word" in text
    assert "hypotheses" not in text
    assert "workforce" not in text.replace("Against the workforce", "x")
    assert page.count("<svg") == 2
    assert ">women</text>" not in page


def test_what_can_be_read_as_bias_comes_first() -> None:
    caveat = Caveat(code="grammatical-agreement", text="Agreement drowns it.")
    agreeing = _sound(language="de", headline="Not bias.", caveats=[caveat])
    text = seen(render(_audit(agreeing, _sound(corpus="agreement-free", headline="This is it.")), {}))
    assert text.index("This is it.") < text.index("Not bias.")
    assert text.count("strong effect") == 2  # in short, and in its section
    assert "not interpretable" in text


def test_bars_are_sorted_by_difference_and_name_the_share() -> None:
    page = render(_audit(_sound()), {})
    panel = page[page.index("group female, in nats") :]
    panel = panel[: panel.index("</svg>")]
    assert re.findall(r">(female job \d)</text>", panel) == [f"female job {at}" for at in (3, 2, 1, 0)]
    assert ">25 %</text>" in panel
    assert ">+1.75</text>" in panel


def test_a_long_list_shows_both_ends() -> None:
    page = render(_audit(_sound(details=_details(_professions(60)))), {})
    assert "40 of 60" in seen(page)
    assert ">male job 0</text>" in page
    assert ">male job 59</text>" in page
    assert ">male job 30</text>" not in page


def test_every_plot_has_a_description() -> None:
    assert_plots_are_described(render(_audit(_sound()), {}), 4)


def test_sentences_mark_the_person_and_the_profession() -> None:
    page = render(_audit(_sound()), _items())
    assert 'My <mark class="female">aunt</mark> is a <mark class="attribute">job 19</mark>.' in page
    assert "−2.50" in page
    assert "−3.62" in page
    assert page.count("<mark class=") == 2 * 16


def test_a_person_word_is_not_found_inside_another_word() -> None:
    items = _items(sentence="That person, my son, is a mason son.", form="mason son", target="son", gender="male")
    page = render(_audit(_sound()), items)
    marked = 'That person, my <mark class="male">son</mark>, is a <mark class="attribute">mason son</mark>.'
    assert page.count(marked) == 16


def test_recorded_items_may_lack_sentences_and_probabilities() -> None:
    items = {"association": _items(sentence="")["association"].drop(columns=["log_p_target", "log_p_prior"])}
    page = render(_audit(_sound()), items)
    assert '<mark class="female">aunt</mark> … <mark class="attribute">job 19</mark>' in page
    assert "ln prior" not in page


def test_only_items_of_the_measurement_are_shown() -> None:
    assert "The sentences were not kept" in seen(render(_audit(_sound(corpus="emotions")), _items()))


@pytest.mark.parametrize("measurement", [_sound(), _published(), _emotions()], ids=["sound", "published", "emotions"])
def test_nothing_is_loaded(measurement: Measurement) -> None:
    assert_loads_nothing(render(_audit(measurement), _items()))


def test_hostile_text_is_escaped_everywhere() -> None:
    evil = [one.model_copy(update={"profession": f"{at}{EVIL}"}) for at, one in enumerate(_professions(2))]
    evil = [one.model_copy(update={"group": EVIL}) for one in evil]
    hypothesis = Hypothesis(name=EVIL, statement=EVIL, answer="supported", evidence=EVIL)
    details = AssociationDetails(hypotheses=[hypothesis], professions=evil, several_pieces=[EVIL])
    hostile = _sound(
        headline=EVIL,
        corpus=EVIL,
        language='"><b>',
        groups=_groups((EVIL,), "professions"),
        tests={
            f"female minus male, {EVIL} professions": _test(_difference(EVIL), 1, question=EVIL, effect_size_name=EVIL)
        },
        caveats=[Caveat(code=f'"{EVIL}', text=EVIL)],
        details=details.model_dump(),
        data_hash=EVIL,
    )
    items = _items(language='"><b>', corpus=EVIL, gender=EVIL, sentence=f"{EVIL} is a {EVIL}", target=EVIL, form=EVIL)
    result = _audit(hostile, name=EVIL).model_copy(
        update={"configuration": {EVIL: [EVIL]}, "libraries": {EVIL: EVIL}, "created": f'"{EVIL}'}
    )
    page = render(result, items)
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert unescape(page).count(EVIL) > 30
    assert ">0&lt;script&gt;" in page[page.index("<svg") :]


def test_professions_can_be_missing() -> None:
    text = seen(render(_audit(_sound(details=_details([]))), {}))
    assert "no values by profession" in text
    assert "No profession has both" in text


def test_a_single_profession_is_drawn() -> None:
    assert render(_audit(_sound(details=_details(_professions()[:1]))), {}).count("<svg") == 2


def test_without_estimates_there_are_dashes() -> None:
    nothing: dict[str, Any] = {"statistic": None, "effect_size": None}
    tests = {name: _test(test.labels, None, None, **nothing) for name, test in _sound().tests.items()}
    gone = {"female": None, "male": None, "difference": None, "difference_interval": None}
    professions = [one.model_copy(update=gone) for one in _professions()]
    groups = _groups(GROUPS, "professions", value=None, interval=None, n=0)
    page = render(_audit(_sound(tests=tests, details=_details(professions), groups=groups, headline="")), {})
    assert "<svg" not in page
    assert "None" not in seen(page)
    assert "No finding." in page
    assert "Male professions 0 + 0 – – – – –" in seen(page)


def test_an_audit_without_measurements_still_says_what_it_was() -> None:
    assert "bert-x" in seen(render(_audit(), {}))


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page_without_network_errors_or_overflow(tmp_path: Path) -> None:
    audit = _audit(_sound(), _published(), _emotions(), name=EVIL + "x" * 300)
    assert_a_browser_shows(render(audit, _items()), tmp_path / "report.html")
