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
from unmask.mitigations.corpus import split_sentences
from unmask.mitigations.method import Job
from unmask.models import batching
from unmask.models.batching import max_tokens
from unmask.models.checkpoints import choose_device
from unmask.options import Options, option
from unmask.training.tasks import pad

LONGEST = 128
FEWEST = 10
Take = Callable[[int, NDArray[np.float32]], None]


class StateOptions(Options):
    """Which sentences a method reads states of."""

    sentences: int = option(20_000, "How many sentences to use, each in both genders; 0: all.", minimum=0)

    @field_validator("sentences")
    @classmethod
    def _check_count(cls, value: int) -> int:
        if 0 < value < FEWEST:
            raise ValueError(f"give {FEWEST} or more, or 0 for all")
        return value


class Chosen(NamedTuple):
    """A row of token ids, and which places of it count."""

    ids: list[int]
    place: NDArray[np.intp]


def sentences_in_both_genders(job: Job, most: int, words: frozenset[str] | None = None) -> list[tuple[str, str]]:
    """Sentences of the job's text as they stand of women and of men, where the two differ.

    With `words`, a sentence must hold one of them. Documents are taken in an order drawn by the seed, until there are
    `most` sentences (0: no end).
    """
    from unmask.rewriting import rewriter

    names = job.language == "en"
    female, male = (rewriter(to, names=names, language=job.language) for to in ("female", "male"))
    found: list[tuple[str, str]] = []
    for at in np.random.default_rng(job.seed).permutation(len(job.documents)):
        for sentence in split_sentences(job.documents[at], job.language):
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


def encode_texts(job: Job, texts: Sequence[str]) -> list[list[int]]:
    """The token ids of texts, cut where they are long."""
    limit = min(LONGEST, max_tokens(job.model) or LONGEST)
    ids: list[list[int]] = job.tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
    return ids


def ordinary_tokens(job: Job, ids: Sequence[int]) -> NDArray[np.bool_]:
    """Which tokens are no special ones."""
    special = set(job.tokenizer.all_special_ids)
    return np.array([token not in special for token in ids])


def mask_one_difference(
    job: Job, female: Sequence[int], male: Sequence[int], seed: int
) -> tuple[Chosen, Chosen] | None:
    """A sentence in both genders with one of the places where they differ masked, drawn by the seed; the others stay.

    None where no such place is left.
    """
    mask = job.tokenizer.mask_token_id
    steps = SequenceMatcher(None, female, male, autojunk=False).get_opcodes()
    places = [(i, j, k, m) for kind, i, j, k, m in steps if kind == "replace"]
    if not places:
        return None
    i, j, k, m = places[int(np.random.default_rng([job.seed, seed]).integers(len(places)))]
    return (
        Chosen([*female[:i], *[mask] * (j - i), *female[j:]], np.arange(i, j)),
        Chosen([*male[:k], *[mask] * (m - k), *male[m:]], np.arange(k, m)),
    )


def for_each_state(job: Job, rows: Sequence[Sequence[int]], take: Take) -> None:
    """Call `take` with the place of each row of token ids and the last hidden states of its tokens.

    Batches are by length, and made smaller where memory is short.
    """
    model, tokenizer = job.model, job.tokenizer
    where = choose_device(job.loading.device)
    model.to(where).eval()

    @torch.inference_mode()
    def forward(places: list[int]) -> None:
        batch = pad(tokenizer, [{"input_ids": list(rows[at])} for at in places])
        inputs = {name: tensor.to(where) for name, tensor in batch.items()}
        hidden = model.base_model(**inputs)[0].float().cpu().numpy()
        attended = batch["attention_mask"].bool().numpy()
        for row, at in enumerate(places):
            take(at, hidden[row][attended[row]])

    try:
        batching.run_batches([len(row) for row in rows], forward, progress=job.progress)
    finally:
        model.to("cpu")


def sample_batch(job: Job, text: str) -> dict[str, Any]:
    """A small input of the model's, to watch it at work."""
    return dict(job.tokenizer([text], truncation=True, max_length=16, return_tensors="pt"))
