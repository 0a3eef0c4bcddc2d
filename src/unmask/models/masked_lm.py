"""A `transformers` masked language model behind the `MaskedLM` interface.

A query in words becomes a list of `Read`s: an input, a position in it, and the token whose log-probability is wanted
there. The masks go where the tokens of the word are (`unmask.models.tokenization`). A target of one word piece is one
read; a target of several pieces is one read per piece.

Each distinct input is run once. The language-model head is applied only at the position that is read, not at every
position × vocabulary: for any architecture, the backbone's output is cut to that position on its way to the head. This
works because heads treat all positions alike; a model for which it does not hold is detected at the start and run
whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError, quote
from unmask.models import batching
from unmask.models.batching import LoadedModel
from unmask.models.roles import Answers, Description, LiteralQuery, MaskQuery, SharedTokensQuery, Span
from unmask.models.tokenization import Tokenizer, TokenSpan, find_token_spans, has_unknown


@dataclass(frozen=True)
class MaskedInput:
    """Token ids, and which of them are attended to (all, unless said)."""

    ids: tuple[int, ...]
    attention: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Read:
    """Which token's log-probability is read, where."""

    input: MaskedInput
    position: int
    token: int


def encode_queries(
    tokenizer: Tokenizer, queries: Sequence[MaskQuery | LiteralQuery | SharedTokensQuery]
) -> list[list[Read]]:
    """The reads that answer each query."""
    if tokenizer.mask_token_id is None:
        raise UnmaskError("the tokenizer has no mask token; association needs a masked language model")
    spans = {
        (query.text, span): None
        for query in queries
        if isinstance(query, MaskQuery)
        for span in (query.target, *query.hidden)
    }
    found = find_token_spans(tokenizer, spans)
    _check_unknown(tokenizer, found)
    literal = {
        text: tuple(tokenizer(text.replace("[MASK]", tokenizer.mask_token))["input_ids"])
        for query in queries
        if isinstance(query, LiteralQuery)
        for text in (query.original, query.masked, query.anchor)
    }
    shared = {
        text: tuple(tokenizer(text)["input_ids"])
        for query in queries
        if isinstance(query, SharedTokensQuery)
        for text in query.pair
    }
    mask = tokenizer.mask_token_id
    return [
        _read_word(query, found, mask)
        if isinstance(query, MaskQuery)
        else _shared_reads(query, shared, mask)
        if isinstance(query, SharedTokensQuery)
        else _literal_reads(query, literal, mask)
        for query in queries
    ]


def _read_word(query: MaskQuery, found: dict[tuple[str, Span], TokenSpan], mask: int) -> list[Read]:
    ids, first, last = found[query.text, query.target]
    masked = list(ids)
    for span in query.hidden:
        _, start, end = found[query.text, span]
        masked[start:end] = [mask] * (end - start)
    masked[first:last] = [mask] * (last - first)
    reads = []
    for position in range(first, last):
        reads.append(Read(MaskedInput(tuple(masked)), position, ids[position]))
        masked[position] = ids[position]
    return reads


def _literal_reads(query: LiteralQuery, tokens: dict[str, tuple[int, ...]], mask: int) -> list[Read]:
    original, masked, anchor = (
        (tokens[text] + (mask,) * query.length)[: query.length] for text in (query.original, query.masked, query.anchor)
    )
    if mask not in anchor:
        raise UnmaskError(
            f"{query.masked!r} is cut to {query.length} word pieces before its mask by the published protocol;"
            " use --protocol sound"
        )
    position = anchor.index(mask)
    attention = tuple(int(token > 0) for token in masked)
    return [Read(MaskedInput(masked, attention), position, original[position])]


def _check_unknown(tokenizer: Tokenizer, found: dict[tuple[str, Span], TokenSpan]) -> None:
    special = set(tokenizer.all_special_ids)  # the unknown token is one of them
    words = {text[slice(*span)]: None for (text, span), place in found.items() if has_unknown(special, place)}
    if words:
        raise UnmaskError(
            f"the model's vocabulary has no pieces for {quote(words)} ({tokenizer.unk_token});"
            " give lists without them, with --persons and --professions (docs/own-words.md)"
        )


def _shared_reads(query: SharedTokensQuery, tokens: dict[str, tuple[int, ...]], mask: int) -> list[Read]:
    ids = tokens[query.text]
    first, second = (tokens[text] for text in query.pair)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    starts = [((block.a, block.b)[query.side], block.size) for block in blocks]
    matched = [start + step for start, size in starts for step in range(size)]
    return [Read(MaskedInput((*ids[:at], mask, *ids[at + 1 :])), at, ids[at]) for at in matched[1:-1]]


Query = MaskQuery | LiteralQuery | SharedTokensQuery


class TransformersMaskedLM(LoadedModel):
    """A loaded model and its tokenizer, ready to be asked."""

    def __init__(self, model: Any, tokenizer: Tokenizer, **settings: Any) -> None:
        """Take a `PreTrainedModel` with a masked-LM head and its tokenizer; settings are those of `LoadedModel`."""
        super().__init__(model, tokenizer, **settings)
        self._encoded: tuple[tuple[Query, ...], list[list[Read]]] | None = None
        if tokenizer.mask_token_id is None:
            raise UnmaskError(f"{self.name} has no mask token; association needs a masked language model")
        self._head_alone = self._head_can_run_alone()

    def log_probability(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """The natural logarithm of the probability of each query's target."""
        return self.answer(queries).log_probability

    def answer(self, queries: Sequence[Query]) -> Answers:
        """How probable each query's target is, and whether it is the model's first choice."""
        answers = self._encode_queries(queries)
        asked: dict[tuple[MaskedInput, int], dict[int, float]] = {}
        for reads in answers:
            for read in reads:
                asked.setdefault((read.input, read.position), {})[read.token] = float("nan")
        places = list(asked)
        chosen: dict[tuple[MaskedInput, int], int] = {}
        self._check_too_long(max((len(input.ids) for input, _ in places), default=0))
        self._check_strange_ids(max((max(*input.ids, *tokens) for (input, _), tokens in asked.items()), default=0))

        def forward(batch: list[int]) -> None:
            log_p, best = self._log_softmax([places[at] for at in batch], [list(asked[places[at]]) for at in batch])
            for at, values, token in zip(batch, log_p, best, strict=True):
                asked[places[at]] = dict(zip(asked[places[at]], values, strict=True))
                chosen[places[at]] = token

        lengths = [len(input.ids) for input, _ in places]
        batching.run_batches(lengths, forward, budget=self.token_budget, progress=self.progress)
        scores = np.array(
            [sum(asked[read.input, read.position][read.token] for read in reads) for reads in answers],
            dtype=float,
        )
        self._check_not_finite(scores, queries)
        right = [all(chosen[read.input, read.position] == read.token for read in reads) for reads in answers]
        return Answers(scores, np.array(right, dtype=bool))

    def describe(self, queries: Sequence[Query]) -> Description:
        """How many distinct inputs the queries need, and the word pieces of each target."""
        answers = self._encode_queries(queries)
        distinct = {read.input for reads in answers for read in reads}
        return Description(len(distinct), [len(reads) for reads in answers])

    def _encode_queries(self, queries: Sequence[Query]) -> list[list[Read]]:
        """Encode, remembering the last questions: they are described and then asked."""
        asked = tuple(queries)
        if self._encoded is None or self._encoded[0] != asked:
            self._encoded = (asked, encode_queries(self.tokenizer, asked))
        return self._encoded[1]

    def _log_softmax(
        self, places: list[tuple[MaskedInput, int]], tokens: list[list[int]]
    ) -> tuple[list[list[float]], list[int]]:
        """The log-probabilities of the tokens that are asked for at each place, and the likeliest token there."""
        logits = self._run_batch([input for input, _ in places], [position for _, position in places])
        norm = torch.logsumexp(logits, dim=-1)
        log_p = [(logits[row, wanted] - norm[row]).tolist() for row, wanted in enumerate(tokens)]
        return log_p, logits.argmax(dim=-1).tolist()

    @torch.inference_mode()
    def _run_batch(self, inputs: list[MaskedInput], positions: list[int], *, alone: bool | None = None) -> torch.Tensor:
        """The logits over the vocabulary at one position of each input; an input that is read twice is run once."""
        device = next(self.model.parameters()).device
        distinct = {input: row for row, input in enumerate(dict.fromkeys(inputs))}
        width = max(len(input.ids) for input in distinct)
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.full((len(distinct), width), pad)
        attention = torch.zeros((len(distinct), width), dtype=torch.long)
        for input, row in distinct.items():
            ids[row, : len(input.ids)] = torch.tensor(input.ids)
            attention[row, : len(input.ids)] = torch.tensor(input.attention or (1,) * len(input.ids))
        rows = torch.tensor([distinct[input] for input in inputs], device=device)
        columns = torch.tensor(positions, device=device)

        def cut(_module: Any, _args: Any, output: Any) -> Any:
            hidden = output[0][rows, columns].unsqueeze(1)
            if isinstance(output, tuple):
                return (hidden, *output[1:])
            output.last_hidden_state = hidden
            return output

        alone = self._head_alone if alone is None else alone
        hook = self.model.base_model.register_forward_hook(cut) if alone else None
        try:
            logits = self.model(input_ids=ids.to(device), attention_mask=attention.to(device)).logits
        finally:
            if hook is not None:
                hook.remove()
        picked: torch.Tensor = logits[:, 0] if alone else logits[rows, columns]
        return picked.float()

    def _head_can_run_alone(self) -> bool:
        """Whether cutting to a position before the head gives the same logits as after it."""
        mask = self.tokenizer.mask_token_id
        ids = tuple(self.tokenizer("")["input_ids"])
        inputs = [MaskedInput((*ids, mask, mask)), MaskedInput((mask, *ids, mask, mask))]
        try:
            whole = self._run_batch(inputs, [1, 2], alone=False)
        except AttributeError:
            raise UnmaskError(f"{self.name} has no language-model head; load it with AutoModelForMaskedLM") from None
        if self.model.base_model is self.model:
            return False
        try:
            cut = self._run_batch(inputs, [1, 2], alone=True)
        except (RuntimeError, IndexError, TypeError, AttributeError):
            return False
        return cut.shape == whole.shape and bool(torch.allclose(cut, whole, atol=1e-4, rtol=1e-4, equal_nan=True))

    def _check_not_finite(self, scores: NDArray[np.float64], queries: Sequence[Query]) -> None:
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            query = queries[int(bad[0])]
            text = query.masked if isinstance(query, LiteralQuery) else query.text
            raise UnmaskError(
                f"{self.name} gives {scores[bad[0]]} for {text!r} ({bad.size} of {len(scores)} scores are not finite);"
                " check the weights, or use a wider dtype"
            )
