"""Whether a model was made from another, by the hashes in its record, and what a comparison says of that."""

from __future__ import annotations

from unmask.results import Caveat, Side
from unmask.workflows.compared_models import Subject


def made_from(before: Subject, after: Subject) -> bool | None:
    """Whether its record says that a model was made from the one before; None where that is not known."""
    parent, known = after.result.model.parent_weight_hash, before.result.model.weight_hash
    return None if parent is None or known is None else parent == known


def stranger(before: Subject, after: Subject) -> Caveat:
    """Its record names another model than the one before."""
    return Caveat(
        code="not-made-from",
        text=f"{after.name} was not made from {before.name}: its record names a model with other weights. What differs"
        " between the two need not be the work of the mitigation.",
    )


def side_of(subject: Subject, before: Subject | None = None) -> Side:
    """A side as the result names it; one after with where it comes from."""
    made = None if before is None else made_from(before, subject)
    lineage = ""
    if before is not None and made is not None:
        by = f"by {subject.result.model.mitigation}" if subject.result.model.mitigation else "by a mitigation"
        lineage = (
            f"Made from {before.name} {by}: the weights that its record names are those that were measured before."
            if made
            else f"Not made from {before.name}: its record names a model with other weights."
        )
    return Side(
        name=subject.name,
        model=subject.result.model,
        audit=None if subject.folder is None else str(subject.folder),
        created=subject.result.created,
        lineage=lineage,
    )
