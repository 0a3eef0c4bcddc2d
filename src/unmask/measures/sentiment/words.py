"""Is it gender, or a few words? The bias of each pair of terms, and whether it holds over pairs.

A test over texts asks whether this classifier would rate other texts of the kind likewise. It cannot tell a preference
for a gender from one for the word *he*: a model that has read nothing has some arbitrary liking for *he* or *she*, and
shows it in every text. So the pairs of terms are taken as a sample too. With nᵢₖ places of pair k in text i,

    biasᵢ = Σₖ nᵢₖ βₖ + εᵢ        (least squares)

βₖ is what one place of pair k adds to the male version's rating. If the model cares for words and not for gender, the
sign of each βₖ is a coin toss, so p is that of the mean of all βₖ when signs are flipped (`statistics.paired`).

H. White (1980). A heteroskedasticity-consistent covariance matrix estimator. Econometrica 48, 817–838.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unmask.results import Part, Test
from unmask.statistics.paired import sign_flip
from unmask.statistics.ratings import mean_bias

if TYPE_CHECKING:
    import pandas as pd

COLUMN = "term_pairs"
FEWEST_TEXTS = 5
"""A pair in fewer texts than this says more of those texts than of itself."""
FEWEST_PAIRS = 6
"""With five pairs, even if all lean one way, p is 1/16."""
MOST_PAIRS = 200

Array = NDArray[np.float64]


def over_pairs(changed: pd.DataFrame, seed: int) -> Test | None:
    """Test whether the pairs of terms lean one way; None where no pair is known to be in enough texts."""
    found = by_pair(changed)
    if not found:
        return None
    values = np.array([part.bias for part in found], dtype=float)
    mean = mean_bias(values)
    enough = values.size >= FEWEST_PAIRS
    above = int((values > 0).sum())
    return Test(
        labels={"contrast": "words"},
        question="Do the pairs of terms, each taken as one, lean towards one gender?",
        n=values.size,
        estimate=mean.value,
        interval=mean.interval if enough else None,
        statistic=float(above),
        statistic_name="pairs that favour male words",
        p_value=sign_flip(values, seed=seed) if enough else None,
    )


def by_pair(changed: pd.DataFrame) -> list[Part]:
    """What one place of each pair adds to the rating of the male version, the other pairs held equal; largest first.

    Intervals are robust against texts that scatter differently (White 1980, HC1). Rare pairs are left out, and so are
    all where it is not known which pairs a text has.
    """
    if COLUMN not in changed or changed[COLUMN].isna().any():
        return []
    places = [Counter(filter(None, text.split("; "))) for text in changed[COLUMN].astype(str)]
    texts = Counter(pair for one in places for pair in one)
    pairs = [pair for pair, count in texts.most_common(MOST_PAIRS) if count >= FEWEST_TEXTS]
    if not pairs:
        return []
    at = {pair: column for column, pair in enumerate(pairs)}
    counts = np.zeros((len(places), len(pairs) + 1))
    for row, one in enumerate(places):
        for pair, count in one.items():
            counts[row, at.get(pair, len(pairs))] += count  # the last column is for all rare pairs together
    values, errors, freedom = _least_squares(counts, changed["bias"].to_numpy(dtype=float))
    reach = stats.t.isf(0.025, freedom) * errors if freedom > 0 else None
    found = [
        Part(
            name=pair,
            n=texts[pair],
            bias=float(values[column]),
            interval=None
            if reach is None
            else (float(values[column] - reach[column]), float(values[column] + reach[column])),
        )
        for pair, column in at.items()
    ]
    return sorted(found, key=lambda part: -(part.bias or 0.0))


def _least_squares(counts: Array, bias: Array) -> tuple[Array, Array, int]:
    """Coefficients, their robust standard errors, and the degrees of freedom."""
    inverse = np.linalg.pinv(counts.T @ counts)
    values: Array = inverse @ (counts.T @ bias)
    freedom = len(bias) - int(np.linalg.matrix_rank(counts))
    left = bias - counts @ values
    middle = (counts * (left**2)[:, None]).T @ counts
    spread = np.diag(inverse @ middle @ inverse) * len(bias) / max(freedom, 1)
    return values, np.sqrt(np.clip(spread, 0, None)), freedom
