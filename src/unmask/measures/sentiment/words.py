"""Is it gender, or a few words? The bias of each pair of terms, and whether it holds over pairs.

A test over texts asks whether this classifier would rate other texts of the kind likewise. It cannot tell a preference
for a gender from one for the word *he*: a model that has read nothing has some arbitrary liking for *he* or *she*, and
shows it in every text. So the pairs of terms are taken as a sample too. With nᵢₖ places of pair k in text i,

    biasᵢ = Σₖ nᵢₖ βₖ + εᵢ        (least squares)

βₖ is what one place of pair k adds to the male version's rating. If the model cares for words and not for gender, the
sign of each βₖ is a coin toss; pairs that share a word (*his/her*, *him/her*) are one toss. So p is that of the mean of
all βₖ when the signs of such families are flipped (`statistics.paired`).

H. White (1980). A heteroskedasticity-consistent covariance matrix estimator. Econometrica 48, 817–838.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from unmask.measures.sentiment.details import Part
from unmask.results import Estimate
from unmask.statistics.paired import mean_bias, sign_flip

if TYPE_CHECKING:
    import pandas as pd

COLUMN = "term_pairs"
FEWEST_TEXTS = 5
"""A pair in fewer texts than this says more of those texts than of itself."""
FEWEST_FAMILIES = 6
"""With five families of pairs, even if all lean one way, p is 1/16."""
MOST_PAIRS = 200

Array = NDArray[np.float64]


def over_pairs(changed: pd.DataFrame, seed: int) -> Estimate | None:
    """Test whether the pairs of terms lean one way; None where no pair is known to be in enough texts."""
    found = by_pair(changed)
    if not found:
        return None
    values = np.array([part.bias for part in found], dtype=float)
    mean = mean_bias(values)
    sums = np.bincount(families([part.name for part in found]), weights=values)
    enough = sums.size >= FEWEST_FAMILIES
    above = int((values > 0).sum())
    return Estimate(
        labels={"contrast": "words"},
        question="Do the pairs of terms, each taken as one, lean towards one gender?",
        n=values.size,
        value=mean.value,
        interval=mean.interval if enough else None,
        statistic=float(above),
        statistic_name="pairs that favour male words",
        p_value=sign_flip(sums, seed=seed) if enough else None,
    )


def families(pairs: Sequence[str]) -> list[int]:
    """For each pair the number of its family: pairs belong together that share a word, *mr.* being *mr*."""
    leader: dict[str, str] = {}

    def find(word: str) -> str:
        while leader.setdefault(word, word) != word:
            word = leader[word]
        return word

    for pair in pairs:
        first, *others = (word.strip(".") for word in pair.split("/"))
        for word in others:
            leader[find(word)] = find(first)
    numbers: dict[str, int] = {}
    return [numbers.setdefault(find(pair.split("/")[0].strip(".")), len(numbers)) for pair in pairs]


def by_pair(changed: pd.DataFrame) -> list[Part]:
    """What one place of each pair adds to the rating of the male version, the other pairs held equal; largest first.

    Intervals are robust against texts that scatter differently (White 1980, HC1). Rare pairs are left out, and so are
    texts with terms that were not read, or of which it is not known which pairs they have.
    """
    if COLUMN not in changed:
        return []
    changed = changed[changed[COLUMN].notna() & _all_read(changed)]
    places = [Counter(filter(None, text.split("; "))) for text in changed[COLUMN].astype(str)]
    texts = Counter(pair for one in places for pair in one)
    pairs = [pair for pair, count in texts.most_common(MOST_PAIRS) if count >= FEWEST_TEXTS]
    if not pairs or not len(changed):
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


def _all_read(changed: pd.DataFrame) -> pd.Series[bool]:
    """Texts whose every term was read; where that is not known, it is assumed."""
    if "terms_read" not in changed:
        return changed["bias"].notna()
    read = changed["terms_read"]
    return read.isna() | (read.fillna(0) > changed[COLUMN].fillna("").str.count("; "))


def _least_squares(counts: Array, bias: Array) -> tuple[Array, Array, int]:
    """Coefficients, their robust standard errors, and the degrees of freedom."""
    inverse = np.linalg.pinv(counts.T @ counts)
    values: Array = inverse @ (counts.T @ bias)
    freedom = len(bias) - int(np.linalg.matrix_rank(counts))
    left = bias - counts @ values
    middle = (counts * (left**2)[:, None]).T @ counts
    spread = np.diag(inverse @ middle @ inverse) * len(bias) / max(freedom, 1)
    return values, np.sqrt(np.clip(spread, 0, None)), freedom
