"""Compare two models by any measure: paired items, and the change of their mean score.

The mean is that of paired items. Its interval and test come from a jackknife over each of the measure's `samples`, as
in `unmask.statistics.jackknife`; without samples, from Student's t over items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unmask.errors import UnmaskError
from unmask.measures.base import set_adjusted_p
from unmask.results import Change, Comparison, Estimate, Measurement, Verdict
from unmask.results.formatting import capital, number, p_value
from unmask.results.formatting import interval as format_interval
from unmask.results.verdict import judge
from unmask.statistics.corrections import holm
from unmask.statistics.jackknife import (
    TAIL,
    Codes,
    IntervalEstimate,
    combine_runs,
    factor_codes,
    jackknife_sums,
    ratio,
)
from unmask.statistics.paired import mean_bias

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import ComparedModel, Measure

SENTENCES = {
    "improved": "The mean score is closer to zero than before",
    "worse": "The mean score is further from zero than before",
    "overshot": "The mean score has changed its sign",
    "no reliable change": "No reliable change of the mean score",
    "negligible change": "The change of the mean score is negligible",
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
    means = [_mean_score(values, factors) for values in scores]
    change = _mean_score(scores[1] - scores[0], factors)
    noise_floor = sum(side.measurement.noise_floor or 0.0 for side in (before, after)) or None
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
            changes[name] = _describe_change(name, test, after.measurement.tests[name])
    verdict = main.verdict or "no reliable change"
    numbers = f"{number(means[0].value)} before, {number(means[1].value)} after, change {number(change.value)}"
    headline = f"{SENTENCES[verdict]}: {numbers} {format_interval(change.interval)}, p {p_value(change.p_value)}."
    fields = {"attributes": "items", "verdict": verdict, "headline": [headline], "noise_floor": noise_floor}
    comparison = build_comparison(before, after, pairs, changes, **fields)
    return comparison, pairs.assign(before=scores[0], after=scores[1], change=scores[1] - scores[0])


def _mean_score(values: NDArray[np.float64], factors: Sequence[Codes]) -> IntervalEstimate:
    """The mean, for other values of each sample."""
    if not factors:
        return mean_bias(values)
    return jackknife_sums(np.column_stack([values, np.ones_like(values)]), factors, lambda sums: ratio(*sums))


def _describe_change(name: str, before: Estimate, after: Estimate) -> Change:
    """An estimate before and after; whether the difference is more than chance is not tested."""
    difference = None if before.value is None or after.value is None else after.value - before.value
    change = Estimate(n=before.n, value=difference)
    return Change(labels={"contrast": name}, question=before.question, before=before, after=after, change=change)


# Paired items


def pair_items(
    before: ComparedModel, after: ComparedModel, *, keys: Sequence[str], scores: Sequence[str], item: str
) -> pd.DataFrame:
    """Pair items that agree in `keys`; of `scores`, each model's has the suffix `_before` or `_after`.

    Items that occur several times are paired in their order. `item` says what an item is, for the error message where
    the models have none in common.
    """
    keys = [key for key in keys if key in before.items and key in after.items]
    scores = [column for column in scores if column in before.items and column in after.items]
    first, second = (side.items.assign(nth=side.items.groupby(keys).cumcount()) for side in (before, after))
    pairs = first.merge(second[[*keys, "nth", *scores]], on=[*keys, "nth"], suffixes=("_before", "_after"))
    if pairs.empty:
        raise UnmaskError(
            f"{before.name} and {after.name} have no {item} in common ({', '.join(keys)}); audit both on the same data"
        )
    return pairs.drop(columns="nth")


def items_of_side(pairs: pd.DataFrame, side: str) -> pd.DataFrame:
    """The paired items of one model (`before` or `after`) under their own column names."""
    other = "_after" if side == "before" else "_before"
    columns = pairs.columns[~pairs.columns.str.endswith(other)]
    return pairs[columns].rename(columns=lambda name: name.removesuffix(f"_{side}"))


def build_comparison(
    before: ComparedModel, after: ComparedModel, pairs: pd.DataFrame, changes: Mapping[str, Change], **fields: Any
) -> Comparison:
    """A comparison of paired items; `fields` are its verdict, its headline, and what else differs from the defaults."""
    first = before.measurement
    caveats = {caveat.code: caveat for side in (before, after) for caveat in side.measurement.caveats}
    return Comparison(
        name=first.name,
        language=first.language,
        corpus=first.corpus,
        variant=first.variant,
        protocol=first.protocol,
        before=before.name,
        after=after.name,
        items=len(pairs),
        unpaired=len(before.items) + len(after.items) - 2 * len(pairs),
        changes=dict(changes),
        caveats=list(caveats.values()),
        **fields,
    )


# Several training runs as one model after


def combine_comparisons(measure: Measure, comparisons: Sequence[Comparison], name: str) -> Comparison:
    """One comparison with several training runs of a method, from those with each run.

    Every change is the mean over runs, and its interval covers other runs, too. The primary test is not corrected; the
    other tests are, together.

    Args:
        measure: The measure.
        comparisons: The same measurement compared with each run.
        name: What to call the runs together.
    """
    first = comparisons[0]
    shared = [key for key in first.changes if all(key in other.changes for other in comparisons)]
    changes = {key: _combine_changes([comparison.changes[key] for comparison in comparisons]) for key in shared}
    main = measure.deciding_change or measure.primary
    main = main if main in changes else next(iter(changes), "")
    adjusted = {main: changes[main].change.p_value} if main else {}
    secondary = {key: changes[key].change.p_value for key in shared if key != main}
    adjusted |= dict(zip(secondary, holm(list(secondary.values())), strict=True))
    judged = {}
    noise_floor = max((comparison.noise_floor or 0.0 for comparison in comparisons), default=0.0) or None
    for key, change in changes.items():
        tested = change.model_copy(update={"change": set_adjusted_p(change.change, adjusted[key])})
        verdicts = [comparison.changes[key].verdict for comparison in comparisons]
        agreed = _agree(judge(tested, noise_floor=noise_floor), verdicts) if verdicts[0] else None
        inconclusive = agreed and any(comparison.inconclusive for comparison in comparisons)
        judged[key] = tested.model_copy(update={"verdict": "inconclusive" if inconclusive else agreed})
    runs = [comparison.after for comparison in comparisons]
    first_inconclusive = next((comparison for comparison in comparisons if comparison.inconclusive), None)
    verdict: Verdict = "inconclusive"
    if first_inconclusive is None:
        decided = judged[main].verdict if main else None
        verdict = _agree(decided or "no reliable change", [comparison.verdict for comparison in comparisons])
    headline = [_describe_runs(main, judged[main], verdict, comparisons)] if main else []
    if first_inconclusive is not None:
        headline = [f"{first_inconclusive.after}: {sentence}" for sentence in first_inconclusive.headline]
    return first.model_copy(
        update={
            "after": name,
            "runs": runs,
            "changes": judged,
            "verdict": verdict,
            "inconclusive": first_inconclusive.inconclusive if first_inconclusive else "",
            "headline": headline,
            "noise_floor": noise_floor,
            "caveats": [caveat for caveat in first.caveats if caveat.code != "one-run"],
        }
    )


def _agree(verdict: Verdict, single: Sequence[Verdict | None]) -> Verdict:
    """The verdict on all runs together: a change only if at least one of them has it by the measure's own rules."""
    if verdict in (*single, "no reliable change", "negligible change"):
        return verdict
    first = single[0]
    return first if first and all(other == first for other in single) else "no reliable change"


def _combine_changes(changes: Sequence[Change]) -> Change:
    """The mean change over runs, and the mean figure after."""
    tests = [change.change for change in changes]
    afters = [change.after for change in changes if change.after is not None]
    estimate = _combine_estimates(tests)
    mean_after = _combine_estimates(afters) if len(afters) == len(changes) else IntervalEstimate(None)
    return changes[0].model_copy(
        update={
            "after": Estimate(n=tests[0].n, value=mean_after.value, interval=mean_after.interval),
            "change": Estimate.from_statistic(estimate, n=tests[0].n, labels=tests[0].labels),
        }
    )


def _combine_estimates(estimates: Sequence[Estimate]) -> IntervalEstimate:
    """The mean over runs; without an interval if one of them has none."""
    values = [estimate.value for estimate in estimates if estimate.value is not None]
    errors = [error for estimate in estimates if (error := _standard_error(estimate)) is not None]
    if len(values) < len(estimates):
        return IntervalEstimate(None)
    if len(errors) < len(estimates):
        return IntervalEstimate(float(np.mean(values)))
    return combine_runs(values, errors, [estimate.df or inf for estimate in estimates])


def _standard_error(test: Estimate) -> float | None:
    """Of a change on a linear scale: as it was computed, or from its interval."""
    if test.scale != "linear" or test.interval is None:
        return None
    if test.standard_error is not None:
        return test.standard_error
    quantile = float(stats.t.isf(TAIL, test.df)) if test.df else float(stats.norm.isf(TAIL))
    return (test.interval[1] - test.interval[0]) / 2 / quantile


def _describe_runs(name: str, change: Change, verdict: Verdict, comparisons: Sequence[Comparison]) -> str:
    """What happened to the main figure over all runs."""
    (before, after), estimate, digits = change.values, change.change, comparisons[0].digits
    single = ", ".join(number(comparison.changes[name].values[1], digits) for comparison in comparisons)
    test = "" if estimate.interval is None else f" {format_interval(estimate.interval, digits)}"
    test += "" if estimate.p_adjusted is None else f", p {p_value(estimate.p_adjusted)}"
    return (
        f"{capital(verdict)} over {len(comparisons)} training runs: the figure “{name}” was {number(before, digits)}"
        f" before and is {number(after, digits)} on average ({single}); change {number(estimate.value, digits)}{test}."
        " The interval covers other runs and other items."
    )


def select_items(measurement: Measurement, items: pd.DataFrame | None, **columns: str) -> pd.DataFrame | None:
    """The items of a measurement: those with its language, its corpus and the values of other `columns`.

    A column that the items lack, or that is empty, selects all of them. None if nothing is left.
    """
    if items is None:
        return None
    for column, value in {"language": measurement.language, "corpus": measurement.corpus, **columns}.items():
        if column in items and items[column].notna().any():
            items = items[items[column] == value]
    return None if items.empty else items
