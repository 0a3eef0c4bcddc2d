"""A `transformers` model behind the `Encoder` interface: the vector of a word where it stands in a sentence.

    v(w) = pool over the word's pieces p of [ h_{L-k+1}(p), …, h_L(p) ]

h_l is the hidden state after layer l of L, and k the number of `layers`: the last is the last part of the vector. (No
dot product, distance or angle depends on that order.) `first+last` adds the first and the last piece, as the code of
Bhang et al. does (Lipstick on a Pig Again), so a word of one piece counts twice; `mean` is their mean; `first` the
first. A piece that is only the space before the word belongs to the word.

Each distinct sentence is run once, without the head; only the vectors that are asked for leave the device. Nothing is
kept from one call to the next, so memory grows with the words of a call, not with all words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice, quote
from unmask.models import batching
from unmask.models.batching import LoadedModel
from unmask.models.roles import Pooling, TokensInSentence, WordInSentence
from unmask.models.tokenization import TokenSpan, find_token_spans, has_unknown

Word = WordInSentence | TokensInSentence


class _Batch(NamedTuple):
    """What is read of a batch of inputs: a row, a column and a weight for each piece, and the word it belongs to."""

    rows: list[int]
    columns: list[int]
    weights: list[float]
    words: list[int]


class TransformersEncoder(LoadedModel):
    """A loaded model, with a head or without one, and its tokenizer, ready to be asked for words' vectors."""

    @property
    def depth(self) -> int:
        """How many layers the model has: the most that `embed` can put one after the other."""
        return int(self.model.config.num_hidden_layers)

    def unknown(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        """Whether a word has a piece that the model's vocabulary does not know; `embed` refuses such a word.

        Of tokens at two places, whether one of the two is unknown; `embed` takes them, as the published code does.
        """
        special = set(self.tokenizer.all_special_ids)  # the unknown token is one of them
        return np.array(
            [
                self.tokenizer.unk_token_id in (place[0][place[1]], place[0][place[2] - 1])
                if isinstance(word, TokensInSentence)
                else has_unknown(special, place)
                for word, place in zip(words, self._find_tokens(words), strict=True)
            ],
            dtype=bool,
        )

    def embed(self, words: Sequence[Word], *, layers: int = 4, pooling: Pooling = "first+last") -> NDArray[np.float32]:
        """The vector of each word (rows): the last `layers` hidden states one after the other, the last one last.

        Tokens at two places are always added.
        """
        check_choice(pooling, get_args(Pooling), "pooling")
        if not 1 <= layers <= self.depth:
            raise UnmaskError(
                f"{layers} layers were asked for, but {self.name} has {self.depth}; give 1 to {self.depth}"
            )
        found = self._find_tokens(words)
        self._check_unknown(words, found)
        inputs: dict[tuple[int, ...], list[int]] = {}
        for at, (ids, _, _) in enumerate(found):
            inputs.setdefault(ids, []).append(at)
        distinct = list(inputs)
        self._check_too_long(max(map(len, distinct), default=0))
        self._check_strange_ids(max(map(max, distinct), default=0))
        vectors = np.empty((len(words), layers * self._width()), dtype=np.float32)
        pools: list[Pooling] = ["first+last" if isinstance(word, TokensInSentence) else pooling for word in words]

        def forward(batch: list[int]) -> None:
            asked = [(row, word) for row, at in enumerate(batch) for word in inputs[distinct[at]]]
            reads = _plan_pooling([(row, found[word], pools[word]) for row, word in asked])
            vectors[[word for _, word in asked]] = self._run_batch([distinct[at] for at in batch], reads, layers)

        batching.run_batches([len(ids) for ids in distinct], forward, budget=self.token_budget, progress=self.progress)
        self._check_not_finite(vectors, words)
        return vectors

    def _find_tokens(self, words: Sequence[Word]) -> list[TokenSpan]:
        """The ids of each word's sentence, its first piece, and one past its last."""
        spans = [(word.text, word.span) for word in words if isinstance(word, WordInSentence)]
        found = find_token_spans(self.tokenizer, spans)
        return [
            self._find_two_tokens(word) if isinstance(word, TokensInSentence) else found[word.text, word.span]
            for word in words
        ]

    def _find_two_tokens(self, word: TokensInSentence) -> TokenSpan:
        """The places of two tokens, counted as Python does; they need not be in order."""
        tokenizer = self.tokenizer
        around = [
            next((one for one in two if one is not None), None)
            for two in (
                (tokenizer.cls_token_id, tokenizer.bos_token_id),
                (tokenizer.sep_token_id, tokenizer.eos_token_id),
            )
        ]
        if None in around:
            raise UnmaskError(f"{self.name} has no tokens for the start and the end of a text; use --protocol sound")
        tokens = [token for token in tokenizer.tokenize(word.text) if token not in word.dropped]
        ids = (around[0], *tokenizer.convert_tokens_to_ids(tokens), around[1])
        both = (word.start, word.end - 1)
        outside = [at for at in both if not -len(ids) <= at < len(ids)]
        if outside:
            raise UnmaskError(
                f"{word.text!r} has {len(ids)} tokens, and none at place {outside[0]}; give a longer text"
            )
        first, last = (at % len(ids) for at in both)
        return ids, first, last + 1

    @torch.inference_mode()
    def _run_batch(self, inputs: list[tuple[int, ...]], reads: _Batch, layers: int) -> NDArray[np.float32]:
        """The words' vectors of one batch."""
        device = next(self.model.parameters()).device
        shape = (len(inputs), max(map(len, inputs)))
        ids = np.full(shape, self.tokenizer.pad_token_id or 0, dtype=np.int64)
        attention = np.zeros(shape, dtype=np.int64)
        for row, input in enumerate(inputs):
            ids[row, : len(input)] = input
            attention[row, : len(input)] = 1
        output = self.model.base_model(
            input_ids=torch.from_numpy(ids).to(device),
            attention_mask=torch.from_numpy(attention).to(device),
            output_hidden_states=True,
        )
        states = (getattr(output, "hidden_states", None) or ())[-layers:]
        if len(states) < layers or any(state.shape[:2] != shape for state in states):
            raise UnmaskError(f"{self.name} does not give a hidden state of each token and layer; use another encoder")
        rows, columns, words = (
            torch.tensor(places, device=device) for places in (reads.rows, reads.columns, reads.words)
        )
        pieces = torch.cat([state[rows, columns] for state in states], dim=-1).float()
        weighted = pieces * torch.tensor(reads.weights, device=device)[:, None]
        pooled = pieces.new_zeros((reads.words[-1] + 1, pieces.shape[1])).index_add_(0, words, weighted)
        vectors: NDArray[np.float32] = pooled.cpu().numpy()
        return vectors

    def _width(self) -> int:
        return int(self.model.config.hidden_size)

    def _check_unknown(self, words: Sequence[Word], found: Sequence[TokenSpan]) -> None:
        special = set(self.tokenizer.all_special_ids)
        strange = {
            word.word: None
            for word, place in zip(words, found, strict=True)
            if isinstance(word, WordInSentence) and has_unknown(special, place)
        }
        if strange:
            raise UnmaskError(
                f"the vocabulary of {self.name} has no pieces for {quote(strange)} ({self.tokenizer.unk_token});"
                " leave out what its method unknown finds"
            )

    def _check_not_finite(self, vectors: NDArray[np.float32], words: Sequence[Word]) -> None:
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if bad.size:
            raise UnmaskError(
                f"{self.name} gives a vector that is not finite for {words[int(bad[0])].text!r} ({bad.size} of"
                f" {len(words)}); check the weights, or use a wider dtype"
            )


def _plan_pooling(asked: Sequence[tuple[int, TokenSpan, Pooling]]) -> _Batch:
    """The pieces to read of each word: its row, its place, and how its pieces are pooled."""
    batch = _Batch([], [], [], [])
    for word, (row, (_, first, last), pooling) in enumerate(asked):
        columns: Sequence[int]
        if pooling == "mean":
            columns, weight = range(first, last), 1 / (last - first)
        else:
            columns, weight = ((first, last - 1) if pooling == "first+last" else (first,)), 1.0
        batch.rows.extend([row] * len(columns))
        batch.columns.extend(columns)
        batch.weights.extend([weight] * len(columns))
        batch.words.extend([word] * len(columns))
    return batch
