"""Sentences in both genders, and what a model's last hidden state is for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.mitigations.corpus import sentences
from unmask.mitigations.method import Job
from unmask.models import engine
from unmask.models.positions import most_tokens
from unmask.models.sources import device

LONGEST = 128
FEWEST = 10
TOKENS = ("all", "mean", "first")
"""What stands for a sentence: each of its ordinary tokens, their mean, or its first token ([CLS])."""
Take = Callable[[int, NDArray[np.float64]], None]


def in_both_genders(job: Job, most: int, words: frozenset[str] | None = None) -> list[tuple[str, str]]:
    """Sentences of the job's text as they stand of women and of men, where the two differ.

    With `words`, a sentence must hold one of them. Documents are taken in an order drawn by the seed, until there are
    `most` sentences (0: no end).
    """
    from unmask.counterfactual import rewriter

    if most < 0:
        raise UnmaskError(f"the setting sentences is {most}; give how many to use, or 0 for all")
    names = job.language == "en"
    female, male = (rewriter(to, names=names, language=job.language) for to in ("female", "male"))
    found: list[tuple[str, str]] = []
    for at in np.random.default_rng(job.seed).permutation(len(job.documents)):
        for sentence in sentences(job.documents[at], job.language):
            if words is not None and words.isdisjoint(_words(sentence)):
                continue
            pair = female.rewrite(sentence).text, male.rewrite(sentence).text
            if pair[0] != pair[1]:
                found.append(pair)
        if job.progress:
            job.progress(min(len(found), most or len(found)), most or len(job.documents))
        if most and len(found) >= most:
            break
    if len(found) < FEWEST:
        raise UnmaskError(
            f"the corpus has {len(found)} sentences that differ between women and men, and {FEWEST} are needed; give"
            " another --corpus"
        )
    return found[:most] if most else found


def _words(sentence: str) -> set[str]:
    return set("".join(letter if letter.isalpha() else " " for letter in sentence.lower()).split())


def each_state(job: Job, texts: Sequence[str], tokens: str, take: Take) -> None:
    """Call `take` with each text's place and its last hidden states: all ordinary tokens', their mean, or the first's.

    Batches are by length, and made smaller where memory is short.
    """
    model, tokenizer = job.subject.model, job.subject.tokenizer  # type: ignore[attr-defined]
    where = device(job.loading.device)
    limit = min(LONGEST, most_tokens(model) or LONGEST)
    encoded = tokenizer(list(texts), truncation=True, max_length=limit)
    ids = encoded["input_ids"]
    special = set(tokenizer.all_special_ids)
    model.to(where).eval()

    @torch.inference_mode()
    def forward(places: list[int]) -> None:
        batch = tokenizer.pad([{name: encoded[name][at] for name in encoded} for at in places], return_tensors="pt")
        hidden = model.base_model(**{name: tensor.to(where) for name, tensor in batch.items()})[0].double().cpu()
        for row, at in enumerate(places):
            attended = batch["attention_mask"][row].bool()
            states = hidden[row][attended].numpy()
            ordinary = np.array([token not in special for token in ids[at]])
            if tokens == "first":
                take(at, states[:1])
            elif ordinary.any():
                take(at, states[ordinary] if tokens == "all" else states[ordinary].mean(axis=0, keepdims=True))

    try:
        engine.run([len(one) for one in ids], forward, progress=job.progress)
    finally:
        model.to("cpu")


def a_batch(job: Job, text: str) -> dict[str, Any]:
    """A small input of the model's, to watch it at work."""
    inputs = job.subject.tokenizer([text], truncation=True, max_length=16, return_tensors="pt")  # type: ignore[attr-defined]
    return dict(inputs)
