"""What a space is, and what cannot be had from its items alone: other contrasts, shuffled probes, more clusters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from unmask.measures.geometry import tests
from unmask.measures.geometry.details import ClusterCount
from unmask.measures.geometry.references import References
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import Sizes
from unmask.statistics.separation import SHUFFLES, Probe, score_many_clusters, score_two_clusters

COUNTS = (2, 3, 4, 5, 6, 8, 10, 15, 20)
STARTS = 10


@dataclass(frozen=True)
class Details:
    """What the analysis of a space needs beside the items."""

    vectors: str
    direction: str
    likeness: float
    dimensions: int
    left_out: dict[str, int]
    missing: list[str]
    references: References
    probes: dict[bool, Probe] = field(default_factory=dict)
    """Without and with the direction taken out, against shuffled labels."""
    scan: list[ClusterCount] = field(default_factory=list)
    as_tight: dict[bool, tuple[float, float]] = field(default_factory=dict)
    """What two clusters give, without and with the direction taken out, from the least to the most of those that are as
    tight as the tightest."""


def details_of(space: Space, sizes: Sizes, references: References, *, seed: int) -> Details:
    """Describe a space."""
    directions = {False: None, True: space.gender.direction}
    return Details(
        space.vectors,
        space.direction,
        space.likeness,
        space.matrix.shape[1],
        space.left_out,
        space.missing,
        references,
        {
            removed: tests.probed(
                space.matrix, space.gender, sizes.clustered, seed=seed, removed=direction, shuffles=SHUFFLES
            )
            for removed, direction in directions.items()
        },
        [
            scanned
            for removed, direction in directions.items()
            for scanned in _scan(space, sizes, removed, direction, seed)
        ],
        {removed: _as_tight(space, sizes, direction) for removed, direction in directions.items()},
    )


def _as_tight(space: Space, sizes: Sizes, direction: tests.Direction) -> tuple[float, float]:
    places, male = tests.sides(space.gender, sizes.clustered)
    found = [
        score_two_clusters(male, said).accuracy for said in tests.two_means(tests.rows(space.matrix, places, direction))
    ]
    return min(found), max(found)


def _scan(space: Space, sizes: Sizes, removed: bool, direction: tests.Direction, seed: int) -> list[ClusterCount]:
    """The most biased words in ever more clusters."""
    places, male = tests.sides(space.gender, sizes.clustered)
    rows = tests.rows(space.matrix, places, direction)
    found = []
    for count in COUNTS:
        said = tests.k_means(rows, count, seed=seed, starts=STARTS)
        separation = score_many_clusters(male, said, seed=seed)
        found.append(
            ClusterCount(
                clusters=int(np.unique(said).size),
                removed=removed,
                accuracy=separation.accuracy,
                v_measure=separation.v_measure,
                chance=separation.chance,
                chance_high=separation.chance_high,
                p_chance=separation.p_value,
            )
        )
    return found
