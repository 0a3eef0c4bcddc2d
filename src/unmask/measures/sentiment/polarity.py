"""What a rating is: from the labels of a classifier to one number a text, the higher the more positive.

    rating = Σ weight(label) · p(label)

With two labels this is the probability of the positive one, as in the paper. Labels with an order (1 to 5 stars,
negative–neutral–positive) get weights in equal steps from 0 to 1, so that every shift along the order counts. Where
the labels do not say which end is good, nothing is guessed: the user names the positive label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice, quote
from unmask.lexicon.labels import order_rating_labels

OUTPUT = "the model's output"


@dataclass(frozen=True)
class Polarity:
    """How a rating comes out of what a model says."""

    weights: tuple[float, ...]
    """One a label; none where the model gives the rating itself."""
    says: str
    """What a rating is, in words."""

    def rate(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rating of each row."""
        ratings: NDArray[np.float64] = answers @ np.asarray(self.weights) if self.weights else answers
        return ratings


def of_output() -> Polarity:
    """For a model that gives each text a number."""
    return Polarity((), OUTPUT)


def of_labels(labels: Sequence[str], positive: str | None = None) -> Polarity:
    """Find the positive end of a classifier's labels, or take the label that the user names."""
    if len(labels) < 2:
        raise UnmaskError(f"the model has one label only ({quote(labels)}), so every text is rated alike; give another")
    if positive is not None:
        known = {label.lower(): label for label in labels}
        chosen = known.get(positive.lower()) or check_choice(positive, labels, "label")
        return Polarity(tuple(float(label == chosen) for label in labels), f"p({chosen})")
    ranks = order_rating_labels(labels)
    if ranks is None:
        raise UnmaskError(
            f"the labels {quote(labels)} do not say which is positive; name the positive one with --positive LABEL"
        )
    order = sorted(set(ranks))
    step = {rank: at / (len(order) - 1) for at, rank in enumerate(order)}
    weights = tuple(step[rank] for rank in ranks)
    if len(labels) == 2:
        return Polarity(weights, f"p({labels[weights.index(1.0)]})")
    terms = [f"{weight:.3g} × p({label})" for weight, label in sorted(zip(weights, labels, strict=True)) if weight]
    return Polarity(weights, " + ".join(terms))
