"""What other contrasts lose between two models, to compare with what gender loses.

Words that were chosen for lying far out in one model lie less far out in any other, be it only another seed: whatever
changes a model makes them harder to tell apart. So a loss says something of gender only where it is more than what the
words lose that were most extreme along *other* contrasts of the model before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.measures.geometry.contrast import CONTRASTS
from unmask.measures.geometry.details import Reference
from unmask.measures.geometry.others import others
from unmask.measures.geometry.references import values
from unmask.measures.geometry.score import Stereotypes, nearby_of
from unmask.measures.geometry.space import Space
from unmask.measures.geometry.tests import sizes_for
from unmask.models.roles import Progress

Losses = dict[str, NDArray[np.float64]]


def losses(
    before: Space,
    after: Space,
    professions: Stereotypes,
    *,
    seed: int,
    count: int = CONTRASTS,
    progress: Progress | None = None,
) -> Losses:
    """The change of each test, by its name, for every contrast of the model before; both have the same words."""
    sizes = sizes_for(len(before.words))
    nearby = [nearby_of(space, professions, sizes) for space in (before, after)]
    spread = float(before.gender.bias.std())
    found: dict[str, list[float]] = {}
    for done, one in enumerate(
        others(before.matrix, likeness=before.likeness, spread=spread, seed=seed, count=count), 1
    ):
        then, now = (
            values(space.matrix, one, near, sizes, seed=seed, removed=False)
            for space, near in zip((before, after), nearby, strict=True)
        )
        for name in then:
            found.setdefault(name, []).append(now[name] - then[name])
        if progress:
            progress(done, count)
    return {name: np.array(changes) for name, changes in found.items()}


def beside(changes: NDArray[np.float64] | None, change: float | None) -> Reference | None:
    """The change of gender's beside those of other contrasts; p is two-sided."""
    if changes is None or change is None:
        return None
    known = changes[np.isfinite(changes)]
    if not known.size:
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    tails = (int((known <= change + 1e-12).sum()), int((known >= change - 1e-12).sum()))
    return Reference(
        contrasts=int(known.size),
        mean=float(known.mean()),
        low=float(low),
        high=float(high),
        p_value=min(1.0, 2 * (1 + min(tails)) / (1 + known.size)),
        values=[float(one) for one in known],
    )
