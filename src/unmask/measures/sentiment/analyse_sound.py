"""Second half, done right: mean bias and its size with intervals over texts, a test, and what could have been found.

    bias(text) = rating of its male version − rating of its female version

Texts without a term have no bias by construction, so the test and the effect size are about those that changed. The
test is Wilcoxon's signed ranks; the effect size its rank-biserial correlation. Both take texts as the sample; whether
the bias holds over words, too, is asked apart (`words`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unmask.measures.sentiment import parts
from unmask.measures.sentiment.caveats import caveats
from unmask.measures.sentiment.details import Ratings
from unmask.measures.sentiment.words import by_pair, over_pairs
from unmask.results import Effect, Estimate, Measurement
from unmask.results.record import Protocol
from unmask.statistics.paired import detectable_mean, mean_bias, rank_biserial, signed_ranks

if TYPE_CHECKING:
    import pandas as pd

RECORDED = "recorded ratings"


def analyse(items: pd.DataFrame, seed: int) -> Measurement:
    """The numbers of the sound protocol; words and adjusted p-values come later."""
    changed = items[items["changed"]]
    groups = {}
    for texts, rows in (("all", items), ("changed", changed)):
        bias = rows["bias"].to_numpy(dtype=float)
        for kind, values in (("total", bias), ("absolute", np.abs(bias))):
            groups[f"{kind} bias, {texts} texts"] = group(kind, texts, values)
    tests = {"bias": _test(changed, {}, "Is the male version of a text rated otherwise than the female one?")}
    labels = sorted(set(changed["label"].dropna())) if "label" in changed else []
    if len(labels) > 1:
        for label in labels:
            rows = changed[changed["label"] == label]
            question = f"Are the versions of {label} texts rated otherwise?"
            tests[f"bias, {label} texts"] = _test(rows, {"label": str(label)}, question)
    if words := over_pairs(changed, seed):
        tests["bias over words"] = words
    return measurement(items, "sound", groups, tests)


def measurement(
    items: pd.DataFrame, protocol: Protocol, groups: dict[str, Estimate], tests: dict[str, Estimate]
) -> Measurement:
    """Means and tests of a protocol, with what both protocols say of the texts."""
    first = items.iloc[0]
    return Measurement(
        name="sentiment",
        language=str(first["language"]),
        corpus=str(first["corpus"]),
        variant=str(first["terms"]),
        protocol=protocol,
        attributes="texts",
        items=len(items),
        groups=groups,
        tests=tests,
        details=ratings(items).model_dump(),
        caveats=caveats(items, protocol),
    )


def group(kind: str, texts: str, values: NDArray[np.float64], *, interval: bool = True) -> Estimate:
    """The mean of biases, or of their sizes."""
    estimate = mean_bias(values)
    between = estimate.interval
    if between is not None and kind == "absolute":
        between = (max(0.0, between[0]), between[1])
    return Estimate(
        labels={"bias": kind, "texts": texts},
        n=values.size,
        value=estimate.value,
        sd=float(values.std(ddof=1)) if values.size > 1 else None,
        interval=between if interval else None,
    )


def ratings(items: pd.DataFrame) -> Ratings:
    """Counts and parts; how texts were read is known to whoever had them read."""
    changed = items[items["changed"]]
    bias = changed["bias"].to_numpy(dtype=float)
    unread = parts.unread(changed)
    return Ratings(
        terms=str(items.iloc[0]["terms"]),
        rating=str(items.iloc[0]["rating"]) if "rating" in items else RECORDED,
        scale=_scale(items),
        texts=len(items),
        duplicates=0,
        changed=len(changed),
        below=int((bias < 0).sum()),
        equal=int((bias == 0).sum()),
        above=int((bias > 0).sum()),
        flips=_flips(changed),
        cut=int(changed["cut"].sum()) if "cut" in changed and changed["cut"].notna().all() else None,
        outside=unread[0] if unread else None,
        partly_outside=unread[1] if unread else None,
        detectable=detectable_mean(bias),
        by_pair=by_pair(changed),
        by_term=parts.by_term(changed),
        by_length=parts.by_length(changed),
        by_label=parts.by_label(changed),
    )


def _test(changed: pd.DataFrame, labels: dict[str, str], question: str) -> Estimate:
    bias = changed["bias"].to_numpy(dtype=float)
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


def _scale(items: pd.DataFrame) -> float:
    """1 where ratings are probabilities, or look like them; else two standard deviations of the ratings."""
    both = items[["p_female", "p_male"]].to_numpy(dtype=float)
    if both.min() >= 0 and both.max() <= 1 and ("choice_female" not in items or items["choice_female"].notna().any()):
        return 1.0
    spread = 2 * float(both.mean(axis=1).std())
    return spread if spread > 0 else 1.0


def _flips(changed: pd.DataFrame) -> int | None:
    if "choice_female" not in changed or "choice_male" not in changed:
        return None
    both = changed[["choice_female", "choice_male"]]
    if both.isna().to_numpy().any():
        return None
    return int((both["choice_female"] != both["choice_male"]).sum())
