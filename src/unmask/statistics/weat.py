"""The word embedding association test, WEAT (Caliskan, Bryson and Narayanan 2017), on vectors of any kind.

Do the targets X go with the attributes A, and Y with B? With cos the cosine of two vectors, and of each target w

    s(w) = mean cos(w, a) over A − mean cos(w, b) over B

the statistic is Σ s over X − Σ s over Y, and the effect size

    d = (mean s over X − mean s over Y) / sd of s over X and Y together (n − 1 below the line)

It is no Cohen's d: the spread includes what lies between the sets, so that |d| stays below √(N(N − 1)/(n_x n_y)), which
is 1.94 for 8 + 8. It is the point-biserial correlation r of s with the set, times that bound. p is that of all ways
to divide the targets into sets of these sizes (`partitions`).

The interval is of other targets like these: that of Student's t with its noncentrality λ (Hedges and Olkin 1985),

    t = r √((N − 2)/(1 − r²))     λ₁, λ₂: P(T ≤ t | λ) = .975, .025     ρ = λ/√(N + λ²)

times the bound. It supposes that s scatters normally and alike in both sets. The attributes are taken as they are: it
says nothing of other attributes. How often it is right is in docs/statistics.md, and so is why it is no bootstrap.

With sentences in place of words it is SEAT (May et al. 2019). Sentences with the same word are no draws of their own:
give one vector a word, the mean of its sentences, else p is far too small.

A. Caliskan, J. J. Bryson and A. Narayanan (2017). Semantics derived automatically from language corpora contain
human-like biases. Science 356, 183–186. L. V. Hedges and I. Olkin (1985). Statistical methods for meta-analysis.
C. May, A. Wang, S. Bordia, S. R. Bowman and R. Rudinger (2019). On measuring social biases in sentence encoders.
NAACL-HLT, 622–628.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from unmask.errors import UnmaskError
from unmask.statistics.partitions import partition_test

Array = NDArray[np.float64]
ROUNDING = 1e-12
"""Associations that differ by no more than this are equal: cosines are of the order of 1."""
FEWEST = 2
"""Targets that each set must have."""
LARGEST_T = 1000.0
"""Beyond it there is next to no spread within the sets, and no interval."""


@dataclass(frozen=True, eq=False)
class Weat:
    """What came of a test. Above zero, x goes with a and y with b."""

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
    """Do the targets x go with the attributes a, and y with b? The word embedding association test (Caliskan 2017).

    Each of the four is a table of vectors, one a row, all from the same model. Say x holds the vectors of *math* and
    *algebra* (and more), y those of *poetry* and *dance*, a those of *he* and *man*, b those of *she* and *woman*:

        >>> import unmask
        >>> x = [[0.9, 0.1, 0.3], [0.8, 0.2, 0.1], [0.7, 0.0, 0.4]]  # math, algebra, geometry
        >>> y = [[0.2, 0.9, 0.1], [0.1, 0.7, 0.3], [0.3, 0.8, 0.2]]  # poetry, dance, art
        >>> a, b = [[1.0, 0.2, 0.2], [0.9, 0.1, 0.0]], [[0.1, 1.0, 0.1], [0.2, 0.9, 0.2]]  # he, man; she, woman
        >>> test = unmask.weat(x, y, a, b)
        >>> round(test.effect_size, 2), test.p_value, test.partitions
        (1.82, 0.05, 20)

    How to read it: `effect_size` is above zero where x goes with a and y with b, and at most 1.94 for 8 + 8 targets.
    `p_value` is the share of all ways to divide the targets into two sets like x and y (here 20) that reach this
    difference: 1/20 is as small as three words a set allow. The `interval` is of other targets like these, with the
    attributes as they are. `x` and `y` are the associations of the single targets: look which words do it.

    `alternative` is greater, or two-sided where no direction was expected. Up to 40 targets p is exact; beyond,
    `samples` are drawn with `seed`. For contextual models give one vector a word, the mean over its sentences: several
    vectors of a word are no independent targets, and make p far too small.
    """
    units = _units({"x": x, "y": y, "a": a, "b": b})
    axis = units["a"].mean(axis=0) - units["b"].mean(axis=0)
    of_x, of_y = units["x"] @ axis, units["y"] @ axis
    both = np.concatenate([of_x, of_y])
    test = partition_test(both, of_x.size, alternative=alternative, samples=samples, seed=seed, error=ROUNDING)
    effect = None
    if np.ptp(both) > ROUNDING:
        effect = float((of_x.mean() - of_y.mean()) / both.std(ddof=1))
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


def effect_interval(effect_size: float, n_x: int, n_y: int, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """The interval of an effect size over other targets; None where it is as large as it can be."""
    n = n_x + n_y
    bound = float(np.sqrt(n * (n - 1) / (n_x * n_y)))
    r = effect_size / bound
    unexplained = 1 - r * r
    if unexplained <= 0 or (n - 2) * r * r >= LARGEST_T**2 * unexplained:
        return None
    t = r * float(np.sqrt((n - 2) / unexplained))
    tail = (1 - confidence) / 2
    low, high = (float(special.nctdtrinc(n - 2, share, t)) for share in (1 - tail, tail))
    return low / float(np.sqrt(n + low * low)) * bound, high / float(np.sqrt(n + high * high)) * bound


def _units(sets: dict[str, ArrayLike]) -> dict[str, Array]:
    """The vectors of each set at length 1; what is no set of vectors is refused."""
    rows = {name: _rows(name, given) for name, given in sets.items()}
    for name in ("x", "y"):
        if len(rows[name]) < FEWEST:
            raise UnmaskError(f"{name} has {len(rows[name])} vectors; give each set of targets at least {FEWEST}")
    width = rows["x"].shape[1]
    for name, one in rows.items():
        if one.shape[1] != width:
            raise UnmaskError(
                f"x has vectors of {width} dimensions and {name} of {one.shape[1]}; take all from the same model"
            )
    return {name: one / np.linalg.norm(one, axis=1, keepdims=True) for name, one in rows.items()}


def _rows(name: str, given: Any) -> Array:
    try:
        rows = np.asarray(given)
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
