"""The tests as the papers' code has them, which is not quite what the papers say.

Bhang et al. (contextual vectors), as their notebooks ran:

- clusters are compared with labels as they are numbered (male 0, female 1), so that 94 % may stand for 6 %;
- a loop over neighbours reuses the name of the loop over professions, so that each profession is put down with the
  bias of its 100th neighbour in place of its own;
- vectors are shuffled as rows of a tensor, where an exchange of two rows makes both the same: about half of the rows
  are left, some of them several times, and some in training and test alike.

Gonen and Goldberg's own code (static vectors) has none of these but the first, with male 1 and female 0.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.measures.geometry import tests
from unmask.measures.geometry.cluster_counts import Details
from unmask.measures.geometry.contrast import Contrast
from unmask.measures.geometry.mapping import drawn
from unmask.measures.geometry.references import References
from unmask.measures.geometry.score import OWN, SIDES, Stereotypes, nearby_of, stereotypes
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import Sizes, sizes_for

if TYPE_CHECKING:
    import pandas as pd

CLUSTER_SEED, SHUFFLE_SEED, STARTS = 1, 10, 10


@dataclass(frozen=True)
class Code:
    """What one paper's code does."""

    male_cluster: int
    """The number of the cluster that counts as male."""
    shadowed: bool
    """Whether a profession is put down with the bias of its last neighbour."""
    duplicates: bool
    """Whether rows are shuffled so that some come twice."""


CONTEXTUAL = Code(male_cluster=0, shadowed=True, duplicates=True)
STATIC = Code(male_cluster=1, shadowed=False, duplicates=False)


def place(
    space: Space, professions: Stereotypes, code: Code, *, gender: Contrast | None = None, words: str = OWN
) -> pd.DataFrame:
    """What the tests make of each word; `gender` chooses the words, and is the space's own if not given."""
    import pandas as pd

    gender = gender or space.gender
    sizes, count = sizes_for(len(space.words)), len(space.words)
    columns: dict[str, Any] = {"words": words, "word": space.words, "bias": gender.bias}
    columns |= {name: np.full(count, "", dtype=object) for name in ("side", "cluster")}
    columns |= {name: np.zeros(count, dtype=int) for name in ("asked", "right")}
    columns |= {name: np.full(count, np.nan) for name in ("male_neighbours", "put_down")}
    places, male = tests.sides(gender, sizes.clustered)
    columns["side"][places] = SIDES[male.astype(int)]
    clusters = tests.k_means(space.matrix[places], 2, seed=CLUSTER_SEED, starts=STARTS)
    columns["cluster"][places] = SIDES[(clusters == code.male_cluster).astype(int)]
    nearby = nearby_of(space, professions, sizes)
    if nearby is not None:
        counted = space.gender.bias if code.shadowed else gender.bias
        ordered = in_order(nearby)
        columns["male_neighbours"][nearby.professions] = (counted[ordered] > 0).mean(axis=1)
        own = counted[nearby.professions]
        columns["put_down"][nearby.professions] = counted[ordered[:, -1]] if code.shadowed else own
    test, right = classified(space.matrix, gender, sizes, duplicates=code.duplicates)
    np.add.at(columns["asked"], test, 1)
    np.add.at(columns["right"], test, right.astype(int))
    frame = pd.DataFrame(columns)
    frame["stereotype"] = stereotypes(space, professions)
    return frame


def on_a_map(items: pd.DataFrame, space: Space, gender: Contrast) -> pd.DataFrame:
    """Items with the places of the most biased words on a map."""
    items[["x", "y"]] = drawn(space.matrix, gender, sizes_for(len(space.words)), seed=CLUSTER_SEED)
    return items


def described(space: Space) -> Details:
    """What the space is; the papers compare with nothing."""
    return Details(
        space.vectors,
        space.direction,
        space.likeness,
        space.matrix.shape[1],
        space.left_out,
        space.missing,
        References({}),
    )


def in_order(nearby: tests.Nearby) -> NDArray[np.intp]:
    """The neighbours of each profession, the nearest first."""
    near = np.take_along_axis(nearby.cosines, nearby.nearest, axis=1)
    return np.take_along_axis(nearby.nearest, np.argsort(-near, axis=1, kind="stable"), axis=1)


def classified(
    matrix: NDArray[np.floating], gender: Contrast, sizes: Sizes, *, duplicates: bool
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The words that the support-vector machine was asked about, some perhaps twice, and whether it was right."""
    shuffled = random.Random(SHUFFLE_SEED)
    train, test = [], []
    for side in gender.extremes(sizes.separated):
        order = exchanged(list(side), shuffled) if duplicates else list(side)
        if not duplicates:
            shuffled.shuffle(order)
        cut = max(1, round(tests.TRAINED * len(order)))
        train.append(order[:cut])
        test.append(order[cut:])
    places = np.array([*train[0], *train[1], *test[0], *test[1]], dtype=np.intp)
    trained = np.arange(places.size) < len(train[0]) + len(train[1])
    male = np.concatenate([np.full(len(part), at == 0) for parts in (train, test) for at, part in enumerate(parts)])
    said = tests.support_vectors(matrix[places[trained]], tests.products(matrix, places), male, trained)
    return places[~trained], said == male[~trained]


def exchanged(rows: list[Any], shuffled: random.Random) -> list[Any]:
    """Shuffle as `random.shuffle` does the rows of a tensor: row i becomes a copy of row j, and row j stays."""
    for i in reversed(range(1, len(rows))):
        rows[i] = rows[shuffled._randbelow(i + 1)]  # type: ignore[attr-defined]
    return rows
