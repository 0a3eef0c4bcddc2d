"""Second half, as the paper did it: means over texts with another rating, and a test whose p is multiplied by 64.

Table 1 shows means over the texts whose bias is not exactly 0, where the text of the paper says all. The test is
`scipy.stats.wilcoxon` with its defaults, and the stars stand at .05/64, .01/64 and .001/64 (there are 63 classifiers).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.sentiment.analyse_sound import group, measurement
from unmask.results import Estimate, Measurement
from unmask.statistics.published import published_test

if TYPE_CHECKING:
    import pandas as pd


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the published protocol."""
    del seed  # nothing is drawn
    bias = items["bias"].to_numpy(dtype=float)
    chosen = {"all": bias, "changed": bias[items["changed"].to_numpy(dtype=bool)], "nonzero": bias[bias != 0]}
    groups = {
        f"{kind} bias, {'non-zero' if texts == 'nonzero' else texts} texts": group(kind, texts, values, interval=False)
        for texts, of in chosen.items()
        for kind, values in (("total", of), ("absolute", np.abs(of)))
    }
    found = published_test(items["p_male"].to_numpy(dtype=float), items["p_female"].to_numpy(dtype=float))
    test = Estimate(
        labels={"contrast": "bias"},
        question="Do the ratings of male and female versions differ?",
        n=int((bias != 0).sum()),
        value=float(chosen["nonzero"].mean()) if chosen["nonzero"].size else 0.0,
        interval=None,
        statistic=found.statistic,
        statistic_name="W",
        p_value=found.p_value,
        p_adjusted=found.p_adjusted,
    )
    return measurement(items, "published", groups, {"bias": test})
