"""Unrelated contrasts: what the tests give for contrasts that have nothing to do with gender.

The words that lie farthest out along a direction form two clusters, have neighbours of their own kind and can be
separated *whatever the direction*, because they were chosen for it. So a value means something only in comparison with
the values of unrelated contrasts. Such a contrast is between two groups of words of the same vocabulary, made of one to
eight pairs: the first words of the pairs, and the second ones.

The more widely words scatter along a direction, the better they can be separated. So contrasts must be like gender in
how widely all other words scatter along them (their *spread*), and in how similar their ends are (their *likeness*, the
cosine of the two means). Pairs drawn at random scatter words far more widely than gender does in an encoder. Of all
pairs of up to 2,000 words, those are therefore combined from which such contrasts result: if pairs have the cosine c,
and different words m on average, the likeness of a contrast of n pairs is about (c + (n − 1)m) / (1 + (n − 1)m). From a
pool ten times as large, the contrasts are taken that are most like gender. If even these differ from it by more than a
few per cent of its spread, gender is not compared with anything.

With values v of n contrasts and s their standard deviation, 95 % of further contrasts lie within
mean ± t · s · √(1 + 1/n), with n − 1 degrees of freedom. A value of gender outside this range is unusual (p < .05).

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

from unmask.measures.geometry import CONTRASTS, Matching, Reference
from unmask.measures.geometry.space import Contrast, Space
from unmask.measures.geometry.word_tests import NEIGHBOURS, NearestWords, find_neighbours, run_tests
from unmask.models.roles import Progress
from unmask.results import Interval
from unmask.statistics.correlation import pearson
from unmask.statistics.erasure import normalise_rows
from unmask.statistics.jackknife import IntervalEstimate, student_interval

POOL = 10
GROUP_SIZES = (1, 2, 4, 8)
"""How many pairs a contrast may be made of."""
MOST_PAIRED = 2000
"""Of how many words pairs are made; of larger vocabularies, as many are drawn."""
LIKENESS_UNIT, SPREAD_UNIT = 0.1, 0.05
"""A likeness that differs by the first counts as much as a spread that differs by a factor of e to the second."""
MOST_UNLIKE, MOST_WIDE = 0.1, 0.03
"""How far the means of likeness and of the logarithm of spread may be from gender's for a comparison."""
SAME = 1e-6
"""Words whose cosine is within this of 1 have the same vector."""
BATCH = 256
EXAMPLES = 5
THREADS = 2
"""The threads of numerical libraries do not pay for so few rows."""
FEWEST_PROFESSIONS = 10
LEAST = {"clustering": 0.5, "probe": 0.0, "classification": 0.0, "neighbours": -1.0}
"""The lowest value of each word test; the highest is 1."""

Stereotypes = Mapping[str, float | None]
"""Professions with their stereotype from −1 (female) to 1 (male); None if it is unknown."""
Groups = tuple[NDArray[np.intp], NDArray[np.intp]]
"""The indices of two groups of words."""


@dataclass(frozen=True)
class References:
    """The values of unrelated contrasts by test and by whether the direction was removed."""

    values: dict[tuple[str, bool], NDArray[np.float64]]
    """Empty if the contrasts are unlike gender."""
    matching: Matching | None = None
    """How like gender the contrasts are."""
    stereotypes: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """The correlation of professions' positions along each contrast, without its part along gender, with their
    stereotype."""

    def compare(self, name: str, value: float | None, *, removed: bool) -> Reference | None:
        """Compare a value of gender with those of the contrasts in the same test."""
        return compare_value(self.values.get((name, removed)), value, bounds=(LEAST[name], 1.0))


def compare_value(
    values: ArrayLike | None, value: float | None, *, bounds: Interval = (-np.inf, np.inf)
) -> Reference | None:
    """Compare a value of gender with those of unrelated contrasts; None if there is nothing to compare.

    Args:
        values: Of the contrasts.
        value: Of gender.
        bounds: The lowest and the highest value that there can be.
    """
    finite = np.asarray([] if values is None else values, dtype=float)
    finite = finite[np.isfinite(finite)]
    if value is None or not finite.size:
        return None
    mean, difference = float(finite.mean()), predict_difference(finite, value)
    low, high = difference.interval or (value - mean, value - mean)
    return Reference(
        contrasts=int(finite.size),
        mean=mean,
        low=max(bounds[0], value - high),
        high=min(bounds[1], value - low),
        p_value=difference.p_value,
        reached=int((finite >= value - 1e-12).sum()),
        values=[float(number) for number in finite],
    )


def predict_difference(values: ArrayLike, value: float) -> IntervalEstimate:
    """How far a value is from those of unrelated contrasts, with the interval and the test of a prediction.

    With a single contrast, or contrasts that all have the same value, there is a difference alone.
    """
    others = np.asarray(values, dtype=float)
    difference, spread = value - float(others.mean()), float(others.std(ddof=1)) if others.size > 1 else 0.0
    if spread < 1e-9:
        return IntervalEstimate(difference, p_value=1.0 if others.size > 1 and abs(difference) < 1e-9 else None)
    return student_interval(difference, spread * float(np.sqrt(1 + 1 / others.size)), others.size - 1)


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
    professions: Stereotypes | None = None,
    progress: Progress | None = None,
) -> Iterator[Callable[[], References]]:
    """Test unrelated contrasts in threads, with and without their own direction; yields what waits for the values."""
    for module in ("cluster", "manifold", "metrics", "svm"):  # an import that threads begin together can fail
        import_module(f"sklearn.{module}")
    contrasts = draw_contrasts(space, seed=seed, count=count)
    matching = match_contrasts(space, contrasts)
    stereotypes = _correlate_stereotypes(space, contrasts, professions or {})

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
        values = {key: np.array([result[key] for result in results]) for key in results[0]} if results else {}
        return References(values, matching, stereotypes)

    pool = ThreadPoolExecutor(THREADS)
    try:
        finished = pool.map(run_both, contrasts if matching.comparable else [])
        yield collect
    finally:
        pool.shutdown(cancel_futures=True)  # an interrupted audit starts no more work


def _correlate_stereotypes(
    space: Space, contrasts: Sequence[Contrast], professions: Stereotypes
) -> NDArray[np.float64]:
    """The correlation of positions with stereotypes along each contrast, over the professions that have one.

    Without the part of the contrast that lies along gender: what follows stereotypes there is what is looked for.
    """
    rated = {word: value for word, value in professions.items() if value is not None}
    indices = space.indices(list(rated))
    stereotypes = np.array([rated[space.words[index]] for index in indices])
    gender = space.gender
    positions = [
        contrast.bias[indices] - contrast.direction @ gender.direction * gender.bias[indices] for contrast in contrasts
    ]
    values: NDArray[np.float64] = np.array([pearson(position, stereotypes) for position in positions])
    return values[np.isfinite(values)]


def match_contrasts(space: Space, contrasts: Sequence[Contrast]) -> Matching:
    """How like gender the contrasts are."""
    gender = space.gender
    spreads = np.array([contrast.spread for contrast in contrasts])
    likenesses = np.array([contrast.likeness for contrast in contrasts])
    is_like = abs(likenesses.mean() - gender.likeness) <= MOST_UNLIKE
    is_as_wide = abs(float(np.log(spreads / gender.spread).mean())) <= MOST_WIDE if gender.spread > 0 else False
    return Matching(
        contrasts=len(contrasts),
        spread=gender.spread,
        likeness=gender.likeness,
        mean_spread=float(spreads.mean()),
        spreads=(float(spreads.min()), float(spreads.max())),
        mean_likeness=float(likenesses.mean()),
        likenesses=(float(likenesses.min()), float(likenesses.max())),
        comparable=bool(is_like and is_as_wide),
        examples=[_describe_contrast(space.words, contrast) for contrast in contrasts[:EXAMPLES]],
    )


def compute_losses(
    before: Space,
    after: Space,
    professions: Stereotypes,
    *,
    seed: int,
    count: int = CONTRASTS,
    progress: Progress | None = None,
) -> dict[str, NDArray[np.float64]]:
    """The change of each test for unrelated contrasts of the model before; empty if they are unlike gender there.

    Both spaces have the same words.
    """
    contrasts = draw_contrasts(before, seed=seed, count=count)
    if not match_contrasts(before, contrasts).comparable:
        return {}
    nearest_words = [find_nearest_words(space, professions) for space in (before, after)]
    losses = []
    for contrast in contrasts:
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
    gender = space.gender
    return select_contrasts(space.matrix, likeness=gender.likeness, spread=gender.spread, seed=seed, count=count)


def select_contrasts(
    matrix: NDArray[np.floating], *, likeness: float, spread: float, seed: int, count: int
) -> list[Contrast]:
    """The contrasts of a random pool whose ends and scatter are most like the given ones."""
    pool = _draw_pool(matrix, likeness, max(spread, 1e-12), POOL * count, np.random.default_rng(seed))
    likenesses, spreads = np.empty(len(pool)), np.empty(len(pool))
    for start in range(0, len(pool), BATCH):
        batch = pool[start : start + BATCH]
        ends = [np.stack([matrix[group].mean(axis=0) for group in side]) for side in zip(*batch, strict=True)]
        likenesses[start : start + len(batch)] = (normalise_rows(ends[0]) * normalise_rows(ends[1])).sum(axis=1)
        positions = matrix @ normalise_rows(ends[0] - ends[1]).astype(matrix.dtype).T
        for column, groups in enumerate(batch):
            own = positions[np.concatenate(groups), column]
            others = matrix.shape[0] - own.size
            mean = (positions[:, column].sum() - own.sum()) / others
            square = (np.square(positions[:, column]).sum() - np.square(own).sum()) / others
            spreads[start + column] = np.sqrt(max(0.0, square - mean**2))
    distances = _measure_distances(likenesses - likeness, np.log(np.maximum(spreads, 1e-12) / max(spread, 1e-12)))
    contrasts = []
    for index in np.argsort(distances, kind="stable")[:count]:
        first, second = (matrix[group].mean(axis=0, dtype=np.float64) for group in pool[index])
        direction = normalise_rows((first - second)[None])[0]
        bias = (matrix @ direction.astype(matrix.dtype)).astype(np.float64)
        contrasts.append(Contrast(direction, bias, np.concatenate(pool[index]), float(likenesses[index])))
    return contrasts


def _measure_distances(likeness: NDArray[np.floating], spread: NDArray[np.floating]) -> NDArray[np.floating]:
    """How unlike gender contrasts are, by the differences of likeness and of the logarithm of spread."""
    distances: NDArray[np.floating] = (likeness / LIKENESS_UNIT) ** 2 + (spread / SPREAD_UNIT) ** 2
    return distances


def _draw_pool(
    matrix: NDArray[np.floating], likeness: float, spread: float, count: int, rng: np.random.Generator
) -> list[Groups]:
    """Contrasts of one to eight pairs of words, chosen so that likeness and spread are about as wanted."""
    words = np.arange(matrix.shape[0])
    if words.size > MOST_PAIRED:
        words = np.sort(rng.choice(words, MOST_PAIRED, replace=False))
    rows = matrix[words]
    centred = rows - rows.mean(axis=0)
    products = centred @ centred.T
    scatter = products @ products / words.size  # of the rows along each other
    first, second = np.triu_indices(words.size, 1)
    cosines = (rows @ rows.T)[first, second]
    variances = (scatter.diagonal()[first] + scatter.diagonal()[second] - 2 * scatter[first, second]) / np.maximum(
        2 - 2 * cosines, SAME
    ) - (1 - cosines) / matrix.shape[0]  # without the words of the pair
    spread_ratios = 0.5 * np.log(np.maximum(variances, 1e-24) / spread**2)
    is_usable, average, each = cosines < 1 - SAME, float(cosines.mean()), count // len(GROUP_SIZES) + 1
    pool: list[Groups] = []
    for size in GROUP_SIZES:
        wanted = likeness - (size - 1) * average * (1 - likeness)
        distances = np.where(is_usable, _measure_distances(cosines - wanted, spread_ratios), np.inf)
        most = min(distances.size - 1, 2 * each if size > 1 else each)
        best = np.argpartition(distances, most)[:most]
        for index in range(each):
            pairs = rng.choice(best, size=size, replace=False) if size > 1 else best[index % most : index % most + 1]
            is_swapped = rng.random(size) < 0.5
            left, right = (
                np.where(is_swapped, *ends) for ends in ((first[pairs], second[pairs]), (second[pairs], first[pairs]))
            )
            if np.unique(np.concatenate([left, right])).size == 2 * size:
                pool.append((words[left], words[right]))
    return pool


def _describe_contrast(words: Sequence[str], contrast: Contrast) -> str:
    first, second = (", ".join(words[index] for index in group[:3]) for group in np.split(contrast.excluded, 2))
    more = "…" if contrast.excluded.size > 6 else ""
    return f"{first}{more} / {second}{more}"
