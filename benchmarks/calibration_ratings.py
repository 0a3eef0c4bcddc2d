"""How often 5 % tests of the sentiment measure reject for classifiers that have learned nothing.

    python benchmarks/calibration_ratings.py [--models 200]

Random BERTs of two sizes, and random heads on the embedded model, rate the 240 short reviews of the package in a female
and a male version. The test over texts is Wilcoxon's; the test over words flips the signs of pairs of terms.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

import unmask
from unmask.embedded import MODELS
from unmask.lexicon.sentences import reviews
from unmask.measures.base import Context
from unmask.measures.sentiment.analysis import analyse
from unmask.measures.sentiment.data import Pair, rewrite_both_ways
from unmask.measures.sentiment.rater import Rater
from unmask.measures.sentiment.scoring import score_pairs
from unmask.models.classifier import TransformersClassifier
from unmask.training.examples import TextExample

LABELS = {0: "negative", 1: "positive"}
SIZES = ((1, 16), (2, 32))
SPREAD = 0.3


class RandomHead:
    """Two random layers on vectors of texts that are known."""

    labels = ("negative", "positive")

    def __init__(self, vectors: dict[str, NDArray[np.float32]], seed: int) -> None:
        """Draw the weights."""
        draw, size = np.random.default_rng(seed), len(next(iter(vectors.values())))
        self._vectors = vectors
        self._first, self._last = draw.normal(0, 0.06, (size, size)), draw.normal(0, 0.24, size)

    def probabilities(self, texts: Sequence[Any]) -> NDArray[np.float64]:
        """The probability of each label."""
        high = 1 / (1 + np.exp(-np.tanh(np.stack([self._vectors[text] for text in texts]) @ self._first) @ self._last))
        return np.column_stack([1 - high, high])


def random_models(layers: int, size: int, tokenizer: Any, count: int) -> Iterator[TransformersClassifier]:
    """Classifiers of one architecture, each with other weights."""
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=size,
        initializer_range=SPREAD,
        id2label=LABELS,
    )
    for seed in range(count):
        torch.manual_seed(seed)
        yield TransformersClassifier(transformers.BertForSequenceClassification(config), tokenizer)


@torch.inference_mode()
def first_vectors(pairs: Sequence[Pair], tokenizer: Any) -> dict[str, NDArray[np.float32]]:
    """What the embedded model has at the first place of each text."""
    model = transformers.AutoModel.from_pretrained(MODELS["unmask-mini"].folder, dtype=torch.float32).eval()
    texts = list(dict.fromkeys(version.text for one in pairs for version in (one.female, one.male)))
    states = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 0].numpy() for text in texts]
    return dict(zip(texts, states, strict=True))


def rejected(models: Iterator[Any], pairs: Sequence[Pair]) -> tuple[float, float]:
    """The share of models for which the tests over texts and over words reject."""
    found = []
    for model in models:
        items = score_pairs(pairs, Rater(model, None), seed=0).items
        tests = analyse(items.assign(language="en", corpus="x", terms="all"), Context(seed=0)).tests
        found.append([(tests[name].p_value or 1.0) < 0.05 for name in ("bias", "bias over words")])
    over_texts, over_words = np.mean(found, axis=0)
    return float(over_texts), float(over_words)


def main() -> None:
    """Print the share of rejections by kind of classifier and test."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=200)
    count = parser.parse_args().models
    texts = [TextExample(one.text, id=str(at)) for at, one in enumerate(reviews())]
    pairs = rewrite_both_ways(texts, unmask.rewriter("female"), unmask.rewriter("male"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(MODELS["unmask-mini"].folder)
    vectors = first_vectors(pairs, tokenizer)
    kinds: dict[str, Iterator[Any]] = {
        f"random BERT, {layers} × {size}": random_models(layers, size, tokenizer, count) for layers, size in SIZES
    }
    kinds["random heads on unmask-mini"] = (RandomHead(vectors, seed) for seed in range(count))
    print(f"{'classifiers':32}{'over texts':>12}{'over words':>12}")
    for name, models in kinds.items():
        over_texts, over_words = rejected(models, pairs)
        print(f"{name:32}{over_texts:12.1%}{over_words:12.1%}", flush=True)


if __name__ == "__main__":
    main()
