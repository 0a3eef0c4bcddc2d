"""The loss of Context-Debias: stereotype words at right angles to gender, and all that is said of gender kept.

With E_i(t; x) the hidden state of token t of sentence x at layer i (layer 0 is the embedding layer), and v_i(g) the
mean state of all occurrences of words of gender g in the corpus, in the *original* model:

    L     = mean over stereotype sentences x, chosen tokens t of x and chosen layers i of  Σ_g ⟨v_i(g), E_i(t; x)⟩²
    L_reg = mean over gender sentences x, their tokens t, all layers i and dimensions of   (E_i(t; x) - E'_i(t; x))²
    loss  = α L + β L_reg

where E' is the original model, which stays as it was. Padding counts nowhere. The chosen tokens are all ordinary tokens
of the sentence, or the stereotype words alone; a word of several pieces is the mean of its pieces' states.

M. Kaneko and D. Bollegala (2021), Debiasing Pre-trained Contextualised Embeddings, EACL. The paper's sum runs over the
vectors of single gender words; its code has one vector a gender, as we have. That code takes the vectors anew from the
model in training before each epoch, squares the mean product of a whole batch where the formula has the mean of
squares, and attends to padding. Here it is the formula, and each row has its own mean, so that neither batches nor
padding change anything.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from unmask.errors import UnmaskError
from unmask.mitigations.whole_words import WholeWords, pieces_of
from unmask.training.examples import Example
from unmask.training.loop import Room
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
        self.shares = torch.ones(len(KINDS))
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
        padded = self.tokenizer.pad([{"input_ids": row["input_ids"]} for row in features], return_tensors="pt")
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

    def learn_genders(self, features: Sequence[Features], accelerator: Any, *, rows: int, balance: bool) -> None:
        """Take the gender vectors from the original model, and what each kind of row counts for.

        Balanced, each kind counts for a third of the loss, as in the published code, however rare it is.
        """
        counts = [sum(row["labels"] == [kind] for row in features) for kind in range(len(KINDS))]
        if balance:
            self.shares = torch.tensor([len(features) / (len(KINDS) * count) for count in counts])
        of_gender = ([row for row in features if row["labels"] == [kind]] for kind in (1, 2))
        self.vectors = torch.stack([self._mean_of_words(mine, accelerator, rows) for mine in of_gender], dim=1)

    def _mean_of_words(self, features: Sequence[Features], accelerator: Any, rows: int) -> torch.Tensor:
        """The mean state of all words that are looked at, layer by layer, in the original model."""
        features = sorted(features, key=lambda row: len(row["input_ids"]))
        total, count, at, room = torch.zeros(()), 0, 0, Room(1)
        while at < len(features):
            size = math.ceil(rows / room.parts)
            batch = self.batch(features[at : at + size], ())
            try:
                with torch.no_grad():
                    batch = {name: tensor.to(accelerator.device) for name, tensor in batch.items()}
                    words, _ = _pooled(_states(self.original.to(accelerator.device), batch), batch["groups"])
            except RuntimeError as error:
                room.less(error, size, accelerator)
                continue
            total = total + words.double().sum(dim=1).cpu()
            count += words.shape[1]
            at += size
        return (total / count).float()

    def run(self, model: Any, batch: Batch) -> torch.Tensor:
        """The summed loss, the number of rows, and for each kind its part and its rows; then cosines, and their number.

        The weights of the head play no part, so only the layers below it are run.
        """
        labels = batch["labels"]
        kept = labels != IGNORED
        states = _states(model, batch)
        values = torch.zeros(len(labels), device=labels.device)
        aside = torch.zeros(3, device=labels.device)
        stereotype, gender = (labels == 0).nonzero()[:, 0], (labels > 0).nonzero()[:, 0]
        if len(stereotype):
            values[stereotype], aside = self._orthogonality(states[:, stereotype], batch["groups"][stereotype])
        if len(gender):
            inputs = {name: batch[name][gender] for name in ("input_ids", "attention_mask")}
            with torch.no_grad():
                before = _states(self.original.to(labels.device), inputs)
            values[gender] = preservation(states[:, gender], before, inputs["attention_mask"])
        of_kind = labels[:, None] == torch.arange(len(KINDS), device=labels.device)
        parts = (values[:, None] * of_kind).sum(dim=0)
        weights = self.shares.to(values) * torch.tensor([self.alpha, self.beta, self.beta]).to(values)
        sums = [(parts * weights).sum()[None], kept.sum()[None], parts.detach(), of_kind.sum(dim=0), aside]
        return torch.cat([one.to(values) for one in sums])

    def _orthogonality(self, states: torch.Tensor, groups: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """L of each row; and for the record the summed |cosine| with each gender's vector, and of how many."""
        at = {"all": slice(None), "last": slice(-1, None), "first": slice(1)}[self.layers]
        vectors = self.vectors.to(states.device)[at]
        words, rows = _pooled(states[at], groups)
        products = torch.einsum("lwd,lgd->wlg", words, vectors)
        with torch.no_grad():
            lengths = words.norm(dim=-1).T[:, :, None] * vectors.norm(dim=-1)
            cosines = (products / lengths.clamp_min(1e-12)).abs().mean(dim=1)
        squares = products.pow(2).sum(dim=-1).mean(dim=-1)
        number = torch.bincount(rows, minlength=len(groups))
        mean = torch.zeros(len(groups)).to(squares).index_add(0, rows, squares) / number
        return mean, torch.cat([cosines.sum(dim=0), torch.tensor([len(rows)]).to(cosines)])

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


def preservation(states: torch.Tensor, before: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """The mean squared change of each row's states (layers × rows × tokens × dimensions) where it is attended to."""
    changes = (states - before).pow(2).mean(dim=(0, 3))
    return (changes * attention).sum(dim=1) / attention.sum(dim=1)


def _states(model: Any, batch: Batch) -> torch.Tensor:
    """The hidden states: layers (that of the embeddings first) × rows × tokens × dimensions."""
    inputs = {name: batch[name] for name in ("input_ids", "attention_mask")}
    return torch.stack(model.base_model(**inputs, output_hidden_states=True).hidden_states)


def _pooled(states: torch.Tensor, groups: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean state of each group (layers × groups × dimensions), and the row that it stands in."""
    rows, places = groups.nonzero(as_tuple=True)
    names, inverse = torch.unique(rows * (int(groups.max()) + 1) + groups[rows, places], return_inverse=True)
    sizes = torch.bincount(inverse, minlength=len(names))
    totals = torch.zeros(len(states), len(names), states.shape[-1]).to(states)
    totals = totals.index_add(1, inverse, states[:, rows, places])
    return totals / sizes[:, None], names // (int(groups.max()) + 1)


def _mean(total: float, count: float) -> float | None:
    return total / count if count else None
