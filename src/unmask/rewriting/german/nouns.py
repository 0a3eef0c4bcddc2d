"""Nouns for persons with their declension, and the endings of the articles and adjectives that agree with them.

A slot is what articles, possessives, demonstratives and adjectives agree with: gender (m, f, n) or plural (p), and case
(nom, acc, dat, gen).

The nouns come in a male and a female form, from `lexicon/de/gender.csv` or a user's CSV file. A compound whose last
part is in the list (Zahnarzt, Grundschullehrer) is declined like that part. Compounds with -mann are not made by rule
(Hauptmann, Schneemann, Hartmann): only those of the list are known.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from unmask.lexicon.table import WordRow, read_rows, read_word_sets
from unmask.lexicon.tagging import CACHE_SIZE

_WORDS = read_word_sets("de")

CASES = ("nom", "acc", "dat", "gen")


class Slot(NamedTuple):
    """Gender or plural, and case."""

    gender: str
    case: str


SLOTS = tuple(Slot(gender, case) for gender in "mfnp" for case in CASES)


def _build_table(**endings: str) -> dict[Slot, str]:
    return {
        Slot(gender, case): ending.replace("0", "")
        for gender, row in endings.items()
        for case, ending in zip(CASES, row.split(), strict=True)
    }


ARTICLE = _build_table(m="der den dem des", f="die die der der", n="das das dem des", p="die die den der")
THIS = _build_table(m="er en em es", f="e e er er", n="es es em es", p="e e en er")
ONE = _build_table(m="0 en em es", f="e e er er", n="0 0 em es", p="e e en er")
ADJECTIVE = {
    "weak": _build_table(m="e en en en", f="e e en en", n="e e en en", p="en en en en"),
    "mixed": _build_table(m="er en en en", f="e e en en", n="es es en en", p="en en en en"),
    "strong": _build_table(m="er en em en", f="e e er er", n="es es em en", p="e e en er"),
}
THIS_STEMS = ("dies", "jen", "jed", "welch", "manch", "solch", "all", "sämtlich", "jedwed")
ONE_STEMS = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "irgendein")
JOINED_STEMS = ("selb", "jenig")
NO_PLURAL = ("ein", "irgendein", "jed", "jedwed")
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
    """An article or what stands in its place: its forms, and the adjective endings after it."""

    forms: dict[Slot, str]
    adjectives: str


def _decline_determiners() -> dict[str, list[tuple[Determiner, Slot]]]:
    determiners = [Determiner(ARTICLE, "weak")]
    for stems, endings, adjectives in ((THIS_STEMS, THIS, "weak"), (ONE_STEMS, ONE, "mixed")):
        for stem in stems:
            slots = [slot for slot in SLOTS if slot.gender != "p" or stem not in NO_PLURAL]
            forms = {slot: ("eur" if stem == "euer" and endings[slot] else stem) + endings[slot] for slot in slots}
            determiners.append(Determiner(forms, adjectives))
    for stem in JOINED_STEMS:
        forms = {slot: article + stem + ADJECTIVE["weak"][slot] for slot, article in ARTICLE.items()}
        determiners.append(Determiner(forms, "weak"))
    by_form = defaultdict(list)
    for determiner in determiners:
        for slot, form in determiner.forms.items():
            by_form[form].append((determiner, slot))
    return dict(by_form)


DETERMINERS = _decline_determiners()
"""Every form of every determiner, with what it may agree with."""


def adjective_slots(word: str, kind: str) -> set[Slot]:
    """What an adjective in this form may agree with, after a determiner of this kind."""
    return {slot for slot, ending in ADJECTIVE[kind].items() if _adjective_ending(word) == ending}


def inflect_adjective(word: str, kind: str, slot: Slot) -> str:
    """The adjective with the ending for another slot."""
    ending = _adjective_ending(word)
    return word[: len(word) - len(ending)] + ADJECTIVE[kind][slot] if ending else word


def _adjective_ending(word: str) -> str:
    for ending in ("en", "em", "er", "es", "e"):
        if word.endswith(ending):
            return ending
    return ""


NEUTER = frozenset({"Mädchen", "Fräulein"})
SHORTEST_HEAD = 4
NO_HEADS = _WORDS["no_heads"]
NOT_PERSONS = frozenset(("plattenspieler", "plattenspielern", "plattenspielers", "autopilot", "autopiloten"))


@dataclass(frozen=True)
class Noun:
    """A pair of nouns and their forms; several genitives or plurals are all understood, the first one is written."""

    male: str
    female: str
    male_genitive: tuple[str, ...]
    male_plural: tuple[str, ...]
    female_plural: tuple[str, ...]
    declension: str = "strong"
    group: str = ""
    direction: str = ""

    def gender(self, side: str) -> str:
        """The grammatical gender of the male or the female word."""
        return "m" if side == "male" else "n" if self.female in NEUTER else "f"

    def forms(self, side: str, slot: Slot, adjectives: str) -> tuple[str, ...]:
        """The noun in a slot; adjectival nouns end as an adjective would there."""
        base = self.male if side == "male" else self.female
        if self.declension == "adjectival" or (self.declension == "adjectival-in" and side == "male"):
            stem = self.male.removesuffix("er")
            return (stem + ADJECTIVE[adjectives][slot],)
        if slot.gender == "p":
            plurals = self.male_plural if side == "male" else self.female_plural
            dative = slot.case == "dat"
            return tuple(plural + "n" * (dative and not plural.endswith(("n", "s"))) for plural in plurals)
        if side == "female":
            return (base + "s",) if self.female in NEUTER and slot.case == "gen" else (base,)
        if slot.case == "nom" or (self.declension == "strong" and slot.case != "gen"):
            return (base,)
        return self.male_genitive or ((base,) if adjectives == "strong" else ())


@dataclass(frozen=True)
class NounReading:
    """One way to understand a noun form: which noun, male or female, and what it agrees with."""

    noun: Noun
    side: str
    slot: Slot
    adjectives: frozenset[str]
    """After which kinds of determiner the form is right."""


class Nouns:
    """The readings of every form of a list of nouns, compounds included."""

    def __init__(self, nouns: list[Noun]) -> None:
        self._forms: dict[str, list[NounReading]] = defaultdict(list)
        self._exact: set[str] = set()
        for noun in nouns:
            for reading, form in decline_noun(noun):
                self._forms[form.lower()].append(reading)
                self._exact.add(form)
        self._heads = {}
        for form, readings in self._forms.items():
            if len(form) >= SHORTEST_HEAD and (fit := [each for each in readings if each.noun.male not in NO_HEADS]):
                self._heads[form] = fit
        self._longest = max((len(form) for form in self._heads), default=0)
        self._read_compound = lru_cache(CACHE_SIZE)(self._find_head)

    def knows(self, lower: str) -> bool:
        """Whether a word in lower case is a form of a noun of the list, compounds aside."""
        return lower in self._forms

    def readings(self, word: str) -> list[NounReading]:
        """The readings of a word; none where it is not a noun of the list."""
        usual = word[1:].islower() or word.isupper() or "-" in word or word in self._exact
        if not word[0].isupper() or not usual:
            return []  # `ABt` is a carriage
        lower = word.lower()
        return self._forms.get(lower) or ([] if lower in NOT_PERSONS else self._read_compound(lower))

    def _find_head(self, lower: str) -> list[NounReading]:
        """The readings of the last part of a compound."""
        head, _, last = lower.rpartition("-")
        if head and last in self._forms:
            return self._forms[last]
        sizes = range(min(self._longest, len(lower) - 3), SHORTEST_HEAD - 1, -1)
        return next((self._heads[lower[-size:]] for size in sizes if lower[-size:] in self._heads), [])


def decline_noun(noun: Noun) -> list[tuple[NounReading, str]]:
    """Every reading of a noun, with its form."""
    kinds: dict[tuple[str, Slot, str], set[str]] = defaultdict(set)
    for side in ("male", "female"):
        for slot in SLOTS:
            if slot.gender in (noun.gender(side), "p"):
                for kind in ADJECTIVE:
                    for form in noun.forms(side, slot, kind):
                        kinds[side, slot, form].add(kind)
    return [(NounReading(noun, side, slot, frozenset(each)), form) for (side, slot, form), each in kinds.items()]


def has_counterpart(reading: NounReading) -> bool:
    """Whether the list has a counterpart in this direction."""
    return reading.noun.direction not in (reading.side, "none")


def term_of(readings: list[NounReading]) -> str:
    """What a noun is counted as: the word of the list."""
    reading = readings[0]
    return (reading.noun.male if reading.side == "male" else reading.noun.female).lower()


DIRECTIONS = ("both", "female", "male", "none")
DECLENSIONS = ("strong", "weak", "adjectival", "adjectival-in")
WEAK_ENDS = ("ent", "ant", "ist", "at", "e", "oph", "graf", "graph", "et", "it", "ot", "urg", "ekt", "aut", "arch")


@cache
def package_nouns() -> tuple[Noun, ...]:
    """The nouns of the package."""
    nouns = []
    for row in read_rows(None, "de", "gender", ("male", "female")):
        genitive, males, females = map(_split_cell, (row["male_genitive"], row["male_plural"], row["female_plural"]))
        words = (row["declension"], row["set"], row["direction"])
        nouns.append(Noun(row["male"], row["female"], genitive, males, females, *words))
    return tuple(nouns)


def _split_cell(cell: str) -> tuple[str, ...]:
    return tuple(filter(None, cell.split("|")))


def noun_from_row(row: WordRow) -> Noun:
    """A noun of a user's list, as our own list knows it, else with its forms by the rules of German."""
    male, female = row["male"], row["female"]
    weak = male.endswith(WEAK_ENDS)
    declension = row.read_choice("declension", DECLENSIONS, "weak" if weak else "strong")
    direction = row.read_choice("direction", DIRECTIONS, "both")
    forms = ("male_genitive", "male_plural", "female_plural")
    if not any(row.get(column) for column in (*forms, "declension", "direction")):
        for noun in package_nouns():
            if (noun.male, noun.female) == (male, female):
                return noun
    same = male.endswith(("er", "el", "en"))
    guess = {
        "male_genitive": (male + "n" if male.endswith("e") else male + "en") if weak else f"{male}s|{male}es",
        "male_plural": (male + "n" if male.endswith("e") else male + "en") if weak else male if same else "",
        "female_plural": female + "nen" if female.endswith("in") else female + "n" if female.endswith("e") else "",
    }
    genitive, males, females = (_split_cell(row.get(form) or guess[form]) for form in forms)
    direction = "" if direction == "both" else direction
    return Noun(male, female, genitive, males, females, declension, direction=direction)
