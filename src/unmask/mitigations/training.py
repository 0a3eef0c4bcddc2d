"""Training, for the methods that train: shared options, resumable runs, and fine-tuning on rewritten text.

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

from unmask.errors import UnmaskError
from unmask.lexicon.sentences import split_sentences
from unmask.mitigations.corpus import hash_texts
from unmask.mitigations.method import Job
from unmask.models.batching import IGNORED, max_tokens
from unmask.options import option
from unmask.resumable import RUN
from unmask.training.checkpoints import Workspace
from unmask.training.examples import TextExample
from unmask.training.loop import fit, make_accelerator
from unmask.training.options import FEWEST_TOKENS, LoopOptions, TrainingOptions
from unmask.training.tasks import MASKED, Features, MaskedLanguageModelling, Task


class MethodTrainingOptions(LoopOptions):
    """How a method trains; the seed is the command's own."""

    learning_rate: float = option(5e-5, "The highest learning rate.", above=0)
    batch_size: int = option(32, "Sentences per step.", minimum=1)
    max_length: int = option(128, "Tokens; longer sentences are split.", minimum=FEWEST_TOKENS)
    held_out: float = option(0.05, "The share of documents that only show how training goes.", minimum=0, below=1)

    def loop(self, seed: int) -> TrainingOptions:
        """Build the options of the loop; the last weights are kept, since held-out text selects nothing."""
        return TrainingOptions(**dict(self.part(LoopOptions)), seed=seed, keep="last")


class SubstitutionOptions(MethodTrainingOptions):
    """How to train, and how the text is rewritten."""

    names: bool = option(True, "Exchange first names too (English).")
    terms: str = option("all", "Which words change: pronouns, family, all, or a CSV of your own.", path=True)
    quick: bool = option(False, "Decide her/his by the words beside it alone, without asking a model in doubt.")


def train(
    job: Job,
    task: Task,
    learned: Sequence[Features],
    held_out: Sequence[Features],
    settings: TrainingOptions | None = None,
) -> dict[str, Any]:
    """Train the job's model, or resume an interrupted run; returns how it went. `settings`: default, by the options."""
    settings = settings or job.options.loop(job.seed)
    accelerator = make_accelerator(settings, job.loading)
    if accelerator.num_processes > 1:
        raise UnmaskError(
            f"a mitigation runs in one process, not in {accelerator.num_processes}; start it without a launcher"
        )
    if hasattr(task, "state_dict"):
        accelerator.register_for_checkpointing(task)
    workspace = Workspace(job.out)
    resumes = workspace.claim(job.identity | {"precision": str(accelerator.mixed_precision)}, restart=job.restart)
    job.say(f"{'Resuming' if resumes else 'Training'} {job.subject.name} on {len(learned):,} sequences")
    state = fit(job.model, task, learned, held_out, settings, workspace, accelerator=accelerator, watch=job.watch)
    job.model.to("cpu")
    return {
        "sequences": len(learned),
        "held_out_sequences": len(held_out),
        "steps": state.step,
        "seconds": round(state.seconds, 1),
        "device": accelerator.device.type,
        "mixed_precision": str(accelerator.mixed_precision),
        "history": state.history,
    }


def check_no_unfinished_run(out: Path) -> None:
    """Keep a method that does not train from deleting the checkpoints of one that does."""
    folder = Workspace(out).folder
    if folder.exists():
        raise UnmaskError(
            f"{folder} holds an unfinished run of another method; finish it, give another --out, or --restart to"
            " forget it"
        )


def remove_unfinished(out: Path) -> None:
    """Remove the checkpoints of a finished run, and nothing of the user's."""
    workspace = Workspace(out)
    if (workspace.folder / RUN).is_file():
        workspace.remove()


class PublishedMasking(MaskedLanguageModelling):
    """The task as published; a drop-in for `MaskedLanguageModelling`."""

    def features(self, examples: Sequence[TextExample]) -> list[Features]:
        """Tokenise, cut, and pad with masks."""
        length = published_length([example.text for example in examples], self.max_length)
        encoded = self.tokenizer([example.text for example in examples], verbose=False)["input_ids"]
        mask = self.tokenizer.mask_token_id
        return [{"input_ids": [*ids, *[mask] * length][:length]} for ids in encoded]

    def _mask(self, ids: list[int], draw: tuple[int, ...]) -> tuple[list[int], list[int]]:
        generator = np.random.default_rng([self.seed, *draw])
        tokens = np.array(ids)
        frame = np.isin(tokens, [self.tokenizer.cls_token_id, self.tokenizer.sep_token_id])
        selected = (generator.random(len(ids)) < MASKED) & ~frame
        fates = generator.random(len(ids))
        random_tokens = generator.integers(len(self.tokenizer), size=len(ids))
        masked = np.where(selected & (fates < 0.8), self.tokenizer.mask_token_id, tokens)
        masked = np.where(selected & (fates >= 0.8) & (fates < 0.9), random_tokens, masked)
        return masked.tolist(), np.where(selected, tokens, IGNORED).tolist()


def published_length(texts: Sequence[str], most: int) -> int:
    """Return the least power of two that is not below the largest number of words, as far as the model goes."""
    words = max((len(text.split()) for text in texts), default=1)
    return min(1 << (max(words, 1) - 1).bit_length(), most)


def swap_documents(job: Job, documents: Sequence[str]) -> list[str]:
    """Rewrite documents into the other gender."""
    from unmask.rewriting import rewriter

    options = job.options
    if options.names and job.language != "en":
        raise UnmaskError(f"names are exchanged in English only, not in {job.language!r}; give --set names=no")
    engine = rewriter("swap", terms=options.terms, names=options.names, language=job.language, quick=options.quick)
    job.say(f"Rewriting {len(documents):,} documents")
    return rewrite_documents(job, documents, engine)


def rewrite_documents(job: Job, documents: Sequence[str], engine: Any) -> list[str]:
    """Rewrite documents with a rewriter, and report progress."""
    rewritten = []
    for count, document in enumerate(documents, 1):
        rewritten.append(engine.rewrite(document).text)
        if job.progress:
            job.progress(count, len(documents))
    return rewritten


def finetune_on_documents(
    job: Job, documents: Sequence[Sequence[str]], task_type: type[MaskedLanguageModelling] = MaskedLanguageModelling
) -> dict[str, Any]:
    """Fine-tune on the sentences of documents; each entry holds the versions of one, which stay together.

    A share of the documents is held out, and only shows how training goes.
    """
    order = np.random.default_rng(job.seed).permutation(len(documents))
    held_out = set(order[: round(job.options.held_out * len(documents))].tolist())
    sentences: dict[bool, list[str]] = {False: [], True: []}
    for index, versions in enumerate(documents):
        for text in versions:
            sentences[index in held_out] += split_sentences(text, job.language)
    length = min(job.options.max_length, max_tokens(job.model) or job.options.max_length)
    task = task_type(job.tokenizer, length, seed=job.seed)
    learned_rows, held_out_rows = (
        task.features([TextExample(text) for text in texts]) if texts else [] for texts in sentences.values()
    )
    if not learned_rows:
        raise UnmaskError("no sentence of the corpus has a word that the model knows; give another --corpus")
    text_hash = hash_texts([*sentences[False], *sentences[True]])
    job = replace(job, identity=job.identity | {"text as it is learned": text_hash})
    return {
        "sentences": len(sentences[False]) + len(sentences[True]),
        "hash_of_the_text": text_hash,
        **train(job, task, learned_rows, held_out_rows),
    }
