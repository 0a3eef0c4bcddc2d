"""What one occurrence of each pair of terms adds to a rating, and whether that leans to one gender.

A test over texts asks whether this classifier would rate other such texts in the same way. It cannot tell a preference
for a gender from one for the word *he*: an untrained model has some arbitrary preference for *he* or *she*, and shows
it in every text. So pairs of terms are the sample. With nᵢₖ occurrences of pair k in text i,

    biasᵢ = Σₖ nᵢₖ βₖ + εᵢ        (least squares)

βₖ is what one occurrence of pair k adds to the rating of the male version. Pairs that share a word or its plural
(*his/her* and *him/her*, *son/daughter* and *sons/daughters*) are a family, whose value is the mean of its pairs. The
bias over words is the mean β̄ over families, with Student's t over families: a finding must hold for other words. The
spread between families includes the error that each of them has from its texts, so texts need no part of their own.

H. White (1980). A heteroskedasticity-consistent covariance matrix estimator. Econometrica 48, 817–838.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from unmask.lexicon.inflection import singular
from unmask.measures.classifiers import Array
from unmask.measures.sentiment.details import FEWEST_FAMILIES, Part
from unmask.results import Estimate
from unmask.statistics.jackknife import IntervalEstimate
from unmask.statistics.paired import mean_bias, sign_flip

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 200
FEWEST_TEXTS_OF_PAIR = 5
"""A pair in fewer texts says more about those texts than about itself."""
QUESTION = "Do words for men raise the rating more than their counterparts do, on average over pairs of words?"


class WordFamily(NamedTuple):
    """Pairs that share a word, and what one occurrence of them adds to the rating of the male version."""

    names: tuple[str, ...]
    value: float


def estimate_over_words(families: Sequence[WordFamily], seed: int) -> Estimate:
    """The mean over families of what one occurrence adds; with too few of them, neither interval nor test."""
    values = np.array([family.value for family in families], dtype=float)
    p_flip = None
    estimate = IntervalEstimate(float(values.mean()) if values.size else None)
    if values.size >= FEWEST_FAMILIES:
        estimate, p_flip = mean_bias(values), sign_flip(values, seed=seed)
    labels = {"contrast": "words"}
    return Estimate.from_statistic(estimate, n=values.size, labels=labels, question=QUESTION, p_sign_flip=p_flip)


def find_families(pairs: Sequence[Part]) -> list[WordFamily]:
    """The families of pairs, each with the mean of its pairs."""
    numbers = group_pairs([pair.name for pair in pairs])
    families = []
    for number in range(max(numbers, default=-1) + 1):
        members = [pair for pair, family in zip(pairs, numbers, strict=True) if family == number]
        value = float(np.mean([pair.bias for pair in members]))
        families.append(WordFamily(tuple(pair.name for pair in members), value))
    return families


def leave_one_out(families: Sequence[WordFamily]) -> tuple[float, float] | None:
    """The smallest and the largest mean with one family left out."""
    values = np.array([family.value for family in families], dtype=float)
    if values.size < FEWEST_FAMILIES:
        return None
    without = (values.sum() - values) / (values.size - 1)
    return float(without.min()), float(without.max())


def group_pairs(pairs: Sequence[str]) -> list[int]:
    """The number of each pair's family. Pairs that share a word belong together; *mr.* is *mr*, *sons* is *son*."""
    families: list[set[str]] = []
    words_of_pairs = [{singular(word.strip(".")) for word in pair.split("/")} for pair in pairs]
    for words in words_of_pairs:
        related = [family for family in families if family & words]
        families = [family for family in families if family not in related]
        families.append(words.union(*related))
    numbers: dict[int, int] = {}
    indices = [next(i for i, family in enumerate(families) if words <= family) for words in words_of_pairs]
    return [numbers.setdefault(index, len(numbers)) for index in indices]


def estimate_pairs(changed: pd.DataFrame) -> list[Part]:
    """What one occurrence of each pair adds to the rating of the male version, other pairs held equal; largest first.

    Intervals are robust to unequal variances of texts (White 1980, HC1). Rare pairs are left out, and so are texts
    whose terms were not all read, or whose pairs are unknown. Where it is unknown what was read, all is assumed.
    """
    if "term_pairs" not in changed:
        return []
    changed = changed[changed["term_pairs"].notna()]
    if "terms_read" in changed:
        read = changed["terms_read"]
        changed = changed[read.isna() | (read.fillna(0) > changed["term_pairs"].str.count("; "))]
    counts_by_text = [Counter(filter(None, text.split("; "))) for text in changed["term_pairs"].astype(str)]
    texts = Counter(pair for counts in counts_by_text for pair in counts)
    pairs = [pair for pair, count in texts.most_common(MOST_PAIRS) if count >= FEWEST_TEXTS_OF_PAIR]
    if not pairs:
        return []
    column = {pair: index for index, pair in enumerate(pairs)}
    matrix = np.zeros((len(counts_by_text), len(pairs) + 1))
    for row, counts in enumerate(counts_by_text):
        for pair, count in counts.items():
            matrix[row, column.get(pair, len(pairs))] += count  # the last column is for all rare pairs together
    values, errors, df = _least_squares(matrix, changed["bias"].to_numpy(dtype=float))
    reaches = stats.t.isf(0.025, df) * errors if df > 0 else None
    parts = []
    for index, pair in enumerate(pairs):
        value = float(values[index])
        interval = None if reaches is None else (value - float(reaches[index]), value + float(reaches[index]))
        parts.append(Part(name=pair, n=texts[pair], bias=value, interval=interval))
    return sorted(parts, key=lambda part: -(part.bias or 0.0))


def _least_squares(counts: Array, bias: Array) -> tuple[Array, Array, int]:
    """Coefficients, their robust standard errors, and the degrees of freedom."""
    inverse = np.linalg.pinv(counts.T @ counts)
    values: Array = inverse @ (counts.T @ bias)
    df = len(bias) - int(np.linalg.matrix_rank(counts))
    residuals = bias - counts @ values
    middle = (counts * (residuals**2)[:, None]).T @ counts
    variances = np.diag(inverse @ middle @ inverse) * len(bias) / max(df, 1)
    return values, np.sqrt(np.clip(variances, 0, None)), df
