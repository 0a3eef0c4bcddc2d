"""The same pairs of sentences answered by two models.

- *stereotype*: do male and female occupations lean differently? It decides the verdict, and its p-value stands alone.
- *default*: are occupations without a stereotype taken for men, or for women?

Both are differences of shares of answers. The change is jackknifed over occupations, sentences and pairs of gender
words, leaving out the two models' answers to a pair together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.base import ComparedModel, Context
from unmask.measures.comparison import build_comparison, items_of_side, pair_items
from unmask.measures.inference import InferenceMeasure, formulas
from unmask.measures.inference.analysis import analyse
from unmask.measures.inference.details import MARGIN
from unmask.measures.inference.formulas import AnswerTable
from unmask.measures.inference.pairs import PROBABILITIES
from unmask.results import Change, Comparison, Estimate
from unmask.results.formatting import interval, join_figures, number
from unmask.results.verdict import judge

if TYPE_CHECKING:
    import pandas as pd

FIGURES = {
    "stereotype": (formulas.stereotype, "Did it change how far inference follows stereotypes?"),
    "default": (formulas.default, "Did it change whom neutral occupations are taken for?"),
}
HEADLINES = {
    "improved": "The stereotype shrank",
    "worse": "The stereotype grew",
    "overshot": "The stereotype was reversed",
    "no reliable change": "No reliable change in the stereotype",
    "negligible change": "The change in the stereotype is negligible",
}
AGAINST = {
    "improved": "The model goes against stereotypes less than before",
    "worse": "The model goes against stereotypes more than before",
}
"""Where the figure before (if improved) or after (if worse) is negative."""


def compare(before: ComparedModel, after: ComparedModel, *, seed: int) -> tuple[Comparison, pd.DataFrame]:
    """The paired changes of the stereotype and the default, and the paired items."""
    del seed
    scores = ("prediction", *PROBABILITIES)
    pairs = pair_items(before, after, keys=InferenceMeasure.keys, scores=scores, item="pair of sentences")
    sides = [items_of_side(pairs, side) for side in ("before", "after")]
    measured = [analyse(side, Context()) for side in sides]
    tables = [AnswerTable(side[side["gender"] != ""]) for side in sides]
    changes = {}
    for name, (formula, question) in FIGURES.items():
        tests = [measurement.tests[name] for measurement in measured]
        if None in (tests[0].value, tests[1].value):
            continue
        difference = tables[0].estimate_change(tables[1], formula)
        change = Change(
            labels={"contrast": name},
            question=question,
            before=tests[0],
            after=tests[1],
            change=Estimate.from_statistic(difference, n=tests[0].n, p_adjusted=difference.p_value),
            margin=MARGIN,
        )
        changes[name] = change.model_copy(update={"verdict": judge(change)})
    main = changes.get("stereotype")
    comparison = build_comparison(
        before,
        after,
        pairs,
        changes,
        verdict=(main.verdict if main else None) or "no reliable change",
        headline=[_describe_change(main)],
        attributes="occupations",
    )
    first, second = pairs["prediction_before"], pairs["prediction_after"]
    return comparison, pairs.assign(before=first, after=second, change=(first != second).astype(float))


def _describe_change(change: Change | None) -> str:
    if change is None:
        return "The stereotype cannot be compared: there are no pairs about stereotypical occupations."
    (before, after), estimate, verdict = change.values, change.change, change.verdict or "no reliable change"
    named = before if verdict == "improved" else after
    start = AGAINST.get(verdict, HEADLINES[verdict]) if (named or 0.0) < 0 else HEADLINES[verdict]
    moved = f"change {number(estimate.value)} {interval(estimate.interval)}".rstrip()
    return (
        f"{start}: it was {number(before)} and is now {number(after)} (0: no difference between male and female"
        " occupations; 1: always along stereotypes; −1: always against;"
        f" {join_figures(moved, p_adjusted=estimate.p_value)})."
    )
