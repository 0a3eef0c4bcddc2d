"""Tokens of texts: those that stand for a span of characters, and those that are read of a text that is too long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice, quote
from unmask.models.roles import Span, View

Tokenizer = Any  # transformers has no common type for all its tokenizers
TokenSpan = tuple[tuple[int, ...], int, int]
"""The token ids of the whole text, the first piece of the span, and one past its last."""


def find_token_spans(tokenizer: Tokenizer, spans: Iterable[tuple[str, Span]]) -> dict[tuple[str, Span], TokenSpan]:
    """Find the tokens of each span of characters (start and end) of a text, of a fast tokenizer or a slow one."""
    spans = list(dict.fromkeys(spans))
    for text, (start, end) in spans:
        if not 0 <= start < end <= len(text) or not text[start:end].strip():
            raise UnmaskError(
                f"there is no word between characters {start} and {end} of {text!r}; give the start and end of one"
            )
    if not getattr(tokenizer, "is_fast", False):
        return {(text, span): _find_by_mask(tokenizer, text, span) for text, span in spans}
    texts = list(dict.fromkeys(text for text, _ in spans))
    if not texts:
        return {}
    batch = tokenizer(texts, return_offsets_mapping=True, return_special_tokens_mask=True)
    columns = (batch[name] for name in ("input_ids", "offset_mapping", "special_tokens_mask"))
    tokenised = {
        text: (tuple(ids), [None if special else offset for offset, special in zip(offsets, specials, strict=True)])
        for text, ids, offsets, specials in zip(texts, *columns, strict=True)
    }
    token_spans = {}
    for text, span in spans:
        ids, offsets = tokenised[text]
        tokens = locate_word(tokenizer, text, span, ids, offsets)
        if tokens is None:
            raise _joined_word(text, span)
        token_spans[text, span] = ids, tokens.start, tokens.stop
    return token_spans


def locate_word(
    tokenizer: Tokenizer, text: str, span: Span, ids: Sequence[int], offsets: Sequence[Span | None]
) -> slice | None:
    """Find the tokens of a word by the characters that each token covers (None for a special token).

    A piece may include the space before its word, or be that space alone (SentencePiece); both belong to the word.
    Returns None where no token covers the word, or a token joins it with a neighbour.
    """
    start, end = span
    covering = [i for i, offset in enumerate(offsets) if offset is not None and offset[0] < end and offset[1] > start]
    if not covering:
        return None
    first, last = covering[0], covering[-1]
    left, right = offsets[first], offsets[last]
    assert left is not None
    assert right is not None
    if text[left[0] : start].strip() or text[end : right[1]].strip():
        return None
    while first > 0 and (before := offsets[first - 1]) is not None:
        is_blank = not tokenizer.convert_ids_to_tokens(ids[first - 1]).strip("▁Ġ ")
        if not is_blank or (text[before[0] : before[1]].strip() and before[0] < start):
            break
        first -= 1
    return slice(first, last + 1)


def find_unknown(tokenizer: Tokenizer, token_spans: Iterable[TokenSpan]) -> list[bool]:
    """Whether a piece of each word is unknown to the tokenizer, or is itself a special token."""
    special = set(tokenizer.all_special_ids)  # the unknown token is one of them
    return [not special.isdisjoint(ids[first:last]) for ids, first, last in token_spans]


def check_vocabulary(tokenizer: Tokenizer, words: Sequence[tuple[str, TokenSpan]], hint: str) -> None:
    """Raise an error for words that the tokenizer does not know; the `hint` says what to do."""
    is_unknown = find_unknown(tokenizer, [span for _, span in words])
    unknown = dict.fromkeys(word for (word, _), missing in zip(words, is_unknown, strict=True) if missing)
    if unknown:
        raise UnmaskError(f"the model's vocabulary has no pieces for {quote(unknown)} ({tokenizer.unk_token}); {hint}")


def _find_by_mask(tokenizer: Tokenizer, text: str, span: Span) -> TokenSpan:
    """For a tokenizer that keeps no offsets: put a mask in place of the span and see which ids it displaces."""
    start, end = span
    marker = tokenizer.mask_token or tokenizer.unk_token
    if marker is None:
        raise UnmaskError("the tokenizer keeps no offsets and has no mask token to find words with; give a fast one")
    ids = tuple(tokenizer(text)["input_ids"])
    marked = tuple(tokenizer(text[:start] + marker + text[end:])["input_ids"])
    marker_id = tokenizer.convert_tokens_to_ids(marker)
    if marked.count(marker_id) == 1:
        first = marked.index(marker_id)
        last = first + len(ids) - len(marked) + 1
        if last > first and ids[:first] == marked[:first] and ids[last:] == marked[first + 1 :]:
            return ids, first, last
    raise _joined_word(text, span)


def _joined_word(text: str, span: Span) -> UnmaskError:
    return UnmaskError(
        f"the tokenizer joins {text[slice(*span)]!r} with its neighbours in {text!r}, or has no tokens for it; use"
        " another word"
    )


LONG_TEXTS = ("head", "head+tail", "window")
FEWEST, MOST = 16, 1_000_000
"""What is read at once is at least this; a tokenizer that claims more than `MOST` has no limit of its own."""
TEXTS_AT_ONCE = 1024

Text = str | tuple[str, str]


def token_limit(requested: int | None, supported: int | None, tokenizer: Any, name: str) -> int | None:
    """Return how many tokens are read at once: as many as requested, or else as many as the model supports."""
    claimed = int(min(getattr(tokenizer, "model_max_length", None) or MOST, MOST))
    most = min(supported if supported and supported > 0 else MOST, claimed if claimed >= FEWEST else MOST)
    if requested is None:
        return most if most < MOST else None
    if requested > most:
        raise UnmaskError(f"{name} reads {most} tokens at once, not {requested}; ask for at most {most}")
    if requested < FEWEST:
        raise UnmaskError(f"{requested} tokens are too few to read a text by; ask for {FEWEST} or more")
    return requested


def count_special_tokens(tokenizer: Any) -> tuple[int, int]:
    """Count the special tokens that the tokenizer puts before and after a text."""
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    whole = tokenizer("a")["input_ids"]
    before = next(start for start in range(len(whole)) if whole[start : start + len(plain)] == plain)
    return before, len(whole) - before - len(plain)


class Reader:
    """A tokenizer, and how texts that are too long are read."""

    def __init__(self, tokenizer: Any, *, long_texts: str, most_tokens: int | None) -> None:
        """Take a tokenizer, one of `LONG_TEXTS`, and how many tokens are read at once (None: any number)."""
        self.long_texts = check_choice(long_texts, LONG_TEXTS, "way to read long texts")
        self.most_tokens = most_tokens
        self._tokenizer = tokenizer
        before, after = count_special_tokens(tokenizer)
        example = tokenizer("a")
        ids, types = example["input_ids"], example.get("token_type_ids")
        self._special = before + after
        self._before, self._after = _pack_ids(ids[:before]), _pack_ids(ids[len(ids) - after :])
        self._types = types and (
            _pack_types(types[:before]),
            _pack_types(types[before : before + 1]),
            _pack_types(types[len(ids) - after :]),
        )

    def read(self, texts: Sequence[Text]) -> Iterator[View]:
        """Read each text or pair; texts are tokenised many at a time."""
        iterator = iter(texts)
        while chunk := list(islice(iterator, TEXTS_AT_ONCE)):
            singles = self._read_singles([text for text in chunk if isinstance(text, str)])
            pairs = self._read_pairs([text for text in chunk if not isinstance(text, str)])
            for text in chunk:
                yield next(singles if isinstance(text, str) else pairs)

    def stretches(self, length: int) -> list[list[slice]]:
        """Which of a text's tokens each input holds; `length` is without special tokens."""
        room = None if self.most_tokens is None else self.most_tokens - self._special
        if room is None or length <= room:
            return [[slice(0, length)]]
        assert self.most_tokens is not None
        if self.long_texts == "head":
            return [[slice(0, room)]]
        if self.long_texts == "head+tail":
            head = self.most_tokens // 4
            return [[slice(0, head), slice(length - (room - head), length)]]
        shared = room // 2
        return [[slice(start, min(start + room, length))] for start in range(0, length - shared, room - shared)]

    def _read_singles(self, texts: list[str]) -> Iterator[View]:
        if not texts:
            return
        batch = self._tokenizer(
            texts, add_special_tokens=False, return_attention_mask=False, return_token_type_ids=False, verbose=False
        )
        encodings = batch.encodings if getattr(self._tokenizer, "is_fast", False) else [None] * len(texts)
        for text, ids, encoding in zip(texts, batch["input_ids"], encodings, strict=True):
            stretches = self.stretches(len(ids))
            tokens = np.array(ids, dtype=np.int32)
            inputs = tuple(self._make_input([tokens[part] for part in parts]) for parts in stretches)
            types = tuple(self._make_types(sum(part.stop - part.start for part in parts)) for parts in stretches)
            spans = _find_read_spans(text, len(ids), stretches, encoding)
            yield View(len(ids) + self._special, spans, inputs, types if self._types else ())

    def _make_input(self, parts: list[NDArray[np.int32]]) -> bytes:
        return b"".join([self._before, *(part.tobytes() for part in parts), self._after])

    def _make_types(self, length: int) -> bytes:
        before, inside, after = self._types or (b"", b"", b"")
        return before + inside * length + after

    def _read_pairs(self, pairs: list[tuple[str, str]]) -> Iterator[View]:
        if not pairs:
            return
        first, second = map(list, zip(*pairs, strict=True))
        batch = self._tokenizer(
            first, second, truncation=self.most_tokens is not None, max_length=self.most_tokens, verbose=False
        )
        types = batch.get("token_type_ids") or [None] * len(pairs)
        for ids, row in zip(batch["input_ids"], types, strict=True):
            yield View(len(ids), (), (_pack_ids(ids),), (_pack_types(row),) if row else ())


def _pack_ids(ids: Sequence[int]) -> bytes:
    return np.array(ids, dtype=np.int32).tobytes()


def _pack_types(types: Sequence[int]) -> bytes:
    return np.array(types, dtype=np.int8).tobytes()


def _find_read_spans(text: str, length: int, stretches: list[list[slice]], encoding: Any) -> tuple[Span, ...]:
    """Find the stretches of characters that are read; none without the `encoding` of a fast tokenizer."""
    if stretches[0][0].start == 0 and stretches[-1][-1].stop == length and len(stretches[0]) == 1:
        return ((0, len(text)),)  # all of it, in one input or in windows
    if encoding is None:
        return ()
    spans = []
    for part in stretches[0]:
        start = 0 if part.start == 0 else encoding.token_to_chars(part.start)[0]
        end = len(text)
        if part.stop != length:  # a character that the next token covers too is not read completely
            end = min(encoding.token_to_chars(part.stop - 1)[1], encoding.token_to_chars(part.stop)[0])
        spans.append((start, end))
    return tuple(spans)
