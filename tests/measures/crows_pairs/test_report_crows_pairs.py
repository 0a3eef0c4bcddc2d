"""The blocks of CrowS-Pairs: the shares of the result, pairs with their differences, and no injected markup."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pages import EVIL, assert_loads_nothing, assert_plots_are_described
from report_blocks import audit_text, find_table, key_figures, lines, of_type, sections, table_rows
from sample_audits import render_audit_page, sample_audit
from unmask.measures.base import Context
from unmask.measures.crows_pairs.analysis import analyse
from unmask.measures.crows_pairs.report import (
    blocks,
    describe_preference,
    find_axis_limit,
    method,
    split_at_differences,
)
from unmask.measures.registry import get_measure
from unmask.measures.sections import build_sections
from unmask.report.blocks import Examples, Figure
from unmask.report.default_blocks import audit_page
from unmask.report.markdown import page_markdown
from unmask.results import Measurement


def _pairs(count: int = 40, **changes: Any) -> pd.DataFrame:
    """Pairs whose differences go from −1 to 2.9; only one is 0."""
    rows = [
        {
            "language": "en",
            "corpus": "crows-pairs",
            "id": str(index),
            "sent_more": f"My aunt number {index} hates maths.",
            "sent_less": f"My uncle number {index} hates maths.",
            "direction": ("stereo", "antistereo")[index % 2],
            "bias_type": "gender",
            "female": "more",
            "pll_more": index / 10 - 11.0,
            "pll_less": -10.0,
            "difference": index / 10 - 1.0,
            "n_tokens": 5,
        }
        for index in range(count)
    ]
    return pd.DataFrame(rows).assign(**changes)


def _measure(items: pd.DataFrame, protocol: str = "sound") -> Measurement:
    measurement = analyse(items, Context(protocol=protocol))
    tests = {name: test.model_copy(update={"p_adjusted": test.p_value}) for name, test in measurement.tests.items()}
    update = {"tests": tests, "noise_floor": 2.5e-6, "distinct_inputs": 97, "data_hash": "d47a"}
    return get_measure("crows-pairs").interpret(measurement.model_copy(update=update))


def _terminal_text(measurement: Measurement, width: int = 80) -> str:
    return audit_text(sample_audit(measurement), build_sections([measurement]), width)


def test_key_figures_and_tables_have_the_result_s_own_numbers() -> None:
    items = _pairs()
    measurement = _measure(items)
    report = blocks(measurement, items)
    assert sections(report) == [
        "How often the stereotypical sentence is more likely",
        "How far the two sentences differ",
        "The most extreme pairs",
        "How the pairs were scored",
    ]
    share = measurement.groups["all pairs"]
    assert share.value == pytest.approx(29.5 / 40)
    assert share.interval
    bounds = f"{100 * share.interval[0]:.1f} to {100 * share.interval[1]:.1f} %"
    figures = key_figures(report)
    main = figures["Stereotypical sentence more likely"]
    assert (main.value, main.verdict) == ("73.8\N{NO-BREAK SPACE}%", "large, prefers stereotypes")
    assert main.certainty.replace("\N{NO-BREAK SPACE}", " ").startswith(f"95 % interval {bounds}, p = 0.0")
    assert figures["Mean difference"].value == "0.95\N{NO-BREAK SPACE}nats"
    rows = table_rows(find_table(report, ""))
    assert rows["All pairs"] == ["40", f"73.8 % {bounds}"]
    assert rows["Stereo pairs"][0] == "20"
    assert any("2.5e-06 nats" in line for line in lines(report))


def test_the_page_draws_both_figures_and_loads_nothing() -> None:
    items = _pairs()
    page = render_audit_page(sample_audit(_measure(items)), {"crows-pairs": items})
    assert_loads_nothing(page)
    assert_plots_are_described(page, 2)
    assert 'My <mark class="attribute">aunt</mark> number 39 hates maths.' in page
    assert 'My <mark class="neutral">uncle</mark> number 39 hates maths.' in page


def test_words_that_differ_are_split_off() -> None:
    more, less = split_at_differences("My aunt hates her maths.", "My uncle hates his maths.")
    assert more == [("My ", ""), ("aunt", "attribute"), (" hates ", ""), ("her", "attribute"), (" maths.", "")]
    assert [text for text, style in less if style == "neutral"] == ["uncle", "his"]
    assert split_at_differences("", "Word") == ([], [("Word", "neutral")])
    for text in ("My aunt.", "A  b!"):
        assert "".join(run for run, _ in split_at_differences(text, "My uncle.")[0]) == text


def test_extremes_are_the_largest_of_each_side() -> None:
    items = _pairs()
    more, less = of_type(blocks(_measure(items), items), Examples)
    values = [[example.values[0].split("\N{NO-BREAK SPACE}")[0] for example in side.examples] for side in (more, less)]
    assert values == [
        ["+2.9", "+2.8", "+2.7", "+2.6", "+2.5", "+2.4"],
        ["−1.0", "−0.9", "−0.8", "−0.7", "−0.6", "−0.5"],
    ]
    assert more.examples[0].note == "antistereo"
    assert more.language == "en"


@pytest.mark.parametrize(
    ("estimate", "p", "expected"),
    [
        (0.1, 0.01, "moderate, prefers stereotypes"),
        (-0.03, 0.01, "small, avoids stereotypes"),
        (0.3, 0.2, "too few pairs to tell"),
        (0.3, None, "not tested"),
    ],
)
def test_size_and_certainty_are_two_things(estimate: float, p: float | None, expected: str) -> None:
    test = _measure(_pairs()).tests["stereotype"]
    assert describe_preference(test.model_copy(update={"value": estimate, "p_value": p, "p_adjusted": p})) == expected
    assert describe_preference(None) == "not tested"


def test_a_histogram_leaves_out_what_lies_far_out_and_says_so() -> None:
    values = np.array([*np.linspace(-1, 1, 98), 0.0, 50.0])
    assert find_axis_limit(values) == pytest.approx(1.0)
    items = _pairs(100, difference=values)
    (_, histogram) = of_type(blocks(_measure(items), items), Figure)
    assert histogram.draw().count("<title>") >= 8
    assert "1 is beyond ±1.0" in histogram.caption


def test_published_has_shares_and_no_tests() -> None:
    items = _pairs()
    measurement = _measure(items, "published")
    report = blocks(measurement, items)
    figures = key_figures(report)
    assert figures["Stereotypical sentence more likely"].certainty == "no interval"
    assert figures["Stereotypical sentence more likely"].value == "72.5\N{NO-BREAK SPACE}%"
    assert {"Stereotype score", "Anti-stereotype score"} <= set(figures)
    assert table_rows(find_table(report, ""))["Neutral"] == ["40", "2.50 %"]
    assert not any("Holm" in line for line in lines(method([measurement])))
    text = _terminal_text(measurement)
    assert "72.50" in text
    assert "p =" not in text


def test_the_terminal_has_the_shares_and_fits() -> None:
    measurement = _measure(_pairs())
    text = _terminal_text(measurement)
    assert max(len(line) for line in text.splitlines()) <= 80
    words = " ".join(text.split())
    assert "All pairs 40 73.8 %" in words
    assert "Stereo pairs 20" in words
    assert "large, prefers stereotypes" in words
    assert "Many pairs are flawed" in words
    assert "do not call a model biased" not in words  # only the first sentence of a caveat


def test_markdown_has_all_blocks_but_figures() -> None:
    items = _pairs()
    measurement = _measure(items)
    text = page_markdown(audit_page(sample_audit(measurement), build_sections([measurement], {"crows-pairs": items})))
    share = measurement.groups["all pairs"]
    assert share.interval
    assert "- **Stereotypical sentence more likely: 73.8 %** (95 % interval " in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "My aunt number 39 hates maths. / My uncle number 39 hates maths. (+2.9" in text
    assert "<summary>All tests</summary>" in text
    assert "    PLL(S) = " in text
    assert all(caveat.text.split()[0] in text for caveat in measurement.caveats)
    assert "svg" not in text


def test_sentences_may_be_missing() -> None:
    items = _pairs()
    measurement = _measure(items)
    for stored in (None, items.drop(columns=["sent_more", "sent_less"]), items.assign(corpus="another")):
        assert of_type(blocks(measurement, stored), Examples) == []


def test_hostile_sentences_are_escaped() -> None:
    items = _pairs(sent_more=f"My aunt {EVIL}", sent_less=f"My uncle {EVIL}", corpus=EVIL)
    items["direction"] = items["direction"] + EVIL
    measurement = _measure(_pairs())
    hostile = measurement.model_copy(
        update={"corpus": EVIL, "headline": [EVIL], "groups": {EVIL: measurement.groups["all pairs"]}}
    )
    page = render_audit_page(sample_audit(hostile), {"crows-pairs": items})
    assert_loads_nothing(page)
    assert EVIL not in page
    assert page.count("&lt;script&gt;") > 10
    assert EVIL.replace(" ", "") in "".join(_terminal_text(hostile).split())
