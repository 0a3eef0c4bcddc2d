"""What other contrasts give in the tests, with and without their own direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.measures.geometry import tests
from unmask.measures.geometry.contrast import CONTRASTS, Contrast
from unmask.measures.geometry.details import Reference
from unmask.measures.geometry.others import others
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import Nearby, Sizes
from unmask.models.roles import Progress
from unmask.statistics import separation

T = TypeVar("T")
EXAMPLES = 5
THREADS = 2
NAMES = ("clustering", "probe", "classification", "neighbours")


@dataclass(frozen=True)
class References:
    """The value of each test (by its name, and whether the direction was taken out) for every contrast."""

    values: dict[tuple[str, bool], NDArray[np.float64]]
    examples: list[str] = field(default_factory=list)
    """Some of the contrasts, by the words that they are made of."""

    def beside(self, name: str, value: float | None, *, removed: bool) -> Reference | None:
        """A value of gender's beside those of other contrasts; None where there is nothing to compare."""
        found = self.values.get((name, removed))
        if found is None or value is None:
            return None
        found = found[np.isfinite(found)]
        if not found.size:
            return None
        low, high = np.quantile(found, [0.025, 0.975])
        above = int((found >= value - 1e-12).sum())
        return Reference(
            contrasts=int(found.size),
            mean=float(found.mean()),
            low=float(low),
            high=float(high),
            p_value=(1 + above) / (1 + found.size),
            values=[float(value) for value in found],
        )


def run(
    space: Space,
    nearby: Nearby | None,
    sizes: Sizes,
    *,
    seed: int,
    count: int = CONTRASTS,
    progress: Progress | None = None,
) -> References:
    """Put other contrasts of the same space to the tests."""
    found: dict[tuple[str, bool], list[float]] = {}
    spread = float(space.gender.bias.std())
    contrasts = others(space.matrix, likeness=space.likeness, spread=spread, seed=seed, count=count)

    def both(contrast: Contrast) -> dict[tuple[str, bool], float]:
        return {
            (name, removed): value
            for removed in (False, True)
            for name, value in values(space.matrix, contrast, nearby, sizes, seed=seed, removed=removed).items()
        }

    for done, values_of in enumerate(_side_by_side(both, contrasts), 1):
        for key, value in values_of.items():
            found.setdefault(key, []).append(value)
        if progress:
            progress(done, count)
    examples = [_named(space.words, one) for one in contrasts[:EXAMPLES]]
    return References({key: np.array(numbers) for key, numbers in found.items()}, examples)


def _side_by_side(work: Callable[[Contrast], T], contrasts: Sequence[Contrast]) -> Iterator[T]:
    """What comes of each, in order, two at a time: the library's own threads do not pay for rows as few as these."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        yield from pool.map(work, contrasts)
    finally:
        pool.shutdown(cancel_futures=True)  # where the audit is stopped, nothing more is begun


def _named(words: Sequence[str], contrast: Contrast) -> str:
    """A contrast by its words: those of the first group, and those of the second."""
    first, second = (", ".join(words[at] for at in part[:3]) for part in np.split(contrast.apart, 2))
    more = "…" if contrast.apart.size > 6 else ""
    return f"{first}{more} / {second}{more}"


def values(
    matrix: NDArray[np.floating],
    contrast: Contrast,
    nearby: Nearby | None,
    sizes: Sizes,
    *,
    seed: int,
    removed: bool,
    names: Sequence[str] = NAMES,
) -> dict[str, float]:
    """What each test gives for a contrast."""
    direction = contrast.direction if removed else None
    found = {}
    if "clustering" in names:
        said = tests.clusters(matrix, contrast, sizes.clustered, removed=direction)
        found["clustering"] = separation.score_two_clusters(said.first, said.said).accuracy
    if "probe" in names:
        found["probe"] = tests.probed(matrix, contrast, sizes.clustered, seed=seed, removed=direction).accuracy
    if "classification" in names:
        said = tests.classified(matrix, contrast, sizes.separated, seed=seed, removed=direction)
        found["classification"] = separation.cluster_agreement(said.first, said.said)
    if "neighbours" in names and nearby is not None:
        found["neighbours"] = tests.neighbours(nearby, contrast, removed=direction)
    return found
