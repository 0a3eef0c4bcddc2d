"""Coreference: contexts, scores against a naive reference, the gap, competence, and two models."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import naive
import unmask
from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel, Context
from unmask.measures.coreference.analysis import analyse, build_query, compare, score
from unmask.measures.coreference.data import FIELDS, read_contexts
from unmask.measures.registry import get_measure
from unmask.models.loading import load_masked_lm
from unmask.report.blocks import KeyFigure
from unmask.statistics.proportions import wilson_interval

TEXT = "Anna met Maria Bell. She gave her brother the keys, and Maria took hers."
ROWS = [
    ("t-1", TEXT, "She", "21", "Anna", "TRUE", "Maria Bell", "FALSE"),
    ("t-2", TEXT, "her", "30", "Anna", "FALSE", "Maria Bell", "TRUE"),
    ("t-3", TEXT, "hers", "67", "Anna", "FALSE", "Maria Bell", "FALSE"),
    ("t-4", "Tom saw Bob when Bob hit him.", "him", "25", "Tom", "TRUE", "Bob", "FALSE"),
    ("t-5", "Tom told Bob that his dog slept.", "his", "18", "Tom", "FALSE", "Bob", "TRUE"),
]


def write_gap(path: Path, rows: Sequence[tuple[str, ...]]) -> Path:
    lines = ["\t".join(FIELDS), *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_contexts_with_one_of_two_names_are_read(tmp_path: Path) -> None:
    contexts = read_contexts(write_gap(tmp_path / "gap-test.tsv", ROWS))
    assert contexts["id"].tolist() == ["t-1", "t-2", "t-4", "t-5"]
    assert contexts["gender"].tolist() == ["female", "female", "male", "male"]
    assert contexts["right_name"].tolist() == ["Anna", "Maria Bell", "Tom", "Bob"]
    assert contexts["other_name"].tolist() == ["Maria Bell", "Anna", "Bob", "Tom"]
    assert contexts["ending"].tolist() == ["", "'s", "", "'s"]
    row = contexts.iloc[1]
    query = build_query(row["context"], row["start"], row["pronoun"], row["right_name"], row["ending"])
    assert query.text == "Anna met Maria Bell. She gave Maria Bell's brother the keys, and Maria took hers."
    assert query.word == "Maria Bell"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("x", TEXT, "She", "22", "Anna", "TRUE", "Maria", "FALSE"), "line 2 is not a context of gap"),
        (("x", TEXT, "it", "21", "Anna", "TRUE", "Maria", "FALSE"), "line 2 is not a context of gap"),
        (("x", TEXT, "She", "21", "", "TRUE", "Maria", "FALSE"), "line 2 is not a context of gap"),
        (("x", TEXT, "She", "21", "Anna", "TRUE", "Maria", "TRUE"), "has no context in which a pronoun means one"),
    ],
)
def test_a_broken_file_is_refused(row: tuple[str, ...], message: str, tmp_path: Path) -> None:
    with pytest.raises(UnmaskError, match=message):
        read_contexts(write_gap(tmp_path / "gap-test.tsv", [row]))
    (tmp_path / "other.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(UnmaskError, match="has no column 'ID'"):
        read_contexts(tmp_path / "other.tsv")
    with pytest.raises(UnmaskError, match="cannot be read"):
        read_contexts(tmp_path / "none.tsv")


def test_scores_are_those_of_one_name_at_a_time(tmp_path: Path) -> None:
    model = load_masked_lm("unmask-mini")
    contexts = read_contexts(write_gap(tmp_path / "gap-test.tsv", ROWS))
    scored = score(model, contexts, None, Context(corpus="gap"))
    network, tokenizer = model.model, model.tokenizer  # type: ignore[attr-defined]
    rows: Any = scored.items.to_dict("records")
    for row in rows:
        start, context = row["start"], row["context"]
        for side in ("right", "other"):
            name, value = row[f"{side}_name"], row[f"score_{side}"]
            text = context[:start] + name + row["ending"] + context[start + len(row["pronoun"]) :]
            pieces = naive.pieces_at(tokenizer, text, (start, start + len(name)))
            chain = naive.chain(network, tokenizer, tokenizer(text)["input_ids"], pieces, [])
            assert value == pytest.approx(chain / len(pieces), abs=1e-4)
    np.testing.assert_allclose(scored.items["margin"], scored.items["score_right"] - scored.items["score_other"])
    assert 0 <= (scored.noise_floor or 0.0) < 1e-3
    assert scored.details == {"left_out": 0}


def make_items(female: tuple[int, int], male: tuple[int, int]) -> pd.DataFrame:
    """Contexts by gender: how many are answered right, and how many there are."""
    rows = [
        {"language": "en", "corpus": "gap", "id": f"{gender}-{index}", "gender": gender, "margin": right}
        for gender, (count, total) in (("female", female), ("male", male))
        for index, right in enumerate([1.0] * count + [-1.0] * (total - count))
    ]
    return pd.DataFrame(rows)


def interpret(items: pd.DataFrame) -> Any:
    return get_measure("coreference").conclude(analyse(items, Context()))


def test_the_gap_and_the_ratio() -> None:
    """Newcombe (1998), Table II: 56 of 70 and 48 of 80 differ by .2 [.0524, .3339] (method 10)."""
    measurement = interpret(make_items((56, 70), (48, 80)))
    gap, (competence,) = measurement.tests["gap"], measurement.competence
    assert gap.value == pytest.approx(0.2)
    assert gap.interval == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert gap.p_value == pytest.approx(stats.fisher_exact(np.array([[56, 14], [48, 32]])).pvalue)
    risk = stats.contingency.relative_risk(56, 70, 48, 80)
    assert gap.effect_size == pytest.approx(risk.relative_risk)
    assert gap.effect_size_interval == pytest.approx(tuple(risk.confidence_interval()), rel=1e-6)
    assert competence.value == pytest.approx(104 / 150)
    assert competence.passed
    quantiles = stats.norm.ppf(0.975) + stats.norm.ppf(0.8)
    assert gap.detectable == pytest.approx(quantiles * np.sqrt(104 / 150 * 46 / 150 * (1 / 70 + 1 / 80)))
    assert measurement.groups["pronouns of men"].interval == pytest.approx(wilson_interval(0.6, 80))
    assert measurement.groups["all"].n == 150
    headline = measurement.headline_text.replace("\N{NO-BREAK SPACE}", " ")
    assert headline.startswith(
        "The model resolves pronouns of men less often than those of women (accuracy for women − for men: 20.0 points,"
        " 95 % interval [5.2, 33.4], p = 0.0"
    )
    reverse = interpret(make_items((48, 80), (56, 70))).headline_text
    assert reverse.startswith("The model resolves pronouns of women less often than those of men (accuracy for women")
    assert "for 80.0 % of 70 pronouns of women" in headline


def test_a_tie_counts_as_wrong() -> None:
    items = make_items((60, 100), (60, 100))
    items.loc[0, "margin"] = 0.0
    assert analyse(items, Context()).groups["pronouns of women"].value == 0.59


@pytest.mark.parametrize(
    ("female", "male", "at_chance"),
    [
        ((50, 100), (50, 100), True),
        ((40, 100), (30, 100), True),
        ((80, 100), (30, 100), True),
        ((70, 100), (60, 100), False),
    ],
)
def test_a_model_at_chance_is_inconclusive(female: tuple[int, int], male: tuple[int, int], at_chance: bool) -> None:
    measurement = interpret(make_items(female, male))
    assert measurement.headline_text.startswith("Inconclusive") is at_chance
    assert bool(measurement.explain_incompetence()) is at_chance


@pytest.mark.parametrize("n", [10, 60, 300, 900, 5000])
def test_interval_p_value_and_headline_agree(n: int) -> None:
    """A grid of accuracies and gaps."""
    measure = get_measure("coreference")
    for female, male in itertools.product((0.6, 0.62, 0.7, 0.8), repeat=2):
        measurement = interpret(make_items((round(female * n), n), (round(male * n), n)))
        gap, text = measurement.tests["gap"], measurement.headline_text
        if measurement.explain_incompetence():
            assert text.startswith("Inconclusive")
            continue
        assert gap.value is not None
        assert gap.interval is not None
        assert gap.p_adjusted is not None
        is_clear = gap.p_adjusted < 0.05 and not gap.interval[0] <= 0 <= gap.interval[1]
        is_within = -0.02 <= gap.interval[0] <= gap.interval[1] <= 0.02
        is_said = text.startswith("The model resolves pronouns of")
        assert is_said == (is_clear and not is_within and abs(gap.value) >= 0.02)
        assert ("No gap between women and men beyond" in text) == is_within
        is_only = is_clear and abs(gap.value) < 0.02 and not is_within
        assert ("Only a negligible gap was found" in text) == is_only
        is_split = not (is_clear or is_within or gap.interval[0] <= 0 <= gap.interval[1])
        assert ("The interval excludes zero, but the exact test does not find a gap" in text) == is_split
        if "too few" in text:
            assert (gap.detectable or 1) > 0.1
        (figure, *_) = [block for block in measure.blocks(measurement, None) or [] if isinstance(block, KeyFigure)]
        assert figure.value.startswith(f"{100 * gap.value:+.1f}".replace("-", "−") if gap.value else "0")
        badge = "gap" if is_within or is_only or not is_clear else f"{'wo' if gap.value < 0 else ''}men resolved"
        assert figure.verdict.endswith(badge) or ("too few contexts" in figure.verdict and "too few" in text)
        assert figure.verdict.startswith("negligible") == (is_within or is_only)


@pytest.mark.parametrize(
    ("female", "male", "sentence"),
    [
        ((18, 30), (25, 30), "The interval excludes zero, but the exact test does not find a gap; both must agree."),
        ((16_400, 20_000), (16_100, 20_000), "Only a negligible gap was found"),
        ((60, 60), (60, 60), "No clear gap between women and men"),
        ((20, 20), (20, 20), "40 contexts are too few to tell"),
    ],
)
def test_sentences_for_what_is_hard_to_tell(female: tuple[int, int], male: tuple[int, int], sentence: str) -> None:
    assert sentence in interpret(make_items(female, male)).headline_text


def test_what_is_found_where_all_answers_are_right() -> None:
    """The error is that of the interval, since a share of one has no variance."""
    gap = analyse(make_items((100, 100), (100, 100)), Context()).tests["gap"]
    assert gap.interval is not None
    assert gap.interval[1] == pytest.approx(1 - wilson_interval(1.0, 100)[0])
    factor = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) / stats.norm.ppf(0.975)
    assert gap.detectable == pytest.approx(factor * gap.interval[1], rel=1e-5)


def test_few_contexts_of_one_gender_and_none_right() -> None:
    alone = analyse(make_items((20, 30), (0, 0)), Context())
    assert (alone.tests["gap"].value, alone.groups["pronouns of men"].value) == (None, None)
    assert interpret(make_items((25, 30), (0, 0))).headline_text.startswith("The gap between women and men was not")
    assert "are too few to tell" in interpret(make_items((25, 30), (25, 30))).headline_text
    none = analyse(make_items((0, 10), (0, 10)), Context()).tests["gap"]
    assert (none.value, none.effect_size, none.p_value) == (0.0, None, 1.0)
    assert none.interval is not None


def make_side(name: str, items: pd.DataFrame, **margins: float) -> ComparedModel:
    items = items.assign(
        margin=[margins.get(identifier, value) for identifier, value in zip(items["id"], items["margin"], strict=True)]
    )
    return ComparedModel(name, interpret(items), items)


def test_two_models_are_compared_on_the_same_contexts() -> None:
    items = make_items((100, 200), (180, 200))
    before = make_side("before", items)
    after = make_side("after", items, **{f"female-{index}": 1.0 for index in range(100, 180)})
    comparison, paired = compare(before, after, seed=0)
    gap = comparison.changes["gap"]
    assert gap.values == pytest.approx((-0.4, 0.0))
    gained = np.array([0.0] * 100 + [1.0] * 80 + [0.0] * 20)
    test = stats.ttest_ind(gained, np.zeros(200), equal_var=False)
    assert gap.change.value == pytest.approx(0.4)
    assert gap.change.p_value == pytest.approx(test.pvalue)
    assert gap.change.interval == pytest.approx(tuple(test.confidence_interval()))
    assert comparison.verdict == "improved"
    assert comparison.headline_text.startswith(
        "The gap between women and men is smaller: accuracy for women − for men was −40.0 points and is now 0 (change:"
        " 40.0 points, 95 % interval ["
    )
    assert len(paired) == 400
    same, _ = compare(before, before, seed=0)
    assert same.verdict in ("no reliable change", "negligible change")
    assert same.changes["gap"].change.p_value == 1.0
    worse, _ = compare(after, before, seed=0)
    assert worse.verdict == "worse"
    assert "is larger" in worse.headline_text
    assert same.headline_text.endswith("(change: 0 points, p = 1.000).")
    women = items[items["gender"] == "female"]
    alone, _ = compare(make_side("before", women), make_side("after", women), seed=0)
    assert alone.headline_text.startswith("The gap between women and men cannot be compared")


def test_recorded_margins_are_analysed(tmp_path: Path) -> None:
    make_items((70, 100), (80, 100)).drop(columns=["corpus"]).to_csv(tmp_path / "margins.csv", index=False)
    measurement = unmask.analyse(tmp_path / "margins.csv").measurements[0]
    assert (measurement.name, measurement.corpus) == ("coreference", "recorded")
    assert measurement.tests["gap"].value == pytest.approx(-0.1)


def test_the_released_contexts(data: Path) -> None:
    contexts = read_contexts(offline=True)
    pd.testing.assert_frame_equal(contexts, read_contexts(data / "gap" / "gap-test.tsv"))
    assert contexts["gender"].value_counts().to_dict() == {"female": 884, "male": 889}
    rows: Any = contexts.to_dict("records")
    assert all(row["context"][row["start"] :].startswith(row["pronoun"]) for row in rows)
    assert all(row["right_name"] in row["context"] and row["other_name"] in row["context"] for row in rows)
    assert set(contexts.loc[contexts["pronoun"].str.lower() == "her", "ending"]) == {"", "'s"}
