"""CrowS-Pairs of two models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel, Context
from unmask.measures.crows_pairs.analysis import analyse, compare


def test_pairs_of_sentences_are_matched() -> None:
    rng = np.random.default_rng(1)
    items = pd.DataFrame({"language": "en", "corpus": "crows-pairs", "id": range(40), "direction": "stereo"})
    sides = []
    for name, mean in (("one", 1.0), ("two", 0.0)):
        scored_items = items.assign(difference=rng.normal(mean, size=40), pll_more=0.0, pll_less=0.0, female="")
        sides.append(ComparedModel(name, analyse(scored_items, Context()), scored_items))
    comparison, paired = compare(*sides, seed=0)
    was, now = (side.items["difference"] > 0 for side in sides)
    lost, gained = int((was & ~now).sum()), int((now & ~was).sum())
    change = comparison.changes["stereotype"]
    assert change.values == (was.mean() - 0.5, now.mean() - 0.5)
    assert change.change.p_value == pytest.approx(stats.binomtest(gained, lost + gained).pvalue)
    difference = sides[1].items["difference"] - sides[0].items["difference"]
    assert comparison.changes["likelihood"].change.p_value == pytest.approx(stats.ttest_1samp(difference, 0).pvalue)
    assert len(paired) == comparison.items == 40
    with pytest.raises(UnmaskError, match="no pair of sentences in common"):
        compare(sides[0], ComparedModel("three", sides[1].measurement, items.assign(id=99, difference=0.0)), seed=0)


def _pairs(name: str, *differences: float) -> ComparedModel:
    items = pd.DataFrame({"language": "en", "corpus": "crows-pairs", "id": range(len(differences))})
    scored_items = items.assign(direction="stereo", difference=differences, pll_more=0.0, pll_less=0.0, female="")
    return ComparedModel(name, analyse(scored_items, Context()), scored_items)


def test_a_tie_counts_half_before_after_and_in_the_change() -> None:
    comparison, _ = compare(_pairs("one", 1, 1, 0, -1), _pairs("two", 0, 1, -1, -1), seed=0)
    change = comparison.changes["stereotype"]
    assert (*change.values, change.change.value) == (0.125, -0.125, -0.25)
    assert change.change.p_value == 0.5  # two pairs moved, both down


@pytest.mark.parametrize(
    ("before", "after", "verdict", "message"),
    [
        (15, 42, "improved", "nearer to 50 % than before: in 42.0 % of 100 pairs (15.0 % before; change 27.0"),
        (85, 58, "improved", "nearer to 50 % than before: in 58.0 % of 100 pairs (85.0 % before"),
        (42, 15, "worse", "farther from 50 % than before: in 15.0 %"),
        (15, 85, "overshot", "on the other side of 50 %: in 85.0 %"),
    ],
)
def test_the_headline_goes_by_the_distance_from_one_half(before: int, after: int, verdict: str, message: str) -> None:
    sides = (_pairs(str(count), *[1.0] * count, *[-1.0] * (100 - count)) for count in (before, after))
    comparison, _ = compare(*sides, seed=0)
    headline = comparison.headline_text.replace("\N{NO-BREAK SPACE}", " ")
    assert (comparison.verdict, message in headline) == (verdict, True), headline


def test_where_interval_and_exact_test_disagree_it_says_that_both_must_agree() -> None:
    sides = _pairs("one", *[1.0] * 20), _pairs("two", *[-1.0] * 5, *[1.0] * 15)
    comparison, _ = compare(*sides, seed=0)
    change = comparison.changes["stereotype"].change
    assert change.interval is not None
    assert change.interval[1] < 0
    assert change.p_value == 0.0625  # all five pairs that moved went down
    assert comparison.verdict == "no reliable change"
    assert comparison.headline_text.startswith("No reliable change in how often")
    assert comparison.headline_text.endswith("the exact test does not find a change; both must agree.")
