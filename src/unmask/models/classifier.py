"""A `transformers` classifier behind the `Classifier` interface.

The probability of a label is the softmax of the model's outputs, taken in 64 bits, or their sigmoid where each label
may hold by itself (multi-label); of a text that is read by windows, its mean over the windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models.reading import Text
from unmask.models.text_model import TextModel


class TransformersClassifier(TextModel):
    """A loaded classifier and its tokenizer, ready to be asked."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """Take a `PreTrainedModel` that chooses one of several labels and its tokenizer; settings as in `TextModel`."""
        super().__init__(model, tokenizer, **settings)
        if model.config.num_labels < 2 or model.config.problem_type == "regression":
            raise UnmaskError(f"{self.name} does not choose one of several labels; give a classifier that does")
        self.exclusive = model.config.problem_type != "multi_label_classification"
        """Whether one label is chosen, or each may hold by itself."""
        self.labels = [str(model.config.id2label[at]) for at in range(model.config.num_labels)]

    def probabilities(self, texts: Sequence[Text]) -> NDArray[np.float64]:
        """The probability of each label for each text or pair; each distinct input is run once."""
        return self._outputs(texts).mean(_softmax if self.exclusive else _sigmoid)

    def logits(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """The output of each label for each text or pair, as the model computes it."""
        if self.long_texts == "window":
            raise UnmaskError("a text that is read by window has no logits of its own; only for head and head+tail")
        outputs = self._outputs(texts)
        return outputs.found[outputs.rows]


def _sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    probabilities: NDArray[np.float64] = scipy.special.expit(logits.astype(np.float64))
    return probabilities


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    probabilities: NDArray[np.float64] = scipy.special.softmax(logits.astype(np.float64), axis=1)
    return probabilities
