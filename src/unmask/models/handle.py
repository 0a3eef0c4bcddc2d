"""A model that is located once and loaded once, whatever it is asked for.

A measure asks for a role: a masked language model, a classifier, an encoder, word vectors. Roles share the loaded
weights, so that an audit that needs a masked language model and an encoder reads the checkpoint once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from unmask.errors import UnmaskError
from unmask.models.kinds import Kind, encodes, kind_of, labels_of
from unmask.models.loading import load_classifier, load_encoder, load_masked_lm
from unmask.options import LoadOptions
from unmask.results import ModelInfo

if TYPE_CHECKING:
    from unmask.models.interfaces import Classifier, Encoder, MaskedLM, Progress, Regressor
    from unmask.models.word_vectors import Vectors


class ModelHandle:
    """What was given as a model, the roles it can take, and what has been loaded of it."""

    def __init__(
        self,
        model: Any,
        options: LoadOptions | None = None,
        *,
        progress: Progress | None = None,
        expected_hash: str | None = None,
    ) -> None:
        """Take a name, a folder, `(model, tokenizer)`, a pipeline, word vectors, or an object that has a role.

        With `expected_hash`, a model with other weights is refused: it is not the one that was audited.
        """
        self.given = model
        self.options = options or LoadOptions()
        self.progress = progress
        self._expected_hash = expected_hash
        self._loaded: dict[tuple[Any, ...], Any] = {}

    @property
    def name(self) -> str:
        """How to call the model in a message."""
        if self.is_named:
            return str(self.given)
        model = self.given[0] if isinstance(self.given, tuple) and self.given else self.given
        return f"the {type(model).__name__}"

    @property
    def is_named(self) -> bool:
        """Whether the model was given by its name or folder, so that it can be loaded again."""
        return isinstance(self.given, str | PathLike)

    @cached_property
    def kind(self) -> Kind:
        """The role that the model was made for."""
        return kind_of(self.given, self.options)

    @cached_property
    def can_encode(self) -> bool:
        """Whether the model has vectors for the words of a sentence."""
        return self.kind != "vectors" and encodes(self.given, self.options)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of a classifier; empty where nothing says them."""
        return labels_of(self.given, self.options) if self.kind == "classifier" else []

    @property
    def roles(self) -> tuple[Kind, ...]:
        """The roles that the model can take, its own first."""
        return (self.kind, "encoder") if self.kind in ("masked-lm", "classifier") and self.can_encode else (self.kind,)

    def masked_lm(self) -> MaskedLM:
        """The model as a masked language model."""
        model: MaskedLM = self._load(
            ("masked-lm",), lambda: load_masked_lm(self.given, self.options, progress=self.progress)
        )
        return model

    def classifier(self, *, long_texts: str = "head", most_tokens: int | None = None) -> Classifier | Regressor:
        """The model as a classifier or regressor; it reports no progress of its own."""
        settings: dict[str, Any] = {"long_texts": long_texts, "most_tokens": most_tokens}
        model: Classifier | Regressor = self._load(
            ("classifier", long_texts, most_tokens), lambda: load_classifier(self.given, self.options, **settings)
        )
        return model

    def encoder(self) -> Encoder:
        """The model as an encoder, which shares the weights of what has been loaded."""
        shared = next((model for model in self._loaded.values() if hasattr(model, "tokenizer")), self.given)
        encoder: Encoder = self._load(("encoder",), lambda: load_encoder(shared, self.options))
        return encoder

    def vectors(self, *, most: int | None = None) -> Vectors:
        """The word vectors, at most so many of the first in the file."""
        from unmask.models.word_vectors import load_vectors

        vectors: Vectors = self._load(("vectors", most), lambda: load_vectors(self.given, most=most))
        return vectors

    def load(self, role: Kind) -> Any:
        """The model in a role."""
        if role == "vectors":
            return self.vectors()
        if role == "classifier":
            return self.classifier()
        return self.masked_lm() if role == "masked-lm" else self.encoder()

    def info(self) -> ModelInfo:
        """Which model it is, as what was loaded first says it."""
        loaded = next(iter(self._loaded.values()), self.given)
        if hasattr(loaded, "info"):
            info: ModelInfo = loaded.info()
            return info
        return ModelInfo(name=type(loaded).__name__, architecture="own object")

    def _load(self, key: tuple[Any, ...], load: Callable[[], Any]) -> Any:
        if key not in self._loaded:
            model = load()
            if self._expected_hash and hasattr(model, "info") and model.info().weight_hash != self._expected_hash:
                raise UnmaskError(f"the weights at {self.given} are no longer those that were audited")
            self._loaded[key] = model
        return self._loaded[key]


def as_handle(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> ModelHandle:
    """A handle for a model that may be one already."""
    return model if isinstance(model, ModelHandle) else ModelHandle(model, options, progress=progress)
