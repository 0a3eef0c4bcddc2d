"""From a model to ratings: one number per text, the higher the more positive.

    rating = Σ weight(label) · p(label)

With two labels this is the probability of the positive one, as in the paper. Labels with an order (1 to 5 stars,
negative–neutral–positive) get weights in equal steps from 0 to 1, so that every shift along the order counts. If the
labels do not tell which end is good, the user must name the positive label.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import unmask
from unmask.errors import UnmaskError, check_choice, quote
from unmask.files import atomic_file
from unmask.lexicon.labels import order_rating_labels
from unmask.models.roles import Classifier, GivesLogits, Regressor

if TYPE_CHECKING:
    from unmask.models.batching import LoadedModel

HALF = 0.5
ROUNDING = 1e-3
"""How far below 0 or above 1 a probability may be because of rounding."""
MOST_SHOWN, MOST_LETTERS = 5, 60

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rated:
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
            return Rated(_check_answers(self.model.values(texts), texts, ()), None)
        answers = _check_answers(self._probabilities(self.model, texts), texts, (len(self.labels),))
        bad = np.flatnonzero(((answers < -ROUNDING) | (answers > 1 + ROUNDING)).any(axis=1))
        if bad.size:
            raise UnmaskError(
                f"{_describe_answer(answers, texts, bad[0])}, which are not probabilities; give those of the labels,"
                " between 0 and 1"
            )
        ratings: Array = answers @ np.asarray(self.weights)
        if not self.exclusive:
            name = self.labels[self.weights.index(1.0)]
            return Rated(ratings, [name if rating >= HALF else f"not {name}" for rating in ratings])
        return Rated(ratings, [self.labels[index] for index in answers.argmax(axis=1)])

    def _probabilities(self, model: Classifier, texts: Sequence[str]) -> Array:
        if not self.single_precision or not self.exclusive or not isinstance(model, GivesLogits):
            return np.asarray(model.probabilities(texts), dtype=np.float64)
        logits = np.asarray(model.logits(texts), dtype=np.float32)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: Array = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float64)
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
        known = {label.lower(): label for label in labels}
        name = known.get(positive.lower()) or check_choice(positive, labels, "label")
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


def _check_answers(answers: Any, texts: Sequence[str], shape: tuple[int, ...]) -> Array:
    """Answers as an array, if there is one for each text and all are finite."""
    values = np.asarray(answers, dtype=np.float64)
    expected = (len(texts), *shape)
    if values.shape != expected:
        raise UnmaskError(f"the model gave answers of shape {values.shape}, not {expected}; check the model")
    bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
    if bad.size:
        raise UnmaskError(f"{_describe_answer(values, texts, bad[0])}; every text needs a finite number")
    return values


def _describe_answer(answers: Array, texts: Sequence[str], index: int) -> str:
    numbers = ", ".join(f"{value:.4g}" for value in np.atleast_1d(answers[index])[:MOST_SHOWN])
    text = texts[index]
    shown = text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS].rstrip()} …"
    return f"the model gave {numbers} for {shown!r}"


class CachedRater(Rater):
    """A rater that stores its ratings in a folder, so that an interrupted audit continues where it stopped."""

    def __init__(self, rater: Rater, folder: Path, identity: str) -> None:
        """Take a rater, the folder for its ratings, and what distinguishes its model and settings from others."""
        self.__dict__.update(rater.__dict__)
        self._rater, self._folder, self._identity = rater, folder, identity

    def rate(self, texts: Sequence[str]) -> Rated:
        """Rate texts, unless the same were rated before."""
        key = hashlib.sha256(json.dumps([self._identity, *texts]).encode()).hexdigest()
        path = self._folder / f"{key}.json"
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return Rated(np.array(stored["ratings"], dtype=np.float64), stored["choices"])
        except (OSError, ValueError, KeyError, TypeError):  # not stored, or damaged
            rated = self._rater.rate(texts)
        content = {"ratings": rated.ratings.tolist(), "choices": rated.choices}
        with atomic_file(path) as draft:
            draft.write_text(json.dumps(content), encoding="utf-8")
        return rated


def identify_rater(model: LoadedModel, rater: Rater) -> str:
    """A hash of all that determines a rating except the text: weights, configuration, tokenizer, labels, options."""
    info, tokenizer = model.info(), model.tokenizer
    backend = getattr(tokenizer, "backend_tokenizer", None)
    words = backend.to_str() if backend is not None else json.dumps(sorted(tokenizer.get_vocab().items()))
    parts = [
        info.model_dump(mode="json", exclude={"name"}),
        model.model.config.to_json_string(use_diff=False),
        hashlib.sha256(words.encode()).hexdigest(),
        repr(tokenizer.init_kwargs),
        [getattr(rater.model, name, None) for name in ("long_texts", "most_tokens")],
        [rater.labels, rater.weights, rater.single_precision],
        [unmask.__version__, metadata.version("torch"), metadata.version("transformers")],
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
