"""Is it gender, or a few words? The bias of each pair of terms, and whether it holds over pairs.

A test over texts asks whether this classifier would rate other texts of the kind likewise. It cannot tell a preference
for a gender from one for the word *he*: a model that has read nothing has some arbitrary liking for *he* or *she*, and
shows it in every text. So the pairs of terms are taken as a sample too. With nᵢₖ places of pair k in text i,

    biasᵢ = Σₖ nᵢₖ βₖ + εᵢ        (least squares)

βₖ is what one place of pair k adds to the male version's rating. If the model cares for words and not for gender, the
sign of each βₖ is a coin toss, so p is that of the mean of all βₖ when signs are flipped (`statistics.paired`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.results import Test
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


def over_pairs(changed: pd.DataFrame, seed: int) -> Test | None:
    """Test whether the pairs of terms lean one way; None where no pair is known to be in enough texts."""
    found = effects(changed)
    if not found:
        return None
    values = np.array(list(found.values()))
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


def effects(changed: pd.DataFrame) -> dict[str, float] | None:
    """What one place of each pair adds to the rating of the male version; rare pairs are left out."""
    if COLUMN not in changed or changed[COLUMN].isna().any():
        return None
    places = [Counter(text.split("; ")) for text in changed[COLUMN].astype(str)]
    texts = Counter(pair for one in places for pair in one if pair)
    pairs = [pair for pair, count in texts.most_common(MOST_PAIRS) if count >= FEWEST_TEXTS]
    if not pairs:
        return {}
    at = {pair: column for column, pair in enumerate(pairs)}
    counts = np.zeros((len(places), len(pairs) + 1))
    for row, one in enumerate(places):
        for pair, count in one.items():
            counts[row, at.get(pair, len(pairs))] += count  # the last column is for all rare pairs together
    bias: NDArray[np.float64] = changed["bias"].to_numpy(dtype=float)
    solution = np.linalg.lstsq(counts, bias, rcond=None)[0]
    return dict(zip(pairs, map(float, solution[:-1]), strict=True))
