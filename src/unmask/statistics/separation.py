"""How well clusters, predictions or a linear probe separate two groups, and how well they would by chance.

**Clusters** have no names, so each is assigned the group that most of it belongs to. With two clusters of one group
each, the *accuracy* is the larger of a and 1 − a, where a is the plain agreement; with more clusters it is the purity

    purity = Σ_c max(m_c, f_c) / n

and the V-measure (Rosenberg and Hirschberg 2007) is the harmonic mean of homogeneity and completeness. Chance is the
result when the labels are shuffled: m_c is then hypergeometric, so that for two clusters the distribution is exact; for
more it is drawn. Purity grows with the number of clusters, so it means nothing without that number.

**The linear probe** measures how well a linear boundary separates rows that it has not seen: ridge regression of ±1 on
the rows, with an intercept, trained on four fifths and tested on the rest, in turn. Its dual form needs only the
products of rows, K = X Xᵀ:

    f(x) = ȳ + k(x)ᵀ (K + λI)⁻¹ (y − ȳ),    K and k centred on the training rows,    λ = `PENALTY` · mean diagonal of K

so any number of labellings of the same rows costs one factorisation per fold: the real labels, and the shuffled ones
that give the distribution under chance.

A. Rosenberg and J. Hirschberg (2007). V-Measure: a conditional entropy-based external cluster evaluation measure.
Proceedings of EMNLP-CoNLL, 410–420.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, stats

DRAWS = 10_000


@dataclass(frozen=True)
class Separation:
    """How well clusters, or predictions, separate labels."""

    n: int
    accuracy: float
    v_measure: float
    chance: float
    """The mean accuracy with shuffled labels."""
    chance_high: float
    """The 97.5 % quantile of the accuracy with shuffled labels."""
    p_value: float
    """The share of shuffles that are at least as accurate."""


def cluster_agreement(labels: ArrayLike, clusters: ArrayLike) -> float:
    """The share of labels that equal the number of their cluster."""
    return float((np.asarray(labels) == np.asarray(clusters)).mean())


def score_two_clusters(labels: ArrayLike, clusters: ArrayLike) -> Separation:
    """Score two clusters, one for each label; the chance is exact."""
    return _score_exactly(labels, clusters, are_named=False)


def score_predictions(labels: ArrayLike, predictions: ArrayLike) -> Separation:
    """Score predicted labels; unlike clusters, predictions have names, so less than half can be right."""
    return _score_exactly(labels, predictions, are_named=True)


def _score_exactly(labels: ArrayLike, guesses: ArrayLike, *, are_named: bool) -> Separation:
    positive, guess = np.asarray(labels, dtype=bool), np.asarray(guesses, dtype=bool)
    n, ones, large = positive.size, int(positive.sum()), int(guess.sum())
    true_positives = np.arange(max(0, ones + large - n), min(ones, large) + 1)
    same = (n - ones - large + 2 * true_positives) / n
    accuracies = same if are_named else np.maximum(same, 1 - same)
    weights = stats.hypergeom.pmf(true_positives, n, ones, large)
    agreement = cluster_agreement(positive, guess)
    observed = agreement if are_named else max(agreement, 1 - agreement)
    order = np.argsort(accuracies)
    cumulated = np.cumsum(weights[order])
    high = accuracies[order][min(int(np.searchsorted(cumulated, 0.975)), order.size - 1)]
    return Separation(
        n,
        observed,
        v_measure(positive, guess),
        float((accuracies * weights).sum()),
        float(high),
        min(1.0, float(weights[accuracies >= observed - 1e-12].sum())),
    )


def score_many_clusters(labels: ArrayLike, clusters: ArrayLike, *, seed: int, draws: int = DRAWS) -> Separation:
    """Score any number of clusters of two labels; the chance is drawn, and the observed labels are one of the draws."""
    positive = np.asarray(labels, dtype=bool)
    names, codes = np.unique(np.asarray(clusters), return_inverse=True)
    sizes = np.bincount(codes, minlength=names.size)
    ones = np.bincount(codes, weights=positive, minlength=names.size)
    observed = float(np.maximum(ones, sizes - ones).sum() / positive.size)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, int(positive.sum()), size=draws)
    chance = np.maximum(drawn, sizes - drawn).sum(axis=1) / positive.size
    above = int((chance >= observed - 1e-12).sum())
    return Separation(
        positive.size,
        observed,
        v_measure(positive, codes),
        float(chance.mean()),
        float(np.quantile(chance, 0.975)),
        (1 + above) / (1 + draws),
    )


def v_measure(labels: ArrayLike, clusters: ArrayLike) -> float:
    """The V-measure: 1 if clusters and labels agree, 0 if they are independent."""
    from sklearn.metrics import v_measure_score

    return float(v_measure_score(np.asarray(labels), np.asarray(clusters)))


FOLDS = 5
PENALTY = 0.01
SHUFFLES = 199


@dataclass(frozen=True)
class Probe:
    """How well a probe labels rows that it has not seen."""

    n: int
    accuracy: float
    right: NDArray[np.bool_]
    """Of each row."""
    chance: float
    chance_high: float
    p_value: float


def linear_probe(products: NDArray[np.floating], labels: ArrayLike, *, seed: int, shuffles: int = SHUFFLES) -> Probe:
    """Train and test in turn; `products` are those of all rows with each other."""
    signs = np.where(np.asarray(labels, dtype=bool), 1.0, -1.0)
    rng = np.random.default_rng(seed)
    targets = np.column_stack([signs, *(rng.permutation(signs) for _ in range(shuffles))])
    folds = np.empty(signs.size, dtype=np.intp)  # as many of each label in all
    for side in (-1.0, 1.0):
        members = rng.permutation(np.flatnonzero(signs == side))
        folds[members] = np.arange(members.size) % FOLDS
    predictions = np.empty_like(targets)
    for fold in range(FOLDS):
        test = folds == fold
        predictions[test] = _predict_ridge(products, ~test, test, targets)
    right = (predictions > 0) == (targets > 0)
    shares = right.mean(axis=0)
    chance = shares[1:]
    above = int((chance >= shares[0] - 1e-12).sum())
    return Probe(
        signs.size,
        float(shares[0]),
        right[:, 0],
        float(chance.mean()) if shuffles else 0.5,
        float(np.quantile(chance, 0.975)) if shuffles else 1.0,
        (1 + above) / (1 + shuffles),
    )


def _predict_ridge(
    products: NDArray[np.floating], train: NDArray[np.bool_], test: NDArray[np.bool_], targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    trained = np.asarray(products[np.ix_(train, train)], dtype=np.float64)
    tested = np.asarray(products[np.ix_(test, train)], dtype=np.float64)
    rows, whole = trained.mean(axis=0), trained.mean()
    tested = tested - tested.mean(axis=1, keepdims=True) - rows + whole
    trained = trained - rows[:, None] - rows[None, :] + whole
    trained[np.diag_indices_from(trained)] += PENALTY * max(float(np.trace(trained)) / trained.shape[0], 1e-12)
    means = targets[train].mean(axis=0)
    weights = linalg.cho_solve(linalg.cho_factor(trained, lower=True), targets[train] - means)
    predicted: NDArray[np.float64] = means + tested @ weights
    return predicted
