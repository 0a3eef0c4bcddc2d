"""Person words, attributes and templates, read from CSV: ours, or a user's."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from string import Formatter

from unmask.errors import UnmaskError, listed

GENDERS = ("male", "female")
PERSON_PLACES = ("person", "person_object")
FUNCTION_PLACES = ("a", "der", "in")  # words that agree with, or lead to, the attribute: never masked


@dataclass(frozen=True)
class Person:
    """A phrase that names a person by gender, and the word of it that is masked."""

    phrase: str
    target: str
    gender: str
    pair: int
    """Which male and female phrases belong together: `he` and `she` are pair 0."""
    object: str = ""
    """The form after a verb or preposition, where it differs: `him`."""


@dataclass(frozen=True)
class Attribute:
    """A profession or an emotion: its name in results, its group, and the forms that templates use."""

    name: str
    group: str
    workforce_share: float | None = None
    """Women among those employed in the profession, in per cent."""
    forms: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Template:
    """A sentence with one place for a person and one for an attribute."""

    text: str
    person: str
    attribute: str

    def parts(self) -> list[tuple[str, str | None]]:
        """The literal texts, each with the name of the place after it."""
        return _parts(self.text)


def persons(language: str, name: str = "persons", path: Path | None = None) -> list[Person]:
    """The person words of a language, or of a CSV file with `phrase`, `gender` (and `target`, `pair`, `object`).

    The target is the last word of the phrase unless said. Without `pair`, the first male phrase belongs to the first
    female one, and so on.
    """
    rows = _rows(path, language, name, ("phrase", "gender"))
    where = path or f"the {language} lexicon"
    seen: Counter[str] = Counter()
    found = []
    for row in rows:
        gender = row["gender"]
        if gender not in GENDERS:
            raise UnmaskError(f"{where}: gender {gender!r} of {row['phrase']!r} is neither 'male' nor 'female'")
        target = row.get("target") or row["phrase"].split()[-1]
        if target not in row["phrase"]:
            raise UnmaskError(f"{where}: the target {target!r} does not occur in the phrase {row['phrase']!r}")
        pair = row.get("pair", "")
        if pair and not pair.isdecimal():
            raise UnmaskError(f"{where}: pair {pair!r} of {row['phrase']!r} is not a whole number")
        found.append(
            Person(
                row["phrase"],
                target,
                gender,
                int(pair) if pair else seen[gender],
                row.get("object") or row["phrase"],
            )
        )
        seen[gender] += 1
    keys = Counter((person.pair, person.gender) for person in found)
    pairs = {person.pair for person in found}
    if any(keys[pair, gender] != 1 for pair in pairs for gender in GENDERS):
        raise UnmaskError(
            f"{where}: every pair needs one male and one female phrase, but there are {seen['male']} male and"
            f" {seen['female']} female ones; give each male phrase a female one, with the same number in 'pair'"
        )
    return found


def attributes(language: str, name: str = "professions", path: Path | None = None) -> list[Attribute]:
    """The attributes of a language, or of a CSV file with `profession` or `name` (and `group`, `workforce_share`).

    `male` and `female` columns hold the forms that agree with the person, `male_definite` the one after `{der}`; every
    further column can be named as a place in a template.
    """
    rows = _rows(path, language, name, ())
    where = path or f"the {language} lexicon"
    found = []
    for row in rows:
        key = row.get("name") or row.get("profession") or ""
        if not key:
            raise UnmaskError(f"{where}: a row has neither 'profession' nor 'name'; every profession needs one")
        found.append(Attribute(key, row.get("group") or "all", _share(row, key, where), row))
    double = [name for name, count in Counter(attribute.name for attribute in found).items() if count > 1]
    if double:
        raise UnmaskError(f"{where}: {listed(double)} given more than once; every profession needs a name of its own")
    return found


def templates(language: str, name: str = "templates", path: Path | None = None) -> list[Template]:
    """The templates of a language, or those of a CSV file with a column `template`."""
    where = path or f"the {language} lexicon"
    return [_template(row["template"], where) for row in _rows(path, language, name, ("template",))]


def _template(text: str, where: object) -> Template:
    try:
        places = [place for _, place in _parts(text) if place is not None]
    except ValueError as error:
        raise UnmaskError(f"{where}: template {text!r} cannot be read: {error}") from None
    person = [place for place in places if place in PERSON_PLACES]
    attribute = [place for place in places if place not in (*PERSON_PLACES, *FUNCTION_PLACES)]
    if len(person) != 1 or len(attribute) != 1:
        raise UnmaskError(
            f"{where}: template {text!r} must have one {{person}} and one {{profession}},"
            f" but has {len(person)} and {len(attribute)}"
        )
    return Template(text, person[0], attribute[0])


def _parts(text: str) -> list[tuple[str, str | None]]:
    return [(literal, place) for literal, place, _, _ in Formatter().parse(text)]


def _share(row: Mapping[str, str], key: str, where: object) -> float | None:
    text = row.get("workforce_share", "")
    if not text:
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise UnmaskError(f"{where}: workforce_share {text!r} of {key!r} is not a percentage between 0 and 100")
    return share


def _rows(path: Path | None, language: str, name: str, required: tuple[str, ...]) -> list[dict[str, str]]:
    if path is None:
        source = resources.files(__package__) / language / f"{name}.csv"
        lines = source.read_text(encoding="utf-8").splitlines()
    else:
        try:
            lines = Path(path).read_text(encoding="utf-8-sig").splitlines()
        except FileNotFoundError:
            raise UnmaskError(f"{path} does not exist; give a CSV file of {name}") from None
        except (UnicodeDecodeError, IsADirectoryError, PermissionError) as error:
            raise UnmaskError(f"{path} cannot be read as UTF-8 text: {error}") from None
    reader = csv.DictReader(lines)
    columns = reader.fieldnames or []
    missing = [column for column in required if column not in columns]
    if missing:
        raise UnmaskError(f"{path or name}: column {missing[0]!r} is missing; it has {listed(columns) or 'no columns'}")
    rows = [{key: (value or "").strip() for key, value in row.items() if key} for row in reader]
    rows = [row for row in rows if any(row.values())]
    if not rows:
        raise UnmaskError(f"{path or name} has no rows; give at least one")
    empty = [column for column in required for row in rows if not row[column]]
    if empty:
        raise UnmaskError(f"{path or name}: column {empty[0]!r} is empty in a row; fill it in")
    return rows
