"""Second half, as the paper did it: the shares of Table 3, and the two scores, of answers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.measures.inference.analyse_sound import SCORES, measurement
from unmask.measures.inference.sums import Sums
from unmask.results import Estimate, Measurement

if TYPE_CHECKING:
    import pandas as pd


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the published protocol, which has neither intervals nor tests."""
    del seed  # nothing is drawn
    answers = Sums(items)
    n = int((items["gender"] != "").sum())
    groups = {
        name: Estimate(labels={"score": name, "by": "answers"}, n=n, value=answers.value(of))
        for name, of in SCORES.items()
    }
    return measurement(items, "published", groups, {})
