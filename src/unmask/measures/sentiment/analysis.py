"""From items to numbers: the mean bias and its size, tests, and which texts and words they come from.

    bias(text) = rating of its male version − rating of its female version

**Sound.** Texts without a term have no bias by construction, so the test and the effect size are about those that
changed. The test is Wilcoxon's signed-rank test, the effect size its rank-biserial correlation. Both take texts as the
sample.

**Over words.** A test over texts asks whether this classifier would rate other such texts in the same way. It cannot
distinguish a preference for a gender from one for the word *he*: an untrained model has some arbitrary preference for
*he* or *she*, and shows it in every text. So the pairs of terms are a sample, too. With nᵢₖ occurrences of pair k in
text i,

    biasᵢ = Σₖ nᵢₖ βₖ + εᵢ        (least squares)

βₖ is what one occurrence of pair k adds to the rating of the male version. If the model reacts to words and not to
gender, the sign of each βₖ is a coin toss; pairs that share a word (*his/her*, *him/her*) are one toss. The p-value is
that of the mean of all βₖ when the signs of such families are flipped (`statistics.paired`).

**Published.** Table 1 of the paper shows means over the texts whose bias is not exactly 0, where its text says all. The
test is `scipy.stats.wilcoxon` with its defaults, and the stars stand at .05/64, .01/64 and .001/64 (there are 63
classifiers).

H. White (1980). A heteroskedasticity-consistent covariance matrix estimator. Econometrica 48, 817–838.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from unmask.measures.classifiers import Array
from unmask.measures.sentiment.details import Part, Ratings, list_caveats
from unmask.results import Effect, Estimate, Measurement
from unmask.statistics.jentzsch_turan import published_test
from unmask.statistics.paired import detectable_mean, mean_bias, rank_biserial, sign_flip, signed_ranks

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context

MOST_TERMS = 60
FEWEST_TEXTS_OF_TERM, SHARE_OF_TEXTS = 20, 50
"""A term is listed if it is in this many texts, or in a fiftieth of them if there are few."""
MOST_PAIRS = 200
FEWEST_TEXTS_OF_PAIR = 5
"""A pair in fewer texts says more about those texts than about itself."""
FEWEST_FAMILIES = 6
"""With five families of pairs, p is at least 1/16 even if all lean the same way."""


def analyse(items: pd.DataFrame, context: Context) -> Measurement:
    """Estimates, tests and details of the items of one corpus and term set, without headline and adjusted p-values."""
    changed, is_sound = items[items["changed"]], context.protocol == "sound"
    subsets = {"all": items, "changed": changed}
    if is_sound:
        tests = _test_biases(changed, context.seed)
    else:
        subsets["non-zero"] = items[items["bias"] != 0]
        tests = {"bias": _test_published(items, subsets["non-zero"])}
    first, ratings = items.iloc[0], _describe_ratings(items, changed)
    return Measurement(
        name="sentiment",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        variant=str(first["terms"]),
        protocol="sound" if is_sound else "published",
        attributes="texts",
        items=len(items),
        groups={
            f"{metric} bias, {name} texts": _estimate_mean(rows, metric, name, intervals=is_sound)
            for name, rows in subsets.items()
            for metric in ("total", "absolute")
        },
        tests=tests,
        details=ratings.model_dump(),
        caveats=list_caveats(items, context.protocol, ratings),
    )


def _estimate_mean(rows: pd.DataFrame, metric: str, name: str, *, intervals: bool) -> Estimate:
    """The mean bias (`total`) or the mean size of the bias (`absolute`) of some texts."""
    values = _read_biases(rows)
    values = np.abs(values) if metric == "absolute" else values
    mean = mean_bias(values)
    interval = mean.interval if intervals else None
    if interval is not None and metric == "absolute":
        interval = (max(0.0, interval[0]), interval[1])
    return Estimate(
        labels={"bias": metric, "texts": name.replace("-", "")},
        n=values.size,
        value=mean.value,
        sd=float(values.std(ddof=1)) if values.size > 1 else None,
        interval=interval,
    )


def _read_biases(rows: pd.DataFrame) -> Array:
    return rows["bias"].to_numpy(dtype=float)


def _test_biases(changed: pd.DataFrame, seed: int) -> dict[str, Estimate]:
    """Tests over all texts, over those of each label if there are several, and over pairs of terms."""
    tests = {"bias": _test_bias(changed, {}, "Is the male version of a text rated differently from the female one?")}
    labels = sorted(set(changed["label"].dropna())) if "label" in changed else []
    for label in labels if len(labels) > 1 else []:
        rows = changed[changed["label"] == label]
        question = f"Are the versions of {label} texts rated differently?"
        tests[f"bias, {label} texts"] = _test_bias(rows, {"label": str(label)}, question)
    if words := estimate_over_pairs(changed, seed):
        tests["bias over words"] = words
    return tests


def _test_bias(rows: pd.DataFrame, labels: dict[str, str], question: str) -> Estimate:
    bias = _read_biases(rows)
    ranks, mean, effect = signed_ranks(bias), mean_bias(bias), rank_biserial(bias)
    return Estimate(
        labels={"contrast": "bias", **labels},
        question=question,
        n=bias.size,
        value=mean.value,
        interval=mean.interval,
        statistic=ranks.w,
        statistic_name="W",
        p_value=ranks.p_value,
        effect_size=effect.value,
        effect_size_name="rank-biserial correlation",
        effect_size_interval=effect.interval,
        wilcoxon=Effect(n=ranks.n, w=ranks.w, v=ranks.v, z=ranks.z, r=ranks.r, p_value=ranks.p_value),
    )


def _test_published(items: pd.DataFrame, different: pd.DataFrame) -> Estimate:
    """The mean of the paper, over the texts whose ratings differ, and its test."""
    test = published_test(items["p_male"].to_numpy(dtype=float), items["p_female"].to_numpy(dtype=float))
    return Estimate(
        labels={"contrast": "bias"},
        question="Do the ratings of male and female versions differ?",
        n=len(different),
        value=float(different["bias"].mean()) if len(different) else 0.0,
        statistic=test.statistic,
        statistic_name="W",
        p_value=test.p_value,
        p_adjusted=test.p_adjusted,
    )


def _describe_ratings(items: pd.DataFrame, changed: pd.DataFrame) -> Ratings:
    """Counts and parts. How texts were read is added by the audit."""
    bias = _read_biases(changed)
    flips = None
    if _is_known(changed, "choice_female", "choice_male"):
        flips = int((changed["choice_female"] != changed["choice_male"]).sum())
    outside = partly_outside = None
    if _is_known(changed, "terms_read") and "changed_terms" in changed:
        terms, read = changed["changed_terms"].fillna("").str.count("; ") + 1, changed["terms_read"]
        outside, partly_outside = int((read == 0).sum()), int(((read > 0) & (read < terms)).sum())
    return Ratings(
        terms=str(items.iloc[0]["terms"]),
        rating=str(items.iloc[0]["rating"]) if "rating" in items else "recorded ratings",
        scale=_rating_scale(items),
        texts=len(items),
        duplicates=0,
        changed=len(changed),
        below=int((bias < 0).sum()),
        equal=int((bias == 0).sum()),
        above=int((bias > 0).sum()),
        flips=flips,
        cut=int(changed["cut"].sum()) if _is_known(changed, "cut") else None,
        outside=outside,
        partly_outside=partly_outside,
        detectable=detectable_mean(bias),
        by_pair=estimate_pairs(changed),
        by_term=_split_by_term(changed),
        by_length=_split_by_length(changed),
        by_label=_split_by_label(changed),
    )


def _is_known(items: pd.DataFrame, *columns: str) -> bool:
    """Whether these columns have a value for every item."""
    return all(column in items and bool(items[column].notna().all()) for column in columns)


def _rating_scale(items: pd.DataFrame) -> float:
    """1 if ratings are probabilities or look like them, otherwise two standard deviations of the ratings."""
    ratings = items[["p_female", "p_male"]].to_numpy(dtype=float)
    has_labels = "choice_female" not in items or items["choice_female"].notna().any()
    if ratings.min() >= 0 and ratings.max() <= 1 and has_labels:
        return 1.0
    return 2 * float(ratings.mean(axis=1).std()) or 1.0


# Subsets of the texts


def _split_by_term(changed: pd.DataFrame) -> list[Part]:
    """Texts that have a term, the most frequent terms first. A text has several terms, so the parts overlap."""
    if "changed_terms" not in changed:
        return []
    terms = changed["changed_terms"].fillna("").str.split("; ").map(lambda words: list(dict.fromkeys(words)))
    long = changed[["bias"]].assign(term=terms).explode("term")
    groups = long[long["term"] != ""].groupby("term", sort=False)
    sizes = groups.size().sort_values(ascending=False, kind="stable")
    fewest = max(2, min(FEWEST_TEXTS_OF_TERM, len(changed) // SHARE_OF_TEXTS))
    return [_make_part(str(term), groups.get_group(term)) for term in sizes[sizes >= fewest].index[:MOST_TERMS]]


def _split_by_length(changed: pd.DataFrame) -> list[Part]:
    """Quarters of the texts, from the shortest to the longest."""
    if not _is_known(changed, "words"):
        return []
    words = changed["words"].astype(int)
    bounds = sorted({int(bound) for bound in np.quantile(words, (0.25, 0.5, 0.75, 1.0), method="lower")})
    parts = []
    for below, bound in pairwise([int(words.min()) - 1, *bounds]):
        name = f"{below + 1}–{bound} words" if below + 1 < bound else f"{bound} words"
        parts.append(_make_part(name, changed[words.between(below + 1, bound)]))
    return parts


def _split_by_label(changed: pd.DataFrame) -> list[Part]:
    """Texts by their own label (not the model's)."""
    if "label" not in changed:
        return []
    return [_make_part(str(label), rows) for label, rows in changed.groupby("label", sort=True)]


def _make_part(name: str, rows: pd.DataFrame) -> Part:
    bias = _read_biases(rows)
    mean = mean_bias(bias)
    return Part(name=name, n=len(rows), bias=mean.value, interval=mean.interval, absolute=float(np.abs(bias).mean()))


# Pairs of terms


def estimate_over_pairs(changed: pd.DataFrame, seed: int) -> Estimate | None:
    """Test whether the pairs of terms lean one way; None if no pair is in enough texts."""
    pairs = estimate_pairs(changed)
    if not pairs:
        return None
    values = np.array([pair.bias for pair in pairs], dtype=float)
    mean = mean_bias(values)
    sums = np.bincount(group_pairs([pair.name for pair in pairs]), weights=values)
    enough = sums.size >= FEWEST_FAMILIES
    return Estimate(
        labels={"contrast": "words"},
        question="Do the pairs of terms, each counted once, lean towards one gender?",
        n=values.size,
        value=mean.value,
        interval=mean.interval if enough else None,
        statistic=float((values > 0).sum()),
        statistic_name="pairs that favour male words",
        p_value=sign_flip(sums, seed=seed) if enough else None,
    )


def group_pairs(pairs: Sequence[str]) -> list[int]:
    """The number of each pair's family. Pairs that share a word belong together; *mr.* is *mr*."""
    families: list[set[str]] = []
    words_of_pairs = [{word.strip(".") for word in pair.split("/")} for pair in pairs]
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
    values, errors, df = _least_squares(matrix, _read_biases(changed))
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
