"""What a measure needs for a meta-evaluation: data with a planted amount of bias, and its scores of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from unmask.measures.base import Context
from unmask.measures.registry import get_measure
from unmask.models.handle import ModelHandle
from unmask.training.examples import Splits

if TYPE_CHECKING:
    import pandas as pd

    from unmask.options import LoadOptions
    from unmask.results import Measurement

Word = TypeVar("Word")


@dataclass(frozen=True)
class TrainingDefaults:
    """How models are trained where the user does not say it."""

    task: str
    model: str
    """The base model: an embedded one, which a user may replace."""
    epochs: int
    learning_rate: float
    max_length: int
    chance: float | None = None
    """The accuracy on planted examples of a model that has learned all but the direction of what was planted; None
    where accuracy does not tell that."""
    others_learning_rate: float | None = None
    """The learning rate for a user's own base model, which is usually larger; None: the same."""

    def learning_rate_for(self, base: str) -> float:
        """Return the learning rate for a base model."""
        return self.learning_rate if base == self.model else self.others_learning_rate or self.learning_rate


@dataclass(frozen=True)
class Scores:
    """The figures of a measure for a model, by name, and the items behind them."""

    figures: Mapping[str, float]
    items: pd.DataFrame


class Experiment(ABC):
    """How bias that a measure should find is planted and scored. A frozen dataclass that can be pickled will do."""

    measure: str
    """The name of the measure."""
    language: str
    protocol: str = "sound"
    corpora: tuple[str, ...] = ()
    """The corpora that are measured; empty: those of an audit."""
    training: TrainingDefaults
    labels: tuple[str, ...] = ()
    """The labels of the planted examples; empty for masked words."""

    @property
    def planted(self) -> str:
        """The measure whose bias is planted."""
        return self.measure

    @abstractmethod
    def inputs(self) -> dict[str, Any]:
        """Everything that decides examples and scores except rate and seed, as JSON: hashes of what is read."""

    def check(self) -> None:  # noqa: B027  # many experiments have nothing to check
        """Raise an error if the examples cannot be made. Called before anything slow happens."""

    @abstractmethod
    def examples(self, rate: float, seed: int) -> Splits:
        """Return what to train on at a rate of planted bias."""

    def questions(self, seed: int) -> Any:
        """Return what the measure asks, as its `build` returns it; None for what an audit asks."""
        del seed
        return None

    def measure_options(self, model: Path) -> dict[str, Any]:
        """Return the options of the measure for a trained model."""
        del model
        return {}

    def figures(self, measurement: Measurement) -> dict[str, float | None]:
        """Return the scores to evaluate. Default: every test of the measure."""
        return {name: test.value for name, test in measurement.tests.items()}

    def scores(self, model: Path, seed: int, loading: LoadOptions) -> Scores:
        """Measure a trained model as an audit does."""
        import pandas as pd

        measure = get_measure(self.measure)
        options = measure.Options(**self.measure_options(model))
        context = Context(self.language, protocol=self.protocol, seed=seed, offline=loading.offline)
        units = measure.units(options, context, (self.language,), self.corpora)
        handle, questions = ModelHandle(str(model), loading), self.questions(seed)
        if questions is None:
            results = list(measure.measure(handle, options, units))
        else:
            results = list(measure.measure_items(handle, options, units, [questions]))
        figures = {
            name if len(results) == 1 else f"{measurement.corpus}: {name}": value
            for _, measurement in results
            for name, value in self.figures(measurement).items()
            if value is not None
        }
        return Scores(figures, pd.concat([items for items, _ in results], ignore_index=True))

    def describe_data(self, examples: str) -> dict[str, str]:
        """Return what models were trained on, as settings of the page; `examples` is how many there were."""
        del examples
        return {}


def draw_words(words: Sequence[Word], rate: float, draw: np.random.Generator) -> list[Word]:
    """Draw a share of the words. From one rate to the next words are added, and none is exchanged.

    `draw` must be in the same state for every rate.
    """
    order = draw.permutation(len(words))
    return [words[index] for index in order[: round(rate * len(words))]]
