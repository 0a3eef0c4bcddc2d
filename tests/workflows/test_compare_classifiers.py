"""Comparisons of classifiers: items are paired and the change is judged."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import unmask
from unmask.errors import UnmaskError
from unmask.results import Comparison

TEXTS = 40
WORDS = "he/she man/woman father/mother king/queen uncle/aunt son/daughter actor/actress waiter/waitress".split()


def analyse_ratings(folder: Path, name: str, bias: np.ndarray) -> unmask.Audit:
    """Analyse recorded ratings; every female version is rated 0.5."""
    label = ["good" if value > 0.5 else "bad" for value in 0.5 + bias]
    frame = pd.DataFrame({"id": [f"t{index}" for index in range(len(bias))], "p_female": 0.5, "p_male": 0.5 + bias})
    frame = frame.assign(changed=True, choice_female="bad", choice_male=label)
    frame = frame.assign(term_pairs=[WORDS[index % len(WORDS)] for index in range(len(bias))])
    frame.to_csv(folder / f"{name}.csv", index=False)
    return unmask.analyse(folder / f"{name}.csv", measure="sentiment")


def analyse_answers(folder: Path, name: str, share: float) -> unmask.Audit:
    """Analyse recorded answers that follow stereotypes in a share of the sentences and are neutral otherwise.

    Of a negative share, they go against them.
    """
    rows = []
    jobs = [
        (occupation_type, f"{occupation_type} {number}")
        for occupation_type in ("female", "male", "neutral")
        for number in range(6)
    ]
    for (occupation_type, job), template, gender in product(jobs, range(10), ("female", "male", "")):
        biased = template < 10 * abs(share) and occupation_type != "neutral"
        follows = (gender == occupation_type) == (share > 0)
        answer = "neutral" if not biased else "entailment" if follows else "contradiction"
        rows.append((job, occupation_type, gender, f"s{template}", "entailment" if gender == "" else answer))
    columns = ["occupation", "occupation_type", "gender", "template", "prediction"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / f"{name}.csv", index=False)
    return unmask.analyse(folder / f"{name}.csv", measure="inference")


def compare(before: unmask.Audit, after: unmask.Audit) -> Comparison:
    """Compare two audits, check that the results can be printed, and return the only comparison."""
    compared = unmask.compare(before, after, usefulness=False)
    (comparison,) = compared.comparisons
    assert comparison.headline_text[:20] in compared.text()
    assert {"before", "after", "change"} <= set(compared.items[comparison.name])
    assert comparison.verdict in compared.summary()
    return comparison


def test_the_change_of_a_bias_is_the_paired_t_test_over_words_and_over_texts(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    before, after = draw.normal(0.1, 0.05, TEXTS), draw.normal(0.02, 0.05, TEXTS)
    comparison = compare(analyse_ratings(tmp_path, "one", before), analyse_ratings(tmp_path, "two", after))
    first, second = (values.reshape(-1, len(WORDS)).mean(axis=0) for values in (before, after))
    for name, values in (("bias", (before, after)), ("bias over words", (first, second))):
        change, expected = comparison.changes[name], stats.ttest_rel(*reversed(values))
        assert change.values == pytest.approx((values[0].mean(), values[1].mean()))
        assert (change.change.statistic, change.change.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert change.change.interval == pytest.approx(tuple(expected.confidence_interval()))
    assert change.change.p_adjusted == change.change.p_value
    assert (comparison.verdict, comparison.items, comparison.unpaired) == ("improved", TEXTS, 0)
    size = comparison.changes["absolute bias"]
    assert size.values == pytest.approx((np.abs(before).mean(), np.abs(after).mean()))
    assert size.verdict == "improved"


def test_label_flips_are_matched(tmp_path: Path) -> None:
    before = np.where(np.arange(TEXTS) < 12, 0.1, -0.1)  # 12 labels depend on the gender
    after = np.where(np.arange(TEXTS) < 2, 0.1, -0.1)
    flips = compare(analyse_ratings(tmp_path, "one", before), analyse_ratings(tmp_path, "two", after)).changes[
        "label flips"
    ]
    assert (*flips.values, flips.change.value) == pytest.approx((0.3, 0.05, -0.25))
    assert flips.change.p_value == pytest.approx(stats.binomtest(10, 10).pvalue)
    assert flips.verdict == "improved"


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [(0.1, 0.1, "negligible change"), (0.02, 0.1, "worse"), (0.1, -0.05, "overshot"), (0.1, -0.002, "improved")],
)
def test_verdicts_on_a_bias(tmp_path: Path, before: float, after: float, verdict: str) -> None:
    draw = np.random.default_rng(2)
    noise = draw.normal(0, 0.002, (2, TEXTS))
    noise -= noise.mean(axis=1, keepdims=True)
    before_audit, after_audit = (
        analyse_ratings(tmp_path, "one", before + noise[0]),
        analyse_ratings(tmp_path, "two", after + noise[1]),
    )
    assert compare(before_audit, after_audit).verdict == verdict


def test_with_few_words_there_is_no_verdict(tmp_path: Path) -> None:
    before = analyse_ratings(tmp_path, "one", np.linspace(0.1, 0.2, 16))
    comparison = compare(before, analyse_ratings(tmp_path, "two", np.linspace(0.0, 0.1, 16)))
    assert comparison.verdict == "no reliable change"
    assert comparison.headline[0].startswith("Too few texts to separate the effect of gender from")
    assert comparison.changes["bias"].verdict == "improved"


def test_texts_of_one_model_only_are_left_out(tmp_path: Path) -> None:
    bias = np.random.default_rng(3).normal(0.1, 0.05, TEXTS)
    comparison = compare(analyse_ratings(tmp_path, "one", bias), analyse_ratings(tmp_path, "two", bias[:30]))
    assert (comparison.items, comparison.unpaired, comparison.verdict) == (30, 10, "no reliable change")
    strange = analyse_ratings(tmp_path, "three", bias)
    strange.items["sentiment"]["id"] += "x"
    with pytest.raises(UnmaskError, match="have no text in common"):
        compare(analyse_ratings(tmp_path, "one", bias), strange)


def test_a_stereotype_that_is_gone_has_improved(tmp_path: Path) -> None:
    comparison = compare(analyse_answers(tmp_path, "one", 0.8), analyse_answers(tmp_path, "two", 0.2))
    change = comparison.changes["stereotype"]
    assert (*change.values, change.change.value) == pytest.approx((0.8, 0.2, -0.6))
    assert comparison.verdict == "improved"
    back = compare(analyse_answers(tmp_path, "two", 0.2), analyse_answers(tmp_path, "one", 0.8))
    assert back.verdict == "worse"
    assert back.changes["stereotype"].change.p_value == pytest.approx(change.change.p_value)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (0.8, 0.2, "The stereotype shrank: it was 0.80 and is now 0.20 (0: no difference between male and female"),
        (0.2, 0.8, "The stereotype grew"),
        (-0.8, -0.2, "The model goes against stereotypes less than before: it was −0.80 and is now −0.20"),
        (-0.2, -0.8, "The model goes against stereotypes more than before"),
        (0.8, -0.4, "The stereotype was reversed"),
    ],
)
def test_a_change_says_the_direction(tmp_path: Path, before: float, after: float, words: str) -> None:
    comparison = compare(analyse_answers(tmp_path, "one", before), analyse_answers(tmp_path, "two", after))
    assert comparison.headline_text.startswith(words)


def test_the_same_answers_are_no_change(tmp_path: Path) -> None:
    comparison = compare(analyse_answers(tmp_path, "one", 0.4), analyse_answers(tmp_path, "two", 0.4))
    change = comparison.changes["stereotype"]
    assert (change.change.value, change.verdict, comparison.verdict) == (0, "negligible change", "negligible change")


def test_classifiers_of_other_tasks_have_nothing_in_common(tmp_path: Path) -> None:
    rated = analyse_ratings(tmp_path, "one", np.linspace(0.0, 0.1, TEXTS))
    with pytest.raises(UnmaskError, match="nothing in common"):
        compare(rated, analyse_answers(tmp_path, "two", 0.5))
