"""Compare two models by any measure: the change of the mean score, paired over items.

The mean is that of paired items. Its interval and test come from a jackknife over each of the measure's `samples`, as
in `unmask.statistics.jackknife`; without samples, from Student's t over items.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.paired_items import pair_items
from unmask.results import Change, Comparison, Estimate
from unmask.results.numbers import interval as format_interval
from unmask.results.numbers import number, p_value
from unmask.results.verdict import judge
from unmask.statistics.jackknife import Codes, IntervalEstimate, factor_codes, jackknife_sums, ratio
from unmask.statistics.paired import mean_bias

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import ComparedModel, Measure

SENTENCES = {
    "improved": "The mean score is closer to zero than before",
    "worse": "The mean score is further from zero than before",
    "overshot": "The mean score has changed its sign",
    "no reliable change": "No reliable change of the mean score",
}


def compare_scores(
    measure: Measure, before: ComparedModel, after: ComparedModel, *, seed: int
) -> tuple[Comparison, pd.DataFrame]:
    """The change of the mean score, which is tested, and of every estimate of the measure, which is not.

    Zero must mean no bias. A measure for which it does not overrides `Measure.compare`.
    """
    del seed
    column = measure.score_column
    for side, needed in product((before, after), dict.fromkeys([*measure.keys, *measure.samples, column])):
        if needed not in side.items:
            raise UnmaskError(f"the items of {side.name} have no column {needed!r}, which {measure.name} declares")
    pairs = pair_items(before, after, keys=measure.keys, scores=[column], item="item")
    pairs = pairs.dropna(subset=[f"{column}_before", f"{column}_after"]).reset_index(drop=True)
    scores = [pairs[f"{column}_{side}"].to_numpy(dtype=np.float64) for side in ("before", "after")]
    factors = [factor_codes(pairs[sample].astype(str)) for sample in measure.samples]
    means, change = [_mean(values, factors) for values in scores], _mean(scores[1] - scores[0], factors)
    floors = [side.measurement.noise_floor for side in (before, after)]
    noise_floor = sum(floor for floor in floors if floor is not None) if any(floors) else None
    main = Change(
        labels={"contrast": "mean score"},
        question="Did the mean score change?",
        before=Estimate(n=len(pairs), value=means[0].value, interval=means[0].interval),
        after=Estimate(n=len(pairs), value=means[1].value, interval=means[1].interval),
        change=Estimate.from_statistic(change, n=len(pairs), p_adjusted=change.p_value),
    )
    main = main.model_copy(update={"verdict": judge(main, noise_floor=noise_floor)})
    changes = {"mean score": main}
    for name, test in before.measurement.tests.items():
        if name in after.measurement.tests:
            changes[name] = _describe(name, test, after.measurement.tests[name])
    caveats = {caveat.code: caveat for side in (before, after) for caveat in side.measurement.caveats}
    verdict = main.verdict or "no reliable change"
    numbers = f"{number(means[0].value)} before, {number(means[1].value)} after, change {number(change.value)}"
    headline = f"{SENTENCES[verdict]}: {numbers} {format_interval(change.interval)}, p {p_value(change.p_value)}."
    first = before.measurement
    return Comparison(
        name=first.name,
        language=first.language,
        corpus=first.corpus,
        variant=first.variant,
        protocol=first.protocol,
        attributes="items",
        before=before.name,
        after=after.name,
        verdict=verdict,
        headline=[headline],
        items=len(pairs),
        unpaired=len(before.items) + len(after.items) - 2 * len(pairs),
        changes=changes,
        caveats=list(caveats.values()),
        noise_floor=noise_floor,
    ), pairs.assign(before=scores[0], after=scores[1], change=scores[1] - scores[0])


def _mean(values: NDArray[np.float64], factors: Sequence[Codes]) -> IntervalEstimate:
    """The mean, for other values of each sample."""
    if not factors:
        return mean_bias(values)
    return jackknife_sums(np.column_stack([values, np.ones_like(values)]), factors, lambda sums: ratio(*sums))


def _describe(name: str, before: Estimate, after: Estimate) -> Change:
    """An estimate before and after; whether the difference is more than chance is not tested."""
    known = before.value is not None and after.value is not None
    change = float(after.value) - float(before.value) if known else None  # type: ignore[arg-type]
    return Change(
        labels={"contrast": name},
        question=before.question,
        before=before,
        after=after,
        change=Estimate(n=before.n, value=change),
    )
