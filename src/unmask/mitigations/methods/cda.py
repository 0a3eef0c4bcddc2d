"""Counterfactual data augmentation, two-sided: the model continues to learn from every document and its mirror image.

Each document is learned together with itself in the other gender, so whatever is said of a woman is said of a man as
often. Zhao et al. (2018); Lu et al. (2020).
"""

from __future__ import annotations

from typing import Any

from unmask.errors import UnmaskError
from unmask.mitigations.method import Job, Method
from unmask.mitigations.training import SubstitutionOptions, finetune_on_documents, swap_documents


def apply(job: Job) -> dict[str, Any]:
    """Train on both versions of every document."""
    swapped = swap_documents(job, job.documents)
    versions = [tuple(dict.fromkeys(pair)) for pair in zip(job.documents, swapped, strict=True)]
    augmented = sum(len(pair) == 2 for pair in versions)
    if not augmented:
        raise UnmaskError(
            "no document of the corpus mentions a gender, so none has a mirror image; give another --corpus"
        )
    return {"augmented_documents": augmented, **finetune_on_documents(job, versions)}


METHOD = Method(
    about="Masked-LM fine-tuning on every document together with itself in the other gender.",
    citation="Zhao et al. (2018), Gender Bias in Coreference Resolution, and Lu et al. (2020), Gender Bias in Neural"
    " Natural Language Processing",
    options=SubstitutionOptions,
    apply=apply,
    trains=True,
)
