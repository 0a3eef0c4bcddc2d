"""What the measures of classifiers share: labels of inference, samples, the noise floor, and checked answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.lexicon.labels import INFERENCE, match_inference_label, match_inference_labels

Array = NDArray[np.float64]
Input = TypeVar("Input")
ROUNDING = 1e-3
"""How far probabilities may be from valid ones because of rounding."""
MOST_SHOWN, MOST_LETTERS = 5, 100


def is_inference(labels: Sequence[str]) -> bool:
    """Whether the labels of a classifier, two or three of them, are about entailment."""
    names = [str(label) for label in labels]
    if set(match_inference_labels(names)) == set(INFERENCE):
        return True
    decided = ("entailment", "contradiction")
    return any("entail" in name.lower() or match_inference_label(name) in decided for name in names)


def draw_sample(items: Sequence[Input], limit: int | None, seed: int) -> list[Input]:
    """A random sample of `limit` items in their order; all of them without a limit."""
    if limit is None or limit >= len(items):
        return list(items)
    sample = np.random.default_rng(seed).permutation(len(items))[:limit]
    return [items[index] for index in sorted(sample)]


def measure_noise(
    inputs: Sequence[Input], scores: Array, rescore: Callable[[list[Input]], Array], *, most: int, seed: int
) -> float:
    """The largest change of a score when a sample of the inputs is scored again in another batch."""
    sample = np.random.default_rng(seed).permutation(len(inputs))[:most]
    again = rescore([inputs[index] for index in sample])
    return float(np.abs(again - scores[sample]).max(initial=0.0))


def check_answers(answers: Any, inputs: Sequence[Any], columns: int | None = None, *, exclusive: bool = False) -> Array:
    """A model's answers as an array; an answer that cannot be right is an error.

    Args:
        answers: What the model returned.
        inputs: What it was asked.
        columns: The number of labels, of each of which an answer holds the probability; None for single numbers.
        exclusive: Whether the probabilities of an answer must add up to 1.
    """
    values, shape = np.asarray(answers, dtype=np.float64), (len(inputs), *([] if columns is None else [columns]))
    if values.shape != shape:
        raise UnmaskError(f"the model gave answers of shape {values.shape}, not {shape}; check the model")
    rows = values.reshape(len(inputs), -1)
    bad, problem = ~np.isfinite(rows).all(axis=1), "; every text needs a finite number"
    if columns is not None and not bad.any():
        bad = ((rows < -ROUNDING) | (rows > 1 + ROUNDING)).any(axis=1)
        bad |= exclusive & (np.abs(rows.sum(axis=1) - 1) > ROUNDING)
        problem = f", which are not probabilities of {columns} labels; check the model"
    if bad.any():
        index = int(bad.argmax())
        numbers = ", ".join(f"{value:.4g}" for value in rows[index, :MOST_SHOWN])
        text = inputs[index]
        if isinstance(text, str) and len(text) > MOST_LETTERS:
            text = f"{text[:MOST_LETTERS].rstrip()} …"
        raise UnmaskError(f"the model gave {numbers} for {text!r}{problem}")
    return values
