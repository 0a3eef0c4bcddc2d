"""The tests as the papers' code runs them, which is not quite what the papers say.

Bhang et al. (contextual vectors), as their notebooks ran:

- clusters are compared with labels by their number (male 0, female 1), so 94 % may mean 6 %;
- a loop over neighbours reuses the name of the loop over professions, so each profession is recorded with the bias of
  its 100th neighbour instead of its own;
- vectors are shuffled as rows of a tensor, where an exchange of two rows makes both the same: about half of the rows
  are left, some of them several times, and some in both training and test data.

Gonen and Goldberg's own code (static vectors) has only the first of these, with male 1 and female 0.

Clusters and the support-vector machine depend on the order of the rows. Both codes sort words by ascending bias,
cluster the male words before the female ones, and shuffle the female words first.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.measures.geometry import WordTest
from unmask.measures.geometry.contrasts import Stereotypes, find_nearest_words
from unmask.measures.geometry.space import SIDES, Contrast, Space
from unmask.measures.geometry.word_tests import (
    TRAINING_SHARE,
    compute_cosines,
    predict_sides,
    run_k_means,
)
from unmask.statistics.correlation import pearson

if TYPE_CHECKING:
    import pandas as pd

CLUSTER_SEED, SHUFFLE_SEED, STARTS = 1, 10, 10


def score_words(space: Space, professions: Stereotypes, gender: Contrast, name: str) -> pd.DataFrame:
    """The result of each test for each word. `name` is the model by whose bias `gender` selects words."""
    import pandas as pd

    items = pd.DataFrame({"words": name, "word": space.words, "bias": gender.bias, "side": "", "cluster": ""})
    males, females = (order_by_bias(side, gender) for side in np.split(gender.select_clustered()[0], 2))
    indices, male = np.concatenate([males, females]), np.arange(2 * males.size) < males.size
    clusters = run_k_means(space.matrix[indices], 2, seed=CLUSTER_SEED, starts=STARTS)
    male_cluster = 1 if space.is_static else 0
    items.loc[indices, "side"] = SIDES[male.astype(int)]
    items.loc[indices, "cluster"] = SIDES[(clusters == male_cluster).astype(int)]
    tested, is_right = classify_words(space.matrix, gender, duplicates=not space.is_static)
    items["asked"] = np.bincount(tested, minlength=len(items))
    items["right"] = np.bincount(tested[is_right], minlength=len(items))
    items[["male_neighbours", "put_down"]] = np.nan
    nearest_words = find_nearest_words(space, professions)
    if nearest_words is not None:
        near = np.take_along_axis(nearest_words.cosines, nearest_words.nearest, axis=1)
        order = np.argsort(-near, axis=1, kind="stable")
        ordered = np.take_along_axis(nearest_words.nearest, order, axis=1)
        bias = gender.bias if space.is_static else space.gender.bias
        recorded = nearest_words.professions if space.is_static else ordered[:, -1]
        items.loc[nearest_words.professions, "male_neighbours"] = (bias[ordered] > 0).mean(axis=1)
        items.loc[nearest_words.professions, "put_down"] = bias[recorded]
    return items


def classify_words(
    matrix: NDArray[np.floating], gender: Contrast, *, duplicates: bool
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The words that the support-vector machine is tested on, and whether it is right.

    With `duplicates`, words are shuffled as rows of a tensor, so some occur twice.
    """
    generator = random.Random(SHUFFLE_SEED)
    males, females = (list(order_by_bias(side, gender)) for side in gender.select_classified())
    for order in (females, males):
        if duplicates:
            shuffle_tensor_rows(order, generator)
        else:
            generator.shuffle(order)
    cut = max(1, round(TRAINING_SHARE * len(males)))
    train, test = (males[:cut], females[:cut]), (males[cut:], females[cut:])
    indices = np.array([*train[0], *train[1], *test[0], *test[1]], dtype=np.intp)
    is_train = np.arange(indices.size) < len(train[0]) + len(train[1])
    male = np.concatenate([np.full(len(side), index == 0) for part in (train, test) for index, side in enumerate(part)])
    cosines = compute_cosines(matrix, indices)[:, is_train]
    predicted = predict_sides(matrix[indices[is_train]], cosines, male, is_train)
    return indices[~is_train], predicted == male[~is_train]


def order_by_bias(indices: NDArray[np.intp], gender: Contrast) -> NDArray[np.intp]:
    """Some words, the most female first."""
    return indices[np.argsort(gender.bias[indices], kind="stable")]


def shuffle_tensor_rows(rows: list[Any], generator: random.Random) -> list[Any]:
    """Shuffle in place as `random.shuffle` does a tensor: row i becomes a copy of row j, and row j stays."""
    for index in reversed(range(1, len(rows))):
        rows[index] = rows[generator._randbelow(index + 1)]  # type: ignore[attr-defined]
    return rows


def list_word_tests(items: pd.DataFrame) -> list[WordTest]:
    """The three tests of the papers' tables."""
    clustered, professions = items[items["side"] != ""], items[items["male_neighbours"].notna()]
    asked, words = int(items["asked"].sum()), str(items["words"].iloc[0])
    results = {
        "clustering": (len(clustered), float((clustered["side"] == clustered["cluster"]).mean())),
        "neighbours": (len(professions), pearson(professions["put_down"], professions["male_neighbours"])),
        "classification": (asked, items["right"].sum() / asked if asked else np.nan),
    }
    return [
        WordTest(name=name, words=words, removed=False, n=n, value=None if np.isnan(value) else float(value))
        for name, (n, value) in results.items()
        if n
    ]
