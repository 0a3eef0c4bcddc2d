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
from unmask.models.tokenization import Reader, Reading, Text, TextInput, token_limit


@dataclass(frozen=True)
class Outputs:
    """What the model said to each distinct input, and which inputs each text is made of."""

    found: NDArray[np.float32]
    rows: NDArray[np.intp]
    """The rows of `found`, text after text."""
    starts: NDArray[np.intp]
    """Where in `rows` each text starts."""

    def mean(self, change: Callable[[NDArray[np.float32]], NDArray[np.float64]]) -> NDArray[np.float64]:
        """The mean over each text's inputs of what becomes of their outputs."""
        changed = change(self.found)
        if not self.starts.size:
            return changed
        counts = np.diff(self.starts, append=self.rows.size)
        means: NDArray[np.float64] = np.add.reduceat(changed[self.rows], self.starts) / counts[:, None]
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
        self._readings: dict[Text, Reading] = {}
        self._takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        self._pads_left = tokenizer.padding_side == "left" and self._can_pad_left()

    def views(self, texts: Sequence[str]) -> list[View]:
        """What is read of each text."""
        return [self._make_view(text, reading) for text, reading in zip(texts, self._read_texts(texts), strict=True)]

    def _make_view(self, text: str, reading: Reading) -> View:
        if reading.read is None:
            raise UnmaskError(
                f"{_shorten(text)} is too long, and the tokenizer of {self.name} cannot say what is read of it; give a"
                " model with a fast tokenizer, or read by window"
            )
        return View(reading.tokens, reading.read, tuple(input.ids for input in reading.inputs))

    def _read_texts(self, texts: Sequence[Text]) -> list[Reading]:
        """Read, remembering what was asked last: texts are looked at first, and then scored."""
        new = [text for text in dict.fromkeys(texts) if text not in self._readings]
        if new:
            known = {text: self._readings[text] for text in texts if text in self._readings}
            self._readings = known | dict(zip(new, self._reader.read(new), strict=True))
        return [self._readings[text] for text in texts]

    def _run_distinct(self, texts: Sequence[Text]) -> Outputs:
        """Run each distinct input of the texts once."""
        readings = self._read_texts(texts)
        place: dict[TextInput, int] = {}
        rows = [place.setdefault(input, len(place)) for reading in readings for input in reading.inputs]
        starts = np.cumsum([0, *(len(reading.inputs) for reading in readings)])[:-1]
        inputs = list(place)
        found = np.empty((len(inputs), self.model.config.num_labels), dtype=np.float32)
        self._check_unusable(inputs)

        def forward(batch: list[int]) -> None:
            found[batch] = self._run_batch([inputs[at] for at in batch], left=self._pads_left)

        batching.run_batches(
            [len(input) for input in inputs], forward, budget=self.token_budget, progress=self.progress
        )
        outputs = Outputs(found, np.array(rows, dtype=np.intp), starts)
        bad = np.flatnonzero(~np.isfinite(found[outputs.rows]).all(axis=1))
        if bad.size:
            text = texts[int(np.searchsorted(starts, bad[0], side="right")) - 1]
            raise UnmaskError(f"{self.name} gives no finite output for {_shorten(text)}; check the weights")
        return outputs

    @torch.inference_mode()
    def _run_batch(self, inputs: list[TextInput], *, left: bool = False) -> NDArray[np.float32]:
        """The outputs of one batch, filled up to the right or to the left."""
        device = next(self.model.parameters()).device
        shape = (len(inputs), max(map(len, inputs)))
        ids = np.full(shape, self.tokenizer.pad_token_id, dtype=np.int64)
        attention = np.zeros(shape, dtype=np.int64)
        types = np.full(shape, self.tokenizer.pad_token_type_id, dtype=np.int64)
        for row, input in enumerate(inputs):
            here = slice(shape[1] - len(input), None) if left else slice(0, len(input))
            ids[row, here] = np.frombuffer(input.ids, dtype=np.int32)
            attention[row, here] = 1
            if input.types:
                types[row, here] = np.frombuffer(input.types, dtype=np.int8)
        batch = {"input_ids": ids, "attention_mask": attention}
        if inputs[0].types and self._takes_types:
            batch["token_type_ids"] = types
        answer = self.model(**{name: torch.from_numpy(array).to(device) for name, array in batch.items()})
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
        inputs = [reading.inputs[0] for reading in self._reader.read(["a", "a a a a a a"])]
        self._check_unusable(inputs)
        alone, together = (self._run_batch(some, left=True)[0] for some in (inputs[:1], inputs))
        return bool(np.allclose(alone, together, atol=1e-4, rtol=1e-4, equal_nan=True))

    def _check_unusable(self, inputs: list[TextInput]) -> None:
        if not all(map(len, inputs)):
            raise UnmaskError(f"{self.name} has no tokens for an empty text; leave out texts that are empty")
        self._check_strange_ids(
            max((int(np.frombuffer(input.ids, dtype=np.int32).max()) for input in inputs), default=0)
        )


def _shorten(text: Text, most: int = 60) -> str:
    shown = text if isinstance(text, str) else " / ".join(text)
    return repr(shown if len(shown) <= most else f"{shown[:most].rstrip()} …")


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
        return self._run_distinct(texts).mean(_class_probabilities if self.exclusive else _label_probabilities)

    def logits(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """The output of each label for each text or pair, as the model computes it."""
        if self.long_texts == "window":
            raise UnmaskError("a text that is read by window has no logits of its own; only for head and head+tail")
        outputs = self._run_distinct(texts)
        return outputs.found[outputs.rows]


def _label_probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    probabilities: NDArray[np.float64] = scipy.special.expit(logits.astype(np.float64))
    return probabilities


def _class_probabilities(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    probabilities: NDArray[np.float64] = scipy.special.softmax(logits.astype(np.float64), axis=1)
    return probabilities


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
        return self._run_distinct(texts).mean(lambda found: found.astype(np.float64))[:, 0]
