"""What an answer is made of: figures with intervals, corrected together, and the words that follow from them.

With x and y the biases of paired cells, clustered by model (`statistics.clustered`, df = models − 1), so that a finding
must hold for other models:

    difference = mean (x − y)        ratio = exp mean (ln x − ln y)

Absolute biases are compared by their ratio: they are above zero, and differ between models by factors. A test that
finds nothing is "no reliable difference", never "no effect"; the interval says what remains possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unmask.results.numbers import interval, number, p_value
from unmask.statistics import clustered
from unmask.statistics.corrections import holm
from unmask.statistics.crossed import Estimate

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.05
NOTHING = "no reliable difference"


@dataclass(frozen=True)
class Evidence:
    """One figure behind an answer: what it is of, its estimate, and what it is to be seen against."""

    name: str
    estimate: Estimate
    n: int
    """So many pairs, cells or models."""
    against: str = ""
    """Such as what chance gives, or what was compared."""
    digits: int = 4
    null: float = 0.0
    """What it is where there is no effect."""
    p_adjusted: float | None = None

    @property
    def clear(self) -> bool:
        """Whether it is more than chance, among the tests of its question."""
        return self.p_adjusted is not None and self.p_adjusted < LEVEL

    @property
    def above(self) -> bool:
        """Whether it lies above what it is without an effect."""
        return self.estimate.value is not None and self.estimate.value > self.null

    @property
    def figures(self) -> str:
        """The estimate and its interval: `0.93 [0.75, 1.17]`."""
        return f"{number(self.estimate.value, self.digits)} {interval(self.estimate.interval, self.digits)}".strip()

    @property
    def words(self) -> str:
        """The figure as a sentence."""
        if self.estimate.value is None:
            return f"{self.name}: not computable."
        said = f"{self.name}: {self.figures}"
        said += f" ({self.against})" if self.against else ""
        if self.p_adjusted is None:
            return f"{said}; not tested."
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
    cells: pd.DataFrame, column: str, level: str, of: str, minus: str, *, on: str, name: str, as_ratio: bool = False
) -> Evidence:
    """Compare `column` between two levels, paired by model and `on`: by the mean difference, or by the mean ratio.

    No pairs, or a ratio to zero, give no estimate.
    """
    wide = cells.pivot(index=["model", on], columns=level, values=column).reindex(columns=[of, minus]).dropna()
    models = wide.index.get_level_values("model").to_numpy(dtype=str)
    x, y = (wide[side].to_numpy(dtype=float) for side in (of, minus))
    against = f"means {number(float(x.mean()), 4)} and {number(float(y.mean()), 4)}" if len(wide) else ""
    if not as_ratio:
        return Evidence(name, clustered.mean(x - y, models), len(wide), against)
    if not (np.minimum(x, y) > 0).all():
        return Evidence(name, Estimate(None), len(wide))
    logs = clustered.mean(np.log(x) - np.log(y), models)
    return Evidence(name, _exponential(logs), len(wide), against, digits=2, null=1.0)


def _exponential(logs: Estimate) -> Estimate:
    """A ratio from the estimate of its logarithm, whose standard error and test it keeps."""
    if logs.value is None:
        return logs
    between = None if logs.interval is None else (float(np.exp(logs.interval[0])), float(np.exp(logs.interval[1])))
    return replace(logs, value=float(np.exp(logs.value)), interval=between)


def capital(text: str) -> str:
    """The text with a capital letter first."""
    return text[:1].upper() + text[1:]
