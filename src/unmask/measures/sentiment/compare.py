"""The same texts rated by two models.

- *bias*: the mean of male − female ratings over the texts that have a term; the t test of its paired change.
- *absolute bias*: the mean size of these differences, which less is better of.
- *label flips*: the share of texts whose label depends on the gender; matched pairs (McNemar's exact test; Agresti and
  Min's interval).

The bias decides the verdict, and its p-value stands alone. The other two are corrected together (Holm).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.base import ComparedModel, Context
from unmask.measures.classifiers import Array
from unmask.measures.comparison import build_comparison, items_of_side, pair_items
from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.details import SIZES, Ratings
from unmask.results import Change, Comparison, Estimate, Verdict
from unmask.results.formatting import interval, number, p_value
from unmask.results.verdict import is_reliable, judge
from unmask.statistics.corrections import holm
from unmask.statistics.paired import matched_shares, mean_bias

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("p_female", "p_male", "bias", "choice_female", "choice_male")
HEADLINES = {
    "improved": "Ratings depend less on gender than before",
    "worse": "Ratings depend more on gender than before",
    "overshot": "The bias of the ratings was reversed",
    "no reliable change": "No reliable change of the mean bias",
    "negligible change": "The change of the mean bias is negligible",
}


def compare(before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
    """The paired changes of the bias, of its size and of label flips, and the paired items."""
    del seed
    pairs = pair_items(before, after, keys=SentimentMeasure.keys, scores=SCORES, item="text")
    context = Context(protocol=before.measurement.protocol, seed=0)
    measured = [analyse(items_of_side(pairs, side), context) for side in ("before", "after")]
    ratings = measured[0].read_details(Ratings)
    changed = pairs[pairs["changed"].to_numpy(dtype=bool)]
    biases = [changed[f"bias_{side}"].to_numpy(dtype=float) for side in ("before", "after")]
    noise_floor = sum(side.measurement.noise_floor or 0.0 for side in (before, after)) or None
    margin = SIZES[0][0] * ratings.scale
    bias = _compare_bias([measurement.tests["bias"] for measurement in measured], biases, margin)
    verdict = judge(bias, noise_floor=noise_floor)
    changes = {"bias": bias.model_copy(update={"verdict": verdict})}
    others = {"absolute bias": _compare_sizes(*map(np.abs, biases)), "label flips": _compare_flips(changed)}
    tested = {name: change for name, change in others.items() if change is not None}
    for (name, change), p in zip(
        tested.items(), holm([change.change.p_value for change in tested.values()]), strict=True
    ):
        adjusted = change.update_change(p_adjusted=p)
        less = (change.change.value or 0.0) < 0
        better: Verdict = "improved" if less else "worse"
        reliable = is_reliable(adjusted, noise_floor)
        changes[name] = adjusted.model_copy(update={"verdict": better if reliable else "no reliable change"})
    comparison = build_comparison(
        before,
        after,
        pairs,
        changes,
        verdict=verdict,
        headline=_describe_changes(changes, ratings.digits),
        attributes="texts",
        digits=ratings.digits,
        noise_floor=noise_floor,
    )
    first, second = pairs["bias_before"], pairs["bias_after"]
    return comparison, pairs.assign(before=first, after=second, change=second - first)


def _compare_bias(tests: Sequence[Estimate], biases: Sequence[Array], margin: float) -> Change:
    difference, sides = mean_bias(biases[1] - biases[0]), []
    for test, values in zip(tests, biases, strict=True):
        p = test.p_value if test.interval is None else mean_bias(values).p_value
        sides.append(test.model_copy(update={"value": float(values.mean()), "p_value": p}))
    return Change(
        labels={"contrast": "bias"},
        question="Did the mean difference between male and female versions change?",
        before=sides[0],
        after=sides[1],
        change=Estimate.from_statistic(difference, n=len(biases[0]), p_adjusted=difference.p_value),
        margin=margin,
    )


def _compare_sizes(before: Array, after: Array) -> Change:
    first, second = mean_bias(before), mean_bias(after)
    return Change(
        labels={"contrast": "absolute bias"},
        question="Did the mean size of the differences change?",
        before=Estimate(n=len(before), value=first.value, interval=first.interval),
        after=Estimate(n=len(after), value=second.value, interval=second.interval),
        change=Estimate.from_statistic(mean_bias(after - before), n=len(before)),
    )


def _compare_flips(changed: pd.DataFrame) -> Change | None:
    """The share of texts whose label depends on the gender; None if labels are not known."""
    columns = [f"choice_{gender}_{side}" for side in ("before", "after") for gender in ("female", "male")]
    if not set(columns) <= set(changed) or changed[columns].isna().to_numpy().any():
        return None
    flips = [changed[f"choice_female_{side}"] != changed[f"choice_male_{side}"] for side in ("before", "after")]
    shares = matched_shares(*flips)
    if shares is None:
        return None
    return Change(
        labels={"contrast": "label flips"},
        question="Did the share of texts whose label depends on the gender change?",
        before=Estimate(n=shares.n, value=shares.before),
        after=Estimate(n=shares.n, value=shares.after),
        change=Estimate(
            n=shares.n,
            value=shares.change,
            interval=shares.interval,
            statistic=float(shares.lost),
            statistic_name="texts that no longer flip",
            p_value=shares.p_value,
        ),
    )


def _describe_changes(changes: dict[str, Change], digits: int) -> list[str]:
    main, size, flips = changes["bias"], changes["absolute bias"], changes.get("label flips")
    (before, after), difference = main.values, main.change
    sentences = [
        f"{HEADLINES[main.verdict or 'no reliable change']}: the mean of male minus female ratings was"
        f" {number(before, digits)} and is now {number(after, digits)} over {difference.n:,} texts (change"
        f" {number(difference.value, digits)} {interval(difference.interval, digits)},"
        f" p {p_value(difference.p_value)}).",
        f"The mean size of the differences was {number(size.values[0], digits)} and is now"
        f" {number(size.values[1], digits)} ({size.verdict}).",
    ]
    if flips:
        counts = [round((value or 0.0) * flips.change.n) for value in flips.values]
        sentences.append(
            f"The label of {counts[0]:,} of {flips.change.n:,} texts depended on the gender, and now of {counts[1]:,}"
            f" ({flips.verdict})."
        )
    return sentences
