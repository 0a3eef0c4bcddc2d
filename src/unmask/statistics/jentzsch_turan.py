"""The statistics behind the tables of Jentzsch and Turan (2022), exactly as they were computed.

Tables 1, 3 and 4: bias = male − female of each of 25,000 reviews. Its mean, and the mean of its size, over all reviews
and over those where it is not exactly zero (Table 1 gives the latter). Wilcoxon's signed ranks, zeros dropped, no
continuity correction, scipy's defaults; stars where p < .05/64, .01/64, .001/64, although there are 63 classifiers.
The columns headed N<0, N=0, N>0 hold N<0, N>0, N=0.

Table 2: Pearson's r between the figures of the 63 classifiers; p is rounded to five decimals, then multiplied by 21.

S. Jentzsch and C. Turan (2022). Gender bias in BERT: measuring and analysing biases through sentiment rating in a
realistic downstream classification task. Proceedings of the 4th Workshop on Gender Bias in NLP, 184–199.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from unmask.statistics.correlation import pearson
from unmask.statistics.paired import as_finite_array

CLASSIFIERS = 64
"""By how much p is multiplied in Tables 3 and 4."""
CORRELATIONS = 21
"""By how much p is multiplied in Table 2."""
DECIMALS = 5
"""To how many p is rounded in Table 2, before it is multiplied."""
LEVELS = (0.05, 0.01, 0.001)


@dataclass(frozen=True)
class PublishedTest:
    """A row of Tables 3 and 4. Without reviews, or reviews that differ, values are None."""

    n: int
    abs_nonzero: float | None
    tot_nonzero: float | None
    abs_all: float | None
    tot_all: float | None
    deviation: float | None
    """Sample standard deviation (N − 1) of the bias over all reviews."""
    below: int
    above: int
    zero: int
    statistic: float | None
    """The smaller of the two sums of ranks."""
    p_value: float | None
    p_adjusted: float | None
    stars: str
    """Empty where there is none; the tables print a dash."""


@dataclass(frozen=True)
class PublishedCorrelation:
    """A cell of Table 2; r and p are None where a column is constant or has fewer than three rows."""

    r: float | None
    p_value: float | None
    """Rounded to five decimals."""
    p_adjusted: float | None
    stars: str


def published_test(male: ArrayLike, female: ArrayLike) -> PublishedTest:
    """The row of Tables 3 and 4 for the ratings of the male and the female version of each review."""
    first, second = as_finite_array(male), as_finite_array(female)
    if first.shape != second.shape:
        raise ValueError(f"{first.size} male ratings and {second.size} female ones; they must be of the same reviews")
    bias = first - second
    nonzero = bias[bias != 0]
    statistic, p = None, 1.0 if bias.size else None
    if nonzero.size:
        test = stats.wilcoxon(first, second)
        statistic, p = float(test.statistic), float(test.pvalue)
    return PublishedTest(
        bias.size,
        float(np.abs(nonzero).mean()) if nonzero.size else None,
        float(nonzero.mean()) if nonzero.size else None,
        float(np.abs(bias).mean()) if bias.size else None,
        float(bias.mean()) if bias.size else None,
        float(bias.std(ddof=1)) if bias.size > 1 else None,
        int((first < second).sum()),
        int((first > second).sum()),
        bias.size - nonzero.size,
        statistic,
        p,
        None if p is None else min(1.0, CLASSIFIERS * p),
        stars(p, CLASSIFIERS),
    )


def published_correlations(columns: Mapping[str, ArrayLike]) -> dict[tuple[str, str], PublishedCorrelation]:
    """Table 2 for any columns of equal length, one value a classifier: each pair of names in the order given."""
    values = {name: as_finite_array(column) for name, column in columns.items()}
    if len({column.size for column in values.values()}) > 1:
        sizes = ", ".join(f"{name} {column.size}" for name, column in values.items())
        raise ValueError(f"columns differ in length ({sizes}); each needs one value a classifier")
    correlations = {}
    for first, second in combinations(values, 2):
        a, b = values[first], values[second]
        if np.isnan(pearson(a, b)):
            correlations[first, second] = PublishedCorrelation(None, None, None, "")
            continue
        test = stats.pearsonr(a, b)
        p = round(float(test.pvalue), DECIMALS)
        adjusted = min(1.0, CORRELATIONS * p)
        correlations[first, second] = PublishedCorrelation(float(test.statistic), p, adjusted, stars(p, CORRELATIONS))
    return correlations


def stars(p_value: float | None, tests: int) -> str:
    """One star for each of .05, .01, .001 above `tests` times p."""
    return "" if p_value is None else "*" * sum(p_value < level / tests for level in LEVELS)
