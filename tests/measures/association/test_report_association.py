"""The report of association: key figures, tables and figures from the numbers of the result, highlighted sentences."""

from __future__ import annotations

import re
from math import exp

import pandas as pd
import pytest

from report_blocks import find_table, key_figures, lines, of_type, sections, table_rows
from sample_audits import (
    GROUPS,
    STEREOTYPE,
    emotions_measurement,
    measurement_without_estimates,
    published_measurement,
    sample_details,
    sample_items,
    sample_professions,
    sample_test,
    sound_measurement,
)
from unmask.measures.association.report import blocks, method
from unmask.report.blocks import Examples, Figure, Legend, Run
from unmask.report.markdown import block_lines
from unmask.results import Caveat, Measurement
from unmask.results.formatting import interval, number
from unmask.results.verdict import NOT_INTERPRETABLE


def _plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def _figures(measurement: Measurement, items: pd.DataFrame | None = None) -> list[Figure]:
    return of_type(blocks(measurement, items), Figure)


def _examples(items: pd.DataFrame) -> list[Examples]:
    return of_type(blocks(sound_measurement(), items), Examples)


def _associations(**changes: object) -> pd.DataFrame:
    return sample_items(**changes)["association"]


def test_sections_are_in_order() -> None:
    titles = ["Mean associations", "By profession", "Against the workforce", "The paper’s hypotheses"]
    assert sections(blocks(sound_measurement(), None)) == [*titles, "The sentences behind the numbers"]
    assert sections(blocks(emotions_measurement(), None)) == [
        titles[0],
        "By emotion word",
        "The sentences behind the numbers",
    ]


def test_markdown_has_every_heading_once() -> None:
    text = "\n".join(block_lines(blocks(sound_measurement(), _associations()), 3))
    headings = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]
    assert len(headings) == len(set(headings))
    assert {"Mean associations", "Contrasts between professions", "Person word more likely"} <= set(headings)


# Key figures


def test_the_stereotype_is_a_factor_with_its_interval() -> None:
    figure = key_figures(blocks(sound_measurement(), None))["Stereotype"]
    assert (figure.value, figure.verdict) == (f"{number(exp(1.5))} ×", "strong, along stereotypes")
    bounds = f"{number(exp(1.13))} to {number(exp(1.91))}"
    assert _plain(figure.certainty) == f"95 % interval {bounds}, p = 0.001"


def test_the_workforce_is_a_correlation_of_no_size() -> None:
    figure = key_figures(blocks(sound_measurement(), None))["Workforce"]
    assert (figure.value, figure.verdict) == ("r = 0.31", "no clear relation")


def test_groups_are_key_figures_where_there_is_no_stereotype() -> None:
    assert list(key_figures(blocks(sound_measurement(), None))) == ["Stereotype", "Workforce", "Balanced professions"]
    assert list(key_figures(blocks(emotions_measurement(), None))) == ["Anger emotion words", "Joy emotion words"]


def test_a_tiny_p_is_no_large_effect() -> None:
    figures = key_figures(blocks(published_measurement(), None))
    assert {figure.verdict for figure in figures.values()} == {"negligible difference"}
    assert {figure.certainty for figure in figures.values()} == {"no interval, p < 0.001"}


@pytest.mark.parametrize(
    ("value", "p", "noise", "verdict"),
    [
        (3.0, 0.4, None, "no clear difference"),
        (3.0, 0.04, None, "strong, along stereotypes"),
        (-0.6, 0.04, None, "moderate, against stereotypes"),
        (-0.3, 0.04, None, "no clear difference"),  # its interval includes zero
        (3e-6, 1e-9, 1e-5, "within the noise"),
        (3.0, None, None, "not tested"),
    ],
)
def test_size_and_certainty_are_kept_apart(value: float, p: float | None, noise: float | None, verdict: str) -> None:
    measurement = sound_measurement(tests={"stereotype": sample_test(STEREOTYPE, value, p)}, noise_floor=noise)
    assert key_figures(blocks(measurement, None))["Stereotype"].verdict == verdict


def test_a_clear_difference_is_explained_as_odds() -> None:
    measurement = emotions_measurement()
    update = {"p_adjusted": 0.01, "value": 0.2, "interval": (0.1, 0.3)}
    tests = {name: test.model_copy(update=update) for name, test in measurement.tests.items()}
    clear = key_figures(blocks(measurement.model_copy(update={"tests": tests}), None))["Joy emotion words"]
    assert clear.explanation.endswith(f"by a factor of {number(exp(0.2))} towards female words.")
    assert clear.verdict == "small, towards female words"
    unclear = key_figures(blocks(measurement, None))["Joy emotion words"]
    assert unclear.explanation.endswith(
        " A factor of 1.57 or more (or 0.64 or less) would have been found with a probability of 80 %."
    )


def test_with_grammatical_agreement_nothing_is_called_a_difference() -> None:
    agreeing = sound_measurement(language="de", caveats=[Caveat(code="grammatical-agreement", text="Agreement.")])
    assert {figure.verdict for figure in key_figures(blocks(agreeing, None)).values()} == {NOT_INTERPRETABLE}


# Tables


def test_means_are_those_of_the_result() -> None:
    measurement = sound_measurement()
    rows = table_rows(find_table(blocks(measurement, None), "Mean associations"))
    for name in GROUPS:
        test = measurement.tests[f"female minus male, {name} professions"]
        groups = [measurement.groups[f"{name} professions, {gender} persons"] for gender in ("female", "male")]
        means = [f"{number(group.value)} {interval(group.interval)}" for group in groups]
        tested = [f"{number(test.value)} {interval(test.interval)}", "0.200", "0.44"]
        assert rows[name.capitalize()] == ["45 + 45", *means, *tested]


def test_published_has_v_r_and_sd() -> None:
    table = find_table(blocks(published_measurement(), None), "Mean associations")
    assert [column.title for column in table.columns][-4:] == ["Difference", "V", "r", "p"]
    assert table_rows(table)["Male"] == [
        *("45 + 45", "−1.23", "1.99", "−0.23", "1.99", "0.02", "16633", "−0.56", "< 0.001")
    ]


def test_contrasts_are_in_nats_and_correlations() -> None:
    rows = table_rows(find_table(blocks(sound_measurement(), None), "Contrasts"))
    assert rows["Stereotype, nats"] == ["90", "1.50 [1.13, 1.91]", "0.001", "0.45"]
    assert rows["Workforce, r"] == ["90", "0.31 [−0.06, 0.72]", "0.200", "0.45"]


def test_hypotheses_have_an_answer_and_evidence() -> None:
    rows = table_rows(find_table(blocks(sound_measurement(), None), "The paper’s hypotheses"))
    assert rows == {"H1: It is so.": ["partly supported", "0.77 of it"]}


def test_without_estimates_there_are_dashes() -> None:
    report = blocks(measurement_without_estimates(), None)
    assert key_figures(report) == {}
    assert of_type(report, Figure) == []
    rows = table_rows(find_table(report, "Mean associations"))
    assert rows["Male"] == ["0 + 0", *["–"] * 5]
    assert table_rows(find_table(report, "Contrasts"))["Stereotype, nats"] == ["90", "–", "–", "–"]


def test_the_terminal_shows_both_tables_and_the_split_words() -> None:
    report = blocks(sound_measurement(), None)
    assert find_table(report, "Mean associations").terminal
    assert find_table(report, "Contrasts").terminal
    assert any("godmother" in line for line in lines(block for block in report if getattr(block, "terminal", False)))


@pytest.mark.parametrize(
    ("protocol", "scored"),
    [("sound", "each was scored as a whole word"), ("published", "only the first token was scored")],
)
def test_split_words_are_described_as_the_protocol_scores_them(protocol: str, scored: str) -> None:
    """See `LiteralQuery`: in published, the answer is read for one token."""
    report = blocks(sound_measurement(protocol=protocol), None)
    (line,) = [line for line in lines(report) if "godmother" in line]
    assert scored in line
    assert ("whole word" in line) == (protocol == "sound")


# Figures


def test_there_is_a_panel_for_each_group_and_a_scatter_plot() -> None:
    titles = [figure.title for figure in _figures(sound_measurement())]
    assert titles == ["Male professions", "Female professions", "Balanced professions", ""]
    assert all(figure.description for figure in _figures(sound_measurement()))
    assert [figure.title for figure in _figures(emotions_measurement())] == ["Anger emotion words", "Joy emotion words"]


def test_bars_are_sorted_by_difference_and_name_the_share() -> None:
    drawn = _figures(sound_measurement())[1].draw()
    assert re.findall(r">(female job \d)</text>", drawn) == [f"female job {index}" for index in (3, 2, 1, 0)]
    assert ">25\N{NO-BREAK SPACE}%</text>" in drawn
    assert ">+1.75</text>" in drawn
    assert ">women</text>" not in _figures(emotions_measurement())[0].draw()


def test_the_legend_names_the_share_only_where_there_is_one() -> None:
    entries = [
        len(of_type(blocks(measurement, None), Legend)[0].entries)
        for measurement in (sound_measurement(), emotions_measurement())
    ]
    assert entries == [5, 4]


def test_a_long_list_shows_both_ends() -> None:
    figure = _figures(sound_measurement(details=sample_details(sample_professions(60))))[0]
    assert figure.title == "Male professions (40 of 60: the highest and the lowest)"
    drawn = figure.draw()
    assert ">male job 0</text>" in drawn
    assert ">male job 59</text>" in drawn
    assert ">male job 30</text>" not in drawn


def test_professions_can_be_missing() -> None:
    assert _figures(sound_measurement(details=sample_details([]))) == []
    assert len(_figures(sound_measurement(details=sample_details(sample_professions()[:1])))) == 2


def test_the_caption_of_the_scatter_plot_has_the_correlation() -> None:
    assert "Pearson’s r = 0.31 [−0.06, 0.72] over 90 professions." in _figures(sound_measurement())[-1].caption


# Sentences


def test_sentences_highlight_the_person_and_the_profession() -> None:
    highest, lowest = _examples(_associations())
    assert (len(highest.examples), len(lowest.examples)) == (8, 8)
    assert highest.columns == ["Association", "ln p", "ln prior"]
    marked: list[list[Run]] = [[("My ", ""), ("aunt", "female"), (" is a ", ""), ("job 19", "attribute"), (".", "")]]
    examples = [example for example in highest.examples if example.sentences == marked]
    assert [example.values for example in examples] == [["1.19", "−2.50", "−3.62"]]
    assert highest.language == "en"


def test_a_person_word_is_not_found_inside_another_word() -> None:
    items = _associations(
        sentence="That person, my son, is a mason son.", form="mason son", target="son", gender="male"
    )
    marked: list[Run] = [
        ("That person, my ", ""),
        ("son", "male"),
        (", is a ", ""),
        ("mason son", "attribute"),
        (".", ""),
    ]
    assert {tuple(example.sentences[0]) for part in _examples(items) for example in part.examples} == {tuple(marked)}


def test_a_person_word_is_shown_at_most_twice() -> None:
    examples = _examples(_associations(person="she"))
    assert [len(part.examples) for part in examples] == [2, 2]


def test_recorded_items_may_lack_sentences_and_probabilities() -> None:
    highest, _ = _examples(_associations(sentence="").drop(columns=["log_p_target", "log_p_prior"]))
    assert highest.columns == ["Association"]
    marked: list[Run] = [("son", "male"), (" … ", ""), ("job 19", "attribute")]
    assert highest.examples[0].sentences == [marked]
    assert highest.examples[0].values == ["1.19"]


def test_only_items_of_the_measurement_are_shown() -> None:
    assert of_type(blocks(sound_measurement(corpus="emotions"), _associations()), Examples) == []


# Method and provenance


def test_the_method_names_what_was_masked_and_the_protocol() -> None:
    formula = lines(method([sound_measurement(), emotions_measurement()]))[0]
    assert formula.endswith("sentence with the profession or emotion word masked)")
    sound, published = (
        " ".join(lines(method([measurement]))) for measurement in (sound_measurement(), published_measurement())
    )
    assert ("jackknife" in sound, "jackknife" in published) == (True, False)
    assert ("r = −|Z|/√(2n)" in sound, "r = −|Z|/√(2n)" in published) == (False, True)
