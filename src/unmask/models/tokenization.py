"""The tokens that stand for a span of text, found from character offsets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice
from unmask.models.roles import Span

Tokenizer = Any  # transformers has no common type for all its tokenizers
TokenSpan = tuple[tuple[int, ...], int, int]
"""The token ids of the whole text, the first piece of the span, and one past its last."""


def find_token_spans(tokenizer: Tokenizer, spans: Iterable[tuple[str, Span]]) -> dict[tuple[str, Span], TokenSpan]:
    """Find the tokens of each span of characters (start and end) of a text, of a fast tokenizer or a slow one."""
    spans = list(dict.fromkeys(spans))
    for text, (start, end) in spans:
        if not text[start:end].strip():
            raise UnmaskError(
                f"there is no word between characters {start} and {end} of {text!r}; give the place of one"
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
    found = {}
    for text, span in spans:
        ids, offsets = tokenised[text]
        tokens = locate_word(tokenizer, text, span, ids, offsets)
        if tokens is None:
            raise _joined_word(text, span)
        found[text, span] = ids, tokens.start, tokens.stop
    return found


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


def has_unknown(special: Set[int], place: TokenSpan) -> bool:
    """Whether a piece of a word is unknown to the tokenizer, or is itself one of its `special` ids."""
    ids, first, last = place
    return not special.isdisjoint(ids[first:last])


def _find_by_mask(tokenizer: Tokenizer, text: str, span: Span) -> TokenSpan:
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


@dataclass(frozen=True, slots=True)
class TextInput:
    """What a model is given, as the bytes of arrays, which are small and can be compared."""

    ids: bytes
    """Of 32-bit token ids, special tokens among them."""
    types: bytes
    """Of 8-bit token types; empty for a tokenizer that gives none."""

    def __len__(self) -> int:
        """How many tokens these are."""
        return len(self.ids) // 4


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read of a text or pair."""

    tokens: int
    """How long the whole text is, with special tokens; for a pair, after cutting."""
    inputs: tuple[TextInput, ...]
    read: tuple[Span, ...] | None
    """Stretches of characters; None where a tokenizer that keeps no offsets cannot say."""


def token_limit(asked: int | None, takes: int | None, tokenizer: Any, name: str) -> int | None:
    """How many tokens are read at once: what is asked for, if the model takes as many, else what it takes."""
    claimed = int(min(getattr(tokenizer, "model_max_length", None) or MOST, MOST))
    most = min(takes if takes and takes > 0 else MOST, claimed if claimed >= FEWEST else MOST)
    if asked is not None and asked > most:
        raise UnmaskError(f"{name} reads {most} tokens at once, not {asked}; ask for at most {most}")
    if asked is not None and asked < FEWEST:
        raise UnmaskError(f"{asked} tokens are too few to read a text by; ask for {FEWEST} or more")
    return asked if asked is not None else most if most < MOST else None


class Reader:
    """A tokenizer, and how texts that are too long are read."""

    def __init__(self, tokenizer: Any, *, long_texts: str, most_tokens: int | None) -> None:
        """Take a tokenizer, one of `LONG_TEXTS`, and how many tokens are read at once (None: any number)."""
        self.long_texts = check_choice(long_texts, LONG_TEXTS, "way to read long texts")
        self.most_tokens = most_tokens
        self._tokenizer = tokenizer
        plain: list[int] = tokenizer("a", add_special_tokens=False)["input_ids"]
        whole = tokenizer("a")
        ids, types = whole["input_ids"], whole.get("token_type_ids")
        before = next(at for at in range(len(ids)) if ids[at : at + len(plain)] == plain)
        after = before + len(plain)
        self._before, self._after = _pack_ids(ids[:before]), _pack_ids(ids[after:])
        self._types = types and (_types(types[:before]), _types(types[before : before + 1]), _types(types[after:]))
        self._special = len(ids) - len(plain)

    def read(self, texts: Sequence[Text]) -> Iterator[Reading]:
        """What is read of each text or pair; texts are tokenised many at a time."""
        rest = iter(texts)
        while some := list(islice(rest, TEXTS_AT_ONCE)):
            single = self._read_singles([text for text in some if isinstance(text, str)])
            pairs = self._read_pairs([text for text in some if not isinstance(text, str)])
            for text in some:
                yield next(single if isinstance(text, str) else pairs)

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

    def _read_singles(self, texts: list[str]) -> Iterator[Reading]:
        if not texts:
            return
        batch = self._tokenizer(
            texts, add_special_tokens=False, return_attention_mask=False, return_token_type_ids=False, verbose=False
        )
        places = batch.encodings if getattr(self._tokenizer, "is_fast", False) else [None] * len(texts)
        for text, ids, place in zip(texts, batch["input_ids"], places, strict=True):
            stretches = self.stretches(len(ids))
            tokens = np.array(ids, dtype=np.int32)
            inputs = tuple(self._make_input([tokens[part] for part in parts]) for parts in stretches)
            yield Reading(len(ids) + self._special, inputs, _read_spans(text, len(ids), stretches, place))

    def _make_input(self, parts: list[NDArray[np.int32]]) -> TextInput:
        ids = b"".join([self._before, *(part.tobytes() for part in parts), self._after])
        if not self._types:
            return TextInput(ids, b"")
        before, inside, after = self._types
        return TextInput(ids, before + inside * sum(map(len, parts)) + after)

    def _read_pairs(self, pairs: list[tuple[str, str]]) -> Iterator[Reading]:
        if not pairs:
            return
        first, second = map(list, zip(*pairs, strict=True))
        batch = self._tokenizer(
            first, second, truncation=self.most_tokens is not None, max_length=self.most_tokens, verbose=False
        )
        types = batch.get("token_type_ids") or [[]] * len(pairs)
        for ids, kinds in zip(batch["input_ids"], types, strict=True):
            yield Reading(len(ids), (TextInput(_pack_ids(ids), _types(kinds)),), None)


def _pack_ids(ids: Sequence[int]) -> bytes:
    return np.array(ids, dtype=np.int32).tobytes()


def _types(types: Sequence[int]) -> bytes:
    return np.array(types, dtype=np.int8).tobytes()


def _read_spans(text: str, length: int, stretches: list[list[slice]], encoding: Any) -> tuple[Span, ...] | None:
    """Return the stretches of characters that are read; None without the `encoding` of a fast tokenizer."""
    if stretches[0][0].start == 0 and stretches[-1][-1].stop == length and len(stretches[0]) == 1:
        return ((0, len(text)),)  # all of it, in one input or in windows
    if encoding is None:
        return None
    spans = []
    for part in stretches[0]:
        start = 0 if part.start == 0 else encoding.token_to_chars(part.start)[0]
        end = len(text)
        if part.stop != length:  # a character that the next token covers too is not read completely
            end = min(encoding.token_to_chars(part.stop - 1)[1], encoding.token_to_chars(part.stop)[0])
        spans.append((start, end))
    return tuple(spans)
