"""First names: how often men and women bear them, and what else their words mean.

Our list is that of the US Census Bureau, 1990 Census, Frequently Occurring First Names (public domain): the per cent of
men, or of women, who bear a name. A user can give a list of her own with counts, as the US Social Security
Administration publishes them.

A *name word* is a first name that is something else as well (`Will`, `May`, `Georgia`, `Jackson`). Its kinds:

- `word`, `adjective`, `title`: an ordinary word (`Grace`), an adjective (`Christian`), a title (`Earl`);
- `month`, `place`: a month (`June`), a town, state or country (`Charlotte`);
- `surname`: far more often a surname than a first name (`Jackson`), by the census list of surnames or by fame;
- `second`: often the second part of a double name (`Mary Ann`), and seldom a surname;
- `seldom`: seldom a name where it stands capitalised (`Paris`, `Summer`): needs a surname or other proof;
- `never`: in the data, yet hardly ever a name in a text (`An`, `America`): always left alone.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from unmask.errors import UnmaskError
from unmask.lexicon.table import read_groups, read_rows

SEXES = {"m": "male", "male": "male", "f": "female", "female": "female"}
KINDS = ("word", "adjective", "title", "month", "place", "surname", "second", "seldom", "never")


@dataclass(frozen=True, slots=True)
class FirstName:
    """A first name and how many men and women bear it: counts, or per cent of each sex."""

    name: str
    male: float
    female: float

    @property
    def frequency(self) -> float:
        """How often the name is borne, by whomever."""
        return self.male + self.female

    @property
    def female_share(self) -> float:
        """The share of women among those who bear it."""
        return self.female / self.frequency


def first_names(path: Path | None = None) -> list[FirstName]:
    """The first names of the census, or of a CSV file with `name`, `sex` and `count`, plain or gzip; frequent first."""
    column = "count" if path else "share"
    spellings: dict[str, str] = {}
    amounts: dict[str, dict[str, float]] = defaultdict(lambda: {"male": 0.0, "female": 0.0})
    for row in read_rows(path, "en", "names", ("name", "sex", column), lower_columns=True):
        name, sex = row["name"], row["sex"]
        if not name.replace("-", "").replace("'", "").replace("’", "").isalpha():
            raise row.error(f"{name!r} is not one first name; give letters, one name a row")
        if sex.lower() not in SEXES:
            raise row.error(f"sex {sex!r} is unknown; give M, F, male or female")
        amount = row.read_number(column, 0, 1e12) or 0.0
        # A user's spelling with capitals inside (`DeAndre`) is kept.
        spelling = name.title() if name.isupper() or name.islower() else name
        spellings.setdefault(name.lower(), spelling)
        amounts[name.lower()][SEXES[sex.lower()]] += amount
    names = [
        FirstName(spellings[name], by_sex["male"], by_sex["female"])
        for name, by_sex in amounts.items()
        if sum(by_sex.values()) > 0
    ]
    if not names:
        raise UnmaskError(f"{path} has no names; give at least one row with a count above 0")
    return sorted(names, key=lambda name: (-name.frequency, name.name))


@cache
def name_words() -> Mapping[str, frozenset[str]]:
    """The kinds of every name that is also something else; names in lower case."""
    return {name: frozenset(kinds) for name, kinds in read_groups("en", "name_words", "name", "kind").items()}


@cache
def name_context() -> Mapping[str, frozenset[str]]:
    """The words that tell what a capitalised word beside them is, in lower case, by kind (titles, streets)."""
    return {kind: frozenset(words) for kind, words in read_groups("en", "name_context", "kind", "word").items()}


def without_accents(name: str) -> str:
    """A name as lists without accents have it: `zoe` for `zoë`."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
