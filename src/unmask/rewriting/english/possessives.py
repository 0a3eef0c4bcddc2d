"""Ambiguous possessives: *her* becomes *his* or *him*, *his* becomes *her* or *hers*.

English spells in one place what it does not spell in another: *him* and *his* are two words where *her* is one, *their*
and *theirs* two where *his* is one. So real text labels itself, and a small linear model of the two words before and
the three after learns the difference (`tools/possessives` trains it and says how often it is right).

A word is represented by itself and by one of some two hundred classes of words that stand in similar places, so that
*handed her trinkets* is read like *gave her presents*. Only the words around the pronoun are looked at, so a call takes
the same time in a text of any length.

Where these words do not settle *her*, the masked language model in the package is asked which of *his* and *him* it
prefers there: it reads the whole sentence, so it separates *the crowd watched her dance* from *her dance won*. It is
slow compared with a table of weights, so it is asked only in doubt, about all doubts of a document at once. (For *his*
as *her* or *hers* it is no better than the table: *hers* is too rare.)
"""

from __future__ import annotations

import gzip
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from unmask.models.roles import MaskedLM, MaskQuery

WINDOW = 80
"""How many characters on either side are looked at."""
WEIGHTS = "possessives.tsv.gz"
DIGITS, NAME, STRANGE = "0", "<name>", "<word>"

# Emphasis around the word and quotation marks that open are skipped; a mark that closes says that a phrase has ended.
_WORD = r"[^\W_]+(?:['’-][^\W_]+)*"
_SKIPPED = r"[_*]*(?:\s+[\"'“”‘’«_*]*)?"
_RIGHT = re.compile(rf"(\s*\n\s*\n)?{_SKIPPED}({_WORD}|[^\w\s])?" + rf"{_SKIPPED}({_WORD}|[^\w\s])?" * 2).match
# The left side is read backwards.
_LEFT = re.compile(rf"[\s_*]*({_WORD}|[^\w\s])?" * 2).match
_PLAIN = str.maketrans("‘’“”«»…", '\'\'"""".')

_CLITIC = re.compile(r"['’][sS]\b").match
NEXT, FOLLOWING = 1, 2
"""Which feature tells the next word, and which the next two."""

# A pronoun joined to one that English spells is of its kind. (Not *her and his*: *him and his wife* is too common.)
_BEFORE_NOUN = ("her", "his", "my", "your", "our", "their", "its")
# No noun looks like these verbs, so a *his* before them has none.
_VERBS = {
    "a" + verb
    for verb in "is are was were isn't aren't wasn't weren't has have had would could should did does".split()
}
_WHO = ("awho", "awhom", "awhose")
_WISH = re.compile(r"\bwish(?:e[sd]|ing)?\s+\Z", re.IGNORECASE).search
_HIS_ONLY = re.compile(r"\s+and\s+his\s+(?:only|alone)\b", re.IGNORECASE).match
CERTAIN = 1000
"""What a rule says, on the scale of the weights."""
_ENDED = re.compile(r"[.!?;:)]|\Z").match
_ALONE = ("hers", "his", "mine", "yours", "ours", "theirs")
_HER_OR_HIS = {f"b{joint} {word}" for joint in ("or", "/") for word in _BEFORE_NOUN}
_JOINED = {f"b{joint} {word}": True for joint in ("and", "or", "/", "&") for word in _ALONE}
_JOINED |= {f"b{joint} {word}": False for joint in ("and", "or", "/", "&") for word in _BEFORE_NOUN}


Words = dict[str, tuple[str, str]]
"""Each known word and ending, with itself and its class."""


class Model(NamedTuple):
    """The words and their classes, and the weight of every feature of *her* and of *his*."""

    words: Words
    her: dict[str, int]
    his: dict[str, int]


def weigh_possessive(text: str, start: int, end: int, model: Model | None = None) -> int:
    """The evidence that *her* stands before a noun, as *his* does (above 0), or for one, as *him* does (below)."""
    model = model or load_weights()
    features = extract_features(text, start, end, model.words)
    if features[FOLLOWING] in _HER_OR_HIS or _CLITIC(text, end):
        return CERTAIN
    if features[NEXT] in _WHO or _WISH(text[max(0, start - 9) : start]):
        return -CERTAIN
    weight = model.her.get
    return sum([weight(feature, 0) for feature in features])


def weigh_standing_alone(text: str, start: int, end: int, model: Model | None = None) -> int:
    """The evidence that *his* stands for a noun, as *hers* does (above 0), or before one, as *her* does (below)."""
    model = model or load_weights()
    features = extract_features(text, start, end, model.words)
    joined = True if _HIS_ONLY(text, end) else _JOINED.get(features[FOLLOWING])
    if joined is not None:
        return CERTAIN if joined else -CERTAIN
    if features[NEXT] in _VERBS or _CLITIC(text, end) or _ENDED(text, end):
        return CERTAIN
    weight = model.his.get
    return sum([weight(feature, 0) for feature in features])


def extract_features(text: str, start: int, end: int, words: Words) -> list[str]:
    """What the model is told of a word: its neighbours, as words and as classes, alone and together."""
    blank, first, second, third = _RIGHT(text, end, end + WINDOW).groups()  # type: ignore[union-attr]
    if first is None or blank:
        first, second, third = ".", ".", "."
    previous, before_previous = _LEFT(text[max(0, start - WINDOW) : start][::-1]).groups()  # type: ignore[union-attr]
    shouted = text[start:end].isupper() and end - start > 1
    case = "-" if shouted else "A" if first[0].isupper() else "a"
    look_up = words.get
    n1, c1 = look_up(first) or _classify_unknown(first, words, shouted)
    n2, c2 = look_up(second) or _classify_unknown(second or ".", words, shouted)
    _, c3 = look_up(third) or _classify_unknown(third or ".", words, shouted)
    previous, before_previous = previous[::-1] if previous else ".", before_previous[::-1] if before_previous else "."
    p1, b1 = look_up(previous) or _classify_unknown(previous, words, shouted)
    p2, b2 = look_up(before_previous) or _classify_unknown(before_previous, words, shouted)
    right, around = c1 + c2, b1 + c1
    return [
        "",
        "a" + n1,
        "b" + n1 + " " + n2,
        "c" + c1,
        "d" + right,
        "e" + right + c3,
        "f" + p1,
        "g" + p2,
        "h" + p2 + " " + p1,
        "i" + b2 + b1,
        "j" + p1 + " " + n1,
        "k" + p1 + " " + c1,
        "l" + p1 + " " + right,
        "m" + b1 + n1,
        "n" + around,
        "o" + around + c2,
        "p" + case + right,
    ]


def _classify_unknown(word: str, words: Words, shouted: bool) -> tuple[str, str]:
    """A word that is not in the table as it is written: in lower case, or by its last letters where it is unknown."""
    plain = word.lower().translate(_PLAIN)
    if plain in words:
        return words[plain]
    if plain[0].isdigit():
        return words[DIGITS]
    if not plain[0].isalpha():
        return words["."]
    if word[0].isupper() and not shouted:
        return words[NAME]
    for length in (4, 3, 2):
        ending = "-" + plain[-length:]
        if ending in words:
            return words[ending]
    return words[STRANGE]


@cache
def load_weights() -> Model:
    """The model in the package, read once."""
    packed = (resources.files(__package__) / WEIGHTS).read_bytes()
    return read_weights(gzip.decompress(packed).decode("utf-8"))


def read_weights(text: str) -> Model:
    """A model from its file: three tables after one another, each of keys and values, a blank line between them."""
    tables = [[line.split("\t") for line in table.split("\n") if line] for table in text.split("\n\n")]
    her, his = ({key: int(value) for key, value in table} for table in tables[1:])
    return Model({word: (word, group) for word, group in tables[0]}, her, his)


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


def settle_doubts(text: str, doubts: Sequence[Doubt]) -> list[str]:
    """What to write at each place."""
    queries = [query for doubt in doubts for query in _build_queries(text, doubt)]
    with _ASKING:
        likely = _load_masked_lm().log_probability(queries)
    return [doubt.his if likely[2 * index] > likely[2 * index + 1] else doubt.him for index, doubt in enumerate(doubts)]


def _build_queries(text: str, doubt: Doubt) -> list[MaskQuery]:
    left = _blank_unprintable(text[max(0, doubt.start - REACH) : doubt.start])
    right = _blank_unprintable(text[doubt.end : doubt.end + REACH])
    if doubt.start > REACH:  # without the half word that the cut may have left
        left = left.partition(" ")[2]
    if doubt.end + REACH < len(text):
        right = right.rpartition(" ")[0]
    left += "" if left[-1:] in _BESIDE else " "  # so that no tokenizer joins the word with what stands beside it
    right = right if right[:1] in _BESIDE else f" {right}"
    return [MaskQuery(left + word + right, (len(left), len(left) + len(word))) for word in ("his", "him")]


def _blank_unprintable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


@cache
def _load_masked_lm() -> MaskedLM:
    from unmask.embedded import DEFAULT
    from unmask.models.loading import load_masked_lm
    from unmask.options import LoadOptions

    return load_masked_lm(DEFAULT, LoadOptions(device="cpu", offline=True))
