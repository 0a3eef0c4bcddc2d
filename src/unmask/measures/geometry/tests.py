"""The tests of Gonen and Goldberg (2019): do words that were biased alike still lie together?

Each takes a space and a contrast, and gives one number between words of its two sides:

- *clustering*: two clusters (k-means) of the most biased words of each side; the share in the cluster of their side;
- *probe*: the same words, told apart by a straight cut that is tested on words that it has not seen;
- *classification*: more words, told apart by a support-vector machine that was trained on a fifth of them;
- *neighbours*: over professions, the correlation of their own bias with the share of first-side words among the words
  nearest to them.

`removed` takes a direction out of the space first, so that what is found is not the direction that chose the words.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from unmask.measures.geometry.contrast import Contrast
from unmask.statistics.correlation import pearson
from unmask.statistics.erasure import cosines_without_direction, remove_direction
from unmask.statistics.separation import Probe, linear_probe

NEIGHBOURS = 100
TRAINED = 0.2
"""The share of words that the support-vector machine learns from."""
COMPONENTS = 10
"""Two clusters are begun by a cut along each of so many principal components; the tightest count."""
MOST_STEPS = 300
ROUNDING = 1e-6
"""Rows that differ by no more are the same."""
AS_TIGHT = 1.001
"""Clusters whose spread is within this factor of the tightest are as good."""
MOST_CLUSTERED, MOST_SEPARATED = 500, 2500
CLUSTERED_SHARE, SEPARATED_SHARE = 12, 6
"""Of a small vocabulary, one in so many words of each side is clustered, and separated."""

Direction = NDArray[np.float64] | None


@dataclass(frozen=True)
class Sizes:
    """How many words of each side the tests take."""

    clustered: int
    separated: int
    neighbours: int = NEIGHBOURS


def sizes_for(words: int) -> Sizes:
    """The paper's sizes where there are words enough, and fewer of a smaller vocabulary."""
    return Sizes(
        min(MOST_CLUSTERED, words // CLUSTERED_SHARE), min(MOST_SEPARATED, words // SEPARATED_SHARE), NEIGHBOURS
    )


@dataclass(frozen=True)
class Sorted:
    """Words of two sides, and what a test made of each."""

    places: NDArray[np.intp]
    first: NDArray[np.bool_]
    """Whether a word is of the first side."""
    said: NDArray[np.bool_]
    """The cluster it is in, or the side that was predicted."""


def clusters(matrix: NDArray[np.floating], contrast: Contrast, count: int, *, removed: Direction = None) -> Sorted:
    """The two clusters of the most biased words; nothing is drawn."""
    places, first = sides(contrast, count)
    return Sorted(places, first, two_means(rows(matrix, places, removed))[0])


def two_means(rows: NDArray[np.floating]) -> list[NDArray[np.bool_]]:
    """The tightest two clusters, and others that are as good, from a cut along each of the principal components.

    From random starts k-means ends in one or another of several optima that are nearly as tight, by luck.
    """
    centred = rows - rows.mean(axis=0)
    if np.abs(centred).max(initial=0.0) < ROUNDING:
        return [np.zeros(rows.shape[0], dtype=bool)]
    found = [_lloyd(centred, component > 0) for component in _components(centred)]
    found.sort(key=lambda one: one[0])
    different: dict[bytes, NDArray[np.bool_]] = {}
    for spread, said in found:
        if spread <= AS_TIGHT * found[0][0]:
            different.setdefault((said ^ said[0]).tobytes(), said)
    return list(different.values())


def _components(centred: NDArray[np.floating]) -> NDArray[np.floating]:
    """Where rows lie along the first principal components, one component a row."""
    tall = centred.shape[0] > centred.shape[1]
    products = centred.T @ centred if tall else centred @ centred.T
    size = products.shape[0]
    _, vectors = eigh(products, subset_by_index=(max(0, size - COMPONENTS), size - 1))
    first = vectors[:, ::-1]
    along: NDArray[np.floating] = (centred @ first if tall else first).T
    return along


def _lloyd(centred: NDArray[np.floating], side: NDArray[np.bool_]) -> tuple[float, NDArray[np.bool_]]:
    """Lloyd's algorithm for two clusters of rows whose mean is zero, from a first guess: their spread, and which."""
    whole = float((centred.astype(np.float64) ** 2).sum())
    for _ in range(MOST_STEPS):
        count = int(side.sum())
        if count in (0, side.size):
            return whole, side
        total = side.astype(centred.dtype) @ centred
        first, second = total / count, -total / (side.size - count)
        now = centred @ (first - second) > (first @ first - second @ second) / 2
        if (now == side).all():
            break
        side = now
    return whole - float(count * (first @ first) + (side.size - count) * (second @ second)), side


def k_means(rows: NDArray[np.floating], count: int, *, seed: int, starts: int) -> NDArray[np.intp]:
    """The cluster of each row."""
    from sklearn.cluster import KMeans

    found: NDArray[np.intp] = KMeans(count, n_init=starts, random_state=seed).fit_predict(rows)
    return found


def probed(
    matrix: NDArray[np.floating],
    contrast: Contrast,
    count: int,
    *,
    seed: int,
    removed: Direction = None,
    shuffles: int = 0,
) -> Probe:
    """A straight cut between the most biased words of each side."""
    places, first = sides(contrast, count)
    return linear_probe(products(matrix, places, removed), first, seed=seed, shuffles=shuffles)


def products(matrix: NDArray[np.floating], places: NDArray[np.intp], removed: Direction = None) -> NDArray[np.floating]:
    """The cosines of words with each other."""
    chosen = matrix[places]
    whole = chosen @ chosen.T
    if removed is None:
        return whole
    part = chosen @ removed.astype(chosen.dtype)
    return cosines_without_direction(whole, part, part)


def classified(
    matrix: NDArray[np.floating], contrast: Contrast, count: int, *, seed: int, removed: Direction = None
) -> Sorted:
    """What a support-vector machine says of the words that it was not trained on.

    It has the radial kernel of scikit-learn's `SVC()`, exp(−γ|x − y|²) with γ = 1 / (dimensions · variance of the
    training rows), and works from cosines: of rows of length 1, |x − y|² = 2 − 2 x·y.
    """
    places, first = sides(contrast, count)
    train = np.zeros(places.size, dtype=bool)
    rng = np.random.default_rng(seed)
    for side in (first, ~first):
        members = rng.permutation(np.flatnonzero(side))
        train[members[: max(1, round(TRAINED * members.size))]] = True
    said = support_vectors(rows(matrix, places[train], removed), products(matrix, places, removed), first, train)
    return Sorted(places[~train], first[~train], said)


def support_vectors(
    rows: NDArray[np.floating], cosines: NDArray[np.floating], first: NDArray[np.bool_], train: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Train on some rows of length 1 and say the side of the others, from the cosines of all."""
    from sklearn.svm import SVC

    variance = float(rows.var())
    gamma = 1 / (rows.shape[1] * variance) if variance > 0 else 1.0
    kernel = np.exp(-gamma * (2 - 2 * np.asarray(cosines, dtype=np.float64)))
    machine = SVC(kernel="precomputed").fit(kernel[np.ix_(train, train)], first[train])
    said: NDArray[np.bool_] = machine.predict(kernel[np.ix_(~train, train)])
    return said


@dataclass(frozen=True)
class Nearby:
    """Professions, and the words nearest to them."""

    professions: NDArray[np.intp]
    cosines: NDArray[np.floating]
    """Of each profession (rows) with every word."""
    nearest: NDArray[np.intp]
    """The places of the words nearest to each profession, without itself."""


def nearby(matrix: NDArray[np.floating], professions: NDArray[np.intp], count: int = NEIGHBOURS) -> Nearby:
    """The words nearest to each profession."""
    cosines = matrix[professions] @ matrix.T
    return Nearby(professions, cosines, nearest(cosines, professions, count))


def nearest(cosines: NDArray[np.floating], itself: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """The places of the largest cosines of each row, without itself; in no order."""
    near = np.array(cosines)
    near[np.arange(itself.size), itself] = -np.inf
    return np.argpartition(-near, count - 1, axis=1)[:, :count]


def sides_nearby(found: Nearby, contrast: Contrast, *, removed: Direction = None) -> NDArray[np.float64]:
    """The share of first-side words among the neighbours of each profession: those beyond the median word.

    Not those beyond zero: in an encoder nearly all words may lie on one side of it.
    """
    near = found.nearest
    if removed is not None:
        part = contrast.bias
        near = nearest(
            cosines_without_direction(found.cosines, part[found.professions], part), found.professions, near.shape[1]
        )
    shares: NDArray[np.float64] = (contrast.bias > np.median(contrast.bias))[near].mean(axis=1)
    return shares


def neighbours(found: Nearby, contrast: Contrast, *, removed: Direction = None) -> float:
    """The correlation of the professions' bias with the side of their neighbours."""
    asked = ~np.isin(found.professions, contrast.apart)
    shares = sides_nearby(found, contrast, removed=removed)
    return pearson(contrast.bias[found.professions][asked], shares[asked])


def sides(contrast: Contrast, count: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The places of the most biased words, and whether each is of the first side."""
    first, second = contrast.extremes(count)
    return np.concatenate([first, second]), np.arange(first.size + second.size) < first.size


def rows(matrix: NDArray[np.floating], places: NDArray[np.intp], removed: Direction) -> NDArray[np.floating]:
    """The vectors of words, without a direction if one is given."""
    return matrix[places] if removed is None else remove_direction(matrix[places], removed)
