"""Speed of the inference measure, as ratios measured in one run, on the pairs of the package.

    python benchmarks/inference.py [--pairs 2000] [--rounds 5] [--device cpu]

The classifier is the embedded one. Ours, from pairs of sentences to probabilities, is compared with

- a plain loop: transformers' pipeline, called with one pair after the other. It is timed on every 8th pair, since all
  are about as long;
- the same pipeline given the pairs at once, 8 in a batch, in the order of the table; every 4th of them;
- the bare forward pass over the same tokens, sorted by length and put into the same batches before.

The ways take turns, and the medians of the ratios of each turn are given, so that other work on the machine hurts all
alike. CPU time is that of all threads. Nothing is remembered from one turn to the next. The noise floor asks 200 pairs
again however many there are, which is little beside a whole audit and much beside a sample; so ours is also given with
it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import transformers

from timing import Cost, beside, timed
from unmask.measures.base import Context
from unmask.measures.inference import SENTENCES, InferenceOptions
from unmask.measures.inference.data import build
from unmask.measures.inference.scoring import find_order, score_pairs
from unmask.models import batching
from unmask.models.classifier import TransformersClassifier
from unmask.models.loading import load_classifier
from unmask.options import LoadOptions

if TYPE_CHECKING:
    import pandas as pd

MODEL = "unmask-mini-nli"
LOOP_SAMPLE, BATCHED_SAMPLE, PIPELINE_BATCH = 8, 4, 8
OURS, WHOLE, LOOP, BATCHED, BARE = (
    "ours",
    "ours, with the noise floor",
    "pipeline, one at a time",
    "pipeline, 8 at a time",
    "bare forward pass",
)

Batch = dict[str, torch.Tensor]
Pairs = Sequence[tuple[str, str]]


class Watched(TransformersClassifier):
    """A classifier that keeps what each question took; the last is the noise floor's."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__(model, tokenizer)
        self.costs: list[Cost] = []

    def probabilities(self, texts: Any) -> Any:
        """Answer, and note the time."""
        found: list[Any] = []
        self.costs.append(timed(lambda: found.append(super(Watched, self).probabilities(texts))))
        return found[0]


def ours(model: Any, tokenizer: Any, rows: pd.DataFrame, order: Sequence[int]) -> tuple[Cost, Cost]:
    """The measure's first half, without the noise floor and with it."""
    subject = Watched(model, tokenizer)
    whole = timed(lambda: score_pairs(rows, subject, order, seed=0))
    *_, noise = subject.costs
    return Cost(whole.wall - noise.wall, whole.cpu - noise.cpu), whole


def batches(tokenizer: Any, pairs: Pairs, device: str) -> list[Batch]:
    """The distinct pairs in batches by length, ready to be run."""
    distinct = list(dict.fromkeys(pairs))
    encoded = tokenizer([premise for premise, _ in distinct], [hypothesis for _, hypothesis in distinct])
    inputs = [{name: encoded[name][at] for name in encoded} for at in range(len(distinct))]
    planned = batching.plan_batches([len(one["input_ids"]) for one in inputs], batching.TOKEN_BUDGET)
    padded = [tokenizer.pad([inputs[at] for at in batch], return_tensors="pt") for batch in planned]
    return [{name: tensor.to(device) for name, tensor in batch.items()} for batch in padded]


@torch.inference_mode()
def bare(model: Any, prepared: Sequence[Batch]) -> None:
    """The forward passes, and nothing else."""
    for batch in prepared:
        answered = model(**batch).logits
    answered.cpu()  # the last is there when all are


def asked(pairs: Pairs) -> list[dict[str, str]]:
    """Pairs as a pipeline takes them."""
    return [{"text": premise, "text_pair": hypothesis} for premise, hypothesis in pairs]


def loop(classify: Any, pairs: Pairs) -> None:
    """What one writes without further thought."""
    for pair in asked(pairs):
        classify(pair, top_k=None)


def batched(classify: Any, pairs: Pairs) -> None:
    """The same, all pairs at once."""
    classify(asked(pairs), batch_size=PIPELINE_BATCH, top_k=None)


def disagreement(classify: Any, subject: TransformersClassifier, pairs: Pairs) -> float:
    """The largest difference between our probabilities and those of the pipeline."""
    answers = [{one["label"]: one["score"] for one in classify(pair, top_k=None)} for pair in asked(pairs)]
    theirs = np.array([[answer[label] for label in subject.labels] for answer in answers])
    return float(np.abs(theirs - subject.probabilities(pairs)).max())


def main() -> None:
    """Print the ratios, and the numbers behind them as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    subject = load_classifier(MODEL, LoadOptions(device=arguments.device))
    assert isinstance(subject, TransformersClassifier)
    model, tokenizer = subject.model, subject.tokenizer
    rows = build(InferenceOptions(), Context("en", SENTENCES)).sample(arguments.pairs, random_state=0)
    pairs = list(zip(rows["premise"], rows["hypothesis"], strict=True))
    order, _ = find_order(subject)
    classify = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device=arguments.device)
    print(f"largest difference from the pipeline's probabilities: {disagreement(classify, subject, pairs[:50]):.1g}")
    prepared = batches(tokenizer, pairs, arguments.device)
    bare(model, prepared[:3])  # warm up
    rounds: list[dict[str, Cost]] = []
    for _ in range(arguments.rounds):
        without_noise, whole = ours(model, tokenizer, rows, order)
        rounds.append(
            {
                OURS: without_noise,
                WHOLE: whole,
                LOOP: timed(lambda: loop(classify, pairs[::LOOP_SAMPLE]), LOOP_SAMPLE),
                BATCHED: timed(lambda: batched(classify, pairs[::BATCHED_SAMPLE]), BATCHED_SAMPLE),
                BARE: timed(lambda: bare(model, prepared)),
            }
        )
    report(len(pairs), prepared, rounds)


def report(count: int, prepared: Sequence[Batch], rounds: Sequence[dict[str, Cost]]) -> None:
    """Print what was run, and each way beside ours."""
    distinct = sum(len(batch["input_ids"]) for batch in prepared)
    tokens = sum(int(batch["attention_mask"].sum()) for batch in prepared)
    print(f"{count} pairs, {distinct} distinct, {tokens:,} tokens in {len(prepared)} batches")
    beside(rounds, OURS, BARE, count, "pairs")


if __name__ == "__main__":
    main()
