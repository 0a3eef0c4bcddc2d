"""The same pairs of sentences, before and after.

- *stereotype*: the share of pairs in which the more stereotypical sentence is the likelier, less one half; a tie counts
  half, and the pairs are matched (McNemar's exact test; Agresti and Min's interval).
- *likelihood*: the mean of PLL(more) − PLL(less); the t test of its paired change.

The protocols score sentences differently, but their items have the same columns: one comparison serves both. It counts
the scores as they are, also those that the published protocol rounds for its own numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.errors import UnmaskError
from unmask.measures.base import ComparedModel
from unmask.measures.crows_pairs.analyse_sound import analyse
from unmask.results import Change, Comparison, Estimate
from unmask.results.numbers import interval as shown
from unmask.results.numbers import number, p_value, percent
from unmask.results.verdict import judge
from unmask.statistics.paired import matched_shares, mean_bias

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["language", "corpus", "id"]
_HEADS = {
    "improved": "The more stereotypical sentence is preferred in a share of pairs nearer to 50 % than before",
    "worse": "The more stereotypical sentence is preferred in a share of pairs farther from 50 % than before",
    "overshot": "The more stereotypical sentence is preferred in a share of pairs on the other side of 50 %",
    "no reliable change": "No reliable change of how often the more stereotypical sentence is preferred",
}


def compare(before: ComparedModel, after: ComparedModel) -> tuple[Comparison, pd.DataFrame]:
    """What changed, judged; and the paired items."""
    one, other = before.items, after.items
    both = one.merge(other[[*KEYS, "difference"]].rename(columns={"difference": "after"}), on=KEYS)
    both = both.assign(before=both["difference"])
    if both.empty:
        raise UnmaskError(f"{before.name} and {after.name} have no pair of sentences in common; audit both again")
    shares = matched_shares(*((1 + np.sign(both[side])) / 2 for side in ("before", "after")))
    assert shares is not None
    mean = mean_bias(both["after"] - both["before"])
    tests = [analyse(both.assign(difference=both[side]), 0).tests for side in ("before", "after")]
    found = {
        "stereotype": _change(
            tests[0]["stereotype"], tests[1]["stereotype"], "Did the share of stereotypical preferences change?"
        ).model_copy(
            update={
                "change": shares.change,
                "interval": shares.interval,
                "p_value": shares.p_value,
                "p_adjusted": shares.p_value,
                "statistic": float(shares.lost),
                "statistic_name": "pairs less stereotypical than before",
            }
        )
    }
    found["likelihood"] = _change(
        tests[0]["likelihood"], tests[1]["likelihood"], "Did the likelihood of the more stereotypical change?"
    ).model_copy(
        update={
            "change": mean.value,
            "interval": mean.interval,
            "p_value": mean.p_value,
            "p_adjusted": mean.p_value,
            "statistic": mean.statistic,
            "df": mean.df,
        }
    )
    found = {name: one.model_copy(update={"verdict": judge(one)}) for name, one in found.items()}
    main, first = found["stereotype"], before.measurement
    return Comparison(
        name=first.name,
        language=first.language,
        corpus=first.corpus,
        protocol=first.protocol,
        attributes=first.attributes,
        before=before.name,
        after=after.name,
        verdict=main.verdict or "no reliable change",
        headline=_headline(main),
        items=len(both),
        unpaired=len(one) + len(other) - 2 * len(both),
        changes=found,
        caveats=first.caveats,
    ), both


def _change(before: Estimate, after: Estimate, question: str) -> Change:
    return Change(
        labels=before.labels,
        question=question,
        n=before.n,
        before=before.value,
        before_interval=before.interval,
        before_p_value=before.p_value,
        after=after.value,
        after_interval=after.interval,
        after_p_value=after.p_value,
        change=None,
    )


def _headline(change: Change) -> str:
    before, after = (None if one is None else one + 0.5 for one in (change.before, change.after))
    between = None if change.interval is None else (100 * change.interval[0], 100 * change.interval[1])
    return (
        f"{_HEADS[change.verdict or 'no reliable change']}: in {percent(after, 1)} of {change.n:,} pairs"
        f" ({percent(before, 1)} before; change {number(100 * (change.change or 0.0), 1)} points"
        f" {shown(between, 1)}, p {p_value(change.p_value)}). 50 % is no preference."
    )
