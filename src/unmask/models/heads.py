"""What becomes of a classifier's head when the model is trained: kept where it knows the labels, else made anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unmask.errors import quote
from unmask.lexicon.labels import match_labels
from unmask.models.checkpoints import Source, find_checkpoint
from unmask.models.kinds import made_to_classify
from unmask.options import LoadOptions


@dataclass(frozen=True)
class Head:
    """The head of a model that is to learn some labels."""

    labels: tuple[str, ...]
    """Those to learn, in the order of the model's outputs: the base's own, where it knows the same labels."""
    is_kept: bool
    """Whether the base knows the same labels, in any order and spelling."""
    lost: str = ""
    """What a user has to know where a head that was there is not kept, in words."""


def head_of(source: Source, labels: Sequence[str]) -> Head:
    """What becomes of the head of a base model that is to learn the labels."""
    before = [name for _, name in sorted(named_labels(source).items())]
    same = match_labels(before, labels)
    if same is not None:
        return Head(tuple(same), is_kept=True)
    lost = ""
    if made_to_classify(source):
        why = f"({quote(before)}) are not {', '.join(labels)}" if before else "have no names"
        lost = f"its head is made anew: its labels {why}"
    return Head(tuple(labels), is_kept=False, lost=lost)


def lost_heads(models: Iterable[str], labels: Sequence[str], options: LoadOptions) -> list[str]:
    """What a user has to know before base models are trained for the labels, a line for each of which there is."""
    lost = {model: head_of(find_checkpoint(model, options), labels).lost for model in models}
    return [f"{model}: {line}" for model, line in lost.items() if line]


def named_labels(source: Source) -> dict[int, str]:
    """The labels of a checkpoint, by the place of their output; none where nothing says them."""
    return {int(at): str(label) for at, label in (source.config.get("id2label") or {}).items()}
