"""Models that travel in the package, so that the first command works on a machine without network.

`unmask-mini` is a small BERT that has read Wikipedia, novels and film reviews; the two classifiers are adapters on it.
Each folder holds a model card with its data, training, results and limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent
DEFAULT = "unmask-mini"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model in the package."""

    name: str
    kind: str
    purpose: str

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return ROOT / self.name

    @property
    def size(self) -> int:
        """Its weights, in bytes; an adapter's do not count the model that it stands on."""
        return sum(file.stat().st_size for file in self.folder.glob("*.safetensors"))


MODELS = {
    model.name: model
    for model in (
        EmbeddedModel("unmask-mini", "masked language model", "the default of unmask audit; a base for trials"),
        EmbeddedModel("unmask-mini-sentiment", "text classifier", "film reviews: negative, positive"),
        EmbeddedModel("unmask-mini-nli", "pair classifier", "inference: entailment, neutral, contradiction"),
    )
}
