"""From a model to items: its words become a space, the space is tested, and each word with its results is an item.

For a debiased model the method requires the words that were most biased in the *original* model, with their bias there
(`measure_chosen_words`). The direction can only be removed for a space's own words, because that of another model is
not a direction of this space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
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
    word_tests,
)
from unmask.measures.geometry.analysis import SpaceDetails
from unmask.measures.geometry.contrasts import References, Stereotypes, find_nearest_words, start_contrasts
from unmask.measures.geometry.space import FEMALE, MALE, SIDES, Contrast, Space, embed_static, embed_words
from unmask.statistics.separation import Probe, linear_probe, score_many_clusters, score_two_clusters

if TYPE_CHECKING:
    import pandas as pd

    from unmask.measures.base import Context
    from unmask.models.handle import ModelHandle
    from unmask.models.roles import Pooling
    from unmask.results import Measurement

CLUSTER_COUNTS = (2, 3, 4, 5, 6, 8, 10, 15, 20)
STARTS = 10
PERPLEXITY = 30
Embedded = Iterator[tuple["Context", Space, word_tests.AssociationTests]]
"""What was embedded for each unit, and the association tests of the model, once."""


def measure(
    model: ModelHandle, options: GeometryOptions, units: Sequence[Context]
) -> Iterator[tuple[pd.DataFrame, Measurement]]:
    """Make a space of each vocabulary and test it. The vectors themselves are not kept."""
    embed = _embed_vectors if model.kind == "vectors" else _embed_vocabularies
    for unit, space, associations in embed(model, options, units):
        professions = vocabulary.rated_stereotypes(published=unit.protocol == "published")
        items, measurement = measure_space(
            space, professions, unit, contrasts=options.contrasts, associations=associations
        )
        data_hash = hashlib.sha256("\n".join(space.words).encode()).hexdigest()
        yield items, measurement.model_copy(update={"data_hash": data_hash})


def _embed_vocabularies(model: ModelHandle, options: GeometryOptions, units: Sequence[Context]) -> Embedded:
    vocabularies = [_choose_words(options, unit) for unit in units]
    encoder = model.encoder()
    layers, pooling = count_layers(encoder, options), cast("Pooling", options.pooling)
    associations = word_tests.AssociationTests()
    if units[0].protocol == "sound":
        associations = word_tests.measure_seat(encoder, layers=layers, pooling=pooling, seed=units[0].seed)
    for unit, words in zip(units, vocabularies, strict=True):
        space = embed_words(
            words.words,
            encoder,
            layers=layers,
            pooling=pooling,
            published=unit.protocol == "published",
            left_out=words.left_out,
            progress=unit.progress,
        )
        yield unit, space, associations
        associations = word_tests.AssociationTests()


def _embed_vectors(model: ModelHandle, options: GeometryOptions, units: Sequence[Context]) -> Embedded:
    """Embed word vectors.

    At most the first 50,000 words of a file are read, or all if a list of words is given. Files are ordered by
    frequency, so these include the words of the association tests.
    """
    defaults = {name: field.default for name, field in type(options).model_fields.items()}
    unused = [f"--{name}" for name in OF_ENCODERS if getattr(options, name) != defaults[name]]
    unused += [f"--corpus {unit.corpus}" for unit in units if unit.corpus not in (NOUNS, WORDS)]
    if unused:
        raise UnmaskError(f"{unused[0]} is for encoders; leave it out for word vectors, which are all measured")
    unit, is_listed = units[0], options.word_list is not None
    is_published = unit.protocol == "published"
    vectors = model.vectors(most=vocabulary.limit_words(options.words, listed=is_listed))
    for end in (MALE, FEMALE):
        if end in vectors and not vectors.vectors([end]).any():
            raise UnmaskError(
                f"the vector of {end!r} is all zeros, so there is no gender direction; give other vectors"
            )
    if options.word_list is not None:
        words = vocabulary.listed_words(options.word_list)
    else:
        words = vocabulary.vector_words(vectors, published=is_published, offline=unit.offline)
    space = embed_static(words.words, vectors, left_out=words.left_out)
    associations = word_tests.AssociationTests() if is_published else word_tests.measure_weat(vectors, seed=unit.seed)
    yield replace(unit, corpus=WORDS if is_listed else VECTORS), space, associations


def _choose_words(options: GeometryOptions, unit: Context) -> vocabulary.Vocabulary:
    if options.word_list is not None:
        return vocabulary.listed_words(options.word_list)
    if unit.corpus == NOUNS:
        return vocabulary.frequent_nouns(options.words or vocabulary.DEFAULT_WORDS)
    return vocabulary.published_nouns(unit.corpus, published=unit.protocol == "published", offline=unit.offline)


def count_layers(encoder: Any, options: GeometryOptions) -> int:
    """How many layers are averaged: by default at most those that the encoder has."""
    return min(LAYERS, getattr(encoder, "depth", LAYERS)) if options.layers == LAYERS else options.layers


def measure_space(
    space: Space,
    professions: Stereotypes,
    context: Context,
    *,
    contrasts: int = CONTRASTS,
    associations: word_tests.AssociationTests | None = None,
) -> tuple[pd.DataFrame, Measurement]:
    """Test the words that are most biased in a space, in the protocol of the context."""
    details = SpaceDetails(_describe_space(space))
    with threadpool_limits(1):  # more threads cost more than they gain for so few rows
        if context.protocol == "published":
            items = score_space(space, space.gender, OWN, professions, context)
        else:
            near, seed = find_nearest_words(space, professions), context.seed
            run = partial(start_contrasts, space, near, professions=professions, progress=context.progress)
            with run(seed=seed, count=contrasts) as collect:
                items = score_space(space, space.gender, OWN, professions, context)
                details = _find_details(space, collect, seed=seed)
            items = analysis.add_contrasts(items, details.references)
    measurement = analysis.analyse_space(items, context.protocol, details, associations)
    return items, measurement.model_copy(update={"competence": space.competence})


def measure_chosen_words(
    space: Space,
    items: pd.DataFrame,
    before: Measurement,
    professions: Stereotypes,
    context: Context,
    *,
    name: str,
) -> tuple[pd.DataFrame, list[WordTest]]:
    """Test the words that were most biased in another model, with their bias there.

    What is left is compared with what unrelated contrasts left in the other model once their direction was removed: a
    mitigation that claims to do more than to remove a direction must do better than that.

    Args:
        space: The words of the model after.
        items: The items of the model before, with the same words.
        before: The measurement of the model before.
        professions: Professions with their stereotype.
        context: The language, corpus, protocol and seed.
        name: The name of the model before.
    """
    selected = items[items["words"] == OWN]
    if list(selected["word"]) != space.words:
        raise UnmaskError(
            f"{name} was measured with {len(selected):,} words and this model with {len(space.words):,}, not the same"
            " ones; measure both with the same words"
        )
    gender = Contrast(np.empty(0), selected["bias"].to_numpy(dtype=float), np.empty(0, dtype=np.intp))
    with threadpool_limits(1):
        results = score_space(space, gender, name, professions, context)
    if context.protocol == "published":
        return results, published.list_word_tests(results)
    references = {
        (test.name, True): np.array(test.reference.values)
        for test in before.read_details(Geometry).tests
        if test.words == OWN and test.removed and test.reference is not None
    }
    return results, analysis.list_word_tests(results, SpaceDetails(references=References(references)))


def score_space(space: Space, gender: Contrast, name: str, professions: Stereotypes, context: Context) -> pd.DataFrame:
    """Items: words with the results of the tests, the stereotype of professions, and positions on a map.

    The map of the most biased words is made by t-SNE (van der Maaten and Hinton 2008). It shows which words lie
    together; distances between clusters and their sizes have no meaning.

    Args:
        space: The words.
        gender: The contrast that selects words, which may be that of another model.
        name: The model by whose bias words are selected.
        professions: Professions with their stereotype.
        context: The language, corpus, protocol and seed.
    """
    from sklearn.manifold import TSNE

    seed = context.seed
    if context.protocol == "published":
        items, seed = published.score_words(space, professions, gender, name), published.CLUSTER_SEED
    else:
        items = score_words(space, gender, name, find_nearest_words(space, professions), seed=seed)
    stereotypes = [professions.get(word) for word in space.words]
    items["stereotype"] = np.array(stereotypes, dtype=float)
    indices, _ = gender.select_clustered()
    positions = np.full((len(space.words), 2), np.nan)
    tsne = TSNE(2, perplexity=min(PERPLEXITY, (indices.size - 1) / 3), random_state=seed, init="pca")
    positions[indices] = tsne.fit_transform(space.matrix[indices])
    items[["x", "y"]] = positions
    items.insert(0, "language", context.language)
    items.insert(1, "corpus", context.corpus)
    return items


def score_words(
    space: Space, gender: Contrast, name: str, nearest_words: word_tests.NearestWords | None, *, seed: int
) -> pd.DataFrame:
    """The result of each test for each word. `name` is the model by whose bias `gender` selects words."""
    import pandas as pd

    items = pd.DataFrame({"words": name, "word": space.words, "bias": gender.bias})
    items[["side", "cluster", "cluster_removed", "probed", "probed_removed"]] = ""
    items[["part", "predicted", "predicted_removed"]] = ""
    items[["male_neighbours", "male_neighbours_removed"]] = np.nan
    items.loc[np.concatenate(gender.select_classified()), "part"] = "train"
    directions = {"": None, "_removed": gender.direction} if name == OWN else {"": None}
    for suffix, direction in directions.items():
        for test, words in word_tests.sort_words(space.matrix, gender, seed=seed, removed=direction).items():
            side, column = word_tests.LABELS[test]
            is_swapped = test == "clustering" and (words.predicted == words.first).mean() < 0.5
            items.loc[words.indices, side] = SIDES[words.first.astype(int)]
            items.loc[words.indices, column + suffix] = SIDES[(words.predicted ^ is_swapped).astype(int)]
        if nearest_words is not None:
            shares = nearest_words.share_sides(gender, removed=direction)
            items.loc[nearest_words.professions, f"male_neighbours{suffix}"] = shares
    return items


def _describe_space(space: Space) -> dict[str, Any]:
    return {
        "vectors": space.vectors,
        "direction": space.direction,
        "likeness": space.gender.likeness,
        "dimensions": space.matrix.shape[1],
        "left_out": space.left_out,
        "missing": space.missing,
    }


def _find_details(space: Space, collect: Callable[[], References], *, seed: int) -> SpaceDetails:
    """Probes with shuffled labels, more clusters, and clusters that are as tight as the tightest."""
    indices, male = space.gender.select_clustered()
    probes: dict[bool, Probe] = {}
    as_tight: dict[bool, tuple[float, float]] = {}
    scan: list[ClusterCount] = []
    directions: dict[bool, word_tests.Direction] = {False: None, True: space.gender.direction}
    for removed, direction in directions.items():
        probes[removed] = linear_probe(word_tests.compute_cosines(space.matrix, indices, direction), male, seed=seed)
        rows = word_tests.select_rows(space.matrix, indices, direction)
        accuracies = [score_two_clusters(male, clusters).accuracy for clusters in word_tests.find_two_clusters(rows)]
        as_tight[removed] = min(accuracies), max(accuracies)
        for count in CLUSTER_COUNTS:
            clusters = word_tests.run_k_means(rows, count, seed=seed, starts=STARTS)
            separation = score_many_clusters(male, clusters, seed=seed)
            scan.append(
                ClusterCount(
                    clusters=int(np.unique(clusters).size),
                    removed=removed,
                    accuracy=separation.accuracy,
                    v_measure=separation.v_measure,
                    chance=separation.chance,
                    chance_high=separation.chance_high,
                    p_chance=separation.p_value,
                )
            )
    references = collect()
    facts = _describe_space(space) | {"matching": references.matching, "scan": scan}
    return SpaceDetails(facts, references, probes, as_tight)
