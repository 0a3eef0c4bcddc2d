"""From a model to ratings: one number per text, the higher the more positive.

    rating = Σ weight(label) · p(label)

With two labels this is the probability of the positive one, as in the paper. Labels with an order (1 to 5 stars,
negative–neutral–positive) get weights in equal steps from 0 to 1, so that every shift along the order counts. If the
labels do not tell which end is good, the user must name the positive label.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import softmax

import unmask
from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import hash_content, write_text
from unmask.lexicon.labels import order_rating_labels
from unmask.measures.classifiers import Array, check_answers
from unmask.models.roles import Classifier, GivesLogits, Regressor

if TYPE_CHECKING:
    from unmask.models.batching import LoadedModel

HALF = 0.5
"""From this probability on, a label that may hold by itself is chosen."""


class Rated(NamedTuple):
    """Ratings of texts, and the label that the model would choose for each if it has labels."""

    ratings: Array
    choices: list[str] | None


class Rater:
    """A model and how its answers become ratings.

    Attributes:
        labels: The labels of a classifier; empty for a regression.
        weights: The weight of each label in a rating; empty for a regression.
        rating: What a rating is, in words.
        exclusive: Whether one label is chosen. In a multi-label classifier each label may hold by itself.
    """

    def __init__(self, model: Classifier | Regressor, positive: str | None, *, single_precision: bool = False) -> None:
        """Take a model and the user's positive label.

        With `single_precision`, probabilities are computed from logits in 32 bits, as in the paper's code.
        """
        self.model, self.single_precision = model, single_precision
        self.exclusive = bool(getattr(model, "exclusive", True))
        self.labels: list[str] = []
        self.weights: tuple[float, ...] = ()
        self.rating = "the model's output"
        if not isinstance(model, Classifier):
            if positive is not None:
                raise UnmaskError(f"the model gives numbers, not labels; leave out the positive label {positive!r}")
            return
        self.labels = [str(label) for label in model.labels]
        if positive is None and not self.exclusive:
            raise UnmaskError(
                f"the labels {quote(self.labels)} may all hold at once; name the one to rate by with --positive"
            )
        self.weights, self.rating = weigh_labels(self.labels, None if positive is None else str(positive))

    def rate(self, texts: Sequence[str]) -> Rated:
        """Rate texts. Answers that are not finite numbers, or not probabilities, raise an error."""
        if not isinstance(self.model, Classifier):
            return Rated(check_answers(self.model.values(texts), texts), None)
        answers = check_answers(self._probabilities(self.model, texts), texts, len(self.labels))
        ratings: Array = answers @ np.asarray(self.weights)
        if not self.exclusive:
            name = self.labels[self.weights.index(1.0)]
            return Rated(ratings, [name if rating >= HALF else f"not {name}" for rating in ratings])
        return Rated(ratings, [self.labels[index] for index in answers.argmax(axis=1)])

    def _probabilities(self, model: Classifier, texts: Sequence[str]) -> Array:
        if not (self.single_precision and self.exclusive and isinstance(model, GivesLogits)):
            return np.asarray(model.probabilities(texts), dtype=np.float64)
        probabilities: Array = softmax(np.asarray(model.logits(texts), dtype=np.float32), axis=1).astype(np.float64)
        return probabilities


def weigh_labels(labels: Sequence[str], positive: str | None = None) -> tuple[tuple[float, ...], str]:
    """The weight of each label in a rating, and the rating in words.

    Args:
        labels: The labels of a classifier.
        positive: The label that the user names as positive; None to find it by the labels.
    """
    if len(labels) < 2:
        raise UnmaskError(
            f"the model has one label only ({quote(labels)}), so all ratings are equal; give another model"
        )
    if positive is not None:
        by_lower_case = {label.lower(): label for label in labels}
        name = by_lower_case.get(positive.lower()) or check_choice(positive, labels, "label")
        return tuple(float(label == name) for label in labels), f"p({name})"
    ranks = order_rating_labels(labels)
    if ranks is None:
        raise UnmaskError(
            f"the labels {quote(labels)} do not say which is positive; name the positive one with --positive LABEL"
        )
    order = sorted(set(ranks))
    weights = tuple(order.index(rank) / (len(order) - 1) for rank in ranks)
    if len(labels) == 2:
        return weights, f"p({labels[weights.index(1.0)]})"
    terms = [f"{weight:.3g} × p({label})" for weight, label in sorted(zip(weights, labels, strict=True)) if weight]
    return weights, " + ".join(terms)


class CachedRater(Rater):
    """A rater that stores its ratings in a folder, so that an interrupted audit continues where it stopped."""

    def __init__(self, rater: Rater, folder: Path, identity: str) -> None:
        """Take a rater, the folder for its ratings, and what distinguishes its model and settings from others."""
        self.__dict__.update(rater.__dict__)
        self._rater, self._folder, self._identity = rater, folder, identity

    def rate(self, texts: Sequence[str]) -> Rated:
        """Rate texts, unless the same were rated before."""
        path = self._folder / f"{hash_content(json.dumps([self._identity, *texts]))}.json"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return Rated(np.array(stored["ratings"], dtype=np.float64), stored["choices"])
        except (OSError, ValueError, KeyError, TypeError):  # not stored, or damaged
            rated = self._rater.rate(texts)
        write_text(path, json.dumps({"ratings": rated.ratings.tolist(), "choices": rated.choices}))
        return rated


def identify_rater(model: LoadedModel, rater: Rater) -> str:
    """A hash of all that determines a rating except the text: weights, configuration, tokenizer, labels, options."""
    info, tokenizer = model.info(), model.tokenizer
    backend = getattr(tokenizer, "backend_tokenizer", None)
    words = backend.to_str() if backend is not None else json.dumps(sorted(tokenizer.get_vocab().items()))
    parts = [
        info.model_dump(mode="json", exclude={"name"}),
        model.model.config.to_json_string(use_diff=False),
        hash_content(words),
        repr(tokenizer.init_kwargs),
        [getattr(rater.model, name, None) for name in ("long_texts", "most_tokens")],
        [rater.labels, rater.weights, rater.single_precision],
        [unmask.__version__, metadata.version("torch"), metadata.version("transformers")],
    ]
    return hash_content(json.dumps(parts, sort_keys=True))
