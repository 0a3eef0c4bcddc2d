"""`transformers` models behind the `Classifier` and `Regressor` interfaces.

Each distinct input is run once. Two texts that differ only in a part that is not read are one input, and so have
exactly the same output.

The probability of a label is the softmax of the model's outputs, computed in 64 bits, or their sigmoid where several
labels may hold at once (multi-label). The value of a regression model is its single output. For a text that is read in
windows, both are means over the windows.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models import batching
from unmask.models.batching import LoadedModel
from unmask.models.roles import View
from unmask.models.tokenization import Reader, Text, token_limit

Input = tuple[bytes, bytes]
"""The ids and the types of tokens (`View`), which are small and can be compared."""


@dataclass(frozen=True)
class Outputs:
    """The output of each distinct input, and the inputs of each text."""

    logits: NDArray[np.float32]
    rows: NDArray[np.intp]
    """The rows of `logits`, text after text."""
    starts: NDArray[np.intp]
    """Where in `rows` each text starts."""

    def mean(self, transform: Callable[[NDArray[np.float32]], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Compute the mean of the transformed outputs of each text's inputs."""
        values = transform(self.logits)
        if not self.starts.size:
            return values
        counts = np.diff(self.starts, append=self.rows.size)
        means: NDArray[np.float64] = np.add.reduceat(values[self.rows], self.starts) / counts[:, None]
        return means


class TextModel(LoadedModel):
    """A model with a sequence-classification head, and its tokenizer."""

    def __init__(
        self, model: Any, tokenizer: Any, *, long_texts: str = "head", most_tokens: int | None = None, **settings: Any
    ) -> None:
        """Take a `PreTrainedModel` and its tokenizer; settings as in `LoadedModel`.

        `long_texts` says how texts that are too long are read (`unmask.models.tokenization`), `most_tokens` how many
        tokens are read at once (None: as many as the model takes).
        """
        super().__init__(model, tokenizer, **settings)
        config = model.config
        if tokenizer.pad_token_id is None:
            raise UnmaskError(f"{self.name} has no padding token; set one in its tokenizer and save it again")
        if getattr(config, "pad_token_id", None) is None:
            config.pad_token_id = tokenizer.pad_token_id  # a decoder looks for the end of a text by it
        self.most_tokens = token_limit(most_tokens, batching.max_tokens(model), tokenizer, self.name)
        self.long_texts = long_texts
        self._reader = Reader(tokenizer, long_texts=long_texts, most_tokens=self.most_tokens)
        self._views: dict[Text, View] = {}
        self._takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        self._pads_left = tokenizer.padding_side == "left" and self._can_pad_left()

    def views(self, texts: Sequence[str]) -> list[View]:
        """Return what is read of each text."""
        views = self._read_texts(texts)
        for text, view in zip(texts, views, strict=True):
            if not view.read:
                raise UnmaskError(
                    f"{batching.shorten(text)} is too long, and the tokenizer of {self.name} cannot say what is read"
                    " of it; give a model with a fast tokenizer, or read by window"
                )
        return views

    def _read_texts(self, texts: Sequence[Text]) -> list[View]:
        """Read texts, and remember the last ones: they are viewed first, and then scored."""
        new = [text for text in dict.fromkeys(texts) if text not in self._views]
        if new:
            remembered = {text: self._views[text] for text in texts if text in self._views}
            self._views = remembered | dict(zip(new, self._reader.read(new), strict=True))
        return [self._views[text] for text in texts]

    def _run_distinct(self, texts: Sequence[Text]) -> Outputs:
        """Run each distinct input of the texts once."""
        inputs_of_texts = [_list_inputs(view) for view in self._read_texts(texts)]
        index: dict[Input, int] = {}
        rows = [index.setdefault(item, len(index)) for inputs in inputs_of_texts for item in inputs]
        starts = np.cumsum([0, *map(len, inputs_of_texts)])[:-1]
        inputs = list(index)
        logits = np.empty((len(inputs), self.model.config.num_labels), dtype=np.float32)
        self._check_inputs(inputs)

        def forward(batch: list[int]) -> None:
            logits[batch] = self._run_batch([inputs[index] for index in batch], left=self._pads_left)

        lengths = [len(ids) // 4 for ids, _ in inputs]
        self._run_batches(lengths, forward)
        outputs = Outputs(logits, np.array(rows, dtype=np.intp), starts)
        self._check_finite(logits[outputs.rows], lambda row: texts[int(np.searchsorted(starts, row, side="right")) - 1])
        return outputs

    @torch.inference_mode()
    def _run_batch(self, inputs: list[Input], *, left: bool = False) -> NDArray[np.float32]:
        """Compute the outputs of one batch, padded on the right or on the left."""
        rows: list[dict[str, Any]] = [{"input_ids": np.frombuffer(ids, dtype=np.int32)} for ids, _ in inputs]
        if inputs[0][1] and self._takes_types:
            for row, (_, types) in zip(rows, inputs, strict=True):
                row["token_type_ids"] = np.frombuffer(types, dtype=np.int8)
        batch = batching.pad(self.tokenizer, rows, left=left)
        answer = self.model(**batching.move_batch(batch, self.device))
        logits = getattr(answer, "logits", None)
        if logits is None or logits.shape != (len(inputs), self.model.config.num_labels):
            raise UnmaskError(
                f"{self.name} is a {type(self.model).__name__}, which does not classify texts; load it with"
                " AutoModelForSequenceClassification"
            )
        outputs: NDArray[np.float32] = logits.float().cpu().numpy()
        return outputs

    def _can_pad_left(self) -> bool:
        """Whether padding on the left changes nothing, as where positions are relative; else it is on the right."""
        inputs = [_list_inputs(view)[0] for view in self._reader.read(["a", "a a a a a a"])]
        self._check_inputs(inputs)
        alone, together = (self._run_batch(batch, left=True)[0] for batch in (inputs[:1], inputs))
        return bool(np.allclose(alone, together, atol=1e-4, rtol=1e-4, equal_nan=True))

    def _check_inputs(self, inputs: list[Input]) -> None:
        if not all(ids for ids, _ in inputs):
            raise UnmaskError(f"{self.name} has no tokens for an empty text; leave out texts that are empty")
        self._check_ids(max((int(np.frombuffer(ids, dtype=np.int32).max()) for ids, _ in inputs), default=0))


def _list_inputs(view: View) -> list[Input]:
    return list(zip(view.inputs, view.types or [b""] * len(view.inputs), strict=True))


class TransformersClassifier(TextModel):
    """A loaded classifier and its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """Take a `PreTrainedModel` that chooses one of several labels and its tokenizer; settings as in `TextModel`."""
        super().__init__(model, tokenizer, **settings)
        if model.config.num_labels < 2 or model.config.problem_type == "regression":
            raise UnmaskError(f"{self.name} does not choose one of several labels; give a classifier that does")
        self.exclusive = model.config.problem_type != "multi_label_classification"
        """Whether one label is chosen, or each may hold by itself."""
        self.labels = [str(model.config.id2label[index]) for index in range(model.config.num_labels)]

    def probabilities(self, texts: Sequence[Text]) -> NDArray[np.float64]:
        """The probability of each label for each text or pair; each distinct input is run once."""
        return self._run_distinct(texts).mean(self._to_probabilities)

    def logits(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """The output of each label for each text or pair, as the model computes it."""
        if self.long_texts == "window":
            raise UnmaskError("a text that is read by window has no logits of its own; only for head and head+tail")
        outputs = self._run_distinct(texts)
        return outputs.logits[outputs.rows]

    def _to_probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        values = logits.astype(np.float64)
        probabilities: NDArray[np.float64] = (
            scipy.special.softmax(values, axis=1) if self.exclusive else scipy.special.expit(values)
        )
        return probabilities


def is_regression(config: Any) -> bool:
    """Whether a model gives numbers, not labels: by its configuration, or because it has a single output."""
    by_itself = config.problem_type == "multi_label_classification"  # a label that holds or not
    return bool(config.problem_type == "regression" or (config.num_labels == 1 and not by_itself))


class TransformersRegressor(TextModel):
    """A loaded regression model and its tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, **settings: Any) -> None:
        """Take a `PreTrainedModel` with one output, and its tokenizer; settings as in `TextModel`."""
        super().__init__(model, tokenizer, **settings)
        if model.config.num_labels != 1:
            raise UnmaskError(
                f"{self.name} gives {model.config.num_labels} numbers to a text; give a model that gives one"
            )

    def values(self, texts: Sequence[Text]) -> NDArray[np.float64]:
        """The number of each text or pair; each distinct input is run once."""
        return self._run_distinct(texts).mean(lambda logits: logits.astype(np.float64))[:, 0]
