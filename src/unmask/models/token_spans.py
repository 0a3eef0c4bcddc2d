"""The tokens that stand for a span of text, found from character offsets."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from unmask.errors import UnmaskError
from unmask.models.interfaces import Span

Tokenizer = Any  # transformers has no common type for all its tokenizers
TokenSpan = tuple[tuple[int, ...], int, int]
"""The token ids of the whole text, the first piece of the span, and one past its last."""


@dataclass(frozen=True)
class _Text:
    """A tokenised text, with the characters that each token stands for (None for a special token)."""

    ids: tuple[int, ...]
    spans: list[Span | None]


def find_token_spans(tokenizer: Tokenizer, spans: Iterable[tuple[str, Span]]) -> dict[tuple[str, Span], TokenSpan]:
    """The tokens of each span of characters (start and end) of a text, of a fast tokenizer or a slow one."""
    spans = list(dict.fromkeys(spans))
    empty = [(text, span) for text, span in spans if not text[slice(*span)].strip()]
    if empty:
        text, (start, end) = empty[0]
        raise UnmaskError(f"there is no word between characters {start} and {end} of {text!r}; give the place of one")
    texts = list(dict.fromkeys(text for text, _ in spans))
    if not texts:
        return {}
    if not getattr(tokenizer, "is_fast", False):
        return {(text, span): _token_span_by_mask(tokenizer, text, span) for text, span in spans}
    batch = tokenizer(texts, return_offsets_mapping=True, return_special_tokens_mask=True)
    tokenised = {
        text: _Text(
            tuple(ids),
            [None if special else (start, end) for (start, end), special in zip(offsets, specials, strict=True)],
        )
        for text, ids, offsets, specials in zip(
            texts, batch["input_ids"], batch["offset_mapping"], batch["special_tokens_mask"], strict=True
        )
    }
    return {(text, span): _token_span(tokenizer, text, span, tokenised[text]) for text, span in spans}


def has_unknown(special: Collection[int], place: TokenSpan) -> bool:
    """Whether a piece of a word is unknown to the tokenizer, or is itself one of its `special` ids."""
    ids, first, last = place
    return any(token in special for token in ids[first:last])


def _token_span(tokenizer: Tokenizer, text: str, span: Span, tokenised: _Text) -> TokenSpan:
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
    return tokenised.ids, first, last


def _shows(tokenizer: Tokenizer, tokenised: _Text, at: int) -> bool:
    """Whether a token stands for more than white space."""
    token: str = tokenizer.convert_ids_to_tokens(tokenised.ids[at])
    return token.strip("▁Ġ ") != ""


def _token_span_by_mask(tokenizer: Tokenizer, text: str, span: Span) -> TokenSpan:
    """For a tokenizer that keeps no offsets: put a mask in place of the span and see which ids it displaces."""
    start, end = span
    mark = tokenizer.mask_token or tokenizer.unk_token
    if mark is None:
        raise UnmaskError("the tokenizer keeps no offsets and has no mask token to find words with; give a fast one")
    ids = tuple(tokenizer(text)["input_ids"])
    marked = tuple(tokenizer(text[:start] + mark + text[end:])["input_ids"])
    sign = tokenizer.convert_tokens_to_ids(mark)
    if marked.count(sign) == 1:
        first = marked.index(sign)
        last = first + len(ids) - len(marked) + 1
        if last > first and ids[:first] == marked[:first] and ids[last:] == marked[first + 1 :]:
            return ids, first, last
    raise _joined(text, span)


def _joined(text: str, span: Span) -> UnmaskError:
    return UnmaskError(
        f"the tokenizer joins {text[slice(*span)]!r} with its neighbours in {text!r}, so it cannot be asked for alone;"
        " use another word"
    )
