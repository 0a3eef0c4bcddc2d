"""A model and what counts as its rating; answers that are none are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, quote
from unmask.measures.sentiment import polarity
from unmask.measures.sentiment.polarity import Polarity
from unmask.models.roles import Classifier, GivesLogits, Regressor

HALF = 0.5
ROUNDING = 1e-3
"""How far from 0 or 1 a probability may fall through rounding."""
MOST_SHOWN, MOST_LETTERS = 5, 60


@dataclass(frozen=True)
class Rated:
    """What a model says of texts: a rating each, and the label it would choose if it has labels."""

    ratings: NDArray[np.float64]
    choices: list[str] | None


class Rater:
    """A model and what counts as its rating."""

    def __init__(self, model: Classifier | Regressor, positive: str | None, *, single_precision: bool = False) -> None:
        """Take a model; `single_precision` makes probabilities of its outputs in 32 bits, as the paper's code did."""
        self.model = model
        self.single_precision = single_precision
        if isinstance(model, Classifier):
            self.labels = [str(label) for label in model.labels]
            if positive is None and not self.exclusive:
                raise UnmaskError(
                    f"the labels {quote(self.labels)} may all hold at once; name the one to rate by with --positive"
                )
            self.polarity: Polarity = polarity.of_labels(self.labels, None if positive is None else str(positive))
        else:
            if positive is not None:
                raise UnmaskError(f"the model gives numbers, not labels; leave out the positive label {positive!r}")
            self.labels = []
            self.polarity = polarity.of_output()

    def rate(self, texts: Sequence[str]) -> Rated:
        """Rate texts."""
        if not isinstance(self.model, Classifier):
            return Rated(_checked(self.model.values(texts), texts, ()), None)
        answers = _checked(self._probabilities(self.model, texts), texts, (len(self.labels),))
        strange = np.flatnonzero(((answers < -ROUNDING) | (answers > 1 + ROUNDING)).any(axis=1))
        if strange.size:
            raise UnmaskError(
                f"the model gave {_figures(answers[strange[0]])} for {_short(texts[strange[0]])}, which are no"
                " probabilities; give those of the labels, between 0 and 1"
            )
        ratings = self.polarity.rate(answers)
        if not self.exclusive:
            name = self.labels[self.polarity.weights.index(1.0)]
            return Rated(ratings, [name if rating >= HALF else f"not {name}" for rating in ratings])
        return Rated(ratings, [self.labels[at] for at in answers.argmax(axis=1)])

    @property
    def exclusive(self) -> bool:
        """Whether one label is chosen; of a multi-label classifier each may hold by itself."""
        return bool(getattr(self.model, "exclusive", True))

    def _probabilities(self, model: Classifier, texts: Sequence[str]) -> NDArray[np.float64]:
        if not self.single_precision or not self.exclusive or not isinstance(model, GivesLogits):
            return np.asarray(model.probabilities(texts), dtype=np.float64)
        logits = np.asarray(model.logits(texts), dtype=np.float32)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        found: NDArray[np.float64] = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float64)
        return found


def _checked(answers: Any, texts: Sequence[str], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Answers, if there is one to each text and all are finite numbers."""
    found = np.asarray(answers, dtype=np.float64)
    wanted = (len(texts), *shape)
    if found.shape != wanted:
        raise UnmaskError(f"the model gave answers of shape {found.shape} where {wanted} is needed; check the model")
    bad = np.flatnonzero(~np.isfinite(found.reshape(len(found), -1)).all(axis=1))
    if bad.size:
        raise UnmaskError(
            f"the model gave {_figures(found[bad[0]])} for {_short(texts[bad[0]])}; every text needs a finite number"
        )
    return found


def _figures(answer: NDArray[np.float64]) -> str:
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(answer)[:MOST_SHOWN])


def _short(text: str) -> str:
    return repr(text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS].rstrip()} …")
