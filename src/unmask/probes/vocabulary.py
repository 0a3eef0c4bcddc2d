"""Which words of static vectors are asked about: common ones, in small letters, that do not mean a gender.

The rules are those of Gonen and Goldberg (2019), which Bhang et al. repeat: of the first 50,000 words, those in lower
case, of fewer than 20 characters, without digits and without ASCII punctuation (the words of a phrase are joined by
underscores, and each must be clean); then words that mean a gender are taken out. Signs outside ASCII pass these rules,
such as a dash or a currency, and so does *twin_sister* where *sister* is taken out; not if `strict`: then every part
must be made of letters, and none may mean a gender.

What is taken out is one of these sets, or several:

- `word2vec`: the gender-specific words of Bolukbasi et al. (2016), with their definitional and equalize pairs. That is
  1,441 words, of which the pairs add three: *Mary*, *John* and *Catholic_priest*. 1,444 in all.
- `glove`: 223 female and 223 male words of Gonen and Goldberg, 411 different ones.
- `lexicon`: our own gendered words, and the two names of the definitional pairs, however they are written.
- `names`: the first names of the lexicon that are nothing else, however they are written. Vectors of text in lower case
  have them too: they are half of the 500 most female words of GloVe 6B, and say nothing about a stereotype.
"""

from __future__ import annotations

import json
import string
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from unmask import datasets
from unmask.errors import UnmaskError, check_choice
from unmask.lexicon.gender import gender_words
from unmask.lexicon.names import first_names, name_words

MOST = 50_000
LONGEST = 20
"""Words are shorter than this."""
EXCLUSIONS = ("word2vec", "glove", "lexicon", "names")
RULES = {
    "repeated": "came before",
    "capitals": "have capital letters",
    "length": f"have {LONGEST} characters or more",
    "digits": "have digits",
    "punctuation": "have punctuation",
    "signs": "have other signs than letters",
    "gendered": "mean a gender",
}
"""Why a word is left out, in the order in which the rules are applied."""
_NAMES = ("Mary", "John")
_ALSO_WORDS = {"word", "adjective", "title", "month", "place", "seldom", "never"}


@dataclass(frozen=True)
class Vocabulary:
    """The words that are asked about, and how many were left out by which rule."""

    words: list[str]
    read: int
    """How many words were looked at."""
    dropped: dict[str, int]
    """By the name of the rule, in the order of `RULES`; each word counts for the first rule that it breaks."""

    def summary(self) -> str:
        """What was kept and what was not, in a sentence."""
        left = [f"{count:,} that {RULES[rule]}" for rule, count in self.dropped.items() if count]
        kept = f"{len(self.words):,} of the first {self.read:,} words are kept"
        return f"{kept}; left out are {', '.join(left)}." if left else f"{kept}."


def vocabulary(
    words: Iterable[str], *, exclude: Collection[str] = (), most: int = MOST, strict: bool = False
) -> Vocabulary:
    """The words that pass the rules, in their order; `exclude` are those that mean a gender."""
    if most < 1:
        raise UnmaskError(f"the first {most} words are asked for; ask for at least 1")
    unwanted = set(exclude)
    kept: dict[str, None] = {}
    seen: set[str] = set()
    dropped = dict.fromkeys(RULES, 0)
    read = 0
    for word in islice(words, most):
        read += 1
        rule = "repeated" if word in seen else broken_rule(word, strict=strict)
        if not rule and (word in unwanted or (strict and not unwanted.isdisjoint(word.split("_")))):
            rule = "gendered"
        seen.add(word)
        if rule:
            dropped[rule] += 1
        else:
            kept[word] = None
    return Vocabulary(list(kept), read, dropped)


def broken_rule(word: str, *, strict: bool = False) -> str:
    """The first rule about its letters that a word breaks; empty if none."""
    parts = word.split("_")
    if word != word.lower():
        return "capitals"
    if len(word) >= LONGEST:
        return "length"
    if any(letter in string.digits for letter in word):
        return "digits"
    if any(letter in string.punctuation for part in parts for letter in part):
        return "punctuation"
    return "signs" if strict and not all(part.isalpha() for part in parts) else ""


def excluded_words(which: str, *, offline: bool = False) -> frozenset[str]:
    """The words that mean a gender: a published set, or one of our own (`EXCLUSIONS`)."""
    which = check_choice(which, EXCLUSIONS, "set of excluded words")
    if which == "lexicon":
        known = gender_words("all")
        return _spellings((*known.words, *known.before_names, *_NAMES))
    if which == "names":
        kinds = name_words()
        names = (one.name.lower() for one in first_names())
        return _spellings(name for name in names if not kinds.get(name, frozenset()) & _ALSO_WORDS)
    folder = datasets.locate("professions" if which == "word2vec" else "lipstick", offline=offline)
    if which == "glove":
        return frozenset(word for gender in ("female", "male") for word in _lines(folder / f"{gender}_word_file.txt"))
    pairs = [*_json(folder / "definitional_pairs.json"), *_json(folder / "equalize_pairs.json")]
    found = [*_json(folder / "gender_specific_full.json"), *(word for pair in pairs for word in pair)]
    return frozenset(found)


def _spellings(words: Iterable[str]) -> frozenset[str]:
    """Words in small letters, Title case and CAPITALS; phrases with spaces, hyphens or underscores."""
    cases = [case for word in words for case in (word.lower(), word.title(), word.upper())]
    joined = [case.replace(" ", "_") for case in cases]
    return frozenset([*cases, *joined, *(case.replace("-", "_") for case in joined)])


def _lines(path: Path) -> list[str]:
    return [line.strip() for line in _text(path).split("\n") if line.strip()]


def _json(path: Path) -> list[Any]:
    try:
        found = json.loads(_text(path))
    except ValueError:
        raise UnmaskError(f"{path} is not JSON; fetch it again") from None
    parts = [part if isinstance(part, list) else [part] for part in found] if isinstance(found, list) else [[None]]
    if not all(isinstance(word, str) for part in parts for word in part):
        raise UnmaskError(f"{path} is no list of words or of pairs of words; fetch it again")
    return list(found)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UnmaskError(f"{path} cannot be read ({error.strerror}); fetch it again") from None
    except UnicodeDecodeError:
        raise UnmaskError(f"{path} is not UTF-8; fetch it again") from None
