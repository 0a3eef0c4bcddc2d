"""A `transformers` model with a single output behind the `Regressor` interface.

The value of a text is that output; of a text that is read by windows, its mean over the windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models.reading import Text
from unmask.models.text_model import TextModel


def is_regression(config: Any) -> bool:
    """Whether a model gives numbers, not labels: it says so, or has a single output, which is trained as a number."""
    by_itself = config.problem_type == "multi_label_classification"  # a label that holds or not
    return bool(config.problem_type == "regression" or (config.num_labels == 1 and not by_itself))


class TransformersRegressor(TextModel):
    """A loaded regression model and its tokenizer, ready to be asked."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """Take a `PreTrainedModel` with one output, and its tokenizer; settings as in `TextModel`."""
        super().__init__(model, tokenizer, **settings)
        if model.config.num_labels != 1:
            raise UnmaskError(
                f"{self.name} gives {model.config.num_labels} numbers to a text; give a model that gives one"
            )

    def values(self, texts: Sequence[Text]) -> NDArray[np.float64]:
        """The number of each text or pair; each distinct input is run once."""
        return self._outputs(texts).mean(lambda found: found.astype(np.float64))[:, 0]
