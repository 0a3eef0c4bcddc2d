"""The loss of Context-Debias: stereotype words at right angles to gender, and all that is said of gender kept.

With E_i(t; x) the hidden state of token t of sentence x at layer i (layer 0 is the embedding layer), and v_i(g) the
mean state of all occurrences of words of gender g in the corpus, in the *original* model:

    L     = mean over stereotype sentences x, chosen tokens t of x and chosen layers i of  Σ_g ⟨v_i(g), E_i(t; x)⟩²
    L_reg = mean over gender sentences x, their tokens t, all layers i and dimensions of   (E_i(t; x) - E'_i(t; x))²
    loss  = α L / L' + β L_reg / R'

where E' is the original model, which stays as it was, L' is L in that model, and R' the mean square of its states.
The paper has no L' and R'. But squared products of states come in thousands and changes of states below 1, so that
with the published weights a step that holds both follows L alone, and is then clipped, which leaves L_reg no say. (In
the published code a step has sentences of one kind, and is clipped by itself.) Divided so, both parts are shares, and
α and β mean the same for every model. With `relative` off, it is the paper's loss.

Padding counts nowhere. The chosen tokens are all ordinary tokens of the sentence, or the stereotype words alone; a word
of several pieces is the mean of its pieces' states.

M. Kaneko and D. Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings, EACL. The paper's sum runs over the
vectors of single gender words; its code has one vector a gender, as we have. That code takes the vectors anew from the
model in training before each epoch, squares the mean product of a whole batch where the formula has the mean of
squares, and attends to padding. Here it is the formula, and each row has its own mean, so that neither batches nor
padding change anything.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.mitigations.context_states import hidden_states, orthogonality, pooled, preservation
from unmask.mitigations.whole_words import WholeWords, pieces_of
from unmask.training.examples import Example
from unmask.training.padding import pad
from unmask.training.room import Room
from unmask.training.tasks import IGNORED, Batch, Features

KINDS = ("stereotype", "female", "male")
"""What a sentence is used for; its place here is its label."""
LAYERS = ("all", "last", "first")
TOKENS = ("all", "one")


class ContextDebias:
    """The task for the training loop; `learn_genders` must have been called before it is run."""

    metric = "loss"
    higher_is_better = False

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        words: Mapping[str, Iterable[str]],
        max_length: int,
        *,
        tokens: str = "all",
        layers: str = "all",
        alpha: float = 0.2,
        beta: float = 0.8,
    ) -> None:
        """Keep a copy of the model as it is now; `words` has a list for each of `KINDS`."""
        if not getattr(tokenizer, "is_fast", False):
            raise UnmaskError(
                "the tokenizer keeps no character offsets, so words cannot be found in its tokens; give a model with a"
                " fast tokenizer"
            )
        self.original = copy.deepcopy(model).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.words = {kind: WholeWords(words[kind]) for kind in KINDS}
        self.max_length = max_length
        self.tokens, self.layers, self.alpha, self.beta = tokens, layers, alpha, beta
        self.vectors = torch.empty(0)
        """The gender vectors: layers × (female, male) × dimensions."""
        self.weights = torch.empty(0)
        """What a row of each kind counts for."""

    def features(self, examples: Sequence[Example]) -> list[Features]:
        """Tokenise, once; the label of an example is its kind. One that has no such word within reach is left out.

        `groups` numbers from 1 what is looked at (a word, or a token by itself), piece by piece; 0 is everything else.
        """
        if not examples:
            return []
        texts = [one.text for one in examples]
        encoded = self.tokenizer(texts, truncation=True, max_length=self.max_length, return_offsets_mapping=True)
        special = set(self.tokenizer.all_special_ids)
        found = []
        for one, ids, offsets in zip(examples, encoded["input_ids"], encoded["offset_mapping"], strict=True):
            kind = KINDS.index(one.label or "")
            ordinary = [token not in special for token in ids]
            names = self.tokenizer.convert_ids_to_tokens(ids)
            groups = [0] * len(ids)
            for span in self.words[KINDS[kind]].spans(one.text):
                number = max(groups) + 1
                for at in pieces_of(one.text, span, offsets, names, ordinary):
                    groups[at] = number
            if any(groups):
                if kind == 0 and self.tokens == "all":
                    groups = [number * real for number, real in enumerate(ordinary, 1)]
                found.append({"input_ids": ids, "groups": groups, "labels": [kind]})
        return found

    def batch(self, features: Sequence[Features], draws: Sequence[tuple[int, ...]]) -> Batch:
        """Pad to the longest row; nothing is drawn."""
        del draws
        padded = pad(self.tokenizer, [{"input_ids": row["input_ids"]} for row in features])
        groups = torch.zeros_like(padded["input_ids"])
        left = self.tokenizer.padding_side == "left"
        for at, row in enumerate(features):
            numbers = row["groups"]
            groups[at, slice(-len(numbers), None) if left else slice(len(numbers))] = torch.tensor(numbers)
        return {
            "input_ids": padded["input_ids"],
            "attention_mask": padded["attention_mask"],
            "groups": groups,
            "labels": torch.tensor([row["labels"][0] for row in features]),
        }

    def learn_genders(
        self, features: Sequence[Features], accelerator: Any, *, rows: int, balance: bool, relative: bool
    ) -> None:
        """Take the gender vectors from the original model, and what each kind of row counts for.

        Balanced, each kind counts for a third of the loss, however rare it is. Relative, L is divided by its value in
        the original model, and L_reg by the mean square of that model's states.
        """
        of_kind = [[row for row in features if row["labels"] == [kind]] for kind in range(len(KINDS))]
        vectors, size = [], 0.0
        for mine in of_kind[1:]:
            words, count, squares = self._summed(_words_and_squares, mine, accelerator, rows)
            vectors.append((words / count).float())
            size += float(squares)
        self.vectors = torch.stack(vectors, dim=1)
        self.weights = torch.tensor([self.alpha, self.beta, self.beta])
        if balance:
            self.weights = self.weights * torch.tensor([len(features) / (len(KINDS) * len(mine)) for mine in of_kind])
        if relative:
            (squares,) = self._summed(lambda *one: [self._orthogonality(*one)[0].sum()], of_kind[0], accelerator, rows)
            pull, size = float(squares) / len(of_kind[0]), size / len(of_kind[1] + of_kind[2])
            self.weights = self.weights / torch.tensor([pull or 1.0, size or 1.0, size or 1.0])

    def _summed(
        self,
        measure: Callable[[torch.Tensor, Batch], Sequence[torch.Tensor]],
        features: Sequence[Features],
        accelerator: Any,
        rows: int,
    ) -> list[torch.Tensor]:
        """What is measured on the original model's states, summed over all rows."""
        features = sorted(features, key=lambda row: len(row["input_ids"]))
        total: list[torch.Tensor] = []
        at, room = 0, Room(1)
        while at < len(features):
            size = math.ceil(rows / room.parts)
            batch = self.batch(features[at : at + size], ())
            try:
                with torch.no_grad():
                    batch = {name: tensor.to(accelerator.device) for name, tensor in batch.items()}
                    found = measure(hidden_states(self.original.to(accelerator.device), batch), batch)
            except RuntimeError as error:
                room.less(error, size, accelerator)
                continue
            sums = [one.double().cpu() for one in found]
            total = [one + more for one, more in zip(total, sums, strict=True)] if total else sums
            at += size
        return total

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """The summed loss, the number of rows, each kind's part and its rows; then cosines, and their number."""
        labels = batch["labels"]
        kept = labels != IGNORED
        states = hidden_states(model, batch)
        values = torch.zeros(len(labels), device=labels.device)
        aside = torch.zeros(3, device=labels.device)
        stereotype, gender = (labels == 0).nonzero()[:, 0], (labels > 0).nonzero()[:, 0]
        if len(stereotype):
            inputs = {name: tensor[stereotype] for name, tensor in batch.items()}
            values[stereotype], cosines = self._orthogonality(states[:, stereotype], inputs)
            aside = torch.cat([cosines.sum(dim=0), torch.tensor([len(cosines)]).to(cosines)])
        if len(gender):
            inputs = {name: tensor[gender] for name, tensor in batch.items()}
            with torch.no_grad():
                before = hidden_states(self.original.to(labels.device), inputs)
            values[gender] = preservation(states[:, gender], before, inputs["attention_mask"])
        of_kind = labels[:, None] == torch.arange(len(KINDS), device=labels.device)
        parts = (values[:, None] * of_kind).sum(dim=0)
        loss = (parts * self.weights.to(values)).sum()
        return torch.cat([one.to(values) for one in (loss[None], kept.sum()[None], parts, of_kind.sum(dim=0), aside)])

    def _orthogonality(self, states: torch.Tensor, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each row, at the chosen layers; and the cosines."""
        at = {"all": slice(None), "last": slice(-1, None), "first": slice(1)}[self.layers]
        return orthogonality(states[at], batch["groups"], self.vectors.to(states.device)[at])

    def metrics(self, sums: torch.Tensor) -> dict[str, Any]:
        """The loss; L and L_reg, None where there were no rows; and the mean |cosine| with each gender's vector."""
        loss, count, of_stereotypes, female, male, *counts, to_female, to_male, words = sums.double().tolist()
        return {
            "loss": loss / count,
            "orthogonality": _mean(of_stereotypes, counts[0]),
            "preservation": _mean(female + male, counts[1] + counts[2]),
            "cosine": {"female": _mean(to_female, words), "male": _mean(to_male, words)},
            "rows": int(count),
        }


def _words_and_squares(states: torch.Tensor, batch: Batch) -> list[torch.Tensor]:
    """The summed states of words, how many there are, and the summed mean square of the rows' states."""
    words, _ = pooled(states, batch["groups"])
    squares = preservation(states, torch.zeros_like(states), batch["attention_mask"])
    return [words.double().sum(dim=1), torch.tensor(words.shape[1]), squares.sum()]


def _mean(total: float, count: float) -> float | None:
    return total / count if count else None
