"""Models whose answers are noise, nearly the same noise for all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

NOISE = 0.1


def noise(text: str, count: int = 1) -> NDArray[np.float64]:
    """Standard normal numbers that depend only on a text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(count)


def answer(name: str, question: str, count: int = 1) -> NDArray[np.float64]:
    """A model's answer: noise that all models share, plus a thousandth that depends on the name."""
    return noise(question, count) + 0.001 * noise(f"{name} {question}", count)


class RandomMaskedLM:
    """A masked language model whose log-probabilities are noise."""

    def __init__(self, name: str = "random") -> None:
        self.name = name

    def log_probability(self, queries: Sequence[Any]) -> NDArray[np.float64]:
        """The log-probability of each query's target."""
        return np.array([-5 + NOISE * answer(self.name, repr(query))[0] for query in queries])


class RandomClassifier:
    """A classifier whose probabilities are noise."""

    def __init__(self, labels: Sequence[str], name: str = "random") -> None:
        self.labels, self.name = list(labels), name

    def probabilities(self, texts: Sequence[Any]) -> NDArray[np.float64]:
        """The probability of each label for each text."""
        logits = np.array([NOISE * answer(self.name, repr(text), len(self.labels)) for text in texts])
        exponentials = np.exp(logits)
        probabilities: NDArray[np.float64] = exponentials / exponentials.sum(axis=1, keepdims=True)
        return probabilities


def random_vectors(words: Sequence[str], name: str = "random", dimensions: int = 20) -> dict[str, Any]:
    """Word vectors that are noise."""
    return {word: answer(name, word, dimensions).astype(np.float32) for word in words}
