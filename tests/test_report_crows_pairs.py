"""The report of CrowS-Pairs: the result's own shares, pairs with what differs in them, nothing injected by one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pages import EVIL, assert_loads_nothing, assert_plots_are_described, seen
from test_report_html import _audit
from unmask.measures.crows_pairs.protocol import PROTOCOLS
from unmask.measures.registry import get_measure
from unmask.report import crows_pairs, crows_pairs_plots, terminal
from unmask.report.html import render
from unmask.results import Measurement


def _pairs(count: int = 40, **changes: Any) -> pd.DataFrame:
    """Pairs whose differences go from −1 to 2.9, all but one other than 0."""
    rows = [
        {
            "language": "en",
            "corpus": "crows-pairs",
            "id": str(at),
            "sent_more": f"My aunt number {at} hates maths.",
            "sent_less": f"My uncle number {at} hates maths.",
            "direction": ("stereo", "antistereo")[at % 2],
            "bias_type": "gender",
            "female": "more",
            "pll_more": at / 10 - 11.0,
            "pll_less": -10.0,
            "difference": at / 10 - 1.0,
            "n_tokens": 5,
        }
        for at in range(count)
    ]
    return pd.DataFrame(rows).assign(**changes)


def _measured(items: pd.DataFrame, protocol: str = "sound") -> Measurement:
    found = PROTOCOLS[protocol].analyse(items, 1)
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in found.tests.items()}
    update = {"tests": tests, "noise_floor": 2.5e-6, "distinct_inputs": 97, "data_hash": "d47a"}
    return get_measure("crows-pairs").interpret(found.model_copy(update=update))


def _page(measurement: Measurement, items: pd.DataFrame | None = None) -> str:
    return render(_audit(measurement), {} if items is None else {"crows-pairs": items})


def test_every_section_and_the_result_s_own_numbers() -> None:
    items = _pairs()
    measurement = _measured(items)
    page = _page(measurement, items)
    text = seen(page)
    for heading in (
        "CrowS-Pairs: gender, English",
        "How often the stereotype is likelier",
        "How far the two sentences differ",
        "The most extreme pairs",
        "Before you rely on this",
        "All tests",
        "Method",
        "2.5e-06",
        "d47a",
    ):
        assert heading in text, heading
    share = measurement.groups["all pairs"]
    assert share.value == pytest.approx(29.5 / 40)
    assert share.interval
    bounds = f"{100 * share.interval[0]:.1f} to {100 * share.interval[1]:.1f} %"
    assert f"Stereotypical sentence likelier 73.8 % 95 % interval {bounds}, p" in text
    assert f"All pairs 40 73.8 % {bounds}" in text
    assert "prefers stereotypes" in text
    assert "+2.9 nats" in text
    assert "−1.0 nats" in text
    assert all(caveat.text in text for caveat in measurement.caveats)
    assert_loads_nothing(page)
    assert_plots_are_described(page, 2)


def test_words_that_differ_are_marked() -> None:
    more, less = crows_pairs.pieces("My aunt hates her maths.", "My uncle hates his maths.")
    assert more == [("My ", False), ("aunt", True), (" hates ", False), ("her", True), (" maths.", False)]
    assert [text for text, modified in less if modified] == ["uncle", "his"]
    assert crows_pairs.pieces("", "Word") == ([], [("Word", True)])
    for text in ("My aunt.", "A  b!"):
        assert "".join(piece for piece, _ in crows_pairs.pieces(text, "My uncle.")[0]) == text
    page = _page(_measured(_pairs()), _pairs())
    assert 'My <mark class="attribute">aunt</mark> number 39 hates maths.' in page
    assert 'My <mark class="plain">uncle</mark> number 39 hates maths.' in page


def test_extremes_are_the_largest_of_each_side() -> None:
    more = crows_pairs.extremes(_pairs(), more=True)
    less = crows_pairs.extremes(_pairs(), more=False)
    assert [one.difference for one in more] == pytest.approx([2.9, 2.8, 2.7, 2.6, 2.5, 2.4])
    assert [one.difference for one in less] == pytest.approx([-1, -0.9, -0.8, -0.7, -0.6, -0.5])
    assert crows_pairs.extremes(_pairs(difference=0.0), more=True) == []
    assert crows_pairs.extremes(None, more=True) == []


@pytest.mark.parametrize(
    ("estimate", "p", "said"),
    [
        (0.1, 0.01, "moderate, prefers stereotypes"),
        (-0.03, 0.01, "small, avoids stereotypes"),
        (0.3, 0.2, "no clear preference"),
        (0.3, None, "not tested"),
    ],
)
def test_size_and_certainty_are_two_things(estimate: float, p: float | None, said: str) -> None:
    test = _measured(_pairs()).tests["stereotype"]
    assert crows_pairs.verdict(test.model_copy(update={"value": estimate, "p_value": p, "p_adjusted": p})) == said
    assert crows_pairs.verdict(None) == "not tested"


def test_a_histogram_counts_every_pair_once() -> None:
    values = np.array([*np.linspace(-1, 1, 98), 0.0, 50.0])
    spread = crows_pairs_plots.spread(values, 0.1)
    assert spread
    assert spread.beyond == 1
    assert spread.limit == pytest.approx(1.0)
    bars = re.findall(r"<path[^>]*fill=\"#(?:8a94a3|1b9e77)\"", spread.svg)
    assert len(bars) >= 8
    assert crows_pairs_plots.spread([0.0, 0.0], None) is None
    assert crows_pairs_plots.shares({}) == ""


def test_published_has_shares_and_no_tests() -> None:
    items = _pairs()
    measurement = _measured(items, "published")
    page = _page(measurement, items)
    text = seen(page)
    assert "Stereotypical sentence likelier 72.5 % no interval" in text
    assert "Stereotype score" in text
    assert "Neutral 40 2.50 %" in text
    assert "The published protocol has no tests and no intervals." in text
    assert "Holm" not in text
    shown = terminal.text(_audit(measurement), 80)
    assert "Verdict" not in shown
    assert "72.50" in shown


def test_the_terminal_has_the_shares_and_fits() -> None:
    shown = terminal.text(_audit(_measured(_pairs())), 80)
    assert max(len(line) for line in shown.splitlines()) <= 80
    words = " ".join(shown.split())
    assert "all pairs 40 73.8 %" in words
    assert "stereo pairs 20" in words
    assert "Verdict: large, prefers stereotypes." in words


def test_sentences_may_not_have_been_kept() -> None:
    items = _pairs()
    measurement = _measured(items)
    for kept in (None, items.drop(columns=["sent_more", "sent_less"]), items.assign(corpus="another")):
        assert "The sentences were not kept with this result" in seen(_page(measurement, kept))


def test_hostile_sentences_are_escaped() -> None:
    items = _pairs(sent_more=f"My aunt {EVIL}", sent_less=f"My uncle {EVIL}", corpus=EVIL)
    items["direction"] = items["direction"] + EVIL
    measurement = _measured(_pairs())
    hostile = measurement.model_copy(
        update={"corpus": EVIL, "headline": EVIL, "groups": {EVIL: measurement.groups["all pairs"]}}
    )
    page = _page(hostile, items)
    assert_loads_nothing(page)
    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 10
    assert EVIL.replace(" ", "") in "".join(terminal.text(_audit(hostile), 80).split())
