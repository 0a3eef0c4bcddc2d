"""Name-based counterfactual data substitution, and masked-LM fine-tuning on the result.

Each document is put into the other gender, first names included, with probability one half, so that the text as a
whole says the same of women and of men, and no document is learned together with its mirror image. The model then
continues with its pretraining task: 15 % of the pieces of a sentence are to be guessed.

`published` repeats the code behind the paper: every document exchanged, by the authors' lists; 2e-5 and no warm-up;
sentences one at a time, filled with attended mask tokens (`PublishedMasking`).

R. Hall Maudslay et al. (2019), It's All in the Name; M. Bartl, M. Nissim and A. Gatt (2020), Unmasking Contextual
Stereotypes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unmask import datasets
from unmask.errors import UnmaskError
from unmask.mitigations.method import Job, Method
from unmask.mitigations.training import (
    PublishedMasking,
    SubstitutionOptions,
    finetune_on_documents,
    rewrite_documents,
    swap_documents,
)
from unmask.options import option
from unmask.rewriting.options import DocumentSampler, RewriteOptions, build_rewriter
from unmask.training.tasks import MaskedLanguageModelling


class CDSOptions(SubstitutionOptions):
    """How to train, how the text is rewritten, and how much of it."""

    probability: float = option(0.5, "How likely a document is put into the other gender.", minimum=0, maximum=1)
    lists: str | None = option(
        None,
        "For --protocol published: the folder with the authors' pairs of words and names. Default: the data set cds.",
        path=True,
    )


def apply(job: Job) -> dict[str, Any]:
    """Train on the text, some of it in the other gender."""
    documents, task = list(job.documents), MaskedLanguageModelling
    if job.protocol == "published":
        documents, task = _rewrite_as_published(job), PublishedMasking
    elif job.options.lists:
        raise UnmaskError(f"the lists in {job.options.lists} belong to --protocol published; ask for it, or leave them")
    else:
        sampler = DocumentSampler(job.options.probability, job.seed)
        selected = [index for index, document in enumerate(documents) if sampler.selects(document.encode())]
        for index, swapped in zip(selected, swap_documents(job, [documents[i] for i in selected]), strict=True):
            documents[index] = swapped
    changed = sum(before != after for before, after in zip(job.documents, documents, strict=True))
    if not changed and job.protocol == "sound":
        raise UnmaskError("no document of the corpus was changed: none that was chosen mentions a gender; give another")
    return {
        "changed_documents": changed,
        **finetune_on_documents(job, [(document,) for document in documents], task),
    }


def _rewrite_as_published(job: Job) -> list[str]:
    if job.language != "en":
        raise UnmaskError(f"the published protocol is English, not {job.language!r}; use --protocol sound")
    lists = Path(job.options.lists) if job.options.lists else datasets.locate("cds", offline=job.loading.offline)
    engine = build_rewriter(RewriteOptions(to="swap", protocol="published", names=True, lists=lists))
    job.say(f"Rewriting {len(job.documents):,} documents by the authors' lists")
    return rewrite_documents(job, job.documents, engine)


METHOD = Method(
    about="Masked-LM fine-tuning on text of which some documents (all, as published) have their people, and their"
    " names, in the other gender.",
    citation="Hall Maudslay et al. (2019), It's All in the Name: Mitigating Gender Bias with Name-Based Counterfactual"
    " Data Substitution, and Bartl et al. (2020), Unmasking Contextual Stereotypes",
    options=CDSOptions,
    apply=apply,
    trains=True,
    published={
        "learning_rate": 2e-5,
        "warmup": 0.0,
        "weight_decay": 0.0,
        "batch_size": 1,
        "probability": 1.0,
        "names": True,
        "terms": "all",
        "quick": False,
        "held_out": 0.0,
        "max_length": 512,
        "precision": "no",
    },
)
