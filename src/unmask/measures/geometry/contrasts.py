"""Unrelated contrasts: what the tests give for contrasts that have nothing to do with gender.

The words that lie farthest out along a direction form two clusters, have neighbours of their own kind and can be
separated *whatever the direction*, because they were chosen for it. So a value means something only in comparison with
the values of unrelated contrasts. Such a contrast is between two groups of one to eight words of the same vocabulary,

- two neighbourhoods: a word with its nearest neighbours, and another with its own, or
- pairs: words drawn at random, and for each a word that is about as near to it.

Some directions separate more than others: those along which words scatter widely. So from a pool ten times as large,
those contrasts are taken that are most like gender in how similar their ends are (the cosine of the groups' means) and
how widely all words scatter along them.

Words that were chosen in one model lie less far out in any other, even in one with another seed, so any change of a
model makes them harder to separate. A loss therefore says something about gender only where it exceeds the losses of
the words that were most extreme along unrelated contrasts of the model before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unmask.measures.geometry import CONTRASTS, Reference
from unmask.measures.geometry.space import Contrast, Space
from unmask.measures.geometry.word_tests import NEIGHBOURS, NearestWords, find_neighbours, run_tests
from unmask.models.roles import Progress
from unmask.statistics.erasure import normalise_rows

POOL = 10
GROUP_SIZES = (1, 2, 4, 8)
LIKENESS_UNIT, SPREAD_UNIT = 0.1, 0.2
"""A likeness that differs by the first counts as much as a spread that differs by a factor of e to the second."""
BATCH = 256
EXAMPLES = 5
THREADS = 2
"""The threads of numerical libraries do not pay for so few rows."""
FEWEST_PROFESSIONS = 10

Stereotypes = Mapping[str, float | None]
"""Professions with their stereotype from −1 (female) to 1 (male); None if it is unknown."""
Groups = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The indices of two groups of words."""


@dataclass(frozen=True)
class References:
    """The values of unrelated contrasts by test and by whether the direction was removed."""

    values: dict[tuple[str, bool], NDArray[np.float64]]
    examples: list[str] = field(default_factory=list)
    """Some of the contrasts, by their words."""

    def compare(self, name: str, value: float | None, *, removed: bool) -> Reference | None:
        """Compare a value of gender with those of the contrasts in the same test."""
        return compare_value(self.values.get((name, removed)), value)


def compare_value(values: ArrayLike | None, value: float | None, *, two_sided: bool = False) -> Reference | None:
    """Compare a value of gender with those of unrelated contrasts; None if there is nothing to compare.

    p is the share of contrasts, including gender, that reach the value; if two-sided, twice that of the smaller tail.
    """
    finite = np.asarray([] if values is None else values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if value is None or not finite.size:
        return None
    low, high = np.quantile(finite, [0.025, 0.975])
    above, below = int((finite >= value - 1e-12).sum()), int((finite <= value + 1e-12).sum())
    p_value = (1 + above) / (1 + finite.size)
    if two_sided:
        p_value = min(1.0, 2 * (1 + min(above, below)) / (1 + finite.size))
    return Reference(
        contrasts=int(finite.size),
        mean=float(finite.mean()),
        low=float(low),
        high=float(high),
        p_value=p_value,
        values=[float(number) for number in finite],
    )


def find_nearest_words(space: Space, professions: Stereotypes) -> NearestWords | None:
    """The neighbours of the professions; None if there are too few professions or words."""
    indices = space.indices(list(professions))
    if indices.size < FEWEST_PROFESSIONS or len(space.words) <= 2 * NEIGHBOURS:
        return None
    return find_neighbours(space.matrix, indices)


@contextmanager
def start_contrasts(
    space: Space,
    nearest_words: NearestWords | None,
    *,
    seed: int,
    count: int = CONTRASTS,
    progress: Progress | None = None,
) -> Iterator[Callable[[], References]]:
    """Test unrelated contrasts in threads, with and without their own direction; yields what waits for the values."""
    for module in ("cluster", "manifold", "metrics", "svm"):  # an import that threads begin together can fail
        import_module(f"sklearn.{module}")
    contrasts = draw_contrasts(space, seed=seed, count=count)

    def run_both(contrast: Contrast) -> dict[tuple[str, bool], float]:
        return {
            (name, removed): value
            for removed in (False, True)
            for name, value in run_tests(space.matrix, contrast, nearest_words, seed=seed, removed=removed).items()
        }

    def collect() -> References:
        results = []
        for result in finished:
            results.append(result)
            if progress:
                progress(len(results), count)
        examples = [_describe_contrast(space.words, contrast) for contrast in contrasts[:EXAMPLES]]
        return References({key: np.array([result[key] for result in results]) for key in results[0]}, examples)

    pool = ThreadPoolExecutor(THREADS)
    try:
        finished = pool.map(run_both, contrasts)
        yield collect
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupted audit starts no more work


def compute_losses(
    before: Space,
    after: Space,
    professions: Stereotypes,
    *,
    seed: int,
    count: int = CONTRASTS,
    progress: Progress | None = None,
) -> dict[str, NDArray[np.float64]]:
    """The change of each test for unrelated contrasts of the model before. Both spaces have the same words."""
    nearest_words = [find_nearest_words(space, professions) for space in (before, after)]
    losses = []
    for contrast in draw_contrasts(before, seed=seed, count=count):
        values_before, values_after = (
            run_tests(space.matrix, contrast, near, seed=seed, removed=False)
            for space, near in zip((before, after), nearest_words, strict=True)
        )
        losses.append({name: values_after[name] - value for name, value in values_before.items()})
        if progress:
            progress(len(losses), count)
    return {name: np.array([loss[name] for loss in losses]) for name in losses[0]}


def draw_contrasts(space: Space, *, seed: int, count: int = CONTRASTS) -> list[Contrast]:
    """The unrelated contrasts that are most like the gender contrast of a space."""
    return select_contrasts(
        space.matrix, likeness=space.likeness, spread=float(space.gender.bias.std()), seed=seed, count=count
    )


def select_contrasts(
    matrix: NDArray[np.floating], *, likeness: float, spread: float, seed: int, count: int
) -> list[Contrast]:
    """The contrasts of a random pool whose ends and scatter are most like the given ones."""
    pool = _draw_pool(matrix, POOL * count, np.random.default_rng(seed))
    likenesses, spreads = np.empty(len(pool)), np.empty(len(pool))
    for start in range(0, len(pool), BATCH):
        batch = pool[start : start + BATCH]
        ends = [np.stack([matrix[group].mean(axis=0) for group in side]) for side in zip(*batch, strict=True)]
        likenesses[start : start + len(batch)] = (normalise_rows(ends[0]) * normalise_rows(ends[1])).sum(axis=1)
        directions = normalise_rows(ends[0] - ends[1]).astype(matrix.dtype)
        spreads[start : start + len(batch)] = (matrix @ directions.T).std(axis=0)
    spread_ratios = np.log(np.maximum(spreads, 1e-12) / spread)
    distances = ((likenesses - likeness) / LIKENESS_UNIT) ** 2 + (spread_ratios / SPREAD_UNIT) ** 2
    contrasts = []
    for index in np.argsort(distances, kind="stable")[:count]:
        first, second = (matrix[group].mean(axis=0, dtype=np.float64) for group in pool[index])
        direction = normalise_rows((first - second)[None])[0]
        bias = (matrix @ direction.astype(matrix.dtype)).astype(np.float64)
        contrasts.append(Contrast(direction, bias, np.concatenate(pool[index])))
    return contrasts


def _draw_pool(matrix: NDArray[np.floating], count: int, rng: np.random.Generator) -> list[Groups]:
    """Contrasts of both kinds, half of each, between words that range from neighbours to the farthest."""
    pool: list[Groups] = []
    words = matrix.shape[0]
    while len(pool) < count:
        size = int(rng.choice(GROUP_SIZES))
        rank = int(np.exp(rng.uniform(0, np.log(words - 1))))
        if rng.random() < 0.5:
            anchor = rng.integers(words, size=1)
            partner = _find_ranked(matrix, anchor, rank)
            groups = _find_nearest(matrix, int(anchor[0]), size), _find_nearest(matrix, int(partner[0]), size)
        else:
            anchors = rng.choice(words, size=size, replace=False)
            groups = anchors, _find_ranked(matrix, anchors, rank)
        if np.unique(np.concatenate(groups)).size == 2 * size:
            pool.append(groups)
    return pool


def _find_ranked(matrix: NDArray[np.floating], anchors: NDArray[np.intp], rank: int) -> NDArray[np.intp]:
    """For each word, the word at a rank of nearness to it."""
    near = matrix[anchors] @ matrix.T
    near[np.arange(len(anchors)), anchors] = np.inf
    return np.argpartition(-near, rank, axis=1)[:, rank]


def _find_nearest(matrix: NDArray[np.floating], anchor: int, count: int) -> NDArray[np.intp]:
    """A word and those nearest to it, `count` in all."""
    near = matrix @ matrix[anchor]
    near[anchor] = np.inf
    return np.argpartition(-near, count)[:count]


def _describe_contrast(words: Sequence[str], contrast: Contrast) -> str:
    first, second = (", ".join(words[index] for index in group[:3]) for group in np.split(contrast.excluded, 2))
    more = "…" if contrast.excluded.size > 6 else ""
    return f"{first}{more} / {second}{more}"
