"""The interfaces between measures and models. Nothing here knows of bias, or of any library."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]
Progress = Callable[[int, int], None]
"""Called with how much is done, and of how much."""


@dataclass(frozen=True)
class MaskQuery:
    """How probable is the word at `target` (start and end in characters) once it, and the `hidden` spans, are masked?

    Each word piece of a masked span becomes one mask. A target of several pieces is scored as a whole word by the chain
    rule: each piece given the pieces before it, the rest masked.
    """

    text: str
    target: Span
    hidden: tuple[Span, ...] = ()

    @property
    def word(self) -> str:
        """The target as it stands in the text."""
        return self.text[slice(*self.target)]


@dataclass(frozen=True)
class LiteralQuery:
    """A query as in the code of BEC-Pro, side effects included.

    `masked` holds the text `[MASK]` where something is hidden. All of `masked`, `original` and `anchor` are cut to,
    or filled with mask tokens up to, `length` word pieces, and every id above 0 is attended to. The answer is read at
    the first mask of `anchor`, for whatever piece `original` has there.
    """

    original: str
    masked: str
    anchor: str
    length: int


@dataclass(frozen=True)
class SharedTokensQuery:
    """A query as in the code of CrowS-Pairs: how probable are the tokens that two sentences share?

    The tokens of the `pair` are matched in its order. Every token that is matched in the sentence at `side` is masked
    alone, but for the first and the last, which are taken to be special; the answer is the sum over them.
    """

    pair: tuple[str, str]
    side: Literal[0, 1]

    @property
    def text(self) -> str:
        """The sentence that is scored."""
        return self.pair[self.side]


Query = MaskQuery | LiteralQuery | SharedTokensQuery


@dataclass(frozen=True)
class Description:
    """The cost of answering queries: the number of distinct inputs, and of word pieces of each query's target."""

    distinct_inputs: int
    pieces: list[int]


@dataclass(frozen=True)
class Answers:
    """A model's answers to queries."""

    log_probability: NDArray[np.float64]
    """The natural logarithm of the probability of each query's target."""
    first_choice: NDArray[np.bool_]
    """Whether each piece of the target is the most probable of all pieces at its position."""


@runtime_checkable
class MaskedLM(Protocol):
    """A masked language model."""

    def log_probability(self, queries: Sequence[MaskQuery]) -> NDArray[np.float64]:
        """The natural logarithm of the probability of each query's target."""
        ...


@runtime_checkable
class Describes(Protocol):
    """A model that can describe how it would answer (optional)."""

    def describe(self, queries: Sequence[Query]) -> Description:
        """Describe the cost of answering queries."""
        ...


@runtime_checkable
class Chooses(Protocol):
    """A model that can report whether a target is its first choice (optional)."""

    def answer(self, queries: Sequence[MaskQuery]) -> Answers:
        """How probable each query's target is, and whether it is the model's first choice."""
        ...


@dataclass(frozen=True)
class WordInSentence:
    """What is the vector of the word at `span` (start and end in characters) of a text?"""

    text: str
    span: Span

    @property
    def word(self) -> str:
        """The word as it stands in the text."""
        return self.text[slice(*self.span)]


@dataclass(frozen=True)
class TokensInSentence:
    """A query as in the code of Bhang et al.: the vectors at two token positions, added.

    The tokens of `text`, without those that are `dropped`, stand between the special tokens of the model. The positions
    are `start` and `end` - 1, as Python counts: negative ones from the end.
    """

    text: str
    start: int
    end: int
    dropped: tuple[str, ...] = ("_",)


Pooling = Literal["first+last", "mean", "first"]
"""How the pieces of a word become one vector: the sum of the first and the last, their mean, or the first alone."""


@runtime_checkable
class Encoder(Protocol):
    """A model that has a vector for a word in a sentence."""

    def embed(
        self, words: Sequence[WordInSentence | TokensInSentence], *, layers: int, pooling: Pooling
    ) -> NDArray[np.float32]:
        """The vector of each word (rows): the last `layers` hidden states one after the other."""
        ...


@runtime_checkable
class Classifier(Protocol):
    """A classifier of texts, or of pairs of texts."""

    @property
    def labels(self) -> Sequence[str]:
        """The names of the classes, in the order of their probabilities."""
        ...

    def probabilities(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float64]:
        """The probability of each label (columns) for each text or pair (rows)."""
        ...


@runtime_checkable
class Regressor(Protocol):
    """A model that gives each text a number, such as an expected rating."""

    def values(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float64]:
        """The number of each text or pair."""
        ...


@runtime_checkable
class GivesLogits(Protocol):
    """A classifier that can return its raw outputs (optional)."""

    def logits(self, texts: Sequence[str | tuple[str, str]]) -> NDArray[np.float32]:
        """The output of each label (columns) for each text or pair (rows), as the model computes it."""
        ...


@dataclass(frozen=True)
class View:
    """What a model reads of a text."""

    tokens: int
    """The length of the whole text in tokens, special ones included; for a pair, after cutting."""
    read: tuple[Span, ...]
    """The stretches of characters that are read, in order; one for a text that fits, none where this is unknown."""
    inputs: tuple[bytes, ...]
    """The token ids (32 bits each) of each input that is run: equal for two texts that the model cannot tell apart."""
    types: tuple[bytes, ...] = ()
    """The token types (8 bits each) of each input; empty for a tokenizer that gives none."""


@runtime_checkable
class Reads(Protocol):
    """A model that can report what it reads of a text (optional)."""

    long_texts: str
    """How texts that are too long are read: head, head+tail or window."""
    most_tokens: int | None
    """The number of tokens that are read at once; None where there is no limit."""

    def views(self, texts: Sequence[str]) -> list[View]:
        """What is read of each text."""
        ...


CONFIG, ADAPTER = "config.json", "adapter_config.json"
MITIGATION = "mitigation.json"
"""The file in which `unmask mitigate` records how a model was made, and from what."""


def read_mitigation_record(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what a mitigation has written; empty if the file does not name its method and both hashes."""
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
        names = (record["method"], record["weight_hash"], record["parent"]["weight_hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    is_complete = all(isinstance(name, str) and re.fullmatch(r"[a-z0-9-]{1,64}", name) for name in names)
    return record if is_complete else {}


def describe_mitigation(record: Mapping[str, Any], weight_hash: str) -> dict[str, str]:
    """Return the method and the parent of weights for `ModelInfo`; empty if the record is of other weights."""
    if record.get("weight_hash") != weight_hash:
        return {}
    return {"mitigation": record["method"], "parent_weight_hash": record["parent"]["weight_hash"]}
