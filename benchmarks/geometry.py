"""Speed of the geometry measure, as ratios measured in one run.

    python benchmarks/geometry.py [--words 300] [--rounds 5]

Words of the package's list are put into eleven sentences each, and the embedded model is asked for their vectors: the
last four layers, first and last piece added. Ours, from words to vectors, is compared with

- a plain loop: one sentence after the other through the tokenizer and the plain transformers model, the word's pieces
  found by its offsets. It is timed on every 8th word;
- the bare forward pass over the same sentences, tokenised and put into the same batches before.

Then the nearest neighbours of all professions in 50,000 vectors, and WEAT over all partitions, each beside the plain
way.

The ways take turns, and the medians of the ratios of each turn are given, so that other work on the machine hurts all
alike. CPU time is that of all threads. Nothing is remembered from one turn to the next: the forms of words are found
anew. With two threads on two cores, other work slows small inputs far more than large ones, and so flatters us: where
the seconds of a way (in the JSON) differ much from turn to turn, measure again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from timing import Cost, beside, timed
from unmask.lexicon import inflection
from unmask.lexicon.word_lists import nouns
from unmask.measures.geometry.space import make_word_sentences
from unmask.measures.geometry.word_tests import find_neighbours
from unmask.models import batching
from unmask.models.encoder import TransformersEncoder
from unmask.models.loading import load_encoder
from unmask.models.roles import WordInSentence
from unmask.options import LoadOptions
from unmask.statistics.erasure import normalise_rows
from unmask.statistics.permutation import weat

MODEL = "unmask-mini"
LAYERS = 4
LOOP_SAMPLE = 8
OURS, LOOP, BARE = "ours", "one sentence at a time", "bare forward pass"

Batch = dict[str, torch.Tensor]


def ours(encoder: TransformersEncoder, words: Sequence[str]) -> NDArray[np.float32]:
    """From words to vectors."""
    for remembered in (inflection._singular, inflection._plural, inflection._rate_noun):
        remembered.cache_clear()
    return encoder.embed([one for word in words for one in make_word_sentences(word)], layers=LAYERS)


@torch.inference_mode()
def loop(model: Any, tokenizer: Any, asked: Sequence[WordInSentence]) -> NDArray[np.float32]:
    """What one writes without further thought."""
    found = []
    for one in asked:
        encoded = tokenizer(one.text, return_tensors="pt", return_offsets_mapping=True)
        offsets = encoded.pop("offset_mapping")[0].tolist()
        pieces = [at for at, (start, end) in enumerate(offsets) if one.span[0] <= start < end <= one.span[1]]
        hidden = torch.cat(model(**encoded, output_hidden_states=True).hidden_states[-LAYERS:], dim=-1)[0]
        found.append((hidden[pieces[0]] + hidden[pieces[-1]]).numpy())
    return np.array(found)


def batches(tokenizer: Any, asked: Sequence[WordInSentence]) -> list[Batch]:
    """The distinct sentences in batches by length, ready to be run."""
    ids = tokenizer(list(dict.fromkeys(one.text for one in asked)))["input_ids"]
    planned = batching.plan_batches([len(one) for one in ids], batching.TOKEN_BUDGET)
    return [dict(tokenizer.pad({"input_ids": [ids[at] for at in batch]}, return_tensors="pt")) for batch in planned]


@torch.inference_mode()
def bare(model: Any, prepared: Sequence[Batch]) -> None:
    """The forward passes, and nothing else."""
    for batch in prepared:
        model(**batch)


def main() -> None:
    """Print the ratios, and the numbers behind them as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    encoder = load_encoder(MODEL, LoadOptions(device="cpu"))
    assert isinstance(encoder, TransformersEncoder)
    model, tokenizer = encoder.model.base_model, encoder.tokenizer
    every = max(1, len(nouns()) // arguments.words)
    words = nouns()[::every][: arguments.words]
    asked = [one for word in words for one in make_word_sentences(word)]
    sample = [one for word in words[::LOOP_SAMPLE] for one in make_word_sentences(word)]
    times = len(words) / len(words[::LOOP_SAMPLE])
    ours_of_sample, loops = ours(encoder, words[::LOOP_SAMPLE]), loop(model, tokenizer, sample)
    apart = np.linalg.norm(ours_of_sample - loops, axis=1) / np.linalg.norm(loops, axis=1)
    print(f"largest distance from the loop's vectors, as a part of their length: {apart.max():.1g}")
    prepared = batches(tokenizer, asked)
    bare(model, prepared[:3])  # warm up
    rounds = [
        {
            OURS: timed(lambda: ours(encoder, words)),
            LOOP: timed(lambda: loop(model, tokenizer, sample), times),
            BARE: timed(lambda: bare(model, prepared)),
        }
        for _ in range(arguments.rounds)
    ]
    report(len(words), prepared, rounds)
    neighbours(arguments.rounds)
    partitions(arguments.rounds)


def neighbours(rounds: int) -> None:
    """The 100 words nearest to each of 320 professions among 50,000 of 300 numbers, and by sorting each one's."""
    rng = np.random.default_rng(0)
    matrix = normalise_rows(rng.normal(size=(50_000, 300))).astype(np.float32)
    professions = np.arange(0, 50_000, 156)[:320]

    def sorting() -> None:
        for place in professions:
            sorted(range(len(matrix)), key=(matrix @ matrix[place]).__getitem__, reverse=True)[1:101]

    taken = [timed(lambda: find_neighbours(matrix, professions)).wall for _ in range(rounds)]
    usual = timed(sorting).wall
    print(
        f"nearest neighbours of 320 professions in 50,000 x 300: {median(taken):.2f} s; {usual / median(taken):.0f} x"
    )


def partitions(rounds: int) -> None:
    """Exact WEAT over the 12,870 partitions of 8 + 8 words, and one partition at a time."""
    rng = np.random.default_rng(0)
    x, y, a, b = (rng.normal(size=(8, 300)) for _ in range(4))

    def one_by_one() -> float:
        words, sides = normalise_rows(np.concatenate([x, y])), (normalise_rows(a), normalise_rows(b))
        s = (words @ sides[0].T).mean(axis=1) - (words @ sides[1].T).mean(axis=1)
        observed = s[:8].sum() - s[8:].sum()
        found = [s[list(part)].sum() * 2 - s.sum() for part in combinations(range(16), 8)]
        return float(np.mean(np.array(found) >= observed - 1e-12))

    taken = [timed(lambda: weat(x, y, a, b)).wall for _ in range(rounds)]
    usual = timed(one_by_one).wall
    assert abs(weat(x, y, a, b).p_value - one_by_one()) < 1e-9
    print(f"exact WEAT over 12,870 partitions: {1000 * median(taken):.1f} ms; {usual / median(taken):.0f} x")


def report(count: int, prepared: Sequence[Batch], rounds: Sequence[dict[str, Cost]]) -> None:
    """Print what was run, and each way beside ours."""
    distinct = sum(len(batch["input_ids"]) for batch in prepared)
    tokens = sum(int(batch["attention_mask"].sum()) for batch in prepared)
    print(f"{count} words, {distinct} distinct sentences, {tokens:,} tokens in {len(prepared)} batches")
    beside(rounds, OURS, BARE, count, "words")


if __name__ == "__main__":
    main()
