"""Sentences in both genders, and a model's last hidden states for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import field_validator

from unmask.errors import UnmaskError
from unmask.lexicon.sentences import split_sentences
from unmask.mitigations.corpus import hash_texts
from unmask.mitigations.erasure import Placed, build_in_erasure
from unmask.mitigations.method import Job
from unmask.models import batching
from unmask.models.checkpoints import choose_device
from unmask.options import Options, option
from unmask.statistics.erasure import Erasure

LONGEST = 128
FEWEST = 10


class StateOptions(Options):
    """Which sentences a method reads states of."""

    sentences: int = option(20_000, "How many sentences to use, each in both genders; 0: all.", minimum=0)

    @field_validator("sentences")
    @classmethod
    def _check_count(cls, value: int) -> int:
        if 0 < value < FEWEST:
            raise ValueError(f"give {FEWEST} or more, or 0 for all")
        return value


class TokenSelection(NamedTuple):
    """A row of token ids, and the positions in it that count."""

    ids: list[int]
    positions: NDArray[np.intp]


class SentencePairs:
    """Sentences of the job's text that differ between women and men, tokenised: female and male in turns.

    With `words`, a sentence must contain one of them. Documents are taken in an order drawn by the seed, until there
    are as many sentences as the options ask for.
    """

    def __init__(self, job: Job, words: frozenset[str] | None = None) -> None:
        pairs = _collect_pairs(job, words)
        self.job = job
        self.count = len(pairs)
        self.texts = [text for pair in pairs for text in pair]
        limit = min(LONGEST, batching.max_tokens(job.model) or LONGEST)
        self.rows: list[list[int]] = job.tokenizer(self.texts, truncation=True, max_length=limit)["input_ids"]
        special = set(job.tokenizer.all_special_ids)
        self.ordinary = [np.array([token not in special for token in ids]) for ids in self.rows]
        """Which tokens of each row are not special."""

    def build_in(self, erasure: Erasure) -> Placed:
        """Build an erasure into the job's model."""
        sample = self.job.tokenizer([self.texts[0]], truncation=True, max_length=16, return_tensors="pt")
        return build_in_erasure(self.job.model, erasure, dict(sample))

    def describe(self, placed: Placed, **details: Any) -> dict[str, Any]:
        """Describe the sentences and where the erasure is, for the record."""
        return {
            "sentences": self.count,
            "hash_of_the_sentences": hash_texts(self.texts),
            **details,
            "kept_in": str(placed),
            "in_last_hidden_state": placed.in_state,
            "layers": placed.layers,
        }


def _collect_pairs(job: Job, words: frozenset[str] | None) -> list[tuple[str, str]]:
    from unmask.rewriting import rewriter

    most = job.options.sentences
    names = job.language == "en"
    female, male = (rewriter(to, names=names, language=job.language) for to in ("female", "male"))
    pairs: list[tuple[str, str]] = []
    for index in np.random.default_rng(job.seed).permutation(len(job.documents)):
        for sentence in split_sentences(job.documents[index], job.language):
            letters = "".join(letter if letter.isalpha() else " " for letter in sentence.lower())
            if words is not None and words.isdisjoint(letters.split()):
                continue
            pair = female.rewrite(sentence).text, male.rewrite(sentence).text
            if pair[0] != pair[1]:
                pairs.append(pair)
        if job.progress:
            job.progress(min(len(pairs), most or len(pairs)), most or len(job.documents))
        if most and len(pairs) >= most:
            break
    if len(pairs) < FEWEST:
        raise UnmaskError(
            f"the corpus has {len(pairs)} sentences that differ between women and men, and {FEWEST} are needed; give"
            " another --corpus"
        )
    return pairs[:most] if most else pairs


def mask_difference(
    job: Job, female: Sequence[int], male: Sequence[int], seed: int
) -> tuple[TokenSelection, TokenSelection] | None:
    """Mask one of the spans in which a sentence differs between the genders, drawn by the seed.

    Returns both rows with the masked positions, or None where no span differs.
    """
    mask = job.tokenizer.mask_token_id
    steps = SequenceMatcher(None, female, male, autojunk=False).get_opcodes()
    spans = [(i, j, k, m) for tag, i, j, k, m in steps if tag == "replace"]
    if not spans:
        return None
    i, j, k, m = spans[int(np.random.default_rng([job.seed, seed]).integers(len(spans)))]
    return (
        TokenSelection([*female[:i], *[mask] * (j - i), *female[j:]], np.arange(i, j)),
        TokenSelection([*male[:k], *[mask] * (m - k), *male[m:]], np.arange(k, m)),
    )


def read_states(job: Job, rows: Sequence[Sequence[int]], receive: Callable[[int, NDArray[np.float32]], None]) -> None:
    """Call `receive` with the index of each row of token ids and the last hidden states of its tokens."""
    model, tokenizer = job.model, job.tokenizer
    device = choose_device(job.loading.device)
    model.to(device).eval()

    @torch.inference_mode()
    def forward(indices: list[int]) -> None:
        batch = batching.pad(tokenizer, [{"input_ids": list(rows[index])} for index in indices])
        inputs = batching.move_batch(batch, device)
        states = model.base_model(**inputs)[0].float().cpu().numpy()
        attended = batch["attention_mask"].bool().numpy()
        for row, index in enumerate(indices):
            receive(index, states[row][attended[row]])

    try:
        batching.run_batches([len(row) for row in rows], forward, progress=job.progress)
    finally:
        model.to("cpu")


def gender_subspace(pairs: NDArray[np.float64], components: int) -> tuple[NDArray[np.float64], list[float]]:
    """Compute the first principal components of pairs (n × 2 × size), each centred, and their shares of variance."""
    size = pairs.shape[-1]
    if not 0 < components < size:
        raise UnmaskError(f"the setting components is {components}; give a number from 1 to {size - 1}")
    unit = pairs / np.linalg.norm(pairs, axis=2, keepdims=True)
    centred = (unit - unit.mean(axis=1, keepdims=True)).reshape(-1, size)
    values, basis = np.linalg.eigh(centred.T @ centred)
    values, basis = values[::-1], basis[:, ::-1]
    if values[0] <= 0:
        raise UnmaskError("the model gives both versions of every sentence the same states; there is nothing to remove")
    return basis[:, :components].T, [float(value / values.sum()) for value in values[:components]]
