"""From a question in words to token ids: the masks go where the tokens of a word are (`unmask.models.places`).

An encoded question is a list of `Read`s: an input, a position in it, and the token whose log-probability is wanted
there. A target of one word piece is one read; of several, one a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from unmask.errors import UnmaskError, listed
from unmask.models.interfaces import LiteralQuery, MaskQuery, SharedTokensQuery, Span
from unmask.models.places import Place, Tokenizer, has_unknown, places


@dataclass(frozen=True)
class Input:
    """Token ids, and which of them are attended to (all, unless said)."""

    ids: tuple[int, ...]
    attention: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Read:
    """Which token's log-probability is read, where."""

    input: Input
    position: int
    token: int


def encode(tokenizer: Tokenizer, queries: Sequence[MaskQuery | LiteralQuery | SharedTokensQuery]) -> list[list[Read]]:
    """The reads that answer each query."""
    if tokenizer.mask_token_id is None:
        raise UnmaskError("the tokenizer has no mask token; association needs a masked language model")
    spans = {
        (query.text, span): None
        for query in queries
        if isinstance(query, MaskQuery)
        for span in (query.target, *query.hidden)
    }
    found = places(tokenizer, spans)
    _refuse_unknown(tokenizer, found)
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
        _reads(query, found, mask)
        if isinstance(query, MaskQuery)
        else _shared_reads(query, shared, mask)
        if isinstance(query, SharedTokensQuery)
        else _literal_reads(query, literal, mask)
        for query in queries
    ]


def _reads(query: MaskQuery, found: dict[tuple[str, Span], Place], mask: int) -> list[Read]:
    ids, first, last = found[query.text, query.target]
    masked = list(ids)
    for span in query.hidden:
        _, start, end = found[query.text, span]
        masked[start:end] = [mask] * (end - start)
    masked[first:last] = [mask] * (last - first)
    reads = []
    for position in range(first, last):
        reads.append(Read(Input(tuple(masked)), position, ids[position]))
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
    return [Read(Input(masked, attention), position, original[position])]


def _refuse_unknown(tokenizer: Tokenizer, found: dict[tuple[str, Span], Place]) -> None:
    special = set(tokenizer.all_special_ids)  # the unknown token is one of them
    words = {text[slice(*span)]: None for (text, span), place in found.items() if has_unknown(special, place)}
    if words:
        raise UnmaskError(
            f"the model's vocabulary has no pieces for {listed(words)} ({tokenizer.unk_token});"
            " give lists without them, with --persons and --professions (docs/own-words.md)"
        )


def _shared_reads(query: SharedTokensQuery, tokens: dict[str, tuple[int, ...]], mask: int) -> list[Read]:
    ids = tokens[query.text]
    first, second = (tokens[text] for text in query.pair)
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    starts = [((block.a, block.b)[query.side], block.size) for block in blocks]
    matched = [start + step for start, size in starts for step in range(size)]
    return [Read(Input((*ids[:at], mask, *ids[at + 1 :])), at, ids[at]) for at in matched[1:-1]]
