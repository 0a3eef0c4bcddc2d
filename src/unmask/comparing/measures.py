"""Each measure compared in its own way, for a model before and one after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.comparing import geometry
from unmask.comparing.sides import Subject, key
from unmask.measures import association, crows_pairs, inference, sentiment
from unmask.models.sources import LoadOptions
from unmask.results import Caveat, Comparison, Measurement
from unmask.statistics.corrections import holm

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress

COMPARE = {"crows-pairs": crows_pairs.compare, "inference": inference.compare, "sentiment": sentiment.compare}
"""Measures that correct their p-values and judge their changes themselves."""
FAMILIES = {"stereotype": 0, "difference": 1, "workforce": 1, "mean": 2}
"""Which questions are corrected together."""


def adjusted(comparison: Comparison) -> Comparison:
    """Correct for the number of questions, except where a protocol brought its own correction.

    The stereotype is the main question, and stands alone. The differences within groups and
    the relation to the workforce are corrected together (Holm), and so are the means, which only describe. What is
    compared beside it plays no part: a verdict on a model is about that model.
    """
    families: dict[int, list[str]] = {}
    for name, change in comparison.changes.items():
        if change.p_adjusted is None:
            families.setdefault(FAMILIES[change.labels["contrast"]], []).append(name)
    changes = dict(comparison.changes)
    for names in families.values():
        for name, p in zip(names, holm([changes[name].p_value for name in names]), strict=True):
            changes[name] = changes[name].model_copy(update={"p_adjusted": p})
    return comparison.model_copy(update={"changes": changes})


def compared(
    before: Subject,
    after: Subject,
    caveats: list[Caveat],
    *,
    seed: int,
    loading: LoadOptions,
    progress: Progress | None = None,
) -> list[tuple[Comparison, pd.DataFrame]]:
    """Every corpus that both were measured on, judged; the others are named in a caveat."""
    found = []
    for one in before.result.measurements:
        other = after.measurement(*key(one))
        if other is None:
            caveats.append(_left_out(after, one))
        elif one.name == "geometry":
            found.append(geometry.compare(before, after, one, other, loading=loading, progress=progress))
        else:
            sides = (
                association.Measured(side.name, measurement, side.items(one))
                for side, measurement in ((before, one), (after, other))
            )
            both = COMPARE[one.name](*sides) if one.name in COMPARE else _associated(*sides, seed=seed)
            found.append((both[0], both[1].assign(model=after.name)))
    caveats += [_left_out(before, one) for one in after.result.measurements if before.measurement(*key(one)) is None]
    return found


def _associated(
    before: association.Measured, after: association.Measured, *, seed: int
) -> tuple[Comparison, pd.DataFrame]:
    comparison, items = association.compare(before, after, seed=seed)
    return association.judge(adjusted(comparison)), items


def _left_out(missing: Subject, one: Measurement) -> Caveat:
    text = (
        f"{missing.name} was not measured for {one.name} on {' '.join(filter(None, key(one)[2:]))} ({one.language}),"
        " so that corpus is not compared."
    )
    return Caveat(code="corpus-left-out", text=text)
