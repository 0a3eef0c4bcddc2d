"""The models of a comparison, loaded again; refused where one is gone, or is not the one that was audited."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

from unmask.comparing.sides import Subject
from unmask.errors import UnmaskError
from unmask.models.interfaces import Encoder, MaskedLM
from unmask.models.kinds import kind_of
from unmask.models.loading import load_encoder, load_masked_lm
from unmask.models.sources import LoadOptions
from unmask.models.vectors import Vectors, load_vectors
from unmask.probes.asked import words_read

if TYPE_CHECKING:
    from unmask.models.interfaces import Progress

M = TypeVar("M")


def load_again(subject: Subject, loading: LoadOptions, progress: Progress | None = None) -> MaskedLM:
    """The masked language model of a side."""
    return _again(subject, loading, lambda options: load_masked_lm(subject.model, options, progress=progress))


def load_words_again(subject: Subject, loading: LoadOptions, *, most: int | None = None) -> Encoder | Vectors:
    """What gives the words of a side their vectors: its word vectors, or its encoder."""
    kind = _again(subject, loading, lambda options: kind_of(subject.model, options), known=False)
    if kind == "vectors":
        listed = bool(subject.result.configuration.get("word_list"))
        return _again(subject, loading, lambda _: load_vectors(subject.model, most=words_read(most, listed=listed)))
    if kind == "masked-lm" and isinstance(subject.model, str | PathLike):
        return load_encoder(load_again(subject, loading), loading)  # its hash is that of the whole model
    return _again(subject, loading, lambda options: load_encoder(subject.model, options))


def _again(subject: Subject, loading: LoadOptions, load: Callable[[LoadOptions], M], *, known: bool = True) -> M:
    if subject.model is None:
        raise UnmaskError(f"{subject.name} is known by its scores alone")
    if not subject.audited:  # its name stands in a file that may be a stranger's: what you allow is not for that
        loading = loading.replace(allow_pickle=False, allow_remote_code=False)
    try:
        model = load(loading)
    except UnmaskError as error:
        raise UnmaskError(f"{subject.name} cannot be loaded again ({error})") from None
    audited = subject.result.model.weight_hash
    recorded = known and not subject.audited and isinstance(subject.model, str | PathLike)
    if recorded and hasattr(model, "info") and model.info().weight_hash != audited:
        raise UnmaskError(f"the weights at {subject.model} are no longer those that were audited")
    return model
