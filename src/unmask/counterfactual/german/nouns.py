"""Words for persons that come in a male and a female form, with their declension, from `lexicon/de/gender.csv`.

A compound whose last part is in the list (Zahnarzt, Grundschullehrer) is declined like that part. Compounds with -mann
are not made by rule (Hauptmann, Schneemann, Hartmann): only those of the list are known.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from unmask.counterfactual.german.endings import ADJECTIVE, SLOTS, Slot

NEUTER = frozenset({"Mädchen", "Fräulein"})
SHORTEST_HEAD = 4
# Not as the last part of a compound, where they mostly mean something else (Schenkel, Urkunde, Flugzeuge, Metropole).
NO_HEADS = frozenset(
    "Mann Herr Vater Leiter Führer Sprecher Seher Hörer Spender Werfer Inder Finder Enkel Onkel Opa Uropa Papa"
    " Papi Läufer Reiter Mami Vati Neffe Graf Pate Pole Este Brite Lette Finne Erbe Bote Kunde Zeuge"
    " Schütze Hirte Heide Riese Russe Bayer Mönch Boss Champion Major Verlobter Toter Heiliger Deutscher Weiser"
    " Kranker Blinder Liberaler Ahn Ire Geselle Kelte Gote Prior Franke".split()
)
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
            return tuple(_dative(plural) if slot.case == "dat" else plural for plural in plurals)
        if side == "female":
            return (base + "s",) if self.female in NEUTER and slot.case == "gen" else (base,)
        if slot.case == "nom" or (self.declension == "strong" and slot.case != "gen"):
            return (base,)
        return self.male_genitive or ((base,) if adjectives == "strong" else ())


def _dative(plural: str) -> str:
    return plural if plural.endswith(("n", "s")) else plural + "n"


@dataclass(frozen=True)
class Reading:
    """One way to understand a noun form: which noun, male or female, and what it agrees with."""

    noun: Noun
    side: str
    slot: Slot
    adjectives: frozenset[str]
    """After which kinds of determiner the form is right."""


class Nouns:
    """The readings of every form of a list of nouns, compounds included."""

    def __init__(self, nouns: list[Noun]) -> None:
        self._forms: dict[str, list[Reading]] = defaultdict(list)
        self._exact: set[str] = set()
        for noun in nouns:
            for reading, form in declined(noun):
                self._forms[form.lower()].append(reading)
                self._exact.add(form)
        self._heads = {
            form: [reading for reading in readings if reading.noun.male not in NO_HEADS]
            for form, readings in self._forms.items()
            if len(form) >= SHORTEST_HEAD
        }
        self._heads = {form: readings for form, readings in self._heads.items() if readings}
        self._longest = max((len(form) for form in self._heads), default=0)
        self._compounds: dict[str, list[Reading]] = {}

    def known(self) -> frozenset[str]:
        """All forms in lower case, without compounds."""
        return frozenset(self._forms)

    def readings(self, word: str) -> list[Reading]:
        """The readings of a word; none where it is not a noun of the list."""
        usual = word[1:].islower() or word.isupper() or "-" in word or word in self._exact
        if not word[0].isupper() or not usual:
            return []  # `ABt` is a carriage
        lower = word.lower()
        return self._forms.get(lower) or ([] if lower in NOT_PERSONS else self._compound(lower))

    def _compound(self, lower: str) -> list[Reading]:
        if (found := self._compounds.get(lower)) is None:
            found = []
            head, _, last = lower.rpartition("-")
            if head and last in self._forms:
                found = self._forms[last]
            else:
                for size in range(min(self._longest, len(lower) - 3), SHORTEST_HEAD - 1, -1):
                    if readings := self._heads.get(lower[-size:]):
                        found = readings
                        break
            if len(self._compounds) < 200_000:
                self._compounds[lower] = found
        return found


def declined(noun: Noun) -> list[tuple[Reading, str]]:
    """Every reading of a noun, with its form."""
    found: dict[tuple[str, Slot, str], set[str]] = defaultdict(set)
    for side in ("male", "female"):
        for slot in SLOTS:
            if slot.gender not in (noun.gender(side), "p"):
                continue
            for kind in ADJECTIVE:
                for form in noun.forms(side, slot, kind):
                    found[side, slot, form].add(kind)
    return [(Reading(noun, side, slot, frozenset(kinds)), form) for (side, slot, form), kinds in found.items()]


def has_counterpart(reading: Reading) -> bool:
    """Whether the list has a counterpart in this direction."""
    return reading.noun.direction not in (reading.side, "none")


def term_of(readings: list[Reading]) -> str:
    """What a noun is counted as: the word of the list."""
    reading = readings[0]
    return (reading.noun.male if reading.side == "male" else reading.noun.female).lower()
