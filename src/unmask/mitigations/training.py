"""Training, for the methods that train: shared settings, interruptible runs, and fine-tuning on rewritten text.

Counterfactual substitution and augmentation both fine-tune a masked language model on rewritten documents.
`PublishedMasking` repeats the masking of the code behind Bartl et al. (2020), errors included. All sentences are cut or
padded to one length, the least power of two that is not below the largest number of words between white space (words,
not pieces). They are padded with mask tokens, and every token is attended to. Of all tokens but the first and last
special ones, 15 % are chosen by independent draws, padding included, so most of what is learned is to predict a mask
where a mask is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unmask.errors import UnmaskError
from unmask.mitigations.corpus import hash_texts, split_sentences
from unmask.mitigations.method import Job
from unmask.models.batching import max_tokens
from unmask.options import option
from unmask.resumable import RUN
from unmask.training.checkpoints import Workspace
from unmask.training.examples import Example
from unmask.training.loop import fit, make_accelerator
from unmask.training.options import FEWEST_TOKENS, LoopOptions, TrainingOptions
from unmask.training.tasks import IGNORED, MASKED, Batch, Features, MaskedLanguageModelling, Task


class MethodTrainingOptions(LoopOptions):
    """How a method trains; the seed is the command's own."""

    learning_rate: float = option(5e-5, "The highest learning rate.", above=0)
    batch_size: int = option(32, "Sentences per step.", minimum=1)
    max_length: int = option(128, "Tokens; longer sentences are split.", minimum=FEWEST_TOKENS)
    held_out: float = option(0.05, "The share of documents that only show how training goes.", minimum=0, below=1)

    def loop(self, seed: int) -> TrainingOptions:
        """As the training loop takes them; the last weights are kept, since nothing is chosen by the held-out text."""
        return TrainingOptions(**dict(self.part(LoopOptions)), seed=seed, keep="last")


def train(job: Job, task: Task, learned: Sequence[Features], held_out: Sequence[Features]) -> dict[str, Any]:
    """Train the job's model, or go on where an earlier run stopped; gives how it went."""
    settings = job.options.loop(job.seed)
    accelerator = make_accelerator(settings, job.loading)
    if accelerator.num_processes > 1:
        raise UnmaskError(
            f"a mitigation runs in one process, not in {accelerator.num_processes}; start it without a launcher"
        )
    workspace = Workspace(job.out)
    going_on = workspace.claim(job.identity | {"precision": str(accelerator.mixed_precision)}, restart=job.restart)
    job.say(f"{'Going on with' if going_on else 'Training'} {job.subject.name} on {len(learned):,} sequences")
    model = job.model
    outcome = fit(model, task, learned, held_out, settings, workspace, accelerator=accelerator, watch=job.watch)
    model.to("cpu")
    return {
        "sequences": len(learned),
        "held_out_sequences": len(held_out),
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 1),
        "device": accelerator.device.type,
        "mixed_precision": str(accelerator.mixed_precision),
        "history": outcome.history,
    }


def check_no_unfinished_run(out: Path) -> None:
    """A method that does not train must not do away with what one that does has kept."""
    folder = Workspace(out).folder
    if folder.exists():
        raise UnmaskError(
            f"{folder} holds an unfinished run of another method; finish it, give another --out, or --restart to"
            " forget it"
        )


def remove_unfinished(out: Path) -> None:
    """Remove what an interrupted run would have needed: the folder is there."""
    workspace = Workspace(out)
    if (workspace.folder / RUN).is_file():  # and nothing of the user's
        workspace.remove()


class PublishedMasking(MaskedLanguageModelling):
    """The task as published; a drop-in for `MaskedLanguageModelling`."""

    def features(self, examples: Sequence[Example]) -> list[Features]:
        """Tokenise, cut, fill."""
        length = published_length([one.text for one in examples], self.max_length)
        encoded = self.tokenizer([one.text for one in examples], verbose=False)["input_ids"]
        mask = self.tokenizer.mask_token_id
        return [{"input_ids": [*ids, *[mask] * length][:length]} for ids in encoded]

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Mask; the rows are all of one length."""
        rows = [self._chosen(one["input_ids"], draw) for one, draw in zip(features, draws, strict=True)]
        shown = torch.tensor([ids for ids, _ in rows])
        return {
            "input_ids": shown,
            "attention_mask": torch.ones_like(shown),
            "labels": torch.tensor([labels for _, labels in rows]),
        }

    def _chosen(self, ids: list[int], draw: tuple[int, ...]) -> tuple[list[int], list[int]]:
        choice = np.random.default_rng([self.seed, *draw])
        tokens = np.array(ids)
        frame = np.isin(tokens, [self.tokenizer.cls_token_id, self.tokenizer.sep_token_id])
        chosen = (choice.random(len(ids)) < MASKED) & ~frame
        fates = choice.random(len(ids))
        others = choice.integers(len(self.tokenizer), size=len(ids))
        shown = np.where(chosen & (fates < 0.8), self.tokenizer.mask_token_id, tokens)
        shown = np.where(chosen & (fates >= 0.8) & (fates < 0.9), others, shown)
        return shown.tolist(), np.where(chosen, tokens, IGNORED).tolist()


def published_length(texts: Sequence[str], most: int) -> int:
    """The least power of two that is not below the largest number of words, as far as the model goes."""
    words = max((len(text.split()) for text in texts), default=1)
    return min(1 << (max(words, 1) - 1).bit_length(), most)


class SubstitutionOptions(MethodTrainingOptions):
    """How to train, and how the text is rewritten."""

    names: bool = option(True, "Exchange first names too (English).")
    terms: str = option("all", "Which words change: pronouns, family, all, or a CSV of your own.", path=True)
    quick: bool = option(False, "Decide her/his by the words beside it alone, without asking a model in doubt.")


def swap_documents(job: Job, documents: Sequence[str]) -> list[str]:
    """Documents in the other gender."""
    from unmask.rewriting import rewriter

    options = job.options
    if options.names and job.language != "en":
        raise UnmaskError(f"names are exchanged in English only, not in {job.language!r}; give --set names=no")
    engine = rewriter("swap", terms=options.terms, names=options.names, language=job.language, quick=options.quick)
    job.say(f"Rewriting {len(documents):,} documents")
    return rewrite_documents(job, documents, engine)


def rewrite_documents(job: Job, documents: Sequence[str], engine: Any) -> list[str]:
    """Documents as the engine rewrites them."""
    found = []
    for at, document in enumerate(documents, 1):
        found.append(engine.rewrite(document).text)
        if job.progress:
            job.progress(at, len(documents))
    return found


def finetune_on_documents(
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
        parts[at in kept_back] += [one for text in versions for one in split_sentences(text, job.language)]
    model, tokenizer = job.model, job.tokenizer
    length = min(job.options.max_length, max_tokens(model) or job.options.max_length)
    task = kind(tokenizer, length, seed=job.seed)
    learned, held_out = (
        task.features([Example(text) for text in parts[side]]) if parts[side] else [] for side in (False, True)
    )
    if not learned:
        raise UnmaskError("no sentence of the corpus has a word that the model knows; give another --corpus")
    text = hash_texts([*parts[False], *parts[True]])
    job = replace(job, identity=job.identity | {"text as it is learned": text})
    return {
        "sentences": len(parts[False]) + len(parts[True]),
        "hash_of_the_text": text,
        **train(job, task, learned, held_out),
    }
