"""How German articles, possessives, demonstratives and adjectives end, by gender, number and case.

A slot is what they agree with: gender (m, f, n) or plural (p), and case (nom, acc, dat, gen).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

CASES = ("nom", "acc", "dat", "gen")


class Slot(NamedTuple):
    """Gender or plural, and case."""

    gender: str
    case: str


SLOTS = tuple(Slot(gender, case) for gender in "mfnp" for case in CASES)


def _table(**endings: str) -> dict[Slot, str]:
    return {
        Slot(gender, case): ending.replace("0", "")
        for gender, row in endings.items()
        for case, ending in zip(CASES, row.split(), strict=True)
    }


ARTICLE = _table(m="der den dem des", f="die die der der", n="das das dem des", p="die die den der")
THIS = _table(m="er en em es", f="e e er er", n="es es em es", p="e e en er")
ONE = _table(m="0 en em es", f="e e er er", n="0 0 em es", p="e e en er")
ADJECTIVE = {
    "weak": _table(m="e en en en", f="e e en en", n="e e en en", p="en en en en"),
    "mixed": _table(m="er en en en", f="e e en en", n="es es en en", p="en en en en"),
    "strong": _table(m="er en em en", f="e e er er", n="es es em en", p="e e en er"),
}
THIS_STEMS = ("dies", "jen", "jed", "welch", "manch", "solch", "all", "sämtlich", "jedwed")
ONE_STEMS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "irgendein")
JOINED_STEMS = ("selb", "jenig")
# The preposition, and the article that is merged into it.
MERGED = {
    "beim": ("bei", "dem"), "zum": ("zu", "dem"), "vom": ("von", "dem"), "im": ("in", "dem"), "am": ("an", "dem"),
    "zur": ("zu", "der"), "ins": ("in", "das"), "ans": ("an", "das"), "fürs": ("für", "das"), "ums": ("um", "das"),
    "durchs": ("durch", "das"), "aufs": ("auf", "das"), "übers": ("über", "das"), "hinterm": ("hinter", "dem"),
    "unterm": ("unter", "dem"), "überm": ("über", "dem"), "vorm": ("vor", "dem"),
}  # fmt: skip
# What a preposition and an article become when the gender changes, where German merges them as a rule.
MERGE = {("bei", "dem"): "beim", ("von", "dem"): "vom", ("zu", "der"): "zur", ("zu", "dem"): "zum"}


@dataclass(frozen=True)
class Determiner:
    """An article or what stands in its place: its kind, its stem, and the adjective endings after it."""

    kind: str
    stem: str
    adjectives: str

    def form(self, slot: Slot) -> str:
        """The word as it agrees with a noun."""
        if self.kind == "article":
            return ARTICLE[slot]
        if self.kind == "joined":
            return ARTICLE[slot] + self.stem + ADJECTIVE["weak"][slot]
        ending = (THIS if self.kind == "this" else ONE)[slot]
        if self.stem == "euer" and ending:
            return "eur" + ending
        return self.stem + ending


def _determiners() -> Iterator[Determiner]:
    yield Determiner("article", "", "weak")
    for stem in THIS_STEMS:
        yield Determiner("this", stem, "weak")
    for stem in ONE_STEMS:
        yield Determiner("one", stem, "mixed")
    for stem in JOINED_STEMS:
        yield Determiner("joined", stem, "weak")


def _forms() -> dict[str, list[tuple[Determiner, Slot]]]:
    forms = defaultdict(list)
    for determiner in _determiners():
        for slot in SLOTS:
            if slot.gender == "p" and determiner.stem in ("ein", "irgendein", "jed", "jedwed"):
                continue
            forms[determiner.form(slot)].append((determiner, slot))
    return dict(forms)


DETERMINERS = _forms()
"""Every form of every determiner, with what it may agree with."""


def adjective_slots(word: str, kind: str) -> set[Slot]:
    """What an adjective in this form may agree with, after a determiner of this kind."""
    return {slot for slot, ending in ADJECTIVE[kind].items() if _ending(word) == ending}


def adjective(word: str, kind: str, slot: Slot) -> str:
    """The adjective with the ending for another slot."""
    ending = _ending(word)
    return word[: len(word) - len(ending)] + ADJECTIVE[kind][slot] if ending else word


def _ending(word: str) -> str:
    for ending in ("en", "em", "er", "es", "e"):
        if word.endswith(ending):
            return ending
    return ""
