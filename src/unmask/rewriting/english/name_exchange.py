"""Which first name replaces which in another gender: an optimal matching of similar names.

As in name-based counterfactual data substitution (Hall Maudslay, Gonen, Cotterell and Teufel 2019, "It's All in the
Name"), every name is a point in a plane: how frequent it is (the logarithm, over both sexes), and how specific to its
gender (the share of that gender among its bearers). Both are scaled to 0..1 over the data. Male and female names are
matched one to one so that the sum of the distances within pairs is least (`scipy.optimize.linear_sum_assignment`). A
name that is left over goes one way to its nearest name of the other gender. So do names that are seldom first names in
a text (`Young`, `Paris`, `Jackson`): nobody is given such a name.

A name belongs to a gender if at least 7 in 10 of its bearers do: a reader who guesses so is right more than twice as
often as wrong. The names between say little about a gender. They stay in `swap`, `female` and `male`, and replace the
others in `neutral`: matched by frequency, one to one as far as they go; the rest share, in turn, the eight that are
nearest in frequency, so that two people of one document seldom get the same name.

Of a large list the 2,000 most frequent names of the gender with fewer names are matched with the 4,000 most frequent of
the other, which takes a second (4,000 with 4,000 would take twenty, and pair names less alike, as no name could be
passed over). The matching is kept in the user's cache, by the hash of the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError, check_choice
from unmask.files import atomic_file, cache_folder
from unmask.lexicon.names import FirstName, first_names, name_words, without_accents

VERSION = 1  # of the algorithm: a change of it makes old caches useless
MOSTLY = 0.7
LARGEST = (2_000, 4_000)  # of the gender with fewer names, and of the other
SHARED = 8
TIES = 64
DIRECTIONS = ("swap", "female", "male", "neutral")

Gender = Literal["male", "female", "either"]
Points = NDArray[np.float64]


def name_key(name: str, names: Container[str]) -> str:
    """What to look a name up by: lower case, and without accents where it is not known with them."""
    lower = name.lower()
    return lower if lower.isascii() or lower in names else without_accents(lower)


@dataclass(frozen=True)
class Exchange:
    """For every first name its gender, and the names that take its place; look-ups in any case of letters."""

    genders: Mapping[str, Gender]
    """By the name in lower case."""
    other: Mapping[str, str]
    """The name of the other gender, in title case."""
    neutral: Mapping[str, str]
    """The name of either gender, in title case."""

    def __contains__(self, name: str) -> bool:
        return name_key(name, self.genders) in self.genders

    def gender(self, name: str) -> Gender | None:
        """The gender that bears the name, `either`, or nothing if the name is not known."""
        return self.genders.get(name_key(name, self.genders))

    def partner(self, name: str, to: str) -> str | None:
        """The name to put in its place, or nothing if it stays."""
        check_choice(to, DIRECTIONS, "direction")
        key = name_key(name, self.genders)
        if to == "neutral":
            return self.neutral.get(key)
        return None if self.genders.get(key) == to else self.other.get(key)

    def partners(self, names: Iterable[str], to: str) -> dict[str, str]:
        """For the names of one document (as keys) those to put in their place, so that no two people become one.

        A partner that another name of the document has, or keeps, is passed over for the next like it in frequency.
        Names that stay are left out. Pairs that are one to one never clash in `swap`, so that they still come back.
        """
        wanted = {name: self.partner(name, to) for name in names}
        taken = {name.lower() for name, partner in wanted.items() if partner is None}
        partners: dict[str, str] = {}
        choices: dict[str, str] = {}
        for name, partner in wanted.items():
            if partner is not None:
                key = name_key(name, self.genders)
                if key not in choices:
                    choices[key] = self._find_free(partner, taken)
                    taken.add(choices[key].lower())
                partners[name] = choices[key]
        return partners

    def _find_free(self, partner: str, taken: Collection[str]) -> str:
        if partner.lower() not in taken:
            return partner
        names = self._given_names[self.genders[partner.lower()]]
        rank = names.index(partner)
        near = range(max(0, rank - len(taken)), min(len(names), rank + len(taken) + 1))
        nearest_first = (names[other] for other in sorted(near, key=lambda other: abs(other - rank)))
        return next((name for name in nearest_first if name.lower() not in taken), partner)

    @cached_property
    def _given_names(self) -> dict[str, list[str]]:
        """The names that are given in exchange, by gender, the most frequent first as all names are."""
        written = {name.lower(): name for name in (*self.other.values(), *self.neutral.values())}
        by_gender: dict[str, list[str]] = {"male": [], "female": [], "either": []}
        for name, gender in self.genders.items():
            if name in written:
                by_gender[gender].append(written[name])
        return by_gender


@lru_cache(maxsize=1)
def _census_exchange() -> Exchange:
    return _read_exchange(None)


def build_exchange(names_from: Path | None = None) -> Exchange:
    """The exchange of the census's names, or of those in a CSV file with `name`, `sex` and `count`."""
    return _read_exchange(names_from) if names_from else _census_exchange()


def _read_exchange(names_from: Path | None) -> Exchange:
    names = [name for name in first_names(names_from) if name.name.lower() not in _names_of_kind("never")]
    genders = {name.name.lower(): _classify_gender(name) for name in names}
    unfit = _names_of_kind("seldom", "surname")
    for gender in ("male", "female"):
        if not any(borne_by == gender and name not in unfit for name, borne_by in genders.items()):
            raise UnmaskError(f"{names_from} has no {gender} names to exchange with; give names of both sexes")
    rows = [(name.name, name.male, name.female, name.name.lower() in unfit) for name in names]
    data = json.dumps([VERSION, rows])
    file = cache_folder() / "names" / f"{hashlib.sha256(data.encode()).hexdigest()}.json"
    other, neutral = _read_cache(file, names) or _compute_partners(file, names)
    return Exchange(genders, other, neutral)


def match_names(
    male: Sequence[FirstName],
    female: Sequence[FirstName],
    unfit: Collection[str] = (),
    largest: tuple[int, int] = LARGEST,
) -> dict[str, str]:
    """Each name's partner of the other gender: one to one for the most frequent, the nearest for those left over."""
    names = np.array([name.name for name in (*male, *female)])
    points = _place_names((*male, *female))
    few, many = sorted(np.split(np.arange(len(names)), [len(male)]), key=len)
    fit = np.array([name.lower() not in unfit for name in names])
    first, second = (group[fit[group]][:size] for group, size in zip((few, many), largest, strict=True))
    partners: dict[str, str] = {}
    for row, column in assign_pairs(points[first], points[second]):
        name, other = str(names[first[row]]), str(names[second[column]])
        partners |= {name: other, other: name}
    for group, others in ((few, second), (many, first)):
        rest = group[[name not in partners for name in names[group]]]
        nearest = names[others[_find_nearest(points[rest], points[others])]]
        partners |= dict(zip(names[rest].tolist(), nearest.tolist(), strict=True))
    return partners


def assign_pairs(left: Points, right: Points) -> list[tuple[int, int]]:
    """The pairs of points, one to one, whose distances have the least sum; of two sizes the smaller is used up."""
    from scipy.optimize import linear_sum_assignment  # slow to import, and not needed where the cache has the answer
    from scipy.spatial.distance import cdist

    rows, columns = linear_sum_assignment(cdist(left, right))
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def assign_neutral_names(names: Sequence[FirstName], neutral: Sequence[FirstName]) -> dict[str, str]:
    """A name of either gender for each name, of like frequency, distinct as far as they go and then in turn."""
    if not neutral:
        return {}
    frequencies, neutral_frequencies = _log_frequencies(names), _log_frequencies(neutral)
    frequent = LARGEST[1]
    pairs = assign_pairs(frequencies[:frequent], neutral_frequencies)
    partners = {names[row].name: neutral[column].name for row, column in pairs}
    order = np.argsort(-neutral_frequencies[:, 0], kind="stable")
    falling = -neutral_frequencies[order, 0]
    turn = 0
    for name, height in zip(names, frequencies, strict=True):
        if name.name not in partners:
            middle = int(np.searchsorted(falling, -height[0]))
            start = min(max(middle - SHARED // 2, 0), max(len(neutral) - SHARED, 0))
            choice = order[start : start + SHARED]
            partners[name.name] = neutral[int(choice[turn % len(choice)])].name
            turn += 1
    return partners


@lru_cache(maxsize=4)
def _names_of_kind(*wanted: str) -> frozenset[str]:
    return frozenset(name for name, kinds in name_words().items() if not kinds.isdisjoint(wanted))


def _classify_gender(name: FirstName) -> Gender:
    share = name.female_share
    return "female" if share >= MOSTLY else "male" if share <= 1 - MOSTLY else "either"


def _log_frequencies(names: Sequence[FirstName]) -> Points:
    return np.log([[name.frequency] for name in names])


def _place_names(names: Sequence[FirstName]) -> Points:
    """Log frequency and share of the own gender, both from 0 to 1 over the names given."""
    frequency = _log_frequencies(names)[:, 0]
    share = np.array([max(name.female_share, 1 - name.female_share) for name in names])
    columns = [(column - column.min()) / (np.ptp(column) or 1.0) for column in (frequency, share)]
    return np.column_stack(columns)


def _find_nearest(points: Points, others: Points) -> NDArray[np.intp]:
    """For each point the index of the nearest of the others; where several are as near, as for rare names, in turn."""
    if not len(points):
        return np.array([], dtype=np.intp)
    from scipy.spatial import cKDTree

    ranks = list(range(1, min(len(others), TIES) + 1))
    distances, indices = map(np.asarray, cKDTree(others).query(points, k=ranks))
    ties = (distances <= distances[:, :1] + 1e-9).sum(axis=1)
    turns = np.arange(len(points))
    nearest: NDArray[np.intp] = indices[turns, turns % ties]
    return nearest


def _compute_partners(file: Path, names: Sequence[FirstName]) -> tuple[dict[str, str], dict[str, str]]:
    by: dict[str, list[FirstName]] = {"male": [], "female": [], "either": []}
    for name in names:
        by[_classify_gender(name)].append(name)
    unfit = _names_of_kind("seldom", "surname")
    other = match_names(by["male"], by["female"], unfit)
    neutral = assign_neutral_names(
        [name for name in names if _classify_gender(name) != "either"],
        [name for name in by["either"] if name.name.lower() not in unfit],
    )
    tables = tuple({name.lower(): partner for name, partner in table.items()} for table in (other, neutral))
    try:
        with atomic_file(file) as draft:
            draft.write_text(json.dumps({"other": tables[0], "neutral": tables[1]}), encoding="utf-8")
    except OSError:
        pass  # a cache that cannot be written only costs the next process the same second
    return tables[0], tables[1]


def _read_cache(file: Path, names: Sequence[FirstName]) -> tuple[dict[str, str], dict[str, str]] | None:
    """The matching in the cache, if there is one that fits these names."""
    try:
        cached = json.loads(file.read_text(encoding="utf-8"))
        other, neutral = cached["other"], cached["neutral"]
        gendered = {name.name.lower() for name in names if _classify_gender(name) != "either"}
        written = {name.name for name in names}
        fits = other.keys() == gendered and (neutral.keys() == gendered or not neutral)
        if not fits or not written.issuperset(other.values()) or not written.issuperset(neutral.values()):
            return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return other, neutral
