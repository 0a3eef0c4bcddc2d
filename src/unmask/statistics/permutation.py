"""Permutation tests: two groups of values, the word embedding association test (WEAT), and shares of variance.

**Partition test** (`partition_test`): is one group of values higher than the other? With values v₁ … v_N, of which the
first n are one group, centred on their mean, and T = v₁ + … + v_n:

    greater      p = #{groups of n whose sum ≥ T} / C(N, n)
    two-sided    p = #{groups of n whose |sum| ≥ |T|} / C(N, n)

For a given n the sum of a group orders groups as the difference of the two means does, so p is that of either, and
groups may differ in size. The observed group is one of those counted: p is never zero (Pitman 1937).

All groups are counted without visiting them. Values are cut in two halves, and the 2^(N/2) sums of each half are sorted
by size of group; a sum of one half then needs one search in the other (Horowitz and Sahni 1974). So the 12,870 groups
of 8 + 8 take less than a thousandth of a second, and the 1.4 · 10¹¹ of 20 + 20 half a second. Beyond 40 values, groups
are drawn at random, and the observed one is counted with them: p = (1 + reached) / (1 + drawn).

**WEAT** (`weat`; Caliskan, Bryson and Narayanan 2017), on vectors of any kind: do the targets X go with the attributes
A, and Y with B? With cos the cosine of two vectors, and for each target w

    s(w) = mean cos(w, a) over A − mean cos(w, b) over B

the statistic is Σ s over X − Σ s over Y, and the effect size

    d = (mean s over X − mean s over Y) / sd of s over X and Y together (n − 1 in the denominator)

It is not Cohen's d: the spread includes the distance between the sets, so |d| stays below √(N(N − 1)/(n_x n_y)), which
is 1.94 for 8 + 8. It is the point-biserial correlation r of s with the set, times that bound. p is that of all ways to
divide the targets into sets of these sizes.

The interval is over other targets like these: that of Student's t with its noncentrality λ (Hedges and Olkin 1985),

    t = r √((N − 2)/(1 − r²))     λ₁, λ₂: P(T ≤ t | λ) = .975, .025     ρ = λ/√(N + λ²)

times the bound. It assumes that s is normal with the same spread in both sets. The attributes are fixed: it says
nothing about other attributes. docs/statistics.md gives its coverage, and says why it is not a bootstrap.

With sentences in place of words it is SEAT (May et al. 2019). Sentences with the same word are not independent: give
one vector per word, the mean of its sentences, or p is far too small.

**Shares of variance** (`variance_shares`): how much of the variance of a table do its rows explain? With values y of
rows i (models) and columns j (conditions), and d = y − the mean of the column:

    columns = Σ (column mean − mean)² / Σ (y − mean)²
    rows = Σᵢ nᵢ · (mean of d in row i)² / Σ (y − mean)²        rest = 1 − rows − columns

A share is above zero by chance alone, so it is compared with its value when the rows are shuffled within each block of
columns: columns that were measured on the same thing (one trained model) are a block and stay together, since they are
similar whatever the row. If rows make no difference, every such shuffle was as likely as what was observed.

E. J. G. Pitman (1937). Significance tests which may be applied to samples from any populations. Supplement to the
Journal of the Royal Statistical Society 4, 119–130. E. Horowitz and S. Sahni (1974). Computing partitions with
applications to the knapsack problem. Journal of the ACM 21, 277–292. A. Caliskan, J. J. Bryson and A. Narayanan (2017).
Semantics derived automatically from language corpora contain human-like biases. Science 356, 183–186. L. V. Hedges and
I. Olkin (1985). Statistical methods for meta-analysis. C. May, A. Wang, S. Bordia, S. R. Bowman and R. Rudinger (2019).
On measuring social biases in sentence encoders. NAACL-HLT, 622–628.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from unmask.errors import UnmaskError, check_choice
from unmask.statistics.jackknife import LEVEL

ALTERNATIVES = ("greater", "two-sided")
MOST_EXACT = 40
"""Values up to which all groups are counted."""
TIED = 1e-9
"""Sums that differ by no more than this share of all deviations together are equal."""
DRAWN_AT_ONCE = 2**20


@dataclass(frozen=True)
class Partitions:
    """The result of a partition test."""

    p_value: float
    partitions: int
    """How many groups p counts, the observed one among them."""
    exact: bool
    """Whether these are all groups that there are."""


def partition_test(
    values: ArrayLike, size: int, *, alternative: str = "greater", samples: int = 100_000, seed: int, error: float = 0.0
) -> Partitions:
    """Test the first `size` values against the others; `error` is how far rounding may have moved a value."""
    check_choice(alternative, ALTERNATIVES, "alternative")
    if samples < 1:
        raise UnmaskError(f"{samples} samples are too few to draw from; give at least 1")
    v = np.asarray(values, dtype=float)
    v = v - v.mean()
    tolerance = TIED * float(np.abs(v).sum()) + error * v.size
    sign = -1.0 if alternative == "two-sided" and v[:size].sum() < 0 else 1.0
    least = sign * float(v[:size].sum()) - tolerance
    sides = (v, -v) if alternative == "two-sided" else (v,)
    if v.size <= MOST_EXACT:
        total = math.comb(v.size, size)
        reached = sum(_count_groups(side, size, least) for side in sides)
        return Partitions(min(1.0, reached / total), total, True)  # a sum near zero reaches both ways
    sums = _draw_sums(v, size, samples, seed)
    drawn = int((np.abs(sums) >= least).sum() if len(sides) == 2 else (sums >= least).sum())
    return Partitions((1 + drawn) / (1 + samples), 1 + samples, False)


def _count_groups(values: NDArray[np.float64], size: int, least: float) -> int:
    """How many groups of `size` have a sum of at least `least`."""
    half = values.size // 2
    left, right = _sum_groups(values[:half]), _sum_groups(values[half:])
    count = 0
    for left_size, sums in enumerate(left):
        if 0 <= size - left_size < len(right):
            right_sums = right[size - left_size]
            count += sums.size * right_sums.size - int(np.searchsorted(right_sums, least - sums[::-1]).sum())
    return count


def _sum_groups(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The sums of all groups of the values, sorted, by the size of the group."""
    sums, sizes = np.zeros(1), np.zeros(1, dtype=np.int8)
    for value in values:
        sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1])
    return [np.sort(sums[sizes == size]) for size in range(values.size + 1)]


def _draw_sums(values: NDArray[np.float64], size: int, samples: int, seed: int) -> NDArray[np.float64]:
    """The sums of groups that are drawn at random, a batch at a time."""
    random = np.random.default_rng(seed)
    most = max(1, DRAWN_AT_ONCE // values.size)
    batches = [min(most, samples - start) for start in range(0, samples, most)]
    return np.concatenate(
        [random.permuted(np.tile(values, (count, 1)), axis=1)[:, :size].sum(axis=1) for count in batches]
    )


Array = NDArray[np.float64]
ROUNDING = 1e-12
"""Associations that differ by no more than this are equal: cosines are of the order of 1."""
FEWEST_TARGETS = 2
"""Targets that each set must have."""
LARGEST_T = 1000.0
"""Beyond it there is next to no spread within the sets, and no interval."""


@dataclass(frozen=True, eq=False)
class Weat:
    """The result of a WEAT. Above zero, x goes with a and y with b."""

    effect_size: float | None
    """None where all targets have the same association: nothing to measure the difference by."""
    p_value: float
    statistic: float
    """The sum over x minus the sum over y; with sets of different sizes it is not zero where there is no difference."""
    interval: tuple[float, float] | None
    """95 %, over other targets; None where the effect size is, or where the sets have no spread within."""
    n_x: int
    n_y: int
    alternative: str
    partitions: int
    """How many ways to divide the targets p counts, the observed one among them."""
    exact: bool
    """Whether these are all that there are."""
    x: Array = field(repr=False)
    """The association of each target of x: its mean cosine with a minus that with b."""
    y: Array = field(repr=False)
    """The same of y."""


def weat(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: str = "greater",
    samples: int = 100_000,
    seed: int = 42,
) -> Weat:
    """Run the word embedding association test (WEAT, Caliskan et al. 2017).

    It asks whether the targets x go with the attributes a, and the targets y with the attributes b. Here x are words of
    science, y words of art, a male words and b female words:

        >>> import unmask
        >>> x = [[0.9, 0.1, 0.3], [0.8, 0.2, 0.1], [0.7, 0.0, 0.4]]  # math, algebra, geometry
        >>> y = [[0.2, 0.9, 0.1], [0.1, 0.7, 0.3], [0.3, 0.8, 0.2]]  # poetry, dance, art
        >>> a, b = [[1.0, 0.2, 0.2], [0.9, 0.1, 0.0]], [[0.1, 1.0, 0.1], [0.2, 0.9, 0.2]]  # he, man; she, woman
        >>> test = unmask.weat(x, y, a, b)
        >>> round(test.effect_size, 2), test.p_value, test.partitions
        (1.82, 0.05, 20)

    For a contextual model, give one vector per word, such as the mean over its sentences. Several vectors of one word
    are not independent targets and make the p-value far too small.

    Args:
        x: Vectors of the first targets, one per row. All vectors come from the same model.
        y: Vectors of the second targets.
        a: Vectors of the first attributes.
        b: Vectors of the second attributes.
        alternative: `greater`, or `two-sided` if no direction was expected.
        samples: The number of random partitions if there are more than 40 targets. Up to 40, the test is exact.
        seed: Seed of the partitions.

    Returns:
        The test. `effect_size` is above zero if x goes with a and y with b, and is at most 1.94 for 8 + 8 targets.
        `p_value` is the share of all partitions of the targets (here 20) that reach this difference, so that it is at
        least 1/20 for 3 + 3 targets. `interval` is for other targets, with the same attributes. `x` and `y` are the
        associations of the single targets.
    """
    units = _normalise_sets({"x": x, "y": y, "a": a, "b": b})
    axis = units["a"].mean(axis=0) - units["b"].mean(axis=0)
    of_x, of_y = units["x"] @ axis, units["y"] @ axis
    associations = np.concatenate([of_x, of_y])
    test = partition_test(associations, of_x.size, alternative=alternative, samples=samples, seed=seed, error=ROUNDING)
    effect = None
    if np.ptp(associations) > ROUNDING:
        effect = float((of_x.mean() - of_y.mean()) / associations.std(ddof=1))
    return Weat(
        effect_size=effect,
        p_value=test.p_value,
        statistic=float(of_x.sum() - of_y.sum()),
        interval=None if effect is None else effect_interval(effect, of_x.size, of_y.size),
        n_x=of_x.size,
        n_y=of_y.size,
        alternative=alternative,
        partitions=test.partitions,
        exact=test.exact,
        x=of_x,
        y=of_y,
    )


def effect_interval(effect_size: float, n_x: int, n_y: int, *, level: float = LEVEL) -> tuple[float, float] | None:
    """The interval of an effect size over other targets; None where it is as large as it can be."""
    n = n_x + n_y
    bound = float(np.sqrt(n * (n - 1) / (n_x * n_y)))
    r = effect_size / bound
    unexplained = 1 - r * r
    if unexplained <= 0 or (n - 2) * r * r >= LARGEST_T**2 * unexplained:
        return None
    t = r * float(np.sqrt((n - 2) / unexplained))
    low, high = (float(special.nctdtrinc(n - 2, share, t)) for share in (1 - level / 2, level / 2))
    return low / float(np.sqrt(n + low * low)) * bound, high / float(np.sqrt(n + high * high)) * bound


def _normalise_sets(sets: dict[str, ArrayLike]) -> dict[str, Array]:
    """The vectors of each set at length 1; raises an error for anything else."""
    rows = {name: _check_vectors(name, table) for name, table in sets.items()}
    for name in ("x", "y"):
        if len(rows[name]) < FEWEST_TARGETS:
            raise UnmaskError(
                f"{name} has {len(rows[name])} vectors; give each set of targets at least {FEWEST_TARGETS}"
            )
    width = rows["x"].shape[1]
    for name, vectors in rows.items():
        if vectors.shape[1] != width:
            raise UnmaskError(
                f"x has vectors of {width} dimensions and {name} of {vectors.shape[1]}; take all from the same model"
            )
    return {name: vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for name, vectors in rows.items()}


def _check_vectors(name: str, vectors: Any) -> Array:
    try:
        rows = np.asarray(vectors)
        if rows.dtype.kind not in "fiu":
            raise ValueError
        rows = rows.astype(np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise UnmaskError(f"{name} is no table of numbers; give vectors as rows, all of the same length") from None
    if rows.ndim != 2 or not rows.size:
        raise UnmaskError(f"{name} has the shape {rows.shape}; give at least one vector, and vectors as rows")
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if wrong.size:
        raise UnmaskError(
            f"{name} has NaN or infinity in {wrong.size} vectors, first in row {wrong[0]}; leave them out"
        )
    largest = np.abs(rows).max(axis=1, keepdims=True)  # so that no square is too large or too small
    zeros = np.flatnonzero(largest == 0)
    if zeros.size:
        raise UnmaskError(
            f"{name} has {zeros.size} vectors of zeros, first in row {zeros[0]}; they have no cosine: leave them out"
        )
    scaled: Array = rows / largest
    return scaled


SHUFFLES = 9_999


@dataclass(frozen=True)
class VarianceShares:
    """Shares of the variance, what the rows' share is by chance, and how likely so large a share is by chance."""

    rows: float
    columns: float
    rest: float
    chance: float
    p_value: float


def variance_shares(
    table: ArrayLike, blocks: Sequence[str], *, seed: int, draws: int = SHUFFLES
) -> VarianceShares | None:
    """Split the variance; NaN marks a missing value.

    There is no answer (None) with fewer than two rows or columns that hold a value, with a single value in each row,
    or where all values are equal.
    """
    y = np.asarray(table, dtype=float)
    present = ~np.isnan(y)
    y, names = y[present.any(axis=1)][:, present.any(axis=0)], np.asarray(blocks)[present.any(axis=0)]
    present = ~np.isnan(y)
    if min(y.shape) < 2 or present.sum(axis=1).max() < 2:
        return None
    means = np.where(present, y, 0).sum(axis=0) / present.sum(axis=0)
    grand = float(y[present].mean())
    total = float(((y[present] - grand) ** 2).sum())
    if total <= 1e-24 * max(1.0, grand**2):
        return None
    centred = np.where(present, y - means, 0)
    seen = _between(centred.sum(axis=1), present.sum(axis=1)) / total
    random = np.random.default_rng(seed)
    sums, counts = np.zeros((draws, len(y))), np.zeros((draws, len(y)))
    for name in dict.fromkeys(names.tolist()):
        selected = names == name
        order = random.permuted(np.tile(np.arange(len(y)), (draws, 1)), axis=1)
        sums += centred[:, selected].sum(axis=1)[order]
        counts += present[:, selected].sum(axis=1)[order]
    drawn = _between(sums, counts) / total
    reached = int((drawn >= seen * (1 - 1e-9)).sum())
    columns = float((present.sum(axis=0) * (means - grand) ** 2).sum()) / total
    return VarianceShares(
        float(seen), columns, max(0.0, 1 - float(seen) - columns), float(drawn.mean()), (reached + 1) / (draws + 1)
    )


def _between(sums: Array, counts: NDArray[np.float64] | NDArray[np.intp]) -> Array:
    """The sum of squares of the rows' means, each as often as it has values."""
    squares: Array = np.divide(sums**2, counts, out=np.zeros(np.shape(sums)), where=counts > 0).sum(axis=-1)
    return squares
