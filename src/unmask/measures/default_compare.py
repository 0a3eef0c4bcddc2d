"""Compare two models by any measure: the change of the mean score, paired over items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.paired_items import pair_items
from unmask.results import Change, Comparison, Estimate
from unmask.results.numbers import interval as format_interval
from unmask.results.numbers import number, p_value
from unmask.results.verdict import judge
from unmask.statistics.ratings import mean_bias

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
    pairs = pair_items(before, after, keys=measure.keys, scores=[column], item="item")
    scores = [pairs[f"{column}_{side}"].to_numpy(dtype=np.float64) for side in ("before", "after")]
    means, change = [mean_bias(values) for values in scores], mean_bias(scores[1] - scores[0])
    floors = [side.measurement.noise_floor for side in (before, after)]
    noise_floor = sum(floor for floor in floors if floor is not None) if any(floors) else None
    main = Change(
        labels={"contrast": "mean score"},
        question="Did the mean score change?",
        n=len(pairs),
        before=means[0].value,
        before_interval=means[0].interval,
        after=means[1].value,
        after_interval=means[1].interval,
        change=change.value,
        interval=change.interval,
        statistic=change.statistic,
        df=change.df,
        p_value=change.p_value,
        p_adjusted=change.p_value,
    )
    main = main.model_copy(update={"verdict": judge(main, noise_floor=noise_floor)})
    changes = {"mean score": main}
    for name, test in before.measurement.tests.items():
        if name in after.measurement.tests:
            changes[name] = _describe(name, test, after.measurement.tests[name])
    caveats = {caveat.code: caveat for side in (before, after) for caveat in side.measurement.caveats}
    verdict = main.verdict or "no reliable change"
    numbers = f"{number(main.before)} before, {number(main.after)} after, change {number(main.change)}"
    headline = f"{SENTENCES[verdict]}: {numbers} {format_interval(main.interval)}, p {p_value(main.p_value)}."
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
        headline=headline,
        items=len(pairs),
        unpaired=len(before.items) + len(after.items) - 2 * len(pairs),
        changes=changes,
        caveats=list(caveats.values()),
        noise_floor=noise_floor,
    ), pairs.assign(before=scores[0], after=scores[1], change=scores[1] - scores[0])


def _describe(name: str, before: Estimate, after: Estimate) -> Change:
    """An estimate before and after; whether the difference is more than chance is not tested."""
    known = before.value is not None and after.value is not None
    return Change(
        labels={"contrast": name},
        question=before.question,
        n=before.n,
        before=before.value,
        before_interval=before.interval,
        before_p_value=before.p_value,
        after=after.value,
        after_interval=after.interval,
        after_p_value=after.p_value,
        change=float(after.value) - float(before.value) if known else None,  # type: ignore[arg-type]
    )
