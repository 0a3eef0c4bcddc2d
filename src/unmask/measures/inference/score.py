"""First half: ask a model about pairs of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models.roles import Classifier, Progress
from unmask.probes.inference import LABELS, PROBABILITIES

if TYPE_CHECKING:
    import pandas as pd

NOISE_SAMPLE = 200
AT_ONCE = 4096
ROUNDING = 1e-3


@dataclass(frozen=True)
class Scored:
    """Items, and what to know of how they were computed."""

    items: pd.DataFrame
    noise_floor: float
    """The largest change of a probability when pairs are scored again in other company."""
    distinct_inputs: int


def score(
    rows: pd.DataFrame, model: Classifier, order: Sequence[int], *, seed: int, progress: Progress | None = None
) -> Scored:
    """The probability of each label for each pair, and the answer; equal pairs are asked once.

    `order` says where entailment, neutral and contradiction stand among the model's outputs.
    """
    pairs = list(zip(rows["premise"], rows["hypothesis"], strict=True))
    distinct = list(dict.fromkeys(pairs))
    by_length = sorted(range(len(distinct)), key=lambda at: len(distinct[at][0]) + len(distinct[at][1]))
    found = np.empty((len(distinct), len(LABELS)))
    for start in range(0, len(distinct), AT_ONCE):
        some = by_length[start : start + AT_ONCE]
        found[some] = probabilities(model, [distinct[at] for at in some], order)
        if progress:
            progress(min(start + AT_ONCE, len(distinct)), len(distinct))
    sample = np.random.default_rng(seed).permutation(len(distinct))[:NOISE_SAMPLE]
    again = probabilities(model, [distinct[at] for at in sample], order)
    noise = float(np.abs(again - found[sample]).max()) if sample.size else 0.0
    place = {pair: at for at, pair in enumerate(distinct)}
    return Scored(answered(rows, found[[place[pair] for pair in pairs]]), noise, len(distinct))


def answered(rows: pd.DataFrame, answers: NDArray[np.float64]) -> pd.DataFrame:
    """Items: pairs with what was answered."""
    columns: dict[str, Any] = {column: answers[:, at] for at, column in enumerate(PROBABILITIES)}
    return rows.assign(**columns, prediction=[LABELS[at] for at in answers.argmax(axis=1)])


def probabilities(model: Classifier, pairs: Sequence[tuple[str, str]], order: Sequence[int]) -> NDArray[np.float64]:
    """Entailment, neutral and contradiction (columns) of pairs (rows); answers that are none are refused."""
    found = np.asarray(model.probabilities(pairs), dtype=np.float64)
    if found.shape != (len(pairs), len(LABELS)):
        raise UnmaskError(
            f"the model gave answers of shape {found.shape} where {(len(pairs), len(LABELS))} is needed; check it"
        )
    whole = found.sum(axis=1)
    bad = ~np.isfinite(whole) | (found < -ROUNDING).any(axis=1) | (np.abs(whole - 1) > ROUNDING)
    if bad.any():
        at = int(bad.argmax())
        figures = ", ".join(f"{value:.4g}" for value in found[at])
        raise UnmaskError(
            f"the model gave {figures} for {pairs[at]!r}, which are no probabilities of three labels; check it"
        )
    return found[:, list(order)]
