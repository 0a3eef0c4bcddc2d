"""Training tasks: masked language modelling, and classification of a text or a pair.

A task turns examples into features (once), features into a batch (every time they are drawn), and a model's outputs
into sums that add up over batches and processes: `[loss, right, count, …]`.

`pad` does what `tokenizer.pad` does in a fraction of its time: a step of a small model takes some 20 ms on a GPU, and
the tokenizer's own padding would be a quarter of that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn import functional

from unmask.errors import UnmaskError
from unmask.statistics.proportions import classification_quality, wilson_interval
from unmask.training.examples import Example

ATTENTION = "attention_mask"
IGNORED = -100
MASKED = 0.15
Features = dict[str, list[int]]
Batch = dict[str, torch.Tensor]


def pad(tokenizer: Any, rows: Sequence[Mapping[str, list[int]]]) -> Batch:
    """Pad rows to the longest, on the tokenizer's side and with its padding; an attention mask is added if needed."""
    names = list(rows[0])
    if ATTENTION not in names and ATTENTION in tokenizer.model_input_names:
        names.append(ATTENTION)
    fill = {"input_ids": tokenizer.pad_token_id, "token_type_ids": tokenizer.pad_token_type_id}
    lengths = [len(row["input_ids"]) for row in rows]
    shape = (len(rows), max(lengths))
    left = tokenizer.padding_side == "left"
    batch = {}
    for name in names:
        padded = np.full(shape, fill.get(name, 0), dtype=np.int64)
        for index, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            columns = slice(shape[1] - length, None) if left else slice(length)
            padded[index, columns] = row.get(name, 1)
        batch[name] = torch.from_numpy(padded)
    return batch


class Task(Protocol):
    """What the loop needs to know of a task."""

    metric: str
    """The name of the metric that chooses the best checkpoint."""
    higher_is_better: bool

    def features(self, examples: Sequence[Example]) -> list[Features]:
        """Tokenise, once."""
        ...

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Collate; `draws` seeds what is drawn at random for each row, so that it depends on nothing else."""
        ...

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """Run the model on a batch; returns sums: the loss, the number of labels, what the metrics need.

        The labels of a batch that are not `IGNORED` are what the loss is divided by.
        """
        ...

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """Compute the metrics from sums."""
        ...


class _LogitsTask:
    """A task whose sums need nothing but logits and labels."""

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """Run the model on a batch."""
        inputs = {name: tensor for name, tensor in batch.items() if name != "labels"}
        return self.sums(model(**inputs).logits, batch["labels"])

    def sums(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the summed loss, the number of labels, and what the metrics need."""
        raise NotImplementedError


class Classification(_LogitsTask):
    """The label of a text, or of a pair of texts."""

    metric = "accuracy"
    higher_is_better = True

    def __init__(self, tokenizer: Any, labels: Sequence[str], max_length: int) -> None:
        """Take the labels in the order of the model's outputs; longer texts are cut at their end."""
        self.tokenizer = tokenizer
        self.labels = list(labels)
        self.max_length = max_length

    def features(self, examples: Sequence[Example]) -> list[Features]:
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

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Pad to the longest row."""
        del draws
        labels = torch.tensor([row["labels"][0] for row in features])
        inputs = [{name: row[name] for name in row if name != "labels"} for row in features]
        return {**pad(self.tokenizer, inputs), "labels": labels}

    def sums(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return loss, count, and the confusion matrix (truth × prediction)."""
        logits = logits.float()
        loss = functional.cross_entropy(logits, labels, ignore_index=IGNORED, reduction="sum")
        size = len(self.labels)
        kept = labels != IGNORED
        cells = (labels * size + logits.argmax(-1))[kept]
        confusion = torch.bincount(cells, minlength=size * size).to(loss)
        return torch.cat([loss[None], kept.sum()[None].to(loss), confusion])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """Compute accuracy with Wilson's 95 % interval, macro F1, and precision, recall and F1 of each label."""
        values = sums.double().cpu().numpy()
        size = len(self.labels)
        return {
            "loss": float(values[0] / values[1]),
            **classification_quality(values[2:].reshape(size, size), self.labels),
        }


class MaskedLanguageModelling(_LogitsTask):
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

    def features(self, examples: Sequence[Example]) -> list[Features]:
        """Tokenise, once; a part without a piece that could be masked is left out."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = self.tokenizer("a")["input_ids"]
        start = next(start for start in range(len(whole)) if whole[start : start + len(bare)] == bare)
        before, after = whole[:start], whole[start + len(bare) :]
        size = self.max_length - len(before) - len(after)
        texts = [example.text for example in examples]
        encoded = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        parts = [ids[start : start + size] for ids in encoded for start in range(0, len(ids), size)]
        special = set(self.tokenizer.all_special_ids)
        return [{"input_ids": [*before, *part, *after]} for part in parts if not special.issuperset(part)]

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Mask and pad to the longest row."""
        rows = [self._mask(row["input_ids"], draw) for row, draw in zip(features, draws, strict=True)]
        padded = pad(self.tokenizer, [{"input_ids": ids} for ids, _ in rows])
        labels = torch.full(padded["input_ids"].shape, IGNORED)
        left = self.tokenizer.padding_side == "left"
        for row, (ids, wanted) in enumerate(rows):
            labels[row, slice(-len(ids), None) if left else slice(len(ids))] = torch.tensor(wanted)
        return {**padded, "labels": labels}

    def _mask(self, ids: list[int], draw: tuple[int, ...]) -> tuple[list[int], list[int]]:
        """Mask a row; returns what is shown, and the labels."""
        generator = np.random.default_rng([self.seed, *draw])
        special = set(self.tokenizer.all_special_ids)
        ordinary = [position for position, token in enumerate(ids) if token not in special]
        count = min(len(ordinary), max(1, round(MASKED * len(ordinary))))
        shown, wanted = list(ids), [IGNORED] * len(ids)
        for position in generator.choice(ordinary, size=count, replace=False) if ordinary else ():
            wanted[position] = ids[position]
            fate = generator.random()
            if fate < 0.8:
                shown[position] = self.tokenizer.mask_token_id
            elif fate < 0.9:
                shown[position] = int(generator.integers(len(self.tokenizer)))
        return shown, wanted

    def sums(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return loss, count, and the number of correct guesses."""
        kept = labels != IGNORED
        picked, wanted = logits[kept].float(), labels[kept]
        loss = functional.cross_entropy(picked, wanted, reduction="sum")
        right = (picked.argmax(-1) == wanted).sum()
        return torch.stack([loss, kept.sum().to(loss), right.to(loss)])

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
