"""What a measure of another package is: in two halves as ours are, so that recorded scores can be analysed alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unmask.results import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from unmask.models.interfaces import Progress
    from unmask.models.kinds import Kind
    from unmask.results import Measurement
    from unmask.statistics.crossed import IntervalEstimate


@dataclass(frozen=True)
class Context:
    """What a measure is told."""

    language: str
    seed: int
    offline: bool = False
    progress: Progress | None = None
    """To be called with how much is done, and of how much."""


@dataclass(frozen=True)
class Measure:
    """A measure that another package registers under a name, in the group `unmask.measures`."""

    about: str
    """What it asks, in a line."""
    takes: tuple[Kind, ...]
    """What it can be given: `masked-lm`, `classifier`, `encoder`, `vectors`. A model is loaded as the first that it can
    be; a masked language model or a classifier can be an encoder, too."""
    score: Callable[[Any, Context], pd.DataFrame]
    """The first half: a `MaskedLM`, a `Classifier` or `Regressor`, an `Encoder` or `Vectors` → items, one a row."""
    analyse: Callable[[pd.DataFrame, Context], Measurement]
    """The second half: items → groups, tests and caveats. Leave `p_adjusted` and `headline` empty."""
    headline: Callable[[Measurement], str]
    """The finding in words, when `p_adjusted` has been filled in for all tests of the audit."""
    citation: str = ""
    languages: tuple[str, ...] = ("en",)


def tested(question: str, found: IntervalEstimate, n: int, unit: str) -> Estimate:
    """An estimate of our statistics as a test against zero; `n` is how many items it rests on."""
    return Estimate(
        question=question,
        n=n,
        value=found.value,
        interval=found.interval,
        unit=unit,
        statistic=found.statistic,
        statistic_name="t",
        df=found.df,
        p_value=found.p_value,
    )


def grouped(labels: dict[str, str], found: IntervalEstimate, n: int, unit: str) -> Estimate:
    """An estimate of our statistics as the mean of a group of `n` items."""
    return Estimate(labels=labels, n=n, value=found.value, interval=found.interval, unit=unit)
