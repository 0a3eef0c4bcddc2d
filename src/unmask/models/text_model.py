"""What classifiers and regressors have in common: texts are read, and each distinct input is run once.

Two texts that differ only in what is not read are one input, and so have exactly the same output.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models import engine, positions
from unmask.models.interfaces import View
from unmask.models.loaded import LoadedModel
from unmask.models.reading import Input, Reader, Reading, Text, limit


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

        `long_texts` says how texts that are too long are read (`unmask.models.reading`), `most_tokens` how many tokens
        are read at once (None: as many as the model takes).
        """
        super().__init__(model, tokenizer, **settings)
        config = model.config
        if tokenizer.pad_token_id is None:
            raise UnmaskError(f"{self.name} has no padding token; set one in its tokenizer and save it again")
        if getattr(config, "pad_token_id", None) is None:
            config.pad_token_id = tokenizer.pad_token_id  # a decoder looks for the end of a text by it
        self.most_tokens = limit(most_tokens, positions.most_tokens(model), tokenizer, self.name)
        self.long_texts = long_texts
        self._reader = Reader(tokenizer, long_texts=long_texts, most_tokens=self.most_tokens)
        self._readings: dict[Text, Reading] = {}
        self._takes_types = "token_type_ids" in inspect.signature(model.forward).parameters
        self._pads_left = tokenizer.padding_side == "left" and self._can_pad_left()

    def views(self, texts: Sequence[str]) -> list[View]:
        """What is read of each text."""
        return [self._view(text, reading) for text, reading in zip(texts, self._read(texts), strict=True)]

    def _view(self, text: str, reading: Reading) -> View:
        if reading.read is None:
            raise UnmaskError(
                f"{self.name} has a tokenizer that keeps no places, so it is not known what is read of {_short(text)},"
                " which is too long; give a model with a fast tokenizer, or read by window"
            )
        return View(reading.tokens, reading.read, tuple(input.ids for input in reading.inputs))

    def _read(self, texts: Sequence[Text]) -> list[Reading]:
        """Read, remembering what was asked last: texts are looked at first, and then scored."""
        new = [text for text in dict.fromkeys(texts) if text not in self._readings]
        if new:
            known = {text: self._readings[text] for text in texts if text in self._readings}
            self._readings = known | dict(zip(new, self._reader.read(new), strict=True))
        return [self._readings[text] for text in texts]

    def _outputs(self, texts: Sequence[Text]) -> Outputs:
        """Run each distinct input of the texts once."""
        readings = self._read(texts)
        place: dict[Input, int] = {}
        rows = [place.setdefault(input, len(place)) for reading in readings for input in reading.inputs]
        starts = np.cumsum([0, *(len(reading.inputs) for reading in readings)])[:-1]
        inputs = list(place)
        found = np.empty((len(inputs), self.model.config.num_labels), dtype=np.float32)
        self._refuse_unusable(inputs)

        def forward(batch: list[int]) -> None:
            found[batch] = self._forward([inputs[at] for at in batch], left=self._pads_left)

        engine.run([len(input) for input in inputs], forward, budget=self.token_budget, progress=self.progress)
        outputs = Outputs(found, np.array(rows, dtype=np.intp), starts)
        bad = np.flatnonzero(~np.isfinite(found[outputs.rows]).all(axis=1))
        if bad.size:
            text = texts[int(np.searchsorted(starts, bad[0], side="right")) - 1]
            raise UnmaskError(f"{self.name} gives no finite output for {_short(text)}; check the weights")
        return outputs

    @torch.inference_mode()
    def _forward(self, inputs: list[Input], *, left: bool = False) -> NDArray[np.float32]:
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
        self._refuse_unusable(inputs)
        alone, together = (self._forward(some, left=True)[0] for some in (inputs[:1], inputs))
        return bool(np.allclose(alone, together, atol=1e-4, rtol=1e-4, equal_nan=True))

    def _refuse_unusable(self, inputs: list[Input]) -> None:
        if not all(map(len, inputs)):
            raise UnmaskError(f"{self.name} has no tokens for an empty text; leave out texts that are empty")
        self._refuse_strange_ids(
            max((int(np.frombuffer(input.ids, dtype=np.int32).max()) for input in inputs), default=0)
        )


def _short(text: Text, most: int = 60) -> str:
    shown = text if isinstance(text, str) else " / ".join(text)
    return repr(shown if len(shown) <= most else f"{shown[:most].rstrip()} …")
