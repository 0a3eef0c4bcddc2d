"""The same texts rated by two models.

- *bias over words*: what a male word in place of a female one adds to a rating, on average over pairs of words. The
  estimate is linear in the ratings, so its change is the same estimate of the paired changes, with its t over pairs.
- *bias*: the mean of male − female ratings over the texts that have a term; the t test of its paired change.
- *absolute bias*: the mean size of these differences, which less is better of.
- *label flips*: the share of texts whose label depends on the gender; matched pairs (McNemar's exact test; Agresti and
  Min's interval).

The bias over words decides the verdict, and its p-value stands alone. The other three are corrected together (Holm). In
`published` there is no bias over words, and the bias decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.base import ComparedModel, Context, set_adjusted_p
from unmask.measures.classifiers import Array
from unmask.measures.comparison import build_comparison, items_of_side, pair_items
from unmask.measures.sentiment import SentimentMeasure
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.details import TEXTS, WORDS, Ratings, explain_scarcity
from unmask.measures.sentiment.word_pairs import estimate_over_words, estimate_pairs, find_families
from unmask.results import Change, Comparison, Estimate, Measurement
from unmask.results.formatting import interval, join_figures, number
from unmask.results.verdict import judge
from unmask.statistics.corrections import holm
from unmask.statistics.paired import matched_shares, mean_bias

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("p_female", "p_male", "bias", "choice_female", "choice_male")
HEADLINES = {
    "improved": "Ratings depend less on gender than before",
    "worse": "Ratings depend more on gender than before",
    "overshot": "The bias of the ratings was reversed",
    "no reliable change": "No reliable change in the bias",
    "negligible change": "The change in the bias is negligible",
}


def compare(before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
    """The paired changes of the bias over words and over texts, of sizes and of label flips, and the paired items."""
    pairs = pair_items(before, after, keys=SentimentMeasure.keys, scores=SCORES, item="text")
    context = Context(protocol=before.measurement.protocol, seed=seed)
    measured = [analyse(items_of_side(pairs, side), context) for side in ("before", "after")]
    ratings = measured[0].read_details(Ratings)
    changed = pairs[pairs["changed"].to_numpy(dtype=bool)]
    biases = [changed[f"bias_{side}"].to_numpy(dtype=float) for side in ("before", "after")]
    noise_floor = sum(side.measurement.noise_floor or 0.0 for side in (before, after)) or None
    margin = ratings.limits["margin"]
    found = {
        WORDS: _compare_words(measured, changed, biases, seed),
        TEXTS: _compare_bias([measurement.tests[TEXTS] for measurement in measured], biases),
        "absolute bias": _compare_sizes(*map(np.abs, biases)),
        "label flips": _compare_flips(changed),
    }
    changes = {name: change for name, change in found.items() if change is not None}
    main = WORDS if WORDS in changes else TEXTS
    secondary = [name for name in changes if name != main]
    adjusted = dict(zip(secondary, holm([changes[name].change.p_value for name in secondary]), strict=True))
    for name, change in changes.items():
        tested = set_adjusted_p(change.change, adjusted.get(name, change.change.p_value))
        update = {"change": tested, "margin": 0.0 if name == "label flips" else margin}
        judged = change.model_copy(update=update)
        changes[name] = judged.model_copy(update={"verdict": judge(judged, noise_floor=noise_floor)})
    comparison = build_comparison(
        before,
        after,
        pairs,
        changes,
        verdict=changes[main].verdict or "no reliable change",
        headline=_describe_changes(changes, ratings, changes[main]),
        attributes="texts",
        digits=ratings.digits,
        noise_floor=noise_floor,
    )
    first, second = pairs["bias_before"], pairs["bias_after"]
    return comparison, pairs.assign(before=first, after=second, change=second - first)


def _compare_words(
    measured: Sequence[Measurement], changed: pd.DataFrame, biases: Sequence[Array], seed: int
) -> Change | None:
    """The change of the primary test; None in `published`."""
    if WORDS not in measured[0].tests:
        return None
    differences = estimate_pairs(changed.assign(bias=biases[1] - biases[0]))
    return Change(
        labels={"contrast": "words"},
        question="Did it change how much words for men and for women move ratings?",
        before=measured[0].tests[WORDS],
        after=measured[1].tests[WORDS],
        change=estimate_over_words(find_families(differences), seed),
    )


def _compare_bias(tests: Sequence[Estimate], biases: Sequence[Array]) -> Change:
    difference, sides = mean_bias(biases[1] - biases[0]), []
    for test, values in zip(tests, biases, strict=True):
        p = test.p_value if test.interval is None else mean_bias(values).p_value
        sides.append(test.model_copy(update={"value": float(values.mean()), "p_value": p}))
    return Change(
        labels={"contrast": "bias"},
        question="Did the mean difference between male and female versions change?",
        before=sides[0],
        after=sides[1],
        change=Estimate.from_statistic(difference, n=len(biases[0])),
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


def _describe_changes(changes: dict[str, Change], ratings: Ratings, main: Change) -> list[str]:
    size, flips, texts, digits = changes["absolute bias"], changes.get("label flips"), changes[TEXTS], ratings.digits
    sentences = []
    if main is not texts and main.change.p_value is None:
        sentences.append(explain_scarcity(ratings))
    elif main is not texts:
        sentences.append(
            f"{HEADLINES[main.verdict or 'no reliable change']}: on average over {main.change.n} pairs of words, a male"
            f" word in place of its female counterpart added {_show_values(main, digits, now='before and adds')}."
        )
    start = "The" if sentences else f"{HEADLINES[texts.verdict or 'no reliable change']}: the"
    sentences += [
        f"{start} mean of male minus female ratings over {texts.change.n:,} texts was {_show_values(texts, digits)}.",
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


def _show_values(change: Change, digits: int, *, now: str = "and is") -> str:
    """A value before and after, and the change with its interval and p-value."""
    (before, after), difference = change.values, change.change
    moved = f"change {number(difference.value, digits)} {interval(difference.interval, digits)}".rstrip()
    return (
        f"{number(before, digits)} {now} now {number(after, digits)}"
        f" ({join_figures(moved, p_adjusted=difference.p_adjusted)})"
    )
