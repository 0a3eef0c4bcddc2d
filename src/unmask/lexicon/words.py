"""Person words, attributes and templates, read from CSV files (ours or a user's), and the rule for `a` and `an`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Formatter

from unmask.errors import UnmaskError
from unmask.lexicon.table import WordRow, read_rows

_SILENT_H = re.compile(r"(hour|heir|honest|hono)", re.IGNORECASE)
_YOU_SOUND = re.compile(r"(uni([^nmd]|$)|ukr|u[cfhjkqrst][aeiou]|ubi|use|eu|ew|one(?!r)|once|ouija)", re.IGNORECASE)
_INITIALS = re.compile(r"([A-Z]{2,}|[A-Za-z])(?![A-Za-z])")
_SPOKEN = re.compile(r"(NASA|NATO|UNESCO|UNICEF|FIFA|OPEC)\b")


def indefinite_article(words: str) -> str:
    """`an electrician`, `a plumber`, `an hour`, `a union organiser`, `an MRI technician`: by sound, not by letter."""
    if _SPOKEN.match(words):
        return "an" if words[0] == "O" else "a"
    if match := _INITIALS.match(words):
        return "an" if match.group()[0].lower() in "aefhilmnorsx" else "a"
    if _SILENT_H.match(words):
        return "an"
    if _YOU_SOUND.match(words):
        return "a"
    return "an" if words[:1].lower() in "aeiou" else "a"


GENDERS = ("male", "female")
PERSON_PLACES = ("person", "person_object")
STANDARD_GROUPS = ("female", "male", "balanced")
FUNCTION_PLACES = ("a", "der", "in", "reflexive")  # words that agree with, or lead to, the attribute: never masked


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
        return [(literal, name) for literal, name, _, _ in Formatter().parse(self.text)]


def persons(language: str, name: str = "persons", path: Path | None = None) -> list[Person]:
    """The person words of a language, or of a CSV file with `phrase`, `gender` (and `target`, `pair`, `object`).

    The target is the last word of the phrase unless said. Without `pair`, the first male phrase belongs to the first
    female one, and so on.
    """
    counts: Counter[str] = Counter()
    records = []
    for row in read_rows(path, language, name, ("phrase", "gender"), unique=True):
        phrase, gender = row["phrase"], row.read_choice("gender", GENDERS)
        target = row.get("target") or phrase.split()[-1]
        if last_place(target, phrase) is None:
            raise row.error(f"the target {target!r} is no word of the phrase {phrase!r}; give one")
        pair = row.get("pair") or str(counts[gender])
        if not pair.isdecimal():
            raise row.error(f"pair {pair!r} of {phrase!r} is not a whole number")
        records.append(Person(phrase, target, gender, int(pair), row.get("object") or phrase))
        counts[gender] += 1
    genders = Counter((person.pair, person.gender) for person in records)
    for person in records:
        male, female = (genders[person.pair, gender] for gender in GENDERS)
        if (male, female) != (1, 1):
            raise UnmaskError(
                f"{path}: the pair of {person.phrase!r} has {male} male and {female} female phrases; give every male"
                " phrase one female phrase, in the same order or with the same number in 'pair'"
            )
    return records


def last_place(words: str, text: str) -> int | None:
    """Where whole words stand in a text for the last time."""
    matches = list(re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", text))
    return matches[-1].start() if matches else None


def attributes(language: str, name: str = "professions", path: Path | None = None) -> list[Attribute]:
    """The attributes of a language, or of a CSV file with `profession` (and `group`, `workforce_share`).

    `male` and `female` columns hold the forms that agree with the person, `male_definite` the one after `{der}`; every
    further column can be named as a place in a template.
    """
    records = []
    for row in read_rows(path, language, name, ("profession",), unique=True):
        group = row.get("group") or "all"
        group = group.lower() if group.lower() in STANDARD_GROUPS else group
        records.append(Attribute(row["profession"], group, row.read_number("workforce_share", 0, 100), row))
    shares = [record.workforce_share for record in records if record.workforce_share is not None]
    if len(shares) > 1 and 0 < max(shares) <= 1:
        raise UnmaskError(
            f"{path}: no workforce_share is above {max(shares)}, so they look like fractions; give per cent, 0 to 100"
        )
    return records


def templates(language: str, name: str = "templates", path: Path | None = None) -> list[Template]:
    """The templates of a language, or those of a CSV file with a column `template`."""
    return [_build_template(row) for row in read_rows(path, language, name, ("template",), unique=True)]


def _build_template(row: WordRow) -> Template:
    text, names = row["template"], row.read_fields("template")
    person = [name for name in names if name in PERSON_PLACES]
    attribute = [name for name in names if name not in (*PERSON_PLACES, *FUNCTION_PLACES)]
    if len(person) != 1 or len(attribute) != 1:
        raise row.error(
            f"template {text!r} must have one {{person}} and one {{profession}}, but has {len(person)} and"
            f" {len(attribute)}; write it in quotes if it holds a comma"
        )
    return Template(text, person[0], attribute[0])
