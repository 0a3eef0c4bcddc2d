"""Context-Debias: fine-tuning that makes stereotype words orthogonal to gender, and keeps the rest as it was.

The loss is that of `context_loss`. The sentences of the corpus are sorted by their words: those
with words of one gender give that gender's vector and are to stay as they are, those with a stereotype word and no
gendered one are to change. The three kinds count alike, as in the published code.

The defaults are the published ones: all tokens, all layers, α .2, β .8, AdamW 5e-5 without warm-up or decay, 32
sentences a step, 3 epochs. One thing is not: each part of the loss is relative to the original model (`relative`),
without which the preserving part has no say. The gendered words are ours; the published lists can be given as files.

Several stereotype words are professions that the association measure asks about, so the record says which: on those, a
smaller association shows that the training did what it was asked to, and little about professions that it did not see.

M. Kaneko and D. Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings, EACL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import model_validator

from unmask.errors import UnmaskError
from unmask.mitigations.context_loss import (
    KINDS,
    LAYERS,
    TOKENS,
    ContextDebias,
    count_stereotypes,
    sort_sentences,
    word_lists,
)
from unmask.mitigations.corpus import hash_texts, split_sentences
from unmask.mitigations.method import Job, Method
from unmask.mitigations.training import MethodTrainingOptions, train
from unmask.models.batching import max_tokens
from unmask.options import option
from unmask.training.examples import Example
from unmask.training.loop import evaluate, make_accelerator
from unmask.training.options import FEWEST_TOKENS
from unmask.training.tasks import Features

MOST_HELD_OUT = 1000
ASKED_FOR = {
    "stereotype": "a stereotype word and no gendered one",
    "female": "a female word and no male one",
    "male": "a male word and no female one",
}


class ContextDebiasOptions(MethodTrainingOptions):
    """How to train, what the loss looks at, and lists of your own."""

    warmup: float = option(
        0.0, "The share of steps in which the learning rate rises; then it falls to 0.", minimum=0, below=1
    )
    weight_decay: float = option(0.0, "Weight decay of AdamW.", minimum=0)
    max_length: int = option(128, "Tokens; longer sentences are cut.", minimum=FEWEST_TOKENS)
    held_out: float = option(
        0.05,
        "The share of each kind of sentence that only shows how training goes, 1,000 at most.",
        minimum=0,
        below=1,
    )
    precision: str = option(
        "no", "no: what is compared differs by little, so this method trains in full precision.", choices=("no",)
    )
    tokens: str = option(
        "all",
        "What is made orthogonal to gender: all tokens of a sentence, or one, the stereotype word.",
        choices=TOKENS,
    )
    layers: str = option("all", "At which layers: all, last, or first (the embeddings).", choices=LAYERS)
    alpha: float = option(0.2, "The weight of orthogonality.", above=0)
    beta: float = option(0.8, "The weight of keeping what sentences with gendered words mean.", minimum=0)
    sentences: int = option(0, "The most sentences of each kind (female, male, stereotype); 0: all.", minimum=0)
    relative: bool = option(
        True, "Make each part of the loss relative to the original model, so that neither outweighs the other."
    )
    balance: bool = option(True, "Count the three kinds of sentence alike, however many there are of each.")
    stereotypes: str | None = option(
        None, "A .txt with one stereotype word per line, in place of the built-in list.", path=True
    )
    female: str | None = option(
        None, "A .txt with one female word per line, in place of the built-in ones; needs male too.", path=True
    )
    male: str | None = option(None, "A .txt with one male word per line; needs female too.", path=True)

    @model_validator(mode="after")
    def _check_lists(self) -> ContextDebiasOptions:
        if bool(self.female) != bool(self.male):
            raise UnmaskError("of the settings female and male only one is given; give a file for each")
        return self


def apply(job: Job) -> dict[str, Any]:
    """Sort the sentences, take the gender vectors, train."""
    settings: ContextDebiasOptions = job.options
    accelerator = make_accelerator(settings.loop(job.seed), job.loading)
    genders = (Path(settings.female), Path(settings.male)) if settings.female and settings.male else None
    lists = word_lists(job.language, genders, Path(settings.stereotypes) if settings.stereotypes else None)
    hashes = {kind: hash_texts(sorted(words)) for kind, words in lists.items()}
    job = replace(job, identity=job.identity | {"lists of words": hash_texts(hashes.values())})
    job.say(f"Sorting the sentences of {len(job.documents):,} documents by their words")
    texts = (text for document in job.documents for text in split_sentences(document, job.language))
    found, others = sort_sentences(texts, lists)
    learned, held_out = _drawn(job, found)
    model, tokenizer = job.model, job.tokenizer
    length = min(settings.max_length, max_tokens(model) or settings.max_length)
    how = {name: getattr(settings, name) for name in ("tokens", "layers", "alpha", "beta")}
    task = ContextDebias(model, tokenizer, lists, length, **how)
    rows, kept_back = _features(task, learned), _features(task, held_out)
    _refuse_none(rows)
    job.say("Taking the gender vectors from the model as it is")
    how = {name: getattr(settings, name) for name in ("balance", "relative")}
    task.learn_genders(rows, accelerator, rows=settings.batch_size, **how)
    before = None
    if kept_back:
        model.to(accelerator.device)
        before = evaluate(model, task, kept_back, accelerator, rows=settings.batch_size)
    return {
        "sentences": {
            "found": {kind: len(texts) for kind, texts in found.items()} | others,
            "learned": _counts(rows),
            "held_out": _counts(kept_back),
        },
        "words": {kind: {"listed": len(words), "hash": hashes[kind]} for kind, words in lists.items()},
        "gender_vectors": _alike(task.vectors),
        "seen_in_training": count_stereotypes(learned["stereotype"], lists["stereotype"]),
        "before": before,
        **train(job, task, rows, kept_back),
    }


def _drawn(job: Job, found: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What is learned and what is held out of each kind, by a draw that the seed decides."""
    learned, held_out = {}, {}
    for at, (kind, texts) in enumerate(found.items()):
        order = np.random.default_rng([job.seed, at]).permutation(len(texts))[: job.options.sentences or None]
        back = min(MOST_HELD_OUT, int(job.options.held_out * len(order)))
        held_out[kind] = [texts[place] for place in order[:back]]
        learned[kind] = [texts[place] for place in order[back:]]
    return learned, held_out


def _features(task: ContextDebias, texts: Mapping[str, Sequence[str]]) -> list[Features]:
    return task.features([Example(text, label=kind) for kind in KINDS for text in texts[kind]])


def _counts(rows: Sequence[Features]) -> dict[str, int]:
    return {kind: sum(row["labels"] == [at] for row in rows) for at, kind in enumerate(KINDS)}


def _refuse_none(rows: Sequence[Features]) -> None:
    for kind, count in _counts(rows).items():
        if not count:
            raise UnmaskError(
                f"no sentence of the corpus has {ASKED_FOR[kind]} that the model knows; give another --corpus, or words"
                f" with --set {'stereotypes' if kind == 'stereotype' else kind}=FILE"
            )


def _alike(vectors: torch.Tensor) -> dict[str, list[float]]:
    """How long the gender vectors are at each layer, and how near to each other."""
    female, male = vectors.double().unbind(dim=1)
    cosine = torch.nn.functional.cosine_similarity(female, male, dim=-1)
    figures = {"female_length": female.norm(dim=-1), "male_length": male.norm(dim=-1), "cosine": cosine}
    return {name: [round(value, 4) for value in values.tolist()] for name, values in figures.items()}


METHOD = Method(
    about="Fine-tuning that makes the states of stereotype words orthogonal to the mean states of female and of male"
    " words, and keeps those of sentences with gendered words.",
    citation="Kaneko and Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings",
    options=ContextDebiasOptions,
    apply=apply,
    trains=True,
)
