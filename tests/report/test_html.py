"""The page of an audit: every section is present, nothing is loaded from outside, and names cannot inject markup."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from sample_audits import (
    difference_labels,
    emotions_measurement,
    measurement_without_estimates,
    published_measurement,
    render_audit_page,
    sample_audit,
    sample_groups,
    sample_items,
    sample_professions,
    sample_test,
    sound_measurement,
)
from unmask.measures.association.details import AssociationDetails, Hypothesis
from unmask.results import Caveat, Measurement


def test_every_section_is_there() -> None:
    text = seen(render_audit_page(sample_audit(sound_measurement()), sample_items()))
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
    agreeing = sound_measurement(language="de", headline=["Not bias."], caveats=[caveat])
    text = seen(
        render_audit_page(
            sample_audit(agreeing, sound_measurement(corpus="agreement-free", headline=["This is it."])), {}
        )
    )
    assert text.index("This is it.") < text.index("Not bias.")
    assert text.count("strong, along stereotypes") == 2  # in short, and in its section
    assert text.count("not interpretable") == 1 + 3


def test_every_plot_has_a_description() -> None:
    assert_plots_are_described(render_audit_page(sample_audit(sound_measurement()), {}), 4)


@pytest.mark.parametrize(
    "measurement",
    [sound_measurement(), published_measurement(), emotions_measurement()],
    ids=["sound", "published", "emotions"],
)
def test_nothing_is_loaded(measurement: Measurement) -> None:
    assert_loads_nothing(render_audit_page(sample_audit(measurement), sample_items()))


def test_hostile_text_is_escaped_everywhere() -> None:
    professions = [
        profession.model_copy(update={"profession": f"{index}{EVIL}"})
        for index, profession in enumerate(sample_professions(2))
    ]
    professions = [profession.model_copy(update={"group": EVIL}) for profession in professions]
    hypothesis = Hypothesis(name=EVIL, statement=EVIL, answer="supported", evidence=EVIL)
    details = AssociationDetails(hypotheses=[hypothesis], professions=professions, several_pieces=[EVIL])
    hostile = sound_measurement(
        headline=[EVIL],
        corpus=EVIL,
        language='"><b>',
        groups=sample_groups((EVIL,), "professions"),
        tests={
            f"female minus male, {EVIL} professions": sample_test(
                difference_labels(EVIL), 1, question=EVIL, effect_size_name=EVIL
            )
        },
        caveats=[Caveat(code=f'"{EVIL}', text=EVIL)],
        details=details.model_dump(),
        data_hash=EVIL,
    )
    items = sample_items(
        language='"><b>', corpus=EVIL, gender=EVIL, sentence=f"{EVIL} is a {EVIL}", target=EVIL, form=EVIL
    )
    result = sample_audit(hostile, name=EVIL).model_copy(
        update={"configuration": {EVIL: [EVIL]}, "libraries": {EVIL: EVIL}, "created": f'"{EVIL}'}
    )
    page = render_audit_page(result, items)
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert unescape(page).count(EVIL) > 30
    assert ">0&lt;script&gt;" in page[page.index("<svg") :]


def test_without_estimates_there_are_dashes() -> None:
    page = render_audit_page(sample_audit(measurement_without_estimates()), {})
    assert "<svg" not in page
    assert "None" not in seen(page)
    assert "No finding." in page


def test_an_audit_without_measurements_still_says_what_it_was() -> None:
    assert "bert-x" in seen(render_audit_page(sample_audit(), {}))


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page_without_network_errors_or_overflow(tmp_path: Path) -> None:
    audit = sample_audit(sound_measurement(), published_measurement(), emotions_measurement(), name=EVIL + "x" * 300)
    assert_a_browser_shows(render_audit_page(audit, sample_items()), tmp_path / "report.html")
