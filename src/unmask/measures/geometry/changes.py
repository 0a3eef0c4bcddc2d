"""Two models and the same words: do words that were biased alike *before* still lie together after?

Every test takes the words that were most biased before, and their bias there (Gonen and Goldberg 2019): a mitigation
that only turns the direction that bias is read from chooses other words, and looks better than it is. What the model
after gives for its own words stands beside it, without a test, since those are other words.

- *clustering, probe, classification*: the same words, right or wrong before and after, so the shares are matched
  (McNemar's exact test; Agresti and Min's interval).
- *neighbours*, and the professions' *stereotype*: r after − r before over the same professions, by a jackknife that
  leaves out one profession at a time. The two correlations share the professions and, for neighbours, the bias; the
  jackknife needs no formula for what they share, and no normal distribution of shares that lie between 0 and 1.

Beside each value stands what other contrasts keep in the model *before* when their direction is simply taken out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.measures.base import ComparedModel
from unmask.measures.geometry.described import neighbourhoods
from unmask.measures.geometry.details import Geometry, GeometryChange, Reference, WordTest, WordTestChange
from unmask.measures.geometry.losses import Losses, beside
from unmask.measures.geometry.references import NAMES
from unmask.measures.geometry.untested import QUESTIONS, associations, own_words
from unmask.measures.geometry.word_tests import LABELS, word_tests
from unmask.results import Change, Comparison, Estimate
from unmask.statistics.correlation import pearson
from unmask.statistics.jackknife import IntervalEstimate, jackknife
from unmask.statistics.paired import matched_shares

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-4
"""A bias that varies less than this share of what it did before is what rounding left."""


def compare(
    before: ComparedModel,
    after: ComparedModel,
    again: pd.DataFrame | None,
    *,
    unknown: Sequence[str] = (),
    lost: Losses | None = None,
) -> tuple[Comparison, pd.DataFrame]:
    """The numbers, and the items behind them; adjusted p-values, verdict and words come later (`judge`).

    `again` are the items of the model after with the words that were most biased before, and their bias there; None
    where it could not be asked again. The items of both are of the same words; `unknown` are those only one knows.
    `lost` is what other contrasts lost.
    """
    import pandas as pd

    first, second = (side.measurement.read_details(Geometry) for side in (before, after))
    then = {one.name: one for one in (first.tests if again is None else word_tests(before.items)) if not one.removed}
    now = {} if again is None else {one.name: one for one in word_tests(again)}
    changes = {} if again is None else _paired(before.items, again, then, now, before.name)
    if before.measurement.protocol == "sound":
        changes["stereotype"] = _stereotype(before, after)
    changes |= own_words(first, second)
    changes |= associations(before.measurement.tests, after.measurement.tests)
    found = GeometryChange(
        words=len(before.items),
        unknown=list(unknown),
        tests=[
            _word_test(name, first, second, then[name], now.get(name), (lost or {}).get(name))
            for name in NAMES
            if name in then
        ],
        professions_before=neighbourhoods(before.items) if again is not None else first.professions,
        professions_after=[] if again is None else neighbourhoods(again),
    )
    items = [before.items.assign(model=before.name)]
    items += [] if again is None else [again.assign(model=after.name)]
    measured = before.measurement
    return Comparison(
        name=measured.name,
        language=measured.language,
        corpus=measured.corpus,
        protocol=measured.protocol,
        attributes=measured.attributes,
        before=before.name,
        after=after.name,
        verdict="no reliable change",
        items=len(before.items),
        unpaired=len(unknown),
        changes=changes,
        details=found.model_dump(),
    ), pd.concat(items, ignore_index=True)


def _paired(
    before: pd.DataFrame, after: pd.DataFrame, then: dict[str, WordTest], now: dict[str, WordTest], name: str
) -> dict[str, Change]:
    """The changes of the four tests over the same words."""
    found = {}
    for test, (side, said) in LABELS.items():
        both = before[["word", side, said]].merge(after[["word", said]], on="word", suffixes=("", "_after"))
        both = both[both[side].isin(["female", "male"]) & (both[said] != "") & (both[f"{said}_after"] != "")]
        shares = matched_shares(both[side] == both[said], both[side] == both[f"{said}_after"])
        if shares is not None and test in now:
            estimate = IntervalEstimate(shares.change, None, None, shares.interval, float(shares.lost), shares.p_value)
            found[test] = _change(test, name, shares.n, then[test], now[test], estimate, "words right before alone")
    if "neighbours" in then and "neighbours" in now:
        columns = ["word", "bias", "male_neighbours"]
        both = before[columns].merge(after[columns], on="word", suffixes=("", "_after")).dropna()
        estimate = correlation_change(
            (both["bias"], both["male_neighbours"]), (both["bias_after"], both["male_neighbours_after"])
        )
        found["neighbours"] = _change("neighbours", name, len(both), then["neighbours"], now["neighbours"], estimate)
    return found


def correlation_change(before: tuple[ArrayLike, ArrayLike], after: tuple[ArrayLike, ArrayLike]) -> IntervalEstimate:
    """r after minus r before over the same points, with a jackknife over them."""
    (x, y), (u, v) = ([np.asarray(one, dtype=float) for one in side] for side in (before, after))
    return jackknife((x.size, 1), lambda rows, _: pearson(u[rows], v[rows]) - pearson(x[rows], y[rows]))


def _change(
    test: str, words: str, n: int, before: WordTest, after: WordTest, estimate: IntervalEstimate, statistic: str = "t"
) -> Change:
    return Change(
        labels={"contrast": test, "words": words},
        question=QUESTIONS[test],
        before=Estimate(n=before.n, value=before.value, interval=before.interval),
        after=Estimate(n=after.n, value=after.value, interval=after.interval),
        change=Estimate.from_statistic(estimate, n=n, statistic_name=statistic),
    )


def _stereotype(before: ComparedModel, after: ComparedModel) -> Change:
    """The correlation of bias with what people say, each model's own bias, over the professions of both."""
    one, other = (
        side.items[side.items["stereotype"].notna()][["word", "bias", "stereotype"]] for side in (before, after)
    )
    both = one.merge(other, on="word", suffixes=("", "_after"))
    bias, now = both["bias"].to_numpy(dtype=float), both["bias_after"].to_numpy(dtype=float)
    gone = now.size > 1 and now.std() < ROUNDING * bias.std()
    known = both["stereotype"].to_numpy(dtype=float)
    estimate = IntervalEstimate(None) if gone else correlation_change((bias, known), (now, known))
    then, later = (side.measurement.tests.get("stereotype") for side in (before, after))
    return Change(
        labels={"contrast": "stereotype"},
        question=QUESTIONS["stereotype"],
        before=then,
        after=None if gone else later,
        change=Estimate.from_statistic(estimate, n=len(both)),
    )


def _word_test(
    name: str,
    before: Geometry,
    after: Geometry,
    then: WordTest,
    now: WordTest | None,
    lost: NDArray[np.float64] | None,
) -> WordTestChange:
    own, removed = after.test(name), before.test(name, removed=True)
    value = now.value if now else None
    return WordTestChange(
        name=name,
        n=then.n,
        before=then.value,
        after=value,
        own=own.value if own else None,
        removed=removed.value if removed else None,
        lost=None if value is None or then.value is None else beside(lost, value - then.value),
        others=_beside(removed.reference if removed else None, value),
    )


def _beside(others: Reference | None, value: float | None) -> Reference | None:
    """What other contrasts keep, beside what the model after keeps."""
    if others is None or value is None or not others.values:
        return None
    above = sum(one >= value - 1e-12 for one in others.values)
    return others.model_copy(update={"p_value": (1 + above) / (1 + len(others.values))})
