"""What an answer is made of: figures with intervals, corrected together, and the words that follow from them.

With x and y the biases of paired cells, clustered by model (`statistics.clustered`, df = models − 1), so that a finding
must hold for other models:

    difference = mean (x − y)        ratio = exp mean (ln x − ln y)

Absolute biases are compared by their ratio: they differ between models by factors. A bias of 0 has no ratio; its pair
is left out and counted. A test that finds nothing is "no reliable difference", never "no effect"; the interval says
what remains possible. What has no p-value is "not tested".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.results.numbers import interval, number, p_value
from unmask.results.verdict import ALPHA
from unmask.statistics import clustered
from unmask.statistics.corrections import holm
from unmask.statistics.crossed import IntervalEstimate

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "no reliable difference"
UNTESTED = "not tested"


@dataclass(frozen=True)
class Evidence:
    """One figure behind an answer: what it is of, its estimate, and what it is to be seen against."""

    name: str
    estimate: IntervalEstimate
    n: int
    """So many pairs, cells or models."""
    against: str = ""
    """Such as what chance gives, or what was compared."""
    digits: int = 4
    null: float = 0.0
    """What it is where there is no effect."""
    p_adjusted: float | None = None
    clusters: int | None = None
    """So many models or trainings, each of which counts as one draw; None where it is no mean of clusters."""
    left_out: int = 0
    """So many pairs besides that have no ratio."""

    @property
    def tested(self) -> bool:
        """Whether there is a p-value among the tests of its question."""
        return self.p_adjusted is not None

    @property
    def clear(self) -> bool:
        """Whether it is more than chance, among the tests of its question."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA

    @property
    def above(self) -> bool:
        """Whether it lies above what it is without an effect."""
        return self.estimate.value is not None and self.estimate.value > self.null

    @property
    def figures(self) -> str:
        """The estimate and its interval: `0.93 [0.75, 1.17]`."""
        return f"{number(self.estimate.value, self.digits)} {interval(self.estimate.interval, self.digits)}".strip()

    @property
    def gaps(self) -> str:
        """How many pairs were left out, and why; empty if none."""
        return f"{self.left_out} left out, with a bias of 0" if self.left_out else ""

    @property
    def words(self) -> str:
        """The figure as a sentence."""
        aside = "; ".join(filter(None, (self.against, self.gaps)))
        aside = f" ({aside})" if aside else ""
        if self.estimate.value is None:
            return f"{self.name}: {UNTESTED}{aside}."
        said = f"{self.name}: {self.figures}{aside}"
        if self.p_adjusted is None:
            return f"{said}; {UNTESTED}."
        return f"{said}, p {p_value(self.p_adjusted)} after correction{'' if self.clear else f': {NOTHING}'}."


@dataclass(frozen=True)
class Answer:
    """A question of the paper, what it answered, what these cells answer, and why."""

    question: str
    paper: str
    answer: str
    evidence: tuple[Evidence, ...]
    caveat: str


def corrected(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The figures with their p-values adjusted by Holm's method, as the tests of one question."""
    adjusted = holm([one.estimate.p_value for one in evidence])
    return tuple(replace(one, p_adjusted=p) for one, p in zip(evidence, adjusted, strict=True))


def paired(
    cells: pd.DataFrame,
    column: str,
    level: str,
    of: str | int,
    minus: str | int,
    *,
    on: str,
    name: str,
    as_ratio: bool = False,
    cluster: str = "model",
) -> Evidence:
    """Compare `column` between two levels, paired by `cluster` and `on`: by the mean difference, or by the mean ratio.

    A ratio leaves out pairs with a zero, and counts them; the means beside it are of all pairs. No pairs give no
    estimate, one cluster no test.
    """
    wide = cells.pivot(index=[cluster, on], columns=level, values=column).reindex(columns=[of, minus]).dropna()
    against = f"means {number(wide[of].mean(), 4)} and {number(wide[minus].mean(), 4)}" if len(wide) else ""
    kept = wide[(wide > 0).all(axis=1)] if as_ratio else wide
    x, y = (kept[side].to_numpy(dtype=float) for side in (of, minus))
    clusters = kept.index.get_level_values(cluster).to_numpy(dtype=str)
    found = Evidence(
        name, IntervalEstimate(None), len(kept), against, clusters=len(set(clusters)), left_out=len(wide) - len(kept)
    )
    if not as_ratio:
        return replace(found, estimate=clustered.mean(x - y, clusters))
    return replace(found, estimate=_exponential(clustered.mean(np.log(x) - np.log(y), clusters)), digits=2, null=1.0)


def _exponential(logs: IntervalEstimate) -> IntervalEstimate:
    """A ratio from the estimate of its logarithm, whose standard error and test it keeps."""
    if logs.value is None:
        return logs
    between = None if logs.interval is None else (float(np.exp(logs.interval[0])), float(np.exp(logs.interval[1])))
    return replace(logs, value=float(np.exp(logs.value)), interval=between)


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]
