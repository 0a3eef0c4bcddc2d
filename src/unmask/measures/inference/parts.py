"""Some of the pairs at a time: by set, by occupation type and gender, by gender words, by occupation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unmask.lexicon.inference import KINDS
from unmask.measures.inference import sums
from unmask.measures.inference.details import Distribution, GenderWords, OccupationValue
from unmask.measures.inference.sums import Sums
from unmask.probes.inference import CONTROL, GENDERS, LABELS, SETS, has_probabilities
from unmask.statistics.jackknife import factor_codes, jackknife_sums, ratio

if TYPE_CHECKING:
    import pandas as pd


def of_sets(items: pd.DataFrame, *, intervals: bool) -> list[Distribution]:
    """The answers in each set."""
    return [
        distribution(name, {"set": name}, rows, intervals=intervals)
        for name in (*SETS, CONTROL)
        if len(rows := items[items["set"] == name])
    ]


def by_type(items: pd.DataFrame, *, intervals: bool) -> list[Distribution]:
    """The answers by occupation type and gender of the hypothesis."""
    return [
        distribution(
            f"{kind} occupation, {gender} hypothesis",
            {"occupation_type": kind, "gender": gender},
            rows,
            intervals=intervals,
        )
        for kind in KINDS
        for gender in GENDERS
        if len(rows := items[(items["occupation_type"] == kind) & (items["gender"] == gender)])
    ]


def distribution(name: str, labels: dict[str, str], rows: pd.DataFrame, *, intervals: bool) -> Distribution:
    """How some pairs were answered."""
    answers = rows["prediction"]
    found = {}
    if intervals:
        for label in LABELS:
            hits = (answers == label).to_numpy(dtype=float)
            numbers = np.stack([hits, np.ones_like(hits)], axis=1)
            estimate = jackknife_sums(
                numbers,
                [factor_codes(rows["occupation"]), factor_codes(rows["template"])],
                lambda sums: ratio(sums[0], sums[1]),
            )
            low, high = estimate.interval or (None, None)
            found[label] = None if low is None or high is None else (max(0.0, low), min(1.0, high))
    return Distribution(
        name=name,
        labels=labels,
        n=len(rows),
        shares=_shares(rows),
        intervals=found,
        probabilities={label: float(rows[f"p_{label}"].mean()) for label in LABELS} if has_probabilities(rows) else {},
    )


def by_pair(items: pd.DataFrame) -> list[GenderWords]:
    """What the measure is with each pair of gender words."""
    found = []
    for name, rows in items[items["gender"] != ""].groupby("pair", sort=False):
        answers = Sums(rows)
        estimate = answers.estimate(sums.stereotype)
        found.append(
            GenderWords(
                name=str(name),
                n=len(rows),
                score=answers.value(sums.score),
                stereotype=estimate.value,
                stereotype_interval=estimate.interval,
            )
        )
    return found


def occupations(items: pd.DataFrame) -> list[OccupationValue]:
    """Every occupation, the most often resolved first."""
    found = []
    for (word, kind), rows in items[items["gender"] != ""].groupby(["occupation", "occupation_type"], sort=False):
        by_gender = {gender: rows[rows["gender"] == gender] for gender in GENDERS}
        lean = Sums(rows).value(sums.lean(KINDS.index(str(kind))))
        found.append(
            OccupationValue(
                occupation=str(word),
                kind=str(kind),
                n=len(rows),
                resolved=float((rows["prediction"] != "neutral").mean()),
                lean=lean,
                female=_shares(by_gender["female"]),
                male=_shares(by_gender["male"]),
            )
        )
    return sorted(found, key=lambda one: -one.resolved)


def _shares(rows: pd.DataFrame) -> dict[str, float]:
    return {label: float((rows["prediction"] == label).mean()) for label in LABELS} if len(rows) else {}
