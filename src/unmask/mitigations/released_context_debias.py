"""Context-Debias as its released code trains, which is not quite the paper's loss.

Every step has sentences of one kind, drawn at random, and is clipped by itself:

- stereotype sentences: α Σ_g m_g², where m_g is the mean, over the batch and all layers, of ⟨v(g), E(w)⟩ for one
  stereotype word w of each sentence (so products of opposite sign cancel);
- gender sentences: β times the mean of (E − E')² over the batch, all layers, positions and dimensions.

The three kinds have equally many steps, as many as the rarer gender has full batches. Padding is attended to, and
counts in the second part. The state of a word is read with a one-hot vector per token; where a word of the batch has
several tokens, a row of zeros is put before the one-hot matrix, but positions are not shifted. So every word of such a
batch is read one position too early, and the sum is divided by the number of tokens of the longest.

v(g) is computed anew before each epoch, from the model in training, with the same reading of the word. The learning
rate falls over the batches of all sentences, more than are trained. Of each kind, 1,000 sentences (half, if there are
fewer than 2,000) choose the best weights, every 500 steps and at the end.

M. Kaneko and D. Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings, EACL. Which sentences are used
follows the paper's preprocessing; where a sentence has several words of a gender, the released code takes any of them,
and this the first.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unmask.errors import UnmaskError
from unmask.lexicon.table import read_text
from unmask.mitigations.method import Job
from unmask.mitigations.training import train
from unmask.models.batching import Batch, move_batch
from unmask.training.loop import EVALUATION_EPOCH
from unmask.training.options import LoopOptions, TrainingOptions
from unmask.training.tasks import Features, Task

KINDS = 3
"""Stereotype, female and male sentences, by their label."""
MOST_WORDS = 128
EVALUATE_EVERY = 500


class ReleasedLoop(TrainingOptions):
    """The options of the loop; the learning rate falls over a number of epochs that need not be whole."""

    planned_epochs: float = 0.0  # type: ignore[assignment]


class ReleasedContextDebias(Task):
    """The training task. A row is a step: sentences of one kind, drawn by the epoch and the row, or fixed ones."""

    metric = "loss"
    higher_is_better = False

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        learned: Sequence[Features],
        held_out: Sequence[Features],
        *,
        size: int,
        seed: int,
        alpha: float = 0.2,
        beta: float = 0.8,
    ) -> None:
        """Copy the model as it is now; the sentences have `input_ids`, `positions` of a word, and a kind as label."""
        self.original = copy.deepcopy(model).eval().requires_grad_(False)
        self.tokenizer, self.size, self.seed, self.alpha, self.beta = tokenizer, size, seed, alpha, beta
        self.sentences = {part: _sort_kinds(rows) for part, rows in ((0, learned), (1, held_out))}
        self.vectors = torch.zeros(0)
        """The gender vectors: layers × (female, male) × dimensions."""
        self.epoch = -1
        """That of the vectors."""

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint needs: the vectors of an epoch that has begun."""
        return {"vectors": self.vectors, "epoch": self.epoch}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint."""
        self.vectors, self.epoch = state["vectors"], int(state["epoch"])

    def plan_steps(self, *, held_out: bool) -> list[Features]:
        """As many steps of each kind as the rarer gender has full batches."""
        kinds = self.sentences[held_out]
        count = min(len(rows) for rows in (kinds if held_out else kinds[1:])) // self.size
        return [
            {"input_ids": [0], "kind": [kind], "held_out": [int(held_out)], "number": [number]}
            for number in range(count)
            for kind in range(KINDS)
        ]

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """The sentences of one step, padded; every position is attended to."""
        (row,), (draw,) = features, draws
        kind, number = row["kind"][0], row["number"][0]
        rows = self.sentences[row["held_out"][0]][kind]
        order = np.arange(len(rows))
        if not row["held_out"][0]:
            order, number = np.random.default_rng([self.seed, *draw]).permutation(len(rows)), 0
        chosen = [rows[index] for index in order[number * self.size : (number + 1) * self.size]]
        return self._pad(chosen) | {"labels": torch.tensor([kind]), "epoch": torch.tensor(draw[:1])}

    def _pad(self, rows: Sequence[Features]) -> Batch:
        """Token ids, attention everywhere, and the weight of each position in the state of a sentence's word."""
        width, longest = (max(len(row[name]) for row in rows) for name in ("input_ids", "positions"))
        filler = self.tokenizer.pad_token_id
        ids = torch.tensor([row["input_ids"] + [filler] * (width - len(row["input_ids"])) for row in rows])
        weights = torch.zeros(ids.shape)
        for index, row in enumerate(rows):
            for position in row["positions"]:
                weights[index, position - (longest > 1)] += 1 / longest
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "weights": weights}

    def learn_genders(self, model: Any, epoch: int) -> None:
        """The mean state of the words of full batches of each gender, without dropout."""
        count = min(map(len, self.sentences[0][1:])) // self.size * self.size
        device, vectors = next(model.parameters()).device, []
        was_training = model.training
        model.eval()
        with torch.no_grad():
            for kind, rows in enumerate(self.sentences[0][1:], 1):
                order = np.random.default_rng([self.seed, epoch + 1, kind]).permutation(len(rows))[:count]
                states = []
                for start in range(0, count, self.size):
                    batch = self._pad([rows[index] for index in order[start : start + self.size]])
                    states.append(_read_words(model, move_batch(batch, device)))
                vectors.append(torch.cat(states, dim=1).mean(dim=1))
        model.train(was_training)
        self.vectors, self.epoch = torch.stack(vectors, dim=1), epoch

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """Return the loss of a step, and 1."""
        kind, epoch = int(batch["labels"]), int(batch["epoch"])
        if epoch not in (self.epoch, EVALUATION_EPOCH):
            self.learn_genders(model, epoch)
        if kind == 0:
            states, genders = _read_words(model, batch), self.vectors.to(batch["input_ids"].device)
            products = torch.einsum("lbd,lgd->lbg", states, genders).mean(dim=(0, 1))
            loss = self.alpha * products.pow(2).sum()
        else:
            with torch.no_grad():
                before = _compute_states(self.original.to(batch["input_ids"].device), batch)
            loss = self.beta * (_compute_states(model, batch) - before).pow(2).mean()
        return torch.stack([loss, torch.ones_like(loss)])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """The mean loss of a step."""
        loss, count = sums.double().tolist()
        return {"loss": loss / count, "batches": int(count)}


def _sort_kinds(rows: Sequence[Features]) -> list[list[Features]]:
    return [[row for row in rows if row["labels"] == [kind]] for kind in range(KINDS)]


def _compute_states(model: Any, batch: Batch) -> torch.Tensor:
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return torch.stack(model.base_model(**inputs, output_hidden_states=True).hidden_states)


def _read_words(model: Any, batch: Batch) -> torch.Tensor:
    """The state of the word of each sentence: layers × sentences × dimensions."""
    return torch.einsum("lbtd,bt->lbd", _compute_states(model, batch), batch["weights"])


def select_words(features: Sequence[Features]) -> list[Features]:
    """One word for each gender sentence, the first; a stereotype sentence once for each of its different words."""
    selected = []
    for row in features:
        groups = [
            [position for position, group in enumerate(row["groups"]) if group == number]
            for number in range(1, max(row["groups"]) + 1)
        ]
        words: dict[tuple[int, ...], list[int]] = {}
        for positions in groups:
            words.setdefault(tuple(row["input_ids"][position] for position in positions), positions)
        chosen = list(words.values()) if row["labels"] == [0] else groups[:1]
        selected += [
            {"input_ids": row["input_ids"], "positions": positions, "labels": row["labels"]} for positions in chosen
        ]
    return selected


def read_released_lists(folder: Path) -> dict[str, list[str]]:
    """The authors' words of each kind, some of which they list twice; a gendered stereotype word is gendered only."""
    lists = {}
    for kind in ("stereotype", "female", "male"):
        lines = read_text(folder / f"{kind}.txt", "the authors' list, with a word a line").splitlines()
        lists[kind] = list(dict.fromkeys(line.strip().lower() for line in lines if line.strip()))
    gendered = {*lists["female"], *lists["male"]}
    return lists | {"stereotype": [word for word in lists["stereotype"] if word not in gendered]}


def is_released_length(sentence: str) -> bool:
    """Whether the released preprocessing keeps a sentence of this many words."""
    return 1 < len(sentence.split()) <= MOST_WORDS


def train_as_released(job: Job, learned: Sequence[Features], held_out: Sequence[Features]) -> dict[str, Any]:
    """Train the job's model on sentences with `groups`, as `ContextDebias.features` makes them."""
    settings, size = job.options, job.options.batch_size
    rows = select_words(learned)
    task = ReleasedContextDebias(
        job.model, job.tokenizer, rows, select_words(held_out), size=size, seed=job.seed,
        alpha=settings.alpha, beta=settings.beta,
    )  # fmt: skip
    steps = task.plan_steps(held_out=False)
    if not steps:
        raise UnmaskError(
            f"the published protocol needs {size} sentences of each gender to learn from, and more to hold out; give"
            " another --corpus"
        )
    job.say("Computing the gender vectors of the original model")
    task.learn_genders(job.model, -1)
    batches = sum(math.ceil(len(kind) / size) for kind in task.sentences[0])
    loop = dict(settings.part(LoopOptions)) | {"batch_size": 1, "accumulate": 1}
    options = ReleasedLoop(**loop, seed=job.seed, evaluate_every=EVALUATE_EVERY)
    options = options.model_copy(update={"planned_epochs": options.epochs * batches / len(steps)})
    return train(job, task, steps, task.plan_steps(held_out=True), options)
