"""The tests of Gonen and Goldberg (2019): do words with the same bias still lie together?

Each test takes a space and a contrast, and compares words of its two sides:

- *clustering*: two clusters (k-means) of the most biased words of each side; the share in the cluster of their side;
- *probe*: the same words, separated by a linear boundary that is tested on words that it has not seen;
- *classification*: more words, separated by a support-vector machine that was trained on a fifth of them;
- *neighbours*: over professions, the correlation of their own bias with the share of first-side words among the words
  nearest to them.

`removed` is a direction that is removed from the space first, so that a test does not find the direction by which the
words were selected.

The association tests, WEAT and SEAT, ask another question: are words of career, mathematics and science associated with
men, and those of family and arts with women? Word vectors are tested by WEAT as in Caliskan et al. (2017). Encoders are
tested by SEAT (May et al. 2019) with one change: the vector of a word is the mean over its sentences, so eight words
count as eight and the test over all partitions is exact. Sentences with the same word are not independent draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from unmask.lexicon.weat import Association, WordSentence, associations, sentences
from unmask.measures.geometry.space import Contrast
from unmask.models.roles import Encoder, Pooling, WordInSentence
from unmask.models.word_vectors import Vectors
from unmask.results import Caveat, Estimate
from unmask.statistics.correlation import pearson
from unmask.statistics.erasure import cosines_without_direction, remove_direction
from unmask.statistics.jackknife import LEVEL
from unmask.statistics.permutation import effect_interval, weat
from unmask.statistics.separation import cluster_agreement, linear_probe

NAMES = ("clustering", "probe", "classification", "neighbours")
LABELS = {"clustering": ("side", "cluster"), "probe": ("side", "probed"), "classification": ("part", "predicted")}
"""The columns of the items with the side of a word, and with the side on which a test puts it."""
NEIGHBOURS = 100
TRAINING_SHARE = 0.2
"""The share of words that the support-vector machine learns from."""
COMPONENTS = 10
"""Clustering starts from a cut along each of these principal components."""
MOST_STEPS = 300
ROUNDING = 1e-6
"""Rows that differ by no more are equal."""
AS_TIGHT = 1.001
"""Clusters whose spread is within this factor of the tightest are as good."""
FEWEST_ASSOCIATED = 4
"""How many words of each set must have vectors."""
NAMED_WORDS = 5
"""How many missing words a caveat names."""

Direction = NDArray[np.float64] | None
VectorSet = dict[str, NDArray[np.floating]]
"""The vectors of a set of words, without vectors of zeros, which have no direction."""


@dataclass(frozen=True)
class SortedWords:
    """The result of a test for each word."""

    indices: NDArray[np.intp]
    first: NDArray[np.bool_]
    """Whether a word is of the first side."""
    predicted: NDArray[np.bool_]
    """The cluster of a word, or the side that was predicted for it."""


def select_rows(
    matrix: NDArray[np.floating], indices: NDArray[np.intp], removed: Direction = None
) -> NDArray[np.floating]:
    """The vectors of some words, without a direction if one is given."""
    return matrix[indices] if removed is None else remove_direction(matrix[indices], removed)


def sort_words(
    matrix: NDArray[np.floating], contrast: Contrast, *, seed: int, removed: Direction = None
) -> dict[str, SortedWords]:
    """The sides on which each of the first three tests puts the most biased words."""
    indices, first = contrast.select_clustered()
    clusters = find_two_clusters(select_rows(matrix, indices, removed))[0]
    probe = linear_probe(compute_cosines(matrix, indices, removed), first, seed=seed, shuffles=0)
    return {
        "clustering": SortedWords(indices, first, clusters),
        "probe": SortedWords(indices, first, np.where(probe.right, first, ~first)),
        "classification": classify_words(matrix, contrast, seed=seed, removed=removed),
    }


def find_two_clusters(rows: NDArray[np.floating]) -> list[NDArray[np.bool_]]:
    """The tightest two clusters, then others that are as tight, from a cut along each principal component.

    From random starts, k-means ends by luck in one of several optima that are nearly as tight.
    """
    centred = rows - rows.mean(axis=0)
    if np.abs(centred).max(initial=0.0) < ROUNDING:
        return [np.zeros(rows.shape[0], dtype=bool)]
    is_tall = centred.shape[0] > centred.shape[1]
    products = centred @ centred.T
    scatter = centred.T @ centred if is_tall else products
    size = scatter.shape[0]
    _, vectors = eigh(scatter, subset_by_index=(max(0, size - COMPONENTS), size - 1))
    components = vectors[:, ::-1]
    spreads, sides = _run_lloyd(products, (centred @ components if is_tall else components) > 0)
    distinct: dict[bytes, NDArray[np.bool_]] = {}
    for start in np.argsort(spreads, kind="stable"):
        side = sides[:, start]
        if spreads[start] <= AS_TIGHT * spreads.min():
            distinct.setdefault((side ^ side[0]).tobytes(), side)
    return list(distinct.values())


def _run_lloyd(
    products: NDArray[np.floating], sides: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Lloyd's algorithm for two clusters of n rows with mean zero, from several starts (columns) at once.

    The rows x of one cluster, c in number, have the sum t; those of the other have the sum −t. A row is nearer to the
    mean of the first where x·t > t·t (1/c − 1/(n − c)) / 2, so the products of rows are all that is needed.

    Returns:
        The spread of each start's clusters, and the cluster of each row.
    """
    products = products.astype(np.float64)
    for _ in range(MOST_STEPS):
        counts = np.stack([sides.sum(axis=0), (~sides).sum(axis=0)])
        first, second = 1 / np.maximum(counts, 1)
        towards = products @ sides.astype(np.float64)
        squares = (towards * sides).sum(axis=0)
        moved = np.where(counts.min(axis=0) > 0, towards > squares * (first - second) / 2, sides)
        if (moved == sides).all():
            break
        sides = moved
    return np.trace(products) - squares * (first + second), sides


def run_k_means(rows: NDArray[np.floating], count: int, *, seed: int, starts: int) -> NDArray[np.intp]:
    """The cluster of each row."""
    from sklearn.cluster import KMeans

    clusters: NDArray[np.intp] = KMeans(count, n_init=starts, random_state=seed).fit_predict(rows)
    return clusters


def compute_cosines(
    matrix: NDArray[np.floating], indices: NDArray[np.intp], removed: Direction = None
) -> NDArray[np.floating]:
    """The cosines of some words with each other."""
    rows = matrix[indices]
    cosines = rows @ rows.T
    if removed is None:
        return cosines
    part = rows @ removed.astype(rows.dtype)
    return cosines_without_direction(cosines, part, part)


def classify_words(
    matrix: NDArray[np.floating], contrast: Contrast, *, seed: int, removed: Direction = None
) -> SortedWords:
    """The predictions of a support-vector machine for the words that it was not trained on."""
    sides = contrast.select_classified()
    indices = np.concatenate(sides)
    first = np.arange(indices.size) < sides[0].size
    train = np.zeros(indices.size, dtype=bool)
    rng = np.random.default_rng(seed)
    for side in (first, ~first):
        members = rng.permutation(np.flatnonzero(side))
        train[members[: max(1, round(TRAINING_SHARE * members.size))]] = True
    rows, cosines = select_rows(matrix, indices[train], removed), compute_cosines(matrix, indices, removed)
    return SortedWords(indices[~train], first[~train], predict_sides(rows, cosines[:, train], first, train))


def predict_sides(
    rows: NDArray[np.floating], cosines: NDArray[np.floating], first: NDArray[np.bool_], train: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Train a support-vector machine on some rows of length 1, and predict the side of the others.

    It has the radial kernel of scikit-learn's `SVC()`, exp(−γ|x − y|²) with γ = 1 / (dimensions · variance of the
    training rows), and works from cosines: for rows of length 1, |x − y|² = 2 − 2 x·y.

    Args:
        rows: The training rows.
        cosines: The cosines of all rows with the training rows.
        first: Whether each row is of the first side.
        train: Which rows to train on.
    """
    from sklearn.svm import SVC

    variance = float(rows.var())
    gamma = 1 / (rows.shape[1] * variance) if variance > 0 else 1.0
    kernel = np.exp(-gamma * (2 - 2 * np.asarray(cosines, dtype=np.float64)))
    machine = SVC(kernel="precomputed").fit(kernel[train], first[train])
    predicted: NDArray[np.bool_] = machine.predict(kernel[~train])
    return predicted


@dataclass(frozen=True)
class NearestWords:
    """Professions and the words nearest to them."""

    professions: NDArray[np.intp]
    cosines: NDArray[np.floating]
    """Of each profession (rows) with every word."""
    nearest: NDArray[np.intp]
    """The indices of the words nearest to each profession, without itself, in no order."""

    def share_sides(self, contrast: Contrast, *, removed: Direction = None) -> NDArray[np.float64]:
        """The share of first-side words among the neighbours of each profession: those above the median word.

        Zero would be no limit: in an encoder nearly all words may lie on one side of it.
        """
        nearest, bias = self.nearest, contrast.bias
        if removed is not None:
            cosines = cosines_without_direction(self.cosines, bias[self.professions], bias)
            nearest = _select_nearest(cosines, self.professions, nearest.shape[1])
        shares: NDArray[np.float64] = (bias > np.median(bias))[nearest].mean(axis=1)
        return shares


def find_neighbours(
    matrix: NDArray[np.floating], professions: NDArray[np.intp], count: int = NEIGHBOURS
) -> NearestWords:
    """The words nearest to each profession."""
    cosines = matrix[professions] @ matrix.T
    return NearestWords(professions, cosines, _select_nearest(cosines, professions, count))


def _select_nearest(cosines: NDArray[np.floating], itself: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    near = np.array(cosines)
    near[np.arange(itself.size), itself] = -np.inf
    return np.argpartition(-near, count - 1, axis=1)[:, :count]


def run_tests(
    matrix: NDArray[np.floating],
    contrast: Contrast,
    nearest_words: NearestWords | None,
    *,
    seed: int,
    removed: bool,
) -> dict[str, float]:
    """The value of each test for a contrast, whose own direction may be removed."""
    direction = contrast.direction if removed else None
    sides = sort_words(matrix, contrast, seed=seed, removed=direction)
    values = {name: cluster_agreement(words.first, words.predicted) for name, words in sides.items()}
    values["clustering"] = max(values["clustering"], 1 - values["clustering"])  # clusters have no names
    if nearest_words is not None:
        used = ~np.isin(nearest_words.professions, contrast.excluded)
        shares = nearest_words.share_sides(contrast, removed=direction)
        values["neighbours"] = pearson(contrast.bias[nearest_words.professions][used], shares[used])
    return values


@dataclass(frozen=True)
class AssociationTests:
    """The association tests by name, and caveats about missing words."""

    tests: dict[str, Estimate] = field(default_factory=dict)
    caveats: list[Caveat] = field(default_factory=list)
    targets: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How many words each set of targets has."""


def measure_weat(vectors: Vectors, *, seed: int) -> AssociationTests:
    """The gender tests of word vectors; a word may also be there in lower case."""

    def find_words(association: Association) -> list[VectorSet]:
        return [_find_vectors([word.text for word in words.words], vectors) for words in association.sets]

    return _run_associations("WEAT", find_words, seed)


def measure_seat(encoder: Encoder, *, layers: int, pooling: Pooling, seed: int) -> AssociationTests:
    """The gender tests of an encoder. A sentence that several tests share is embedded once."""
    every = [sentence for association in associations() for sentence in chain(*sentences(association))]
    queries = list(dict.fromkeys(WordInSentence(sentence.text, sentence.span) for sentence in every))
    if hasattr(encoder, "unknown"):
        queries = list(compress(queries, ~np.asarray(encoder.unknown(queries), dtype=bool)))
    vectors = dict(zip(queries, encoder.embed(queries, layers=layers, pooling=pooling), strict=True)) if queries else {}

    def embed_words(association: Association) -> list[VectorSet]:
        return [_average_associated(word_sentences, vectors) for word_sentences in sentences(association)]

    return _run_associations("SEAT", embed_words, seed)


def _find_vectors(words: Sequence[str], vectors: Vectors) -> VectorSet:
    forms = {word: next((form for form in (word, word.lower()) if form in vectors), None) for word in words}
    return {word: vectors.vectors([form])[0] for word, form in forms.items() if form is not None}


def _average_associated(
    word_sentences: Sequence[WordSentence], vectors: Mapping[WordInSentence, NDArray[np.floating]]
) -> VectorSet:
    """The mean vector of each word over its sentences, without words that have a sentence without a vector."""
    by_word: dict[str, list[NDArray[np.floating] | None]] = {}
    for sentence in word_sentences:
        by_word.setdefault(sentence.word, []).append(vectors.get(WordInSentence(sentence.text, sentence.span)))
    rows = {word: [row for row in found if row is not None] for word, found in by_word.items()}
    return {word: np.mean(rows[word], axis=0) for word, found in by_word.items() if len(rows[word]) == len(found)}


def _run_associations(name: str, find_vectors: Callable[[Association], list[VectorSet]], seed: int) -> AssociationTests:
    tests: dict[str, Estimate] = {}
    targets: dict[str, tuple[int, int]] = {}
    untested: list[str] = []
    has_vector: dict[str, bool] = {}
    for association in associations():
        title = f"{name} {association.name}"
        sets = [{word: vector for word, vector in words.items() if vector.any()} for words in find_vectors(association)]
        for words, vectors in zip(association.sets, sets, strict=True):
            has_vector |= {word.text: word.text in vectors for word in words.words}
        if min(map(len, sets)) < FEWEST_ASSOCIATED:
            untested.append(title)
            continue
        x, y, a, b = (np.stack(list(vectors.values())) for vectors in sets)
        result = weat(x, y, a, b, alternative="two-sided", seed=seed)
        targets[title] = result.n_x, result.n_y
        tests[title] = Estimate(
            labels={"contrast": "association", "test": title},
            question=association.question,
            n=result.n_x + result.n_y,
            value=result.effect_size,
            interval=result.interval,
            statistic=result.statistic,
            statistic_name="sum of associations",
            p_value=result.p_value,
            effect_size=result.effect_size,
            effect_size_name="d",
            effect_size_interval=result.interval,
        )
    missing = [word for word, is_present in has_vector.items() if not is_present]
    if not missing:
        return AssociationTests(tests, targets=targets)
    examples = list_examples(missing)
    text = f"{len(missing):,} of the {len(has_vector):,} words of WEAT have no vector ({examples}) and are left out."
    if untested:
        text += f" Too few words are left for {', '.join(untested)}."
    return AssociationTests(tests, [Caveat(code="association-words-missing", text=text)], targets)


def widen_interval(test: Estimate, targets: Sequence[int]) -> Estimate:
    """An association test with the interval at the level at which its corrected p-value is judged."""
    if not test.p_adjusted or not test.p_value or test.effect_size is None or test.p_adjusted <= test.p_value:
        return test
    interval = effect_interval(test.effect_size, *targets, level=LEVEL * test.p_value / test.p_adjusted)
    return test.model_copy(update={"interval": interval, "effect_size_interval": interval})


def list_examples(words: Sequence[str]) -> str:
    """The first words of a long list, for a caveat."""
    return ", ".join(words[:NAMED_WORDS]) + ("…" if len(words) > NAMED_WORDS else "")
