"""Training tasks: masked language modelling, and classification of a text or a pair.

A task turns examples into features (once), features into a batch (every time they are drawn), and a model's outputs
into sums that add up over batches and processes: `[loss, right, count, …]`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from unmask.errors import UnmaskError
from unmask.models.batching import IGNORED, Batch, pad
from unmask.models.masked_lm import head_runs_alone, logits_at
from unmask.models.tokenization import count_special_tokens
from unmask.statistics.proportions import classification_quality, wilson_interval
from unmask.training.examples import TextExample

MASKED = 0.15
Features = dict[str, list[int]]


class Task:
    """What the loop needs to know of a task.

    By default, a row has one label, and the sums need nothing but logits and labels.
    """

    tokenizer: Any

    metric: str
    """The name of the metric that chooses the best checkpoint."""
    higher_is_better: bool

    def features(self, examples: Sequence[TextExample]) -> list[Features]:
        """Tokenise, once."""
        raise NotImplementedError

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Pad to the longest row; `draws` seeds what is drawn for each row, so that it depends on nothing else."""
        del draws
        labels = torch.tensor([row["labels"][0] for row in features])
        inputs = [{name: row[name] for name in row if name != "labels"} for row in features]
        return {**pad(self.tokenizer, inputs), "labels": labels}

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """Run the model on a batch; returns sums: the loss, the number of labels, what the metrics need.

        The labels of a batch that are not `IGNORED` are what the loss is divided by.
        """
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        return self.sums(model(**inputs).logits, batch["labels"])

    def sums(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the sums of `run` from the logits."""
        raise NotImplementedError

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """Compute the metrics from sums."""
        raise NotImplementedError


class Classification(Task):
    """The label of a text, or of a pair of texts."""

    metric = "accuracy"
    higher_is_better = True

    def __init__(self, tokenizer: Any, labels: Sequence[str], max_length: int) -> None:
        """Take the labels in the order of the model's outputs; longer texts are cut at their end."""
        self.tokenizer = tokenizer
        self.labels = list(labels)
        self.max_length = max_length

    def features(self, examples: Sequence[TextExample]) -> list[Features]:
        """Tokenise, once; the longer text of a pair is cut first."""
        pairs = [example.pair for example in examples]
        encoded = self.tokenizer(
            [example.text for example in examples],
            pairs if any(pair is not None for pair in pairs) else None,
            truncation=True,
            max_length=self.max_length,
        )
        unknown = {example.label for example in examples} - set(self.labels)
        if unknown:
            raise UnmaskError(
                f"label {sorted(map(str, unknown))[0]!r} is not among those trained: {', '.join(self.labels)}"
            )
        return [
            {name: encoded[name][row] for name in encoded} | {"labels": [self.labels.index(str(example.label))]}
            for row, example in enumerate(examples)
        ]

    def sums(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return loss, count, and the confusion matrix (truth × prediction)."""
        logits = logits.float()
        loss = functional.cross_entropy(logits, labels, ignore_index=IGNORED, reduction="sum")
        size = len(self.labels)
        counted = labels != IGNORED
        cells = (labels * size + logits.argmax(-1))[counted]
        confusion = torch.bincount(cells, minlength=size * size).to(loss)
        return torch.cat([loss[None], counted.sum()[None].to(loss), confusion])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """Compute accuracy with Wilson's 95 % interval, macro F1, and precision, recall and F1 of each label."""
        values = sums.double().cpu().numpy()
        size = len(self.labels)
        return {
            "loss": float(values[0] / values[1]),
            **classification_quality(values[2:].reshape(size, size), self.labels),
        }


class MaskedLanguageModelling(Task):
    """Masked words: 15 % of the ordinary pieces, of which 80 % are masked, 10 % changed, 10 % left."""

    metric = "loss"
    higher_is_better = False

    def __init__(self, tokenizer: Any, max_length: int, *, seed: int) -> None:
        """Split, not cut, texts longer than `max_length`."""
        if tokenizer.mask_token_id is None:
            raise UnmaskError("the tokenizer has no mask token; give a masked language model such as BERT")
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.seed = seed
        self._head_alone: bool | None = None

    def features(self, examples: Sequence[TextExample]) -> list[Features]:
        """Tokenise, once; a part without a piece that could be masked is left out."""
        start, end = count_special_tokens(self.tokenizer)
        whole = self.tokenizer("a")["input_ids"]
        before, after = whole[:start], whole[len(whole) - end :]
        size = self.max_length - start - end
        texts = [example.text for example in examples]
        encoded = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        parts = [ids[start : start + size] for ids in encoded for start in range(0, len(ids), size)]
        special = set(self.tokenizer.all_special_ids)
        return [{"input_ids": [*before, *part, *after]} for part in parts if not special.issuperset(part)]

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Mask and pad to the longest row."""
        rows = [self._mask(row["input_ids"], draw) for row, draw in zip(features, draws, strict=True)]
        return pad(self.tokenizer, [{"input_ids": ids, "labels": labels} for ids, labels in rows])

    def _mask(self, ids: list[int], draw: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """Mask a row; returns its ids and its labels."""
        generator = np.random.default_rng([self.seed, *draw])
        special = set(self.tokenizer.all_special_ids)
        ordinary = [position for position, token in enumerate(ids) if token not in special]
        count = min(len(ordinary), max(1, round(MASKED * len(ordinary))))
        masked, labels = list(ids), [IGNORED] * len(ids)
        for position in generator.choice(ordinary, size=count, replace=False) if ordinary else ():
            labels[position] = ids[position]
            fate = generator.random()
            if fate < 0.8:
                masked[position] = self.tokenizer.mask_token_id
            elif fate < 0.9:
                masked[position] = int(generator.integers(len(self.tokenizer)))
        return masked, labels

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """As for every task, but the head runs on the masked pieces alone."""
        if self._head_alone is None:
            self._head_alone = head_runs_alone(model, self.tokenizer)
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        rows, columns = (batch["labels"] != IGNORED).nonzero(as_tuple=True)
        logits = logits_at(model, inputs, rows, columns, alone=self._head_alone)
        return self.sums(logits, batch["labels"][rows, columns])

    def sums(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return loss, count, and the number of correct guesses."""
        counted = labels != IGNORED
        picked, expected = logits[counted].float(), labels[counted]
        loss = functional.cross_entropy(picked, expected, reduction="sum")
        right = (picked.argmax(-1) == expected).sum()
        return torch.stack([loss, counted.sum().to(loss), right.to(loss)])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """Compute loss and perplexity of a masked piece, and the share guessed right."""
        loss, count, right = sums.double().tolist()
        return {
            "loss": loss / count,
            "perplexity": math.exp(min(loss / count, 700.0)),
            "accuracy": right / count,
            "accuracy_interval": list(wilson_interval(right / count, count)),
            "masked_pieces": int(count),
        }
