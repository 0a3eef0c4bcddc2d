"""First half: put a space to the tests; what came of it for each word are the items.

For a debiased model the method demands the words that were most biased in the *original* model, and their bias there;
`Chosen` says by whose bias words are chosen. Only for its own words can the direction be taken out: that of another
model is no direction of this space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.geometry import references, tests
from unmask.measures.geometry.cluster_counts import Details, details_of
from unmask.measures.geometry.contrast import CONTRASTS, Contrast
from unmask.measures.geometry.mapping import drawn
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import Sizes, Sorted
from unmask.models.roles import Progress

if TYPE_CHECKING:
    import pandas as pd

Stereotypes = Mapping[str, float | None]
"""Professions, each with its stereotype as people see it (from −1, female, to 1, male) where that is known."""

OWN = "own"
SIDES = np.array(["female", "male"])
FEWEST_PROFESSIONS = 10


@dataclass(frozen=True)
class Chosen:
    """By whose bias words are chosen."""

    name: str
    words: list[str]
    gender: Contrast


@dataclass(frozen=True)
class Scored:
    """Items, and what cannot be had from them alone."""

    items: pd.DataFrame
    details: Details


def score(
    space: Space,
    professions: Stereotypes,
    *,
    seed: int,
    contrasts: int = CONTRASTS,
    progress: Progress | None = None,
) -> Scored:
    """Test the words that are most biased in the space itself."""
    sizes = tests.sizes_for(len(space.words))
    nearby = nearby_of(space, professions, sizes)
    found = references.run(space, nearby, sizes, seed=seed, count=contrasts, progress=progress)
    items = place(space, space.gender, OWN, nearby, sizes, seed=seed)
    items["stereotype"] = stereotypes(space, professions)
    items[["x", "y"]] = drawn(space.matrix, space.gender, sizes, seed=seed)
    return Scored(items, details_of(space, sizes, found, seed=seed))


def score_chosen(space: Space, chosen: Chosen, professions: Stereotypes, sizes: Sizes, *, seed: int) -> pd.DataFrame:
    """Test the words that are most biased in another model, which has the same words."""
    if chosen.words != space.words:
        raise UnmaskError(
            f"{chosen.name} was measured with {len(chosen.words):,} words and this model with {len(space.words):,}, not"
            " the same ones; measure both with the same"
        )
    items = place(space, chosen.gender, chosen.name, nearby_of(space, professions, sizes), sizes, seed=seed)
    items["stereotype"] = stereotypes(space, professions)
    items[["x", "y"]] = drawn(space.matrix, chosen.gender, sizes, seed=seed)
    return items


def nearby_of(space: Space, professions: Stereotypes, sizes: Sizes) -> tests.Nearby | None:
    """The neighbours of the professions; None where there are too few, either of them or of words."""
    places = space.places(list(professions))
    if places.size < FEWEST_PROFESSIONS or len(space.words) <= 2 * sizes.neighbours:
        return None
    return tests.nearby(space.matrix, places, sizes.neighbours)


def stereotypes(space: Space, professions: Stereotypes) -> list[float]:
    """How people see each word that is a profession; NaN for the others."""
    known = {word: value for word, value in professions.items() if value is not None}
    return [known.get(word, np.nan) for word in space.words]


def place(
    space: Space, gender: Contrast, name: str, nearby: tests.Nearby | None, sizes: Sizes, *, seed: int
) -> pd.DataFrame:
    """What the tests make of each word."""
    import pandas as pd

    count = len(space.words)
    columns: dict[str, Any] = {"words": name, "word": space.words, "bias": gender.bias}
    texts = ("side", "cluster", "cluster_removed", "probed", "probed_removed", "part", "predicted", "predicted_removed")
    columns |= {column: np.full(count, "", dtype=object) for column in texts}
    columns |= {column: np.full(count, np.nan) for column in ("male_neighbours", "male_neighbours_removed")}
    places, male = tests.sides(gender, sizes.clustered)
    columns["side"][places] = SIDES[male.astype(int)]
    for removed, end in ((None, ""), (gender.direction, "_removed")):
        if removed is not None and name != OWN:
            continue
        clustered = tests.clusters(space.matrix, gender, sizes.clustered, removed=removed)
        columns[f"cluster{end}"][clustered.places] = SIDES[aligned(clustered).astype(int)]
        right = tests.probed(space.matrix, gender, sizes.clustered, seed=seed, removed=removed).right
        columns[f"probed{end}"][places] = SIDES[np.where(right, male, ~male).astype(int)]
        sorted_ = tests.classified(space.matrix, gender, sizes.separated, seed=seed, removed=removed)
        columns[f"predicted{end}"][sorted_.places] = SIDES[sorted_.said.astype(int)]
        columns["part"][np.concatenate(gender.extremes(sizes.separated))] = "train"
        columns["part"][sorted_.places] = SIDES[sorted_.first.astype(int)]
        if nearby is not None:
            columns[f"male_neighbours{end}"][nearby.professions] = tests.sides_nearby(nearby, gender, removed=removed)
    return pd.DataFrame(columns)


def aligned(found: Sorted) -> NDArray[np.bool_]:
    """The clusters, each called by the side that most of it is."""
    return found.said if (found.said == found.first).mean() >= 0.5 else ~found.said
