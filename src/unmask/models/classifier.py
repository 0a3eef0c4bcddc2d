"""A `transformers` classifier behind the `Classifier` interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models import engine
from unmask.models.loaded import LoadedModel
from unmask.models.positions import most_tokens


class TransformersClassifier(LoadedModel):
    """A loaded model and its tokenizer, ready to be asked."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """Take a `PreTrainedModel` with a classification head and its tokenizer; settings as in `LoadedModel`."""
        super().__init__(model, tokenizer, **settings)
        if model.config.num_labels < 2 or model.config.problem_type in ("regression", "multi_label_classification"):
            raise UnmaskError(f"{self.name} does not choose one of several labels; give a classifier that does")
        if tokenizer.pad_token_id is None:
            raise UnmaskError(f"{self.name} has no padding token; set one in its tokenizer and save it again")
        self.labels = [str(model.config.id2label[at]) for at in range(model.config.num_labels)]

    def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float64]:
        """The probability of each label for each text or pair; each distinct one is run once, cut to what fits."""
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return np.empty((0, len(self.labels)))
        limit = most_tokens(self.model)
        encoded = [self._encode(text, limit) for text in distinct]
        found = np.empty((len(distinct), len(self.labels)))

        def forward(rows: list[int]) -> None:
            found[rows] = self._softmax([encoded[row] for row in rows])

        lengths = [len(one["input_ids"]) for one in encoded]
        engine.run(lengths, forward, budget=self.token_budget, progress=self.progress)
        bad = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if bad.size:
            raise UnmaskError(
                f"{self.name} gives no finite probability for {distinct[int(bad[0])]!r}; check the weights"
            )
        place = {text: at for at, text in enumerate(distinct)}
        return found[[place[text] for text in texts]]

    def _encode(self, text: str | tuple[str, str], limit: int | None) -> dict[str, list[int]]:
        first, second = text if isinstance(text, tuple) else (text, None)
        return dict(self.tokenizer(first, second, truncation=limit is not None, max_length=limit))

    @torch.inference_mode()
    def _softmax(self, inputs: list[dict[str, list[int]]]) -> NDArray[np.float64]:
        device = next(self.model.parameters()).device
        batch = self.tokenizer.pad(inputs, return_tensors="pt")
        logits = self.model(**{name: tensor.to(device) for name, tensor in batch.items()}).logits
        probabilities: NDArray[np.float64] = torch.softmax(logits.double().cpu(), dim=-1).numpy()
        return probabilities
