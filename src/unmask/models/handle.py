"""A model as the user gave it, and what has been loaded of it: `ModelHandle` loads a model once, whatever its roles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from unmask.embedded import MODELS
from unmask.errors import UnmaskError
from unmask.lexicon.table import read_rows
from unmask.models.checkpoints import Role, can_encode, classifier_labels, detect_role
from unmask.models.loading import load_classifier, load_encoder, load_masked_lm
from unmask.models.roles import ADAPTER, CONFIG, Classifier, Encoder, MaskedLM, Progress, Regressor
from unmask.options import LoadOptions
from unmask.results import ModelInfo

if TYPE_CHECKING:
    from unmask.models.word_vectors import Vectors

Loaded = TypeVar("Loaded")
TRAINING_COUNTS = "training_counts.csv"


class ModelHandle:
    """A given model, the roles it can take, and what has been loaded of it."""

    def __init__(
        self,
        model: Any,
        options: LoadOptions | None = None,
        *,
        progress: Progress | None = None,
        expected_hash: str | None = None,
    ) -> None:
        """Take a name, a folder, `(model, tokenizer)`, a pipeline, word vectors, or an object that has a role.

        With `expected_hash`, a model with other weights is an error: it is not the one that was audited.
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
    def kind(self) -> Role:
        """The role that the model was made for."""
        return detect_role(self.given, self.options)

    @cached_property
    def can_encode(self) -> bool:
        """Whether the model has vectors for the words of a sentence."""
        return self.kind != "vectors" and can_encode(self.given, self.options)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of a classifier; empty where it does not name them."""
        return classifier_labels(self.given, self.options) if self.kind == "classifier" else []

    @cached_property
    def training_counts(self) -> dict[str, int]:
        """How often the training text named a phrase, if the model's folder has `training_counts.csv`; else empty."""
        embedded_model = MODELS.get(str(self.given))
        folder = embedded_model.folder if embedded_model else Path(str(self.given)) if self.is_named else None
        path = folder / TRAINING_COUNTS if folder else None
        if path is None or not path.is_file():
            return {}
        rows = read_rows(path, "", TRAINING_COUNTS, ("phrase", "count"), unique=True)
        return {row["phrase"]: int(row.read_number("count", 0, inf) or 0) for row in rows}

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles that the model can take, its own first."""
        return (self.kind, "encoder") if self.kind in ("masked-lm", "classifier") and self.can_encode else (self.kind,)

    def masked_lm(self) -> MaskedLM:
        """Load the model as a masked language model."""
        return self._load_once(("masked-lm",), lambda: load_masked_lm(self.given, self.options, progress=self.progress))

    def classifier(self, *, long_texts: str = "head", most_tokens: int | None = None) -> Classifier | Regressor:
        """Load the model as a classifier or regressor; it reports no progress of its own."""
        return self._load_once(
            ("classifier", long_texts, most_tokens),
            lambda: load_classifier(self.given, self.options, long_texts=long_texts, most_tokens=most_tokens),
        )

    def encoder(self) -> Encoder:
        """Load the model as an encoder, which shares the weights of a model that is already loaded."""
        shared = next((model for model in self._loaded.values() if hasattr(model, "tokenizer")), None)
        if shared is None:  # a masked language model may be asked in that role later
            shared = self.masked_lm() if self.kind == "masked-lm" else self.given
        return self._load_once(("encoder",), lambda: load_encoder(shared, self.options))

    def vectors(self, *, most: int | None = None) -> Vectors:
        """Load the word vectors, at most the first `most` of the file."""
        from unmask.models.word_vectors import load_vectors

        return self._load_once(("vectors", most), lambda: load_vectors(self.given, most=most))

    def load(self, role: Role) -> Any:
        """Load the model in a role."""
        methods: dict[Role, Callable[[], Any]] = {
            "masked-lm": self.masked_lm,
            "classifier": self.classifier,
            "encoder": self.encoder,
        }
        return methods.get(role, self.vectors)()

    def info(self) -> ModelInfo:
        """Identify the model, by what was loaded first."""
        loaded = next(iter(self._loaded.values()), self.given)
        if hasattr(loaded, "info"):
            info: ModelInfo = loaded.info()
            return info
        return ModelInfo(name=type(loaded).__name__, architecture="own object")

    def _load_once(self, key: tuple[Any, ...], load: Callable[[], Loaded]) -> Loaded:
        if key not in self._loaded:
            model: Any = load()
            if self._expected_hash and hasattr(model, "info") and model.info().weight_hash != self._expected_hash:
                raise UnmaskError(f"the weights at {self.given} are no longer those that were audited")
            self._loaded[key] = model
        loaded: Loaded = self._loaded[key]
        return loaded


def make_handle(model: Any, options: LoadOptions | None = None, *, progress: Progress | None = None) -> ModelHandle:
    """Return a handle for a model that may be one already."""
    return model if isinstance(model, ModelHandle) else ModelHandle(model, options, progress=progress)


def hash_folder_weights(folder: Path) -> str | None:
    """Compute the hash of the model in a folder; None where there is none that loads with the default options."""
    if not any((folder / file).is_file() for file in (CONFIG, ADAPTER)):
        return None
    handle = ModelHandle(folder, LoadOptions(device="cpu", offline=True))
    try:
        handle.load(handle.kind)
    except UnmaskError:
        return None
    return handle.info().weight_hash
