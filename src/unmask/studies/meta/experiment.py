"""What a measure must provide to be meta-evaluated: data with a planted amount of bias, and its scores of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from unmask.training.examples import Splits

if TYPE_CHECKING:
    import pandas as pd

    from unmask.options import LoadOptions


Word = TypeVar("Word")


@dataclass(frozen=True)
class Scores:
    """What a measure says of a model: its figures by name, and the items behind them."""

    figures: dict[str, float]
    items: pd.DataFrame

    @classmethod
    def of(cls, figures: Mapping[str, float | None], items: pd.DataFrame) -> Scores:
        """Without the figures that could not be had."""
        return cls({name: value for name, value in figures.items() if value is not None}, items)


@dataclass(frozen=True)
class Training:
    """How models are trained where the user does not say it."""

    task: str
    model: str
    """The base: of the embedded ones, which a user replaces by her own."""
    epochs: int
    learning_rate: float
    max_length: int
    chance: float | None = None
    """The accuracy on planted examples of a model that has learned all but the direction of what was planted; None
    where accuracy does not tell that."""
    others_learning_rate: float | None = None
    """For a base of the user's own, which as a rule is larger; None: the same."""

    def rate_for(self, base: str) -> float:
        """The learning rate for a base model."""
        return self.learning_rate if base == self.model else self.others_learning_rate or self.learning_rate


class Experiment(Protocol):
    """How bias that a measure should find is planted, and scored; a frozen dataclass that can be pickled will do."""

    @property
    def measure(self) -> str:
        """The name of the measure."""
        ...

    @property
    def language(self) -> str:
        """Of the texts."""
        ...

    @property
    def protocol(self) -> str:
        """Sound or published."""
        ...

    @property
    def training(self) -> Training:
        """How models are trained by default."""
        ...

    def inputs(self) -> dict[str, Any]:
        """All that decides examples and scores besides rate and seed, as JSON: hashes of everything that is read."""
        ...

    def examples(self, rate: float, seed: int) -> Splits:
        """What to train on at a rate of planted bias."""
        ...

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """What the measure says of a trained model."""
        ...


def planted_as(experiment: Experiment) -> str:
    """Whose bias is planted: the measure's own, unless the experiment says that it `plants` that of another."""
    return str(getattr(experiment, "plants", experiment.measure))


def chosen(words: list[Word], rate: float, draw: np.random.Generator) -> list[Word]:
    """So many of the words, drawn; from one rate to the next words are added, none is exchanged.

    `draw` must be in the same state for every rate.
    """
    order = draw.permutation(len(words))
    return [words[at] for at in order[: round(rate * len(words))]]
