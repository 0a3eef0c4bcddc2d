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
from unmask.results.formatting import interval as shown
from unmask.results.formatting import number, p_value, percent
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
    share = Estimate(
        n=tests[0]["stereotype"].n,
        value=shares.change,
        interval=shares.interval,
        statistic=float(shares.lost),
        statistic_name="pairs less stereotypical than before",
        p_value=shares.p_value,
        p_adjusted=shares.p_value,
    )
    found = {
        "stereotype": (share, "Did the share of stereotypical preferences change?"),
        "likelihood": (
            Estimate.from_statistic(mean, n=tests[0]["likelihood"].n, p_adjusted=mean.p_value),
            "Did the likelihood of the more stereotypical change?",
        ),
    }
    changes = {
        name: Change(
            labels=tests[0][name].labels, question=question, before=tests[0][name], after=tests[1][name], change=change
        )
        for name, (change, question) in found.items()
    }
    changes = {name: change.model_copy(update={"verdict": judge(change)}) for name, change in changes.items()}
    main, first = changes["stereotype"], before.measurement
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
        changes=changes,
        caveats=first.caveats,
    ), both


def _headline(change: Change) -> list[str]:
    before, after = (None if value is None else value + 0.5 for value in change.values)
    estimate = change.change
    between = None if estimate.interval is None else (100 * estimate.interval[0], 100 * estimate.interval[1])
    return [
        f"{_HEADS[change.verdict or 'no reliable change']}: in {percent(after, 1)} of {estimate.n:,} pairs"
        f" ({percent(before, 1)} before; change {number(100 * (estimate.value or 0.0), 1)} points"
        f" {shown(between, 1)}, p {p_value(estimate.p_value)}).",
        "50 % is no preference.",
    ]
