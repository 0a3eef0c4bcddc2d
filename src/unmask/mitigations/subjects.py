"""What is debiased: a masked language model, or word vectors; how each is saved, and told from every other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from unmask.errors import UnmaskError
from unmask.models.batching import weight_hash
from unmask.models.detect import detect_role
from unmask.models.loading import load_trainable
from unmask.models.vector_files import read_vectors, write_vectors
from unmask.models.word_vectors import Vectors
from unmask.options import LoadOptions
from unmask.training import checkpoints


class Subject(Protocol):
    """Something that a method changes."""

    name: str

    def is_finite(self) -> bool:
        """Whether all its numbers are numbers."""
        ...

    def weight_hash(self) -> str:
        """A SHA-256 of all its numbers."""
        ...

    def save(self, folder: Path) -> None:
        """Write it into a folder, as its users expect it."""
        ...

    def reload(self, folder: Path) -> Subject:
        """Read back what `save` has written."""
        ...

    def describe(self) -> dict[str, Any]:
        """What it is, for the record."""
        ...


@dataclass
class ModelSubject:
    """A masked language model and its tokenizer."""

    name: str
    model: Any
    tokenizer: Any
    options: LoadOptions = field(default_factory=LoadOptions)

    @classmethod
    def load(cls, name: str, options: LoadOptions) -> ModelSubject:
        """Load a model to be changed; an adapter is merged into its base."""
        if detect_role(name, options) == "classifier":
            raise UnmaskError(
                f"{name} is a classifier, and methods change masked language models such as BERT; debias its base"
                " model, and train the classifier anew with unmask finetune"
            )
        loaded = load_trainable(name, options)
        if loaded.tokenizer.mask_token_id is None:
            raise UnmaskError(f"{name} has no mask token; give a masked language model such as BERT")
        return cls(name, loaded.model, loaded.tokenizer, options)

    def is_finite(self) -> bool:
        """Whether all weights are finite."""
        return all(bool(torch.isfinite(parameter).all()) for parameter in self.model.parameters())

    def weight_hash(self) -> str:
        """As an audit gives it."""
        return weight_hash(self.model)

    def save(self, folder: Path) -> None:
        """Write a model folder."""
        checkpoints.save_model(self.model, self.tokenizer, folder)

    def reload(self, folder: Path) -> ModelSubject:
        """Load the folder as anybody would."""
        return self.load(str(folder), self.options.replace(device="cpu", offline=True))

    def describe(self) -> dict[str, Any]:
        """Architecture and size."""
        return {
            "architecture": type(self.model).__name__,
            "parameters": sum(parameter.numel() for parameter in self.model.parameters()),
        }


@dataclass
class VectorSubject:
    """Word vectors, and the name of the file that they came in."""

    name: str
    vectors: Vectors
    file: str

    @classmethod
    def load(cls, name: str) -> VectorSubject:
        """Read a file of word vectors."""
        return cls(name, read_vectors(Path(name)), Path(name).name)

    def is_finite(self) -> bool:
        """Whether all vectors are finite."""
        return bool(np.isfinite(self.vectors.matrix).all())

    def weight_hash(self) -> str:
        """Over the words and their vectors."""
        total = hashlib.sha256("\n".join(self.vectors.words).encode("utf-8", "surrogateescape"))
        total.update(self.vectors.matrix.astype("<f4").tobytes())
        return total.hexdigest()

    def save(self, folder: Path) -> None:
        """Write the file into the folder."""
        write_vectors(folder / self.file, self.vectors)

    def reload(self, folder: Path) -> VectorSubject:
        """Read the file back."""
        return self.load(str(folder / self.file))

    def describe(self) -> dict[str, Any]:
        """How many, how long, and the file."""
        words, size = self.vectors.matrix.shape
        return {"words": words, "dimensions": size, "format": self.vectors.form, "file": self.file}
