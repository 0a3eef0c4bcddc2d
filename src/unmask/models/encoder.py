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

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice
from unmask.models import batching
from unmask.models.batching import LoadedModel
from unmask.models.roles import Pooling, TokensInSentence, WordInSentence
from unmask.models.tokenization import TokenSpan, check_vocabulary, find_token_spans, find_unknown

Word = WordInSentence | TokensInSentence


class _Piece(NamedTuple):
    """A piece that is read of a batch of inputs, and the word that it belongs to."""

    row: int
    column: int
    weight: float
    word: int


class TransformersEncoder(LoadedModel):
    """A loaded model, with a head or without one, and its tokenizer."""

    @property
    def depth(self) -> int:
        """How many layers the model has: the most that `embed` can put one after the other."""
        return int(self.model.config.num_hidden_layers)

    def unknown(self, words: Sequence[Word]) -> NDArray[np.bool_]:
        """Whether a word has a piece that is not in the model's vocabulary; `embed` raises an error for it.

        For tokens at two places, whether one of the two is unknown; `embed` accepts them, as the published code does.
        """
        spans = self._find_tokens(words)
        unknown = find_unknown(self.tokenizer, spans)
        for index, (word, (ids, first, last)) in enumerate(zip(words, spans, strict=True)):
            if isinstance(word, TokensInSentence):
                unknown[index] = self.tokenizer.unk_token_id in (ids[first], ids[last - 1])
        return np.array(unknown, dtype=bool)

    def embed(self, words: Sequence[Word], *, layers: int = 4, pooling: Pooling = "first+last") -> NDArray[np.float32]:
        """The vector of each word (rows): the last `layers` hidden states one after the other, the last one last.

        Tokens at two places are always added.
        """
        check_choice(pooling, get_args(Pooling), "pooling")
        if not 1 <= layers <= self.depth:
            raise UnmaskError(f"{self.name} has {self.depth} layers, not {layers}; give 1 to {self.depth}")
        spans = self._find_tokens(words)
        listed = [
            (word.word, span) for word, span in zip(words, spans, strict=True) if isinstance(word, WordInSentence)
        ]
        hint = f"leave out the words that the method unlisted of {self.name} reports"
        check_vocabulary(self.tokenizer, listed, hint)
        inputs: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for index, (ids, _, _) in enumerate(spans):
            inputs[ids].append(index)
        distinct = list(inputs)
        self._check_length(max(map(len, distinct), default=0))
        self._check_ids(max(map(max, distinct), default=0))
        vectors = np.empty((len(words), layers * int(self.model.config.hidden_size)), dtype=np.float32)

        def forward(batch: list[int]) -> None:
            indices: list[int] = []
            pieces: list[_Piece] = []
            for row, number in enumerate(batch):
                for index in inputs[distinct[number]]:
                    weights = _weight_pieces(words[index], spans[index], pooling)
                    pieces += [_Piece(row, column, weight, len(indices)) for column, weight in weights]
                    indices.append(index)
            vectors[indices] = self._run_batch([distinct[number] for number in batch], pieces, layers)

        self._run_batches([len(ids) for ids in distinct], forward)
        self._check_finite(vectors, lambda row: words[row].text)
        return vectors

    def _find_tokens(self, words: Sequence[Word]) -> list[TokenSpan]:
        """The ids of each word's sentence, its first piece, and one past its last."""
        spans = find_token_spans(
            self.tokenizer, [(word.text, word.span) for word in words if isinstance(word, WordInSentence)]
        )
        return [
            self._find_two_tokens(word) if isinstance(word, TokensInSentence) else spans[word.text, word.span]
            for word in words
        ]

    def _find_two_tokens(self, word: TokensInSentence) -> TokenSpan:
        """The indices of two tokens, counted as Python does; they need not be in order."""
        tokenizer = self.tokenizer
        begin = tokenizer.bos_token_id if tokenizer.cls_token_id is None else tokenizer.cls_token_id
        stop = tokenizer.eos_token_id if tokenizer.sep_token_id is None else tokenizer.sep_token_id
        if begin is None or stop is None:
            raise UnmaskError(f"{self.name} has no tokens for the start and the end of a text; use --protocol sound")
        tokens = [token for token in tokenizer.tokenize(word.text) if token not in word.dropped]
        ids = (begin, *tokenizer.convert_tokens_to_ids(tokens), stop)
        for index in (word.start, word.end - 1):
            if not -len(ids) <= index < len(ids):
                raise UnmaskError(f"{word.text!r} has {len(ids)} tokens, and none at place {index}; give a longer text")
        return ids, word.start % len(ids), (word.end - 1) % len(ids) + 1

    @torch.inference_mode()
    def _run_batch(self, inputs: list[tuple[int, ...]], pieces: list[_Piece], layers: int) -> NDArray[np.float32]:
        """The words' vectors of one batch."""
        padded = batching.pad(self.tokenizer, [{"input_ids": ids} for ids in inputs], left=False)
        batch = batching.move_batch(padded, self.device)
        output = self.model.base_model(**batch, output_hidden_states=True)
        states = (getattr(output, "hidden_states", None) or ())[-layers:]
        if len(states) < layers or any(state.shape[:2] != batch["input_ids"].shape for state in states):
            raise UnmaskError(f"{self.name} does not give a hidden state of each token and layer; use another encoder")
        rows, columns, weights, words = (
            torch.tensor(column, device=self.device) for column in zip(*pieces, strict=True)
        )
        values = torch.cat([state[rows, columns] for state in states], dim=-1).float() * weights[:, None]
        pooled = values.new_zeros((pieces[-1].word + 1, values.shape[1])).index_add_(0, words, values)
        vectors: NDArray[np.float32] = pooled.cpu().numpy()
        return vectors


def _weight_pieces(word: Word, span: TokenSpan, pooling: Pooling) -> list[tuple[int, float]]:
    """Return the columns of the pieces to read of a word, and the weight of each."""
    _, first, last = span
    if isinstance(word, TokensInSentence) or pooling == "first+last":
        return [(first, 1.0), (last - 1, 1.0)]
    if pooling == "first":
        return [(first, 1.0)]
    return [(column, 1 / (last - first)) for column in range(first, last)]
