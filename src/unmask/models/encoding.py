"""From a question in words to token ids: where the masks go is found by construction, from character offsets.

An encoded question is a list of `Read`s: an input, a position in it, and the token whose log-probability is wanted
there. A target of one word piece is one read; of several, one a piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.errors import UnmaskError, listed
from unmask.models.interfaces import LiteralQuery, MaskQuery, Span

Tokenizer = Any  # transformers has no common type for all its tokenizers


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


@dataclass(frozen=True)
class _Text:
    """A tokenised text, with the characters that each token stands for (None for a special token)."""

    ids: list[int]
    spans: list[Span | None]


def encode(tokenizer: Tokenizer, queries: Sequence[MaskQuery | LiteralQuery]) -> list[list[Read]]:
    """The reads that answer each query."""
    if tokenizer.mask_token_id is None:
        raise UnmaskError("the tokenizer has no mask token; association needs a masked language model")
    spans = {
        (query.text, span): None
        for query in queries
        if isinstance(query, MaskQuery)
        for span in (query.target, *query.hidden)
    }
    places = _places(tokenizer, spans)
    _refuse_unknown(tokenizer, places)
    literal = {
        text: tuple(tokenizer(text.replace("[MASK]", tokenizer.mask_token))["input_ids"])
        for query in queries
        if isinstance(query, LiteralQuery)
        for text in (query.original, query.masked, query.anchor)
    }
    return [
        _reads(query, places, tokenizer.mask_token_id)
        if isinstance(query, MaskQuery)
        else _literal_reads(query, literal, tokenizer.mask_token_id)
        for query in queries
    ]


Place = tuple[tuple[int, ...], int, int]  # ids of the whole text, first piece of the span, one past its last


def _reads(query: MaskQuery, places: dict[tuple[str, Span], Place], mask: int) -> list[Read]:
    ids, first, last = places[query.text, query.target]
    masked = list(ids)
    for span in query.hidden:
        _, start, end = places[query.text, span]
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


def _places(tokenizer: Tokenizer, spans: Iterable[tuple[str, Span]]) -> dict[tuple[str, Span], Place]:
    spans = list(spans)
    texts = list(dict.fromkeys(text for text, _ in spans))
    if not texts:
        return {}
    if not getattr(tokenizer, "is_fast", False):
        return {(text, span): _place_by_mask(tokenizer, text, span) for text, span in spans}
    batch = tokenizer(texts, return_offsets_mapping=True, return_special_tokens_mask=True)
    tokenised = {
        text: _Text(
            ids,
            [None if special else (start, end) for (start, end), special in zip(offsets, specials, strict=True)],
        )
        for text, ids, offsets, specials in zip(
            texts, batch["input_ids"], batch["offset_mapping"], batch["special_tokens_mask"], strict=True
        )
    }
    return {(text, span): _place(tokenizer, text, span, tokenised[text]) for text, span in spans}


def _place(tokenizer: Tokenizer, text: str, span: Span, tokenised: _Text) -> Place:
    """Which tokens stand for a span of characters.

    A piece may carry the space before its word, or be that space alone (SentencePiece); both belong to the word.
    """
    start, end = span
    touched = [
        at for at, place in enumerate(tokenised.spans) if place is not None and place[0] < end and place[1] > start
    ]
    if not touched:
        raise UnmaskError(f"the tokenizer has no tokens for {text[start:end]!r} in {text!r}; use another word")
    first, last = touched[0], touched[-1] + 1
    left, right = tokenised.spans[first], tokenised.spans[last - 1]
    assert left is not None
    assert right is not None
    if text[left[0] : start].strip() or text[end : right[1]].strip():
        raise _joined(text, span)
    while (
        first > 0 and (before := tokenised.spans[first - 1]) is not None and not _shows(tokenizer, tokenised, first - 1)
    ):
        if text[before[0] : before[1]].strip() and before[0] < start:
            break
        first -= 1
    return tuple(tokenised.ids), first, last


def _shows(tokenizer: Tokenizer, tokenised: _Text, at: int) -> bool:
    """Whether a token stands for more than white space."""
    token: str = tokenizer.convert_ids_to_tokens(tokenised.ids[at])
    return token.strip("▁Ġ ") != ""


def _place_by_mask(tokenizer: Tokenizer, text: str, span: Span) -> Place:
    """For a tokenizer that keeps no offsets: put a mask in place of the span and see which ids it displaces."""
    start, end = span
    ids = tuple(tokenizer(text)["input_ids"])
    masked = tuple(tokenizer(text[:start] + tokenizer.mask_token + text[end:])["input_ids"])
    if masked.count(tokenizer.mask_token_id) == 1:
        first = masked.index(tokenizer.mask_token_id)
        last = first + len(ids) - len(masked) + 1
        if last > first and ids[:first] == masked[:first] and ids[last:] == masked[first + 1 :]:
            return ids, first, last
    raise _joined(text, span)


def _joined(text: str, span: Span) -> UnmaskError:
    return UnmaskError(
        f"the tokenizer joins {text[slice(*span)]!r} with its neighbours in {text!r}, so it cannot be masked alone;"
        " use another word"
    )


def _refuse_unknown(tokenizer: Tokenizer, places: dict[tuple[str, Span], Place]) -> None:
    special = set(tokenizer.all_special_ids)  # the unknown token is one of them
    words = {
        text[slice(*span)]: None
        for (text, span), (ids, first, last) in places.items()
        if not special.isdisjoint(ids[first:last])
    }
    if words:
        raise UnmaskError(
            f"the model's vocabulary has no pieces for {listed(words)} ({tokenizer.unk_token});"
            " give lists without them, with --persons and --professions (docs/own-words.md)"
        )
