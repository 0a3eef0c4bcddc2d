"""The page of an audit: every section is there, nothing is loaded, nothing is injected by a name."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from unmask.measures.association.details import AssociationDetails, Hypothesis, ProfessionValue
from unmask.measures.sections import build_sections, item_tables
from unmask.report import html
from unmask.results import AuditResult, Caveat, Estimate, Measurement, ModelInfo

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
        "headline": ["The model links people to professions."],
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


def _without_estimates() -> Measurement:
    nothing: dict[str, Any] = {"statistic": None, "effect_size": None}
    tests = {name: _test(test.labels, None, None, **nothing) for name, test in _sound().tests.items()}
    gone = {"female": None, "male": None, "difference": None, "difference_interval": None}
    details = _details([one.model_copy(update=gone) for one in _professions()])
    groups = _groups(GROUPS, "professions", value=None, interval=None, n=0)
    return _sound(tests=tests, details=details, groups=groups, headline=[])


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


def render(audit: AuditResult, items: dict[str, pd.DataFrame], *, beside: bool = False) -> str:
    """The page of an audit."""
    return html.render_audit(audit, build_sections(audit.measurements, items), item_tables(items), beside=beside)


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
    headings = ("Mean associations", "By profession", "Against the workforce", "hypotheses", "sentences behind")
    for part in (*headings, "Before you rely on this", "All tests", "Method", "Provenance"):
        assert part in text, part
    facts = (
        "bert-x",
        "The model links people",
        "H1",
        "partly supported",
        "0.77 of it",
        "made from templates",
        "godmother",
    )
    model = ("1,234,567", "ab12", "float32", "4711", "9.9.9", "0.0.7", "d47a", "97", "1.5e-06", "2020-02-02T02:02:02")
    for fact in facts + model:
        assert fact in text, fact


def test_what_can_be_read_as_bias_comes_first() -> None:
    caveat = Caveat(code="grammatical-agreement", text="Agreement drowns it.")
    agreeing = _sound(language="de", headline=["Not bias."], caveats=[caveat])
    text = seen(render(_audit(agreeing, _sound(corpus="agreement-free", headline=["This is it."])), {}))
    assert text.index("This is it.") < text.index("Not bias.")
    assert text.count("strong difference") == 2  # in short, and in its section
    assert text.count("not interpretable") == 1 + 3


def test_every_plot_has_a_description() -> None:
    assert_plots_are_described(render(_audit(_sound()), {}), 4)


@pytest.mark.parametrize("measurement", [_sound(), _published(), _emotions()], ids=["sound", "published", "emotions"])
def test_nothing_is_loaded(measurement: Measurement) -> None:
    assert_loads_nothing(render(_audit(measurement), _items()))


def test_hostile_text_is_escaped_everywhere() -> None:
    evil = [one.model_copy(update={"profession": f"{at}{EVIL}"}) for at, one in enumerate(_professions(2))]
    evil = [one.model_copy(update={"group": EVIL}) for one in evil]
    hypothesis = Hypothesis(name=EVIL, statement=EVIL, answer="supported", evidence=EVIL)
    details = AssociationDetails(hypotheses=[hypothesis], professions=evil, several_pieces=[EVIL])
    hostile = _sound(
        headline=[EVIL],
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


def test_without_estimates_there_are_dashes() -> None:
    page = render(_audit(_without_estimates()), {})
    assert "<svg" not in page
    assert "None" not in seen(page)
    assert "No finding." in page


def test_an_audit_without_measurements_still_says_what_it_was() -> None:
    assert "bert-x" in seen(render(_audit(), {}))


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page_without_network_errors_or_overflow(tmp_path: Path) -> None:
    audit = _audit(_sound(), _published(), _emotions(), name=EVIL + "x" * 300)
    assert_a_browser_shows(render(audit, _items()), tmp_path / "report.html")
