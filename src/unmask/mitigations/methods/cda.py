"""Counterfactual data augmentation, two-sided: the model goes on learning from every document and its mirror image.

Each document stands beside itself in the other gender, so whatever is said of a woman is said of a man as often.
Zhao et al. (2018); Lu et al. (2020).
"""

from __future__ import annotations

from typing import Any

from unmask.errors import UnmaskError
from unmask.mitigations.method import Job, Method
from unmask.mitigations.training import SubstitutionOptions, finetune_on_documents, swap_documents


def apply(job: Job) -> dict[str, Any]:
    """Train on both versions of every document."""
    mirrored = swap_documents(job, job.documents)
    versions = [(one, other) if one != other else (one,) for one, other in zip(job.documents, mirrored, strict=True)]
    if all(len(both) == 1 for both in versions):
        raise UnmaskError(
            "no document of the corpus mentions a gender, so none has a mirror image; give another --corpus"
        )
    return {"augmented_documents": sum(len(both) == 2 for both in versions), **finetune_on_documents(job, versions)}


METHOD = Method(
    about="Masked-LM fine-tuning on every document together with itself in the other gender.",
    citation="Zhao et al. (2018), Gender Bias in Coreference Resolution, and Lu et al. (2020), Gender Bias in Neural"
    " Natural Language Processing",
    options=SubstitutionOptions,
    apply=apply,
    trains=True,
)
