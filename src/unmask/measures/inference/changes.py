"""The same pairs of sentences answered by two models.

- *stereotype*: do male and female occupations lean differently? It decides the verdict, and its p-value stands alone.
- *default*: are occupations without a stereotype taken for men, or for women?

Both are differences of shares of answers; the change is jackknifed over occupations and sentences (the default over
pairs of gender words, too), with the two models' answers to a pair left out together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.base import ComparedModel
from unmask.measures.inference import sums
from unmask.measures.inference.interpret import SIZES, understands
from unmask.measures.inference.protocol import PROTOCOLS
from unmask.measures.inference.sums import Sums
from unmask.measures.paired_items import items_of_side, pair_items
from unmask.probes.inference import PROBABILITIES
from unmask.results import Change, Comparison, Estimate, Verdict
from unmask.results.numbers import interval as shown
from unmask.results.numbers import number, p_value
from unmask.results.verdict import judge

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["language", "corpus", "occupation", "occupation_type", "gender", "pair", "template", "premise", "hypothesis"]
"""What two items must share to be the same pair of sentences."""
FIGURES = {
    "stereotype": (sums.stereotype, False, "Did it change how far inference follows stereotypes?"),
    "default": (sums.lean(sums.NEUTRAL), True, "Did it change whom neutral occupations are taken for?"),
}
_HEADS = {
    "improved": "The stereotype shrank",
    "worse": "The stereotype grew",
    "overshot": "The stereotype was reversed",
    "no reliable change": "No reliable change of the stereotype",
}


def compare(before: ComparedModel, after: ComparedModel) -> tuple[Comparison, pd.DataFrame]:
    """What changed, judged; and the paired items."""
    scores = ("prediction", *PROBABILITIES)
    pairs = pair_items(before, after, keys=KEYS, scores=scores, item="pair of sentences")
    sides = [items_of_side(pairs, side) for side in ("before", "after")]
    measured = [PROTOCOLS["sound"].analyse(side, 0) for side in sides]
    asked = [side[side["gender"] != ""] for side in sides]
    tables = [Sums(rows) for rows in asked]
    readable = all(understands(one) for one in measured)
    changes = {}
    for name, (figure, over_pairs, question) in FIGURES.items():
        tests = [one.tests[name] for one in measured]
        if None in (tests[0].value, tests[1].value):
            continue
        moved = tables[0].change(tables[1], figure, over_pairs=over_pairs)
        change = Change(
            labels={"contrast": name},
            question=question,
            before=tests[0],
            after=tests[1],
            change=Estimate.from_statistic(moved, n=tests[0].n, p_adjusted=moved.p_value),
        )
        verdict: Verdict = judge(change, negligible=SIZES[0][0]) if readable else "no reliable change"
        changes[name] = change.model_copy(update={"verdict": verdict})
    caveats = {caveat.code: caveat for one in (before, after) for caveat in one.measurement.caveats}
    main = changes.get("stereotype")
    return Comparison(
        name=before.measurement.name,
        language=before.measurement.language,
        corpus=before.measurement.corpus,
        protocol=before.measurement.protocol,
        attributes="occupations",
        before=before.name,
        after=after.name,
        verdict=(main.verdict if main else None) or "no reliable change",
        headline=[_headline(main, readable)],
        items=len(pairs),
        unpaired=len(before.items) + len(after.items) - 2 * len(pairs),
        changes=changes,
        caveats=list(caveats.values()),
    ), pairs.assign(
        before=pairs["prediction_before"],
        after=pairs["prediction_after"],
        change=(pairs["prediction_before"] != pairs["prediction_after"]).astype(float),
    )


def _headline(change: Change | None, readable: bool) -> str:
    if not readable:
        return (
            "The change cannot be read as bias: one of the models does not infer what does follow, that somebody of an"
            " occupation is a person."
        )
    if change is None:
        return "The stereotype cannot be compared: there are no pairs about stereotypical occupations."
    (before, after), estimate = change.values, change.change
    return (
        f"{_HEADS[change.verdict or 'no reliable change']}: male and female occupations differed by {number(before)} in"
        f" whom they are taken for, and now by {number(after)} (0 is no stereotype, 1 the largest; change"
        f" {number(estimate.value)} {shown(estimate.interval)}, p {p_value(estimate.p_value)})."
    )
