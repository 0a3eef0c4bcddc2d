"""From items to numbers: the mean bias and its size, tests, and which texts and words they come from.

    bias(text) = rating of its male version − rating of its female version

**Sound.** Texts without a term have no bias by construction, so estimates are about those that changed. The primary
test takes pairs of words as the sample (`word_pairs`), since a mean over texts cannot tell a gender from a few words.
The mean over texts, which papers report, has Student's t over texts, and the rank-biserial correlation as effect size.

**Published.** Table 1 of the paper shows means over the texts whose bias is not exactly 0, where its text says all. The
test is `scipy.stats.wilcoxon` with its defaults, and the stars stand at .05/64, .01/64 and .001/64 (there are 63
classifiers).
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from unmask.measures.classifiers import Array
from unmask.measures.sentiment.details import TEXTS, WORDS, Part, Ratings, list_caveats
from unmask.measures.sentiment.word_pairs import (
    WordFamily,
    estimate_over_words,
    estimate_pairs,
    find_families,
    leave_one_out,
)
from unmask.results import Effect, Estimate, Measurement
from unmask.statistics.jentzsch_turan import published_test
from unmask.statistics.paired import mean_bias, rank_biserial, signed_ranks

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context

MOST_TERMS = 60
FEWEST_TEXTS_OF_TERM, SHARE_OF_TEXTS = 20, 50
"""A term is listed if it is in this many texts, or in a fiftieth of them if there are few."""


def analyse(items: pd.DataFrame, context: Context) -> Measurement:
    """Estimates, tests and details of the items of one corpus and term set, without headline and adjusted p-values."""
    changed, is_sound = items[items["changed"]], context.protocol == "sound"
    subsets = {"all": items, "changed": changed}
    by_pair = estimate_pairs(changed)
    families = find_families(by_pair)
    if is_sound:
        tests = {WORDS: estimate_over_words(families, context.seed), **_test_texts(changed)}
    else:
        subsets["non-zero"] = items[items["bias"] != 0]
        tests = {TEXTS: _test_published(items, subsets["non-zero"])}
    first, ratings = items.iloc[0], _describe_ratings(items, changed, by_pair, families)
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


def _test_texts(changed: pd.DataFrame) -> dict[str, Estimate]:
    """The mean over all texts, and over those of each label if there are several."""
    tests = {TEXTS: _test_bias(changed, {}, "Would other texts with these words be rated higher in the male version?")}
    labels = sorted(set(changed["label"].dropna())) if "label" in changed else []
    for label in labels if len(labels) > 1 else []:
        rows = changed[changed["label"] == label]
        question = f"Would other {label} texts with these words be rated higher in the male version?"
        tests[f"bias, {label} texts"] = _test_bias(rows, {"label": str(label)}, question)
    return tests


def _test_bias(rows: pd.DataFrame, labels: dict[str, str], question: str) -> Estimate:
    bias = _read_biases(rows)
    ranks, effect = signed_ranks(bias), rank_biserial(bias)
    return Estimate.from_statistic(
        mean_bias(bias),
        n=bias.size,
        labels={"contrast": "bias", **labels},
        question=question,
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


def _describe_ratings(
    items: pd.DataFrame, changed: pd.DataFrame, by_pair: list[Part], families: list[WordFamily]
) -> Ratings:
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
        families=len(families),
        families_male=sum(family.value > 0 for family in families),
        families_female=sum(family.value < 0 for family in families),
        without_family=leave_one_out(families),
        by_pair=by_pair,
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
