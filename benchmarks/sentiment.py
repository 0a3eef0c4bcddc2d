"""Speed of the sentiment measure, as ratios measured in one run, on real film reviews.

    python benchmarks/sentiment.py [--reviews 150] [--rounds 3]

The reviews are of the test half of IMDB, from the folder named by `UNMASK_DATA` or else downloaded; the classifier is
the embedded one. It is measured with the paper's three term sets, and then with one. Ours is compared with

- the usual way: both versions of every review for every set, changed or not, padded to 512 tokens, 16 at a time; with
  the attention of today's transformers, and with the plain one that was all there was when the paper was written. It is
  timed on every 8th batch, since all of its batches are alike;
- transformers' own pipeline: the same texts in the order given, cut where too long, 8 at a time; every 8th of them;
- the bare forward pass over the distinct inputs, tokenised and put into the same batches before.

The ways take turns and medians are compared, so that other work on the machine hurts all alike. CPU time is that of
all threads. Nothing is remembered from one turn to the next. The noise floor is measured on 64 texts however many
reviews there are, which is nothing beside all of IMDB and much beside a sample; so ours is also given without it.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import psutil
import torch
import transformers

from timing import Cost, timed
from unmask.measures.sentiment import data as reviews
from unmask.measures.sentiment.data import Pair
from unmask.measures.sentiment.rater import Rated, Rater
from unmask.measures.sentiment.scoring import score_sets
from unmask.models import batching
from unmask.models.classifier import TransformersClassifier
from unmask.models.loading import load_classifier
from unmask.options import LoadOptions
from unmask.rewriting.options import RewriteOptions, build_rewriter
from unmask.training.examples import TextExample

MODEL = "unmask-mini-sentiment"
LONGEST = 512
USUAL_BATCH, PIPELINE_BATCH = 16, 8
SAMPLE = 8
TERM_SETS = (("pronouns", "family", "all"), ("all",))
OURS, WHOLE, QUARTER = "ours", "ours, with the noise floor", "ours, a quarter of the reviews"
USUAL, PLAIN, PIPELINE = "usual way", "usual way, plain attention", "pipeline"
BARE = "bare forward pass"

Batch = dict[str, torch.Tensor]
Sets = Mapping[str, Sequence[Pair]]


class WatchedRater(Rater):
    """A rater that keeps what each rating took; the last is the noise floor's."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        super().__init__(TransformersClassifier(model, tokenizer), None)
        self.costs: list[Cost] = []

    def rate(self, texts: Sequence[str]) -> Rated:
        """Rate texts, and note the time."""
        found: list[Rated] = []
        self.costs.append(timed(lambda: found.append(super(WatchedRater, self).rate(texts))))
        return found[0]


def ours(model: Any, tokenizer: Any, sets: Sets) -> tuple[Cost, Cost]:
    """The measure's first half, without the noise floor and with it."""
    rater = WatchedRater(model, tokenizer)
    whole = timed(lambda: score_sets(sets, rater, seed=0))
    *_, noise = rater.costs
    return Cost(whole.wall - noise.wall, whole.cpu - noise.cpu), whole


@torch.inference_mode()
def usual(model: Any, tokenizer: Any, texts: Sequence[str], attention: str) -> Cost:
    """Every text padded to the longest that the model takes."""
    before = model.config._attn_implementation
    model.set_attn_implementation(attention)
    starts = range(0, len(texts) - USUAL_BATCH + 1, USUAL_BATCH * SAMPLE)

    def run() -> None:
        for start in starts:
            batch = tokenizer(
                list(texts[start : start + USUAL_BATCH]),
                padding="max_length",
                truncation=True,
                max_length=LONGEST,
                return_tensors="pt",
            )
            torch.softmax(model(**batch).logits, dim=-1).tolist()

    cost = timed(run, len(texts) / (len(starts) * USUAL_BATCH))
    model.set_attn_implementation(before)
    return cost


def pipeline(model: Any, tokenizer: Any, texts: Sequence[str]) -> None:
    """What one gets from transformers without further thought."""
    classify = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    classify(list(texts), truncation=True, max_length=LONGEST, batch_size=PIPELINE_BATCH, top_k=None)


def batches(tokenizer: Any, texts: Sequence[str]) -> list[Batch]:
    """The distinct inputs in batches by length, ready to be run."""
    rows = dict.fromkeys(map(tuple, tokenizer(list(texts), truncation=True, max_length=LONGEST)["input_ids"]))
    inputs = [{"input_ids": list(row)} for row in rows]
    planned = batching.plan_batches([len(row) for row in rows], batching.TOKEN_BUDGET)
    return [dict(tokenizer.pad([inputs[at] for at in batch], return_tensors="pt")) for batch in planned]


@torch.inference_mode()
def bare(model: Any, prepared: Sequence[Batch]) -> None:
    """The forward passes, and nothing else."""
    for batch in prepared:
        model(**batch)


def rewritten(texts: Sequence[TextExample], terms: str) -> list[Pair]:
    """Both versions of every review."""
    to_female, to_male = (build_rewriter(RewriteOptions(to=to, terms=terms)) for to in ("female", "male"))
    return reviews.rewrite_both_ways(texts, to_female, to_male)


def main() -> None:
    """Print the ratios, and the numbers behind them as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--reviews", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    texts = reviews.load_texts("imdb", limit=arguments.reviews, seed=0, offline=False)
    subject = load_classifier(MODEL, LoadOptions(device="cpu"))
    assert isinstance(subject, TransformersClassifier)
    for names in TERM_SETS:
        sets = {name: rewritten(texts, name) for name in names}
        costs = compared(subject.model, subject.tokenizer, sets, arguments.rounds)
        print(json.dumps({name: cost._asdict() for name, cost in costs.items()}))
    cost = timed(lambda: rewritten(texts, "all"))
    print(f"rewriting a review both ways: {1000 * cost.cpu / len(texts):.1f} ms of CPU time")


def compared(model: Any, tokenizer: Any, sets: Sets, turns: int) -> dict[str, Cost]:
    """Time every way, turn by turn, and print the medians beside ours."""
    both = [version.text for pairs in sets.values() for pair in pairs for version in (pair.female, pair.male)]
    prepared = batches(tokenizer, both)
    bare(model, prepared[:3])  # warm up
    quarter = {name: pairs[::4] for name, pairs in sets.items()}
    rounds: list[dict[str, Cost]] = []
    peak = 0.0
    for _ in range(turns):
        without_noise, whole = ours(model, tokenizer, sets)
        peak = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # before the other ways
        rounds.append(
            {
                OURS: without_noise,
                WHOLE: whole,
                USUAL: usual(model, tokenizer, both, "sdpa"),
                PLAIN: usual(model, tokenizer, both, "eager"),
                PIPELINE: timed(lambda: pipeline(model, tokenizer, both[::SAMPLE]), SAMPLE),
                BARE: timed(lambda: bare(model, prepared)),
                QUARTER: ours(model, tokenizer, quarter)[0],
            }
        )
    costs = {
        name: Cost(median(one[name].wall for one in rounds), median(one[name].cpu for one in rounds))
        for name in rounds[0]
    }
    report(sets, prepared, costs)
    print(f"peak memory after scoring: {peak:.2f} GB")
    return costs


def report(sets: Sets, prepared: Sequence[Batch], costs: dict[str, Cost]) -> None:
    """Print what was run, and each way beside ours."""
    distinct = sum(len(batch["input_ids"]) for batch in prepared)
    tokens = sum(int(batch["attention_mask"].sum()) for batch in prepared)
    count = sum(map(len, sets.values()))
    changed = sum(pair.changed for pairs in sets.values() for pair in pairs)
    print(f"\nterms {', '.join(sets)}: {count} pairs, {changed} of them changed; {distinct} distinct inputs,")
    print(f"{tokens:,} tokens, where the usual way runs {2 * count * LONGEST:,}")
    print(f"{torch.get_num_threads()} thread(s), {psutil.cpu_count()} cores; torch {torch.__version__}")
    base = costs[OURS]
    for name in (OURS, WHOLE, USUAL, PLAIN, PIPELINE, BARE):
        wall, cpu = costs[name]
        print(
            f"{name:28} {count / wall:8.1f} pairs/s   {wall / base.wall:5.2f} × the time of ours"
            f"   {cpu / base.cpu:5.2f} × its CPU time"
        )
    print(f"ours / bare forward pass: {base.wall / costs[BARE].wall:.2f}, CPU time {base.cpu / costs[BARE].cpu:.2f}")
    quarter = costs[QUARTER]
    print(f"four times the reviews: {base.wall / quarter.wall:.2f} × the time, {base.cpu / quarter.cpu:.2f} × CPU time")


if __name__ == "__main__":
    main()
