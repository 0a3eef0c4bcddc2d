"""A `transformers` masked language model behind the `MaskedLM` interface.

A query in words becomes a list of `Read`s: an input, a position in it, and the token whose log-probability is wanted
there. The masks go where the tokens of the word are (`unmask.models.tokenization`). A target of one word piece is one
read; a target of several pieces is one read per piece.

Each distinct input is run once, and the language-model head only at the positions that are read: a head multiplies each
token with the whole vocabulary, which takes half of the time of a small model. For any architecture, the output of the
model's body is cut to those positions on its way to the head. This works because heads treat all positions alike; a
model for which it does not hold is detected by `head_runs_alone`, and run whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from threading import Lock, get_ident
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.models import batching
from unmask.models.batching import LoadedModel
from unmask.models.roles import Answers, Description, LiteralQuery, MaskQuery, Query, SharedTokensQuery, Span
from unmask.models.tokenization import Tokenizer, TokenSpan, check_vocabulary, find_token_spans

TokenIds = Callable[[str], tuple[int, ...]]
_HOOKS = Lock()  # adding hooks is not safe in threads


@dataclass(frozen=True)
class MaskedInput:
    """Token ids, and which of them are attended to (None: all)."""

    ids: tuple[int, ...]
    attention: tuple[int, ...] | None = None


class Read(NamedTuple):
    """Which token's log-probability is read, where."""

    input: MaskedInput
    position: int
    token: int


def encode_queries(tokenizer: Tokenizer, queries: Sequence[Query]) -> list[list[Read]]:
    """The reads that answer each query."""
    mask = tokenizer.mask_token_id
    if mask is None:
        raise UnmaskError("the tokenizer has no mask token; give a masked language model such as BERT")
    spans = find_token_spans(
        tokenizer,
        [
            (query.text, span)
            for query in queries
            if isinstance(query, MaskQuery)
            for span in (query.target, *query.hidden)
        ],
    )
    hint = "give lists without them, with --persons and --professions (docs/own-words.md)"
    check_vocabulary(tokenizer, [(text[slice(*span)], tokens) for (text, span), tokens in spans.items()], hint)

    @cache
    def token_ids(text: str) -> tuple[int, ...]:
        return tuple(tokenizer(text)["input_ids"])

    reads = []
    for query in queries:
        if isinstance(query, MaskQuery):
            reads.append(_read_word(query, spans, mask))
        elif isinstance(query, SharedTokensQuery):
            reads.append(_read_shared_tokens(query, token_ids, mask))
        else:
            reads.append(_read_literally(query, token_ids, tokenizer))
    return reads


def _read_word(query: MaskQuery, spans: dict[tuple[str, Span], TokenSpan], mask: int) -> list[Read]:
    ids, first, last = spans[query.text, query.target]
    masked = list(ids)
    for span in query.hidden:
        _, start, end = spans[query.text, span]
        masked[start:end] = [mask] * (end - start)
    masked[first:last] = [mask] * (last - first)
    reads = []
    for position in range(first, last):
        reads.append(Read(MaskedInput(tuple(masked)), position, ids[position]))
        masked[position] = ids[position]
    return reads


def _read_literally(query: LiteralQuery, token_ids: TokenIds, tokenizer: Tokenizer) -> list[Read]:
    mask = tokenizer.mask_token_id
    original, masked, anchor = (
        (token_ids(text.replace("[MASK]", tokenizer.mask_token)) + (mask,) * query.length)[: query.length]
        for text in (query.original, query.masked, query.anchor)
    )
    if mask not in anchor:
        raise UnmaskError(
            f"{query.masked!r} is cut to {query.length} word pieces before its mask by the published protocol;"
            " use --protocol sound"
        )
    position = anchor.index(mask)
    attention = tuple(int(token > 0) for token in masked)
    return [Read(MaskedInput(masked, attention), position, original[position])]


def _read_shared_tokens(query: SharedTokensQuery, token_ids: TokenIds, mask: int) -> list[Read]:
    ids = token_ids(query.text)
    first, second = map(token_ids, query.pair)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    starts = [((block.a, block.b)[query.side], block.size) for block in blocks]
    matched = [start + step for start, size in starts for step in range(size)]
    return [Read(MaskedInput((*ids[:index], mask, *ids[index + 1 :])), index, ids[index]) for index in matched[1:-1]]


class TransformersMaskedLM(LoadedModel):
    """A loaded masked language model and its tokenizer."""

    def __init__(self, model: Any, tokenizer: Tokenizer, **settings: Any) -> None:
        """Take a `PreTrainedModel` with a masked-LM head and its tokenizer; settings are those of `LoadedModel`."""
        super().__init__(model, tokenizer, **settings)
        self._encoded: tuple[tuple[Query, ...], list[list[Read]]] | None = None
        if tokenizer.mask_token_id is None:
            raise UnmaskError(f"{self.name} has no mask token; give a masked language model such as BERT")
        try:
            self._head_alone = head_runs_alone(model, tokenizer)
        except AttributeError:
            raise UnmaskError(f"{self.name} has no language-model head; load it with AutoModelForMaskedLM") from None

    def log_probability(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """The natural logarithm of the probability of each query's target."""
        return self.answer(queries).log_probability

    def answer(self, queries: Sequence[Query]) -> Answers:
        """How probable each query's target is, and whether it is the model's first choice."""
        reads = self._encode_queries(queries)
        tokens: dict[tuple[MaskedInput, int], list[int]] = defaultdict(list)
        for input, position, token in dict.fromkeys(read for query_reads in reads for read in query_reads):
            tokens[input, position].append(token)
        positions = list(tokens)
        log_p: dict[Read, float] = {}
        first_choice: dict[Read, bool] = {}
        self._check_length(max((len(input.ids) for input, _ in positions), default=0))
        self._check_ids(max((max(*input.ids, *candidates) for (input, _), candidates in tokens.items()), default=0))

        def forward(batch: list[int]) -> None:
            logits = self._run_batch([positions[index] for index in batch])
            norm = torch.logsumexp(logits, dim=-1)
            best = logits.argmax(dim=-1).tolist()
            for row, index in enumerate(batch):
                candidates = tokens[positions[index]]
                for token, value in zip(candidates, (logits[row, candidates] - norm[row]).tolist(), strict=True):
                    read = Read(*positions[index], token)
                    log_p[read], first_choice[read] = value, token == best[row]

        self._run_batches([len(input.ids) for input, _ in positions], forward)
        scores = np.array([sum(map(log_p.__getitem__, query_reads)) for query_reads in reads], dtype=float)
        self._check_finite(scores, lambda row: _quote_query(queries[row]))
        right = [all(map(first_choice.__getitem__, query_reads)) for query_reads in reads]
        return Answers(scores, np.array(right, dtype=bool))

    def describe(self, queries: Sequence[Query]) -> Description:
        """How many distinct inputs the queries need, and the word pieces of each target."""
        reads = self._encode_queries(queries)
        distinct = {read.input for query_reads in reads for read in query_reads}
        return Description(len(distinct), [len(query_reads) for query_reads in reads])

    def _encode_queries(self, queries: Sequence[Query]) -> list[list[Read]]:
        """Encode, remembering the last queries: they are described and then answered."""
        key = tuple(queries)
        if self._encoded is None or self._encoded[0] != key:
            self._encoded = (key, encode_queries(self.tokenizer, key))
        return self._encoded[1]

    @torch.inference_mode()
    def _run_batch(self, positions: list[tuple[MaskedInput, int]]) -> torch.Tensor:
        """The logits over the vocabulary at one position of each input; an input that is read twice is run once."""
        distinct = {input: row for row, input in enumerate(dict.fromkeys(input for input, _ in positions))}
        inputs = [
            {"input_ids": input.ids, "attention_mask": input.attention or (1,) * len(input.ids)} for input in distinct
        ]
        batch = batching.move_batch(batching.pad(self.tokenizer, inputs, left=False), self.device)
        rows = torch.tensor([distinct[input] for input, _ in positions], device=self.device)
        columns = torch.tensor([position for _, position in positions], device=self.device)
        return logits_at(self.model, batch, rows, columns, alone=self._head_alone).float()


def logits_at(
    model: Any, batch: batching.Batch, rows: torch.Tensor, columns: torch.Tensor, *, alone: bool
) -> torch.Tensor:
    """The logits over the vocabulary at some tokens of a batch; `alone`: the head sees these only.

    Several threads may run one model at once.
    """
    thread = get_ident()

    def cut(_module: Any, _args: Any, output: Any) -> Any:
        if get_ident() != thread:
            return None  # the output of another batch stays as it is
        hidden = output[0][rows, columns].unsqueeze(1)
        if isinstance(output, tuple):
            return (hidden, *output[1:])
        output.last_hidden_state = hidden
        return output

    if not alone:
        whole: torch.Tensor = model(**batch).logits
        return whole[rows, columns]
    with _HOOKS:
        hook = _find_core(model).base_model.register_forward_hook(cut)
    try:
        logits: torch.Tensor = model(**batch).logits
    finally:
        with _HOOKS:
            hook.remove()
    return logits[:, 0]


def head_runs_alone(model: Any, tokenizer: Any) -> bool:
    """Whether cutting to a token before the head gives the same logits as after it.

    Raises an AttributeError where a model has no head.
    """
    core = _find_core(model)
    mask, ids = tokenizer.mask_token_id, tokenizer("")["input_ids"]
    padded = batching.pad(
        tokenizer, [{"input_ids": row} for row in ([*ids, mask, mask], [mask, *ids, mask, mask])], left=False
    )
    device = next(core.parameters()).device
    batch = {name: tensor.to(device) for name, tensor in padded.items()}
    rows, columns = torch.tensor([0, 1], device=device), torch.tensor([1, 2], device=device)
    was_training = core.training
    core.eval()
    try:
        with torch.no_grad():
            whole = logits_at(core, batch, rows, columns, alone=False)
            if core.base_model is core:
                return False
            try:
                cut = logits_at(core, batch, rows, columns, alone=True)
            except (RuntimeError, IndexError, TypeError, AttributeError):
                return False
    finally:
        core.train(was_training)
    return cut.shape == whole.shape and bool(torch.allclose(cut, whole, atol=1e-4, rtol=1e-4, equal_nan=True))


def _find_core(model: Any) -> Any:
    """The model inside the wrappers of several processes and of adapters."""
    model = getattr(model, "module", model)
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def _quote_query(query: Query) -> str:
    return query.masked if isinstance(query, LiteralQuery) else query.text
