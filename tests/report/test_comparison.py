"""The report of a comparison: its blocks show the numbers of the result, and every format is safe."""

from __future__ import annotations

import re
from html import unescape
from math import exp
from pathlib import Path
from typing import Any

import pytest

from pages import EVIL, assert_a_browser_shows, assert_loads_nothing, assert_plots_are_described, needs_chromium, seen
from report_blocks import find_table, key_figures, lines, of_type, sections, table_rows
from sample_comparisons import (
    AFTER,
    BEFORE,
    LONG,
    OTHER,
    closing_section_blocks,
    compared_side,
    comparison_details,
    comparison_page,
    comparison_result,
    comparison_section_blocks,
    comparison_text,
    profession_changes,
    published_comparison,
    render_comparison_page,
    sample_change,
    sample_changes,
    sample_comparison,
    sample_usefulness,
    table_4_rows,
    two_models_result,
)
from unmask import analyse, compare
from unmask.measures import registry
from unmask.measures.association.details import AssociationChanges, HypothesisChange
from unmask.measures.base import Measure
from unmask.measures.sections import build_comparison_sections, comparison_section
from unmask.report.blocks import Figure as Drawing
from unmask.report.comparison import RULES, describe_origin, opening_blocks
from unmask.results.comparison import Comparison, ComparisonResult, Usefulness
from unmask.results.formatting import number
from unmask.results.schema import Caveat, Estimate, ModelInfo


def test_every_section_is_there() -> None:
    result = comparison_result(sample_comparison())
    (section,) = build_comparison_sections(result)
    assert sections(section.blocks) == [
        *("What changed", "As in the paper’s Table 4", "By profession", "The paper’s hypotheses")
    ]
    closing = closing_section_blocks(result)
    assert sections(closing) == ["Is it still useful?", "Before you rely on this"]
    assert lines(closing) == ["The sentences are made from templates.", "The tokenizers differ."]
    assert not opening_blocks(result, [section])
    page = seen(comparison_page())
    provenance = ("aaa1" * 16, "bbb2" * 16, "f00d" * 16, "audits/mini-cds", "4711", "9.9.9", "0.0.7", "2020-02-02T02")
    for fact in (f"{BEFORE} → {AFTER}", section.headline, result.comparisons[0].cost, section.note, *provenance):
        assert fact in page, fact
    for rule in RULES.values():
        assert rule.replace("\u00a0", " ") in page
    assert "5,400 sentences scored by both models, 12 of" in section.note
    assert "None" not in page


@pytest.mark.parametrize("verdict", ["improved", "no reliable change", "overshot", "worse"])
def test_a_verdict_is_a_word_and_a_colour(verdict: str) -> None:
    result = comparison_result(sample_comparison(verdict=verdict, details=comparison_details([]), changes={}))
    page = render_comparison_page(result)
    banner = page[page.index('<div class="banner') :].split("</div>", 1)[0]
    assert banner.startswith(f'<div class="banner {verdict.split()[0]}">')
    assert verdict.capitalize() in seen(banner)
    assert verdict in comparison_text(result)


def test_the_cost_stands_beside_the_verdict() -> None:
    text = "At a heavy cost: it no longer knows gender."
    heavy = sample_comparison(verdict="improved", cost=text, cost_size="heavy")
    result = comparison_result(heavy)
    assert "improved, at a heavy cost" in comparison_text(result)
    assert "Improved, at a heavy cost" in seen(render_comparison_page(result))
    assert [heavy.model_copy(update={"cost_size": size}).is_good for size in ("", "small", "moderate")] == [
        True,
        True,
        False,
    ]
    assert '<div class="banner costly">' in render_comparison_page(result)


def test_the_key_figures_are_those_of_the_result() -> None:
    figures = key_figures(comparison_section_blocks(sample_comparison()))
    assert list(figures) == ["Stereotype", "Workforce, r", "Balanced professions, nats"]
    before, after = 2.163, 2.163 * 0.3
    bounds = [number(exp(value)) for value in (before - 0.35, before + 0.35, after - 0.25, after + 0.25)]
    stereotype = figures["Stereotype"]
    assert _plain(stereotype.value) == f"{number(exp(before))} × → {number(exp(after))} ×"
    assert f"[{bounds[0]}, {bounds[1]}] → [{bounds[2]}, {bounds[3]}]" in _plain(stereotype.certainty)
    assert f"change × {number(exp(after - before))} [" in _plain(stereotype.certainty)
    assert stereotype.verdict == "improved"
    assert _plain(figures["Workforce, r"].value) == "0.67 → 0.21"
    assert _plain(figures["Balanced professions, nats"].value) == "−0.41 → −0.12"


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_table_of_changes_has_every_change() -> None:
    comparison = sample_comparison()
    table = find_table(comparison_section_blocks(comparison), "What changed")
    rows = table_rows(table)
    assert rows["Stereotype"] == [
        *("1,080", "2.16 [1.81, 2.51]", "0.65 [0.40, 0.90]", "−1.51 [−1.71, −1.31]", "< 0.001", "improved")
    ]
    assert rows["Workforce, pearson"][1:5] == [
        "0.67 [0.32, 1.02]",
        "0.21 [−0.04, 0.46]",
        "−0.46 [−0.66, −0.26]",
        "0.012",
    ]
    assert len(rows) == len(comparison.changes)
    assert table.terminal_rows == 5  # a terminal shows no means
    tests = find_table(closing_section_blocks(comparison_result(comparison)), "The tests")
    assert tests.folded
    assert list(table_rows(tests)) == [name.capitalize() for name in comparison.changes]
    assert table_rows(tests)["Stereotype"] == [
        *("1,080", "−1.514 [−1.714, −1.314]", "t(17.3) = −4.20", "< 0.001", "< 0.001", "< 0.001"),
        "−0.61 [−0.80, −0.30] rank-biserial",
    ]


def test_the_papers_table_and_hypotheses_are_shown() -> None:
    blocks = comparison_section_blocks(sample_comparison())
    assert table_rows(find_table(blocks, "As in the paper’s Table 4"))["Male"] == [
        *("−0.83", "0.22", "+1.05", "0.16", "0.29", "+0.12", "900", "16633", "−0.55", "< 0.001")
    ]
    ((answer,),) = [find_table(blocks, "The paper’s hypotheses").rows]
    assert [cell.text for cell in answer][1::2] == ["supported", "partly supported"]


def test_usefulness_says_on_what_it_was_measured() -> None:
    table = find_table(closing_section_blocks(comparison_result(sample_comparison())), "Is it still useful?")
    rows = table_rows(table)
    assert rows["Masked words, loss"] == ["312", "2.311", "2.352", "+0.041 [0.021, 0.061]", "< 0.001", "clearly worse"]
    assert rows["Stated gender, log odds"][3:] == ["+0.040 [0.010, 0.070]", "0.012", "negligible change"]
    assert rows["Stated gender, accuracy"][1:] == [
        *("92.1 %", "91.8 %", "−0.3 points [−1.3, 0.7]", "0.510", "no clear change")
    ]
    assert rows["Sentiment, accuracy"][:4] == ["25,000", "88.1 %", "87.1 %", "−1.0 points [−1.5, −0.5]"]
    assert [row[0].note for row in table.rows][0::2] == ["neutral sentences", "own templates", "imdb"]


def test_several_models_begin_with_an_overview() -> None:
    result = two_models_result()
    comparison_sections = build_comparison_sections(result)
    table = find_table(opening_blocks(result, comparison_sections), "Overview")
    assert table.columns[2].title == "Stereotype, odds"
    rows = table_rows(table)
    assert rows[AFTER] == [
        *("improved", "8.70 × → 1.91 ×", "× 0.22 [0.18, 0.27]", "+0.041 [0.021, 0.061]", "91.8 % (92.1 % before)")
    ]
    assert rows[OTHER][:2] == ["overshot", "8.70 × → 0.27 ×"]
    assert [row[0].link for row in table.rows] == ["#comparison-1", "#comparison-2"]
    page = render_comparison_page(result)
    assert 'id="comparison-2"' in page
    assert seen(page).count("The tokenizers differ.") == 1


def test_the_origin_is_the_record_and_the_weights() -> None:
    result = two_models_result()
    first, second = (describe_origin(result.before, side) for side in result.after)
    assert first == f"Made from {BEFORE} by cds. Weights before aaa1aaa1aaa1, after bbb2bbb2bbb2."
    assert second.endswith("Weights before aaa1aaa1aaa1, after ccc3ccc3ccc3.")
    nameless = compared_side(BEFORE, "").model_copy(
        update={"model": ModelInfo(name="scores.tsv", architecture="recorded")}
    )
    assert "weights of both models are not known" in describe_origin(nameless, result.after[1])


def _bars(comparison: Comparison) -> list[Drawing]:
    return [
        figure
        for figure in of_type(comparison_section_blocks(comparison), Drawing)
        if figure.description.startswith("Bars")
    ]


def test_bars_are_sorted_by_the_size_of_the_change() -> None:
    panel = _bars(sample_comparison())[0].draw()
    names = re.findall(rf">(male job \d+|{LONG})</text>", panel)
    assert names == [LONG if index == 3 else f"male job {index}" for index in range(20)]
    assert re.findall(r">([+−]1\.\d\d)</text>", panel)[:2] == ["+1.60", "−1.58"]
    assert re.findall(r">(−?1|0)</text>", panel) == ["−1", "0", "1"] * 2  # one axis before, one after
    assert panel.count('fill="#d95f02"') == panel.count('fill="#7570b3"') == 40


def test_bars_of_nothing_but_zeros_are_drawn() -> None:
    unchanged = dict.fromkeys(("female_before", "female_after", "male_before", "male_after", "change"), 0.0)
    flat = [profession.model_copy(update=unchanged) for profession in profession_changes(1)[:1]]
    assert ">male job 0</text>" in _bars(sample_comparison(details=comparison_details(flat), changes={}))[0].draw()


def test_of_a_long_list_the_largest_changes_are_shown() -> None:
    figure = _bars(sample_comparison(details=comparison_details(profession_changes(60))))[0]
    assert "40 of 60" in figure.title
    panel = figure.draw()
    assert ">male job 39</text>" in panel
    assert ">male job 40</text>" not in panel


def test_every_plot_has_a_description() -> None:
    assert_plots_are_described(comparison_page(), 5)


def test_published_shows_what_there_is() -> None:
    comparison = published_comparison()
    section = comparison_section(comparison)
    table = find_table(section.blocks, "What changed")
    assert table_rows(table)["Male: female − male"] == ["1,080", "−1.51", "−0.45", "+1.06", "< 0.001", "improved"]
    assert table.columns[5].title == "p"
    assert "95 %" not in table.note
    figure = key_figures(section.blocks)["Male professions, nats"]
    assert _plain(f"{figure.value}; {figure.certainty}") == "−1.51 → −0.45; change +1.06, p < 0.001"
    assert not any("jackknife" in line for line in lines(section.method))
    assert "independent" in section.meaning


def test_what_grammar_drowns_is_not_read_as_a_verdict() -> None:
    agreement = Caveat(code="grammatical-agreement", text="Agreement drowns it.")
    fields: dict[str, Any] = {"language": "de", "details": comparison_details([])}
    drowned = sample_comparison(verdict="no reliable change", headline=["Not bias."], caveats=[agreement], **fields)
    result = comparison_result(drowned, sample_comparison(corpus="agreement-free", headline=["This is it."], **fields))
    first, second = build_comparison_sections(result)
    assert (first.headline, second.headline) == ("This is it.", "Not bias.")
    assert (first.verdict, second.verdict) == ("improved", "not interpretable")
    assert {figure.verdict for figure in key_figures(second.blocks).values()} == {"not interpretable"}
    assert sections(closing_section_blocks(result, 0))[0] == "Is it still useful?"
    assert sections(closing_section_blocks(result, 1)) == ["Before you rely on this"]
    assert "? Not interpretable" in seen(render_comparison_page(result))
    assert "not interpretable" in comparison_text(result)


def test_figures_that_could_not_be_had_are_dashes() -> None:
    missing = {"before": None, "after": None, "change": Estimate(n=1080, value=None), "verdict": None}
    changes = {name: change.model_copy(update=missing) for name, change in sample_changes().items()}
    empty = sample_comparison(changes=changes, details={}, caveats=[], headline=[], cost="")
    result = comparison_result(empty, usefulness=[], caveats=[])
    page = render_comparison_page(result)
    assert "<svg" not in page
    assert "None" not in seen(page) + comparison_text(result)
    blocks = comparison_section_blocks(empty)
    assert not key_figures(blocks)
    assert sections(blocks) == ["What changed", "By profession"]
    assert table_rows(find_table(blocks, "What changed"))["Stereotype"] == ["1,080", "–", "–", "–", "–", "not tested"]
    assert not sections(closing_section_blocks(result))


def test_a_comparison_of_nothing_still_says_what_it_was() -> None:
    result = comparison_result(after=[compared_side(AFTER, "bbb2")])
    assert f"{BEFORE} → {AFTER}" in seen(render_comparison_page(result))
    assert comparison_text(result) == ""


def test_a_measure_that_is_not_installed_gets_the_default_blocks() -> None:
    changes = {"mean score": sample_change({"contrast": "mean score"}, 0.5, 0.2, 0.01, verdict="improved")}
    section = comparison_section(sample_comparison(name="theirs", changes=changes, details={}))
    assert _plain(key_figures(section.blocks)["Mean score"].value) == "0.50 → 0.20"
    assert table_rows(find_table(section.blocks, "What changed"))["Mean score"][4:] == ["0.010", "improved"]
    (figure,) = of_type(section.blocks, Drawing)
    assert figure.draw().startswith("<svg")


@pytest.mark.parametrize("measure", registry.built_in(), ids=lambda measure: measure.name)
def test_every_measure_says_how_it_compares(measure: Measure) -> None:
    details = {"words": 0, "tests": []} if measure.name == "geometry" else {}
    section = comparison_section(sample_comparison(name=measure.name, changes={}, details=details))
    assert len(lines(section.method)) >= 2
    assert lines(section.method)[-1].startswith("After ")


def test_pairs_of_sentences_are_shares() -> None:
    change = sample_change({"contrast": "stereotype"}, 0.12, 0.05, 0.01, verdict="improved")
    section = comparison_section(sample_comparison(name="crows-pairs", changes={"stereotype": change}, details={}))
    assert section.main is not None
    assert (section.main.before, section.main.after) == ("62.0\u00a0%", "55.0\u00a0%")
    assert section.main.before_interval == "[27.0, 97.0]"
    assert section.main.change == "−7.0\u00a0points"


def test_hostile_text_is_escaped_everywhere() -> None:
    page = render_comparison_page(_hostile())
    assert_loads_nothing(page)
    assert "<b>" not in page
    assert unescape(page).count(EVIL) > 40
    svg = page[page.index("<svg") :].split("</svg>", 1)[0]
    assert "&lt;script&gt;" in svg


def _hostile() -> ComparisonResult:
    """A comparison in which every text from outside is hostile."""
    labels = {"contrast": "difference", "group": EVIL}
    evil = sample_comparison(
        EVIL,
        corpus=EVIL,
        language='"><b>',
        attributes=EVIL,
        before=EVIL,
        headline=[EVIL],
        cost=EVIL,
        changes={EVIL: sample_change(labels, 1, 2, 0.2, question=EVIL, statistic_name=EVIL, effect_size_name=EVIL)},
        details=AssociationChanges(
            table=[table_4_rows()[0].model_copy(update={"group": EVIL})],
            professions=[
                profession.model_copy(update={"profession": EVIL, "group": EVIL})
                for profession in profession_changes(2)
            ],
            hypotheses=[
                HypothesisChange(
                    name=EVIL, statement=EVIL, before=EVIL, after=EVIL, evidence_before=EVIL, evidence_after=EVIL
                )
            ],
        ).model_dump(),
        caveats=[Caveat(code=EVIL, text=EVIL)],
    )
    side = compared_side(EVIL, EVIL, mitigation=EVIL).model_copy(
        update={"lineage": EVIL, "audit": EVIL, "created": EVIL}
    )
    figure = sample_usefulness()[0].figures["loss"]
    useful = Usefulness(what=EVIL, after=EVIL, data=EVIL, data_hash=EVIL, n=3, figures={EVIL: figure, "loss": figure})
    result_fields: dict[str, Any] = {"configuration": {EVIL: [EVIL]}, "libraries": {EVIL: EVIL}, "created": f'"{EVIL}'}
    return comparison_result(evil, before=side, after=[side], usefulness=[useful], **result_fields)


@pytest.mark.parametrize("width", [80, 100])
def test_the_terminal_cuts_nothing(width: int) -> None:
    text = comparison_text(comparison_result(sample_comparison()), width)
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert "−1.51 [−1.71, −1.31] < 0.001 improved" in words
    assert "0.012 clear" in words
    assert "[0.021, 0.061]" in words
    assert f"Made from {BEFORE} by cds." in words
    assert "- The tokenizers differ." in words
    assert "Overview" not in words
    assert "persons" not in words  # means are left to the page


def test_the_terminal_shows_whole_verdicts() -> None:
    text = comparison_text(
        comparison_result(sample_comparison(changes=sample_changes(p=0.3, verdict="no reliable change"))), 80
    )
    assert max(map(len, text.splitlines())) <= 80
    table = text.split("What changed")[1].split("In nats")[0]
    assert table.count("reliable") == table.count("no ") == 4


def test_the_terminal_begins_with_an_overview_of_several() -> None:
    words = " ".join(comparison_text(two_models_result(), 80).split())
    assert words.index("mini-cds improved 8.70 × → 1.91 × +0.041 91.8 %") < words.index("The stereotype shrank")
    assert "mini-leace overshot 8.70 × → 0.27 × +0.041" in words
    assert words.count("The tokenizers differ.") == 1


def test_the_terminal_takes_markup_for_text() -> None:
    labels = {"contrast": "difference", "group": "[red]"}
    result = comparison_result(
        sample_comparison(changes={"x": sample_change(labels, 1, 2, 0.2)}, headline=["[bold]loud[/bold]"])
    )
    text = comparison_text(result)
    assert "[red]: female" in text
    assert "[bold]loud[/bold]" in text


def test_the_papers_own_scores_make_a_page(data: Path) -> None:
    golden = data / "golden/becpro_en_bert_association.tsv"
    sides = [analyse(golden, score_column=column) for column in ("Pre_Assoc", "Post_Assoc")]
    compared = compare(*sides, usefulness=False)
    page = compared.text()
    assert_plots_are_described(page, 5)
    table = find_table(compared.sections()[0].blocks, "As in the paper’s Table 4")
    assert table_rows(table)["Male"][0] == "−0.83"  # the paper's Table 4
    assert compared.comparisons[0].headline_text in seen(page)


@pytest.mark.browser
@needs_chromium
def test_a_browser_shows_the_page_without_network_errors_or_overflow(tmp_path: Path) -> None:
    plain, hostile = comparison_result(sample_comparison()), _hostile()
    combined = plain.model_copy(
        update={
            "comparisons": [*plain.comparisons, *hostile.comparisons],
            "after": [*plain.after, *hostile.after],
            "usefulness": [*plain.usefulness, *hostile.usefulness],
        }
    )
    assert_a_browser_shows(render_comparison_page(combined), tmp_path / "report.html")
