"""From a model to items: its words become a space, the space is tested, and each word with its results is an item.

For a debiased model the method requires the words that were most biased in the *original* model, with their bias there
(`measure_chosen_words`). The direction can only be removed for a space's own words, because that of another model is
not a direction of this space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unmask.errors import UnmaskError
from unmask.measures.geometry import (
    CONTRASTS,
    LAYERS,
    NOUNS,
    OF_ENCODERS,
    OWN,
    VECTORS,
    WORDS,
    ClusterCount,
    Geometry,
    GeometryOptions,
    WordTest,
    analysis,
    published,
    vocabulary,
)
from unmask.measures.geometry.contrasts import References, Stereotypes, find_nearest_words, run_contrasts
from unmask.measures.geometry.space import FEMALE, MALE, SIDES, Contrast, Space, embed_static, embed_words
from unmask.measures.geometry.word_tests import (
    NAMES,
    AssociationTests,
    Direction,
    NearestWords,
    Sizes,
    choose_sizes,
    classify_words,
    cluster_words,
    find_two_clusters,
    measure_seat,
    measure_weat,
    probe_words,
    run_k_means,
    select_rows,
)
from unmask.statistics.separation import SHUFFLES, Probe, score_many_clusters, score_two_clusters

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.models.handle import ModelHandle
    from unmask.results import Measurement

ORIGIN = "origin"
"""How a debiased model's items call the model it was made from."""
CLUSTER_COUNTS = (2, 3, 4, 5, 6, 8, 10, 15, 20)
STARTS = 10
PERPLEXITY = 30


@dataclass(frozen=True)
class SpaceDetails:
    """What the analysis of a space needs besides the items."""

    facts: dict[str, Any]
    """Fields of `Geometry` that describe the space."""
    references: References = field(default_factory=lambda: References({}))
    probes: dict[bool, Probe] = field(default_factory=dict)
    """With shuffled labels, by whether the direction was removed."""
    as_tight: dict[bool, tuple[float, float]] = field(default_factory=dict)
    """The lowest and highest accuracy of pairs of clusters that are as tight as the tightest."""


def measure(
    model: ModelHandle, options: GeometryOptions, units: Sequence[Context]
) -> Iterator[tuple[pd.DataFrame, Measurement]]:
    """Make a space of each vocabulary and test it. The vectors themselves are not kept."""
    if model.kind == "vectors":
        yield _measure_vectors(model, options, units)
        return
    words = [_choose_words(options, unit) for unit in units]
    encoder = model.encoder()
    layers = count_layers(encoder, options)
    associations = None
    if units[0].protocol == "sound":
        associations = measure_seat(encoder, layers=layers, pooling=options.pooling, seed=units[0].seed)  # type: ignore[arg-type]
    for unit, choice in zip(units, words, strict=True):
        space = embed_words(
            choice.words,
            encoder,
            layers=layers,
            pooling=options.pooling,  # type: ignore[arg-type]
            published=unit.protocol == "published",
            left_out=choice.left_out,
            progress=unit.progress,
        )
        yield _measure_unit(space, unit, options, associations)
        associations = None  # they belong to the model, whatever the words


def _measure_vectors(
    model: ModelHandle, options: GeometryOptions, units: Sequence[Context]
) -> tuple[pd.DataFrame, Measurement]:
    """Measure word vectors.

    At most the first 50,000 words of a file are read, or all if a list of words is given. Files are ordered by
    frequency, so these include the words of the association tests.
    """
    defaults = {name: field.default for name, field in type(options).model_fields.items()}
    unused = [f"--{name}" for name in OF_ENCODERS if getattr(options, name) != defaults[name]]
    unused += [f"--corpus {unit.corpus}" for unit in units if unit.corpus not in (NOUNS, WORDS)]
    if unused:
        raise UnmaskError(
            f"{unused[0]} is for encoders; word vectors have one vector per word, and all their words are measured;"
            " leave it out"
        )
    is_published, listed = units[0].protocol == "published", options.word_list is not None
    vectors = model.vectors(most=vocabulary.limit_words(options.words, listed=listed))
    for end in (MALE, FEMALE):
        if end in vectors and not vectors.vectors([end]).any():
            raise UnmaskError(
                f"the vector of {end!r} is all zeros, so there is no gender direction; give other vectors"
            )
    if options.word_list is not None:
        words = vocabulary.listed_words(options.word_list)
    else:
        words = vocabulary.vector_words(vectors, published=is_published, offline=units[0].offline)
    space = embed_static(words.words, vectors, left_out=words.left_out)
    associations = None if is_published else measure_weat(vectors, seed=units[0].seed)
    unit = replace(units[0], corpus=WORDS if listed else VECTORS)
    return _measure_unit(space, unit, options, associations)


def _choose_words(options: GeometryOptions, unit: Context) -> vocabulary.Vocabulary:
    if options.word_list is not None:
        return vocabulary.listed_words(options.word_list)
    if unit.corpus == NOUNS:
        return vocabulary.frequent_nouns(options.words or vocabulary.DEFAULT_WORDS)
    return vocabulary.published_nouns(unit.corpus, published=unit.protocol == "published", offline=unit.offline)


def count_layers(encoder: Any, options: GeometryOptions) -> int:
    """How many layers are averaged: by default at most those that the encoder has."""
    return min(LAYERS, getattr(encoder, "depth", LAYERS)) if options.layers == LAYERS else options.layers


def _measure_unit(
    space: Space, unit: Context, options: GeometryOptions, associations: AssociationTests | None
) -> tuple[pd.DataFrame, Measurement]:
    professions = vocabulary.rated_stereotypes(published=unit.protocol == "published")
    items, measurement = measure_space(space, professions, unit, contrasts=options.contrasts, associations=associations)
    data_hash = hashlib.sha256("\n".join(space.words).encode()).hexdigest()
    return items, measurement.model_copy(update={"data_hash": data_hash})


def measure_space(
    space: Space,
    professions: Stereotypes,
    context: Context,
    *,
    contrasts: int = CONTRASTS,
    associations: AssociationTests | None = None,
) -> tuple[pd.DataFrame, Measurement]:
    """Test the words that are most biased in a space, in the protocol of the context."""
    with threadpool_limits(1):  # more threads cost more than they gain for so few rows
        if context.protocol == "published":
            items = published.score_words(space, professions, space.gender, OWN)
            add_known_columns(items, space, space.gender, professions, seed=published.CLUSTER_SEED)
            details = SpaceDetails(_describe_space(space))
        else:
            sizes = choose_sizes(len(space.words))
            nearest_words = find_nearest_words(space, professions, sizes)
            references = run_contrasts(
                space, nearest_words, sizes, seed=context.seed, count=contrasts, progress=context.progress
            )
            items = score_words(space, space.gender, OWN, nearest_words, seed=context.seed)
            add_known_columns(items, space, space.gender, professions, seed=context.seed)
            details = _find_details(space, sizes, references, seed=context.seed)
    _add_unit(items, context)
    return items, analysis.analyse_space(items, context.protocol, details, associations)


def measure_chosen_words(
    space: Space,
    items: pd.DataFrame,
    before: Measurement,
    professions: Stereotypes,
    context: Context,
    *,
    name: str = ORIGIN,
) -> tuple[pd.DataFrame, list[WordTest]]:
    """Test the words that were most biased in another model, with their bias there.

    What is left is compared with what unrelated contrasts left in the other model once their direction was removed: a
    mitigation that claims to do more than to remove a direction must do better than that.

    Args:
        space: The words of the model after.
        items: The items of the model before, with the same words.
        before: The measurement of the model before.
        professions: Professions with their stereotype.
        context: The language, corpus and seed.
        name: The name of the model before.
    """
    chosen = items[items["words"] == OWN]
    if list(chosen["word"]) != space.words:
        raise UnmaskError(
            f"{name} was measured with {len(chosen):,} words and this model with {len(space.words):,}, not the same"
            " ones; measure both with the same words"
        )
    gender = Contrast(np.empty(0), chosen["bias"].to_numpy(dtype=float), np.empty(0, dtype=np.intp))
    with threadpool_limits(1):
        if before.protocol == "published":
            results = published.score_words(space, professions, gender, name)
            add_known_columns(results, space, gender, professions, seed=published.CLUSTER_SEED)
        else:
            nearest_words = find_nearest_words(space, professions, choose_sizes(len(space.words)))
            results = score_words(space, gender, name, nearest_words, seed=context.seed)
            add_known_columns(results, space, gender, professions, seed=context.seed)
    _add_unit(results, context)
    if before.protocol == "published":
        return results, published.list_word_tests(results)
    geometry = before.read_details(Geometry)
    tests = {test_name: geometry.test(test_name, removed=True) for test_name in NAMES}
    references = {
        (test_name, True): np.array(test.reference.values)
        for test_name, test in tests.items()
        if test is not None and test.reference is not None
    }
    return results, analysis.list_word_tests(results, SpaceDetails({}, References(references)))


def score_words(
    space: Space, gender: Contrast, name: str, nearest_words: NearestWords | None, *, seed: int
) -> pd.DataFrame:
    """The result of each test for each word. `name` is the model by whose bias `gender` selects words."""
    import pandas as pd

    count, sizes = len(space.words), choose_sizes(len(space.words))
    columns: dict[str, Any] = {"words": name, "word": space.words, "bias": gender.bias}
    texts = ("side", "cluster", "cluster_removed", "probed", "probed_removed", "part", "predicted", "predicted_removed")
    columns |= {column: np.full(count, "", dtype=object) for column in texts}
    columns |= {column: np.full(count, np.nan) for column in ("male_neighbours", "male_neighbours_removed")}
    indices, male = gender.select_sides(sizes.clustered)
    columns["side"][indices] = SIDES[male.astype(int)]
    for removed, suffix in ((None, ""), (gender.direction, "_removed")):
        if removed is not None and name != OWN:
            continue
        clusters = cluster_words(space.matrix, gender, sizes.clustered, removed=removed)
        is_aligned = (clusters.predicted == clusters.first).mean() >= 0.5  # a cluster is named by most of its words
        predicted = clusters.predicted if is_aligned else ~clusters.predicted
        columns[f"cluster{suffix}"][clusters.indices] = SIDES[predicted.astype(int)]
        right = probe_words(space.matrix, gender, sizes.clustered, seed=seed, removed=removed).right
        columns[f"probed{suffix}"][indices] = SIDES[np.where(right, male, ~male).astype(int)]
        classified = classify_words(space.matrix, gender, sizes.classified, seed=seed, removed=removed)
        columns[f"predicted{suffix}"][classified.indices] = SIDES[classified.predicted.astype(int)]
        columns["part"][np.concatenate(gender.extremes(sizes.classified))] = "train"
        columns["part"][classified.indices] = SIDES[classified.first.astype(int)]
        if nearest_words is not None:
            shares = nearest_words.share_sides(gender, removed=removed)
            columns[f"male_neighbours{suffix}"][nearest_words.professions] = shares
    return pd.DataFrame(columns)


def add_known_columns(
    items: pd.DataFrame, space: Space, gender: Contrast, professions: Stereotypes, *, seed: int
) -> None:
    """Add the stereotype of professions, and the position of the most biased words on a map.

    The map is made by t-SNE (van der Maaten and Hinton 2008). It shows which words lie together; distances between
    clusters and their sizes have no meaning.
    """
    from sklearn.manifold import TSNE

    known = {word: value for word, value in professions.items() if value is not None}
    items["stereotype"] = [known.get(word, np.nan) for word in space.words]
    indices, _ = gender.select_sides(choose_sizes(len(space.words)).clustered)
    positions = np.full((len(space.words), 2), np.nan)
    perplexity = min(PERPLEXITY, (indices.size - 1) / 3)
    positions[indices] = TSNE(2, perplexity=perplexity, random_state=seed, init="pca").fit_transform(
        space.matrix[indices]
    )
    items[["x", "y"]] = positions


def _add_unit(items: pd.DataFrame, context: Context) -> None:
    items.insert(0, "language", context.language)
    items.insert(1, "corpus", context.corpus)


def _describe_space(space: Space) -> dict[str, Any]:
    return {
        "vectors": space.vectors,
        "direction": space.direction,
        "likeness": space.likeness,
        "dimensions": space.matrix.shape[1],
        "left_out": space.left_out,
        "missing": space.missing,
    }


def _find_details(space: Space, sizes: Sizes, references: References, *, seed: int) -> SpaceDetails:
    """Probes with shuffled labels, more clusters, and clusters that are as tight as the tightest."""
    indices, male = space.gender.select_sides(sizes.clustered)
    probes: dict[bool, Probe] = {}
    as_tight: dict[bool, tuple[float, float]] = {}
    scan: list[ClusterCount] = []
    directions: dict[bool, Direction] = {False: None, True: space.gender.direction}
    for removed, direction in directions.items():
        probes[removed] = probe_words(
            space.matrix, space.gender, sizes.clustered, seed=seed, removed=direction, shuffles=SHUFFLES
        )
        rows = select_rows(space.matrix, indices, direction)
        accuracies = [score_two_clusters(male, clusters).accuracy for clusters in find_two_clusters(rows)]
        as_tight[removed] = min(accuracies), max(accuracies)
        scan += [_count_clusters(rows, male, count, removed=removed, seed=seed) for count in CLUSTER_COUNTS]
    facts = _describe_space(space) | {"contrasts": references.examples, "scan": scan}
    return SpaceDetails(facts, references, probes, as_tight)


def _count_clusters(
    rows: NDArray[np.floating], male: NDArray[np.bool_], count: int, *, removed: bool, seed: int
) -> ClusterCount:
    clusters = run_k_means(rows, count, seed=seed, starts=STARTS)
    separation = score_many_clusters(male, clusters, seed=seed)
    return ClusterCount(
        clusters=int(np.unique(clusters).size),
        removed=removed,
        accuracy=separation.accuracy,
        v_measure=separation.v_measure,
        chance=separation.chance,
        chance_high=separation.chance_high,
        p_chance=separation.p_value,
    )
