"""Masked-LM fine-tuning on rewritten text: what counterfactual substitution and augmentation have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unmask.errors import UnmaskError
from unmask.mitigations.corpus import digest, sentences
from unmask.mitigations.finetuning import MethodTrainingOptions, train
from unmask.mitigations.method import Job
from unmask.models.positions import most_tokens
from unmask.options import option
from unmask.training.examples import Example
from unmask.training.tasks import MaskedLanguageModelling


class SubstitutionOptions(MethodTrainingOptions):
    """How to train, and how the text is rewritten."""

    names: bool = option(True, "Exchange first names too (English).")
    terms: str = option("all", "Which words change: pronouns, family, all, or a CSV of your own.", path=True)
    quick: bool = option(False, "Decide her/his by the words beside it alone, without asking a model in doubt.")


def swapped(job: Job, documents: Sequence[str]) -> list[str]:
    """Documents in the other gender."""
    from unmask.counterfactual import rewriter

    options = job.options
    if options.names and job.language != "en":
        raise UnmaskError(f"names are exchanged in English only, not in {job.language!r}; give --set names=no")
    engine = rewriter("swap", terms=options.terms, names=options.names, language=job.language, quick=options.quick)
    job.say(f"Rewriting {len(documents):,} documents")
    return rewritten(job, documents, engine)


def rewritten(job: Job, documents: Sequence[str], engine: Any) -> list[str]:
    """Documents as the engine rewrites them."""
    found = []
    for at, document in enumerate(documents, 1):
        found.append(engine.rewrite(document).text)
        if job.progress:
            job.progress(at, len(documents))
    return found


def finetune(
    job: Job, documents: Sequence[Sequence[str]], kind: type[MaskedLanguageModelling] = MaskedLanguageModelling
) -> dict[str, Any]:
    """Fine-tune on the sentences of documents; each entry holds the versions of one, which stay on one side.

    A share of the documents is held out, and only shows how training goes.
    """
    share = job.options.held_out
    order = np.random.default_rng(job.seed).permutation(len(documents))
    kept_back = set(order[: round(share * len(documents))].tolist())
    parts: dict[bool, list[str]] = {True: [], False: []}
    for at, versions in enumerate(documents):
        parts[at in kept_back] += [one for text in versions for one in sentences(text, job.language)]
    model, tokenizer = job.model, job.tokenizer
    length = min(job.options.max_length, most_tokens(model) or job.options.max_length)
    task = kind(tokenizer, length, seed=job.seed)
    learned, held_out = (
        task.features([Example(text) for text in parts[side]]) if parts[side] else [] for side in (False, True)
    )
    if not learned:
        raise UnmaskError("no sentence of the corpus has a word that the model knows; give another --corpus")
    text = digest([*parts[False], *parts[True]])
    job = replace(job, identity=job.identity | {"text as it is learned": text})
    return {
        "sentences": len(parts[False]) + len(parts[True]),
        "hash_of_the_text": text,
        **train(job, task, learned, held_out),
    }
