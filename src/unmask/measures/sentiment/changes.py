"""The same texts rated by two models.

- *bias*: the mean of male − female ratings over the texts that have a term; the t test of its paired change.
- *absolute bias*: the mean size of these differences, which less is better of.
- *label flips*: the share of texts whose label depends on the gender; matched pairs (McNemar's exact test; Agresti and
  Min's interval).

The bias decides the verdict, and its p-value stands alone. The other two are corrected together (Holm).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.base import ComparedModel
from unmask.measures.comparison import items_of_side, pair_items
from unmask.measures.sentiment.analyse import analyse_ratings
from unmask.measures.sentiment.interpret import SIZES, Ratings, digits
from unmask.results import Change, Comparison, Estimate, Verdict
from unmask.results.formatting import interval as shown
from unmask.results.formatting import number, p_value
from unmask.results.verdict import is_reliable, judge
from unmask.statistics.corrections import holm
from unmask.statistics.paired import matched_shares, mean_bias

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["language", "corpus", "terms", "id"]
"""What two items must share to be the same text."""
SCORES = ["p_female", "p_male", "bias", "choice_female", "choice_male"]
_HEADS = {
    "improved": "Ratings depend less on gender than before",
    "worse": "Ratings depend more on gender than before",
    "overshot": "The bias of the ratings was reversed",
    "no reliable change": "No reliable change of the mean bias",
}


def compare(before: ComparedModel, after: ComparedModel) -> tuple[Comparison, pd.DataFrame]:
    """What changed, judged; and the paired items."""
    pairs = pair_items(before, after, keys=KEYS, scores=SCORES, item="text")
    first, second = (items_of_side(pairs, side) for side in ("before", "after"))
    measured = [analyse_ratings(side, before.measurement.protocol, 0) for side in (first, second)]
    tests = [one.tests["bias"] for one in measured]
    changed = pairs["changed"].to_numpy(dtype=bool)
    bias, bias_after = (side["bias"].to_numpy(dtype=float)[changed] for side in (first, second))
    floors = [one.measurement.noise_floor for one in (before, after)]
    noise_floor = sum(floor or 0.0 for floor in floors) or None
    moved = mean_bias(bias_after - bias)
    sides = [
        test.model_copy(
            update={
                "value": float(values.mean()),
                "p_value": test.p_value if test.interval is None else mean_bias(values).p_value,
            }
        )
        for test, values in zip(tests, (bias, bias_after), strict=True)
    ]
    main = Change(
        labels={"contrast": "bias"},
        question="Did the mean difference between male and female versions change?",
        before=sides[0],
        after=sides[1],
        change=Estimate.from_statistic(moved, n=int(changed.sum()), p_adjusted=moved.p_value),
    )
    ratings = measured[0].read_details(Ratings)
    main = main.model_copy(
        update={"verdict": judge(main, noise_floor=noise_floor, negligible=SIZES[0][0] * ratings.scale)}
    )
    others = {"absolute bias": _size(bias, bias_after)}
    if (flips := _flips(pairs[changed])) is not None:
        others["label flips"] = flips
    for name, p in zip(others, holm([change.change.p_value for change in others.values()]), strict=True):
        change = others[name].update_change(p_adjusted=p)
        others[name] = change.model_copy(update={"verdict": _smaller_is_better(change, noise_floor)})
    precise = digits(ratings)
    caveats = {caveat.code: caveat for one in (before, after) for caveat in one.measurement.caveats}
    return Comparison(
        name=before.measurement.name,
        language=before.measurement.language,
        corpus=before.measurement.corpus,
        variant=before.measurement.variant,
        protocol=before.measurement.protocol,
        attributes="texts",
        before=before.name,
        after=after.name,
        verdict=main.verdict or "no reliable change",
        headline=_headline(main, others, precise),
        items=len(pairs),
        unpaired=len(before.items) + len(after.items) - 2 * len(pairs),
        changes={"bias": main, **others},
        digits=precise,
        caveats=list(caveats.values()),
        noise_floor=noise_floor,
    ), pairs.assign(
        before=pairs["bias_before"],
        after=pairs["bias_after"],
        change=pairs["bias_after"] - pairs["bias_before"],
    )


def _size(before: np.ndarray, after: np.ndarray) -> Change:
    sizes = [mean_bias(np.abs(values)) for values in (before, after)]
    moved = mean_bias(np.abs(after) - np.abs(before))
    return Change(
        labels={"contrast": "absolute bias"},
        question="Did the mean size of the differences change?",
        before=Estimate(n=len(before), value=sizes[0].value, interval=sizes[0].interval),
        after=Estimate(n=len(after), value=sizes[1].value, interval=sizes[1].interval),
        change=Estimate.from_statistic(moved, n=len(before)),
    )


def _flips(changed: pd.DataFrame) -> Change | None:
    """The share of texts whose label depends on the gender; None where labels are not known."""
    columns = [f"choice_{gender}_{side}" for side in ("before", "after") for gender in ("female", "male")]
    if not set(columns) <= set(changed) or changed[columns].isna().to_numpy().any():
        return None
    flipped = [
        (changed[f"choice_female_{side}"] != changed[f"choice_male_{side}"]).to_numpy(dtype=float)
        for side in ("before", "after")
    ]
    shares = matched_shares(*flipped)
    if shares is None:
        return None
    return Change(
        labels={"contrast": "label flips"},
        question="Did the share of texts whose label depends on the gender change?",
        before=Estimate(n=len(changed), value=float(flipped[0].mean())),
        after=Estimate(n=len(changed), value=float(flipped[1].mean())),
        change=Estimate(
            n=len(changed),
            value=shares.change,
            interval=shares.interval,
            statistic=float(shares.lost),
            statistic_name="texts that no longer flip",
            p_value=shares.p_value,
        ),
    )


def _smaller_is_better(change: Change, noise_floor: float | None) -> Verdict:
    if change.change.value is None or not is_reliable(change, noise_floor):
        return "no reliable change"
    return "improved" if change.change.value < 0 else "worse"


def _headline(main: Change, others: dict[str, Change], precise: int) -> list[str]:
    (before, after), moved = main.values, main.change
    sentences = [
        f"{_HEADS[main.verdict or 'no reliable change']}: the mean of male minus female ratings was"
        f" {number(before, precise)} and is now {number(after, precise)} over {moved.n:,} texts (change"
        f" {number(moved.value, precise)} {shown(moved.interval, precise)}, p {p_value(moved.p_value)})."
    ]
    size = others["absolute bias"]
    sentences.append(
        f"The mean size of the differences was {number(size.values[0], precise)} and is now"
        f" {number(size.values[1], precise)} ({size.verdict})."
    )
    if flips := others.get("label flips"):
        counts = [round((value or 0.0) * flips.change.n) for value in flips.values]
        sentences.append(
            f"The label of {counts[0]:,} of {flips.change.n:,} texts depended on the gender, and now of {counts[1]:,}"
            f" ({flips.verdict})."
        )
    return sentences
