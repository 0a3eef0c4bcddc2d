"""How far two kinds of things are told apart by clusters or by predictions, and how far they would be by chance.

Clusters have no names, so each is taken for the kind that most of it is: with two clusters of one kind each, the
*accuracy* is the larger of a and 1 − a, where a is the plain agreement; with more clusters it is the purity

    purity = Σ_c max(m_c, f_c) / n

and the V-measure (Rosenberg and Hirschberg 2007) is the harmonic mean of homogeneity and completeness. Chance is what
comes out when the labels are dealt out anew: m_c is then hypergeometric, so that for two clusters the distribution is
exact; for more it is drawn. Purity grows with the number of clusters, which is why it means nothing without that.

A. Rosenberg and J. Hirschberg (2007). V-Measure: a conditional entropy-based external cluster evaluation measure.
Proceedings of EMNLP-CoNLL, 410–420.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

DRAWS = 10_000


@dataclass(frozen=True)
class Separation:
    """How well clusters, or predictions, tell labels apart."""

    n: int
    accuracy: float
    v_measure: float
    chance: float
    """The mean accuracy with labels dealt out anew."""
    chance_high: float
    """What 97.5 % of such deals stay below or at."""
    p_value: float
    """The share of such deals that are as accurate, or more."""


def agreement(labels: ArrayLike, clusters: ArrayLike) -> float:
    """The plain share of labels that equal the number of their cluster, whatever it is that clusters are called."""
    return float((np.asarray(labels) == np.asarray(clusters)).mean())


def two_clusters(labels: ArrayLike, clusters: ArrayLike) -> Separation:
    """Two kinds in two clusters, one each; the chance is exact."""
    kind, cluster = np.asarray(labels, dtype=bool), np.asarray(clusters, dtype=bool)
    n, ones, large = kind.size, int(kind.sum()), int(cluster.sum())
    both = np.arange(max(0, ones + large - n), min(ones, large) + 1)
    same = (n - ones - large + 2 * both) / n
    return _against(kind, cluster, np.maximum(same, 1 - same), stats.hypergeom.pmf(both, n, ones, large))


def predictions(labels: ArrayLike, said: ArrayLike) -> Separation:
    """What was predicted of each; unlike clusters, predictions have names, so less than half can be right."""
    kind, guess = np.asarray(labels, dtype=bool), np.asarray(said, dtype=bool)
    n, ones, large = kind.size, int(kind.sum()), int(guess.sum())
    both = np.arange(max(0, ones + large - n), min(ones, large) + 1)
    same = (n - ones - large + 2 * both) / n
    return _against(kind, guess, same, stats.hypergeom.pmf(both, n, ones, large), named=True)


def many_clusters(labels: ArrayLike, clusters: ArrayLike, *, seed: int, draws: int = DRAWS) -> Separation:
    """Two kinds in any number of clusters; the chance is drawn, and the observed labels are one of the draws."""
    kind = np.asarray(labels, dtype=bool)
    names, place = np.unique(np.asarray(clusters), return_inverse=True)
    sizes = np.bincount(place, minlength=names.size)
    ones = np.bincount(place, weights=kind, minlength=names.size)
    observed = float(np.maximum(ones, sizes - ones).sum() / kind.size)
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(sizes, int(kind.sum()), size=draws)
    chance = np.maximum(drawn, sizes - drawn).sum(axis=1) / kind.size
    above = int((chance >= observed - 1e-12).sum())
    return Separation(
        kind.size,
        observed,
        v_measure(kind, place),
        float(chance.mean()),
        float(np.quantile(chance, 0.975)),
        (1 + above) / (1 + draws),
    )


def v_measure(labels: ArrayLike, clusters: ArrayLike) -> float:
    """The V-measure: 1 where clusters and labels say the same, 0 where they say nothing of each other."""
    from sklearn.metrics import v_measure_score

    return float(v_measure_score(np.asarray(labels), np.asarray(clusters)))


def _against(
    kind: NDArray[np.bool_],
    said: NDArray[np.bool_],
    accuracies: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    named: bool = False,
) -> Separation:
    same = agreement(kind, said)
    observed = same if named else max(same, 1 - same)
    order = np.argsort(accuracies)
    below = np.cumsum(weights[order])
    high = accuracies[order][min(int(np.searchsorted(below, 0.975)), order.size - 1)]
    return Separation(
        kind.size,
        observed,
        v_measure(kind, said),
        float((accuracies * weights).sum()),
        float(high),
        min(1.0, float(weights[accuracies >= observed - 1e-12].sum())),
    )
