"""A linear probe: how well a straight cut learns to tell two kinds of rows apart that it has not seen.

Ridge regression of ±1 on the rows, with an intercept, trained on four fifths and asked about the rest, in turn. Its
dual form needs only the products of rows, K = X Xᵀ:

    f(x) = ȳ + k(x)ᵀ (K + λI)⁻¹ (y − ȳ),    K and k centred on the training rows,    λ = `PENALTY` · mean diagonal of K

so any number of labellings of the same rows costs one factorisation a fold: the labels as they are, and as many
shuffled ones as chance is to be known from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

FOLDS = 5
PENALTY = 0.01
SHUFFLES = 199


@dataclass(frozen=True)
class Probe:
    """What a probe gets right of rows that it has not seen."""

    n: int
    accuracy: float
    right: NDArray[np.bool_]
    """Of each row."""
    chance: float
    chance_high: float
    p_value: float


def probe(products: NDArray[np.floating], labels: ArrayLike, *, seed: int, shuffles: int = SHUFFLES) -> Probe:
    """Train and test in turn; `products` are those of all rows with each other."""
    kind = np.where(np.asarray(labels, dtype=bool), 1.0, -1.0)
    rng = np.random.default_rng(seed)
    targets = np.column_stack([kind, *(rng.permutation(kind) for _ in range(shuffles))])
    folds = _folds(kind, rng)
    said = np.empty_like(targets)
    for fold in range(FOLDS):
        test = folds == fold
        said[test] = _ridge(products, ~test, test, targets)
    right = (said > 0) == (targets > 0)
    shares = right.mean(axis=0)
    chance = shares[1:]
    above = int((chance >= shares[0] - 1e-12).sum())
    return Probe(
        kind.size,
        float(shares[0]),
        right[:, 0],
        float(chance.mean()) if shuffles else 0.5,
        float(np.quantile(chance, 0.975)) if shuffles else 1.0,
        (1 + above) / (1 + shuffles),
    )


def _folds(kind: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Which fifth each row is in, as many of each kind in all."""
    folds = np.empty(kind.size, dtype=np.intp)
    for side in (-1.0, 1.0):
        members = rng.permutation(np.flatnonzero(kind == side))
        folds[members] = np.arange(members.size) % FOLDS
    return folds


def _ridge(
    products: NDArray[np.floating], train: NDArray[np.bool_], test: NDArray[np.bool_], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    known = np.asarray(products[np.ix_(train, train)], dtype=np.float64)
    asked = np.asarray(products[np.ix_(test, train)], dtype=np.float64)
    rows, whole = known.mean(axis=0), known.mean()
    asked = asked - asked.mean(axis=1, keepdims=True) - rows + whole
    known = known - rows[:, None] - rows[None, :] + whole
    known[np.diag_indices_from(known)] += PENALTY * max(float(np.trace(known)) / known.shape[0], 1e-12)
    means = targets[train].mean(axis=0)
    weights = linalg.cho_solve(linalg.cho_factor(known, lower=True), targets[train] - means)
    found: NDArray[np.float64] = means + asked @ weights
    return found
