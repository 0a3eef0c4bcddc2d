"""A second opinion on *her* where the words beside it do not settle whether it is *his* or *him*.

A masked language model reads the whole sentence, so it tells *the crowd watched her dance* from *her dance won*. The
one in the package is asked which of the two it would rather see in the place. It is slow beside a table of weights,
so it is asked only in doubt, about all doubts of a document at once. (For *his* as *her* or *hers* it is no better than
the table: *hers* is too rare.)
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from unmask.models.interfaces import MaskedLM, MaskQuery

DOUBT = 25
"""Evidence below this, on the scale of the weights, is doubtful: about one *her* in fifteen."""
_ASKING = threading.Lock()  # one model for all threads, which answers one after the other
_BESIDE = " .,;:!?\"'()"
REACH = 60
"""How much of the text the model is shown, in characters either side."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A *her* that may be either, and the number of its change."""

    change: int
    start: int
    end: int
    his: str
    """What is written if the model would rather see *his*."""
    him: str


def settle(text: str, doubts: Sequence[Doubt]) -> list[str]:
    """What to write at each place."""
    queries = [query for doubt in doubts for query in _queries(text, doubt)]
    with _ASKING:
        likely = _model().log_probability(queries)
    return [doubt.his if likely[2 * at] > likely[2 * at + 1] else doubt.him for at, doubt in enumerate(doubts)]


def _queries(text: str, doubt: Doubt) -> list[MaskQuery]:
    left = _plain(text[max(0, doubt.start - REACH) : doubt.start])
    right = _plain(text[doubt.end : doubt.end + REACH])
    if doubt.start > REACH:  # without the half word that the cut may have left
        left = left.partition(" ")[2]
    if doubt.end + REACH < len(text):
        right = right.rpartition(" ")[0]
    left += "" if left[-1:] in _BESIDE else " "  # so that no tokenizer joins the word with what stands beside it
    right = right if right[:1] in _BESIDE else f" {right}"
    return [MaskQuery(left + word + right, (len(left), len(left) + len(word))) for word in ("his", "him")]


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


@cache
def _model() -> MaskedLM:
    from unmask.embedded import DEFAULT
    from unmask.models.loading import load_masked_lm
    from unmask.models.sources import LoadOptions

    return load_masked_lm(DEFAULT, LoadOptions(device="cpu", offline=True))
